"""The window in integers: its identity, its proof, and the draw of one report."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final, Self, TypeVar

import numpy as np

from dither.core.kernels.blocks import BLOCK
from dither.errors import InvalidParameter, found
from dither.foundation.arrays import Array, Integers, Mask
from dither.foundation.canonical import HEXADECIMAL, WHOLE, Fields, from_domain
from dither.foundation.randomness import Source
from dither.privacy.exact import exp_below, log_above

LATE: Final = 32  # bits that are drawn only if the first bits do not decide
MOST: Final = 96  # bits of the longest draw
LIFT: Final = 1 << 75  # a power of two above every word and every start


@dataclass(frozen=True)
class Lottery:
    """Draw an index below `tickets`, each with probability exactly step / 2^bits, or no index.

    The first bits − 32 random bits v nearly always decide: the index is v // d for v < tickets·d, where d =
    step >> 32. Each index also has one of the last `tickets` values of v. There, 32 more bits are compared
    with step mod 2^32, the rest of its probability. It uses neither rejection nor floats, and the expected
    cost is one word. Proved: each_ticket_exactly, nothing_exactly and lottery_exactly (proofs/Lottery.v).
    """

    tickets: int
    step: int
    bits: int

    def __post_init__(self) -> None:
        if self.bits not in (64, MOST) or self.tickets < 1:
            raise InvalidParameter(
                "expected at least one ticket and 64 or 96 bits for a draw, got "
                f"{found(self.tickets)} tickets and {found(self.bits)} bits"
            )
        if not self.fits(self.tickets, self.step, self.bits):
            raise InvalidParameter(
                f"expected tickets × step of at most 2^{self.bits}, got {self.tickets} tickets with "
                f"step {found(self.step)}"
            )

    @staticmethod
    def fits(tickets: int, step: int, bits: int) -> bool:
        """Return whether the first bits have room for all tickets, with one more value of v for each.

        A step below 2^32 has only that one value. It is accepted only for the longest word.
        """
        first = step >> LATE
        fine = first >= 1 or (bits == MOST and step >= 1)
        return fine and tickets * (first + 1) <= 1 << (bits - LATE)

    @property
    def nothing(self) -> Fraction:
        """The probability that no ticket is drawn."""
        return 1 - Fraction(self.tickets * self.step, 1 << self.bits)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the words that `draw` takes."""
        return np.dtype(np.uint32 if self.bits == 64 else np.uint64)

    def draw(self, words: Array, drawn: Mask, source: Source) -> None:
        """Replace uniform words by indices, in place, and set `drawn` where there is one.

        Where `drawn` is False the number in `words` has no meaning.
        """
        kind = self.dtype.type
        first = self.step >> LATE
        hanging = kind((1 << (self.bits - LATE)) - self.tickets)
        np.less(words, kind(self.tickets * first), out=drawn)
        where = np.flatnonzero(words >= hanging) if words.size and words.max() >= hanging else None
        last = None if where is None else words[where] - hanging
        np.floor_divide(words, kind(max(first, 1)), out=words)
        if where is not None and last is not None:
            late = source.words(where.size) >> np.uint64(64 - LATE)
            won = late < np.uint64(self.step & ((1 << LATE) - 1))
            words[where[won]] = last[won]
            drawn[where[won]] = True

    def draw_one(self, source: Source, extra: int) -> tuple[bool, int, int]:
        """Draw once, in Python integers: whether there is an index, the index, and `extra` uniform bits.

        All bytes are taken at once, and the numbers of each step have the same number of digits, so that
        neither the number of bytes nor the time depends on the outcome. The exception has probability
        tickets/2^(bits − 32) and takes 4 bytes more.
        """
        early, more = (self.bits - LATE) >> 3, (extra + 7) >> 3
        taken = source.take(early + more)
        first, lift, bound, late = self._lifted
        word = int.from_bytes(taken[:early] + b"\x01", "little") + lift
        drawn, ticket = word < bound, word // first - LIFT
        if word >= late:  # the late bits come before the extra ones: golden files pin this order
            ticket = word - late
            taken, early = taken[early:] + source.take(LATE >> 3), LATE >> 3
            drawn = int.from_bytes(taken[:early], "little") < self.step & ((1 << LATE) - 1)
        return drawn, ticket, int.from_bytes(taken[early:], "little") >> (8 * more - extra)

    @cached_property
    def _lifted(self) -> tuple[int, int, int, int]:
        """The divisor d, the term that lifts a word v (with a leading 1) to v + 2^75·d, two lifted bounds.

        Python's integers are slower the more digits of 30 bits they have, so the time of v // d would reveal
        whether v is large, that is, whether a ticket was drawn. The multiple of 2^75 decides the number of
        digits, because v is below 2^64, and (v + 2^75·d) // d = v // d + 2^75.
        """
        first = max(self.step >> LATE, 1)
        room, lifted = 1 << (self.bits - LATE), first * LIFT
        return first, lifted - room, self.tickets * (self.step >> LATE) + lifted, room - self.tickets + lifted


MOST_CELLS: Final = 1 << 32
_WORDS: Final = (64, 96)  # bits of the draw: the first that suffices for ε is used
_FINE: Final = 24  # a weight of this many bits leaves less than 2^−24 of ε unspent


class Window(ABC):
    """N cells of which K have integer weight H each, and all others weight L."""

    cells: int
    width: int

    fields: ClassVar[Fields] = Fields(cells=WHOLE, width=WHOLE, bits=WHOLE, step=HEXADECIMAL)

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
        """The exact draw that decides between the window and all cells."""

    @property
    def total(self) -> int:
        """The sum of all weights; it is the same for every start."""
        return self.width * self.inside + (self.cells - self.width) * self.outside

    @property
    def ratio(self) -> Fraction:
        """The largest ratio H/L of two probabilities of one cell; ε is its logarithm."""
        return Fraction(self.inside, self.outside)

    @property
    def epsilon(self) -> float:
        """The realised ε, rounded up."""
        return log_above(self.ratio)

    @property
    def share(self) -> float:
        """The window's share K/N of the report space."""
        return self.width / self.cells

    @property
    def contrast(self) -> float:
        """The mixture weight of the uniform distribution on the window: K·(H − L)/total."""
        return float(Fraction(self.width * (self.inside - self.outside), self.total))

    @property
    def rest(self) -> float:
        """The probability that a report is drawn from all cells alike: N·L/total."""
        return float(Fraction(self.cells * self.outside, self.total))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest unsigned dtype that holds a cell."""
        return np.dtype(np.min_scalar_type(self.cells - 1))

    def probabilities(self, start: int) -> list[Fraction]:
        """Return the exact probability of every cell for a window that starts at `start`."""
        return self.mix([(start, Fraction(1))])

    def mix(self, starts: Iterable[tuple[int, Fraction]], room: int | None = None) -> list[Fraction]:
        """Return the exact probability of every cell if the start is drawn with the given probabilities.

        Windows wrap around the first `room` cells; around all cells if it is None.
        """
        steps = {0: Fraction(0), self.cells: Fraction(0)}  # differences of P(cell is in the window)
        around = room or self.cells
        for start, weight in starts:
            first = start % around
            last = first + self.width
            ends = [(first, last)] if last <= around else [(first, around), (0, last - around)]
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


@dataclass(frozen=True)
class Mixed(Window):
    """With probability K·step/2^bits a uniform cell of the window, otherwise a uniform cell of all.

    So H − L = N·step and L = 2^bits − K·step, out of a total of N·2^bits.
    Proved: inside_exactly and outside_exactly (proofs/Window.v).
    """

    cells: int
    width: int
    step: int
    bits: int = 64

    def __post_init__(self) -> None:
        self.check_cells(self.cells)
        if not 1 <= self.width < self.cells:
            raise InvalidParameter(
                f"the width of a window must be from 1 to {self.cells - 1} cells, not {found(self.width)}"
            )
        Lottery(self.width, self.step, self.bits)

    @staticmethod
    @abstractmethod
    def check_cells(cells: object) -> None:
        """Raise InvalidParameter unless a window may have this number of cells."""

    @classmethod
    def largest(cls, epsilon: float, cells: int, width: int) -> Self:
        """Return the window with the largest ratio H/L that is certainly at most e^ε.

        The ratio 1 + N·d/(2^w − K·d) is at most E⁻, a lower bound of e^ε, iff d ≤ 2^w(E⁻−1)/(N + K(E⁻−1)).
        """
        cls.check_cells(cells)
        bound = exp_below(Fraction(epsilon))
        for bits in _WORDS:
            step = ((bound - 1) * (1 << bits)) // (cells + width * (bound - 1))
            spare = (1 << bits) - width * step
            if Lottery.fits(width, step, bits) and (spare >= width << _FINE or bits == _WORDS[-1]):
                return certify(cls(cells, width, step, bits), bound)
        raise InvalidParameter(
            f"expected cells and a window that need at most 96 bits at ε = {found(epsilon)}, got "
            f"{cells} cells with a window of {width}; choose fewer cells"
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


@dataclass(frozen=True)
class Sliding(Mixed):
    """A window that may start at any cell of N = 2^k and wraps around."""

    @staticmethod
    def check_cells(cells: object) -> None:
        check_cells(cells)

    def draw_one(self, start: int, source: Source) -> int:
        """Draw one cell, in Python integers, without a branch on the start or on the outcome."""
        # Proved: sliding_private (proofs/Window.v).
        drawn, ticket, uniform = self.lottery.draw_one(source, self.cells.bit_length() - 1)
        return (uniform, start + ticket)[drawn] & (self.cells - 1)


MOST_NUMBERS: Final = 1 << 16  # points, or public locations


@dataclass(frozen=True)
class Nearest(Mixed):
    """A window of any K different numbers below N. The identity does not depend on which ones they are."""

    @staticmethod
    def check_cells(cells: object) -> None:
        if isinstance(cells, bool) or not isinstance(cells, int) or not 2 <= cells <= MOST_NUMBERS:
            raise InvalidParameter(f"the number of points must be from 2 to 2^16, not {found(cells)}")

    def draw_one(self, near: Sequence[int], source: Source) -> int:
        """Draw one number, given the K of the window; a uniform number is drawn in any case."""
        # Proved: nearest_private (proofs/Window.v), if the K numbers are different.
        drawn, ticket, _ = self.lottery.draw_one(source, 0)
        uniform = source.below(self.cells)
        return (uniform, near[ticket * drawn])[drawn]

    def draw(self, windows: Array, rows: Integers, source: Source) -> Array:
        """Draw a number for each of `rows`, the row of `windows` that lists its K numbers."""
        words = np.empty(rows.size, dtype=self.lottery.dtype)
        drawn = np.empty(rows.size, dtype=np.bool_)
        source.fill(words.data)
        self.lottery.draw(words, drawn, source)
        outputs = source.integers(self.cells, rows.size).astype(self.dtype)
        if self.width == 1:
            return np.where(drawn, windows.reshape(-1).take(rows), outputs)
        words *= drawn  # In rows without a drawn ticket, the word has no meaning.
        near = windows.reshape(-1).take(rows * windows.shape[1] + words.astype(np.int64))
        return np.where(drawn, near, outputs)


@dataclass(frozen=True)
class Blocks(Window):
    """N cells in equal blocks of K = 2^j; the window is the block of the input.

    With probability step/2^bits each, one of the N/K blocks is reported independently of the input; otherwise
    the input's own block is. So L = step and H = 2^bits − (N/K − 1)·step, out of a total of K·2^bits. The
    cell within the block is uniform.
    """

    cells: int
    width: int
    step: int
    bits: int = 64

    def __post_init__(self) -> None:
        if not 2 <= self.cells <= MOST_CELLS:
            raise InvalidParameter(f"the number of cells must be from 2 to 2^32, not {found(self.cells)}")
        if self.width < 1 or self.width & (self.width - 1) or self.cells % self.width:
            raise InvalidParameter(
                f"the width of blocks must be a power of two dividing {self.cells}, not {found(self.width)}"
            )
        if self.blocks < 2:
            raise InvalidParameter("expected at least two blocks, got one; choose a smaller width")
        Lottery(self.blocks, self.step, self.bits)

    @staticmethod
    def largest(epsilon: float, cells: int, width: int = 1) -> Blocks:
        """Return the blocks with the largest ratio H/L that is certainly at most e^ε.

        The ratio (2^w − (B−1)·d)/d for B blocks is at most E⁻ iff d ≥ 2^w/(E⁻ + B − 1).
        """
        bound = exp_below(Fraction(epsilon))
        blocks = cells // width
        for bits in _WORDS:
            step = -(-(1 << bits) // (bound + blocks - 1))
            if Lottery.fits(blocks, step, bits) and (step >= 1 << _FINE or bits == _WORDS[-1]):
                return certify(Blocks(cells, width, step, bits), bound)
        raise InvalidParameter(
            f"expected a number of cells that needs at most 96 bits at ε = {found(epsilon)}, got "
            f"{cells}; choose fewer categories"
        )

    @property
    def blocks(self) -> int:
        """The number of blocks."""
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
        """Draw a cell for each input cell; only the block of the input matters. Arrays may have any shape."""
        blocks = np.ascontiguousarray(inputs).reshape(-1)
        if self.width > 1:
            blocks = blocks // self.width
        out = np.empty(blocks.size, dtype=self.dtype)
        size = min(blocks.size, BLOCK)
        outputs = np.empty(size, dtype=self.lottery.dtype)
        lied = np.empty(size, dtype=np.bool_)
        for begin in range(0, blocks.size, BLOCK):
            cell = out[begin : begin + BLOCK]
            truth = blocks[begin : begin + BLOCK].astype(self.dtype)
            count = cell.size
            source.fill(outputs[:count].data)
            self.lottery.draw(outputs[:count], lied[:count], source)
            # cell = truth + lied·(told − truth), without a branch; unsigned overflow cancels
            np.copyto(cell, outputs[:count], casting="unsafe")
            cell -= truth
            cell *= lied[:count]
            cell += truth
        if self.width > 1:
            inner = source.words(out.size) & np.uint64(self.width - 1)
            out = out * self.dtype.type(self.width) + inner.astype(self.dtype)
        return out.reshape(np.shape(inputs))

    def draw_one(self, cell: int, source: Source) -> int:
        """Draw one cell, in Python integers, without a branch on the input or on the outcome."""
        # Proved: blocks_private, and response_private for a width of 1 (proofs/Window.v).
        drawn, block, inner = self.lottery.draw_one(source, self.width.bit_length() - 1)
        return (cell // self.width, block)[drawn] * self.width + inner


_Certified = TypeVar("_Certified", bound=Mixed | Blocks)


def certify(window: _Certified, bound: Fraction) -> _Certified:
    """Return the window if H/L, compared in integers, is at most the bound; raise InvalidParameter otherwise.

    This comparison is the proof of privacy: certified_ratio (proofs/Exponential.v).
    """
    if window.outside < 1 or window.inside * bound.denominator > bound.numerator * window.outside:
        raise InvalidParameter(
            f"expected an ε that integers can represent with {window.cells} cells; choose an ε nearer to 1"
        )
    return window


def check_cells(cells: object) -> None:
    """Raise InvalidParameter unless a number of cells is a power of two from 2 to 2^32."""
    if isinstance(cells, bool) or not isinstance(cells, int) or not _power_of_two(cells):
        raise InvalidParameter(
            f"the number of cells must be a power of two from 2 to 2^32, not {found(cells)}"
        )


def _power_of_two(cells: int) -> bool:
    return 2 <= cells <= MOST_CELLS and cells & (cells - 1) == 0


ONE: Final = from_domain(lambda domain: 1)  # the width of a window of one cell, which no text states
