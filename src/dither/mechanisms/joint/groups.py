"""Groups larger than two: which correlations there can be, and what they would gain and cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from dither.errors import Infeasible, InvalidParameter
from dither.mechanisms.joint.accounting import DEALER
from dither.mechanisms.joint.adversaries import largest
from dither.mechanisms.joint.tuning import exact
from dither.privacy import Guarantee, Nothing, Pure


@final
@dataclass(frozen=True)
class Group:
    """The coins of a group, alike in any order: `masses[s]` is the chance that s people are truthful."""

    size: int
    p: Fraction
    rho: Fraction
    masses: tuple[Fraction, ...]

    def count_variance(self, n: int, n1: int) -> float:
        """Return the variance of the estimated count if n1 of n people hold the category, grouped at random.

        Theorem 4 with one's size − 1 companions among n − 1 people, where it has one partner.
        """
        if n < self.size or n % self.size or not 0 <= n1 <= n:
            raise InvalidParameter("n is a multiple of the group's size, and n1 is between 0 and n")
        overlap = Fraction((2 * n1 - n) ** 2 - n, n - 1) * (self.size - 1)
        return float(self.p * (1 - self.p) / (2 * self.p - 1) ** 2 * (n + self.rho * overlap))

    @property
    def guarantee(self) -> Guarantee:
        """What a person is promised if the coins of the whole rest of the group are known."""
        scale = math.lcm(*(mass.denominator for mass in self.masses)) * math.lcm(
            *(math.comb(self.size, count) for count in range(self.size + 1))
        )
        pattern = [int(mass * scale / math.comb(self.size, count)) for count, mass in enumerate(self.masses)]
        loss = largest(list(zip(pattern[1:], pattern, strict=False)), 1)
        if loss == math.inf:
            return Guarantee(Nothing("the rest of the group can give a coin away, and with it the answer"))
        return Guarantee(Pure(loss), assumes=(DEALER,))


def least_rho(size: int, p: float | Fraction) -> Fraction:
    """Return the smallest correlation that `size` coins can have with one another, each saying yes with p.

    How many say yes is a whole number with the mean size·p, so its variance, size·pq·(1 + (size−1)·ρ), is at
    least θ(1−θ), θ being what size·p is above a whole number, and as much for the two numbers next to it. So
    (size−1)·ρ comes near −1 in large groups: a count loses its noise, and the rest of a group gives one away.
    """
    if isinstance(size, bool) or not isinstance(size, int) or size < 2:
        raise InvalidParameter("a group has at least two people")
    chance = exact("p", p)
    if not Fraction(1, 2) < chance < 1:
        raise InvalidParameter("p is a probability above 1/2 and below 1")
    rest = size * chance % 1
    return (rest * (1 - rest) / (size * chance * (1 - chance)) - 1) / (size - 1)


def group(size: int, *, p: float | Fraction, rho: float | Fraction) -> Group:
    """Return a symmetric law of `size` coins with this p and pairwise correlation, or say that there is none.

    Every feasible ρ is a mixture: of independent coins and the law of `least_rho` below 0, of independent
    coins and coins that all fall alike above.

    >>> group(3, p=0.75, rho=-0.25).masses
    (Fraction(1, 256), Fraction(9, 256), Fraction(171, 256), Fraction(75, 256))
    """
    chance, correlation = exact("p", p), exact("rho", rho)
    least = least_rho(size, chance)
    if not least <= correlation <= 1:
        raise Infeasible(
            f"{size} coins with p = {float(chance):g} have correlations from {float(least):.6g} to 1: beyond "
            "that no symmetric joint law has these marginals"
        )
    plain = [
        math.comb(size, count) * chance**count * (1 - chance) ** (size - count) for count in range(size + 1)
    ]
    if correlation < 0:
        below, rest = divmod(size * chance, 1)
        extreme = [Fraction(0)] * (size + 1)
        extreme[int(below)] += 1 - rest
        extreme[int(below) + (1 if rest else 0)] += rest
        share = correlation / least
    else:
        extreme = [1 - chance, *[Fraction(0)] * (size - 1), chance]
        share = correlation
    masses = [share * one + (1 - share) * other for one, other in zip(extreme, plain, strict=True)]
    return Group(size, chance, correlation, tuple(masses))
