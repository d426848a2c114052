"""Codebooks (the values of cells) and decoders of arrays of cells."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dither.core.domains import BLOCK, Line
from dither.errors import MalformedReport
from dither.foundation.arrays import Array, Floats, Integers
from dither.foundation.canonical import real, whole

if TYPE_CHECKING:
    from dither.mechanisms.analysis.law import Moment


_FEW: Final = 64  # tables of at most 64 steps are summed for all inputs at once
_TABLE: Final = 1 << 18  # numbers of a temporary table


class Codebook(ABC):
    """A non-decreasing map from the report space [0, 1] to numbers, in units where the domain is [0, 1]."""

    @abstractmethod
    def integral(self, begin: Floats, end: Floats, x: Floats, moment: Moment) -> Floats:
        """Return ∫ f(codebook(v) − x) dv from begin to end, positions in the report space; arrays broadcast.

        It is one integral and not a difference of two from 0: at large ε a window is narrower than their
        rounding error.
        """

    @abstractmethod
    def below(self, y: Floats, *, strictly: bool = False) -> Floats:
        """Return the length of the part of the report space whose numbers are ≤ y (or < y)."""

    @abstractmethod
    def stretch(self, y: Floats) -> Floats:
        """Return the derivative of `below`: the density of the codebook's numbers at y."""

    @property
    @abstractmethod
    def atoms(self) -> Floats:
        """The atoms: numbers to which an interval of the report space is mapped."""

    @property
    def spans(self) -> tuple[Floats, Floats, Floats]:
        """The atoms, and the beginning and the end of each in the report space."""
        points = self.atoms
        return points, self.below(points, strictly=True), self.below(points)

    @abstractmethod
    def __call__(self, share: Floats) -> Floats:
        """Return the number at a position in the report space."""

    @abstractmethod
    def clip(self) -> Codebook:
        """Return the codebook with its numbers clipped to [0, 1]."""

    @property
    def corners(self) -> Floats:
        """The numbers at which the linear pieces begin and end: none for a table of steps."""
        return np.empty(0)

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest number."""
        low, high = self(np.array([0.0, 1.0]))
        return float(low), float(high)


@dataclass(frozen=True, eq=False)
class Ramps(Codebook):
    """A piecewise linear codebook; a constant piece is an atom."""

    edges: Floats
    left: Floats
    right: Floats

    @staticmethod
    def affine(low: float, high: float) -> Ramps:
        """Return the linear codebook from low to high."""
        return Ramps(np.array([0.0, 1.0]), np.array([low]), np.array([high]))

    def clip(self) -> Ramps:
        """Return the codebook clipped to [0, 1]: values beyond become an atom at the end."""
        if self.left.size > 1:
            return Ramps(self.edges, np.clip(self.left, 0.0, 1.0), np.clip(self.right, 0.0, 1.0))
        low, high = self.ends
        first, second = (float(np.clip((end - low) / (high - low), 0.0, 1.0)) for end in (0.0, 1.0))
        edges = np.array([0.0, first, second, 1.0])
        # Set explicitly: rounding would leave a constant piece with a slope of 10^−16.
        line = np.array([max(low, 0.0), max(low, 0.0), min(high, 1.0), min(high, 1.0)])
        kept = edges[1:] > edges[:-1]
        return Ramps(np.append(edges[:-1][kept], 1.0), line[:-1][kept], line[1:][kept])

    @property
    def corners(self) -> Floats:
        return np.concatenate([self.left, self.right])

    @cached_property
    def slopes(self) -> Floats:
        """The slope of each piece."""
        return np.asarray((self.right - self.left) / np.diff(self.edges), dtype=np.float64)

    def integral(self, begin: Floats, end: Floats, x: Floats, moment: Moment) -> Floats:
        total = np.zeros(np.broadcast_shapes(begin.shape, end.shape, x.shape))
        for first, last, left, slope in zip(
            self.edges[:-1], self.edges[1:], self.left, self.slopes, strict=True
        ):
            from_, to = np.clip(begin, first, last) - first, np.clip(end, first, last) - first
            if slope == 0.0:
                total += (to - from_) * moment.function(left - x)
            else:
                upper, lower = left + slope * to - x, left + slope * from_ - x
                total += (moment.antiderivative(upper) - moment.antiderivative(lower)) / slope
        return total

    def below(self, y: Floats, *, strictly: bool = False) -> Floats:
        parts = [self._length_below(y, piece, strictly=strictly) for piece in range(self.left.size)]
        return parts[0] if len(parts) == 1 else np.asarray(np.sum(parts, axis=0))

    def _length_below(self, y: Floats, piece: int, *, strictly: bool) -> Floats:
        """Return the length of the part of a piece whose numbers are ≤ y (or < y)."""
        left, slope = self.left[piece], self.slopes[piece]
        length = self.edges[piece + 1] - self.edges[piece]
        if slope == 0.0:
            return np.asarray((left < y if strictly else left <= y) * length)
        return np.asarray(np.clip((y - left) / slope, 0.0, length))

    def stretch(self, y: Floats) -> Floats:
        total = np.zeros(y.shape)
        for left, right, slope in zip(self.left, self.right, self.slopes, strict=True):
            if slope != 0.0:
                total += ((left <= y) & (y <= right)) / slope
        return total

    @property
    def atoms(self) -> Floats:
        return np.asarray(self.left[self.slopes == 0.0])

    def __call__(self, share: Floats) -> Floats:
        piece = np.clip(np.searchsorted(self.edges, share, side="right") - 1, 0, self.left.size - 1)
        return np.asarray(
            self.left[piece] + self.slopes[piece] * (share - self.edges[piece]), dtype=np.float64
        )


@dataclass(frozen=True, eq=False)
class Steps(Codebook):
    """A table: equal parts of the report space with one number each, such as the cells that are sampled."""

    values: Floats

    def integral(self, begin: Floats, end: Floats, x: Floats, moment: Moment) -> Floats:
        shape = np.broadcast_shapes(begin.shape, end.shape, x.shape)
        begins, ends, centres = (np.broadcast_to(part, shape).reshape(-1) for part in (begin, end, x))
        count = self.values.size
        if count <= _FEW:
            positions = np.stack([begins, ends])[..., None] * count - np.arange(count)
            covered = np.diff(np.clip(positions, 0.0, 1.0), axis=0)[0]
            steps = moment.function(self.values - centres[:, None])
            return np.asarray((steps * covered).sum(axis=1).reshape(shape) / count)
        total = np.empty(centres.size)
        last, sums = np.nan, np.zeros(1)
        for index, (first, second, centre) in enumerate(zip(begins, ends, centres, strict=True)):
            if centre != last:  # the prefix sums are reused while the centre is the same
                sums = np.concatenate([[0.0], np.cumsum(moment.function(self.values - centre))])
                last = centre
            total[index] = self._upto(sums, second) - self._upto(sums, first)
        return total.reshape(shape) / self.values.size

    def _upto(self, sums: Floats, share: float) -> float:
        position = share * self.values.size
        whole = min(int(position), self.values.size - 1)
        return float(sums[whole] + (position - whole) * (sums[whole + 1] - sums[whole]))

    def below(self, y: Floats, *, strictly: bool = False) -> Floats:
        count = np.searchsorted(self.values, y, side="left" if strictly else "right")
        return np.asarray(count / self.values.size, dtype=np.float64)

    def stretch(self, y: Floats) -> Floats:
        return np.zeros(y.shape)

    @property
    def atoms(self) -> Floats:
        return self.spans[0]

    @cached_property
    def spans(self) -> tuple[Floats, Floats, Floats]:
        first = np.flatnonzero(np.diff(self.values, prepend=-np.inf) > 0.0)  # the values do not decrease
        ends = np.append(first[1:], self.values.size)
        return self.values[first], first / self.values.size, ends / self.values.size

    def clip(self) -> Steps:
        return Steps(np.clip(self.values, 0.0, 1.0))

    def __call__(self, share: Floats) -> Floats:
        cell = np.clip((np.asarray(share) * self.values.size).astype(np.int64), 0, self.values.size - 1)
        return self.values[cell]


@dataclass(frozen=True, eq=False)
class Runs(Codebook):
    """A run-length encoded table: `counts[i]` neighbouring cells have the number `values[i]`."""

    values: Floats
    counts: Integers

    @property
    def cells(self) -> int:
        """The number of cells."""
        return int(self.counts.sum())

    @property
    def listed(self) -> Floats:
        """The number of every cell."""
        return np.repeat(self.values, self.counts)

    @cached_property
    def _edges(self) -> Floats:
        return np.concatenate([[0.0], np.cumsum(self.counts)]) / self.cells

    def integral(self, begin: Floats, end: Floats, x: Floats, moment: Moment) -> Floats:
        shape = np.broadcast_shapes(begin.shape, end.shape, x.shape)
        first, last, centres = (np.broadcast_to(part, shape).reshape(-1, 1) for part in (begin, end, x))
        total = np.empty(centres.size)
        rows = max(_TABLE // self.values.size, 1)
        for row in range(0, centres.size, rows):
            part = slice(row, row + rows)
            shared = np.minimum(self._edges[1:], last[part]) - np.maximum(self._edges[:-1], first[part])
            numbers = moment.function(self.values - centres[part])
            total[part] = (np.maximum(shared, 0.0) * numbers).sum(axis=1)
        return total.reshape(shape)

    def below(self, y: Floats, *, strictly: bool = False) -> Floats:
        return self._edges[np.searchsorted(self.values, y, side="left" if strictly else "right")]

    def stretch(self, y: Floats) -> Floats:
        return np.zeros(y.shape)

    @property
    def atoms(self) -> Floats:
        return np.unique(self.values)

    def clip(self) -> Runs:
        return Runs(np.clip(self.values, 0.0, 1.0), self.counts)

    def __call__(self, share: Floats) -> Floats:
        run = np.searchsorted(self._edges[1:-1], share, side="right")
        return np.asarray(self.values[run], dtype=np.float64)


IDENTITY: Final = Ramps.affine(0.0, 1.0)


MOST_CELLS: Final = 1 << 20  # cells of a codebook that is a table


@dataclass(frozen=True)
class AffineDecoder:
    """Cell j is decoded as offset + step·j, clipped to [low, high]."""

    offset: float
    step: float
    low: float = -math.inf
    high: float = math.inf

    def __call__(self, cells: Array) -> Floats:
        """Return the numbers of cells."""
        flat = np.ascontiguousarray(cells).reshape(-1)
        values = np.empty(flat.size)
        cut = self.low > -math.inf or self.high < math.inf
        for begin in range(0, flat.size, BLOCK):
            block = values[begin : begin + BLOCK]
            np.multiply(flat[begin : begin + BLOCK], self.step, out=block)
            block += self.offset
            if cut:
                np.clip(block, self.low, self.high, out=block)
        return values.reshape(np.shape(cells))

    def cut(self, low: float, high: float) -> AffineDecoder:
        """Return the decoder with its numbers clipped to [low, high]."""
        return AffineDecoder(self.offset, self.step, low, high)

    def plain(self) -> dict[str, Any]:
        """Return the decoder as JSON-compatible data."""
        ends = {"low": self.low, "high": self.high} if math.isfinite(self.low) else {}
        return {"offset": self.offset, "step": self.step, **ends}


@dataclass(frozen=True, eq=False)
class TableDecoder:
    """Cell j is decoded as the j-th number of a table."""

    values: Floats

    def __call__(self, cells: Array) -> Floats:
        """Return the numbers of cells. Cells must be valid; mode="clip" is used because it is faster."""
        flat = np.ascontiguousarray(cells).reshape(-1)
        values = np.empty(flat.size)
        index = np.empty(min(flat.size, BLOCK), dtype=np.intp)
        for begin in range(0, flat.size, BLOCK):
            block = values[begin : begin + BLOCK]
            np.copyto(index[: block.size], flat[begin : begin + BLOCK], casting="unsafe")
            self.values.take(index[: block.size], out=block, mode="clip")
        return values.reshape(np.shape(cells))

    def cut(self, low: float, high: float) -> TableDecoder:
        """Return the decoder with its numbers clipped to [low, high]."""
        return TableDecoder(np.clip(self.values, low, high))

    def plain(self) -> dict[str, Any]:
        """Return the decoder as JSON-compatible data, run-length encoded."""
        begins = np.flatnonzero(np.diff(self.values, prepend=np.nan) != 0.0)
        runs = np.diff(begins, append=self.values.size)
        return {"runs": runs.tolist(), "values": self.values[begins].tolist()}


@dataclass(frozen=True)
class JoinedDecoder:
    """The first `cells[0]` cells are decoded by the first decoder, the `cells[1]` others by the second."""

    parts: tuple[AffineDecoder | TableDecoder, AffineDecoder | TableDecoder]
    cells: tuple[int, int]

    @cached_property
    def _table(self) -> TableDecoder:
        pairs = zip(self.parts, self.cells, strict=True)
        return TableDecoder(np.concatenate([part(np.arange(cells)) for part, cells in pairs]))

    def __call__(self, cells: Array) -> Floats:
        """Return the numbers of cells."""
        return self._table(cells)

    def cut(self, low: float, high: float) -> JoinedDecoder:
        """Return the decoder with its numbers clipped to [low, high]."""
        first, second = (part.cut(low, high) for part in self.parts)
        return JoinedDecoder((first, second), self.cells)

    def plain(self) -> list[dict[str, Any]]:
        """Return the decoder as JSON-compatible data: one decoder per part."""
        return [part.plain() for part in self.parts]


Single = AffineDecoder | TableDecoder
Decoder = AffineDecoder | TableDecoder | JoinedDecoder


def decoder(book: Codebook, cells: int, domain: Line) -> Single:
    """Return the decoder that maps each cell to the number at its centre, in the user's units."""
    if isinstance(book, Ramps):
        steep = np.flatnonzero(book.slopes != 0.0)
        if steep.size == 1:
            piece = steep[0]
            slope = float(book.slopes[piece])
            line = float(book.left[piece]) + slope * (0.5 / cells - float(book.edges[piece]))
            ends = book.ends if book.left.size > 1 else (-math.inf, math.inf)
            return AffineDecoder(
                domain.low + domain.length * line,
                domain.length * slope / cells,
                domain.low + domain.length * ends[0],
                domain.low + domain.length * ends[1],
            )
    middles = (np.arange(cells) + 0.5) / cells
    return TableDecoder(domain.from_unit(book(middles)))


def check_size(decoder: Single, cells: int, *, rising: bool = True) -> Single:
    """Return a decoder that was read; raise MalformedReport unless a table has `cells` (rising) numbers."""
    if isinstance(decoder, TableDecoder) and decoder.values.size != cells:
        raise MalformedReport(f"expected {cells} numbers in the codebook, got {decoder.values.size}")
    if rising and isinstance(decoder, TableDecoder) and (np.diff(decoder.values) < 0.0).any():
        raise MalformedReport("expected numbers of a codebook that do not decrease")
    return decoder


def read_decoder(data: Any) -> Single:
    """Return the decoder that `plain` wrote; raise MalformedReport if the data describe none."""
    try:
        if "runs" in data:
            runs = [whole(run) for run in data["runs"]]
            if not runs or min(runs) < 1 or sum(runs) > MOST_CELLS or len(runs) != len(data["values"]):
                raise ValueError
            return TableDecoder(np.repeat([real(value) for value in data["values"]], runs))
        if set(data) not in ({"offset", "step"}, {"offset", "step", "low", "high"}):
            raise ValueError
        return AffineDecoder(**{name: real(number) for name, number in data.items()})
    except (TypeError, ValueError, KeyError, AttributeError):
        raise MalformedReport(
            "expected the keys offset and step, or values and runs, in a codebook"
        ) from None
