"""Channels: any small matrix of probabilities, as integer weights of total 2^128 for each input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Final, Self, final

import numpy as np

from dither.arrays import Array, Floats, Integers
from dither.device_text import from_hexadecimal, hexadecimal, real, whole
from dither.domains import Domain, Line
from dither.errors import InvalidParameter, MalformedReport
from dither.kernels.blocks import Sampler
from dither.kernels.kernel import PureKernel, listed_likelihood
from dither.kernels.line import LineKernel, UnbiasedReading, tested_reading
from dither.kernels.table.alias import TOTAL_BITS, Alias, AliasSampler
from dither.kernels.table.reading import cumulative
from dither.kernels.transition import Operator
from dither.kernels.window.decoder import Decoder, read_decoder, sized
from dither.kernels.window.kernel import a_line
from dither.randomness import Source

_TOTAL: Final = 1 << TOTAL_BITS
MOST_INPUTS: Final = 1 << 10


@final
@dataclass(frozen=True)
class Channel:
    """A matrix of positive integers, row i for input i, which are scaled to weights of total 2^128.

    The weights of a row are proportional to its values. Each is rounded up, so that no report is impossible,
    and the first of the largest weights is reduced so that the total is 2^128.
    """

    values: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.values) <= MOST_INPUTS or len({len(row) for row in self.values}) != 1:
            raise InvalidParameter(
                f"a channel must have 1 to 1 024 rows of one length; {len(self.values)} rows were given"
            )
        if any(not row or min(row) < 1 for row in self.values):
            raise InvalidParameter("the values of a channel must be positive whole numbers")
        if any(min(row) < 1 for row in self.rows):
            raise InvalidParameter("the values of a channel differ too much for weights of total 2^128")

    @staticmethod
    def of(values: Sequence[Sequence[int]]) -> Channel:
        """Return the channel whose rows are proportional to the given ones."""
        return Channel(tuple(tuple(row) for row in values))

    @cached_property
    def rows(self) -> tuple[tuple[int, ...], ...]:
        """The weight of every report for every input; each row adds up to 2^128."""
        rows = []
        for row in self.values:
            total = sum(row)
            weights = [-(-value * _TOTAL // total) for value in row]
            weights[row.index(max(row))] -= sum(weights) - _TOTAL
            rows.append(tuple(weights))
        return tuple(rows)

    @property
    def cells(self) -> int:
        """The number of different reports."""
        return len(self.values[0])

    @cached_property
    def ratio(self) -> Fraction:
        """The largest ratio of two probabilities of one report, over all pairs of inputs."""
        top, bottom = 1, 1
        for column in zip(*self.rows, strict=True):
            most, least = max(column), min(column)
            if most * bottom > top * least:
                top, bottom = most, least
        return Fraction(top, bottom)

    def probabilities(self, row: int) -> list[Fraction]:
        """Return the exact probability of every report for an input."""
        return [Fraction(weight, _TOTAL) for weight in self.rows[row]]

    @cached_property
    def matrix(self) -> Floats:
        """The probability of every report for every input, in floats: a row for each input."""
        return np.array([[weight / _TOTAL for weight in row] for row in self.rows])

    @cached_property
    def table(self) -> Alias:
        """The alias table for exact draws."""
        return Alias.of(self.rows)

    def device(self) -> dict[str, Any]:
        """Return every distinct value once, and for each row the indices of its values."""
        different = sorted({value for row in self.values for value in row}, reverse=True)
        place = {value: index for index, value in enumerate(different)}
        return {
            "values": [hexadecimal(value) for value in different],
            "rows": [[place[value] for value in row] for row in self.values],
        }

    @staticmethod
    def from_device(data: Mapping[str, Any]) -> Channel:
        """Return the channel that `device` describes."""
        values = [from_hexadecimal(text) for text in data["values"]]
        places = [[whole(place) for place in row] for row in data["rows"]]
        if not places or len(places) > MOST_INPUTS or any(min(row, default=-1) < 0 for row in places):
            raise MalformedReport("a channel needs a list of values, and 1 to 1 024 rows of indices into it")
        if any(max(row) >= len(values) for row in places):
            raise MalformedReport(f"an index of a channel is beyond its {len(values)} values")
        return Channel.of([[values[place] for place in row] for row in places])


@final
@dataclass(frozen=True)
class NearestPoint:
    """The nearest of several points: `labels[i]` for a value between `edges[i − 1]` and `edges[i]`."""

    edges: tuple[float, ...]
    labels: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.labels) != len(self.edges) + 1 or list(self.edges) != sorted(self.edges):
            raise InvalidParameter("edges must not decrease, and there must be one label more than edges")

    @staticmethod
    def on_interval(points: Sequence[float]) -> NearestPoint:
        """Return the rule for increasing points; halfway between two the upper one counts as nearest."""
        middles = tuple((one + two) / 2.0 for one, two in pairwise(points))
        return NearestPoint(middles, tuple(range(len(points))))

    @staticmethod
    def on_circle(points: Sequence[float], period: float) -> NearestPoint:
        """Return the rule for increasing points on a circle, with distances the short way round."""
        inner = NearestPoint.on_interval(points)
        across = (points[-1] + points[0] + period) / 2.0  # between the last point and the first
        if across <= period:
            return NearestPoint((*inner.edges, across), (*inner.labels, 0))
        return NearestPoint((across - period, *inner.edges), (len(points) - 1, *inner.labels))

    def aim(self, values: Array) -> Integers:
        """Return the index of the nearest point of each value."""
        where = np.searchsorted(self._edges, np.asarray(values, dtype=np.float64), side="right")
        return self._labels[where]

    def aim_one(self, value: float) -> int:
        """Return the index of the nearest point of one value."""
        return int(self.aim(np.asarray(value)))

    @cached_property
    def _edges(self) -> Floats:
        return np.array(self.edges)

    @cached_property
    def _labels(self) -> Integers:
        return np.array(self.labels, dtype=np.int64)

    def device(self) -> dict[str, Any]:
        """Return the rule as JSON-compatible data."""
        return {"kind": "edges", "edges": list(self.edges), "labels": list(self.labels)}

    @staticmethod
    def from_device(data: Mapping[str, Any]) -> NearestPoint:
        """Return the rule that `device` describes."""
        edges = tuple(real(edge) for edge in data["edges"])
        return NearestPoint(edges, tuple(whole(label) for label in data["labels"]))


@final
@dataclass(frozen=True)
class ChannelKernel(PureKernel, LineKernel):
    """A channel on a line: a value selects the row of the point nearest to it."""

    line: Line
    channel: Channel
    start: NearestPoint

    kind: ClassVar[str] = "channel"

    def __post_init__(self) -> None:
        if min(self.start.labels) < 0 or max(self.start.labels) >= len(self.channel.values):
            raise InvalidParameter("every point needs a row of the channel")

    @property
    def outcomes(self) -> int:
        return self.channel.cells

    def sampler(self, size: int) -> Sampler:
        alias = AliasSampler(self.channel.table, size)

        def draw(block: Array, cells: Array, source: Source) -> None:
            np.copyto(cells, alias.draw(block.size, source, self.start.aim(block)), casting="unsafe")

        return draw

    def draw_one(self, value: float, source: Source) -> int:
        return self.channel.table.draw_one(source, self.start.aim_one(value))

    def _listed(self, value: float) -> list[Fraction]:
        return self.channel.probabilities(self.start.aim_one(value))

    def chances(self, value: Any) -> Floats:
        return np.asarray(self.channel.matrix[self.start.aim_one(float(self.line.check(value)))])

    def read_codebook(self, data: Any, stated: Mapping[str, Any]) -> Any:
        """Return the numbers of the points; without numbers, the reading of cumulative shares."""
        if data is not None:
            return sized(read_decoder(data), self.outcomes)
        if self.start.labels != tuple(range(len(self.channel.values))):
            raise MalformedReport("cumulative shares need one row of the channel for each cell, in order")
        edges = np.array([self.line.low, *self.start.edges, self.line.high])
        return cumulative(self.channel.matrix, edges)

    def likelihood(self, inputs: Array, rows: int) -> Operator:
        return listed_likelihood(self, inputs, rows, self.typical())

    def unbiased_reading(self, book: Decoder) -> UnbiasedReading | None:
        return tested_reading(self, book)

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        return np.asarray(self.channel.matrix[self.start.aim(inputs), reports.astype(np.int64)])

    @property
    def ratio(self) -> Fraction:
        return self.channel.ratio

    @property
    def evidence(self) -> str:
        return f"all pairs of {len(self.channel.values)} inputs, from integer weights of total 2^128"

    def device(self) -> dict[str, Any]:
        return {"draw": self.kind, **self.channel.device(), "start": self.start.device()}

    @classmethod
    def from_device(cls, device: Mapping[str, Any], domain: Domain) -> Self:
        return cls(a_line(domain), Channel.from_device(device), NearestPoint.from_device(device["start"]))
