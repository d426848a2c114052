"""Any small table: an integer matrix whose rows add up to 2^128, one row for each input, drawn exactly."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, final

import numpy as np

from dither.arrays import Array, Floats, Integers
from dither.domains import Line
from dither.errors import InvalidParameter
from dither.kernels.blocks import Sampler, Single, draw_each, in_threads
from dither.kernels.table.alias import TOTAL_BITS, Alias, AliasSampler
from dither.randomness import Source

_TOTAL: Final = 1 << TOTAL_BITS
MOST_INPUTS: Final = 1 << 10


@final
@dataclass(frozen=True)
class Channel:
    """Row i holds the weights of every report for input i; all rows have the same total."""

    rows: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.rows) <= MOST_INPUTS or len({len(row) for row in self.rows}) != 1:
            raise InvalidParameter("a channel has up to 1 024 rows of one length")
        if any(min(row) < 1 or sum(row) != _TOTAL for row in self.rows):
            raise InvalidParameter("a channel's weights are positive and every row adds up to 2^128")

    @staticmethod
    def of(values: Sequence[Sequence[int]]) -> Channel:
        """Give the channel whose rows are proportional to the given ones, the largest value taking the rest.

        All other weights are rounded up, so that no report is impossible.
        """
        rows = []
        for row in values:
            total = sum(row)
            weights = [-(-value * _TOTAL // total) for value in row]
            weights[row.index(max(row))] -= sum(weights) - _TOTAL
            rows.append(tuple(weights))
        return Channel(tuple(rows))

    @property
    def cells(self) -> int:
        """How many different reports there are."""
        return len(self.rows[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest unsigned integers that hold a report."""
        return np.dtype(np.min_scalar_type(self.cells - 1))

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
        """Give the exact probability of every report for an input."""
        return [Fraction(weight, _TOTAL) for weight in self.rows[row]]

    def chances(self, row: int) -> Floats:
        """Give the probability of every report for an input, in floats."""
        return np.array([weight / _TOTAL for weight in self.rows[row]])

    @cached_property
    def table(self) -> Alias:
        """The exact draw."""
        return Alias.of(self.rows)

    def draw(self, inputs: Array, source: Source) -> Array:
        """Draw a report for each input row (one axis)."""
        return in_threads(lambda size: _Drawer(self, size), inputs, self.dtype, source, 1)

    @cached_property
    def digest(self) -> str:
        """A short name of the matrix, by which both sides know that they mean the same."""
        content = b"".join(weight.to_bytes(17, "little") for row in self.rows for weight in row)
        return hashlib.sha256(content).hexdigest()[:16]


@final
class _Drawer:
    def __init__(self, channel: Channel, size: int) -> None:
        self._alias = AliasSampler(channel.table, size)

    def __call__(self, rows: Array, cells: Array, source: Source) -> None:
        drawn = self._alias.draw(rows.size, source, rows.astype(np.intp))
        np.copyto(cells, drawn, casting="unsafe")


@final
@dataclass(frozen=True)
class Nearest:
    """Which of several points a value is nearest to: `labels[i]` between `edges[i − 1]` and `edges[i]`."""

    edges: tuple[float, ...]
    labels: tuple[int, ...]

    @staticmethod
    def on_interval(points: Sequence[float]) -> Nearest:
        """Give the nearest of increasing points; halfway between two is the upper one's."""
        middles = tuple((one + two) / 2.0 for one, two in pairwise(points))
        return Nearest(middles, tuple(range(len(points))))

    @staticmethod
    def on_circle(points: Sequence[float], period: float) -> Nearest:
        """Give the nearest of increasing points on a circle, the short way round."""
        inner = Nearest.on_interval(points)
        across = (points[-1] + points[0] + period) / 2.0  # between the last point and the first
        if across <= period:
            return Nearest((*inner.edges, across), (*inner.labels, 0))
        return Nearest((across - period, *inner.edges), (len(points) - 1, *inner.labels))

    def aim(self, values: Array) -> Integers:
        """Give the number of the nearest point of each value."""
        where = np.searchsorted(self._edges, np.asarray(values, dtype=np.float64), side="right")
        return self._labels[where]

    def aim_one(self, value: float) -> int:
        """Give the number of the nearest point of one value."""
        return int(self.aim(np.asarray(value)))

    @cached_property
    def _edges(self) -> Floats:
        return np.array(self.edges)

    @cached_property
    def _labels(self) -> Integers:
        return np.array(self.labels, dtype=np.int64)


def draw_channel(
    domain: Line, channel: Channel, nearest: Nearest, values: Array, source: Source, *, threads: int
) -> Array:
    """Give a report for each of the values (one axis)."""

    def many(size: int) -> Sampler:
        drawer = _Drawer(channel, size)
        return lambda block, cell, source: drawer(nearest.aim(block), cell, source)

    one: Single = lambda value, source: channel.table.draw_one(source, nearest.aim_one(value))  # noqa: E731
    return draw_each(domain, many, one, values, channel.dtype, source, threads)
