"""The method `"linear"`: averages of a number per report, unbiased if E[report] is affine in the value.

On a circle it estimates the mean direction and the mean resultant length.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from dither.core.counts import Counts
from dither.core.kernels.kernel import STRAIGHT, UnbiasedReading
from dither.core.question import NumberQuestion
from dither.errors import InvalidParameter, NotIdentifiable
from dither.estimation.estimate import Estimate
from dither.estimation.intervals import (
    AnyTimeInterval,
    BoundedNumbers,
    ConfidenceInterval,
    CountedNumbers,
    LyingInterval,
    StudentInterval,
    mean_error_without,
)
from dither.estimation.method import Method, number_question, on_circle
from dither.estimation.reading import least_variance_reading
from dither.foundation.arrays import Floats
from dither.foundation.numerics.distributions import rice_interval, student_t_quantile


@dataclass(frozen=True, eq=False)
class DirectionInterval(ConfidenceInterval):
    """The interval of a mean direction: all directions across which the mean vector may be zero [Fieller54].

    Take the unit vector across a direction whose angle to the estimated direction has the tangent τ. The mean
    vector along it has the variance (a·τ² − 2b·τ + c)/(1 + τ²). Here a, b and c are the variance of the mean
    vector along its direction, the covariance, and the variance across, divided by its squared length
    (`spread`).
    """

    value: float
    spread: tuple[float, float, float]
    n: int
    period: float
    condition: str = ""

    def interval(self, level: float) -> tuple[float, float]:
        reach = student_t_quantile(level, self.n - 1) ** 2
        along, both, across = self.spread
        lead = 1.0 - reach * along
        if not lead > 0.0:  # every direction is possible
            return 0.0, self.period
        root = math.sqrt((reach * both) ** 2 + lead * reach * across)
        turn = self.period / (2.0 * math.pi)
        low, high = (math.atan((-reach * both + sign * root) / lead) * turn for sign in (-1.0, 1.0))
        return (self.value + low) % self.period, (self.value + high) % self.period


@dataclass(frozen=True, eq=False)
class LengthInterval(ConfidenceInterval):
    """The interval of a mean resultant length: 1 if all directions are the same, 0 if they cancel.

    `seen` is the length of the mean report and `noise` is its standard error. `kept` is the factor ρ by which
    the mechanism shortens the mean. With `complement` the interval is for the circular variance, 1 − length.
    """

    seen: float
    noise: float
    kept: float
    n: int
    complement: bool

    def interval(self, level: float) -> tuple[float, float]:
        if self.n < 2:
            return (-math.inf, 1.0) if self.complement else (0.0, math.inf)
        low, high = (end * self.noise / self.kept for end in rice_interval(self.seen / self.noise, level))
        return (1.0 - high, 1.0 - low) if self.complement else (low, high)


class MeanVector(NamedTuple):
    """A mean direction, the length of the mean vector, and its standard errors along and across it."""

    angle: float  # angle of the mean direction, in radians
    length: float
    along: float  # standard errors of the mean vector: along it, and across
    across: float
    both: float  # the covariance of the mean vector's two components

    def direction(self, n: int, period: float) -> tuple[float, float, DirectionInterval]:
        """Return the direction in the units of a period, its standard error, and its interval."""
        turn, square = period / (2.0 * math.pi), self.length**2
        value = self.angle * turn % period
        if not square > 0.0:
            return value, math.inf, DirectionInterval(value, (math.inf, 0.0, math.inf), n, period)
        spread = self.along**2 / square, self.both / square, self.across**2 / square
        return value, self.across / self.length * turn, DirectionInterval(value, spread, n, period)


def mean_direction(summary: Counts, *, as_reported: bool = False) -> Estimate:
    """Estimate the mean direction by the direction of the mean report; the noise is symmetric."""
    question = number_question(summary)
    if not as_reported:
        length_factor(question)  # this call raises if the direction would be biased
    mean = mean_vector(summary, unit_vectors(question))
    value, error, interval = mean.direction(summary.n, question.line.length)
    return Estimate(value, error, summary.n, summary.question.guarantee, confidence=interval)


def resultant_length(summary: Counts, *, variance: bool = False, as_reported: bool = False) -> Estimate:
    """Estimate the resultant length from the mean report, corrected for the variance and divided by ρ."""
    question = number_question(summary)
    if not on_circle(question):
        raise InvalidParameter(
            "expected reports on a dt.Circle to estimate a resultant length, got reports on "
            f"{question.domain}"
        )
    mean = mean_vector(summary, unit_vectors(question))
    kept = 1.0 if as_reported else length_factor(question)
    # E|mean vector|² is the squared true length plus the variance, so the variance across adds length.
    value = math.sqrt(max(mean.length**2 - mean.across**2, 0.0)) / kept
    interval = LengthInterval(mean.length, mean.along, kept, summary.n, variance)
    shown = 1.0 - value if variance else value
    return Estimate(shown, mean.along / kept, summary.n, question.guarantee, confidence=interval)


def length_factor(question: NumberQuestion) -> float:
    """Return ρ with E[e^(iY) | x] = ρ·e^(ix), from the integers that are sampled.

    Raise NotIdentifiable if ρ does not exist, as for a few sectors or points, where the mean report turns
    towards the nearest one.
    """
    vectors = unit_vectors(question)
    points = np.mod(np.arange(_PLACES, dtype=np.float64) * _GOLDEN, 1.0, dtype=np.float64)
    inputs = question.line.from_unit(points)
    means = moment(question, inputs, vectors.real) + 1j * moment(question, inputs, vectors.imag)
    factors = means * np.exp(-2j * np.pi * points)
    factor = complex(factors.mean())
    if np.abs(factors - factor).max() > _TURNED * abs(factor):
        raise NotIdentifiable(
            f"the mean report of {question.name} on {question.domain} does not turn evenly with the value; "
            "dt.distribution states the resolution, and OGPM is designed for directions"
        )
    return abs(factor)


def unit_vectors(question: NumberQuestion) -> NDArray[np.complex128]:
    """Return the direction of each counted report as a number on the unit circle."""
    return np.asarray(np.exp(2j * np.pi * question.line.to_unit(question.decoded_numbers())))


def mean_vector(summary: Counts, vectors: NDArray[np.complex128]) -> MeanVector:
    """Return the average of a vector for each counted report, with its standard errors."""
    shares = summary.counts[: vectors.size] / summary.n
    mean = complex((shares * vectors).sum())
    angle, size = math.atan2(mean.imag, mean.real), abs(mean)
    turned = vectors * complex(math.cos(angle), -math.sin(angle))
    along = float((shares * (turned.real - size) ** 2).sum())
    across = float((shares * turned.imag**2).sum())
    both = float((shares * (turned.real - size) * turned.imag).sum())
    rest = max(summary.n - 1, 1)
    return MeanVector(angle, size, math.sqrt(along / rest), math.sqrt(across / rest), both / rest)


RARE_EXTREMES: Final = " unless a few are extreme: see at_any_time()"
_TWO_SIDED: Final = 1.96  # standard errors of a 95 % interval
_UNSEEN: Final = 3.0  # number of people at an end of the domain that a sample may miss
_GOLDEN: Final = (math.sqrt(5.0) - 1.0) / 2.0  # multiples of the golden ratio, modulo 1, are spread evenly
_PLACES: Final = 33  # number of values at which the variance of a report is computed
_MEANS: Final = 65  # means at which the least variance is computed; between them it is interpolated
_least: WeakKeyDictionary[NumberQuestion, tuple[Floats, Floats]] = WeakKeyDictionary()
_TURNED: Final = math.pi / 32.0  # radians; half of one of 32 cells, the coarsest rounding of a direction
_CURVED: Final = 1e-3  # tolerance for a quadratic mean square, in squares of half the domain


@dataclass(frozen=True, eq=False)
class MeanInterval(ConfidenceInterval):
    """The interval of a mean, with the number that each report contributes."""

    average: StudentInterval
    numbers: CountedNumbers
    condition: str = ""

    @property
    def n(self) -> int:
        """The number of reports."""
        return self.average.n

    def interval(self, level: float) -> tuple[Any, Any]:
        return self.average.interval(level)

    def at_any_time(self) -> AnyTimeInterval:
        """Return the interval that holds at all numbers of reports at once."""
        low, high = self.numbers.reading.span
        # If only leading bits of cells are counted, the deviations belong to groups: (√V + √n·slack)² is
        # at least the sum of squares of the cells.
        root = float(self.average.error) * math.sqrt(self.n * max(self.n - 1, 1))
        squares = (root + math.sqrt(self.n) * self.numbers.reading.slack) ** 2
        return AnyTimeInterval(BoundedNumbers(float(self.average.value), squares, self.n, low, high))

    def if_lying(self, share: float) -> LyingInterval:
        """Return the interval that holds if at most this share of the reports are lies."""
        return LyingInterval.of(self, share)

    def honest_range(self, liars: int) -> tuple[float, float]:
        """Return the least and the greatest average after removing `liars` reports."""
        left = self.n - liars
        if not liars or left < 1:
            return (float(self.average.value),) * 2 if not liars else (-math.inf, math.inf)
        complete = float(self.average.value) * self.n
        least = (complete - self.numbers.sum_of_highest(liars)) / left
        return least, (complete - self.numbers.sum_of_lowest(liars)) / left

    def interval_if_lying(self, liars: int, level: float) -> tuple[float, float]:
        """Return the ends of an interval that covers for any reports of `liars` liars."""
        low, high = self.interval(level)
        if not liars:
            return low, high
        least, greatest = self.honest_range(liars)
        error = mean_error_without(float(self.average.error), self.n, liars)
        reach = student_t_quantile(level, self.n - liars - 1) * error
        return min(low, least - reach), max(high, greatest + reach)


_ANGLES: Final = np.linspace(0.0, 2.0 * math.pi, 721)


@dataclass(frozen=True, eq=False)
class SpreadInterval(ConfidenceInterval):
    """The interval of a variance: the estimated mean square minus the square of the estimated mean.

    With a small ε the mean is so uncertain that its square is not nearly linear. The interval contains the
    variances of all means and mean squares whose likelihood is within the level (an ellipse). `plain` is the
    linear interval, and its shift for skewness is also applied here.
    """

    plain: StudentInterval
    centre: tuple[float, float]  # the mean square, and the mean
    errors: tuple[float, float, float]  # the standard errors of both, and their covariance

    def interval(self, level: float) -> tuple[Any, Any]:
        low, high = self.plain.interval(level)
        reach = student_t_quantile(level, self.plain.n - 1)
        if not math.isfinite(reach) or not self.errors[1] > 0.0:
            return low, high
        square, mean, both = self.errors
        slope = both / mean
        rest = math.sqrt(max(square**2 - slope**2, 0.0))
        along, across = reach * np.cos(_ANGLES), reach * np.sin(_ANGLES)
        found = self.centre[0] + slope * along + rest * across - (self.centre[1] + mean * along) ** 2
        value, shift = float(self.plain.value), (low + high) / 2.0 - float(self.plain.value)
        down, up = value - float(found.min()), float(found.max()) - value
        return value + shift - math.hypot(shift, down), value + shift + math.hypot(shift, max(up, 0.0))


def average(
    summary: Counts, values: Floats, mean: float | None = None, *, least: float = 0.0
) -> StudentInterval:
    """Return the average of a number per counted report, with its interval.

    The variance is known to be at least `least`. A sample variance below half of it is replaced.
    """
    if mean is None:
        mean = total(summary, values) / summary.n
    gaps = values - mean
    squares = gaps**2
    spread = total(summary, squares) / max(summary.n - 1, 1)
    skew = total(summary, squares * gaps) / summary.n / spread if spread > 0.0 else 0.0
    error = math.sqrt((spread if spread > least / 2.0 else least) / summary.n)
    return StudentInterval(mean, error, summary.n, skew)


def total(summary: Counts, values: Floats) -> float:
    """Return the sum of a number per counted report, by pairwise summation, for accuracy."""
    return float((summary.counts[: values.size] * values).sum())


@dataclass(frozen=True)
class Linear(Method):
    """Unbiased averages of numbers whose expectation is the value, computed from the sampled integers.

    On a circle it is the mean direction, with the resultant length divided by ρ, the factor by which the
    noise shortens it.
    """

    def mean(self, summary: Counts) -> Estimate:
        """Estimate the mean."""
        question = number_question(summary)
        if on_circle(question):
            return mean_direction(summary)
        reading = unbiased_reading(question)
        mean = reading.total(summary.counts, summary.n) / summary.n
        found = average(summary, reading.values, mean, least=least_variance(question, mean))
        counted = CountedNumbers(reading, summary.counts[: reading.values.size])
        # If no person of n is extreme, up to 3/n of the population may be, at the level of 95 % [Hanley83].
        rare = _TWO_SIDED * float(found.error) < _UNSEEN * question.line.length / summary.n
        interval = MeanInterval(found, counted, RARE_EXTREMES if rare else "")
        limits = (question.line.low, question.line.high)
        return Estimate(mean, found.error, summary.n, question.guarantee, confidence=interval, limits=limits)

    def variance(self, summary: Counts) -> Estimate:
        """Estimate the variance."""
        question = number_question(summary)
        if on_circle(question):
            return resultant_length(summary, variance=True)
        reading = unbiased_reading(question, plain=True)
        middle = (question.line.low + question.line.high) / 2.0
        gaps = reading.values - middle
        mean = reading.total(summary.counts, summary.n) / summary.n - middle
        squares = squared_reading(question, gaps)
        # The squared average is biased by σ²/n: E[ȳ²] = μ² + σ²/n.
        noise = average(summary, gaps, mean).error ** 2
        value = total(summary, squares) / summary.n - mean**2 + noise
        # The influence function of the variance is a report's square minus 2·mean·report.
        influence = squares - 2.0 * mean * gaps
        spread = average(summary, influence)
        # No population has a smaller variance than the noise about its least noisy value. A sample of heavy
        # tails often does.
        points = np.linspace(question.line.low, question.line.high, 9)
        level = influence - float(spread.value)
        laws = moment(question, points, level**2) - moment(question, points, level) ** 2
        square = float(spread.error) ** 2 * summary.n
        larger = max(square, float(laws.min()))
        skew = spread.skew * square / larger if larger > 0.0 else 0.0
        first, second = average(summary, squares), average(summary, gaps, mean)
        with_square = total(summary, (squares - float(first.value)) * (gaps - mean)) / summary.n
        grown = math.sqrt(larger / square) if square > 0.0 else 1.0
        interval = SpreadInterval(
            StudentInterval(value, math.sqrt(larger / summary.n), summary.n, skew),
            (float(first.value), mean),
            (grown * float(first.error), float(second.error), grown * with_square / summary.n),
        )
        return Estimate(value, interval.plain.error, summary.n, question.guarantee, confidence=interval)

    def resultant(self, summary: Counts) -> Estimate:
        """Estimate the length of the mean direction."""
        return resultant_length(summary)

    def __repr__(self) -> str:
        return "linear"


def unbiased_reading(question: NumberQuestion, *, plain: bool = False) -> UnbiasedReading:
    """Return the numbers whose expectation is the value; raise NotIdentifiable if they do not exist.

    With `plain`, return numbers that are affine in the report, or the decoded ones, for use in squares.
    """
    reading = question.unbiased_reading() if plain else least_variance_reading(question)
    if reading is None:
        name = question.name
        raise NotIdentifiable(
            f"the mean report of {name} on {question.domain} is not affine in the value, and near the "
            "ends it may be constant; method='likelihood' estimates it with a stated "
            "resolution, and Podium or Hybrid are designed for means"
        )
    return reading


def least_variance(question: NumberQuestion, mean: float) -> float:
    """Return the least variance that numbers of reports can have if this is the mean of the values."""
    places, variances = least_variances(question)
    return float(np.interp(mean, places, variances))


def least_variances(question: NumberQuestion) -> tuple[Floats, Floats]:
    """Return values of the domain, and the least variance of numbers of reports if each is the mean.

    For a given mean, a two-point distribution has the least mean square, or a single point if it is convex.
    """
    if question not in _least:
        line = question.line
        places, middle = np.linspace(line.low, line.high, _MEANS), (line.low + line.high) / 2.0
        squares = moment(question, places, (unbiased_reading(question).values - middle) ** 2)
        variances = np.empty(_MEANS)
        for index, at in enumerate(places):
            left, right = (at - places[: index + 1])[:, None], places[index:] - at
            share = left / np.maximum(left + right, 1e-300)  # share of people at the upper point
            mixed = (1.0 - share) * squares[: index + 1, None] + share * squares[index:]
            variances[index] = mixed.min() - (at - middle) ** 2
        _least[question] = places, variances
    return _least[question]


def squared_reading(question: NumberQuestion, gaps: Floats) -> Floats:
    """Return the numbers whose expectation is the squared distance of the value to the domain's middle.

    They exist if the squared distances of the reports have an expectation that is quadratic in the value.
    """
    line = question.line
    half = line.length / 2.0
    # Linspace has exact ends; middle ± half can be one ulp outside.
    points = np.linspace(line.low, line.high, 9)
    inputs = points - (line.low + line.high) / 2.0
    means = moment(question, points, gaps**2)
    bend = ((means[0] + means[-1]) / 2.0 - means[4]) / half**2
    slope = (means[-1] - means[0]) / line.length
    curve = means[4] + slope * inputs + bend * inputs**2
    if not (bend > STRAIGHT and np.abs(means - curve).max() < _CURVED * bend * half**2):
        raise NotIdentifiable(
            "expected reports with an average that estimates the variance of the values, got reports of "
            f"{question.name}; use method='likelihood', or a mechanism such as SW or Podium"
        )
    return np.asarray((gaps**2 - means[4] - slope * gaps) / bend)


def moment(question: NumberQuestion, inputs: Floats, numbers: Floats) -> Floats:
    """Return the mean of a number per counted report, for each of the inputs."""
    operator = question.likelihood(inputs, numbers.size)
    if operator.shape[0] < numbers.size:  # the operator's rows are blocks of equally likely reports
        numbers = operator.counts(numbers) / operator.counts(np.ones(numbers.size))
    return operator.backward(numbers)


linear: Final = Linear()
