"""Cells of equal base weight, of which a window of consecutive ones is likelier: nearly every mechanism.

    K·H + (N − K)·L is the same for every start: nothing to normalise, nothing to leak
    P(cell | x) / P(cell | x′) ∈ {1, H/L, L/H}: so ε = ln(H/L), exactly, for any start and any codebook

Two shapes are drawn without rejection: `Sliding` (N a power of two, the window may start anywhere and wraps)
and `Blocks` (any number of equal blocks, the window is one of them; blocks of one cell are k-ary
randomized response).
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, TypeVar, final

import numpy as np

from dither.arrays import Array
from dither.errors import InvalidParameter
from dither.kernels.blocks import BLOCK
from dither.kernels.window.draw import Lottery
from dither.privacy.exact import exp_below, log_above
from dither.randomness import Source

MOST_CELLS: Final = 1 << 32
_WORDS: Final = (64, 96)  # bits of the draw: the first that carries ε
_FINE: Final = 24  # a weight of this many bits leaves less than 2^−24 of ε unspent


class Window(ABC):
    """N cells of which K consecutive ones have integer weight H each, and all others weight L."""

    cells: int
    width: int

    @property
    @abstractmethod
    def inside(self) -> int:
        """The weight H of a cell in the window."""

    @property
    @abstractmethod
    def outside(self) -> int:
        """The weight L of any other cell."""

    @property
    @abstractmethod
    def lottery(self) -> Lottery:
        """The exact draw behind the window."""

    @final
    @property
    def total(self) -> int:
        """The sum of all weights, whatever the start."""
        return self.width * self.inside + (self.cells - self.width) * self.outside

    @final
    @property
    def ratio(self) -> Fraction:
        """The largest ratio of two probabilities of one cell: the privacy loss is its logarithm."""
        return Fraction(self.inside, self.outside)

    @final
    @property
    def epsilon(self) -> float:
        """The realised ε, rounded up."""
        return log_above(self.ratio)

    @final
    @property
    def share(self) -> float:
        """The window's share K/N of the report space."""
        return self.width / self.cells

    @final
    @property
    def contrast(self) -> float:
        """The probability that a report is drawn from the window on purpose: K·(H − L)/total."""
        return float(Fraction(self.width * (self.inside - self.outside), self.total))

    @final
    @property
    def rest(self) -> float:
        """The probability that a report is drawn from all cells alike: N·L/total."""
        return float(Fraction(self.cells * self.outside, self.total))

    @final
    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest unsigned integers that hold a cell."""
        return np.dtype(np.min_scalar_type(self.cells - 1))

    @final
    def probabilities(self, start: int) -> list[Fraction]:
        """Give the exact probability of every cell for a window that starts at `start`."""
        return self.mixed([(start, Fraction(1))])

    @final
    def mixed(self, starts: Iterable[tuple[int, Fraction]]) -> list[Fraction]:
        """Give the exact probability of every cell when the start is drawn with the given probabilities."""
        steps = {0: Fraction(0), self.cells: Fraction(0)}  # by how much the window's share grows at a cell
        for start, weight in starts:
            first = start % self.cells
            last = first + self.width
            ends = [(first, last)] if last <= self.cells else [(first, self.cells), (0, last - self.cells)]
            for begin, end in ends:
                steps[begin] = steps.get(begin, Fraction(0)) + weight
                steps[end] = steps.get(end, Fraction(0)) - weight
        low, lift = Fraction(self.outside, self.total), Fraction(self.inside - self.outside, self.total)
        law: list[Fraction] = []
        share = Fraction(0)
        for begin, end in itertools.pairwise(sorted(steps)):
            share += steps[begin]
            law += [low + lift * share] * (end - begin)
        return law


@final
@dataclass(frozen=True)
class Sliding(Window):
    """A window that may start at any cell of N = 2^k and wraps around.

    A report is a mixture: with probability K·step/2^bits a uniform cell of the window, otherwise a uniform
    cell of all. So H − L = N·step and L = 2^bits − K·step, out of a total of N·2^bits.
    """

    cells: int
    width: int
    step: int
    bits: int = 64

    def __post_init__(self) -> None:
        check_cells(self.cells)
        if not 1 <= self.width < self.cells:
            raise InvalidParameter("a window has at least one cell and leaves at least one outside")
        Lottery(self.width, self.step, self.bits)

    @staticmethod
    def largest(epsilon: float, cells: int, width: int) -> Sliding:
        """Give the window whose ratio is as large as ε allows, and certainly no larger.

        The ratio 1 + N·d/(2^w − K·d) is at most E⁻, a lower bound of e^ε, iff d ≤ 2^w(E⁻−1)/(N + K(E⁻−1)).
        """
        check_cells(cells)
        bound = exp_below(Fraction(epsilon))
        for bits in _WORDS:
            step = ((bound - 1) * (1 << bits)) // (cells + width * (bound - 1))
            spare = (1 << bits) - width * step
            if Lottery.fits(width, step, bits) and (spare >= width << _FINE or bits == _WORDS[-1]):
                return certified(Sliding(cells, width, step, bits), bound)
        raise InvalidParameter(
            f"{cells} cells with a window of {width} cannot carry this ε in 96 bits; choose fewer cells"
        )

    @property
    def outside(self) -> int:
        return (1 << self.bits) - self.width * self.step

    @property
    def inside(self) -> int:
        return self.outside + self.cells * self.step

    @cached_property
    def lottery(self) -> Lottery:
        return Lottery(self.width, self.step, self.bits)

    def draw_one(self, start: int, source: Source) -> int:
        """Draw one cell, in plain integers; without a branch on the start or on what was drawn."""
        drawn, ticket, uniform = self.lottery.draw_one(source, self.cells.bit_length() - 1)
        return (uniform + drawn * (start + ticket - uniform)) & (self.cells - 1)


@final
@dataclass(frozen=True)
class Blocks(Window):
    """N cells in equal blocks of K = 2^j; the window is the block that holds the input.

    Each of the N/K blocks is told with probability step/2^bits whatever the truth, and the truth otherwise:
    L = step and H = 2^bits − (N/K − 1)·step, out of a total of K·2^bits. Within a block cells are uniform.
    """

    cells: int
    width: int
    step: int
    bits: int = 64

    def __post_init__(self) -> None:
        if not 2 <= self.cells <= MOST_CELLS:
            raise InvalidParameter("there are between 2 and 2^32 cells")
        if self.width < 1 or self.width & (self.width - 1) or self.cells % self.width:
            raise InvalidParameter("a block's width is a power of two that divides the number of cells")
        if self.blocks < 2:
            raise InvalidParameter("there are at least two blocks")
        Lottery(self.blocks, self.step, self.bits)

    @staticmethod
    def largest(epsilon: float, cells: int, width: int = 1) -> Blocks:
        """Give the blocks whose ratio is as large as ε allows, and certainly no larger.

        The ratio (2^w − (B−1)·d)/d for B blocks is at most E⁻ iff d ≥ 2^w/(E⁻ + B − 1).
        """
        bound = exp_below(Fraction(epsilon))
        blocks = cells // width
        for bits in _WORDS:
            step = -(-(1 << bits) // (bound + blocks - 1))
            if Lottery.fits(blocks, step, bits) and (step >= 1 << _FINE or bits == _WORDS[-1]):
                return certified(Blocks(cells, width, step, bits), bound)
        raise InvalidParameter(f"{cells} cells cannot carry this ε in 96 bits; choose fewer categories")

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return self.cells // self.width

    @property
    def outside(self) -> int:
        return self.step

    @property
    def inside(self) -> int:
        return (1 << self.bits) - (self.blocks - 1) * self.step

    @cached_property
    def lottery(self) -> Lottery:
        return Lottery(self.blocks, self.step, self.bits)

    def draw(self, inputs: Array, source: Source) -> Array:
        """Draw a cell for each input cell (only its block matters); any shape."""
        blocks = np.ascontiguousarray(inputs).reshape(-1)
        if self.width > 1:
            blocks = blocks // self.width
        out = np.empty(blocks.size, dtype=self.dtype)
        size = min(blocks.size, BLOCK)
        told = np.empty(size, dtype=self.lottery.dtype)
        lied = np.empty(size, dtype=np.bool_)
        for begin in range(0, blocks.size, BLOCK):
            cell = out[begin : begin + BLOCK]
            truth = blocks[begin : begin + BLOCK].astype(self.dtype)
            count = cell.size
            source.fill(told[:count].data)
            self.lottery.draw(told[:count], lied[:count], source)
            # cell = truth + lied·(told − truth), without a branch: the arithmetic wraps and comes back
            np.copyto(cell, told[:count], casting="unsafe")
            cell -= truth
            cell *= lied[:count]
            cell += truth
        if self.width > 1:
            inner = source.words(out.size) & np.uint64(self.width - 1)
            out = out * self.dtype.type(self.width) + inner.astype(self.dtype)
        return out.reshape(np.shape(inputs))

    def draw_one(self, cell: int, source: Source) -> int:
        """Draw one cell, in plain integers; without a branch on the input or on what was drawn."""
        drawn, block, inner = self.lottery.draw_one(source, self.width.bit_length() - 1)
        own = cell // self.width
        return (own + drawn * (block - own)) * self.width + inner


_Certified = TypeVar("_Certified", Sliding, Blocks)


def certified(window: _Certified, bound: Fraction) -> _Certified:
    """Give the window back if its ratio, in integers, is at most the bound: that is the privacy proof."""
    if window.outside < 1 or window.inside * bound.denominator > bound.numerator * window.outside:
        raise InvalidParameter("this ε is too small or too large for the number of cells")
    return window


def check_cells(cells: object) -> None:
    """Raise unless a number of cells is a power of two from 2 to 2^32."""
    if isinstance(cells, bool) or not isinstance(cells, int):
        raise InvalidParameter("the number of cells is a whole number")
    if not 2 <= cells <= MOST_CELLS or cells & (cells - 1):
        raise InvalidParameter("the number of cells is a power of two from 2 to 2^32")
