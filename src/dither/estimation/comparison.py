"""Differences between groups and pooling of groups, with intervals and p-values that hold together.

Unbiased numbers for each person, and tests of distributions that account for the noise.

Given a person's answer, the number read from the report has the answer as its expectation. The noise of two
questions is independent given the answers. So the product of such numbers has the product of the answers as
its expectation, and averages of products estimate joint quantities without bias.

The tests are χ² for categories and Kolmogorov–Smirnov for numbers.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, ItemsView, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from dither.arrays import Floats
from dither.domains import Circle
from dither.errors import InvalidParameter, Mismatch, NotIdentifiable, found, unknown_name
from dither.estimation.estimate import Estimate, joint_level, weighted_sum
from dither.estimation.frequency import EstimatedFrequencies, frequencies
from dither.estimation.groups import GroupedEstimates, estimate
from dither.estimation.intervals import StudentInterval
from dither.estimation.linear import linear, squared_reading, summarise_numbers, unbiased_reading
from dither.estimation.summary import Summary, summarise
from dither.kernels.counting import LeadingBits
from dither.numerics.distributions import chi_square_survival, kolmogorov_survival, kuiper_survival
from dither.question import CategoryQuestion, NumberQuestion
from dither.reports import Reports
from dither.table import ResultTable

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
    gaps = unbiased_reading(mechanism, plain=True).values - (mechanism.line.low + mechanism.line.high) / 2.0
    counting = mechanism.counting
    cells = reports.cells.reshape(-1)
    groups = cells >> counting.rest if isinstance(counting, LeadingBits) else cells
    return np.asarray(squared_reading(mechanism, gaps)[groups])


_FEW: Final = 64  # different reports up to which their counts are compared by χ²
_ROWS: Final = 4096


@dataclass(frozen=True)
class Significance:
    """The result of a test: its statistic, and the probability of a larger one under the hypothesis."""

    hypothesis: str
    method: str
    statistic: float
    p_value: float
    freedom: int | None = None

    @staticmethod
    def chi_square(statistic: float, freedom: int, hypothesis: str) -> Significance:
        """Return the result of a χ² test."""
        if not math.isfinite(statistic):
            raise NotIdentifiable("the reports do not vary, so nothing can be tested")
        p = chi_square_survival(statistic, freedom)
        return Significance(hypothesis, "χ²", float(statistic), p, freedom)

    def __repr__(self) -> str:
        freedom = (
            ""
            if self.freedom is None
            else f" with {self.freedom} degree{'s' * (self.freedom > 1)} of freedom"
        )
        p = "< 1e-15" if self.p_value < 1e-15 else f"= {self.p_value:.2g}"
        return f"{self.method} = {self.statistic:.4g}{freedom}, p {p} ({self.hypothesis})"


def contrasts(size: int) -> Floats:
    """Return an orthonormal basis of the vectors of this length that sum to 0, as columns (Helmert)."""
    basis = np.zeros((size, size - 1))
    for column in range(size - 1):
        basis[: column + 1, column] = 1.0
        basis[column + 1, column] = -(column + 1.0)
        basis[:, column] /= math.sqrt((column + 1.0) * (column + 2.0))
    return basis


def quadratic_form(gaps: Floats, *covariances: Floats) -> float:
    """Return gaps' Σ⁻¹ gaps; with two covariances Σ is their Kronecker product and `gaps` a matrix."""
    try:
        solved = np.linalg.solve(covariances[0], gaps)
        if len(covariances) == 1:
            return float(gaps @ solved)
        return float(np.trace(solved @ np.linalg.solve(covariances[1], gaps.T)))
    except np.linalg.LinAlgError:
        return math.inf


def same_distribution(first: Reports | Summary, second: Reports | Summary) -> Significance:
    """Test the hypothesis that two groups of different people have the same distribution of answers.

    If it holds, reports of one mechanism have the same distribution, too; the noise changes the power of the
    test, not its level. Categories: χ² of the differences of frequencies, which may be reported with
    different ε. Numbers: the Kolmogorov–Smirnov test of the reports, on circles Kuiper's; a mechanism with
    at most 64 different reports has the χ² test of their counts.
    """
    mechanisms = [
        reports.question if isinstance(reports, Reports | Summary) else None for reports in (first, second)
    ]
    for mechanism in mechanisms:
        if mechanism is not None and not mechanism.alone:
            raise InvalidParameter("the reports of this mechanism are correlated between people")
    if all(isinstance(mechanism, CategoryQuestion) for mechanism in mechanisms):
        return _same_frequencies(first, second)
    left, right = summarise(first), summarise(second)
    if left.question.fingerprint != right.question.fingerprint or not isinstance(
        left.question, NumberQuestion
    ):
        raise Mismatch(
            "two distributions of numbers are compared by reports of one mechanism, with the same ε; "
            "dt.mean(a) - dt.mean(b) compares means at different ε"
        )
    if min(left.n, right.n) < 2:
        raise NotIdentifiable("each group needs at least two reports")
    cells = left.question.outcomes
    tallies = [np.asarray(part.counts[:cells], dtype=np.float64) for part in (left, right)]
    what = "both groups have the same distribution"
    if cells <= _FEW:
        both = tallies[0] + tallies[1]
        seen = both > 0
        parts = [(t[seen] - both[seen] * n / both.sum()) ** 2 / (both[seen] * n / both.sum())
                 for t, n in zip(tallies, (left.n, right.n), strict=True)]  # fmt: skip
        return Significance.chi_square(float(np.sum(parts)), max(int(seen.sum()) - 1, 1), what)
    gaps = np.cumsum(tallies[0] / left.n - tallies[1] / right.n)
    size = left.n * right.n / (left.n + right.n)
    return _kolmogorov(gaps, size, isinstance(left.question.line, Circle), what)


def goodness_of_fit(
    reports: Reports, expected: Mapping[Any, float] | Sequence[float] | Floats
) -> Significance:
    """Test the hypothesis that answers are distributed as expected.

    For categories `expected` is a mapping from answers to shares that sum to 1. For numbers it is a list of
    public values, each equally likely, such as quantiles of a distribution at (i + ½)/m.
    """
    if not isinstance(reports, Reports) or not reports.question.alone:
        raise InvalidParameter("a goodness of fit needs reports of independent people")
    what = "answers are distributed as expected"
    mechanism = reports.question
    if isinstance(mechanism, CategoryQuestion):
        mean, covariance = _moments(reports)
        labels = list(mechanism.categories.labels)
        if not isinstance(expected, Mapping) or set(expected) != set(labels):
            raise InvalidParameter("expected is a mapping with a share for exactly the categories")
        shares = np.array([expected[label] for label in labels], dtype=np.float64)
        if not (np.isfinite(shares).all() and shares.min() >= 0.0 and abs(shares.sum() - 1.0) < 1e-6):
            raise InvalidParameter("expected shares are numbers from 0 to 1 that sum to 1")
        basis = contrasts(len(labels))
        gaps = basis.T @ (mean - shares)
        # About the expected mean, as under the hypothesis.
        inside = basis.T @ covariance @ basis + np.outer(gaps, gaps)
        return Significance.chi_square(len(reports) * quadratic_form(gaps, inside), gaps.size, what)
    if not isinstance(mechanism, NumberQuestion):
        raise InvalidParameter(f"reports on numbers or categories are needed, not {mechanism.name}")
    if isinstance(expected, Mapping):
        raise InvalidParameter("for numbers, expected is a list of equally likely values, not a mapping")
    values = np.sort(mechanism.line.check(expected)).reshape(-1)
    if not values.size:
        raise InvalidParameter("expected holds no values")
    operator = mechanism.likelihood(values, _ROWS)
    law = operator.forward(np.full(values.size, 1.0 / values.size))
    told = operator.counts(summarise(reports).counts) / len(reports)
    return _kolmogorov(np.cumsum(told - law), float(len(reports)), isinstance(mechanism.line, Circle), what)


def _kolmogorov(gaps: Floats, n: float, circular: bool, what: str) -> Significance:
    if circular:
        statistic = float(max(gaps.max(), 0.0) - min(gaps.min(), 0.0))
        return Significance(what, "Kuiper's V", statistic, kuiper_survival(statistic, n))
    statistic = float(np.abs(gaps).max())
    return Significance(what, "Kolmogorov–Smirnov D", statistic, kolmogorov_survival(statistic, n))


def _same_frequencies(first: object, second: object) -> Significance:
    if not isinstance(first, Reports) or not isinstance(second, Reports):
        raise InvalidParameter("categories are compared by reports; summaries have lost their correlations")
    labels = [tuple(protocol_of(reports).categories.labels) for reports in (first, second)]
    if labels[0] != labels[1]:
        raise Mismatch("the two groups answered questions with different categories")
    (mean, covariance), (other, spread) = _moments(first), _moments(second)
    basis = contrasts(mean.size)
    gaps = basis.T @ (mean - other)
    inside = basis.T @ (covariance / len(first) + spread / len(second)) @ basis
    return Significance.chi_square(
        quadratic_form(gaps, inside), gaps.size, "both groups have the same distribution"
    )


def _moments(reports: Reports) -> tuple[Floats, Floats]:
    """Return the mean and the covariance of the indicators of categories."""
    n = len(reports)
    if n < 2:
        raise NotIdentifiable("each group needs at least two reports")
    size = len(protocol_of(reports).categories)
    total, inner = np.zeros(size), np.zeros((size, size))
    for people in blocks(n, size):
        told = indicators(reports[people])
        total += told.sum(axis=0)
        inner += told.T @ told
    mean = total / n
    return mean, inner / n - np.outer(mean, mean)


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


def combine(
    parts: Sequence[Reports | Summary | Estimate], *, weights: Sequence[float] | None = None
) -> Estimate:
    """Return one estimate from independent ones of the same quantity, such as versions of a question.

    The parts are reports, summaries or estimates of different people. Reports may be of other mechanisms or
    have another ε, but must be on the same domain. Without `weights`, each part has its inverse variance,
    which has the smallest error; weights are divided by their sum.

    >>> import dither as dt
    >>> age = dt.Podium(dt.Interval(18, 100), epsilon=1)
    >>> first = age.perturb([43] * 20_000, source=dt.Seeded(1))
    >>> second = age.at(2).perturb([43] * 20_000, source=dt.Seeded(2))
    >>> combine([first, second])
    43.3 ± 0.4 (95 %, n = 40 000)
    """
    given: object = parts
    if not isinstance(given, Sequence) or not given:
        raise InvalidParameter("combine takes a list of reports, summaries or estimates, at least one")
    _check_domains(parts)
    estimates = [_unbiased_estimate(part) for part in parts]
    if weights is None:
        weights = [_precision(part) for part in estimates]
    shares = _shares(weights, len(estimates))
    return weighted_sum(list(zip(shares, estimates, strict=True)))


def post_stratified(groups: Groups, shares: Mapping[Any, float]) -> Estimate:
    """Return the estimate for a population in which the share of every group (stratum) is known.

    Each group counts by its share of the population instead of its share of the reports. So a group that
    answered less often than others is not under-represented; within a group, who answers must not matter.
    """
    given = estimates_of(groups)
    if not isinstance(shares, Mapping):
        raise InvalidParameter(f"shares are a mapping from groups to their shares, not {found(shares)}")
    _check_strata(list(given), list(shares))
    known = [shares[label] for label in given]
    if abs(math.fsum(_check_weights(known)) - 1.0) > 1e-6:
        raise InvalidParameter("the shares of the population must sum to 1; divide counts by their total")
    return weighted_sum([(float(share), given[label]) for label, share in zip(given, known, strict=True)])


def weighted_mean(reports: Reports | Summary, weights: Sequence[float] | Floats) -> Estimate:
    """Estimate the mean of a population from people with public weights, such as inverse chances.

    Σ w·y/Σ w, where y is the number whose mean over the noise is the person's value. The error is that of its
    linearisation, w·(y − mean)/mean(w), and contains that the weights vary.
    """
    if not isinstance(reports, Reports):
        raise InvalidParameter(f"weights need reports, one weight for each, not {type(reports).__name__}")
    line = number_mechanism(reports).line
    told = numbers(reports)
    given = np.asarray(weights)
    if given.dtype.kind not in "iuf" or given.shape != told.shape:
        raise InvalidParameter(f"{told.size} reports need as many numbers as weights, one for each")
    share = given.astype(np.float64)
    if not (np.isfinite(share).all() and share.size and share.min() >= 0.0 and share.sum() > 0.0):
        raise InvalidParameter("weights are finite numbers from 0 upwards, not all 0")
    share /= share.mean()
    mean = float((share * told).mean())
    influence = share * (told - mean)
    n = told.size
    spread = float((influence**2).sum() / max(n - 1, 1))
    skew = float((influence**3).mean() / spread) if spread > 0.0 else 0.0
    middle = (line.low + line.high) / 2.0
    interval = StudentInterval(middle + mean, math.sqrt(spread / n), n, skew)
    return Estimate.of(interval, reports.question.guarantee, unit=line.unit)


def _check_strata(given: list[Hashable], known: list[Hashable]) -> None:
    for label in known:
        if label not in given:
            raise InvalidParameter(
                f"group {found(label)} has a share, but no estimate: it has fewer reports than the minimum"
            )
    for label in given:
        if label not in known:
            raise InvalidParameter(f"group {found(label)} has an estimate, but no share of the population")


def _check_domains(parts: Sequence[object]) -> None:
    domains = [summary.question.domain for summary in parts if isinstance(summary, Reports | Summary)]
    for domain in domains[1:]:
        if domain.device() != domains[0].device():
            raise Mismatch(f"these are different questions: one is on {domains[0]}, another on {domain}")


def _unbiased_estimate(part: object) -> Estimate:
    if isinstance(part, Estimate):
        return part
    if not isinstance(part, Reports | Summary):
        raise InvalidParameter(f"combine takes reports, summaries or estimates, not {type(part).__name__}")
    summary = summarise(part)
    if isinstance(summary.question, CategoryQuestion):
        return frequencies(summary)
    return linear.mean(summarise_numbers(summary))


def _precision(part: Estimate) -> float:
    """Return the inverse variance, averaged over the categories of frequencies."""
    square = float(np.mean(np.square(part.standard_error)))
    if not (math.isfinite(square) and square > 0.0):
        raise InvalidParameter("a part has no standard error, so it has no inverse variance; pass weights")
    return 1.0 / square


def _shares(weights: Sequence[float], count: int) -> list[float]:
    checked = _check_weights(weights)
    if len(checked) != count:
        raise InvalidParameter(f"{count} parts need as many weights, not {len(checked)}")
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
                f"a weight or share is a finite number from 0 upwards, not {found(weight)}"
            )
    return [float(weight) for weight in given]
