"""Numbers for each person whose expectation, given the person's answer, is the answer itself.

The noise of two questions is independent given the answers. So the product of such numbers has the product of
the answers as its expectation, and averages of products estimate joint quantities without bias.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from dither.arrays import Floats
from dither.domains import Circle
from dither.errors import InvalidParameter, NotIdentifiable
from dither.estimation.linear import squared_reading, unbiased_reading
from dither.kernels.counting import LeadingBits
from dither.question import CategoryQuestion, NumberQuestion
from dither.reports import Reports

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


def protocol_of(reports: Reports) -> CategoryQuestion:
    """Return the mechanism of reports on categories."""
    protocol = reports.question
    if not isinstance(protocol, CategoryQuestion):
        raise InvalidParameter(
            f"a table needs reports on categories, not those of {protocol.name}; "
            "dt.correlation and dt.regression are for numbers"
        )
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


def number_mechanism(reports: Reports) -> NumberQuestion:
    """Return the mechanism of reports on an interval."""
    mechanism = reports.question
    if not isinstance(mechanism, NumberQuestion) or isinstance(mechanism.line, Circle):
        raise InvalidParameter(
            f"reports on an interval are needed, not those of {mechanism.name} on "
            f"{mechanism.domain}; dt.crosstab is for categories"
        )
    return mechanism


def numbers(reports: Reports) -> Floats:
    """Return for each person a number whose mean is the person's value, less the middle of the domain."""
    mechanism = number_mechanism(reports)
    reading = unbiased_reading(mechanism)
    cells = reports.cells.reshape(-1)
    counting = mechanism.counting
    values = reading.values - (mechanism.line.low + mechanism.line.high) / 2.0
    if not isinstance(counting, LeadingBits):
        return np.asarray(values[cells])
    rest = (cells & cells.dtype.type((1 << counting.rest) - 1)).astype(np.float64)
    return np.asarray(values[cells >> counting.rest] + reading.cut * (rest - reading.half))


def squares(reports: Reports) -> Floats:
    """Return for each person a number whose mean is the squared distance of the value to the middle."""
    mechanism = number_mechanism(reports)
    gaps = unbiased_reading(mechanism).values - (mechanism.line.low + mechanism.line.high) / 2.0
    counting = mechanism.counting
    cells = reports.cells.reshape(-1)
    groups = cells >> counting.rest if isinstance(counting, LeadingBits) else cells
    return np.asarray(squared_reading(mechanism, gaps)[groups])
