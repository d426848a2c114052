"""Where the window of an input begins when a table says it: starts on an even grid of the domain."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

import numpy as np

from dither.arrays import Array, Floats, Integers
from dither.domains import Line
from dither.kernels.window.codebook import Runs
from dither.kernels.window.integers import Sliding
from dither.kernels.window.start import Course, Placement, split
from dither.randomness import Source

BINS: Final = 1 << 16  # of a chart without coins
COIN: Final = 16
KNOTS: Final = (1 << 15) - 1  # of a chart with coins: with 16 bits between two knots, places fill 31 bits


@final
@dataclass(frozen=True, eq=False)
class Chart(Course):
    """A value's start is the entry of its bin, or of one of the two knots beside it.

    Without `blended` the domain is cut into bins and an entry is a start. With it, entries belong to knots
    and count 2^16-ths of a cell: the value is rounded at random to the knot below or above it, and the entry
    at random to a whole cell, each by an exact coin. Floats are harmless here.
    """

    origin: float
    scale: float
    entries: Array
    blended: bool = False

    @property
    def fraction(self) -> int:  # type: ignore[override]
        """The bits of a cell that `aim` counts."""
        return COIN if self.blended else 0

    @property
    def last(self) -> int:
        """The largest place of a value: the last bin, or just below the last knot."""
        return ((self.entries.size - 1) << COIN) - 1 if self.blended else self.entries.size - 1

    def places(self, values: Array) -> Integers:
        """Give the bin of each value, or its place among the knots in 2^16-ths of their distance."""
        placed = (np.asarray(values, dtype=np.float64) - self.origin) * self.scale
        return np.clip(placed, 0.0, float(self.last)).astype(np.int64)

    def beside(self, values: Array) -> tuple[Floats, Floats, Floats]:
        """Give the entries of the knots below and above each value, and the probability of the one above."""
        places = self.places(values)
        knots = places >> COIN
        above = (places & ((1 << COIN) - 1)) / (1 << COIN)
        return self.entries[knots].astype(np.float64), self.entries[knots + 1].astype(np.float64), above

    def aim(self, values: Array) -> Integers:
        if not self.blended:
            return self.entries[self.places(values)].astype(np.int64)
        low, high, above = self.beside(values)
        return np.rint(low + above * (high - low)).astype(np.int64)

    def starts(self, value: float) -> list[tuple[int, Fraction]]:
        place = self._place(value)
        if not self.blended:
            return [(int(self.entries[place]), Fraction(1))]
        return [
            (start, weight * share)
            for knot, weight in split(place, COIN)
            for start, share in split(int(self.entries[knot]), COIN)
        ]

    def draw_one(self, value: float, source: Source) -> int:
        place = self._place(value)
        if not self.blended:
            return int(self.entries[place])
        entry = int(self.entries[(place + source.bits(COIN)) >> COIN])
        return (entry + source.bits(COIN)) >> COIN

    def _place(self, value: float) -> int:
        return min(max(int((value - self.origin) * self.scale), 0), self.last)


@final
@dataclass(frozen=True, eq=False)
class Nearest(Placement):
    """The window holds the cells whose numbers are nearest to the value: best for every loss of the distance.

    It moves from a to a + 1, which trades cell a for cell a + K, where the value is halfway between the two.
    """

    book: Runs

    def _halfway(self, width: float) -> Floats:
        values = self.book.listed
        kept = round(width * values.size)
        return np.asarray((values[: values.size - kept] + values[kept:]) / 2.0)

    def start(self, x: Floats, width: float) -> Floats:
        moved = np.searchsorted(self._halfway(width), x, side="right")
        return np.asarray(moved / self.book.cells, dtype=np.float64)

    def track(self, domain: Line, window: Sliding) -> Chart:
        middles = np.asarray((np.arange(BINS) + 0.5) / BINS, dtype=np.float64)
        starts = np.rint(self.start(middles, window.share) * window.cells)
        return Chart(domain.low, BINS / domain.length, starts.astype(window.dtype))

    def kinks(self, width: float) -> tuple[float, ...]:
        return tuple(np.unique(self._halfway(width)).tolist())


@final
@dataclass(frozen=True, eq=False)
class Balanced(Placement):
    """The window, or a coin between two, whose mean report is the value: unbiased for every real input.

    The mean report does not fall as the window moves, so a value lies between the means of two neighbouring
    starts.
    """

    book: Runs
    epsilon: float

    def _means(self, width: int, contrast: float | None = None) -> Floats:
        """Give the mean report of every start."""
        if contrast is None:
            lift = math.expm1(self.epsilon) * width / self.book.cells
            contrast = lift / (1.0 + lift)
        total = np.concatenate([[0.0], np.cumsum(self.book.listed)])
        window = (total[width:] - total[:-width]) / width
        return np.asarray((1.0 - contrast) * total[-1] / self.book.cells + contrast * window)

    def start(self, x: Floats, width: float) -> Floats:
        means = self._means(round(width * self.book.cells))
        return np.interp(x, means, np.arange(means.size)) / self.book.cells

    def track(self, domain: Line, window: Sliding) -> Chart:
        last = (KNOTS << COIN) - 1
        knots = np.asarray(np.arange(KNOTS + 1) * ((1 << COIN) / last), dtype=np.float64)
        means = self._means(window.width, window.contrast)
        entries = np.rint(np.interp(knots, means, np.arange(means.size)) * (1 << COIN))
        scale = last / domain.length
        return Chart(domain.low - 0.5 / scale, scale, entries.astype(np.uint32), blended=True)

    def kinks(self, width: float) -> tuple[float, ...]:
        kept = round(width * self.book.cells)
        means, ends = self._means(kept), np.cumsum(self.book.counts)[:-1]
        edges = np.concatenate([ends, ends - kept])  # where either end of the window enters another run
        return tuple(np.unique(means[edges[(edges >= 0) & (edges < means.size)]]).tolist())
