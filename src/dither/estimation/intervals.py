"""Confidence intervals as objects: each computes its ends, at any level, from the numbers that it holds.

An `Estimate` has one. Further methods depend on the evidence that this object carries: `Sequential` and
`Attackable` are the requirements of `at_any_time` and `if_lying`.

Confidence sequences hold at all numbers of reports at once, so that the reports may be evaluated at any time.
Let Y be numbers from `low` to `high` with mean μ, c = high − low, and let ψ(λ) = −ln(1 − λ) − λ. For every m
and 0 ≤ λ < 1,

    exp(λ·Σ(Y − m)/c − ψ(λ)·Σ(Y − m)²/c²)

is at most a product of 1 + λ(Y − m)/c [Fan15, eq. 4.11]. The mean of this product is 1 at m = μ after every
report. So the probability that a mixture over λ ever reaches 1/α is at most α [Ville39]. The mixture depends
only on n, the average and the squares, so a summary is enough. Neither an order nor normality is assumed.

Other intervals allow for a share of lies. A liar may send any report. The counted reports include the liars'
reports, so the honest reports are the ones that remain after some are removed. Removing the most extreme
reports gives the farthest possible honest average (docs/theory.md, "What liars can do").
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, cast, runtime_checkable

import numpy as np

from dither.core.kernels.kernel import UnbiasedReading
from dither.errors import InvalidParameter, found
from dither.estimation.same_people import leaf_correlation
from dither.foundation.arrays import Floats, Integers
from dither.foundation.numerics.distributions import check_level, student_t_quantile

if TYPE_CHECKING:
    from dither.estimation.estimate import Estimate


class ConfidenceInterval(ABC):
    """The plausible values of a population's quantity, for each confidence level.

    The level is checked by the estimate. Ends are numbers, or arrays for an estimate of several numbers.
    """

    period: float = 0.0  # period of a circle; the second end is smaller if the interval passes the period
    resolution: float = 0.0  # the largest error for any number of reports
    condition: str = ""  # printed condition of coverage; empty without a condition

    @abstractmethod
    def interval(self, level: float) -> tuple[Any, Any]:
        """Return the ends of the interval that covers with probability `level`."""

    def half_width(self, level: float) -> Any:
        """Return half the width of the interval."""
        low, high = self.interval(level)
        if self.period and high < low:
            return (high - low) % self.period / 2.0
        return (high - low) / 2.0

    def covers(self, value: float, level: float) -> Any:
        """Return whether the interval contains a value."""
        low, high = self.interval(level)
        if self.period:
            return high - low >= self.period or (value - low) % self.period <= (high - low) % self.period
        return (low <= value) & (value <= high)


class Divisible(Protocol):
    """An interval of several numbers at once."""

    def pick(self, at: object) -> ConfidenceInterval:
        """Return the interval of one of the numbers, by its index."""


@runtime_checkable
class Sequential(Protocol):
    """An interval that has a version for any time, because its numbers are bounded."""

    def at_any_time(self) -> ConfidenceInterval:
        """Return the interval that holds at all numbers of reports at once."""


@runtime_checkable
class Attackable(Protocol):
    """An interval for which the effect of liars has been derived."""

    def if_lying(self, share: float) -> ConfidenceInterval:
        """Return the interval that holds if at most this share of the reports are lies."""


@dataclass(frozen=True, eq=False)
class PartIntervals(ConfidenceInterval):
    """The intervals of several estimates, as arrays."""

    parts: tuple[ConfidenceInterval, ...]
    condition: str = ""

    def interval(self, level: float) -> tuple[Floats, Floats]:
        ends = np.array([part.interval(level) for part in self.parts], dtype=np.float64)
        return ends[:, 0], ends[:, 1]

    def pick(self, at: int) -> ConfidenceInterval:
        """Return the interval of one of them."""
        return self.parts[int(at)]


@dataclass(frozen=True, eq=False)
class StudentInterval(ConfidenceInterval):
    """The interval of an average, by Student's t.

    Reports of people drawn from a population are independent, so the variance of the numbers contains both
    sampling and noise. `skew` is the third central moment divided by the second. It is the slope of the
    variance in the mean, along the least favourable family of distributions. The interval is the set of means
    μ with (average − μ)² ≤ t²·variance(μ)/n. Its coverage stays near the level for few and for skewed
    reports.
    """

    value: float | Floats
    error: float | Floats
    n: int
    skew: float | Floats = 0.0
    condition: str = ""

    def interval(self, level: float) -> tuple[Any, Any]:
        reach = student_t_quantile(level, self.n - 1)
        one_number = np.ndim(self.value) == 0
        if math.isinf(reach):
            end = math.inf if one_number else np.full(np.shape(self.value), math.inf)
            return -end, end
        shift = reach**2 * self.skew / (2.0 * self.n)
        half: Any = (math.hypot if one_number else np.hypot)(shift, reach * self.error)
        return self.value + shift - half, self.value + shift + half

    def pick(self, at: Any) -> StudentInterval:
        """Return the interval of one of several averages."""
        skews = np.broadcast_to(self.skew, np.shape(self.value))
        value, error, skew = (float(np.asarray(part)[at]) for part in (self.value, self.error, skews))
        return StudentInterval(value, error, self.n, skew, self.condition)


@dataclass(frozen=True, eq=False)
class VarianceInterval(ConfidenceInterval):
    """The score interval of an unbiased share whose variance is known as a function of the share [Wilson27].

    It contains all f with (value − f)² ≤ z²·(a + b·f − c·f²), with a, b and c = `variance` (they include
    1/n). The error of a share with few or no supporting reports includes the noise. For rare events, each
    event changes the share by b, and the expected number of events is (a + b·f)/b².
    """

    value: float | Floats
    n: int
    variance: tuple[Any, Any, Any]

    @property
    def error(self) -> Any:
        """The standard error, at the nearest possible share."""
        constant, slope, square = self.variance
        near = np.clip(self.value, 0.0, 1.0)
        found = np.sqrt(np.maximum(constant + slope * near - square * near**2, 0.0))
        return found if np.ndim(found) else float(found)

    def interval(self, level: float) -> tuple[Any, Any]:
        constant, slope, square = self.variance
        unit = student_t_quantile(level) ** 2
        lead = 1.0 + unit * square
        centre = (self.value + unit * slope / 2.0) / lead
        inside = centre**2 - (np.square(self.value) - unit * constant) / lead
        half = np.sqrt(np.maximum(inside, 0.0))
        step = np.where(np.asarray(slope) > 0.0, slope, 1.0)
        events = np.where(np.asarray(slope) > 0.0, (self.value + constant / step) / step, np.inf)
        low = np.minimum(centre - half, step * least_mean(events, level, self.n) - constant / step)
        return low[()], (centre + half)[()]

    def pick(self, at: Any) -> VarianceInterval:
        """Return the interval of one of several shares."""
        shape = np.shape(self.value)
        value, *variance = (float(np.broadcast_to(part, shape)[at]) for part in (self.value, *self.variance))
        return VarianceInterval(value, self.n, (variance[0], variance[1], variance[2]))

    def transpose(self) -> VarianceInterval:
        """Return the intervals of the transposed table."""
        constant, slope, square = (np.transpose(part) for part in self.variance)
        return VarianceInterval(np.transpose(self.value), self.n, (constant, slope, square))


_RARE: Final = 3  # events; up to this number, the lower limit comes from a Poisson variable


def least_mean(events: Any, level: float, n: Any) -> Floats:
    """Return the lower limit of the mean of one to three rare events of n; infinite for other counts.

    A score interval of one event leaves out means below 0.18, although an event happens with probability
    0.16 there. The limit is the mean λ with P(events or more | λ) = 1 − level instead [Brown01, Sec. 4.1.1].
    """
    number = np.asarray(events, dtype=np.float64)
    floors = np.full(number.shape, np.inf)
    for count in range(1, min(_RARE, int(np.min(n)) // 10) + 1):
        here = np.abs(number - count) <= 0.5
        if here.any():
            floors[here] = _poisson_limit(count, 1.0 - level) + (number[here] - count)
    return floors


def rare_limits(level: float) -> dict[int, float]:
    """Return the lower limits of the mean of one to three rare events, by the number of events."""
    return {count: _poisson_limit(count, 1.0 - level) for count in range(1, _RARE + 1)}


def _poisson_limit(count: int, chance: float) -> float:
    """Return the mean at which a Poisson variable reaches `count` with a probability, by halving."""
    low, high = 0.0, 2.0 * count + 50.0
    for _ in range(60):
        middle = (low + high) / 2.0
        below = sum(math.exp(-middle) * middle**j / math.factorial(j) for j in range(count))
        low, high = (middle, high) if 1.0 - below < chance else (low, middle)
    return low


@dataclass(frozen=True, eq=False)
class ClippedInterval(ConfidenceInterval):
    """The normal interval of a share, clipped to 0 and 1, or of a number that lies between two others."""

    value: float | Floats
    error: float | Floats
    condition: str = ""
    least: float = 0.0
    most: float = 1.0

    def interval(self, level: float) -> tuple[Any, Any]:
        reach = student_t_quantile(level) * np.asarray(self.error)
        low, high = (np.clip(self.value + sign * reach, self.least, self.most) for sign in (-1.0, 1.0))
        return (float(low), float(high)) if np.ndim(self.value) == 0 else (low, high)


@dataclass(frozen=True, eq=False)
class WiderInterval(ConfidenceInterval):
    """The smallest interval that contains two others.

    `reach` scales the normal standard errors of the second interval's level: with 0.5 the second interval has
    the level 67 % if the first has 95 %.
    """

    first: ConfidenceInterval
    second: ConfidenceInterval
    resolution: float = 0.0
    reach: float = 1.0
    condition: str = ""

    def interval(self, level: float) -> tuple[Any, Any]:
        part = (
            math.erf(self.reach * student_t_quantile(level) / math.sqrt(2.0)) if self.reach < 1.0 else level
        )
        (low, high), (least, most) = self.first.interval(level), self.second.interval(part)
        return min(low, least), max(high, most)


@dataclass(frozen=True, eq=False)
class ScaledInterval(ConfidenceInterval):
    """An interval whose distances from the value are multiplied by a factor, one for each number."""

    value: float | Floats
    inner: ConfidenceInterval
    factor: float | Floats
    condition: str = ""

    def interval(self, level: float) -> tuple[Any, Any]:
        low, high = self.inner.interval(level)
        return self.value - self.factor * (self.value - low), self.value + self.factor * (high - self.value)

    def pick(self, at: int) -> ScaledInterval:
        """Return the interval of one of several numbers."""
        inner = cast("Divisible", self.inner).pick(at)
        value, factor = (float(np.asarray(part)[at]) for part in (self.value, self.factor))
        return replace(self, value=value, inner=inner, factor=factor)


# The mixture has 20 values of λ, each half the last, with weights 1/(j + 2). For λ ≤ 0.5 the exponent
# grows with the distance of m from the average over the complete range, so the remaining m form an interval.
_BETS: Final = 0.5 * 0.5 ** np.arange(20.0)
_WEIGHTS: Final = (1.0 / (np.arange(20.0) + 2.0)) / np.sum(1.0 / (np.arange(20.0) + 2.0))
_COSTS: Final = -np.log1p(-_BETS) - _BETS
_LOG_WEIGHTS: Final = np.log(_WEIGHTS)
_STEPS: Final = 80  # largest number of steps; eight are usual
_CLOSE: Final = 1e-9
MOST_LOOKS: Final = 10**6


@dataclass(frozen=True, eq=False)
class BoundedNumbers:
    """Numbers of reports from `low` to `high`: their average, and the sum of squared deviations from it."""

    mean: float | Floats
    squares: float | Floats
    n: int
    low: float | Floats
    high: float | Floats

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Return the ends of an interval that holds the mean at all n at once, with probability `level`."""
        outside = (1.0 - check_level(level)) / 2.0
        mean, squares = np.asarray(self.mean, dtype=np.float64), np.asarray(self.squares, dtype=np.float64)
        # A mean of bounded numbers lies between the bounds; rounding or too few reports may exceed them.
        most = np.maximum([mean - self.low, self.high - mean], 0.0)
        down, up = self._reach(most, squares, -math.log(outside))
        return np.maximum(mean - down, self.low), np.minimum(mean + up, self.high)

    def _reach(self, most: Floats, squares: Floats, reached: float) -> Floats:
        """Return the smallest distance from the average, at most `most`, with a log-capital of `reached`.

        Newton's steps, or halving where a step would leave the bracket.
        """
        unit = np.asarray(self.high, dtype=np.float64) - self.low
        unit = np.where(unit > 0.0, unit, 1.0)  # unit 1 if all numbers are equal
        near, far = np.zeros_like(most), most / unit
        spread = np.broadcast_to(squares / unit**2, most.shape)
        never = _log_capital(self.n, far, spread)[0] < reached  # True where nothing is excluded on this side
        position = np.minimum(4.0 * np.sqrt(np.maximum(spread, 1.0)) / self.n, far / 2.0)
        for _ in range(_STEPS):
            capital, slope = _log_capital(self.n, position, spread)
            newton = position - (capital - reached) / slope
            done = never | (np.abs(newton - position) <= _CLOSE * position)
            if done.all():
                break
            short = capital < reached
            near, far = np.where(short, position, near), np.where(short, far, position)
            inside = (newton > near) & (newton < far)
            position = np.where(done, position, np.where(inside, newton, (near + far) / 2.0))
        # Move outwards by more than the error of the last step.
        return np.where(never, most, np.minimum(position * (1.0 + 4.0 * _CLOSE) * unit, most))


def _log_capital(n: int, gap: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """Return the logarithm of the mixture at a distance from the average, and its slope."""
    costs = _COSTS * n
    at = gap[..., None]
    exponents = _BETS * n * at - _COSTS * spread[..., None] - costs * at**2 + _LOG_WEIGHTS
    top = exponents.max(axis=-1, keepdims=True)
    parts = np.exp(exponents - top)
    total = parts.sum(axis=-1)
    slope = (parts * (_BETS * n - 2.0 * costs * at)).sum(axis=-1) / total
    return top[..., 0] + np.log(total), slope


@dataclass(frozen=True, eq=False)
class AnyTimeInterval(ConfidenceInterval):
    """The interval of the mean of bounded numbers that holds at all numbers of reports at once.

    The estimate is (mean − scale[0])/scale[1]; `possible` says whether intervals are clipped to 0 and 1.
    """

    numbers: BoundedNumbers
    scale: tuple[float, float] = (0.0, 1.0)
    possible: bool = False
    beyond: AnyTimeInterval | None = None  # interval of the share that may be added to this one

    def interval(self, level: float) -> tuple[Any, Any]:
        ends = [((end - self.scale[0]) / self.scale[1])[()] for end in self.numbers.interval(level)]
        if self.beyond is not None:
            ends[1] = ends[1] + self.beyond.interval(level)[1]
        if self.possible:
            ends = [np.clip(end, 0.0, 1.0) for end in ends]
        return ends[0], ends[1]

    def pick(self, at: Any) -> AnyTimeInterval:
        """Return the interval of one of several means."""
        given, shape = self.numbers, np.shape(self.numbers.mean)
        mean, squares, low, high = (
            float(np.broadcast_to(part, shape)[at])
            for part in (given.mean, given.squares, given.low, given.high)
        )
        return replace(self, numbers=replace(given, mean=mean, squares=squares, low=low, high=high))


@dataclass(frozen=True, eq=False)
class LooksInterval(ConfidenceInterval):
    """The interval that holds at a fixed number of looks together: each at 1 − (1 − level)/looks."""

    plain: ConfidenceInterval
    looks: int
    period: float = 0.0
    resolution: float = 0.0
    condition: str = ""

    @classmethod
    def of(cls, plain: ConfidenceInterval, looks: int) -> Self:
        """Return the interval for a number of looks; raise InvalidParameter unless it is an integer."""
        level_of_one(0.95, looks)
        return cls(plain, int(looks), plain.period, plain.resolution, plain.condition)

    def interval(self, level: float) -> tuple[Any, Any]:
        return self.plain.interval(level_of_one(level, self.looks))

    def pick(self, at: object) -> LooksInterval:
        """Return the interval of one of several numbers."""
        return replace(self, plain=cast("Divisible", self.plain).pick(at))


def level_of_one(level: float, looks: int) -> float:
    """Return the level that each of several intervals needs so that all hold together (Bonferroni)."""
    integral = isinstance(looks, int | np.integer) and not isinstance(looks, bool)
    if not integral or not 1 <= looks <= MOST_LOOKS:
        raise InvalidParameter(
            f"expected the number of looks to be an integer from 1 to {MOST_LOOKS}, got {found(looks)}"
        )
    return 1.0 - (1.0 - check_level(level)) / int(looks)


@dataclass(frozen=True, eq=False)
class CountedNumbers:
    """The number of each possible report in an average, and its count."""

    reading: UnbiasedReading
    counts: Integers

    def sum_of_lowest(self, liars: int) -> float:
        """Return a lower bound of the sum of any `liars` of the numbers."""
        return self._extreme(liars, 1)

    def sum_of_highest(self, liars: int) -> float:
        """Return an upper bound of the sum of any `liars` of the numbers."""
        return self._extreme(liars, -1)

    def _extreme(self, liars: int, sign: int) -> float:
        values = self.reading.values
        order = np.argsort(sign * values, kind="stable")
        before = np.cumsum(self.counts[order]) - self.counts[order]
        taken = np.clip(liars - before, 0, self.counts[order])
        # If only leading bits of cells are counted, a number may be farther out than its group's number.
        return float((taken * values[order]).sum()) - sign * liars * self.reading.slack


class WithoutLiars(Protocol):
    """The range of an estimate after the reports of some liars are removed."""

    @property
    def n(self) -> int:
        """The number of reports."""

    def honest_range(self, liars: int) -> tuple[Any, Any]:
        """Return the least and the greatest estimate without the reports of `liars` liars."""

    def interval_if_lying(self, liars: int, level: float) -> tuple[Any, Any]:
        """Return the ends of an interval that covers for any reports of `liars` liars."""


@dataclass(frozen=True, eq=False)
class LyingInterval(ConfidenceInterval):
    """The interval of the honest people's value, if at most a share of the reports are lies."""

    plain: WithoutLiars
    share: float
    liars: int

    @classmethod
    def of(cls, plain: WithoutLiars, share: float) -> Self:
        """Return the interval for a share of lies; raise InvalidParameter unless it is from 0 to below 1."""
        share = check_share(share)
        return cls(plain, share, liars_among(plain.n, share))

    def interval(self, level: float) -> tuple[Any, Any]:
        return self.plain.interval_if_lying(self.liars, level)

    def honest(self) -> tuple[Any, Any]:
        """Return the least and the greatest estimate that the reports can give without the liars."""
        return self.plain.honest_range(self.liars)

    def pick(self, at: object) -> LyingInterval:
        """Return the interval of one of several frequencies."""
        return replace(self, plain=cast("Any", self.plain).pick(at))


def check_share(share: object) -> float:
    """Return the share of liars as a float; raise InvalidParameter unless it is from 0 to below 1."""
    number = isinstance(share, int | float | np.floating) and not isinstance(share, bool)
    if not number or not 0.0 <= float(share) < 1.0:  # type: ignore[arg-type]
        raise InvalidParameter(
            f"expected the share of lies to be a number from 0 to below 1, such as 0.01, got {found(share)}"
        )
    return float(share)  # type: ignore[arg-type]


def liars_among(n: int, share: float) -> int:
    """Return the number of lies among n reports: share·n, rounded up, after rounding errors are removed."""
    return min(math.ceil(round(share * n, 6)), n)


def mean_error_without(error: float, n: int, liars: int) -> float:
    """Return an upper bound of the standard error of the honest reports' average.

    The sum of their squared deviations is at most the sum over all reports.
    """
    left = n - liars
    if left < 2:
        return math.inf
    return error * math.sqrt(n * (n - 1) / (left * (left - 1)))


def shares_without(share: Floats, n: int, liars: int) -> tuple[Floats, Floats]:
    """Return the least and greatest share of supporting reports after removing `liars` reports."""
    supports, left = np.asarray(share) * n, max(n - liars, 1)
    low = np.maximum(supports - liars, 0.0) / left
    high = np.minimum(supports / left, 1.0)
    return low, high


Term = tuple[float, "Estimate"]  # a weight, and an estimate
Together = tuple[int, int, Any]  # the indices of two parts, and the correlation of their errors


@dataclass(frozen=True, eq=False)
class SumInterval(ConfidenceInterval):
    """The interval of a constant plus a weighted sum of estimates, whose errors may be correlated."""

    value: float | Floats
    terms: tuple[Term, ...]
    constant: float
    condition: str = ""

    def interval(self, level: float) -> tuple[Any, Any]:
        arms: list[tuple[Any, Any]] = []
        added: list[Any] = [0.0, 0.0]
        for weight, part in self.terms:
            low, high = part.interval(level)
            down, up = weight * (np.asarray(part.value) - low), weight * (high - np.asarray(part.value))
            arm = [down, up] if weight >= 0 else [up, down]
            # The possible addition by thinned sets is not averaged out.
            for side in (0, 1) if part.thinned is not None else ():
                if not part.lower_bound or (side == 1) == (weight >= 0):
                    added[side], arm[side] = added[side] + abs(arm[side]), 0.0 * arm[side]
            arms.append((arm[0], arm[1]))
        below, above = (length_of_sum([arm[side] for arm in arms], self.together) for side in (0, 1))
        return self.value - below - added[0], self.value + above + added[1]

    @cached_property
    def together(self) -> list[Together]:
        """The correlations of the parts' errors."""
        return correlations([part for _, part in self.terms])

    def at_any_time(self) -> AnyTimeSum:
        """Return the interval that holds at any time, of parts each of which has one."""
        terms = tuple((weight, part.at_any_time()) for weight, part in self.terms)
        return AnyTimeSum(self.value, terms, self.constant)

    def pick(self, at: Any) -> SumInterval:
        """Return the interval of one category."""
        terms = [(weight, part[part.labels[at]]) for weight, part in self.terms]
        return SumInterval(float(np.asarray(self.value)[at]), tuple(terms), self.constant, self.condition)


@dataclass(frozen=True, eq=False)
class AnyTimeSum(ConfidenceInterval):
    """The interval of a weighted sum at any time: the sum of the parts' intervals at adjusted levels.

    All parts' intervals hold together at all times with the level (Bonferroni). So their sum holds, even if
    the people of the parts are the same.
    """

    value: float | Floats
    terms: tuple[Term, ...]
    constant: float

    def interval(self, level: float) -> tuple[Any, Any]:
        each = 1.0 - (1.0 - level) / len(self.terms)
        low = high = np.full(np.shape(self.value), self.constant)
        for weight, part in self.terms:
            ends = [weight * np.asarray(end) for end in part.interval(each)]
            low, high = low + np.minimum(*ends), high + np.maximum(*ends)
        return (low, high) if np.ndim(self.value) else (float(low), float(high))

    def pick(self, at: int) -> AnyTimeSum:
        """Return the interval of one category."""
        terms = tuple((weight, part[part.labels[at]]) for weight, part in self.terms)
        return AnyTimeSum(float(np.asarray(self.value)[at]), terms, self.constant)


@dataclass(frozen=True, eq=False)
class RatioInterval(ConfidenceInterval):
    """The interval of a ratio of two estimates; infinite if the divisor may be 0."""

    above: Estimate
    below: Estimate
    condition: str = ""

    def interval(self, level: float) -> tuple[Any, Any]:
        together = self.together
        a, b = float(self.above.value), float(self.below.value)
        (low_a, high_a), (low_b, high_b) = self.above.interval(level), self.below.interval(level)
        if b < 0.0:
            a, low_a, high_a, b, low_b, high_b = -a, -high_a, -low_a, -b, -high_b, -low_b
            # Both signs change, so the correlation does not.
        if not low_b > 0.0 or not math.isfinite(low_a + high_a + high_b):
            return -math.inf, math.inf
        low = _lower_ratio(a, float(low_a), b, float(low_b), float(high_b), together)
        return low, -_lower_ratio(-a, -float(high_a), b, float(low_b), float(high_b), -together)

    @cached_property
    def together(self) -> float:
        """The correlation of both errors."""
        return float(correlation_of(self.above, self.below))


def is_lower_bound(interval: ConfidenceInterval) -> bool:
    """Return whether an interval is of a lower bound, as for an item of sets that devices have to thin.

    A sum of lower bounds is a lower bound, unless one that may be larger is subtracted.
    """
    if isinstance(interval, LooksInterval | LyingInterval):
        return is_lower_bound(cast("ConfidenceInterval", interval.plain))
    if isinstance(interval, SumInterval):
        weights = [weight for weight, part in interval.terms if part.thinned is not None]
        return (
            bool(weights)
            and min(weights) > 0.0
            and all(part.lower_bound for _, part in interval.terms if part.thinned is not None)
        )
    return getattr(interval, "beyond", None) is not None


def correlation_of(first: Estimate, second: Estimate) -> Any:
    """Return the correlation of the errors of two estimates: 0 if they are of different people.

    For frequencies it is an array with one number for each category.
    """
    total: object = 0.0
    for weight, part in linear_terms(first):
        for other_weight, other in linear_terms(second):
            errors = np.asarray(part.standard_error) * np.asarray(other.standard_error)
            total = total + weight * other_weight * errors * leaf_correlation(part, other)
    size = np.asarray(first.standard_error) * np.asarray(second.standard_error)
    safe = np.where(size > 0.0, size, 1.0)
    return np.clip(np.where(size > 0.0, total / safe, 0.0), -1.0, 1.0)[()]


def linear_terms(estimate: Estimate) -> Sequence[Term]:
    """Return weights and estimates whose sum has the error of this one, to first order."""
    interval = estimate.confidence
    if isinstance(interval, SumInterval):
        return [(w * v, leaf) for w, part in interval.terms for v, leaf in linear_terms(part)]
    if isinstance(interval, RatioInterval):
        below = float(interval.below.value)
        parts = [(1.0 / below, interval.above), (-float(estimate.value) / below, interval.below)]
        return [(w * v, leaf) for w, part in parts for v, leaf in linear_terms(part)]
    return [(1.0, estimate)]


def correlations(parts: Sequence[Estimate]) -> list[Together]:
    """Return the pairs of estimates of the same people, with the correlations of their errors."""
    found = [(i, j, correlation_of(parts[i], parts[j])) for i in range(len(parts)) for j in range(i)]
    return [pair for pair in found if np.any(pair[2])]


def length_of_sum(arms: Sequence[Any], together: Sequence[Together]) -> Any:
    """Return the length of a sum of arms, each with the sign of its weight [Zou08, eq. 4]."""
    total: Any = sum(np.square(arm) for arm in arms)
    for i, j, how in together:
        total = total + 2.0 * how * arms[i] * arms[j]
    return as_number(np.sqrt(np.maximum(total, 0.0)))


def _lower_ratio(
    a: float, low_a: float, b: float, low_b: float, high_b: float, together: float = 0.0
) -> float:
    """Return the least r at which the interval of a − r·b, by squared arms, contains 0; low_b > 0.

    It solves a − r·b = √((a − low_a)² + r²·arm² − 2ρ·r·(a − low_a)·arm), with the correlation ρ of the
    errors. The arm of b is the upper one for r ≥ 0, where low_a ≥ 0.
    """
    arm = high_b - b if low_a >= 0.0 else b - low_b
    lead, rest = b**2 - arm**2, low_a * (2.0 * a - low_a)
    middle = a * b - together * (a - low_a) * arm
    root = math.sqrt(max(middle**2 - lead * rest, 0.0))
    if low_a >= 0.0:  # the form without cancellation; `lead` may be 0 or negative
        return rest / (middle + root) if rest else 0.0
    return (middle - root) / lead


def as_number(value: object) -> float | Floats:
    """Return a number, or an array of numbers."""
    array = np.asarray(value, dtype=np.float64)
    return float(array) if array.ndim == 0 else array


_SURE: Final = 1e-15  # the smallest p-value that a level, a double below 1, can express


def p_value(estimate: Estimate, null: float = 0.0) -> float:
    """Return one minus the largest level at which the interval excludes `null`; at least 1e-15."""
    low, high = _SURE, 1.0
    for _ in range(200):
        middle = math.sqrt(low * high)
        if estimate.covers(null, 1.0 - middle if middle < 1.0 else 1e-16):
            low = middle
        else:
            high = middle
        if high - low <= 1e-9 * high:
            break
    return high
