"""Unbiased numbers for each person, and tests of distributions that account for the noise.

Given a person's answer, the number read from the report has the answer as its expectation. The noise of two
questions is independent given the answers. So the product of such numbers has the product of the answers as
its expectation, and averages of products estimate joint quantities without bias.

The tests are χ² for categories and Kolmogorov–Smirnov for numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dither.arrays import Floats
from dither.domains import Circle
from dither.errors import InvalidParameter, Mismatch, NotIdentifiable
from dither.estimation.estimate import Estimate
from dither.estimation.intervals import StudentInterval
from dither.estimation.linear import squared_reading, unbiased_reading
from dither.estimation.summary import Summary, summarise
from dither.kernels.counting import LeadingBits
from dither.numerics.distributions import chi_square_survival, kolmogorov_survival, kuiper_survival
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
