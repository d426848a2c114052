"""Coins in integers: a biased one, and the correlated coins of two people."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import gcd, inf
from typing import ClassVar, Final, NamedTuple

import numpy as np

from dither.errors import InvalidParameter, found
from dither.foundation.arrays import Floats, Mask
from dither.foundation.canonical import HEXADECIMAL, Codec, Fields, from_hexadecimal, hexadecimal
from dither.foundation.randomness import Source
from dither.privacy.exact import exp_below, log_above

FINE: Final = 128  # bits of a coin; the probability 1/(e^50 + 1) still has 56 significant bits


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


COIN: Final = Codec(lambda coin: hexadecimal(coin.heads), lambda text: BiasedCoin(from_hexadecimal(text)))


def truth(epsilon: float) -> BiasedCoin:
    """Return the coin with the largest odds that are at most e^ε."""
    bound = exp_below(Fraction(epsilon))
    return BiasedCoin.below(bound / (bound + 1))


_NEGLIGIBLE: Final = 1e-40  # probability that is cut off at each end of a distribution, and added to `lost`


class CountLaw(NamedTuple):
    """Probabilities of the integers first, first + 1, …; `lost` bounds the probability that was cut off."""

    first: int
    masses: Floats
    lost: float


@dataclass(frozen=True)
class PairedCoins:
    """The joint distribution of two coins, as integer weights without a common factor."""

    both: int
    one: int
    neither: int

    fields: ClassVar[Fields] = Fields(both=HEXADECIMAL, one=HEXADECIMAL, neither=HEXADECIMAL)

    def __post_init__(self) -> None:
        weights = (self.both, self.one, self.neither)
        if min(weights) < 0 or self.both + self.one < 1 or self.one + self.neither < 1:
            raise InvalidParameter("the weights of two coins must be ≥ 0, with heads and tails both possible")
        if gcd(*weights) != 1:
            raise InvalidParameter("the weights of two coins must have no common factor")

    @staticmethod
    def of(chance: Fraction, covariance: Fraction) -> PairedCoins:
        """Return two coins with the given probability of heads and covariance."""
        both = chance * chance + covariance
        single = chance * (1 - chance) - covariance
        neither = (1 - chance) ** 2 + covariance
        scale = both.denominator * single.denominator * neither.denominator
        weights = [int(share * scale) for share in (both, single, neither)]
        factor = gcd(*weights)
        return PairedCoins(*(weight // factor for weight in weights))

    @property
    def total(self) -> int:
        """The sum of the weights of the four outcomes."""
        return self.both + 2 * self.one + self.neither

    @property
    def chance(self) -> Fraction:
        """The probability that one coin shows heads."""
        return Fraction(self.both + self.one, self.total)

    @property
    def covariance(self) -> Fraction:
        """The covariance of the two coins."""
        return Fraction(self.both, self.total) - self.chance**2

    def loss_if_known(self, lies: int) -> float:
        """Return the privacy loss against an adversary who knows the partner's coin and anything else."""
        return largest_loss([(self.both, self.one), (self.one, self.neither)], lies)

    @property
    def independent(self) -> bool:
        """Whether the coins are independent."""
        return self.both * self.neither == self.one * self.one

    def draw(self, pairs: int, source: Source) -> Mask:
        """Toss `pairs` pairs of coins; return one row of two booleans for each."""
        outcome = source.choices((self.both, self.one, self.one, self.neither), pairs)
        return np.stack([outcome <= 1, outcome & 1 == 0], axis=1)

    def scatter(self, people: int, each: int, source: Source, *, fixed: bool = False) -> Mask:
        """Toss `each` coins for each of `people` people, who are paired at random; return a row for each.

        `fixed` pairs are neighbours: the first person with the second, the third with the fourth.
        """
        order = np.arange(people) if fixed else source.permutation(people)
        halves = (people + 1) // 2  # if the number is odd, the second half of the last pair is not used
        tossed = self.draw(halves * each, source).reshape(halves, each, 2)
        coins = np.empty((people, each), dtype=np.bool_)
        coins[order] = tossed.transpose(0, 2, 1).reshape(-1, each)[:people]
        return coins

    def thresholds(self, bits: int) -> tuple[int, int, int]:
        """Return R₁ ≤ R₂ ≤ R₃ for a uniform R of `bits` bits.

        R < R₁ means heads for both, R₁ ≤ R < R₂ heads for the first only, R₂ ≤ R < R₃ for the second only.
        """
        _check_bits(bits)
        if (1 << bits) % self.total:
            raise InvalidParameter(
                f"expected coins with thresholds of {bits} bits, got finer ones; use rounded({bits}) first"
            )
        scale = (1 << bits) // self.total
        ends = self.both, self.both + self.one, self.both + 2 * self.one
        return ends[0] * scale, ends[1] * scale, ends[2] * scale

    def rounded(self, bits: int) -> PairedCoins:
        """Return the nearest coins whose thresholds have `bits` bits; their marginals are equal."""
        _check_bits(bits)
        total = 1 << bits
        single = round(Fraction(self.one * total, self.total))
        neither = -(-self.neither * total // self.total)  # rounded up, so that two tails stay possible
        weights = total - 2 * single - neither, single, neither
        factor = gcd(*weights)
        return PairedCoins(*(weight // factor for weight in weights))

    def noes(self, size: int) -> CountLaw:
        """Return the distribution of the number of tails among the coins of `size` people."""
        return _noes(self, size)


def _check_bits(bits: object) -> None:
    if isinstance(bits, bool) or not isinstance(bits, int) or not 2 <= bits <= 256:
        raise InvalidParameter(f"bits must be an integer from 2 to 256, not {found(bits)}")


@lru_cache(maxsize=64)
def _noes(pairs: PairedCoins, size: int) -> CountLaw:
    # Only sums and products of positive numbers: apart from `lost`, the relative error is below size·2^−48.
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
    """Return the distribution of a sum, with negligible tails cut off."""
    masses = np.convolve(first.masses, second.masses)
    low = int(np.searchsorted(np.cumsum(masses), _NEGLIGIBLE))
    high = masses.size - int(np.searchsorted(np.cumsum(masses[::-1]), _NEGLIGIBLE))
    lost = first.lost + second.lost + _NEGLIGIBLE * ((low > 0) + (high < masses.size))
    return CountLaw(first.first + second.first + low, masses[low:high], lost)


def partners(n: int) -> int:
    """Return n rounded up to an even number."""
    return n + n % 2


def largest_loss(weights: list[tuple[int, int]], lies: int) -> float:
    """Return the largest |ln(truth/lie)| over pairs of weights, rounded up; pairs of zeros are skipped."""
    ratio = Fraction(1)
    for truth, lie in weights:
        if not truth and not lie:
            continue
        if not truth or not lie:
            return inf
        odds = Fraction(truth * lies, lie)
        ratio = max(ratio, odds, 1 / odds)
    return log_above(ratio)
