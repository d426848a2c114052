"""The coins of two people with the least variance for a given guarantee."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dither.core.domains import finite
from dither.core.kernels.coin import PairedCoins, partners
from dither.errors import Infeasible, InvalidParameter
from dither.foundation.numerics.roots import argmin, largest_float
from dither.mechanisms.joint.accounting import (
    Mode,
    hidden_epsilon,
    informed_failure,
    revealed_epsilon,
    revealed_failure,
    theorem_3_epsilon,
)
from dither.privacy.exact import exp_below

Coins = tuple[Fraction, Fraction]  # p and ρ

_BITS: Final = 53  # probabilities are multiples of 2^−53
_GRID: Final = 24  # number of probabilities of truth in the grid search
_STEPS: Final = 20  # number of steps of each search


def exact(name: str, value: object) -> Fraction:
    """Return a number as its exact rational value."""
    return value if isinstance(value, Fraction) else Fraction(finite(name, value))


def rho_range(p: Fraction, categories: int) -> tuple[Fraction, Fraction]:
    """Return the smallest and the largest ρ for which no probability of the table is negative."""
    lies = categories - 1
    q = (1 - p) / lies
    return max(-p / q, -(lies**2) * q / p), Fraction(lies)


def coins(p: Fraction, rho: Fraction, categories: int) -> PairedCoins:
    """Return the two coins of [Thesis, Sec. 4.5], with the covariance ρ·p·q and the correlation ρ/(k−1)."""
    return PairedCoins.of(p, rho * p * (1 - p) / (categories - 1))


def plain(epsilon: float, categories: int) -> Fraction:
    """Return the largest double p such that plain RR or KRR with probability p of truth spends at most ε."""
    ratio = exp_below(Fraction(epsilon))
    return _double(ratio / (ratio + categories - 1))


def published_coins(epsilon: float, categories: int, n: int, colluders: int) -> Coins:
    """Return p = e^ε/(1+e^ε) and ρ = 1 − 1/p [Thesis, Sec. 4.3.4]; with colluders, p by Theorem 3."""
    p = plain(epsilon, categories)
    if colluders:
        if categories != 2:
            raise InvalidParameter(
                f"expected two categories with colluders (Theorem 3), got {categories}; leave out colluders"
            )
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
    """The smallest variance of a count under a mode, over the probability of truth and ρ.

    `first` and `second` are the mean and the mean square of the number of people who hold the category. A
    negative ρ helps if most people hold the category or most do not; otherwise a positive ρ helps.
    """

    categories: int
    n: int
    epsilon: float
    first: float
    second: float

    def best(self, allowed: Callable[[PairedCoins], bool]) -> Coins:
        """Return the allowed coins with the smallest variance, by a refined grid search."""
        highest = plain(self.epsilon, self.categories)

        def choose(budget: float) -> tuple[float, Coins]:
            p = plain(budget, self.categories) if budget < self.epsilon else highest
            rho = self._farthest(p, allowed)
            return self.variance(p, rho), (p, rho)

        step = self.epsilon / _GRID
        tried = [choose(step * count) for count in range(1, _GRID + 1)]
        number = min(range(_GRID), key=lambda index: tried[index][0])
        refined = [tried[number]]

        def variance(budget: float) -> float:
            refined.append(choose(budget))
            return refined[-1][0]

        argmin(variance, step * number, step * min(number + 2, _GRID), sections=_STEPS)
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

    def _farthest(self, p: Fraction, allowed: Callable[[PairedCoins], bool]) -> Fraction:
        """Return the allowed ρ farthest from 0, with the sign that helps; ρ = 0 is always allowed."""
        end = rho_range(p, self.categories)[0 if self._overlap > 0.0 else 1]
        if allowed(coins(p, end, self.categories)):
            return end

        def keeps(share: float) -> bool:
            return allowed(coins(p, end * Fraction(share), self.categories))

        return end * Fraction(largest_float(keeps, 0.0, 1.0, steps=_STEPS))


def constraint(
    mode: Mode, epsilon: float, categories: int, n: int, *, colluders: int, delta: float | None
) -> Callable[[PairedCoins], bool]:
    """Return a function that checks whether coins spend at most ε in a mode."""
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
