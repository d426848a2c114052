"""The interface of an estimation method: an object with a function for each quantity that it estimates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from dither.domains import Circle
from dither.errors import InvalidParameter, NotIdentifiable, found
from dither.estimation.estimate import Estimate
from dither.estimation.summary import Summary, summarise
from dither.question import NumberQuestion
from dither.reports import Reports


class Method:
    """A way to estimate quantities of the values from counts of reports.

    A subclass defines those that it can, each as a function of a summary: `mean`, `variance`, `resultant`
    (the length of the mean direction), `quantile` of a share, and `distribution` over bins.
    """


def estimator(method: Method, quantity: str, plural: str) -> Callable[..., Any]:
    """Return the function by which a method estimates a quantity; raise InvalidParameter if it has none."""
    function: Callable[..., Any] | None = getattr(method, quantity, None)
    if function is None:
        raise InvalidParameter(
            f"{method!r} does not estimate {plural}; leave `method` out to use the default"
        )
    return function


def summarise_numbers(reports: Reports | Summary, method: Method) -> Summary:
    """Return the summary of reports on numbers; raise if there is nothing to estimate."""
    if not isinstance(method, Method):
        raise InvalidParameter(
            f"a method is an object such as dt.linear, dt.likelihood or dt.as_reported, not {found(method)}"
        )
    summary = summarise(reports)
    numerical(summary)
    if summary.n == 0:
        raise NotIdentifiable("there are no reports, so nothing can be estimated")
    return summary


def in_unit(answer: Estimate, summary: Summary) -> Estimate:
    """Return an estimate on the scale of the values with the unit of their domain."""
    unit = numerical(summary).line.unit
    return replace(answer, unit=unit) if unit else answer


def numerical(summary: Summary) -> NumberQuestion:
    """Return the mechanism of a summary; raise if its domain is not an interval or a circle."""
    if not isinstance(summary.question, NumberQuestion):
        raise InvalidParameter(
            "this estimate needs reports on an interval or a circle, not those of "
            f"{summary.question.name}; dt.frequencies is for categories, "
            "dt.maps.density for places"
        )
    return summary.question


def on_circle(mechanism: NumberQuestion) -> bool:
    """Return whether the values are directions."""
    return isinstance(mechanism.line, Circle)
