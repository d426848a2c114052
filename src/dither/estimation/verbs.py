"""The functions that estimate from reports: `dt.mean`, `dt.frequencies`, `dt.estimate` and others.

A kind of question states in `Question.quantities` which quantities it has. `QUANTITIES` says how each of them
is estimated. `dt.estimate`, the terminal and the collector's page read this table.

Modules that only some functions need are imported at their first use, because many programs need only a mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar, cast, overload

import numpy as np

from dither.core.counts import Counts, name_result, summarise
from dither.core.reports import Reports
from dither.errors import InvalidParameter, NotIdentifiable, choose, found
from dither.estimation.estimate import Estimate
from dither.estimation.linear import MeanInterval, linear
from dither.estimation.method import (
    MINIMUM,
    Method,
    category_question,
    check_scale,
    estimator,
    in_unit,
    may_be_missing,
    number_question,
    on_circle,
    summarise_numbers,
    usual_quantity,
)
from dither.estimation.rounding import OF_ANSWERS

if TYPE_CHECKING:
    from dither.estimation.distributions import EstimatedDistribution
    from dither.estimation.frequency import EstimatedFrequencies
    from dither.estimation.groups import GroupedEstimates, Labels, Quantity
    from dither.estimation.likelihood import Bins
    from dither.estimation.matrices import FrequencyMethod
    from dither.estimation.quantiles import EstimatedQuantiles
    from dither.estimation.weights import Weighting
from dither.foundation.arrays import Array

MethodName = Literal["linear", "empirical bayes", "likelihood", "smoothed", "as reported"]
METHODS: Final = {  # the module in this room and the name of each
    "linear": "linear.linear",
    "empirical bayes": "distribution_methods.empirical_bayes",
    "likelihood": "distribution_methods.likelihood",
    "smoothed": "distribution_methods.smoothed",
    "as reported": "distribution_methods.as_reported",
}


def _load(location: str) -> Any:
    """Return the object of a name in a module of this room, such as "linear.linear"."""
    module, _, name = location.rpartition(".")
    return getattr(import_module(f"dither.estimation.{module}"), name)


def as_method(method: object) -> Method:
    """Return the method of a name; a `Method` object is returned unchanged."""
    if isinstance(method, Method):
        return method
    name = method.replace("_", " ") if isinstance(method, str) else method
    known = isinstance(name, str) and name in METHODS
    found: Method = _load(METHODS[str(name)] if known else choose("method", name, METHODS))
    return found


def _influence_of_mean(reports: Reports) -> Any:
    """Return each person's contribution to a mean; the module is imported when a difference needs it."""
    from dither.estimation.person_numbers import mean_influence

    return mean_influence(reports)


def _may_be_missing(summary: Reports | Counts) -> bool:
    """Return whether reports are on numbers that people may leave out: see `dt.Nullable`."""
    question = summary.question
    return bool(question.domain.optional) and may_be_missing(question)


def _of_whom(reports: Reports | Counts) -> str:
    """Return the remark that `n` includes people who did not answer, or an empty text."""
    return OF_ANSWERS if _may_be_missing(summarise(reports)) else ""


def count_numbers(reports: Reports | Counts) -> Counts:
    """Return the summary of reports on numbers; for optional numbers, the counts of people who answered."""
    summary = summarise(reports)
    return _of_answers(summary) if _may_be_missing(summary) else summarise_numbers(summary)


def _of_answers(summary: Counts) -> Counts:
    """Return the counts of people who answered an optional number; other counts are returned unchanged."""
    if not _may_be_missing(summary):
        return summary
    from dither.estimation.optional import answered_counts

    counts: Counts = answered_counts(summary)
    return counts


Named = TypeVar("Named", bound=Callable[..., object])


def _name_clipping(function: Named) -> Named:
    """Return a function whose estimates record the interval to which values were clipped."""

    @wraps(function)
    def call(reports: Reports | Counts, *args: object, **more: object) -> object:
        result = function(reports, *args, **more)
        if not isinstance(result, Estimate) or result.clipping is not None:
            return result
        known = reports.question.domain.clipping
        if known is None:
            return result
        request = function.__name__ if function.__name__ != "estimate" else usual_quantity(reports.question)
        return replace(result, clipping=replace(known, quantity=request))

    return cast("Named", call)


@overload
def mean(
    reports: Reports | Counts, *, method: MethodName = ..., weights: Weighting | None = ...
) -> Estimate: ...
@overload
def mean(
    reports: Mapping[str, Reports], *, method: MethodName = ..., weights: Weighting | None = ...
) -> GroupedEstimates: ...
@name_result
@_name_clipping
def mean(
    reports: Reports | Counts | Mapping[str, Reports],
    *,
    method: MethodName = "linear",
    weights: Weighting | None = None,
) -> Estimate | GroupedEstimates:
    """Estimate the mean of the values that people have; on a circle, their mean direction.

    For `dt.Nullable` numbers it is the mean of the people who answered; `dt.stats.response_rate` is their
    share.
    The default is unbiased for every mechanism whose E[report] is affine in the value, with any codebook.
    For others it raises `NotIdentifiable`; `method="likelihood"` estimates those and states the resolution.
    `method="as reported"` is the plain average of the reports.

    `weights` are public, one for each report, such as inverse inclusion probabilities. Then the mean is the
    population's, and its error accounts for varying weights.

    For several questions, as from `dt.Each` and `dt.data.read`, the result is a table of the means of the
    questions that have one: `dt.mean(records)["age"]`.

    >>> import dither as dt
    >>> age = dt.Podium(dt.Interval(18, 100), epsilon=1)
    >>> dt.mean(age.perturb([43] * 40_000, source=dt.Seeded(7)))
    42.7 ± 0.8 (95 %, n = 40 000)
    """
    if isinstance(reports, Mapping):
        from dither.estimation.groups import mean_of_each

        return mean_of_each(reports, lambda part: mean(part, method=method, weights=weights))
    if isinstance(reports, Reports | Counts) and "mean vector" in reports.question.quantities:
        if as_method(method) is not linear:
            raise InvalidParameter(
                f"expected no method={found(method)} for the mean of vectors, because it is linear; leave "
                "method out"
            )
        vector: Estimate = _load("vectors.mean_vector")(reports, weights)
        return vector
    if weights is not None:
        if as_method(method) is not linear:
            raise InvalidParameter(
                f"expected no method={found(method)} for a weighted mean, because it is linear; leave method "
                "out"
            )
        from dither.estimation.optional import weighted_mean_of_answers
        from dither.estimation.person_numbers import weighted_mean
        from dither.estimation.weights import check_weighted

        reported = check_weighted(reports)
        of_answers = _may_be_missing(reported)
        return weighted_mean_of_answers(reported, weights) if of_answers else weighted_mean(reported, weights)
    summary = summarise(reports)
    check_scale(summary.question)
    if _may_be_missing(summary):
        if as_method(method) is not linear:
            raise InvalidParameter(
                f"expected no method={found(method)} for the mean of an optional number, because it is "
                "linear; leave method out"
            )
        from dither.estimation.optional import answers_influence, mean_of_answers

        of_those = mean_of_answers(summary)
        if isinstance(reports, Reports) and len(reports) == summary.n and not of_those.circular:
            return replace(of_those, influence=partial(answers_influence, reports))
        return of_those
    found_mean: Estimate = estimator(as_method(method), "mean", "means")(summarise_numbers(summary))
    linear_mean = isinstance(found_mean.confidence, MeanInterval)
    if linear_mean and isinstance(reports, Reports) and len(reports) == summary.n:
        found_mean = replace(found_mean, influence=partial(_influence_of_mean, reports))
    return in_unit(found_mean, summary)


@name_result
@_name_clipping
def variance(reports: Reports | Counts, *, method: MethodName = "linear") -> Estimate:
    """Estimate the variance of the values that people have; on a circle, one minus the resultant length.

    For `dt.Nullable` numbers only people who answered count.
    """
    summary = summarise(reports)
    check_scale(summary.question)
    if _may_be_missing(summary):
        if as_method(method) is not linear:
            raise InvalidParameter(
                "expected no `method` for the variance of an optional number, because it is linear; leave "
                "it out"
            )
        from dither.estimation.optional import variance_of_answers

        return variance_of_answers(summary)
    numbers = summarise_numbers(summary)
    found: Estimate = estimator(as_method(method), "variance", "variances")(numbers)
    return replace(found, limits=(0.0, 1.0 if on_circle(number_question(numbers)) else math.inf))


@name_result
def resultant(reports: Reports | Counts, *, method: MethodName = "linear") -> Estimate:
    """Estimate the mean resultant length of directions: 1 if all are the same, 0 if they cancel."""
    summary = summarise_numbers(reports)
    question = number_question(summary)
    if not on_circle(question):
        raise InvalidParameter(
            "expected reports on a dt.Circle to estimate a resultant length, got reports on "
            f"{question.domain}"
        )
    found: Estimate = estimator(as_method(method), "resultant", "directions")(summary)
    return replace(found, limits=(0.0, 1.0))  # a length, not a share


@name_result
def frequencies(
    reports: Reports | Counts,
    *,
    method: FrequencyMethod = "linear",
    weights: Weighting | None = None,
    items: Sequence[Hashable] | None = None,
) -> EstimatedFrequencies:
    """Estimate the frequency of every category, or every item of a set, in the population, without bias.

    f = (share − q)/(p − q), where share is the part of the reports that support the category. The error has
    the variance m(1 − m)/n/(p − q)² with m = f·p + (1 − f)·q [Wang17, Thm 2], from sampling and from noise.

    For a table of probabilities (`dt.Matrix`) it is least squares: each report counts for a number whose
    expectation is 1 for the category and 0 for others. `method="likelihood"` returns the likeliest shares
    that are not negative and sum to one, for such reports and for reports of `KRR`.

    `weights` are public, one for each report, such as those of `dt.stats.rake`. `items` are the only items
    of sets to count: with very many items, a few take less time.
    """
    from dither.estimation.frequency import supported_frequencies, weighted_frequencies

    request = reports.question if isinstance(reports, Reports | Counts) else None
    # A table of probabilities, as of dt.Matrix, or of the public paths of complete paths.
    table = request is not None and (
        getattr(request.book, "shares", False) or hasattr(request.kernel, "shares_reading")
    )
    if table or method != "linear":
        if not table:
            category_question(request)
        from dither.estimation.matrices import table_frequencies

        return table_frequencies(reports, method=method, weights=weights)
    if weights is None:
        return supported_frequencies(reports, items)
    if items is not None:
        raise InvalidParameter("expected items= or weights=, got both; leave one out")
    category_question(request)
    return weighted_frequencies(reports, weights)


@name_result
def joint_frequency(reports: Reports, first: Hashable, second: Hashable) -> Estimate:
    """Estimate the share of people whose sets contain both of two items, without bias.

    This needs reports of `dt.SetResponse(…, pairs=True)`, or other reports that contain at least two items. A
    summary is not enough, because it does not record which items were reported together. The error is several
    times the error of an item.

    >>> import dither as dt
    >>> tools = dt.SetResponse(dt.Several(20, most=3), epsilon=1)
    >>> told = tools.perturb([[0, 1]] * 3_000 + [[2]] * 1_000, source=dt.Seeded(1))
    >>> joint_frequency(told, 0, 1).n
    4000
    """
    from dither.estimation.item_pairs import both_items

    return both_items(reports, first, second)


@overload
def quantile(
    reports: Reports | Counts,
    q: float,
    *,
    method: MethodName | None = ...,
    weights: Weighting | None = ...,
) -> Estimate: ...
@overload
def quantile(
    reports: Reports | Counts,
    q: Sequence[float],
    *,
    method: MethodName | None = ...,
    weights: Weighting | None = ...,
) -> EstimatedQuantiles: ...
@name_result
@_name_clipping
def quantile(
    reports: Reports | Counts,
    q: float | Sequence[float],
    *,
    method: MethodName | None = None,
    weights: Weighting | None = None,
) -> Estimate | EstimatedQuantiles:
    """Estimate a quantile: the value below which a share q of the people are. The median has q = 0.5.

    A list of shares returns a sequence of estimates, with a frame and a picture; each interval holds at its
    own level, not all together. The value comes from a smooth density with point masses. The interval
    contains the interval of the smooth density, and a fifth of the reach of `method="likelihood"`. It prints
    the width at which the density has to be smooth. `method="likelihood"` assumes nothing about the
    distribution, and is two to three times as wide; `method="empirical bayes"` uses only the smooth density.
    `weights` are public, one for each report. The interval uses the effective number of people.
    """
    if isinstance(q, list | tuple | np.ndarray):
        from dither.estimation.quantiles import EstimatedQuantiles

        if not len(q):
            raise InvalidParameter(
                "expected q to have at least one share between 0 and 1, such as [0.1, 0.5, 0.9], got none"
            )
        parts = [quantile(reports, part, method=method, weights=weights) for part in q]
        return EstimatedQuantiles.of(q, parts)
    if not (isinstance(q, int | float | np.floating) and 0.0 < q < 1.0):
        raise InvalidParameter(
            f"expected q, the share of a quantile, to be a number strictly between 0 and 1, got {found(q)}"
        )
    at = float(q)
    if weights is None:
        found_at = _quantile(count_numbers(reports), at, method)
        return replace(found_at, remark=_of_whom(reports) + found_at.remark)
    from dither.estimation.distribution_methods import count_for_quantile
    from dither.estimation.weights import as_weights, check_weighted

    reported = check_weighted(reports)
    checked = as_weights(weights, len(reported))
    answer = _quantile(count_for_quantile(reported, at, checked, _of_answers), at, method)
    remark = f"{_of_whom(reported)}, design effect {checked.design_effect:.2f}"
    return replace(answer, n=len(reported), remark=remark)


def _quantile(summary: Counts, share: float, method: MethodName | None) -> Estimate:
    if method is None and number_question(summary).line.scale:
        method = "empirical bayes"  # a scale's ends are far apart for a single answer per position
    if method is None:
        from dither.estimation.distribution_methods import cautious_quantile

        return in_unit(cautious_quantile(summary, share), summary)
    return in_unit(estimator(as_method(method), "quantile", "quantiles")(summary, share), summary)


@name_result
def distribution(
    reports: Reports | Counts,
    bins: Bins = None,
    *,
    method: MethodName = "empirical bayes",
    weights: Weighting | None = None,
) -> EstimatedDistribution:
    """Estimate how values are distributed over an interval or a circle.

    `bins` is a number of equal bins or the edges of unequal ones; by default, the error of the estimate
    determines their number. The default is a smooth density with point masses, where the reports show some.
    `method="likelihood"` is (spiky) maximum likelihood, with intervals that assume no smoothness.
    `method="smoothed"` is its smoothed version (EMS), `method="as reported"` the histogram of the reports.
    `weights` are public, one for each report. Then `n` of the result is the effective number of people.
    """
    if weights is None:
        summary = count_numbers(reports)
    else:
        from dither.estimation.weights import as_weights, check_weighted, count_weighted

        reported = check_weighted(reports)
        summary = _of_answers(count_weighted(reported, as_weights(weights, len(reported))))
        number_question(summary)
    if bins is not None:
        from dither.estimation.likelihood import edges_of

        edges_of(number_question(summary).line.shown, bins)
    shape: EstimatedDistribution = estimator(as_method(method), "distribution", "distributions")(
        summary, bins
    )
    return shape


@overload
def estimate(reports: Reports | Counts, *, weights: Weighting | None = ...) -> Estimate: ...


@overload
def estimate(
    reports: Reports, *, weights: Weighting | None = ..., person: Sequence[Hashable] | Array
) -> Estimate: ...


@overload
def estimate(
    reports: Reports,
    *,
    by: Labels | Reports,
    quantity: Quantity | None = None,
    minimum: int = MINIMUM,
    level: float = 0.95,
    weights: Weighting | None = None,
    person: Sequence[Hashable] | Array | None = None,
) -> GroupedEstimates: ...


@name_result
@_name_clipping
def estimate(
    reports: Reports | Counts,
    *,
    by: Labels | Reports | None = None,
    quantity: Quantity | None = None,
    minimum: int = MINIMUM,
    level: float = 0.95,
    weights: Weighting | None = None,
    person: Sequence[Hashable] | Array | None = None,
) -> Estimate | GroupedEstimates:
    """Estimate the usual quantity for these reports: a mean, a mean direction or frequencies.

    For reports of `Cumulative` it is the cumulative shares, for other workloads the answers.

    Without an unbiased estimate of the mean, the result is the maximum-likelihood estimate with its
    resolution.

    `by` holds a public label for each report, or several columns of labels by name. Then the result is a
    table with a row for each group; groups with fewer than `minimum` reports are left out. `quantity`
    estimates something else of each group, such as `lambda group: dt.quantile(group, 0.9)`.

    `by` may also be reports of the same people on a private category: then the mean, or the frequencies, of
    each category's people is estimated, without the noise of either question. `weights` are public, one for
    each report. `person` is a public id for each report. Differences of groups that share people, as waves
    do, are then paired, and without `by` the error accounts for several reports of a person.

    >>> import dither as dt
    >>> browser = dt.KRR(dt.Categories(["firefox", "chrome"]), epsilon=8)
    >>> estimate(browser.perturb(["chrome"] * 900 + ["firefox"] * 100, source=dt.Seeded(1)))["chrome"]
    0.900 (0.880 – 0.917) (95 %, n = 1 000)
    """
    if by is not None:
        from dither.estimation.groups import estimate_groups

        return estimate_groups(reports, by, quantity, minimum, level, weights, person, usual=estimate)
    if person is not None:
        from dither.estimation.groups import estimate_people

        return estimate_people(reports, person, weights, estimate)
    if weights is not None:
        from dither.estimation.weights import check_weighted

        reported = check_weighted(reports)
        categories = "frequencies" in reported.question.quantities
        return frequencies(reported, weights=weights) if categories else mean(reported, weights=weights)
    summary = summarise(reports)
    usual = usual_quantity(summary.question) or "mean"  # its error names the function to call instead
    try:
        answer: Estimate = QUANTITIES[usual].function(reports)
    except NotIdentifiable:
        # Ordered numbers that everybody answers may lack an unbiased mean but have a likeliest one.
        ordered = usual == "mean" and "quantile" in summary.question.quantities
        if not summary.n or not ordered or _may_be_missing(summary):
            raise
        return mean(summary, method="likelihood")
    return answer


class EstimatedQuantity(NamedTuple):
    """The function that estimates a quantity from a summary, and the name of one of its numbers."""

    function: Callable[..., Any]
    each: str


def _any_quantile(summary: Counts, share: float) -> object:
    """Estimate a quantile of numbers, or of the cumulative shares that some questions ask for."""
    if "cumulative shares" in summary.question.quantities:
        from dither.estimation.queries import cumulative

        return cumulative(summary).quantile(share)
    return quantile(summary, share)


def _late(location: str) -> Callable[..., Any]:
    """Return a function of a summary whose module is imported at the first call."""

    def estimate_quantity(summary: Counts) -> object:
        return _load(location)(summary)

    return estimate_quantity


# Every quantity that a question may have. A quantile also takes a share, and a distribution bins.
QUANTITIES: Final[dict[str, EstimatedQuantity]] = {
    "mean": EstimatedQuantity(mean, "mean"),
    "variance": EstimatedQuantity(variance, "variance"),
    "resultant": EstimatedQuantity(resultant, "resultant length"),
    "quantile": EstimatedQuantity(_any_quantile, "quantile"),
    "bounds": EstimatedQuantity(_late("bounds.bounds"), "bound"),
    "distribution": EstimatedQuantity(distribution, "share of a bin"),
    "frequencies": EstimatedQuantity(frequencies, "frequency"),
    "sizes": EstimatedQuantity(_late("frequency.sizes_of_sets"), "sizes"),
    "response rate": EstimatedQuantity(_late("optional.response_rate"), "response rate"),
    "cumulative shares": EstimatedQuantity(_late("queries.cumulative"), "cumulative share"),
    "moments": EstimatedQuantity(_late("moments.moments"), "moment"),
    "answers": EstimatedQuantity(_late("queries.answers"), "answer"),
    "mean vector": EstimatedQuantity(_late("vectors.mean_vector"), "coordinate"),
}
