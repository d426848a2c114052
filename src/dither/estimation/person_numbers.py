"""Unbiased numbers for each person, read from reports.

Given a person's answer, the number read from the report has the answer as its expectation. The noise of two
questions is independent given the answers. So the product of such numbers has the product of the answers as
its expectation, and averages of products estimate joint quantities without bias.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from dither.core.counts import Counts, name_result
from dither.core.kernels.counting import LeadingBits
from dither.core.question import CategoryQuestion, NumberQuestion, Question
from dither.core.reports import Reports
from dither.errors import InvalidParameter, NotIdentifiable
from dither.estimation.estimate import Estimate
from dither.estimation.linear import squared_reading, unbiased_reading
from dither.estimation.method import category_question, has_numbers, on_circle
from dither.estimation.weights import as_weights, check_weighted, influences, student
from dither.foundation.arrays import Floats

_BLOCK: Final = 1 << 21  # numbers that are held at a time
MOST_CATEGORIES: Final = 4096


def check_pair(first: Reports, second: Reports) -> int:
    """Return the number of people; raise unless both are reports of the same people, of independent noise."""
    _check_reports(first)
    _check_reports(second)
    if first is second or first.cells is second.cells:
        raise InvalidParameter("these are the same reports twice: their noise is not independent")
    if len(first) != len(second):
        raise InvalidParameter(
            f"every person needs a report of both questions: there are {len(first)} and {len(second)}"
        )
    if len(first) < 3:
        raise NotIdentifiable("two questions together need the reports of at least three people")
    return len(first)


def _check_reports(reports: object) -> None:
    if not isinstance(reports, Reports):
        raise InvalidParameter(
            "two questions together need the reports of both, in the same order of people, not "
            f"{type(reports).__name__}; a summary has lost the order"
        )
    if not reports.question.alone:
        raise InvalidParameter(
            f"the reports of {reports.question.name} are correlated between people; "
            "use a mechanism of one person"
        )


def check_one_answer(question: Question) -> None:
    """Raise InvalidParameter for sets of items, whose shares do not sum to one."""
    if question.domain.sets:
        raise InvalidParameter(
            "people with sets of items have several answers or none, so there is no such test; compare items "
            "by dt.stats.difference, and pairs of items by dt.stats.joint_frequency"
        )


def protocol_of(reports: Reports) -> CategoryQuestion:
    """Return the question of reports on categories."""
    if "frequencies" not in reports.question.quantities:
        raise InvalidParameter(
            f"a table needs reports on categories, not those of {reports.question.name}; "
            "dt.correlation and dt.regression are for numbers"
        )
    protocol = category_question(reports.question)
    check_one_answer(protocol)
    if len(protocol.categories) > MOST_CATEGORIES:
        raise InvalidParameter(f"a table has at most {MOST_CATEGORIES} categories on a side")
    return protocol


def indicators(reports: Reports) -> Floats:
    """Return for each person and category a number with mean 1 if it is the person's answer, else 0.

    (1 − q)/(p − q) if the report supports the category, −q/(p − q) otherwise [Wang17, Thm 2].
    """
    protocol = protocol_of(reports)
    size = len(protocol.categories)
    if protocol.one_category:
        supported = reports.cells.reshape(-1, 1) == np.arange(size)
    else:
        supported = np.asarray(protocol.decode(reports.cells)).reshape(-1, size)
    return np.asarray((supported - protocol.q) / protocol.gap)


def blocks(people: int, width: int) -> Iterator[slice]:
    """Yield ranges of people, each of a bounded number of numbers."""
    step = max(_BLOCK // width, 1)
    for begin in range(0, people, step):
        yield slice(begin, begin + step)


def interval_question(reports: Reports) -> NumberQuestion:
    """Return the question of reports on an interval."""
    question = reports.question
    if not has_numbers(question) or on_circle(question):
        raise InvalidParameter(
            f"reports on an interval are needed, not those of {question.name} on "
            f"{question.domain}; dt.crosstab is for categories"
        )
    return question


def numbers(reports: Reports) -> Floats:
    """Return for each person a number whose mean is the person's value, less the middle of the domain."""
    question = interval_question(reports)
    reading = unbiased_reading(question)
    cells = reports.cells.reshape(-1)
    counting = question.counting
    values = reading.values - (question.line.low + question.line.high) / 2.0
    if not isinstance(counting, LeadingBits):
        return np.asarray(values[cells])
    rest = (cells & cells.dtype.type((1 << counting.rest) - 1)).astype(np.float64)
    return np.asarray(values[cells >> counting.rest] + reading.cut * (rest - reading.half))


@name_result
def weighted_mean(reports: Reports | Counts, weights: object) -> Estimate:
    """Estimate the mean of a population from people with public weights, such as inverse chances.

    Σ w·y/Σ w, where y is the number whose mean over the noise is the person's value.
    """
    told = check_weighted(reports)
    line = interval_question(told).line
    checked = as_weights(weights, len(told))
    mean, moved = influences(numbers(told), checked)
    interval = student((line.low + line.high) / 2.0 + mean, moved, checked)
    return Estimate.of(
        interval,
        told.question.guarantee,
        influence=moved,
        unit=line.unit,
        limits=(line.low, line.high),
        remark=f", design effect {checked.design_effect:.2f}",
    )


def mean_influence(reports: Reports) -> Floats:
    """Return how much each person moves the mean of all."""
    told = numbers(reports)
    return np.asarray(told - told.mean())


def squares(reports: Reports) -> Floats:
    """Return for each person a number whose mean is the squared distance of the value to the middle."""
    question = interval_question(reports)
    gaps = unbiased_reading(question, plain=True).values - (question.line.low + question.line.high) / 2.0
    counting = question.counting
    cells = reports.cells.reshape(-1)
    groups = cells >> counting.rest if isinstance(counting, LeadingBits) else cells
    return np.asarray(squared_reading(question, gaps)[groups])
