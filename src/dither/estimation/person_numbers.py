"""Unbiased numbers for each person, decoded from reports.

Given a person's answer, the number decoded from the report has the answer as its expectation. The noise of
two questions is independent given the answers. So the product of such numbers has the product of the answers
as its expectation, and averages of products estimate joint quantities without bias.

An optional number has three decodings, for r (1 with an answer, else 0), r·y and r·y². A product of the
decodings of several such questions is about the people who answered all of them, and a ratio of two averages
is a mean over these people.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, cast

import numpy as np

from dither.core.counts import Counts, name_result
from dither.core.domains import Line
from dither.core.domains.ranges import Clipping
from dither.core.kernels.counting import LeadingBits
from dither.core.question import CategoryQuestion, NumberQuestion, OptionalQuestion, Question
from dither.core.reports import Reports
from dither.errors import InvalidParameter, NotIdentifiable
from dither.estimation.estimate import Estimate
from dither.estimation.linear import (
    MeanVector,
    length_factor,
    squared_reading,
    unbiased_reading,
    unit_vectors,
)
from dither.estimation.method import category_question, check_scale, has_numbers, may_be_missing, on_circle
from dither.estimation.reading import OptionalReading, optional_reading
from dither.estimation.weights import as_weights, check_weighted, entries_of, influences, student
from dither.foundation.arrays import Floats

_BLOCK: Final = 1 << 21  # largest number of array elements in a block
MOST_CATEGORIES: Final = 4096


def check_pair(first: Reports, second: Reports) -> int:
    """Return the number of people; raise unless the reports are of the same people with independent noise."""
    _check_reports(first)
    _check_reports(second)
    if first is second or first.cells is second.cells:
        raise InvalidParameter(
            "expected reports of two questions, got the same reports twice, whose noise is not independent"
        )
    if len(first) != len(second):
        raise InvalidParameter(
            f"expected a report of both questions from every person, got {len(first)} and {len(second)} "
            "reports"
        )
    if len(first) < 3:
        raise NotIdentifiable(
            "expected the reports of at least three people for two questions together, got fewer"
        )
    return len(first)


def _check_reports(reports: object) -> None:
    if not isinstance(reports, Reports):
        raise InvalidParameter(
            "expected the reports of both questions, in the same order of people, got "
            f"{type(reports).__name__} without the order; pass the reports"
        )
    if not reports.question.alone:
        raise InvalidParameter(
            f"expected reports that are independent between people, got reports of {reports.question.name}; "
            "use a mechanism of one person"
        )


def check_one_answer(question: Question) -> None:
    """Raise InvalidParameter for sets of items, whose shares do not sum to one."""
    if question.domain.sets:
        raise InvalidParameter(
            "expected a question with one answer for each person, got sets of items; compare items by "
            "dt.stats.difference, and pairs of items by dt.stats.joint_frequency"
        )


def clipping_of(quantity: str, columns: Mapping[str, object]) -> Clipping | None:
    """Return how the numbers of reports are clipped, by name, or None if they are not clipped."""
    known: dict[str, Clipping | None] = {}
    for name, reports in columns.items():
        if isinstance(reports, Reports | Counts):
            domain = reports.question.domain
            sides = zip(getattr(domain, "names", ()), getattr(domain, "sides", ()), strict=False)
            known |= {side: line.clipping for side, line in sides} or {name: domain.clipping}
    return Clipping.of_numbers(known, quantity)


def protocol_of(reports: Reports) -> CategoryQuestion:
    """Return the question of reports on categories."""
    if "frequencies" not in reports.question.quantities:
        raise InvalidParameter(
            f"expected reports on categories, got reports of {reports.question.name}; "
            "dt.stats.correlation and dt.stats.regression are for numbers"
        )
    protocol = category_question(reports.question)
    check_one_answer(protocol)
    if len(protocol.categories) > MOST_CATEGORIES:
        raise InvalidParameter(
            f"expected at most {MOST_CATEGORIES} categories on a side of a table; join rare categories"
        )
    return protocol


def indicators(reports: Reports) -> Floats:
    """Return, for each person and category, a number with mean 1 if it is the person's answer, else 0.

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
    """Yield ranges of people with a bounded number of array elements."""
    step = max(_BLOCK // width, 1)
    for begin in range(0, people, step):
        yield slice(begin, begin + step)


def interval_question(reports: Reports) -> NumberQuestion:
    """Return the question of reports on an interval."""
    question = reports.question
    if not has_numbers(question) or on_circle(question):
        circle = question.domain.line is not None and question.domain.line.circular
        instead = "dt.mean estimates mean directions" if circle else "dt.stats.crosstab is for categories"
        raise InvalidParameter(
            f"expected reports on an interval, got reports of {question.name} on {question.domain}; {instead}"
        )
    return question


@dataclass(frozen=True, eq=False)
class PersonNumbers:
    """Each person's decoded number: decodings with the means r, r·y and r·y².

    y is the person's value minus the middle of the domain. r is 1 for a person who answered, and 0 for a
    person who left an optional number out. `optional` is True if the number is optional.
    """

    reports: Reports
    line: Line
    optional: bool

    @classmethod
    def of(cls, reports: Reports) -> PersonNumbers:
        """Return the decodings of reports on an interval, optional or not."""
        question = reports.question
        check_scale(question)
        if not may_be_missing(question) or question.line.circular:
            return cls(reports, interval_question(reports).line, False)
        if optional_reading(question.kernel) is None:
            raise NotIdentifiable(
                "expected numbers of a mechanism for means (Podium, PM, SW) for means of those who "
                f"answered, got {question.name} on {question.domain}"
            )
        return cls(reports, question.line, True)

    @property
    def middle(self) -> float:
        """The middle of the domain."""
        return (self.line.low + self.line.high) / 2.0

    @cached_property
    def answered(self) -> Floats:
        """The decodings of r; all are 1 if the number is not optional."""
        if not self.optional:
            return np.ones(len(self.reports))
        return self._read(self._reading.answered)

    @cached_property
    def value(self) -> Floats:
        """The decodings of r·y."""
        if not self.optional:
            return numbers(self.reports)
        return self._read(self._reading.values) - (self.middle - self.line.low) * self.answered

    @cached_property
    def square(self) -> Floats:
        """The decodings of r·y²."""
        if not self.optional:
            return squares(self.reports)
        half = self.middle - self.line.low
        reported = self._read(self._reading.squares)
        return np.asarray(reported - 2.0 * half * self.value - half**2 * self.answered)

    @property
    def _reading(self) -> OptionalReading:
        question = cast("OptionalQuestion", self.reports.question)
        return cast(OptionalReading, optional_reading(question.kernel))  # not None: checked by `of`

    def _read(self, reading: Floats) -> Floats:
        return np.asarray(reading[self.reports.cells.reshape(-1)])


def answered_all(parts: Sequence[PersonNumbers]) -> Floats:
    """Return, for each person, a number with mean 1 if the person answered all questions, otherwise 0."""
    reported = np.ones(len(parts[0].reports))
    for part in parts:
        reported = reported * part.answered
    share, error = float(reported.mean()), float(reported.std()) / math.sqrt(reported.size)
    if not share > error:
        raise NotIdentifiable(
            "too few people answered all of these questions; dt.stats.response_rate estimates how many "
            "answered"
        )
    return reported


def numbers(reports: Reports) -> Floats:
    """Return, for each person, a number whose mean is the person's value minus the middle of the domain."""
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
    reported = check_weighted(reports)
    if has_numbers(reported.question) and on_circle(reported.question):
        return weighted_direction(reported.question, reported, weights)
    line = interval_question(reported).line
    checked = as_weights(weights, len(reported))
    mean, moved = influences(numbers(reported), checked)
    interval = student((line.low + line.high) / 2.0 + mean, moved, checked)
    return Estimate.of(
        interval,
        reported.question.guarantee,
        influence=moved,
        unit=line.unit,
        limits=(line.low, line.high),
        remark=f", design effect {checked.design_effect:.2f}",
    )


def weighted_direction(question: NumberQuestion, reports: Reports, weights: object) -> Estimate:
    """Estimate the mean direction of a population from people with public weights."""
    length_factor(question)  # this call raises if the direction would be biased
    checked = as_weights(weights, len(reports))
    vectors = unit_vectors(question)[entries_of(reports)]
    east, moved_east = influences(vectors.real, checked)
    north, moved_north = influences(vectors.imag, checked)
    mean = complex(east, north)
    angle, size, n = math.atan2(north, east), abs(mean), len(checked)
    turned = (moved_east + 1j * moved_north) * complex(math.cos(angle), -math.sin(angle))
    along, across = (student(0.0, part, checked) for part in (turned.real, turned.imag))
    both = float((turned.real * turned.imag).mean()) / max(n - 1, 1)
    vector = MeanVector(angle, size, float(along.error), float(across.error), both)
    value, error, interval = vector.direction(n, question.line.length)
    return Estimate(
        value,
        error,
        n,
        question.guarantee,
        confidence=replace(interval, condition=across.condition),
        unit=question.line.unit,
        remark=f", design effect {checked.design_effect:.2f}",
    )


def mean_influence(reports: Reports) -> Floats:
    """Return each person's influence on the mean."""
    reported = numbers(reports)
    return np.asarray(reported - reported.mean())


def squares(reports: Reports) -> Floats:
    """Return, for each person, a number whose mean is the squared distance of the value to the middle."""
    question = interval_question(reports)
    gaps = unbiased_reading(question, plain=True).values - (question.line.low + question.line.high) / 2.0
    counting = question.counting
    cells = reports.cells.reshape(-1)
    groups = cells >> counting.rest if isinstance(counting, LeadingBits) else cells
    return np.asarray(squared_reading(question, gaps)[groups])
