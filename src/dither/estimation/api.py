"""The public estimators: mean, variance, resultant, quantile, distribution, estimate; their methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, overload

import numpy as np

from dither.arrays import Floats
from dither.errors import InvalidParameter, NotIdentifiable, choose, found
from dither.estimation.distributions import Bins, EstimatedDistribution, edges_of, likelihood, smoothed
from dither.estimation.empirical_bayes import empirical_bayes
from dither.estimation.estimate import Estimate
from dither.estimation.frequency import frequencies
from dither.estimation.groups import MINIMUM, GroupedEstimates, Labels, Quantity, estimate_groups
from dither.estimation.linear import (
    Method,
    average,
    estimator,
    in_unit,
    linear,
    mean_direction,
    numerical,
    on_circle,
    resultant_length,
    summarise_numbers,
)
from dither.estimation.significance import weighted_mean
from dither.estimation.summary import Summary, summarise
from dither.question import CategoryQuestion
from dither.reports import Reports


@dataclass(frozen=True)
class AsReported(Method):
    """Treat every decoded report as if it were the value. Errors are those of the reports' own average.

    It is biased unless the mechanism's codebook is unbiased: intervals cover the limit for many reports, not
    the quantity of the values.
    """

    def mean(self, summary: Summary) -> Estimate:
        """Estimate the mean."""
        mechanism = numerical(summary)
        if on_circle(mechanism):
            return mean_direction(summary)
        return Estimate.of(average(summary, mechanism.decoded()), mechanism.guarantee)

    def variance(self, summary: Summary) -> Estimate:
        """Estimate the variance."""
        mechanism = numerical(summary)
        if on_circle(mechanism):
            return resultant_length(summary, variance=True, as_reported=True)
        values = mechanism.decoded()
        spread = average(summary, (values - average(summary, values).value) ** 2)
        value = spread.value * summary.n / max(summary.n - 1, 1)
        return Estimate.of(replace(spread, value=value), mechanism.guarantee)

    def resultant(self, summary: Summary) -> Estimate:
        """Estimate the length of the mean direction."""
        return resultant_length(summary, as_reported=True)

    def quantile(self, summary: Summary, share: float) -> Estimate:
        """Estimate the value below which a share of the people are."""
        return self.distribution(summary, 1024).quantile(share)

    def distribution(self, summary: Summary, bins: Bins = None) -> EstimatedDistribution:
        """Estimate the distribution over bins: how many equal ones, or their edges."""
        # Reports beyond the domain are counted in the bin at its nearer end.
        mechanism = numerical(summary)
        values = mechanism.decoded()
        ends = edges_of(mechanism.line, bins)
        place = np.clip(np.searchsorted(ends, values, side="right") - 1, 0, ends.size - 2)
        counts = np.bincount(place, weights=summary.counts[: values.size], minlength=ends.size - 1)
        return EstimatedDistribution(counts / summary.n, ends, summary, repr(self))

    def __repr__(self) -> str:
        return "as reported"


as_reported: Final = AsReported()
MethodName = Literal["linear", "empirical bayes", "likelihood", "smoothed", "as reported"]
_METHODS: Final[dict[str, Method]] = {
    "linear": linear,
    "empirical bayes": empirical_bayes,
    "likelihood": likelihood,
    "smoothed": smoothed,
    "as reported": as_reported,
}


def as_method(method: object) -> Method:
    """Return the method of a name; a `Method` of another package is one already."""
    return method if isinstance(method, Method) else choose("method", method, _METHODS)


def mean(
    reports: Reports | Summary,
    *,
    method: MethodName = "linear",
    weights: Sequence[float] | Floats | None = None,
) -> Estimate:
    """Estimate the mean of the values that people have; on a circle, their mean direction.

    The default is unbiased for every mechanism whose E[report] is affine in the value, with any codebook.
    For others it raises `NotIdentifiable`; `method="likelihood"` estimates those and states the resolution.
    `method="as reported"` is the plain average of the reports.

    `weights` are public, one for each report, such as inverse chances of being asked: then the mean is that of
    the population, and its error contains that the weights vary.

    >>> import dither as dt
    >>> age = dt.Podium(dt.Interval(18, 100), epsilon=1)
    >>> dt.mean(age.perturb([43] * 40_000, source=dt.Seeded(7)))
    42.5 ± 0.8 (95 %, n = 40 000)
    """
    if weights is not None:
        if as_method(method) is not linear:
            raise InvalidParameter(f"a weighted mean is linear; leave method={found(method)} out")
        return weighted_mean(reports, weights)
    summary = summarise_numbers(reports)
    return in_unit(estimator(as_method(method), "mean", "means")(summary), summary)


def variance(reports: Reports | Summary, *, method: MethodName = "linear") -> Estimate:
    """Estimate the variance of the values that people have; on a circle, one minus the resultant length."""
    summary = summarise_numbers(reports)
    found: Estimate = estimator(as_method(method), "variance", "variances")(summary)
    return found


def resultant(reports: Reports | Summary, *, method: MethodName = "linear") -> Estimate:
    """Estimate the mean resultant length of directions: 1 if all are the same, 0 if they cancel."""
    summary = summarise_numbers(reports)
    mechanism = numerical(summary)
    if not on_circle(mechanism):
        raise InvalidParameter(
            f"a resultant length is estimated from reports on a dt.Circle, not on {mechanism.domain}"
        )
    found: Estimate = estimator(as_method(method), "resultant", "directions")(summary)
    return found


@overload
def quantile(reports: Reports | Summary, share: float, *, method: MethodName = ...) -> Estimate: ...
@overload
def quantile(
    reports: Reports | Summary, share: Sequence[float], *, method: MethodName = ...
) -> list[Estimate]: ...
def quantile(
    reports: Reports | Summary, share: float | Sequence[float], *, method: MethodName = "empirical bayes"
) -> Estimate | list[Estimate]:
    """Estimate a quantile: the value below which a share of the people are. The median has share 0.5.

    A list of shares returns a list of estimates; each interval holds at its own level, not all together.
    `method="likelihood"` has a wider interval, which assumes nothing about the distribution.
    """
    if isinstance(share, list | tuple | np.ndarray):
        summary = summarise_numbers(reports)
        return [quantile(summary, part, method=method) for part in share]
    if not (isinstance(share, int | float | np.floating) and 0.0 < share < 1.0):
        raise InvalidParameter(
            f"the share of a quantile is a number strictly between 0 and 1, not {found(share)}"
        )
    summary = summarise_numbers(reports)
    answer = estimator(as_method(method), "quantile", "quantiles")(summary, float(share))
    return in_unit(answer, summary)


def distribution(
    reports: Reports | Summary, bins: Bins = None, *, method: MethodName = "empirical bayes"
) -> EstimatedDistribution:
    """Estimate how values are distributed over an interval or a circle.

    `bins` is a number of equal bins or the edges of unequal ones; left out, there are as many as the error of
    the estimate allows. The default is a smooth density with point masses, where the reports show some.
    `method="likelihood"` is maximum likelihood, which is spiky, with intervals that assume no smoothness.
    `method="smoothed"` is its smoothed version (EMS), `method="as reported"` the histogram of the reports.
    """
    summary = summarise_numbers(reports)
    if bins is not None:
        edges_of(numerical(summary).line, bins)
    shape: EstimatedDistribution = estimator(as_method(method), "distribution", "distributions")(
        summary, bins
    )
    return shape


@overload
def estimate(reports: Reports | Summary) -> Estimate: ...


@overload
def estimate(
    reports: Reports,
    *,
    by: Labels,
    quantity: Quantity | None = None,
    minimum: int = MINIMUM,
    level: float = 0.95,
) -> GroupedEstimates: ...


def estimate(
    reports: Reports | Summary,
    *,
    by: Labels | None = None,
    quantity: Quantity | None = None,
    minimum: int = MINIMUM,
    level: float = 0.95,
) -> Estimate | GroupedEstimates:
    """Estimate the usual quantity for these reports: a mean, a mean direction or frequencies.

    If there is no unbiased estimate of the mean, the result is the maximum-likelihood estimate with its
    resolution.

    `by` holds a public label for each report, or several columns of labels by name. Then the result is a
    table with a row for each group; groups with fewer than `minimum` reports are left out. `quantity`
    estimates something else of each group, such as `lambda group: dt.quantile(group, 0.9)`.

    >>> import dither as dt
    >>> browser = dt.KRR(dt.Categories(["firefox", "chrome"]), epsilon=8)
    >>> estimate(browser.perturb(["chrome"] * 900 + ["firefox"] * 100, source=dt.Seeded(1)))["chrome"]
    0.900 (0.880 – 0.917) (95 %, n = 1 000)
    """
    if by is not None:
        return estimate_groups(reports, by, quantity or estimate, minimum, level)
    summary = summarise(reports)
    if isinstance(summary.question, CategoryQuestion):
        return frequencies(summary)
    try:
        return mean(summary)
    except NotIdentifiable:
        if not summary.n:
            raise
        return mean(summary, method="likelihood")
