"""Biased coins whose probability is an integer over a power of two."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

import numpy as np

from dither.arrays import Mask
from dither.device_text import from_hexadecimal
from dither.errors import InvalidParameter, found
from dither.privacy.exact import exp_below
from dither.randomness import Source

FINE: Final = 128  # bits of a coin; the probability 1/(e^50 + 1) still has 56 significant bits


@final
@dataclass(frozen=True)
class BiasedCoin:
    """Heads with probability exactly heads / 2^bits.

    The first 64 random bits decide unless they equal the first 64 bits of `heads`. Only then more are drawn.
    """

    heads: int
    bits: int = FINE

    def __post_init__(self) -> None:
        if not 64 <= self.bits <= 128:
            raise InvalidParameter(f"a coin must have 64 to 128 bits, not {found(self.bits)}")
        if not 0 <= self.heads < 1 << self.bits:
            raise InvalidParameter(f"heads of a coin must be from 0 to 2^{self.bits} − 1")

    @staticmethod
    def below(probability: Fraction) -> BiasedCoin:
        """Return the coin with the largest probability of heads that is at most the given one."""
        return BiasedCoin(int(probability * (1 << FINE)))

    @staticmethod
    def above(probability: Fraction) -> BiasedCoin:
        """Return the coin with the smallest probability of heads that is at least the given one."""
        return BiasedCoin(-int(-probability * (1 << FINE) // 1))

    @property
    def probability(self) -> Fraction:
        """The probability of heads."""
        return Fraction(self.heads, 1 << self.bits)

    @property
    def odds(self) -> Fraction:
        """The odds: P(heads)/P(tails)."""
        return Fraction(self.heads, (1 << self.bits) - self.heads)

    def toss_one(self, source: Source) -> bool:
        """Return one toss, True for heads, in Python integers; it has the same distribution as `toss`."""
        rest = self.bits - 64
        word, first = source.bits(64), self.heads >> rest
        if word != first or not rest:
            return word < first
        return source.bits(rest) < self.heads & ((1 << rest) - 1)

    def toss(self, size: int, source: Source) -> Mask:
        """Return `size` independent tosses, True for heads."""
        rest = self.bits - 64
        first = np.uint64(self.heads >> rest)
        words = source.words(size)
        heads = np.less(words, first)
        tied = np.flatnonzero(words == first)
        if tied.size and rest:
            late = source.words(tied.size) >> np.uint64(64 - rest)
            heads[tied] = late < np.uint64(self.heads & ((1 << rest) - 1))
        return heads


def read_coin(text: object) -> BiasedCoin:
    """Return the coin of 128 bits whose `heads` are written as hexadecimal text."""
    return BiasedCoin(from_hexadecimal(text))


def truth(epsilon: float) -> BiasedCoin:
    """Return the coin with the largest odds that are at most e^ε."""
    bound = exp_below(Fraction(epsilon))
    return BiasedCoin.below(bound / (bound + 1))
