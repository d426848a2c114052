"""Estimates from optional answers: quantities of the people who answered, and the response rate.

The report of an optional number has two decodings, from the integers (`OptionalKernel`): f, whose mean is
x − low for a value x and 0 for "no answer", and g, whose mean is 1 for a value and 0 for no answer. With
averages F and G the mean of the values is low + F/G. Its interval holds all θ for which the average of
f − (θ − low)·g may be 0 [Fieller54]. It keeps its level even if few people answered.

For quantiles and distributions the people who did not answer are removed. Every report is uniform with
probability 1 − κ. Otherwise it is in the window of the value, or in the last K cells if there is no answer.
For any answers, (1 − κ)·n/N of n reports are expected in every cell. So the excess of the last K cells is
removed, and reports of a plain window with a smaller κ remain. This κ is estimated from the number of reports
below the last K cells. That number is independent of the reports' positions, so its error is added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple, cast

import numpy as np

from dither.core.counts import Counts, name_result, summarise
from dither.core.kernels.window.codebook import IDENTITY, decoder
from dither.core.kernels.window.kernel import SlidingKernel
from dither.core.question import NumberQuestion, OptionalQuestion
from dither.core.reports import Reports
from dither.errors import InvalidParameter, NotIdentifiable
from dither.estimation.estimate import Estimate
from dither.estimation.frequency import supported_frequencies, weighted_frequencies
from dither.estimation.frequency_interval import ScoreInterval
from dither.estimation.intervals import BoundedNumbers, ConfidenceInterval
from dither.estimation.linear import SpreadInterval, average, mean_vector
from dither.estimation.reading import OptionalReading, optional_reading
from dither.estimation.rounding import OF_ANSWERS, SHARE
from dither.estimation.weights import Weighting, as_weights, check_weighted, influences, student
from dither.foundation.arrays import Floats
from dither.foundation.numerics.distributions import student_t_quantile

_HALVINGS: Final = 30  # bisection steps for an end of an interval at any time
_TURNS: Final = 64  # cells; with fewer, rounding turns the mean direction of a circle


@dataclass(frozen=True, eq=False)
class AverageRatio(ConfidenceInterval):
    """The interval of a ratio of two averages of the same reports, within public bounds [Fieller54].

    `averages` are the numerator and the denominator. `covariance` has the variance of the first, the
    covariance, and the variance of the second. `least` and `most` bound the ratio, and `shift` is added to
    it. `numbers` are each report's contributions to the numerator and the denominator.
    """

    averages: tuple[float, float]
    covariance: tuple[float, float, float]
    n: int
    shift: float
    least: float
    most: float
    numbers: tuple[Floats, Floats]

    @property
    def value(self) -> float:
        """The estimated ratio."""
        return self.shift + self.averages[0] / self.averages[1]

    @property
    def error(self) -> float:
        """Its standard error, to the first order."""
        ratio, (first, both, second) = self.averages[0] / self.averages[1], self.covariance
        return math.sqrt(max(first - 2.0 * ratio * both + ratio**2 * second, 0.0)) / self.averages[1]

    def interval(self, level: float) -> tuple[float, float]:
        """Return the roots θ of (F − θ·G)² = t²·(V_F − 2θ·V_FG + θ²·V_G), or the bounds without roots."""
        reach = student_t_quantile(level, self.n - 1) ** 2
        (above, below), (first, both, second) = self.averages, self.covariance
        lead = below**2 - reach * second
        if not (lead > 0.0 and math.isfinite(reach)):  # the share may be 0, so every ratio is possible
            return self.least, self.most
        middle = above * below - reach * both
        root = math.sqrt(max(middle**2 - lead * (above**2 - reach * first), 0.0))
        return self.shift + (middle - root) / lead, self.shift + (middle + root) / lead

    def at_any_time(self) -> AnyTimeAverageRatio:
        """Return the interval that holds at all numbers of reports at once."""
        return AnyTimeAverageRatio(self)


@dataclass(frozen=True, eq=False)
class AnyTimeAverageRatio(ConfidenceInterval):
    """All ratios θ for which the mean of above − θ·below may be 0, at all numbers of reports at once."""

    ratio: AverageRatio

    def interval(self, level: float) -> tuple[float, float]:
        ratio = self.ratio
        middle = min(max(ratio.value, ratio.least), ratio.most)
        return self._end(middle, ratio.least, level), self._end(middle, ratio.most, level)

    def _end(self, near: float, far: float, level: float) -> float:
        """Return the last possible value from `near` to `far`, by bisection; `far` if it is possible."""
        if self._possible(far, level):
            return far
        for _ in range(_HALVINGS):
            middle = (near + far) / 2.0
            near, far = (middle, far) if self._possible(middle, level) else (near, middle)
        return far

    def _possible(self, value: float, level: float) -> bool:
        ratio, n = self.ratio, self.ratio.n
        theta = value - ratio.shift
        numbers = ratio.numbers[0] - theta * ratio.numbers[1]
        first, both, second = ratio.covariance
        squares = n * max(n - 1, 1) * max(first - 2.0 * theta * both + theta**2 * second, 0.0)
        mean = ratio.averages[0] - theta * ratio.averages[1]
        bounded = BoundedNumbers(mean, squares, n, float(numbers.min()), float(numbers.max()))
        low, high = bounded.interval(level)
        return bool(low <= 0.0 <= high)


def mean_of_answers(summary: Counts) -> Estimate:
    """Estimate the mean of the people who answered; on a circle, their mean direction."""
    question = cast("OptionalQuestion", summary.question)
    if summary.n == 0:
        raise NotIdentifiable("expected at least one report, got 0")
    if question.line.circular:
        return _direction_of_answers(summary, question)
    reading = optional_reading(question.kernel)
    if reading is None:
        raise NotIdentifiable(
            f"the mean report of {question.name} on {question.domain} is not affine in the value; Podium, PM "
            "and SW are designed for means"
        )
    values, answered = reading.values, reading.answered
    above, below = _average(summary, values), _average(summary, answered)
    if not below > 0.0:
        raise _too_few("a mean of theirs cannot be estimated")
    gaps = values - above, answered - below
    rest = max(summary.n - 1, 1)
    first, both, second = (_average(summary, gaps[i] * gaps[j]) / rest for i, j in ((0, 0), (0, 1), (1, 1)))
    line = question.line
    spread, ends = (first, both, second), (line.low, line.low, line.high)
    found = AverageRatio((above, below), spread, summary.n, *ends, (values, answered))
    return Estimate.of(found, question.guarantee, unit=line.unit, remark=OF_ANSWERS)


def weighted_mean_of_answers(reports: Reports, weights: object) -> Estimate:
    """Estimate the weighted mean of the people who answered, Σ w·f/Σ w·g, with public weights w."""
    reported = check_weighted(reports)
    question = cast("OptionalQuestion", reported.question)
    reading = None if question.line.circular else optional_reading(question.kernel)
    if reading is None:
        raise NotIdentifiable(
            "expected numbers of a mechanism for means (Podium, PM, SW) for a weighted mean of those who "
            f"answered, got {question.name} on {question.domain}"
        )
    checked = as_weights(weights, len(reported))
    values, answered, cells = reading.values, reading.answered, reported.cells.reshape(-1)
    (above, top), (below, bottom) = (influences(read[cells], checked) for read in (values, answered))
    if not below > 0.0:
        raise _too_few("a mean of theirs cannot be estimated")
    n, line = len(reported), question.line
    spread = float(top @ top) / n**2, float(top @ bottom) / n**2, float(bottom @ bottom) / n**2
    found = AverageRatio((above, below), spread, n, line.low, line.low, line.high, (values, answered))
    return Estimate.of(
        found,
        question.guarantee,
        influence=(top - above / below * bottom) / below,
        unit=line.unit,
        remark=f"{OF_ANSWERS}, design effect {checked.design_effect:.2f}",
    )


def answers_influence(reports: Reports) -> Floats:
    """Return each person's influence on the mean of the people who answered."""
    kernel, cells = cast("OptionalQuestion", reports.question).kernel, reports.cells.reshape(-1)
    reading = cast(OptionalReading, optional_reading(kernel))
    reported, answered = reading.values[cells], reading.answered[cells]
    below = float(answered.mean())
    return np.asarray((reported - float(reported.mean()) / below * answered) / below)


def _average(summary: Counts, values: Floats) -> float:
    return float((summary.counts * values).sum()) / summary.n


def _direction_of_answers(summary: Counts, question: OptionalQuestion) -> Estimate:
    """Estimate the mean direction; by symmetry, no answer is the zero vector on average."""
    kernel, line = question.kernel, question.line
    if kernel.room < _TURNS:
        raise NotIdentifiable(f"expected {_TURNS} cells or more for mean directions, got {kernel.room}")
    vectors = np.zeros(kernel.outcomes, dtype=np.complex128)
    angles = line.to_unit(question.decode(np.arange(kernel.room)))
    vectors[: kernel.room] = np.exp(2j * np.pi * angles)
    mean = mean_vector(summary, vectors)
    value, error, interval = mean.direction(summary.n, line.length)
    return Estimate(
        value,
        error,
        summary.n,
        question.guarantee,
        confidence=interval,
        unit=line.unit,
        remark=OF_ANSWERS,
    )


def answered_counts(summary: Counts) -> Any:
    """Return counts as if only people with an answer had reported, by a window of smaller contrast.

    `unsure` of the result is the effect of one standard error of the number of answers on the estimated
    distribution, as a fraction of its distance from a uniform distribution.
    """
    question = cast("OptionalQuestion", summary.question)
    kernel, line, n = question.kernel, question.line, summary.n
    if line.circular:
        raise InvalidParameter(
            f"expected dt.mean or dt.stats.response_rate on {question.domain}; other quantities need angles "
            "that everybody answers"
        )
    if n == 0:
        raise NotIdentifiable("expected at least one report, got 0")
    window, room = kernel.window, kernel.room
    reported = np.asarray(summary.counts[:room], dtype=np.float64)
    within = float(reported.sum())
    error = math.sqrt(max(within * (1.0 - within / n), 1.0))
    even = n * (1.0 - window.contrast) / window.cells  # expected reports in every cell for any answers
    found = within - even * room  # number of reports in the windows of values
    if not found > error:
        raise _too_few("their values cannot be estimated")
    counts = np.append(reported, np.full(window.width, even))
    contrast = found / float(counts.sum())
    weaker = replace(window, step=max(int(contrast * (1 << window.bits)) // window.width, 1))
    request = NumberQuestion(
        line,
        SlidingKernel(line, weaker, kernel.start),
        decoder(IDENTITY, window.cells, line),
        epsilon=question.epsilon,
        name=question.name,
        parameters=question.parameters,
        made_by=question,
    )
    vars(request)["guarantee"] = question.guarantee  # the guarantee belongs to the question on the devices
    return AnsweredCounts(request, counts, n, error / within * even * room / found)


class AnsweredCounts(NamedTuple):
    """Counts of reports of people who answered, used as a summary, with the uncertainty of their number."""

    question: NumberQuestion
    counts: Floats
    n: int
    unsure: float


def variance_of_answers(summary: Counts) -> Estimate:
    """Estimate the variance of the values of people who answered: H/G − (F/G)².

    H is the average of a third decoding with the mean (x − low)² for a value x and 0 for "no answer".
    """
    question = cast("OptionalQuestion", summary.question)
    reading = None if question.line.circular else optional_reading(question.kernel)
    if reading is None:
        raise InvalidParameter(
            "expected numbers of a mechanism for means (Podium, PM, SW) for a variance of those who "
            f"answered, got {question.name} on {question.domain}"
        )
    if summary.n == 0:
        raise NotIdentifiable("expected at least one report, got 0")
    values, squared, answered = reading
    first, second, share = (_average(summary, read) for read in (values, squared, answered))
    error = math.sqrt(_average(summary, (answered - share) ** 2) / summary.n)
    if not share > error:
        raise _too_few("their variance cannot be estimated")
    mean, square = first / share, second / share
    influence = (squared - square * answered - 2.0 * mean * (values - mean * answered)) / share
    # The noise of the squared mean.
    noise = _average(summary, ((values - mean * answered) / share) ** 2) / summary.n
    reported = average(summary, influence)
    # If few people answered, the variance has few degrees of freedom, and fewer with a large kurtosis.
    gaps = influence - float(reported.value)
    spread, fourth = (_average(summary, gaps**power) for power in (2, 4))
    left = 2.0 * summary.n / max(fourth / spread**2 - 1.0, 1e-9) if spread > 0.0 else math.inf
    people = max(round(min(summary.n * min(share, 1.0), left)), 2)
    skew = reported.skew * people / summary.n
    plain = replace(reported, value=square - mean**2 + noise, n=people, skew=skew)
    # Both averages are ratios, so their errors follow from each report's influence on the ratios.
    moved = (squared - square * answered) / share, (values - mean * answered) / share
    first_error, second_error = (math.sqrt(_average(summary, part**2) / summary.n) for part in moved)
    both = _average(summary, moved[0] * moved[1]) / summary.n
    interval = SpreadInterval(plain, (square, mean), (first_error, second_error, both))
    return Estimate(
        plain.value,
        plain.error,
        summary.n,
        question.guarantee,
        confidence=interval,
        remark=OF_ANSWERS,
    )


def _too_few(what: str) -> NotIdentifiable:
    return NotIdentifiable(
        f"too few people answered: {what}; dt.stats.response_rate estimates how many answered"
    )


@name_result
def response_rate(reports: Reports | Counts, *, weights: Weighting | None = None) -> Estimate:
    """Estimate the share of people who answered a question on `dt.Nullable(…)`, from 0 to 1.

    The share and its interval account for the noise: nobody's own silence is known. `weights` are public, one
    for each report.

    >>> import dither as dt
    >>> income = dt.Podium(dt.Nullable(dt.Interval(0, 10_000)), epsilon=2)
    >>> reports = income.perturb([3_000] * 30_000 + [None] * 10_000, source=dt.Seeded(7))
    >>> response_rate(reports)
    0.749 ± 0.007 (95 %, n = 40 000)
    >>> dt.mean(reports)
    2960 ± 60 (95 %, n = 40 000, of those who answered)
    """
    summary = summarise(reports)
    question: Any = summary.question
    if "response rate" not in question.quantities:
        raise InvalidParameter(
            f"expected a question with missing answers, but everybody answers {question.name} on "
            f"{question.domain}; for missing answers use dt.Nullable(domain)"
        )
    if "frequencies" in question.quantities:
        shares = supported_frequencies(reports) if weights is None else weighted_frequencies(reports, weights)
        return replace(1.0 - shares[None], remark=shares.remark)
    if summary.n == 0:
        raise NotIdentifiable("expected at least one report, got 0")
    kernel = question.kernel
    if weights is not None:
        return _weighted_rate(check_weighted(reports), weights)
    kept = kernel.window.contrast
    # Probability of the numbers' cells for a person without an answer.
    other = (1.0 - kept) * kernel.room / kernel.outcomes
    share = float(summary.counts[: kernel.room].sum()) / summary.n
    mean = min(max(share, other), other + kept)
    error = math.sqrt(mean * (1.0 - mean) / summary.n) / kept
    interval = ScoreInterval(share, other, kept, summary.n, error)
    rate = Estimate(
        (share - other) / kept, error, summary.n, question.guarantee, confidence=interval, limits=SHARE
    )
    if isinstance(reports, Counts):
        return rate
    return replace(rate, influence=partial(_influence_of_answering, reports))


def _influence_of_answering(reports: Reports) -> Floats:
    """Return each person's influence on the response rate."""
    kernel = cast("OptionalQuestion", reports.question).kernel
    return influences(kernel.answer_reading()[reports.cells.reshape(-1)], None)[1]


def _weighted_rate(reports: Reports, weights: object) -> Estimate:
    """Estimate which share of a population answers, from people with public weights: Σ w·g/Σ w."""
    question, checked = cast("OptionalQuestion", reports.question), as_weights(weights, len(reports))
    share, moved = influences(question.kernel.answer_reading()[reports.cells.reshape(-1)], checked)
    remark = f", design effect {checked.design_effect:.2f}"
    interval = student(share, moved, checked)
    return Estimate.of(interval, question.guarantee, influence=moved, limits=SHARE, remark=remark)
