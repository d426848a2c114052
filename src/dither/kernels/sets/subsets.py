"""Uniform subsets of a given size, one of whose elements is likelier: subset selection.

A report is a set of w of k elements as a row of packed bits. Sets that hold the input share one probability,
all others a smaller one; within each kind the set is uniform, drawn element by element: the next of m
elements is taken with probability exactly (still wanted)/m.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

import numpy as np

from dither.arrays import Array, Bytes, Halves, Mask
from dither.errors import InvalidParameter
from dither.kernels.coin import Coin
from dither.kernels.sets import bit_rows as packed
from dither.privacy.exact import exp_below, log_above
from dither.randomness import Source

MOST: Final = 1 << 16  # elements: a set is drawn element by element

_FEW: Final = 8
_BLOCK: Final = 1 << 14  # people handled together: they stay in the cache


@final
@dataclass(frozen=True)
class Subsets:
    """Sets of `chosen` out of `size` elements; the coin says whether the input is one of them."""

    size: int
    chosen: int
    coin: Coin

    def __post_init__(self) -> None:
        if not 1 <= self.chosen < self.size <= MOST:
            raise InvalidParameter(f"a subset leaves at least one element out, of at most {MOST}")
        if not self.ratio > 1:
            raise InvalidParameter("sets with the input are likelier than sets without")

    @staticmethod
    def largest(epsilon: float, size: int, chosen: int) -> Subsets:
        """Give the coin whose ratio is as large as ε allows, and certainly no larger.

        Of the C(k, w) sets w/k hold the input, so the ratio is odds·(k−w)/w ≤ E⁻ iff the coin's probability
        is at most w·E⁻/(w·E⁻ + k − w).
        """
        bound = exp_below(Fraction(epsilon))
        own = chosen * bound
        subsets = Subsets(size, chosen, Coin.below(own / (own + size - chosen)))
        if subsets.ratio > bound:
            raise InvalidParameter("this ε is too small or too large for the number of elements")
        return subsets

    @property
    def ratio(self) -> Fraction:
        """The largest ratio of two probabilities of one set: the privacy loss is its logarithm."""
        return self.coin.odds * Fraction(self.size - self.chosen, self.chosen)

    @property
    def epsilon(self) -> float:
        """The realised ε, rounded up."""
        return log_above(self.ratio)

    @property
    def sets(self) -> int:
        """How many different sets there are."""
        return math.comb(self.size, self.chosen)

    @property
    def other(self) -> Fraction:
        """The probability that a given element other than the input is in the set."""
        held = self.coin.probability
        return (held * (self.chosen - 1) + (1 - held) * self.chosen) / (self.size - 1)

    def probabilities(self, code: int) -> list[Fraction]:
        """Give the exact probability of every row of bits, read as a binary number; zero for other sizes."""
        with_input = self.coin.probability / math.comb(self.size - 1, self.chosen - 1)
        without = (1 - self.coin.probability) / math.comb(self.size - 1, self.chosen)
        return [
            (with_input if row >> code & 1 else without) if row.bit_count() == self.chosen else Fraction(0)
            for row in range(1 << self.size)
        ]

    def draw(self, codes: Array, rows: Bytes, source: Source) -> None:
        """Write a set for each code, as a row of packed bits: plain integers for a few, blocks for many."""
        if codes.size < _FEW:
            for row, code in zip(rows, codes, strict=True):
                drawn = self._one(int(code), source)
                row[:] = np.frombuffer(drawn.to_bytes(row.size, "little"), dtype=np.uint8)
            return
        for begin in range(0, codes.size, _BLOCK):
            self._block(codes[begin : begin + _BLOCK], rows[begin : begin + _BLOCK], source)

    def _one(self, code: int, source: Source) -> int:
        """Draw one set as a binary number, the same way as in blocks."""
        held = bool(self.coin.toss(1, source)[0])
        wanted, last, row = self.chosen - held, self.size - 1, 0
        for element in range(last):
            if source.below(last - element) < wanted:
                row |= 1 << element
                wanted -= 1
        row |= (row >> code & 1) << last
        return row & ~(1 << code) | held << code

    def _block(self, codes: Array, rows: Bytes, source: Source) -> None:
        held = self.coin.toss(codes.size, source)
        wanted = np.subtract(self.chosen, held, dtype=np.uint32)
        taken = np.empty(codes.size, dtype=np.uint8)
        rows[:] = 0
        for element in range(self.size - 1):
            _take(taken.view(np.bool_), wanted, self.size - 1 - element, source)
            taken *= packed.BIT[element & 7]
            rows[:, element >> 3] |= taken
        # The k − 1 other elements were numbered by themselves: the last one has the input's number.
        flat, place, bit = packed.places(codes, rows)
        last = self.size - 1
        rows[:, last >> 3] |= np.where(flat[place] & bit, packed.BIT[last & 7], np.uint8(0))
        flat[place] = np.where(held, flat[place] | bit, flat[place] & ~bit)


def _take(taken: Mask, wanted: Halves, left: int, source: Source) -> None:
    """Take the next of `left` elements with probability wanted/left, and want one less where it was."""
    words = np.empty(wanted.size, dtype=np.uint32)
    source.fill(words.data)
    share = ((1 << 32) - 1) // left
    ceiling = np.uint32(share * left)  # words from here on are drawn again: uniform below
    while words.max() >= ceiling:
        rejected = np.flatnonzero(words >= ceiling)
        words[rejected] = (source.words(rejected.size) >> np.uint64(32)).astype(np.uint32)
    np.less(words, wanted * np.uint32(share), out=taken)
    wanted -= taken
