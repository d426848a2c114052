"""Differences between groups, with intervals and p-values that hold for all of them together."""

from __future__ import annotations

from collections.abc import Hashable, ItemsView, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from dither.errors import InvalidParameter, found, unknown_name
from dither.estimation.api import estimate
from dither.estimation.comparison.arithmetic import joint_level
from dither.estimation.comparison.groups import GroupedEstimates
from dither.estimation.estimate import Estimate
from dither.estimation.frequency import EstimatedFrequencies
from dither.estimation.summary import Summary
from dither.reports import Reports
from dither.table import ResultTable

Groups = GroupedEstimates | Mapping[Any, Estimate | Reports | Summary]

MOST_COMPARISONS: Final = 100_000


@dataclass(frozen=True, eq=False, repr=False)
class Differences(ResultTable):
    """Differences of pairs of groups: first less second, with joint intervals and adjusted p-values.

    All intervals hold at once with probability `level` (Bonferroni). If the rows whose `p` is at most α are
    rejected, any of them is rejected wrongly with probability at most α (Holm). `differences["A", "B"]` is
    one estimate, with an interval of its own.
    """

    estimates: Mapping[tuple[Hashable, ...], Estimate] = field(default_factory=dict)
    level: float = 0.95

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, int):
            return self.rows[key]
        try:
            return self.estimates[key]
        except (KeyError, TypeError):
            raise unknown_name("difference", str(key), map(str, self.estimates)) from None

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        head, cells = super()._cells()
        for line, row in zip(cells, self.rows, strict=True):
            line[-1] = "<1e-9" if row["p"] < 1e-9 else f"{row['p']:.2g}"
        return head, cells

    def items(self) -> ItemsView[tuple[Hashable, ...], Estimate]:
        """Return the names of the pairs with their differences."""
        return self.estimates.items()


def difference(groups: Groups, *, baseline: Hashable = None, level: float = 0.95) -> Differences:
    """Return the differences between all pairs of groups, or between each group and the `baseline`.

    The groups are a result of `dt.estimate(…, by=…)`, or a mapping from names to estimates, summaries or
    reports of different people. With two groups this is an A/B test.

    >>> import dither as dt
    >>> asked = dt.KRR(dt.Categories(["no", "yes"]), epsilon=2)
    >>> old = asked.reports([0] * 600 + [1] * 400)
    >>> new = asked.reports([0] * 500 + [1] * 500)
    >>> test = difference({"new": dt.frequencies(new)["yes"], "old": dt.frequencies(old)["yes"]})
    >>> test["new", "old"]
    0.13 ± 0.06 (95 %, n = 2 000)
    """
    given = estimates_of(groups)
    if baseline is None:
        pairs = list(combinations(given, 2))
    else:
        if baseline not in given:
            raise unknown_name("group", baseline, map(str, given))
        pairs = [(label, baseline) for label in given if label != baseline]
    gaps: dict[tuple[Hashable, ...], Estimate] = {}
    for first, second in pairs:
        gap: Any = given[first] - given[second]
        parts = [((answer,), gap[answer]) for answer in gap.labels] if np.ndim(gap.value) else [((), gap)]
        for more, part in parts:
            gaps[first, second, *more] = part
        if len(gaps) > MOST_COMPARISONS:
            raise InvalidParameter(
                f"there are more than {MOST_COMPARISONS} comparisons; give a baseline or fewer groups"
            )
    each = joint_level(level, len(gaps))
    p_values = [part.p_value() for part in gaps.values()]
    rows = []
    for (key, part), p in zip(gaps.items(), holm(p_values), strict=True):
        names = dict(zip(("first", "second", "answer"), key, strict=False))
        low, high = part.interval(each)
        rows.append({**names, "value": float(part.value), "low": float(low), "high": float(high), "p": p})
    return Differences(_title(len(rows), level), tuple(rows), MappingProxyType(gaps), level)


def holm(p_values: list[float]) -> list[float]:
    """Return p-values adjusted for their number by Holm's step-down method [Holm79]."""
    order = np.argsort(p_values, kind="stable")
    scaled = np.asarray(p_values)[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return [float(p) for p in adjusted]


def _title(count: int, level: float) -> str:
    if count == 1:
        return f"Difference of two groups: {100 * level:g} % interval, p-value in both directions"
    return (
        f"{count} differences: intervals hold together with {100 * level:g} % (Bonferroni), "
        "p-values are adjusted for their number (Holm)"
    )


def estimates_of(groups: object) -> Mapping[Hashable, Estimate]:
    """Return the estimates of at least two groups, by label."""
    if isinstance(groups, GroupedEstimates):
        given = groups.estimates
    elif isinstance(groups, Mapping):
        given = {
            label: group if isinstance(group, Estimate) else estimate(_reports(group))
            for label, group in groups.items()
        }
    else:
        raise InvalidParameter(
            "groups are the result of dt.estimate(reports, by=labels), or a mapping from names to estimates, "
            f"not {found(groups)}"
        )
    if len(given) < 2:
        raise InvalidParameter(f"a difference needs at least two groups, not {len(given)}")
    for group in given.values():
        if np.ndim(group.value) and not isinstance(group, EstimatedFrequencies):
            raise InvalidParameter("the estimate of a group is one number, or frequencies")
    return given


def _reports(group: object) -> Reports | Summary:
    if not isinstance(group, Reports | Summary):
        raise InvalidParameter(f"a group is an estimate, a summary or reports, not {type(group).__name__}")
    return group
