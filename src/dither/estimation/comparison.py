"""Differences between groups and pooled estimates, with simultaneous intervals and adjusted p-values."""

from __future__ import annotations

import math
from collections.abc import Hashable, ItemsView, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dither.core.counts import Counts
from dither.core.domains import finite
from dither.core.people import People, overlap
from dither.core.reports import Reports
from dither.errors import DitherError, InvalidParameter, Mismatch, NotIdentifiable, found, unknown_name
from dither.estimation.estimate import Alternative, Estimate, joint_level, weighted_sum
from dither.estimation.frequency import EstimatedFrequencies
from dither.estimation.groups import (
    GroupCounts,
    GroupedEstimates,
    check_minimum,
    keep_groups,
    order_of,
)
from dither.estimation.method import usual_quantity
from dither.estimation.rounding import SHARE, remark_of
from dither.estimation.same_people import shares_people
from dither.estimation.significance import Significance
from dither.estimation.verbs import estimate, frequencies, mean
from dither.foundation.numerics.distributions import f_survival
from dither.foundation.tables import ResultTable, show_group, show_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Groups = GroupedEstimates | Mapping[Any, Estimate | Reports | Counts]

MOST_COMPARISONS: Final = 100_000


@dataclass(frozen=True, eq=False, repr=False)
class Differences(ResultTable):
    """Differences of pairs of groups: first less second, with joint intervals and adjusted p-values.

    All intervals hold together with probability `level` (Bonferroni). If the rows whose `p` is at most α are
    rejected, any of them is rejected wrongly with probability at most α (Holm). `differences["A", "B"]` is
    one estimate, with an interval of its own.
    """

    estimates: Mapping[tuple[Hashable, ...], Estimate] = field(default_factory=dict)
    level: float = 0.95

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, int):
            return self.rows[key]
        try:
            return self.estimates[key if isinstance(key, tuple) else (key,)]
        except (KeyError, TypeError):
            raise unknown_name("difference", str(key), map(str, self.estimates)) from None

    def plot(self, *, title: str = "", ax: Axes | None = None) -> Axes:
        """Draw the differences with their joint intervals, and return the axes; needs the extra `plot`."""
        from dither.foundation.plotting import draw_rows

        name = title or self.about
        how = f"intervals hold together with {100 * self.level:g} %"
        about = f"{name}\n{how}" if name else f"Differences: {how}"
        return draw_rows(self.rows, title=about, x="first less second", zero=True, ax=ax)

    def items(self) -> ItemsView[tuple[Hashable, ...], Estimate]:
        """Return the names of the pairs with their differences."""
        return self.estimates.items()


def difference(
    groups: Groups,
    *,
    baseline: Hashable = None,
    level: float = 0.95,
    alternative: Alternative = "two-sided",
) -> Differences:
    """Return the differences between all pairs of groups, or between each group and the `baseline`.

    The groups are a result of `dt.estimate(…, by=…)`, or a mapping from names to estimates, summaries or
    reports of different people. With two groups this is an A/B test. With `alternative="greater"` or "less",
    to be decided before looking, p-values ask whether the first is greater, or less, than the second.

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
                f"expected at most {MOST_COMPARISONS} comparisons, got more; give a baseline or fewer groups"
            )
    paired = any(shares_people(given[first], given[second]) for first, second in pairs)
    heads, about = ("first", "second", "answer"), getattr(groups, "about", "")
    found = _family(gaps, heads, level, about, alternative)
    return replace(found, title=f"{found.title}; who is in both is paired") if paired else found


def contrasts(
    groups: Groups,
    weights: Mapping[str, Mapping[Hashable, float]],
    *,
    level: float = 0.95,
    alternative: Alternative = "two-sided",
) -> Differences:
    """Return weighted sums of groups, with simultaneous intervals and adjusted p-values.

    The weights of a contrast add up to 0, and a group without one counts 0. With `alternative="greater"` or
    "less", to be decided before looking, p-values ask whether a contrast is above, or below, 0.

    >>> import dither as dt
    >>> asked = dt.KRR(dt.Categories(["no", "yes"]), epsilon=2)
    >>> arms = {name: dt.frequencies(asked.reports([0] * (900 - more) + [1] * more))["yes"]
    ...         for name, more in (("none", 300), ("half", 400), ("full", 500))}
    >>> found = contrasts(arms, {"any": {"none": -1, "half": 0.5, "full": 0.5}})
    >>> found["any"]
    0.22 ± 0.05 (95 %, n = 2 700)
    """
    given, gaps = estimates_of(groups), dict[tuple[Hashable, ...], Estimate]()
    if not isinstance(weights, Mapping) or not weights:
        raise InvalidParameter(
            'expected contrasts with names and weights: {"any": {"none": -1, "half": 0.5, …}}'
        )
    for name, parts in weights.items():
        for label in parts:
            if label not in given:
                raise unknown_name("group", label, map(str, given))
        used = {label: finite(f"a weight of {name!r}", weight) for label, weight in parts.items() if weight}
        total, size = sum(used.values()), sum(map(abs, used.values()))
        if len(used) < 2 or abs(total) > 1e-9 * size:
            raise InvalidParameter(
                f"the weights of contrast {name!r} add up to {total:g}; expected two or more groups whose "
                "weights add up to 0"
            )
        gap = weighted_sum([(weight, given[label]) for label, weight in used.items()], 0.0)
        if not gap.labels:
            gaps[name,] = gap
        for answer in gap.labels:
            gaps[name, answer] = gap[answer]
    return _family(gaps, ("contrast", "answer"), level, getattr(groups, "about", ""), alternative)


def equal_groups(groups: Groups) -> Significance:
    """Test the hypothesis that a mean or a share is the same in all groups.

    This is Welch's F test [Welch51] of the estimates and their standard errors. Groups may have different
    variances. The variances include the noise of privacy.

    >>> import dither as dt
    >>> asked = dt.KRR(dt.Categories(["no", "yes"]), epsilon=2)
    >>> arms = {name: dt.frequencies(asked.reports([0] * (900 - more) + [1] * more))["yes"]
    ...         for name, more in (("none", 300), ("half", 400), ("full", 500))}
    >>> equal_groups(arms).p_value < 1e-6
    True
    """
    given = list(estimates_of(groups).values())
    if len(given) < 2:
        raise InvalidParameter(f"expected two groups or more, got {len(given)}")
    if any(np.ndim(part.value) or part.circular for part in given):
        raise InvalidParameter(
            "expected one number of each group, a mean or a share: dt.frequencies(reports)['yes']; "
            "dt.stats.same_distribution compares two groups of answers"
        )
    if any(shares_people(first, second) for first, second in combinations(given, 2)):
        raise InvalidParameter(
            "expected groups of different people, but some people are in several groups; "
            "dt.stats.difference pairs them"
        )
    value, error = (
        np.array([float(getattr(part, name)) for part in given]) for name in ("value", "standard_error")
    )
    n = np.array([part.n for part in given])
    if not (error > 0.0).all() or (n < 2).any():
        raise NotIdentifiable(
            "expected at least two reports and a variance in each group; leave out the group without them"
        )
    weight = error**-2.0
    share, k = weight / weight.sum(), len(given)
    between = float(weight @ (value - share @ value) ** 2) / (k - 1)
    uneven = float(np.sum((1.0 - share) ** 2 / (n - 1)))
    statistic = between / (1.0 + 2.0 * (k - 2) / (k**2 - 1) * uneven)
    below = (k**2 - 1) / (3.0 * uneven)
    tail = f_survival(statistic, k - 1, below)
    return Significance("all groups have the same value", "Welch's F", statistic, tail, k - 1)


def _family(
    gaps: dict[tuple[Hashable, ...], Estimate],
    heads: Sequence[str],
    level: float,
    about: str,
    alternative: Alternative,
) -> Differences:
    """Return estimates as one family, with Bonferroni's intervals and Holm's p-values."""
    each = joint_level(level, len(gaps))
    p_values = [part.p_value(alternative=alternative) for part in gaps.values()]
    rows = []
    for (key, part), p in zip(gaps.items(), holm(p_values), strict=True):
        names: dict[str, Any] = {head: show_group(label) for head, label in zip(heads, key, strict=False)}
        if "answer" in names:
            names["answer"] = show_label(names["answer"])
        low, high = part.interval(each)
        ends = {"value": float(part.value), "low": float(low), "high": float(high)}
        rows.append({**names, **ends, "p": p, **part.facts()})
        if alternative != "two-sided":
            rows[-1]["alternative"] = alternative
    conditions = {part.condition for part in gaps.values()} - {""}
    what = "contrast of groups" if heads[0] == "contrast" else "difference of two groups"
    title = _title(what, len(rows), level, alternative) + remark_of(list(gaps.values()))
    title += "".join(f";{condition}" for condition in sorted(conditions))
    return Differences(title, tuple(rows), MappingProxyType(gaps), level, about=about)


def holm(p_values: list[float]) -> list[float]:
    """Return p-values adjusted for their number by Holm's step-down method [Holm79]."""
    order = np.argsort(p_values, kind="stable")
    scaled = np.asarray(p_values)[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return [float(p) for p in adjusted]


def _title(what: str, count: int, level: float, alternative: Alternative) -> str:
    side = {"greater": "above 0", "less": "below 0"}.get(alternative)
    if count == 1:
        way = "in both directions" if side is None else f"one-sided, for {side}"
        return f"{what.capitalize()}: {100 * level:g} % interval, p-value {way}"
    way = "" if side is None else f"one-sided for {side}, and "
    return (
        f"{count} {what.split(maxsplit=1)[0]}s: intervals hold together with {100 * level:g} % (Bonferroni), "
        f"p-values are {way}adjusted for their number (Holm)"
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
            "expected groups to be the result of dt.estimate(reports, by=labels), or a mapping from names "
            "to estimates, "
            f"got {found(groups)}"
        )
    if len(given) < 2:
        raise InvalidParameter(f"expected at least two groups for a difference, got {len(given)}")
    for group in given.values():
        if np.ndim(group.value) and not isinstance(group, EstimatedFrequencies):
            raise InvalidParameter(
                "expected the estimate of a group to be one number, or frequencies, got several "
                "numbers; compare one of them, such as one quantile"
            )
    return given


def _reports(group: object) -> Reports | Counts:
    if not isinstance(group, Reports | Counts):
        raise InvalidParameter(
            f"expected a group to be an estimate, a summary or reports, got {type(group).__name__}"
        )
    return group


def combine(
    parts: Sequence[Reports | Counts | Estimate], *, weights: Sequence[float] | None = None
) -> Estimate:
    """Return one estimate from independent estimates of the same quantity, such as versions of a question.

    The parts are reports, summaries or estimates of different people. Mechanisms
    and ε may differ, but the domain must be the same. Without `weights`, each part is weighted
    by its inverse variance, for the smallest error. Weights are divided by their sum.

    >>> import dither as dt
    >>> age = dt.Podium(dt.Interval(18, 100), epsilon=1)
    >>> first = age.perturb([43] * 20_000, source=dt.Seeded(1))
    >>> second = age.at(2).perturb([43] * 20_000, source=dt.Seeded(2))
    >>> combine([first, second])
    43.3 ± 0.4 (95 %, n = 40 000)
    """
    given: object = parts
    if not isinstance(given, Sequence) or not given:
        raise InvalidParameter("expected a list of reports, summaries or estimates to combine, at least one")
    _check_domains(parts)
    _check_people(parts)
    estimates = [_unbiased_estimate(part) for part in parts]
    if weights is None:
        weights = [_precision(part) for part in estimates]
    shares = _shares(weights, len(estimates))
    return weighted_sum(list(zip(shares, estimates, strict=True)))


def combine_lists(versions: Sequence[Counts], *, at_any_time: bool = False) -> ResultTable:
    """Return the share of each answer from versions of a question whose lists of answers differ.

    The share of an answer is its share among the people who were offered it, so the shares need not sum to 1.
    It is estimated from the versions that offer the answer, each weighted by its precision. `versions` in a
    row counts these versions. Intervals hold at one look, or at any time. Raise Mismatch if no answer is in
    two versions.
    """
    estimates = [frequencies(summary) for summary in versions]
    answers = list(dict.fromkeys(label for part in estimates for label in part.labels))
    rows: list[dict[str, Any]] = []
    for answer in answers:
        parts = [part[answer] for part in estimates if answer in part.labels]
        weights = _shares([_precision(part) for part in parts], len(parts))
        share = weighted_sum(list(zip(weights, parts, strict=True)))
        low, high = (share.at_any_time() if at_any_time else share).interval()
        shown = {"value": float(share.value), "low": float(low), "high": float(high), "n": share.n}
        rows.append({"answer": show_label(answer), **shown, "versions": len(parts)})
    if all(row["versions"] < 2 for row in rows):
        raise Mismatch(
            "expected an answer that is in two versions of the list, got none; keep at least one answer "
            "when the list changes"
        )
    title = f"{len(versions)} lists of answers; each share is among the people who were offered the answer"
    return ResultTable(title, tuple(rows), limits=SHARE)


def combine_versions(versions: Sequence[Counts], *, at_any_time: bool = False) -> Estimate | ResultTable:
    """Return the result of all versions of a question: an estimate, or a table if their lists differ.

    The reports of versions with the same mechanism are counted together. `at_any_time` applies to the
    intervals of a table. Raise the reason if the versions cannot be combined.
    """
    _check_people(versions)
    counted: dict[str, Counts] = {}
    for summary in versions:
        mark = summary.question.fingerprint
        counted[mark] = counted[mark] + summary if mark in counted else summary
    different = list(counted.values())
    if len(different) == 1:
        return estimate(different[0])
    try:
        return combine(different)
    except DitherError:
        if any(usual_quantity(summary.question) != "frequencies" for summary in versions):
            raise
    return combine_lists(versions, at_any_time=at_any_time)


def combine_groups(versions: Sequence[GroupCounts], *, minimum: int) -> GroupedEstimates:
    """Return the estimate of each group from all versions of a question, each weighted by its precision.

    Groups with fewer than `minimum` reports in all versions together are left out.
    """
    least = check_minimum(minimum)
    parts: dict[Any, list[Counts]] = {}
    for counts in versions:
        for label, summary in counts.summaries():
            parts.setdefault(label, []).append(summary)
    kept: dict[Hashable, Estimate] = {}
    for label in sorted(parts, key=order_of):
        some = [summary for summary in parts[label] if summary.n]
        if sum(summary.n for summary in some) >= max(1, least):
            kept[label[0] if len(label) == 1 else label] = combine(some)
    return keep_groups(kept, versions[0].by, least, len(parts) - len(kept), 0.95)


def post_stratified(groups: Groups, shares: Mapping[Any, float]) -> Estimate:
    """Return the estimate for a population with known shares of groups (strata).

    Each group is weighted by its share of the population instead of its share of the reports. So a group that
    answered less often than others is not under-represented. Within a group, people who answer must not
    differ from people who do not.
    """
    given = estimates_of(groups)
    if not isinstance(shares, Mapping):
        raise InvalidParameter(
            f"expected shares to be a mapping from groups to their shares, got {found(shares)}"
        )
    _check_strata(list(given), list(shares))
    known = [shares[label] for label in given]
    if abs(math.fsum(_check_weights(known)) - 1.0) > 1e-6:
        raise InvalidParameter(
            "expected shares of the population that sum to 1; divide counts by their total"
        )
    return weighted_sum([(float(share), given[label]) for label, share in zip(given, known, strict=True)])


def _check_strata(given: list[Hashable], known: list[Hashable]) -> None:
    for label in known:
        if label not in given:
            raise InvalidParameter(
                f"expected an estimate of group {found(label)}, because it has a share, but it has fewer "
                "reports than the minimum; leave its share out, or lower minimum"
            )
    for label in given:
        if label not in known:
            which = "the group without a label" if label is None else f"group {found(label)}"
            raise InvalidParameter(f"expected a share of the population for {which}, got none; add its share")


def _check_people(parts: Sequence[object]) -> None:
    for number, part in enumerate(parts):
        given_before = [getattr(other, "people", ()) for other in parts[:number]]
        own: People = getattr(part, "people", ())
        if any(overlap(own, other, same_part=True) for other in given_before):
            raise InvalidParameter(
                "expected parts of different reports, got the same reports twice, whose people would be "
                "counted twice; name each part once"
            )


def _check_domains(parts: Sequence[object]) -> None:
    domains = [summary.question.domain for summary in parts if isinstance(summary, Reports | Counts)]
    for domain in domains[1:]:
        if domain.device() != domains[0].device():
            raise Mismatch(
                f"expected parts on the same domain, got {domains[0]} and {domain}; combine only answers to "
                "one question"
            )


def _unbiased_estimate(part: object) -> Estimate:
    if isinstance(part, Estimate):
        return part
    if not isinstance(part, Reports | Counts):
        raise InvalidParameter(
            f"expected reports, summaries or estimates to combine, got {type(part).__name__}"
        )
    if "frequencies" in part.question.quantities:
        return frequencies(part)
    return mean(part)


def _precision(part: Estimate) -> float:
    """Return the inverse variance, averaged over the categories of frequencies."""
    square = float(np.mean(np.square(part.standard_error)))
    if not (math.isfinite(square) and square > 0.0):
        raise InvalidParameter(
            "expected a standard error of each part, got a part without one, so it has no inverse variance; "
            "pass weights"
        )
    return 1.0 / square


def _shares(weights: Sequence[float], count: int) -> list[float]:
    checked = _check_weights(weights)
    if len(checked) != count:
        raise InvalidParameter(f"expected one weight for each of {count} parts, got {len(checked)}")
    total = math.fsum(checked)
    if not total > 0.0:
        raise InvalidParameter("at least one weight must be positive")
    return [weight / total for weight in checked]


def _check_weights(weights: Sequence[float]) -> list[float]:
    given = list(weights)
    for weight in given:
        real = isinstance(weight, int | float | np.integer | np.floating) and not isinstance(weight, bool)
        if not real or not (math.isfinite(weight) and weight >= 0.0):
            raise InvalidParameter(
                f"expected a weight or share to be a finite number from 0 upwards, got {found(weight)}"
            )
    return [float(weight) for weight in given]
