"""Noise of the trusted curator in integers: discrete Laplace, the 2-D staircase, and their tails."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np

from dither.core.domains import finite
from dither.errors import InvalidParameter
from dither.foundation.randomness import Source


def budget(epsilon: object) -> Fraction:
    """Return ε as the exact rational number of its double; raise InvalidParameter if it is out of range."""
    number = finite("epsilon", epsilon)
    if not 1e-9 <= number <= 200:
        raise InvalidParameter(f"expected epsilon between 1e-9 and 200, got {number:g}")
    return Fraction(number)


@dataclass(frozen=True)
class GeometricRatio:
    """The ratio b = e^(−exponent) of a geometric distribution; it draws coins of probability b and noise.

    >>> from dither.foundation.randomness import Seeded
    >>> GeometricRatio(Fraction(1, 2)).geometric(Seeded(3)) >= 0
    True
    """

    exponent: Fraction

    def __post_init__(self) -> None:
        if self.exponent <= 0:
            raise InvalidParameter(
                "expected a positive exponent for the ratio e^(−exponent) of noise; increase epsilon"
            )

    @property
    def halvings(self) -> int:
        """The largest integer m at or below the exponent: b ≤ 2^(−m)."""
        return math.floor(self.exponent)

    def coin(self, source: Source) -> bool:
        """Return True with probability exactly b."""
        return self._coin(source, 1)

    def doubled_coin(self, source: Source) -> bool:
        """Return True with probability exactly 2^halvings · b, for proposals made with 2^(−halvings)."""
        return self._coin(source, 3)

    def _coin(self, source: Source, first: int) -> bool:
        denominator = self.exponent.denominator
        complete, rest = divmod(self.exponent.numerator, denominator)
        return all(_falls(1, 1, source, first) for _ in range(complete)) and _falls(rest, denominator, source)

    def geometric(self, source: Source) -> int:
        """Draw k = 0, 1, 2, … with probability exactly (1 − b)·b^k [CKS20, Alg. 2]."""
        denominator = self.exponent.denominator
        rest = source.below(denominator)
        while not _falls(rest, denominator, source):
            rest = source.below(denominator)
        complete = 0
        while _falls(1, 1, source):
            complete += 1
        return (rest + denominator * complete) // self.exponent.numerator

    def two_sided(self, source: Source) -> int:
        """Draw an integer k with probability exactly (1 − b)/(1 + b)·b^|k|: discrete Laplace noise."""
        while True:
            negative = source.bits(1)
            size = self.geometric(source)
            if size or not negative:  # otherwise 0, with two signs, would be twice as likely
                return -size if negative else size


def _falls(numerator: int, denominator: int, source: Source, first: int = 1) -> bool:
    """Return True with probability exactly e^(−numerator/denominator), the fraction being at most 1.

    With x the fraction, coin k is heads with probability x/k, so the first k are heads with probability
    x^k/k!. The alternating sum of these, e^(−x), is the probability that the first tails comes after an even
    number of heads [CKS20, Alg. 1]. For x = 1 coin 1 is always heads, and True needs heads of coin 2, with
    probability 1/2. Starting at coin 3 omits this factor 1/2 and gives 2/e exactly.
    """
    coin = first
    while source.below(denominator * coin) < numerator:
        coin += 1
    return coin % 2 == 1


@dataclass(frozen=True)
class DiscreteStaircase:
    """Integer noise of constant probability on steps, each step e^(−ε) times as likely as the one inside it.

    P(z) ∝ b^j with j = ⌊(|z| + S − r)/S⌋, where S is the sensitivity and r the radius of the innermost step.
    Moving z by at most S moves j by at most 1. This proves ε for any r in 1 … S. [GV14; on a grid]
    """

    sensitivity: int
    radius: int
    epsilon: Fraction

    def __post_init__(self) -> None:
        if not 1 <= self.radius <= self.sensitivity:
            raise InvalidParameter(
                "expected the innermost radius of a staircase between 1 and the sensitivity; change gamma"
            )

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
        """Return the signed number of the step that contains a noise value; the innermost step is 0."""
        step = (abs(noise) + self.sensitivity - self.radius) // self.sensitivity
        return step if noise >= 0 else -step

    @cached_property
    def ratio(self) -> GeometricRatio:
        """The ratio b = e^(−ε) of two neighbouring steps."""
        return GeometricRatio(self.epsilon)

    def draw(self, source: Source) -> int:
        """Draw one noise value with exactly the stated probabilities."""
        # Two parts: the innermost step, 2r − 1 values of weight 1, and the rest, S·b/(1 − b) on either side.
        # Multiplied by 1 − b these are (2r − 1)·(1 − b) and 2S·b. The proposal has 2^(−m) ≥ b instead of b,
        # and the coins make up the difference, so about one proposal in 1.5 is accepted at every ε.
        ratio, step = self.ratio, self.sensitivity
        inner = (2 * self.radius - 1) << ratio.halvings
        while True:
            position = source.below(inner + 2 * step)
            if position < inner:
                if not ratio.coin(source):
                    return (position >> ratio.halvings) - (self.radius - 1)
            elif ratio.doubled_coin(source):
                side, within = divmod(position - inner, step)
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
        left = (self.radius + level * step - size) / step  # the part of the step above `size`
        complete = (2 * self.radius - 1) / step + 2.0 * odds
        return 2.0 * math.exp(-level * self.epsilon) * (left + odds) / complete


@dataclass(frozen=True)
class DiscreteLaplace:
    """Integer noise with P(z) ∝ e^(−ε·|z|/S): the discrete Laplace distribution for sensitivity S."""

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
    """Return the width of the innermost step, relative to the sensitivity, that minimises the variance.

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

    It uses Newton's forward differences with E[J choose k] = (b/(1 − b))^k. Every term is positive, so
    nothing cancels, and b/(1 − b) = 1/(e^ε − 1) is the only rounded number.
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
    """Return the number of integers with |z| < radius."""
    return 2 * radius - 1


def _squares(radius: int) -> int:
    """Return the sum of z² over |z| < radius."""
    return (radius - 1) * radius * (2 * radius - 1) // 3


SMALL: Final = 0.35  # below this ε a Laplace distribution with the same variance approximates all noise
_REACH: Final = 20.0  # steps beyond 20/ε have a probability below 1e-8

Weights = tuple[float, float]


def laplace_tail(weights: Weights, deviation: float, size: float) -> float:
    """Return P(|w₁·x + w₂·y| > size) for independent Laplace x and y of this standard deviation."""
    low, high = sorted(abs(weight) * deviation / math.sqrt(2.0) for weight in weights)
    if size <= 0.0:
        return 1.0
    if high - low < 1e-6 * high:
        return (1.0 + size / (2.0 * high)) * math.exp(-size / high)
    inner = low * low * math.exp(-size / low) if low > 0.0 else 0.0
    return (high * high * math.exp(-size / high) - inner) / (high * high - low * low)


def ring_tail(weights: Weights, gamma: float, epsilon: float, size: float) -> float:
    """Return P(|w₁·x + w₂·y| > size) for the 2-D staircase.

    The noise is a mixture of uniform distributions on squares |x| + |y| < γ + j, on which x + y and x − y are
    independent and uniform. So w₁·x + w₂·y is a sum of two uniform variables with a piecewise quadratic tail.
    """
    count = math.ceil(_REACH / epsilon) + 1
    radii = gamma + np.arange(count)
    masses = np.exp(-epsilon * (radii - gamma)) * radii**2
    low, high = sorted((abs(weights[0] + weights[1]) / 2.0, abs(weights[0] - weights[1]) / 2.0))
    short, long = low * radii, high * radii
    flat = 1.0 - size / long
    slope = np.maximum(long + short - size, 0.0) ** 2 / (4.0 * np.maximum(long * short, 1e-300))
    beyond = np.where(size <= long - short, flat, np.minimum(slope, 1.0))
    return float(np.dot(masses, beyond) / masses.sum())


def hourglass_tail(weights: Weights, gamma: float, epsilon: float, size: float) -> float:
    """Return P(|w₁·x + w₂·y| > size) for the hourglass: x uniform on its step, x + y two-sided geometric."""
    count = math.ceil(_REACH / epsilon)
    level = np.arange(-count, count + 1)
    ratio = np.exp(-epsilon * np.abs(level))
    half = np.where(level == 0, gamma, 0.5)
    centre = np.sign(level) * (np.abs(level) + gamma - 0.5)
    slope = weights[0] - weights[1]
    middle = np.add.outer(slope * centre + weights[1] * level, weights[1] * level)
    reach = np.maximum(np.abs(slope) * half, 1e-12)[:, None]
    inside = np.minimum(middle + reach, size) - np.maximum(middle - reach, -size)
    beyond = 1.0 - np.clip(inside / (2.0 * reach), 0.0, 1.0)
    masses = (ratio * half)[:, None] * ratio[None, :]
    return float((masses * beyond).sum() / masses.sum())
