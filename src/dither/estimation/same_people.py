"""Correlated errors, numbers of people and guarantees of estimates of the same people.

Sums and ratios are represented by their leaves: the estimates that are not sums or ratios themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce, wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

import numpy as np

from dither.core.people import People, count_people, overlap, shared_rows, unknown_overlap
from dither.errors import InvalidParameter
from dither.privacy import Guarantee

if TYPE_CHECKING:
    from dither.estimation.estimate import Estimate

Given = ParamSpec("Given")


class _Result(Protocol):
    """The result of an estimation."""

    @property
    def people(self) -> People:
        """The people who sent the reports, if they are known."""


Self = TypeVar("Self", bound=_Result)


def with_people(
    method: Callable[Concatenate[Self, Given], Estimate],
) -> Callable[Concatenate[Self, Given], Estimate]:
    """Return the method with `people` of the result copied to its estimates, unless they have their own."""

    @wraps(method)
    def call(self: Self, /, *args: Given.args, **more: Given.kwargs) -> Estimate:
        estimate = method(self, *args, **more)
        return estimate if estimate.people else replace(estimate, people=self.people)

    return call


def leaf_correlation(first: Estimate, second: Estimate) -> object:
    """Return the correlation of the errors of two leaves: 0 if they have no people in common."""
    if first is second:
        return 1.0
    if unknown_overlap(first.people, second.people):
        raise InvalidParameter(
            "expected the ids of people who may have sent several of these reports, got none; pass them: "
            "dt.estimate(reports, by=wave, person=ids)"
        )
    if not shares_people(first, second):
        return 0.0
    if np.ndim(first.value) and first.labels and first.labels == second.labels:
        return np.array([leaf_correlation(first[label], second[label]) for label in first.labels])
    a, b = first.moved_by, second.moved_by
    if a is None or b is None:
        raise _same_people()
    size = math.sqrt(float(a @ a) * float(b @ b))
    if first.people and second.people and first.people is not second.people:
        here, there = shared_rows(first.people, second.people)
        if len(first.people) > 1 or len(second.people) > 1:
            # Reports of several questions name each person once for each question, in the same order.
            here, there = np.unique(np.stack([here % a.size, there % b.size]), axis=1)
        a, b = a[here], b[there]
    return min(max(float(a @ b) / size, -1.0), 1.0) if size > 0.0 else 0.0


def shares_people(first: Estimate, second: Estimate) -> bool:
    """Return whether a known person contributed to both estimates."""
    stands = [estimate if estimate.origin is None else estimate.origin for estimate in (first, second)]
    if stands[0] is stands[1]:
        return True
    return bool(first.people and second.people) and overlap(first.people, second.people)


def _same_people() -> InvalidParameter:
    return InvalidParameter(
        "these estimates are of the same people, and how their errors go together is not known for them; "
        "means and frequencies can be combined if they come from the reports (dt.mean(reports[rows]), not "
        "from counts or groups), estimates of different people always, answers to one question by "
        "f.sum([...]) and f.score({...}), and shares of a distribution by shape.share(first, last)"
    )


def count_of(leaves: Sequence[Estimate]) -> int:
    """Return the number of people of some estimates; known people are counted once."""
    distinct = _distinct(leaves)
    known = [part for part in distinct if _covers(part)]
    others = sum(part.n for part in distinct if not any(part is other for other in known))
    return others + count_people([crowd for part in known for crowd in part.people])


def _covers(part: Estimate) -> bool:
    """Return whether the known people of an estimate sent all of its reports."""
    rows = sum(crowd.n for crowd in part.people)
    return bool(part.people) and (part.n == rows or part.n == count_people(part.people))


def _distinct(parts: Sequence[Estimate]) -> list[Estimate]:
    """Return one estimate for each origin."""
    return list({id(part if part.origin is None else part.origin): part for part in parts}.values())


def guarantee_of(leaves: Sequence[Estimate]) -> Guarantee:
    """Return the guarantee of each person, composed for a person who sent several reports."""
    reports: list[Estimate] = []  # one estimate for each set of reports
    for leaf in _distinct(leaves):
        if not any(_same_reports(leaf, other) for other in reports):
            reports.append(leaf)
    groups: list[list[Estimate]] = []
    for leaf in reports:
        same = next((group for group in groups if any(shares_people(leaf, member) for member in group)), None)
        if same is None:
            groups.append([leaf])
        else:
            same.append(leaf)
    composed = [group[0].guarantee.compose(*(member.guarantee for member in group[1:])) for group in groups]
    return reduce(Guarantee.either, dict.fromkeys(composed))


def _same_reports(first: Estimate, second: Estimate) -> bool:
    """Return whether two estimates of the same people use the same reports."""
    marks = [{(crowd.token, crowd.part) for crowd in estimate.people} for estimate in (first, second)]
    return bool(marks[0]) and marks[0] == marks[1] and shares_people(first, second)
