"""`Method`: a way to estimate quantities, and checks that reports suit a method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, TypeGuard

from dither.core.counts import Counts, summarise
from dither.core.question import CategoryQuestion, NumberQuestion, OptionalQuestion, Question
from dither.core.reports import Reports
from dither.errors import InvalidParameter, NotIdentifiable
from dither.estimation.estimate import Estimate

MINIMUM: Final = 100  # default minimum of reports; smaller groups are left out
# Advice for questions without numbers that everybody answers, by their usual quantity.
_NO_NUMBERS: Final = {
    "answers": "expected reports of numbers, got reports of {name} about queries; call "
    "dt.stats.answers(reports)",
    "cumulative shares": "expected numbers, got cumulative shares of {name}; call dt.cumulative(reports), "
    "and .quantile(0.5) or .cdf(x) of its result; for a mean ask by Podium or dt.recommend's choice",
    "mean": "expected dt.mean, dt.variance, dt.quantile, dt.distribution or "
    "dt.stats.response_rate on {domain}; other quantities need numbers that everybody answers",
}
_OTHERWISE: Final = (
    "expected reports on an interval or a circle, got reports of {name}; dt.frequencies is for "
    "categories, dt.maps.density for places, dt.maps.joint for several numbers"
)


class Method:
    """A way to estimate quantities of the values from counts of reports.

    A subclass defines some of these quantities, each as a function of a summary: `mean`, `variance`,
    `resultant` (the length of the mean direction), `quantile` of a share, and `distribution` over bins.
    """


def estimator(method: Method, quantity: str, plural: str) -> Callable[..., Any]:
    """Return a method's function for a quantity; raise InvalidParameter if the method does not have it."""
    function: Callable[..., Any] | None = getattr(method, quantity, None)
    if function is None:
        raise InvalidParameter(
            f"expected a method that estimates {plural}, got {method!r}; leave `method` out to use the "
            "default"
        )
    return function


def usual_quantity(question: Question) -> str:
    """Return the name of the question's usual quantity in `dt.estimate`, or "" if it does not have one."""
    return next(iter(question.quantities), "")


def has_numbers(question: Question) -> TypeGuard[NumberQuestion]:
    """Return whether a question is about a number, or a direction, that everybody answers."""
    return isinstance(question, NumberQuestion)


def check_scale(question: Question) -> None:
    """Raise NotIdentifiable for numbers on a scale, because the scale changes a mean."""
    line = question.domain.line
    if line is not None and line.scale:
        raise NotIdentifiable(
            "expected numbers in their unit, got positions on a scale: quantiles and a distribution are "
            "estimated from these; dt.bounds(reports) is the interval on which other people can be asked "
            "for a mean"
        )


def may_be_missing(question: Question) -> TypeGuard[OptionalQuestion]:
    """Return whether a question is about a number that people may leave out, as in `dt.Nullable`."""
    return bool(question.domain.optional) and usual_quantity(question) in ("mean", "bounds")


def number_question(summary: Counts) -> NumberQuestion:
    """Return the question of a summary; raise if its domain is not an interval or a circle."""
    question = summary.question
    if not has_numbers(question):
        text = _NO_NUMBERS.get(usual_quantity(question), _OTHERWISE)
        raise InvalidParameter(text.format(name=question.name, domain=question.domain))
    return question


def category_question(question: object) -> CategoryQuestion:
    """Return a question whose reports support categories; raise InvalidParameter for any other question."""
    if not isinstance(question, CategoryQuestion):
        name = question.name if isinstance(question, Question) else "something else"
        if getattr(getattr(question, "book", None), "shares", False):  # a table of probabilities
            raise InvalidParameter(
                "expected reports that support categories with two rates, such as those of KRR and OLH, got "
                f"reports of the table of {name}; use dt.frequencies, dt.estimate or dt.stats.answers"
            )
        raise InvalidParameter(
            "expected reports on categories for frequencies, such as those of KRR or OLH, got reports of "
            f"{name}; use dt.distribution for numbers"
        )
    return question


def summarise_numbers(reports: Reports | Counts) -> Counts:
    """Return the summary of reports on numbers; raise if there is nothing to estimate."""
    summary = summarise(reports)
    number_question(summary)
    if summary.n == 0:
        raise NotIdentifiable("expected at least one report, got 0")
    return summary


def in_unit(answer: Estimate, summary: Counts) -> Estimate:
    """Return an estimate on the scale of the values with the unit of their domain."""
    unit = number_question(summary).line.unit
    return replace(answer, unit=unit) if unit else answer


def on_circle(question: NumberQuestion) -> bool:
    """Return whether the values are directions."""
    return question.line.circular
