"""Two windows and a coin that does not look at the input; the report shows which of the two was used."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Final, final

import numpy as np

from dither.arrays import Array
from dither.domains import Line
from dither.errors import InvalidParameter
from dither.kernels.blocks import Single, SlidingSampler, draw_each, draw_few
from dither.kernels.window.integers import Sliding
from dither.kernels.window.start import Course
from dither.randomness import Source

COIN: Final = 1 << 32


@final
@dataclass(frozen=True)
class Mixture:
    """With probability heads/2^32 a cell of the first window, otherwise N₁ + a cell of the second."""

    first: Sliding
    second: Sliding
    heads: int

    def __post_init__(self) -> None:
        if not 0 <= self.heads < COIN:
            raise InvalidParameter("the coin's heads are a whole number from 0 to 2^32 − 1")

    @property
    def cells(self) -> int:
        """How many different reports there are."""
        return self.first.cells + self.second.cells

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest unsigned integers that hold a cell."""
        return np.dtype(np.min_scalar_type(self.cells - 1))

    @property
    def ratio(self) -> Fraction:
        """The largest ratio of two probabilities of one cell: the coin cancels."""
        return max(self.first.ratio, self.second.ratio)

    def draw(
        self, domain: Line, tracks: tuple[Course, Course], values: Array, source: Source, *, threads: int
    ) -> Array:
        """Give a cell for each of the values (one axis)."""
        one: Single = lambda value, source: self._one(tracks, value, source)  # noqa: E731
        return draw_each(domain, partial(_Sampler, self, tracks), one, values, self.dtype, source, threads)

    def _one(self, tracks: tuple[Course, Course], value: float, source: Source) -> int:
        if source.bits(32) < self.heads:
            return draw_few(self.first, tracks[0], value, source)
        return self.first.cells + draw_few(self.second, tracks[1], value, source)


@final
class _Sampler:
    """Both windows are drawn for every value, and the coin keeps one: no branch depends on the coin."""

    def __init__(self, mixture: Mixture, tracks: tuple[Course, Course], size: int) -> None:
        self._mixture = mixture
        self._first = SlidingSampler(mixture.first, tracks[0], size)
        self._second = SlidingSampler(mixture.second, tracks[1], size)
        self._cells = np.empty(size, dtype=mixture.first.dtype)
        self._others = np.empty(size, dtype=mixture.second.dtype)
        self._coins = np.empty(size, dtype=np.uint32)
        self._heads = np.empty(size, dtype=np.bool_)

    def __call__(self, block: Array, cell: Array, source: Source) -> None:
        count = block.size
        own, other, heads = self._cells[:count], self._others[:count], self._heads[:count]
        coins = self._coins[:count]
        self._first(block, own, source)
        self._second(block, other, source)
        source.fill(coins.data)
        np.less(coins, np.uint32(self._mixture.heads), out=heads)
        # cell = other + heads·(own − other): the arithmetic wraps and comes back
        tail = np.add(other, cell.dtype.type(self._mixture.first.cells), dtype=cell.dtype)
        np.subtract(own, tail, out=cell, dtype=cell.dtype)
        cell *= heads
        cell += tail
