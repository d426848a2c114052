"""The coins with the least variance for a promise, and groups larger than two."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dither.domains import finite
from dither.errors import Infeasible, InvalidParameter, found
from dither.kernels.coin import PairedCoins, largest_loss, partners
from dither.kernels.joint import DEALER
from dither.mechanisms.joint.accounting import (
    Mode,
    hidden_epsilon,
    informed_failure,
    revealed_epsilon,
    revealed_failure,
    theorem_3_epsilon,
)
from dither.numerics.roots import argmin, largest_float
from dither.privacy import Guarantee, Nothing, Pure
from dither.privacy.exact import exp_below

Coins = tuple[Fraction, Fraction]  # p and ρ

_BITS: Final = 53  # probabilities are multiples of 2^−53
_GRID: Final = 24  # probabilities of truth that are tried before the best is refined
_STEPS: Final = 20  # steps of each search


def exact(name: str, value: object) -> Fraction:
    """Return a number as its exact rational value."""
    return value if isinstance(value, Fraction) else Fraction(finite(name, value))


def rho_range(p: Fraction, categories: int) -> tuple[Fraction, Fraction]:
    """Return the smallest and the largest ρ for which no probability of the table is negative."""
    lies = categories - 1
    q = (1 - p) / lies
    return max(-p / q, -(lies**2) * q / p), Fraction(lies)


def coins(p: Fraction, rho: Fraction, categories: int) -> PairedCoins:
    """Return the two coins of [Thesis, Sec. 4.5]: ρ·p·q is their covariance, so ρ/(k−1) their correlation."""
    return PairedCoins.of(p, rho * p * (1 - p) / (categories - 1))


def plain(epsilon: float, categories: int) -> Fraction:
    """Return the largest probability of truth, as a double, for which plain RR or KRR spends at most ε."""
    ratio = exp_below(Fraction(epsilon))
    return _double(ratio / (ratio + categories - 1))


def published(epsilon: float, categories: int, n: int, colluders: int) -> Coins:
    """Return p = e^ε/(1+e^ε) and ρ = 1 − 1/p [Thesis, Sec. 4.3.4]; with colluders, p by Theorem 3."""
    p = plain(epsilon, categories)
    if colluders:
        if categories != 2:
            raise InvalidParameter(f"Theorem 3 is for two categories, not {categories}; omit colluders")
        if colluders >= n - 1:
            raise Infeasible(
                f"with {colluders} colluders among {n} people no correlation satisfies Theorem 3"
            )
        # p(1 − ρm/(n−1)) = e^ε/(1+e^ε) at ρ = 1 − 1/p
        p = _double(1 - (n - 1) * (1 - p) / (n - 1 - colluders))
        if p <= Fraction(1, 2):
            raise Infeasible(
                f"with {colluders} colluders among {n} people no correlation satisfies Theorem 3"
            )
    return p, rho_range(p, categories)[0]


@dataclass(frozen=True)
class Search:
    """The smallest variance of a count under a mode, over the probability of truth and negative ρ.

    `first` and `second` are the mean and the mean square of the number of people who hold the category.
    Positive ρ is not searched: it can reduce the variance by at most a factor 1 − 1/n.
    """

    categories: int
    n: int
    epsilon: float
    first: float
    second: float

    def best(self, allowed: Callable[[PairedCoins], bool]) -> Coins:
        """Return the coins with the smallest variance among the allowed ones: a grid search, then refined."""
        highest = plain(self.epsilon, self.categories)

        def choose(budget: float) -> tuple[float, Coins]:
            p = plain(budget, self.categories) if budget < self.epsilon else highest
            rho = self._lowest(p, allowed)
            return self.variance(p, rho), (p, rho)

        step = self.epsilon / _GRID
        tried = [choose(step * count) for count in range(1, _GRID + 1)]
        place = min(range(_GRID), key=lambda index: tried[index][0])
        refined = [tried[place]]

        def variance(budget: float) -> float:
            refined.append(choose(budget))
            return refined[-1][0]

        argmin(variance, step * place, step * min(place + 2, _GRID), sections=_STEPS)
        return min(refined)[1]

    def variance(self, p: Fraction, rho: Fraction) -> float:
        """Return the mean variance of the estimated count."""
        lies = self.categories - 1
        q = (1 - p) / lies
        spread = partners(self.n) - 1
        other = self.n - self.first
        noise = self.first * float(p * (1 - p)) + other * float(q * (1 - q))
        return (noise + float(rho * p * q) * self._overlap / spread) / float(p - q) ** 2

    @property
    def _overlap(self) -> float:
        """The sum over pairs of people of the products of their weights in a count."""
        away = 1.0 / (self.categories - 1)
        gap = 1.0 + away
        squared = gap**2 * self.second - 2.0 * gap * away * self.n * self.first + (away * self.n) ** 2
        return squared - self.first - (self.n - self.first) * away**2

    def _lowest(self, p: Fraction, allowed: Callable[[PairedCoins], bool]) -> Fraction:
        """Return the most negative allowed ρ that is found; independent coins are always allowed."""
        if self._overlap <= 0.0:
            return Fraction(0)
        end = rho_range(p, self.categories)[0]
        if allowed(coins(p, end, self.categories)):
            return end

        def keeps(share: float) -> bool:
            return allowed(coins(p, end * Fraction(share), self.categories))

        return end * Fraction(largest_float(keeps, 0.0, 1.0, steps=_STEPS))


def constraint(
    mode: Mode, epsilon: float, categories: int, n: int, *, colluders: int, delta: float | None
) -> Callable[[PairedCoins], bool]:
    """Return a function that returns whether coins spend at most ε in a mode."""
    lies = categories - 1
    if mode == "theorem 3":
        if lies != 1:
            raise InvalidParameter(f"Theorem 3 is for two categories, not {categories}")
        return lambda pairs: theorem_3_epsilon(pairs, n, colluders) <= epsilon
    if mode == "hidden":
        return lambda pairs: hidden_epsilon(pairs, lies, n, colluders) <= epsilon
    if delta is None:
        return lambda pairs: revealed_epsilon(pairs, lies) <= epsilon
    if mode == "informed":
        return lambda pairs: informed_failure(pairs, lies, n)(epsilon) <= delta
    return lambda pairs: revealed_failure(pairs, lies, n, colluders)(epsilon) <= delta


def _double(number: Fraction) -> Fraction:
    return Fraction(math.floor(number * (1 << _BITS)), 1 << _BITS)


@dataclass(frozen=True)
class Group:
    """Exchangeable coins of a group: `masses[s]` is the probability that s people are truthful."""

    size: int
    p: Fraction
    rho: Fraction
    masses: tuple[Fraction, ...]

    def count_variance(self, n: int, n1: int) -> float:
        """Return the variance of the estimated count if n1 of n people hold the category, grouped at random.

        Theorem 4 with size − 1 companions among n − 1 people instead of one partner.
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
        raise InvalidParameter(
            f"the size of a group must be a whole number from 2 upwards, not {found(size)}"
        )
    chance = exact("p", p)
    if not Fraction(1, 2) < chance < 1:
        raise InvalidParameter(f"p must be above 1/2 and below 1, not {float(chance):g}")
    rest = size * chance % 1
    return (rest * (1 - rest) / (size * chance * (1 - chance)) - 1) / (size - 1)


def group(size: int, *, p: float | Fraction, rho: float | Fraction) -> Group:
    """Return exchangeable coins with this p and pairwise correlation; raise Infeasible if there are none.

    Every feasible ρ is reached by a mixture of independent coins with those of `least_rho` if ρ < 0, and with
    coins that are all equal if ρ > 0.

    >>> group(3, p=0.75, rho=-0.25).masses
    (Fraction(1, 256), Fraction(9, 256), Fraction(171, 256), Fraction(75, 256))
    """
    chance, correlation = exact("p", p), exact("rho", rho)
    least = least_rho(size, chance)
    if not least <= correlation <= 1:
        raise Infeasible(
            f"{size} coins with p = {float(chance):g} have correlations from {float(least):.6g} to 1, not "
            f"{float(correlation):g}"
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
