"""Channels: a table with an integer weight of every report for every input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Final

import numpy as np

from dither.core.domains import Domain, Line
from dither.core.kernels.alias import TOTAL_BITS, Alias, AliasSampler
from dither.core.kernels.blocks import FEW, Sampler, in_threads
from dither.core.kernels.kernel import (
    A_LINE,
    CellKernel,
    Kernel,
    LineKernel,
    UnbiasedReading,
    affine_reading,
    check_no_codebook,
    listed_likelihood,
    pure_certify,
    pure_promise,
)
from dither.core.kernels.transition import Operator
from dither.core.kernels.window.codebook import Decoder, check_size, read_decoder
from dither.errors import InvalidParameter, MalformedReport, NotIdentifiable
from dither.foundation.arrays import Array, Floats, Integers
from dither.foundation.canonical import (
    REAL,
    WHOLE,
    Data,
    Fields,
    Member,
    as_indices,
    from_hexadecimal,
    hexadecimal,
    inline,
    list_of,
    whole,
    write_tagged,
)
from dither.foundation.randomness import Source
from dither.privacy.shuffling import Blanket

_SINGULAR: Final = 1e-12


@dataclass(frozen=True, eq=False)
class LinearReading:
    """Unbiased contributions of reports to the answers to `queries`, from a channel with a row per input."""

    channel: Floats
    queries: Floats
    edges: Floats | None = None  # edges of cells if the queries are their cumulative shares, else None
    shares: bool = False  # True if the queries are the shares of the inputs themselves

    def __call__(self, reports: Array) -> Floats:
        """Return the contribution of each report to each answer, along the last axis."""
        return np.asarray(self.table.T[reports.astype(np.int64)])

    def plain(self) -> None:
        """Return None: the queries are stated as a parameter, or follow from the channel."""

    @cached_property
    def table(self) -> Floats:
        """The contribution of each report to each answer: a row for each query, a column for each report."""
        means = self.channel.mean(axis=0)
        scaled = self.channel / means
        moments = scaled @ self.channel.T
        eigenvalues = np.linalg.eigvalsh(moments)
        if not eigenvalues[0] > _SINGULAR * eigenvalues[-1]:
            raise NotIdentifiable(
                "expected inputs with different distributions of reports, got some with the same "
                "one; merge these inputs"
            )
        return np.asarray(np.linalg.solve(moments, self.queries.T).T @ scaled)

    @cached_property
    def variances(self) -> Floats:
        """The total variance that one report adds to all answers, for each input."""
        squares = (self.table**2).sum(axis=0)
        return np.asarray(self.channel @ squares - (self.queries**2).sum(axis=0))

    @cached_property
    def single_variances(self) -> Floats:
        """The variance that one report adds to each answer, averaged over the inputs."""
        return np.asarray((self.table**2) @ self.channel.mean(axis=0) - (self.queries**2).mean(axis=1))


def shares_of_inputs(channel: Floats) -> LinearReading:
    """Return the decoding of the share of every input."""
    return LinearReading(channel, np.eye(len(channel)), shares=True)


def cumulative(channel: Floats, edges: Floats) -> LinearReading:
    """Return the decoding of cumulative shares: row i of the queries adds up the first i + 1 inputs."""
    return LinearReading(channel, np.tri(len(channel)), edges)


SHARES: Final = "shares"  # the codebook of reports from which the shares of the inputs are estimated
_TOTAL: Final = 1 << TOTAL_BITS
MOST_INPUTS: Final = 1 << 10


def _write_values(name: str, channel: Channel) -> Data:
    """Return every distinct value once, and for each row the indices of its values."""
    different, rows = as_indices(channel.values)
    return {"values": [hexadecimal(value) for value in different], "rows": rows}


def _read_values(name: str, data: Data, known: Data) -> Data:
    values = [from_hexadecimal(text) for text in data["values"]]
    rows = [[whole(index) for index in row] for row in data["rows"]]
    if not rows or len(rows) > MOST_INPUTS or any(min(row, default=-1) < 0 for row in rows):
        raise MalformedReport("expected a list of values, and 1 to 1 024 rows of indices into it")
    if any(max(row) >= len(values) for row in rows):
        raise MalformedReport(f"expected indices below the {len(values)} values of the channel")
    return {name: tuple(tuple(values[index] for index in row) for row in rows)}


@dataclass(frozen=True)
class Channel:
    """A matrix of positive integers, row i for input i, scaled to weights of total 2^128.

    The weights of a row are proportional to its values. Each is rounded up, so that no report is impossible,
    and the first of the largest weights is reduced so that the total is 2^128.
    """

    values: tuple[tuple[int, ...], ...]
    fields: ClassVar[Fields] = Fields(values=Member(_write_values, _read_values))

    def __post_init__(self) -> None:
        if not 1 <= len(self.values) <= MOST_INPUTS or len({len(row) for row in self.values}) != 1:
            raise InvalidParameter(
                f"expected 1 to 1 024 rows of one length in a channel, got {len(self.values)} rows"
            )
        if any(not row or min(row) < 1 for row in self.values):
            raise InvalidParameter("the values of a channel must be positive integers")
        if any(min(row) < 1 for row in self.rows):
            raise InvalidParameter(
                "expected values of a channel that fit weights of total 2^128: they differ too much"
            )

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
        """The largest ratio of two probabilities of one report, over all pairs of inputs.

        Proved: alias_private (proofs/Tables.v).
        """
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


@dataclass(frozen=True)
class NearestPoint:
    """The nearest of several points: `labels[i]` for a value between `edges[i − 1]` and `edges[i]`."""

    edges: tuple[float, ...]
    labels: tuple[int, ...]
    kind: ClassVar[str] = "edges"
    fields: ClassVar[Fields] = Fields(edges=list_of(REAL), labels=list_of(WHOLE))

    def __post_init__(self) -> None:
        if len(self.labels) != len(self.edges) + 1 or list(self.edges) != sorted(self.edges):
            raise InvalidParameter("edges must not decrease, and there must be one label more than edges")

    @staticmethod
    def on_interval(points: Sequence[float]) -> NearestPoint:
        """Return the rule for increasing points; halfway between two the upper one counts as nearest."""
        middles = tuple((left + right) / 2.0 for left, right in pairwise(points))
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

    def split(self, values: Array) -> tuple[Integers, Integers]:
        """Return the index of the row of each value, and 0: the next row is never drawn."""
        rows = self.aim(values)
        return rows, np.zeros_like(rows)

    def pick(self, values: Array, source: Source) -> Integers:
        """Return the index of the row of each value."""
        return self.aim(values)

    def pick_one(self, value: float, source: Source) -> int:
        """Return the index of the row of one value."""
        return self.aim_one(value)

    @property
    def rows(self) -> tuple[int, ...]:
        """The indices of all rows that a value may select."""
        return self.labels

    @cached_property
    def _edges(self) -> Floats:
        return np.array(self.edges)

    @cached_property
    def _labels(self) -> Integers:
        return np.array(self.labels, dtype=np.int64)


PARTS: Final = 1 << 32  # the probability of rounding a value up to the next point has this denominator


@dataclass(frozen=True)
class BetweenPoints:
    """A random choice of one of the two points around a value; its mean is the value.

    The points increase from one end of the interval to the other. A value at the share f of the way from a
    point to the next one is rounded up with the probability ⌊f·2^32 + ½⌋/2^32. The ratios of a mixture of two
    rows lie between the ratios of the rows, so the channel's ε holds for every value.
    """

    points: tuple[float, ...]
    kind: ClassVar[str] = "points"
    fields: ClassVar[Fields] = Fields(points=list_of(REAL))

    def __post_init__(self) -> None:
        if len(self.points) < 2 or any(not left < right for left, right in pairwise(self.points)):
            raise InvalidParameter("expected two or more points, each larger than the one before")

    def split(self, values: Array) -> tuple[Integers, Integers]:
        """Return the index of the point below each value, and the probability of the next in 2^32 parts."""
        given = np.asarray(values, dtype=np.float64)
        below = np.searchsorted(self._points[1:-1], given, side="right")
        first, next_one = self._points[below], self._points[below + 1]
        parts = np.clip((given - first) / (next_one - first) * PARTS + 0.5, 0.0, PARTS)
        return below.astype(np.int64), parts.astype(np.int64)

    def pick(self, values: Array, source: Source) -> Integers:
        """Draw the index of a point for each value."""
        below, parts = self.split(values)
        coins = np.empty(below.size, dtype=np.uint32)
        source.fill(coins.data)
        return np.asarray(below + (coins.reshape(below.shape) < parts))

    def pick_one(self, value: float, source: Source) -> int:
        """Draw the index of a point for one value."""
        below, parts = self.split(np.asarray(value))
        return int(below) + int(source.bits(32) < int(parts))

    @property
    def rows(self) -> tuple[int, ...]:
        """The indices of all rows that a value may select."""
        return tuple(range(len(self.points)))

    @cached_property
    def _points(self) -> Floats:
        return np.array(self.points)


class RowKernel(Kernel):
    """A kernel that draws from a row of a channel."""

    promise, certify = pure_promise, pure_certify

    channel: Channel

    @property
    def outcomes(self) -> int:
        return self.channel.cells

    @property
    def ratio(self) -> Fraction:
        return self.channel.ratio

    @cached_property
    def blanket(self) -> Blanket:  # type: ignore[override]
        """The least probability of every report, and all rows."""
        return Blanket.of_laws(self.channel.matrix, self.ratio)

    @property
    def evidence(self) -> str:
        return f"all pairs of {len(self.channel.values)} inputs, from integer weights of total 2^128"


_ROW_RULE: Final = Member(
    lambda name, kernel: {name: write_tagged(kernel.start)},
    lambda name, data, known: {name: _read_row_rule(data[name])},
)


def _read_row_rule(data: Data) -> NearestPoint | BetweenPoints:
    kind = BetweenPoints if data["kind"] == BetweenPoints.kind else NearestPoint
    return kind(**kind.fields.read(data))


@dataclass(frozen=True)
class ChannelKernel(RowKernel, LineKernel):
    """A channel on a line: a value selects the row of the point nearest to it."""

    line: Line
    channel: Channel
    start: NearestPoint | BetweenPoints

    kind: ClassVar[str] = "channel"
    fields = Fields(line=A_LINE, channel=inline(Channel), start=_ROW_RULE)

    def __post_init__(self) -> None:
        rows = self.start.rows
        if min(rows) < 0 or max(rows) >= len(self.channel.values):
            raise InvalidParameter("expected a row of the channel for every point")
        if isinstance(self.start, BetweenPoints):
            ends = (self.start.points[0], self.start.points[-1])
            if ends != (self.line.low, self.line.high) or len(rows) != len(self.channel.values):
                raise InvalidParameter(
                    "expected a point for each row of the channel, from one end of the interval to the other"
                )

    def sampler(self, size: int) -> Sampler:
        alias = AliasSampler(self.channel.table, size)

        def draw(block: Array, cells: Array, source: Source) -> None:
            np.copyto(cells, alias.draw(block.size, source, self.start.pick(block, source)), casting="unsafe")

        return draw

    def draw_one(self, value: float, source: Source) -> int:
        return self.channel.table.draw_one(source, self.start.pick_one(value, source))

    def _probabilities(self, value: float) -> list[Fraction]:
        row, parts = (int(part) for part in self.start.split(np.asarray(value)))
        below = self.channel.probabilities(row)
        if not parts:
            return below
        share = Fraction(parts, PARTS)
        above = self.channel.probabilities(row + 1)
        return [(1 - share) * first + share * second for first, second in zip(below, above, strict=True)]

    def _mixture(self, values: Array) -> Floats:
        """Return the probability of every report for each value, along the last axis."""
        rows, parts = self.start.split(values)
        share = (parts / PARTS)[..., None]
        matrix = self.channel.matrix
        above = matrix[np.minimum(rows + 1, len(matrix) - 1)]
        return np.asarray(matrix[rows] * (1.0 - share) + above * share)

    def chances(self, value: Any) -> Floats:
        return self._mixture(np.asarray(float(self.line.check(value))))

    def read_codebook(self, data: object, stated: Mapping[str, Any]) -> Any:
        """Return the numbers of the points; without numbers, the decoding of cumulative shares."""
        if data is not None:
            return check_size(read_decoder(data), self.outcomes, rising=False)  # Reports need not be ordered.
        in_order = self.start.rows == tuple(range(len(self.channel.values)))
        if isinstance(self.start, BetweenPoints) or not in_order:
            raise MalformedReport("expected one row of the channel for each cell, in order")
        edges = np.array([self.line.low, *self.start.edges, self.line.high])
        return cumulative(self.channel.matrix, edges)

    def likelihood(self, inputs: Array, rows: int) -> Operator:
        return listed_likelihood(self, inputs, rows, self.typical())

    def unbiased_reading(self, book: Decoder) -> UnbiasedReading | None:
        return affine_reading(self, book)

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        rows, parts = self.start.split(inputs)
        outputs, share, matrix = reports.astype(np.int64), parts / PARTS, self.channel.matrix
        above = matrix[np.minimum(rows + 1, len(matrix) - 1), outputs]
        return np.asarray(matrix[rows, outputs] * (1.0 - share) + above * share)


@dataclass(frozen=True)
class CodeChannelKernel(RowKernel, CellKernel):
    """A kernel whose report is an outcome of the channel's row for the code."""

    channel: Channel

    kind: ClassVar[str] = "table"
    fields = Fields(channel=inline(Channel))

    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        if inputs.size < FEW:
            return self.draw_singly(inputs.reshape(-1).tolist(), source).reshape(inputs.shape)
        reports = in_threads(self._sampler, inputs.reshape(-1), self.layout, source, threads)
        return reports.reshape(inputs.shape)

    def _sampler(self, size: int) -> Sampler:
        alias = AliasSampler(self.channel.table, size)

        def draw(block: Array, cells: Array, source: Source) -> None:
            drawn = alias.draw(block.size, source, block.astype(np.int64))
            np.copyto(cells, drawn, casting="unsafe")

        return draw

    def draw_one(self, value: int, source: Source) -> int:
        return self.channel.table.draw_one(source, value)

    def probabilities(self, value: int) -> list[Fraction]:
        return self.channel.probabilities(value)

    def chances(self, value: int) -> Floats:
        return np.asarray(self.channel.matrix[value])

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        return np.asarray(self.channel.matrix[np.asarray(inputs), reports.astype(np.int64)])

    def fits(self, domain: Domain) -> bool:
        return domain.count == len(self.channel.values)

    def read_codebook(self, data: object, stated: Mapping[str, Any]) -> LinearReading:
        """Return the decoding of the shares of inputs, of the stated queries, or of cumulative shares."""
        if data == SHARES:
            return shares_of_inputs(self.channel.matrix)
        check_no_codebook(self, data)
        size = len(self.channel.values)
        if "queries" not in stated:
            return cumulative(self.channel.matrix, np.arange(size + 1, dtype=np.float64) - 0.5)
        queries = np.asarray(stated["queries"], dtype=np.float64)
        if queries.ndim != 2 or queries.shape[1] != size or not np.isfinite(queries).all():
            raise MalformedReport("expected the same number of inputs in the kernel and the queries")
        return LinearReading(self.channel.matrix, queries)

    def write_codebook(self, book: LinearReading) -> str | None:
        """Return "shares" for the shares of the inputs, else the queries from a parameter or the channel."""
        return SHARES if book.shares else None

    def decode(self, reports: Array, domain: Domain, book: LinearReading) -> Floats:
        """Return the contribution of each report to each answer, along the last axis."""
        return book(reports)
