"""Exact Bernoulli draws with probability e^(−ε), and geometric noise made of them.

The series of e^(−x) is sampled as a sequence of rational coins [CKS20, Alg. 1 and 2], so the probabilities
are exact for a rational ε: no float and no rounded e^ε takes part in a draw.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from dither.domains import finite
from dither.errors import InvalidParameter
from dither.randomness import Source


def budget(epsilon: object) -> Fraction:
    """Return ε as the exact rational number of its double; raise InvalidParameter if it is out of range."""
    number = finite("epsilon", epsilon)
    if not 1e-9 <= number <= 200:
        raise InvalidParameter(f"epsilon must lie between 1e-9 and 200, not at {number:g}")
    return Fraction(number)


@final
@dataclass(frozen=True)
class GeometricRatio:
    """The ratio b = e^(−exponent) of a geometric law, with coins of probability b and the law's noise.

    >>> from dither.randomness import Seeded
    >>> GeometricRatio(Fraction(1, 2)).geometric(Seeded(3)) >= 0
    True
    """

    exponent: Fraction

    def __post_init__(self) -> None:
        if self.exponent <= 0:
            raise InvalidParameter("the ratio e^(−exponent) of a geometric law needs a positive exponent")

    @property
    def halvings(self) -> int:
        """The largest whole number m at or below the exponent: b ≤ 2^(−m)."""
        return math.floor(self.exponent)

    def coin(self, source: Source) -> bool:
        """Return True with probability exactly b."""
        return self._coin(source, 1)

    def doubled_coin(self, source: Source) -> bool:
        """Return True with probability exactly 2^halvings · b, for proposals made with 2^(−halvings)."""
        return self._coin(source, 3)

    def _coin(self, source: Source, first: int) -> bool:
        denominator = self.exponent.denominator
        whole, rest = divmod(self.exponent.numerator, denominator)
        return all(_falls(1, 1, source, first) for _ in range(whole)) and _falls(rest, denominator, source)

    def geometric(self, source: Source) -> int:
        """Draw k = 0, 1, 2, … with probability exactly (1 − b)·b^k [CKS20, Alg. 2]."""
        denominator = self.exponent.denominator
        rest = source.below(denominator)
        while not _falls(rest, denominator, source):
            rest = source.below(denominator)
        whole = 0
        while _falls(1, 1, source):
            whole += 1
        return (rest + denominator * whole) // self.exponent.numerator

    def two_sided(self, source: Source) -> int:
        """Draw an integer k with probability exactly (1 − b)/(1 + b)·b^|k|: discrete Laplace noise."""
        while True:
            negative = source.bits(1)
            size = self.geometric(source)
            if size or not negative:  # or 0, which has two signs, would be twice as likely
                return -size if negative else size


def _falls(numerator: int, denominator: int, source: Source, first: int = 1) -> bool:
    """Return True with probability exactly e^(−numerator/denominator), the fraction being at most 1.

    With x the fraction, coin k is heads with probability x/k, so the first k are heads with probability
    x^k/k!. The alternating sum of these, e^(−x), is the probability that the first tails comes after an even
    number of heads [CKS20, Alg. 1]. For x = 1 coin 1 is always heads, and True needs coin 2, of probability
    one half, to be heads as well: starting at coin 3 leaves that half out, and gives 2/e exactly.
    """
    coin = first
    while source.below(denominator * coin) < numerator:
        coin += 1
    return coin % 2 == 1
