"""Staircase noise on the integers: the noise of least variance for one number of a given sensitivity."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import final

from dither.central.discrete import GeometricRatio
from dither.errors import InvalidParameter
from dither.randomness import Source


@final
@dataclass(frozen=True)
class DiscreteStaircase:
    """Integer noise of constant probability on steps, each step e^(−ε) times as likely as the one inside it.

    P(z) ∝ b^j with j = ⌊(|z| + S − r)/S⌋, S the sensitivity and r the radius of the innermost step. Moving z
    by at most S moves j by at most 1, which is the proof of ε for any r in 1 … S. [GV14; on a grid]
    """

    sensitivity: int
    radius: int
    epsilon: Fraction

    def __post_init__(self) -> None:
        if not 1 <= self.radius <= self.sensitivity:
            raise InvalidParameter("a staircase's innermost radius lies between 1 and the sensitivity")

    @staticmethod
    def best(sensitivity: int, epsilon: Fraction) -> DiscreteStaircase:
        """Return the staircase of least variance."""
        start = radius_at(squared_error_gamma(float(epsilon)), sensitivity)
        if (
            sensitivity > 1 << 12
        ):  # one integer more or less changes the variance by less than a float can show
            return DiscreteStaircase(sensitivity, start, epsilon)
        near = {min(max(start + offset, 1), sensitivity) for offset in (-1, 0, 1)}
        return min(
            (DiscreteStaircase(sensitivity, radius, epsilon) for radius in near), key=lambda law: law.variance
        )

    def level(self, noise: int) -> int:
        """Return the signed number of the step that holds a noise value: 0 innermost."""
        step = (abs(noise) + self.sensitivity - self.radius) // self.sensitivity
        return step if noise >= 0 else -step

    @cached_property
    def ratio(self) -> GeometricRatio:
        """The ratio b = e^(−ε) of two neighbouring steps."""
        return GeometricRatio(self.epsilon)

    def draw(self, source: Source) -> int:
        """Draw one noise value with exactly the stated probabilities."""
        # Two parts: the innermost step, 2r − 1 values of weight 1, and the rest, S·b/(1 − b) on either side.
        # Multiplied by 1 − b: (2r − 1)·(1 − b) against 2S·b. The proposal has 2^(−m) ≥ b in place of b, and
        # the coins make up the difference, so about one proposal in 1.5 is accepted at every ε.
        ratio, step = self.ratio, self.sensitivity
        inner = (2 * self.radius - 1) << ratio.halvings
        while True:
            place = source.below(inner + 2 * step)
            if place < inner:
                if not ratio.coin(source):
                    return (place >> ratio.halvings) - (self.radius - 1)
            elif ratio.doubled_coin(source):
                side, within = divmod(place - inner, step)
                size = self.radius + step * ratio.geometric(source) + within
                return -size if side else size

    @cached_property
    def variance(self) -> float:
        """The variance of the noise, in units of the squared sensitivity."""
        # The noise is a mixture of uniform draws from |z| < r + J·S with P(J = j) ∝ b^j·(2(r + jS) − 1).
        squares = geometric_mean(_squares, 3, self.radius, self.sensitivity, self.epsilon)
        points = geometric_mean(_points, 1, self.radius, self.sensitivity, self.epsilon)
        return float(squares / (points * self.sensitivity**2))

    def tail(self, size: int) -> float:
        """Return P(|z| ≥ size)."""
        if size <= 0:
            return 1.0
        step, odds = self.sensitivity, 1.0 / math.expm1(self.epsilon)
        level = self.level(size)
        left = (self.radius + level * step - size) / step  # of the step that holds `size`
        whole = (2 * self.radius - 1) / step + 2.0 * odds
        return 2.0 * math.exp(-level * self.epsilon) * (left + odds) / whole


@final
@dataclass(frozen=True)
class DiscreteLaplace:
    """Integer noise with P(z) ∝ e^(−ε·|z|/S): the discrete Laplace law for sensitivity S."""

    sensitivity: int
    epsilon: Fraction

    @cached_property
    def ratio(self) -> GeometricRatio:
        """The ratio e^(−ε/S) of two neighbouring integers."""
        return GeometricRatio(self.epsilon / self.sensitivity)

    def draw(self, source: Source) -> int:
        """Draw one noise value with exactly the stated probabilities."""
        return self.ratio.two_sided(source)

    @cached_property
    def variance(self) -> float:
        """The variance of the noise, in units of the squared sensitivity."""
        half = float(self.ratio.exponent / 2)  # 2b/(1 − b)² = 1/(2 sinh²(x/2)) with b = e^(−x), x = ε/S
        return 2.0 * ((half / math.sinh(half) if half else 1.0) / float(self.epsilon)) ** 2

    def tail(self, size: int) -> float:
        """Return P(|z| ≥ size)."""
        exponent = float(self.ratio.exponent)
        if size <= 0:
            return 1.0
        return 2.0 * math.exp(-float(size * self.ratio.exponent)) / (1.0 + math.exp(-exponent))


def squared_error_gamma(epsilon: float) -> float:
    """Return the width of the innermost step, as a share of the sensitivity, that minimises the variance.

    [GV14, eq. 50], in a form that does not cancel at small ε.
    """
    b = math.exp(-epsilon)
    c = math.cbrt(b * (1.0 + b) / 2.0)
    return b * (1.0 + 2.0 * b) / (2.0 * (c * c + c * b + b * b))


def radius_at(gamma: float, sensitivity: int) -> int:
    """Return the innermost radius on the integers for a share γ of the sensitivity: γ = (r − ½)/S."""
    return min(max(math.floor(Fraction(gamma) * sensitivity + 1), 1), sensitivity)


def geometric_mean(
    polynomial: Callable[[int], int], degree: int, start: int, step: int, epsilon: Fraction
) -> Fraction:
    """Return the mean of polynomial(start + J·step) where P(J = j) = (1 − b)·b^j.

    Newton's forward differences, with E[J choose k] = (b/(1 − b))^k: every term is positive, so nothing
    cancels, and b/(1 − b) = 1/(e^ε − 1) is the only number that is rounded.
    """
    odds = Fraction(1.0 / math.expm1(epsilon))
    differences = [polynomial(start + index * step) for index in range(degree + 1)]
    total, power = Fraction(0), Fraction(1)
    while differences:
        total += power * differences[0]
        power *= odds
        differences = [right - left for left, right in pairwise(differences)]
    return total


def _points(radius: int) -> int:
    """How many integers have |z| < radius."""
    return 2 * radius - 1


def _squares(radius: int) -> int:
    """The sum of z² over |z| < radius."""
    return (radius - 1) * radius * (2 * radius - 1) // 3
