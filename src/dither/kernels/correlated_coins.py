"""Two coins that fall together: a table of integer weights, and the law of how many of n such coins say no.

    both say yes: both      one says yes: one each      neither: neither      total = both + 2·one + neither

Each coin alone says yes with probability (both + one)/total. People are paired at random; where their number
is odd, one of them, drawn at random, tosses alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import gcd
from typing import Final, NamedTuple, final

import numpy as np

from dither.arrays import Floats, Mask
from dither.errors import InvalidParameter
from dither.randomness import Source

_NEGLIGIBLE: Final = 1e-40  # probability that is cut off at either end of a law, and counted as lost


class CountLaw(NamedTuple):
    """Probabilities of the whole numbers first, first + 1, …; `lost` bounds what was cut off."""

    first: int
    masses: Floats
    lost: float


@final
@dataclass(frozen=True)
class PairedCoins:
    """The joint law of two coins, as integer weights without a common factor."""

    both: int
    one: int
    neither: int

    def __post_init__(self) -> None:
        weights = (self.both, self.one, self.neither)
        if min(weights) < 0 or self.both + self.one < 1 or self.one + self.neither < 1:
            raise InvalidParameter("two coins have weights from 0 upwards, and each can fall on either side")
        if gcd(*weights) != 1:
            raise InvalidParameter("the weights of two coins have no common factor")

    @staticmethod
    def of(chance: Fraction, covariance: Fraction) -> PairedCoins:
        """Return two coins that say yes with this probability each and have this covariance."""
        both = chance * chance + covariance
        one = chance * (1 - chance) - covariance
        neither = (1 - chance) ** 2 + covariance
        scale = both.denominator * one.denominator * neither.denominator
        weights = [int(share * scale) for share in (both, one, neither)]
        factor = gcd(*weights)
        return PairedCoins(*(weight // factor for weight in weights))

    @property
    def total(self) -> int:
        """The sum of the weights of the four outcomes."""
        return self.both + 2 * self.one + self.neither

    @property
    def chance(self) -> Fraction:
        """The probability that a coin says yes."""
        return Fraction(self.both + self.one, self.total)

    @property
    def covariance(self) -> Fraction:
        """The covariance of the two coins."""
        return Fraction(self.both, self.total) - self.chance**2

    @property
    def independent(self) -> bool:
        """Whether the coins know nothing of each other."""
        return self.both * self.neither == self.one * self.one

    def draw(self, pairs: int, source: Source) -> Mask:
        """Toss so many pairs: a row of two for each."""
        outcome = source.choices((self.both, self.one, self.one, self.neither), pairs)
        return np.stack([outcome <= 1, outcome & 1 == 0], axis=1)

    def scatter(self, people: int, each: int, source: Source) -> Mask:
        """Toss `each` coins for so many people, who are paired at random: a row for each person."""
        order = source.permutation(people)
        halves = (people + 1) // 2  # whoever stays alone has half of a pair that nobody shares
        tossed = self.draw(halves * each, source).reshape(halves, each, 2)
        coins = np.empty((people, each), dtype=np.bool_)
        coins[order] = tossed.transpose(0, 2, 1).reshape(-1, each)[:people]
        return coins

    def thresholds(self, bits: int) -> tuple[int, int, int]:
        """Return R₁ ≤ R₂ ≤ R₃: a uniform R of `bits` bits below R₁ means yes yes, then yes no, no yes."""
        _check_bits(bits)
        if (1 << bits) % self.total:
            raise InvalidParameter(f"these coins have no thresholds of {bits} bits; round them first")
        scale = (1 << bits) // self.total
        ends = self.both, self.both + self.one, self.both + 2 * self.one
        return ends[0] * scale, ends[1] * scale, ends[2] * scale

    def rounded(self, bits: int) -> PairedCoins:
        """Return the nearest coins whose thresholds have `bits` bits; both coins keep one common law."""
        _check_bits(bits)
        whole = 1 << bits
        one = round(Fraction(self.one * whole, self.total))
        neither = -(-self.neither * whole // self.total)  # up: what can happen stays possible
        weights = whole - 2 * one - neither, one, neither
        factor = gcd(*weights)
        return PairedCoins(*(weight // factor for weight in weights))

    def noes(self, size: int) -> CountLaw:
        """Return the distribution of the number of coins that say no, for `size` people."""
        return _noes(self, size)


def _check_bits(bits: object) -> None:
    if isinstance(bits, bool) or not isinstance(bits, int) or not 2 <= bits <= 256:
        raise InvalidParameter("the number of bits is a whole number from 2 to 256")


@lru_cache(maxsize=64)
def _noes(pairs: PairedCoins, size: int) -> CountLaw:
    # Sums and products of positive numbers only: but for what is cut off, right to size·2^−48 of itself.
    total = pairs.total
    pair = CountLaw(0, np.array([pairs.both / total, 2 * pairs.one / total, pairs.neither / total]), 0.0)
    law = CountLaw(0, np.ones(1), 0.0)
    if size & 1:
        law = CountLaw(0, np.array([float(pairs.chance), float(1 - pairs.chance)]), 0.0)
    times = size // 2
    while times:
        if times & 1:
            law = _add(law, pair)
        times >>= 1
        if times:
            pair = _add(pair, pair)
    return law


def _add(first: CountLaw, second: CountLaw) -> CountLaw:
    """Return the distribution of a sum, its ends of negligible probability cut off."""
    masses = np.convolve(first.masses, second.masses)
    low = int(np.searchsorted(np.cumsum(masses), _NEGLIGIBLE))
    high = masses.size - int(np.searchsorted(np.cumsum(masses[::-1]), _NEGLIGIBLE))
    lost = first.lost + second.lost + _NEGLIGIBLE * ((low > 0) + (high < masses.size))
    return CountLaw(first.first + second.first + low, masses[low:high], lost)
