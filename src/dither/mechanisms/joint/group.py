"""Coins of groups larger than two."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dither.core.kernels.coin import largest_loss
from dither.core.kernels.joint import DEALER
from dither.errors import Infeasible, InvalidParameter, found
from dither.mechanisms.joint.coins import exact
from dither.privacy import Guarantee, Nothing, Pure


@dataclass(frozen=True)
class Group:
    """Exchangeable coins of a group: `masses[s]` is the probability that s people are truthful."""

    size: int
    p: Fraction
    rho: Fraction
    masses: tuple[Fraction, ...]

    def count_variance(self, n: int, n1: int) -> float:
        """Return the variance of the estimated count if n1 of n people hold the category, grouped at random.

        This is Theorem 4 with size − 1 companions among n − 1 people instead of one partner.
        """
        if n < self.size or n % self.size or not 0 <= n1 <= n:
            raise InvalidParameter(
                f"n must be a multiple of the group's size, {self.size}, and n1 from 0 to n; "
                f"not {found(n)} and {found(n1)}"
            )
        overlap = Fraction((2 * n1 - n) ** 2 - n, n - 1) * (self.size - 1)
        return float(self.p * (1 - self.p) / (2 * self.p - 1) ** 2 * (n + self.rho * overlap))

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person against an adversary who knows all other coins of the group."""
        scale = math.lcm(*(mass.denominator for mass in self.masses)) * math.lcm(
            *(math.comb(self.size, count) for count in range(self.size + 1))
        )
        pattern = [int(mass * scale / math.comb(self.size, count)) for count, mass in enumerate(self.masses)]
        loss = largest_loss(list(zip(pattern[1:], pattern, strict=False)), 1)
        if loss == math.inf:
            return Guarantee(Nothing("the rest of the group can give a coin away, and with it the answer"))
        return Guarantee(Pure(loss), assumes=(DEALER,))


def least_rho(size: int, p: float | Fraction) -> Fraction:
    """Return the smallest pairwise correlation of `size` coins with probability p of heads.

    The number of heads is an integer with mean size·p, so its variance, size·pq·(1 + (size−1)·ρ), is at least
    θ(1−θ), where θ is the fractional part of size·p. Equality holds for the distribution on the two integers
    next to size·p. In large groups (size−1)·ρ approaches −1: a count has hardly any noise, and all other
    coins of a group determine the last one.
    """
    if isinstance(size, bool) or not isinstance(size, int) or size < 2:
        raise InvalidParameter(f"the size of a group must be an integer from 2 upwards, not {found(size)}")
    chance = exact("p", p)
    if not Fraction(1, 2) < chance < 1:
        raise InvalidParameter(f"p must be above 1/2 and below 1, not {float(chance):g}")
    rest = size * chance % 1
    return (rest * (1 - rest) / (size * chance * (1 - chance)) - 1) / (size - 1)


def group(size: int, *, p: float | Fraction, rho: float | Fraction) -> Group:
    """Return exchangeable coins with this p and pairwise correlation; raise Infeasible if impossible.

    Every feasible ρ is reached by a mixture of independent coins with the coins of `least_rho` if ρ < 0, and
    with equal coins if ρ > 0.

    >>> group(3, p=0.75, rho=-0.25).masses
    (Fraction(1, 256), Fraction(9, 256), Fraction(171, 256), Fraction(75, 256))
    """
    chance, correlation = exact("p", p), exact("rho", rho)
    least = least_rho(size, chance)
    if not least <= correlation <= 1:
        raise Infeasible(
            f"expected a correlation from {float(least):.6g} to 1 for {size} coins with p = "
            f"{float(chance):g}, got {float(correlation):g}"
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
    masses = [share * most + (1 - share) * other for most, other in zip(extreme, plain, strict=True)]
    return Group(size, chance, correlation, tuple(masses))
