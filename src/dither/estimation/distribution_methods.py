"""The methods of distributions: `"empirical bayes"`, `"likelihood"`, `"smoothed"` and `"as reported"`.

"empirical bayes", the default, is a smooth density with point masses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from dither.core.counts import Counts
from dither.core.kernels.transition import Operator
from dither.core.question import NumberQuestion
from dither.core.reports import Reports
from dither.errors import InvalidParameter, found
from dither.estimation.atoms import AtomSearch, thin_masses
from dither.estimation.curve import DensityCurve
from dither.estimation.density import DensityModel, Posterior, Prior, about_a_curve
from dither.estimation.distributions import EstimatedDistribution
from dither.estimation.estimate import Estimate
from dither.estimation.intervals import WiderInterval
from dither.estimation.likelihood import (
    FINE,
    GRID,
    Bins,
    Likeliest,
    average_on_circle,
    average_on_line,
    climb,
    edges_of,
    grid,
    row_number,
    smooth,
    spread_bins,
)
from dither.estimation.linear import average, linear, mean_direction, resultant_length
from dither.estimation.method import Method, number_question, on_circle
from dither.estimation.rounding import show
from dither.estimation.weights import Weights, count_weighted, entries_of, relative_variance
from dither.foundation.arrays import Floats


@dataclass(frozen=True)
class Likelihood(Method):
    """Estimate from the maximum-likelihood distribution, found by EM, with profile likelihood intervals.

    It works for every mechanism and states the resolution limit. It is biased. `smoothing` averages
    neighbouring bins after each step (EMS), so the result does not maximise the likelihood. `tolerance` is
    the gain in log-likelihood, in nats, below which EM stops.
    """

    smoothing: bool = False
    tolerance: float = 1e-2

    def __post_init__(self) -> None:
        if not self.tolerance > 0.0:
            raise InvalidParameter(
                f"expected the tolerance to be a positive number of nats, got {found(self.tolerance)}"
            )

    def mean(self, summary: Counts) -> Estimate:
        """Estimate the mean."""
        return _likeliest_on_line(summary).mean()

    def variance(self, summary: Counts) -> Estimate:
        """Estimate the variance."""
        return _likeliest_on_line(summary).variance()

    def quantile(self, summary: Counts, q: float) -> Estimate:
        """Estimate the value below which a share q of the people is."""
        return _likeliest_on_line(summary).quantile(q)

    def distribution(self, summary: Counts, bins: Bins = None) -> EstimatedDistribution:
        """Estimate the distribution over bins: a number of equal bins, or their edges."""
        question = number_question(summary)
        _check_plain(question)
        ends = edges_of(question.line, bins)
        unit = question.line.to_unit(ends)
        equal = np.allclose(np.diff(unit), 1.0 / (ends.size - 1), rtol=1e-9)
        count = (ends.size - 1) * -(-FINE // (ends.size - 1)) if equal else FINE
        operator = grid(question, count)
        counts = operator.counts(summary.counts)
        start = np.full(count, 1.0 / count)
        if self.smoothing:
            kernel = average_on_circle if on_circle(question) else average_on_line
            fit = smooth(operator, counts, start, kernel, tolerance=self.tolerance)
        else:
            fit = climb(operator, counts, start, tolerance=self.tolerance)
        sums = np.concatenate([[0.0], np.cumsum(fit.probabilities)])
        shown = np.diff(np.interp(unit * count, np.arange(count + 1.0), sums))
        return EstimatedDistribution(shown, ends, summary, repr(self), fit)

    def __repr__(self) -> str:
        return "smoothed" if self.smoothing else "likelihood"


def _check_plain(question: NumberQuestion) -> None:
    if question.line.scale:
        raise InvalidParameter("expected method='empirical bayes' for numbers on a scale; leave `method` out")


def _likeliest_on_line(summary: Counts) -> Likeliest:
    _check_plain(number_question(summary))
    if on_circle(number_question(summary)):
        raise InvalidParameter(
            "expected another method than 'likelihood' for this quantity on a circle; leave `method` out of "
            "dt.mean and dt.stats.resultant"
        )
    return Likeliest.of(summary)


likelihood: Final = Likelihood()


smoothed: Final = Likelihood(smoothing=True)


_FEW: Final = 8  # least number of values of a report that identify a shape


@dataclass(frozen=True)
class EmpiricalBayes(Method):
    """Estimate a smooth log-density with point masses. The reports determine its smoothness.

    The log-density has a normal prior on its second differences. All strengths of the prior are averaged,
    each weighted by its evidence (the probability of the reports). Point masses are added, up to
    `most_atoms`, each only if the evidence rises. Intervals come from the posterior.
    """

    most_atoms: int = 12

    def __post_init__(self) -> None:
        if isinstance(self.most_atoms, bool) or not isinstance(self.most_atoms, int) or self.most_atoms < 0:
            raise InvalidParameter("expected the number of point masses to be an integer, at least 0")

    def mean(self, summary: Counts) -> Estimate:
        """Estimate the mean of the smooth density; the unbiased mean is printed next to it if it exists."""
        if is_too_coarse(summary):
            return likelihood.mean(summary)
        question = self._on_line(summary)
        answer = self.curve(summary).mean()
        if question.unbiased_reading() is None:
            return answer
        beside = linear.mean(summary)
        remark = f", linear {show(float(beside), float(beside.half_width()))}"
        return replace(answer, remark=answer.remark + remark)

    def quantile(self, summary: Counts, q: float) -> Estimate:
        """Estimate the value below which a share q of the people is."""
        if is_too_coarse(summary):
            return likelihood.quantile(summary, q)
        self._on_line(summary)
        return self.curve(summary).quantile(q)

    @staticmethod
    def _on_line(summary: Counts) -> NumberQuestion:
        question = number_question(summary)
        if on_circle(question):
            raise InvalidParameter(
                "expected dt.mean or dt.stats.resultant with their default method for directions, because "
                "directions have no order"
            )
        return question

    def distribution(self, summary: Counts, bins: Bins = None) -> EstimatedDistribution:
        """Estimate the distribution over bins: a number of equal bins, or their edges."""
        if is_too_coarse(summary):
            return likelihood.distribution(summary, bins)
        return EstimatedDistribution.of_curve(self.curve(summary), summary, repr(self), bins)

    def curve(self, summary: Counts) -> DensityCurve:
        """Return the posterior of the density."""
        return self.curves(summary)[1]

    def curves(self, summary: Counts) -> tuple[DensityCurve, DensityCurve]:
        """Return the posterior of the density, and the posterior with possible unseen people at the ends."""
        question = number_question(summary)
        line, operator, unsure = question.line.shown, _laws(question), getattr(summary, "unsure", 0.0)
        points = declared_points(question)
        circular = on_circle(question)
        if points is not None:
            model = _model(operator, summary, Prior.of(points.size, circular=circular and points.size > 2))
            posterior = about_a_curve(model).towards_even(unsure)
            stepped = DensityCurve(line, posterior, (), summary.n, question.guarantee, points)
            return stepped, stepped
        model = _model(operator, summary, Prior.of(GRID, circular=circular))
        search = AtomSearch(question, row_number(question, GRID))
        model, path, atoms = search.search(model, self.most_atoms)
        posterior = Posterior.over(model, [path.refine(model)]).towards_even(unsure, len(atoms))
        seen = DensityCurve(line, posterior, tuple(atoms), summary.n, question.guarantee)
        posterior = posterior.with_thin_masses(thin_masses(model, posterior.best, circular=circular))
        for number, (atom, change) in enumerate(search.end_masses(model, posterior.best, atoms)):
            atoms = [*atoms, atom]
            posterior = posterior.with_unseen(np.insert(change, change.size - 1, np.zeros(number)))
        return seen, DensityCurve(line, posterior, tuple(atoms), summary.n, question.guarantee)

    def __repr__(self) -> str:
        return "empirical bayes"


def is_too_coarse(summary: Counts) -> bool:
    """Return whether reports take too few values to identify a shape, so that maximum likelihood is closer.

    Two values (`Duchi`) identify a mean. A smooth prior would add only its own shape.
    """
    question = number_question(summary)
    return question.outcomes < _FEW and question.line.points is None


def declared_points(question: NumberQuestion) -> Floats | None:
    """Return the only possible values on [0, 1], if the domain declares them."""
    points = question.line.points
    return None if points is None else question.line.to_unit(points)


def _laws(question: NumberQuestion) -> Operator:
    """Return the distributions of reports for values in each bin, or at each declared point."""
    points, line = declared_points(question), question.line
    if points is None:
        return spread_bins(question, row_number(question, GRID))
    positions = np.clip(line.from_unit(points), line.low, line.high)
    return question.likelihood(positions, row_number(question, points.size))


def _model(operator: Operator, summary: Counts, prior: Prior) -> DensityModel:
    return DensityModel(operator, np.zeros((operator.shape[0], 0)), operator.counts(summary.counts), prior)


empirical_bayes: Final = EmpiricalBayes()


@dataclass(frozen=True)
class AsReported(Method):
    """Treat every decoded report as if it were the value. Errors are the errors of the average report.

    It is biased unless the mechanism's codebook is unbiased. Intervals cover the limit for many reports, not
    the quantity of the values.
    """

    def mean(self, summary: Counts) -> Estimate:
        """Estimate the mean."""
        question = number_question(summary)
        if on_circle(question):
            return mean_direction(summary, as_reported=True)
        return Estimate.of(average(summary, question.decoded_numbers()), question.guarantee)

    def variance(self, summary: Counts) -> Estimate:
        """Estimate the variance."""
        question = number_question(summary)
        if on_circle(question):
            return resultant_length(summary, variance=True, as_reported=True)
        values = question.decoded_numbers()
        spread = average(summary, (values - average(summary, values).value) ** 2)
        value = spread.value * summary.n / max(summary.n - 1, 1)
        return Estimate.of(replace(spread, value=value), question.guarantee)

    def resultant(self, summary: Counts) -> Estimate:
        """Estimate the length of the mean direction."""
        return resultant_length(summary, as_reported=True)

    def quantile(self, summary: Counts, q: float) -> Estimate:
        """Estimate the value below which a share q of the people is."""
        return self.distribution(summary, 1024).quantile(q)

    def distribution(self, summary: Counts, bins: Bins = None) -> EstimatedDistribution:
        """Estimate the distribution over bins: a number of equal bins, or their edges."""
        # Reports beyond the domain are counted in the bin at its nearer end.
        question = number_question(summary)
        _check_plain(question)
        values = question.decoded_numbers()
        ends = edges_of(question.line, bins)
        index = np.clip(np.searchsorted(ends, values, side="right") - 1, 0, ends.size - 2)
        counts = np.bincount(index, weights=summary.counts[: values.size], minlength=ends.size - 1)
        return EstimatedDistribution(counts / summary.n, ends, summary, repr(self))

    def __repr__(self) -> str:
        return "as reported"


as_reported: Final = AsReported()


_REACH: Final = 0.12  # fraction of the likelihood interval's reach that is added


def cautious_quantile(summary: Counts, share: float) -> Estimate:
    """Return a quantile of the smooth density, with an interval that reaches towards the likelihood interval.

    The likelihood interval has to hold for all distributions, and is nearly three times as wide as is
    necessary for any single one. An eighth of its reach covers the error of the smooth density at point
    masses and narrow gaps. The resulting interval holds in 96 % over 22 shapes, in less where the density
    jumps (docs/coverage_few.md), and is at most 1.4 times as wide as needed in the median. It prints the
    condition of the density.
    """
    answer = empirical_bayes.quantile(summary, share)
    return cautious(answer, likelihood.quantile(summary, share)) if answer.condition else answer


def cautious(answer: Estimate, strict: Estimate) -> Estimate:
    """Return a quantile of the smooth density with the interval that reaches towards the likelihood's."""
    wide = WiderInterval(
        answer._confidence, strict._confidence, strict.resolution, _REACH, condition=answer.condition
    )
    return replace(answer, error=None, confidence=wide)


def count_for_quantile(
    reports: Reports, share: float, weights: Weights, of_answers: Callable[[Counts], Counts]
) -> Any:
    """Return counts with the effective number of equally weighted people for the share below a quantile.

    The effective number follows from the variance of each report's influence on the share. The influence
    contains the noise, with the same variance for all people, and the indicator of being below the quantile.
    This indicator may correlate with the weights. `of_answers` removes people without an answer.
    """
    counts = of_answers(count_weighted(reports, weights))
    question = number_question(counts)
    if is_too_coarse(counts) or on_circle(question):
        return counts
    curve = empirical_bayes.curve(counts)
    position = question.line.shown.to_unit(np.array([float(curve.quantile(share).value)]))
    reported = curve.influence(curve.below(position)[0], _laws(question), counts.counts.size)
    factor = relative_variance(reported[entries_of(reports)], weights)
    return of_answers(count_weighted(reports, weights, factor))
