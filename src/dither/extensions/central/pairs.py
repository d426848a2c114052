"""The noise of a sum and a count together: the hourglass and its rivals, as methods of a mean."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Final, Literal

from dither.core.domains import finite
from dither.errors import InvalidParameter, choose, found
from dither.extensions.central.integer_noise import (
    SMALL,
    DiscreteLaplace,
    DiscreteStaircase,
    GeometricRatio,
    geometric_mean,
    hourglass_tail,
    laplace_tail,
    radius_at,
    ring_tail,
)
from dither.extensions.central.tally import RecordGrid
from dither.foundation.numerics.roots import smallest_integer
from dither.foundation.randomness import Source


class Pair(ABC):
    """Noise of two integers, P ∝ e^(−ε·exponent); private if a record changes the exponent by at most 1."""

    @abstractmethod
    def draw(self, source: Source) -> tuple[int, int]:
        """Draw one pair with exactly the stated probabilities."""

    @abstractmethod
    def exponent(self, first: int, second: int) -> Fraction | None:
        """Return the exponent of a pair; None if its probability is 0."""

    @property
    @abstractmethod
    def moments(self) -> tuple[float, float]:
        """The variance of either number and their covariance, in units of the squared sensitivity."""

    @abstractmethod
    def tail(self, weights: tuple[float, float], size: float) -> float:
        """Return P(|w₁·z₁ + w₂·z₂| > size), sizes in units of the sensitivity; for error bars only."""

    def deviation(self, weights: tuple[float, float]) -> float:
        """Return the standard deviation of w₁·z₁ + w₂·z₂ in units of the sensitivity."""
        first, second = weights
        variance, covariance = self.moments
        square = (first * first + second * second) * variance + 2.0 * first * second * covariance
        return math.sqrt(max(square, 0.0))


@dataclass(frozen=True)
class LaplaceLattice(Pair):
    """Two independent discrete Laplace numbers, with the exponent (|z₁| + |z₂|)/S."""

    sensitivity: int
    epsilon: Fraction

    @cached_property
    def _one(self) -> DiscreteLaplace:
        return DiscreteLaplace(self.sensitivity, self.epsilon)

    def draw(self, source: Source) -> tuple[int, int]:
        return self._one.draw(source), self._one.draw(source)

    def exponent(self, first: int, second: int) -> Fraction:
        return Fraction(abs(first) + abs(second), self.sensitivity)

    @property
    def moments(self) -> tuple[float, float]:
        return self._one.variance, 0.0

    def tail(self, weights: tuple[float, float], size: float) -> float:
        return laplace_tail(weights, math.sqrt(self._one.variance), size)


@dataclass(frozen=True)
class StaircaseLattice(Pair):
    """Noise that is constant on rings of |z₁| + |z₂|: the exponent is ⌊(|z₁| + |z₂| + S − r)/S⌋ [GKOV15].

    The number of lattice points of each ring is an integer, so no normaliser is needed. The distribution
    printed in [AddRemove23, Def. 3] has a mass of 1.41 at ε = 1.
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
    def best(sensitivity: int, epsilon: Fraction) -> StaircaseLattice:
        """Return the 2-D staircase of least variance."""
        cells = min(sensitivity, 1 << 20)
        radius = _best_radius(cells, epsilon)
        if cells < sensitivity:
            radius = radius_at((radius - 0.5) / cells, sensitivity)
        return StaircaseLattice(sensitivity, radius, epsilon)

    @cached_property
    def _ratio(self) -> GeometricRatio:
        return GeometricRatio(self.epsilon)

    def exponent(self, first: int, second: int) -> Fraction:
        step = self.sensitivity
        return Fraction((abs(first) + abs(second) + step - self.radius) // step)

    def draw(self, source: Source) -> tuple[int, int]:
        # Ring 0 has `inner` points of weight 1; ring j ≥ 1 has middle + outer·(j − 1) points of weight b^j.
        # The sums over j, multiplied by (1 − b)², are inner·(1 − b)², middle·b·(1 − b) and outer·b². As for
        # one number, the proposal has 2^(−m) ≥ b instead of b, and coins make up the difference.
        ratio, step, radius = self._ratio, self.sensitivity, self.radius
        m = ratio.halvings
        inner = _points(radius) << 2 * m
        middle = 2 * step * (2 * radius + step - 1) << m
        outer = 4 * step * step
        while True:
            position = source.below(inner + middle + outer)
            if position < inner:
                if not (ratio.coin(source) or ratio.coin(source)):
                    return _point(position >> 2 * m)
                continue
            if position < inner + middle:
                if not ratio.doubled_coin(source) or ratio.coin(source):
                    continue
                begin = radius + step * ratio.geometric(source)
            else:
                if not (ratio.doubled_coin(source) and ratio.doubled_coin(source)):
                    continue
                begin = radius + step * (1 + ratio.geometric(source) + ratio.geometric(source))
            points = _points(begin)
            return _point(points + source.below(_points(begin + step) - points))

    @cached_property
    def _variance(self) -> Fraction:
        # The noise is a mixture of uniform draws from |z₁| + |z₂| < r + J·S, as for one number.
        squares = geometric_mean(_squares, 4, self.radius, self.sensitivity, self.epsilon)
        points = geometric_mean(_points, 2, self.radius, self.sensitivity, self.epsilon)
        return squares / (points * self.sensitivity**2)

    @property
    def moments(self) -> tuple[float, float]:
        return float(self._variance), 0.0

    def tail(self, weights: tuple[float, float], size: float) -> float:
        if self.epsilon < SMALL:
            return laplace_tail(weights, math.sqrt(self._variance), size)
        return ring_tail(weights, (self.radius - 0.5) / self.sensitivity, float(self.epsilon), size)


@dataclass(frozen=True)
class HourglassLattice(Pair):
    """Noise on the lines z₁ + z₂ = k·S only; the exponent is |κ| + |k − κ|, with κ the staircase level of z₁.

    One record moves (z₁, k) by (X, 1) with 0 ≤ X ≤ S. There are three cases. κ stays and |k − κ| changes by
    one; κ grows by one and |κ| changes by one; or κ goes from −1 to 1 and |k − κ| changes by one. So exactly
    one factor changes, by exactly e^(±ε) [AddRemove23, Thm 2]. The conditional distribution printed in its
    eq. (10) has a ceiling instead of this floor, and its privacy loss is 2ε.
    """

    staircase: DiscreteStaircase

    def draw(self, source: Source) -> tuple[int, int]:
        first = self.staircase.draw(source)
        line = self.staircase.level(first) + self.staircase.ratio.two_sided(source)
        return first, line * self.staircase.sensitivity - first

    def exponent(self, first: int, second: int) -> Fraction | None:
        line, off = divmod(first + second, self.staircase.sensitivity)
        level = self.staircase.level(first)
        return None if off else Fraction(abs(level) + abs(line - level))

    @cached_property
    def line_variance(self) -> float:
        """The variance of k, the noise of the count."""
        odds = 1.0 / math.expm1(self.staircase.epsilon)
        inner = (2 * self.staircase.radius - 1) / (2 * self.staircase.sensitivity)
        level = odds / (inner + odds) * (1.0 + 3.0 * odds + 2.0 * odds * odds)
        return level + 2.0 * odds * (1.0 + odds)

    @property
    def moments(self) -> tuple[float, float]:
        variance = self.staircase.variance  # the same for both numbers, by symmetry
        return variance, 0.5 * self.line_variance - variance

    def tail(self, weights: tuple[float, float], size: float) -> float:
        law = self.staircase
        if law.epsilon < SMALL:
            return laplace_tail(weights, math.sqrt(law.variance), size)
        return hourglass_tail(weights, (law.radius - 0.5) / law.sensitivity, float(law.epsilon), size)


def _points(radius: int) -> int:
    """Return the number of lattice points with |z₁| + |z₂| < radius, which is at least one."""
    return 1 + 2 * radius * (radius - 1)


def _squares(radius: int) -> int:
    """Return the sum of z₁² over |z₁| + |z₂| < radius."""
    product = radius * (radius - 1)
    return product * (product + 1) // 3


def _point(index: int) -> tuple[int, int]:
    """Return the lattice point with this number, counting outwards ring by ring: points(ring) ≤ index."""
    if index == 0:
        return 0, 0
    ring = (1 + math.isqrt(2 * index - 1)) // 2
    side, along = divmod(index - _points(ring), ring)
    return ((ring - along, along), (-along, ring - along), (along - ring, -along), (along, along - ring))[
        side
    ]


@lru_cache(maxsize=512)
def _best_radius(cells: int, epsilon: Fraction) -> int:
    """Return the innermost radius of least variance; the variance falls and then rises with the radius."""

    def rises(radius: int) -> bool:
        here, there = (StaircaseLattice(cells, size, epsilon)._variance for size in (radius, radius + 1))
        return here <= there

    return smallest_integer(rises, 0, cells)


class MeanMethod(ABC):
    """Two integers that a record changes by an l₁ distance of at most `sensitivity`, and their mean.

    A share is a mean in units in which the domain is [0, 1].
    """

    @abstractmethod
    def sensitivity(self, grid: RecordGrid) -> int:
        """Return the largest change |first| + |second| of the two integers by one record."""

    @abstractmethod
    def query(self, total: int, count: int, grid: RecordGrid) -> tuple[int, int]:
        """Return the two integers to which noise is added, from the sum of grid indices and the count."""

    @abstractmethod
    def solve(self, first: int, second: int, grid: RecordGrid) -> tuple[Fraction, Fraction]:
        """Return the numerator of the share, and the count, from the two noisy integers."""

    @abstractmethod
    def weights(self, share: float, grid: RecordGrid) -> tuple[float, float]:
        """Return w₁, w₂ such that (w₁·first + w₂·second)/sensitivity is count·(mean − share)."""


@dataclass(frozen=True)
class _Independent(MeanMethod):
    """Sum and count, each with half the budget [AddRemove23, Alg. 1]; poor if the domain is far from 0."""

    def sensitivity(self, grid: RecordGrid) -> int:
        return 2 * largest(grid)

    def query(self, total: int, count: int, grid: RecordGrid) -> tuple[int, int]:
        return in_units(total, count, grid), largest(grid) * count

    def solve(self, first: int, second: int, grid: RecordGrid) -> tuple[Fraction, Fraction]:
        count = Fraction(second, largest(grid))
        scaled = Fraction(first, offset(grid).denominator) - count * offset(grid)
        return scaled / grid.cells, count

    def weights(self, share: float, grid: RecordGrid) -> tuple[float, float]:
        unit = offset(grid).denominator * grid.cells
        return float(Fraction(self.sensitivity(grid), unit)), -2.0 * (
            float(offset(grid) / grid.cells) + share
        )

    def __repr__(self) -> str:
        return "independent"


@dataclass(frozen=True)
class _Shifted(MeanMethod):
    """The sum of the differences from the middle, and the count [AddRemove23, Alg. 2]."""

    def sensitivity(self, grid: RecordGrid) -> int:
        return 2 * grid.cells

    def query(self, total: int, count: int, grid: RecordGrid) -> tuple[int, int]:
        return 2 * total - grid.cells * count, grid.cells * count

    def solve(self, first: int, second: int, grid: RecordGrid) -> tuple[Fraction, Fraction]:
        return Fraction(first + second, 2 * grid.cells), Fraction(second, grid.cells)

    def weights(self, share: float, grid: RecordGrid) -> tuple[float, float]:
        return 1.0, 1.0 - 2.0 * share

    def __repr__(self) -> str:
        return "shifted"


@dataclass(frozen=True)
class _Transformed(MeanMethod):
    """The sums of the distances from each end [AddRemove23, Alg. 3]: a record changes them by X and 1 − X."""

    def sensitivity(self, grid: RecordGrid) -> int:
        return grid.cells

    def query(self, total: int, count: int, grid: RecordGrid) -> tuple[int, int]:
        return total, grid.cells * count - total  # not summed separately: both must stay on the lattice

    def solve(self, first: int, second: int, grid: RecordGrid) -> tuple[Fraction, Fraction]:
        return Fraction(first, grid.cells), Fraction(first + second, grid.cells)

    def weights(self, share: float, grid: RecordGrid) -> tuple[float, float]:
        return 1.0 - share, -share

    def __repr__(self) -> str:
        return "transformed"


INDEPENDENT: Final[MeanMethod] = _Independent()
SHIFTED: Final[MeanMethod] = _Shifted()
TRANSFORMED: Final[MeanMethod] = _Transformed()
MeanMethodName = Literal["independent", "shifted", "transformed"]
METHODS: Final[dict[str, MeanMethod]] = {
    "independent": INDEPENDENT,
    "shifted": SHIFTED,
    "transformed": TRANSFORMED,
}


def offset(grid: RecordGrid) -> Fraction:
    """Return the lower end in cells of the grid: a rational number, since 0 may lie between grid points."""
    return grid.low / grid.cell


def in_units(total: int, count: int, grid: RecordGrid) -> int:
    """Return the sum of the records as an integer, in units of a cell over the denominator of `offset`."""
    shift = offset(grid)
    return shift.denominator * total + shift.numerator * count


def largest(grid: RecordGrid) -> int:
    """Return the largest absolute value of a record in the units of `in_units`."""
    shift = offset(grid)
    return max(abs(shift.numerator), abs(shift.numerator + shift.denominator * grid.cells))


class PairNoise(ABC):
    """A kind of noise for two numbers; `law` returns its distribution for a method, a grid and a budget."""

    @abstractmethod
    def law(self, method: MeanMethod, grid: RecordGrid, epsilon: Fraction) -> Pair:
        """Return the integer distribution; raise `InvalidParameter` if it does not protect this method."""


@dataclass(frozen=True)
class LaplacePair(PairNoise):
    """Independent Laplace noise on both numbers, the textbook mechanism; close to optimal below ε ≈ 0.5."""

    def law(self, method: MeanMethod, grid: RecordGrid, epsilon: Fraction) -> Pair:
        return LaplaceLattice(method.sensitivity(grid), epsilon)


@dataclass(frozen=True)
class StaircasePair(PairNoise):
    """Noise of constant density on rings of |x| + |y| [GKOV15], by default with the least variance."""

    gamma: float | None = None

    def __post_init__(self) -> None:
        _check(self.gamma)

    def law(self, method: MeanMethod, grid: RecordGrid, epsilon: Fraction) -> Pair:
        sensitivity = method.sensitivity(grid)
        if self.gamma is None:
            return StaircaseLattice.best(sensitivity, epsilon)
        return StaircaseLattice(sensitivity, radius_at(self.gamma, sensitivity), epsilon)


@dataclass(frozen=True)
class Hourglass(PairNoise):
    """Noise only on the lines that a record can reach: the best known for a mean [AddRemove23].

    γ is the innermost width, by default the width of least squared error over all means. For large ε a
    smaller γ is better for means near the middle of the domain and worse near its ends.
    """

    gamma: float | None = None

    def __post_init__(self) -> None:
        _check(self.gamma)

    def law(self, method: MeanMethod, grid: RecordGrid, epsilon: Fraction) -> Pair:
        if method is not TRANSFORMED:
            raise InvalidParameter(
                f"expected hourglass noise with method='transformed' only, got {method}; pass "
                "noise='laplace' or noise='staircase'"
            )
        return hourglass_law(grid.cells, epsilon, self.gamma)


def hourglass_law(sensitivity: int, epsilon: Fraction, gamma: float | None) -> HourglassLattice:
    """Return the noise of two integers if one record changes their sum by the sensitivity."""
    _check(gamma)
    if gamma is None:
        return HourglassLattice(DiscreteStaircase.best(sensitivity, epsilon))
    return HourglassLattice(DiscreteStaircase(sensitivity, radius_at(gamma, sensitivity), epsilon))


PairNoiseName = Literal["laplace", "staircase", "hourglass"]
_NOISES: Final[dict[str, Callable[..., PairNoise]]] = {
    "laplace": LaplacePair,
    "staircase": StaircasePair,
    "hourglass": Hourglass,
}


def make_noise(name: object, gamma: float | None = None) -> PairNoise:
    """Return the noise with a name and an innermost width."""
    kind = choose("noise", name, _NOISES)
    if gamma is None:
        return kind()
    if kind is LaplacePair:
        raise InvalidParameter(
            "expected no gamma for Laplace noise, because it has no width; leave gamma out"
        )
    return kind(gamma)


def _check(gamma: float | None) -> None:
    if gamma is not None and not 0.0 < finite("gamma", gamma) <= 1.0:
        raise InvalidParameter(
            f"expected gamma above 0 and at most 1, or None for the least squared error, got {found(gamma)}"
        )
