"""Tables, covariance and correlation of two questions that the same people answered."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Protocol

import numpy as np

from dither.core.counts import Counts, name_result
from dither.core.kernels.codes import BucketReports
from dither.core.question import CategoryQuestion
from dither.core.reports import Reports
from dither.errors import InvalidParameter, NotIdentifiable, unknown_name
from dither.estimation.estimate import Estimate
from dither.estimation.intervals import ConfidenceInterval, StudentInterval, VarianceInterval
from dither.estimation.moments import CountedMoments
from dither.estimation.person_numbers import (
    PersonNumbers,
    answered_all,
    blocks,
    check_pair,
    clipping_of,
    indicators,
    protocol_of,
)
from dither.estimation.projections import simplex
from dither.estimation.ratios import QuotientInterval
from dither.estimation.rounding import OF_ANSWERS, SHARE, show_interval, thousands
from dither.estimation.significance import (
    Significance,
    contrasts,
    implied_covariance,
    is_dense,
    quadratic_form,
)
from dither.estimation.weights import Weighting, Weights, as_weights, freedom, influences
from dither.foundation.arrays import Floats, Integers
from dither.foundation.numerics.distributions import student_t_quantile
from dither.foundation.tables import Row, as_text, show_label
from dither.privacy import Guarantee


class PairEvidence(Protocol):
    """The test of independence and the shares within rows and columns of a table of pairs."""

    def independence(self) -> Significance:
        """Return the test of the hypothesis that the two answers are independent."""

    def within(self, side: int) -> QuotientInterval:
        """Return the shares within rows (side 0), or within columns with the sides exchanged (side 1)."""

    def influence(self, at: tuple[int, int], whose: str) -> Floats | None:
        """Return each person's influence on a share of people, rows or columns; None if it is not known."""


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedTable(Estimate):
    """The unbiased share of people with each pair of answers. Shares may be negative.

    `table["cat", "house"]` is one share, with its interval; `value` has a row for each answer to the first
    question and a column for each to the second.
    """

    rows: Sequence[Hashable]
    columns: Sequence[Hashable]
    evidence: PairEvidence = field(repr=False)
    confidence: VarianceInterval | QuotientInterval = field(kw_only=True)
    whose: str = field(default="people", kw_only=True)  # the unit of the shares: people, rows or columns

    def independence(self) -> Significance:
        """Test the hypothesis that the two answers of a person are independent.

        The statistic is the χ² of the covariances of all pairs of answers. Their covariance matrix under the
        hypothesis includes the noise of both mechanisms.
        """
        return self.evidence.independence()

    def within_rows(self) -> EstimatedTable:
        """Return the shares of the second answer among the people with each first answer (row per cent)."""
        return self._within(0, "rows")

    def within_columns(self) -> EstimatedTable:
        """Return the shares of the first answer among people with each second answer (column per cent)."""
        return self._within(1, "columns")

    def _within(self, side: int, whose: str) -> EstimatedTable:
        if self.whose != "people":
            raise InvalidParameter(
                f"expected a table of counts, got shares of {self.whose}; take the shares of the table itself"
            )
        interval = self.evidence.within(side)
        interval = interval if side == 0 else interval.transpose()
        value, error = interval.value, interval.error
        remark = f", shares of {whose}{self.remark}"
        origin = self if self.origin is None else self.origin
        facts: dict[str, Any] = {"whose": whose, "remark": remark, "origin": origin}
        return replace(self, value=value, error=error, confidence=interval, **facts)

    def __getitem__(self, pair: Any) -> Estimate:
        first, second = pair if isinstance(pair, tuple) and len(pair) == 2 else (pair, None)
        if first not in self.rows:
            raise unknown_name("answer to the first question", first, map(str, self.rows))
        if second not in self.columns:
            raise unknown_name("answer to the second question", second, map(str, self.columns))
        at = self.rows.index(first), self.columns.index(second)
        return Estimate.of(
            self.confidence.pick(at),
            self.guarantee,
            origin=self if self.origin is None else self.origin,
            people=self.people,
            influence=partial(self.evidence.influence, at, self.whose),
            limits=SHARE,
        )

    def items(self) -> Iterator[tuple[tuple[Hashable, Hashable], Estimate]]:
        """Return the pairs of answers with their shares."""
        return (((a, b), self[a, b]) for a in self.rows for b in self.columns)

    def _names(self) -> list[Row]:
        return [
            {"first": show_label(row), "second": show_label(other)}
            for row in self.rows
            for other in self.columns
        ]

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        ends = (np.asarray(end, dtype=np.float64) for end in (self.value, *self.interval()))
        cells = np.stack(list(ends), axis=-1).tolist()
        lines = [
            [str(show_label(label)), *(show_interval(cell[0], cell[1], cell[2], SHARE) for cell in cells[i])]
            for i, label in enumerate(self.rows)
        ]
        return ["", *(str(show_label(label)) for label in self.columns)], lines

    def __repr__(self) -> str:
        return f"{as_text(*self._cells())}\n(95 %, n = {thousands(self.n)}{self.remark})"


def distinct_pairs(
    first: Reports, second: Reports, weights: Floats | None = None
) -> tuple[tuple[Reports, Reports], Floats]:
    """Return the distinct pairs of reports and their counts; all pairs if too many differ."""
    people, (rows, columns) = len(first), (_different(reports) for reports in (first, second))
    if rows is None or columns is None or rows[1] * columns[1] > min(_PAIRS, people):
        return (first, second), np.ones(people) if weights is None else weights
    joint = rows[0] * columns[1] + columns[0]
    times = np.bincount(joint, weights)
    example = np.empty(times.size, dtype=np.intp)
    example[joint] = np.arange(people)
    seen = np.flatnonzero(times)
    return (first[example[seen]], second[example[seen]]), times[seen].astype(np.float64)


def _different(reports: Reports) -> tuple[Integers, int] | None:
    """Return a code for each report, and the number of distinct reports; None if there are too many."""
    cells, question = reports.cells, protocol_of(reports)
    size = len(question.categories)
    if isinstance(question.kernel, BucketReports) and size <= _BITS:
        return question.kernel.hashing.supports(cells, size).astype(np.intp), 1 << size
    if cells.ndim == 1 and question.outcomes <= _PAIRS:
        return cells.astype(np.intp), question.outcomes
    if cells.shape[1:] == (1,) and cells.dtype == np.uint8:
        return cells.reshape(-1).astype(np.intp), int(cells.max()) + 1
    return None


@dataclass(frozen=True, eq=False)
class _Products:
    """Averages of the indicators of two questions: products, each question, and pairs within each."""

    joint: Floats
    means: list[Floats]
    inner: list[Floats]

    @classmethod
    def of(cls, first: Reports, second: Reports, weights: Floats | None) -> _Products:
        sizes = [len(protocol_of(reports).categories) for reports in (first, second)]
        joint = np.zeros(sizes)
        sums = [np.zeros(size) for size in sizes]
        inner = [np.zeros((size, size)) for size in sizes]
        pair, times = distinct_pairs(first, second, weights)
        for people in blocks(times.size, sum(sizes)):
            reported, often = [indicators(reports[people]) for reports in pair], times[people, None]
            joint += (often * reported[0]).T @ reported[1]
            for side, read in enumerate(reported):
                sums[side] += (often * read).sum(axis=0)
                inner[side] += (often * read).T @ read
        n = float(times.sum())
        return cls(joint / n, [total / n for total in sums], [matrix / n for matrix in inner])


@name_result
def crosstab(first: Reports, second: Reports, *, weights: Weighting | None = None) -> EstimatedTable:
    """Estimate the frequency of each pair of answers to two questions that the same people answered.

    The reports are in the same order of people, as from `dt.Each` and `dt.data.reports`. Each report is
    decoded without bias, and the averages of products are the shares. `weights` are public, one for each
    person, and the errors account for them. The test of independence counts weighted people by their
    effective number.

    >>> import dither as dt
    >>> both = dt.Each(pet=dt.KRR(dt.Categories(["cat", "dog"]), epsilon=4),
    ...                home=dt.KRR(dt.Categories(["flat", "house"]), epsilon=4))
    >>> people = {"pet": ["cat", "dog"] * 500, "home": ["flat", "house"] * 500}
    >>> told = both.perturb(people, source=dt.Seeded(1))
    >>> crosstab(told["pet"], told["home"])["cat", "flat"]
    0.50 ± 0.03 (95 %, n = 1 000)
    """
    n = check_pair(first, second)
    sides = [protocol_of(reports) for reports in (first, second)]
    given = None if weights is None else as_weights(weights, n)
    equal = float(n) if given is None else given.effective
    found = _Products.of(first, second, None if given is None else given.values)
    heavy = found if given is None else _Products.of(first, second, given.shares**2)
    covariances = [
        matrix - np.outer(mean, mean) for matrix, mean in zip(found.inner, found.means, strict=True)
    ]
    # A category that hardly anybody reported has no variance of its own; the variance of its noise replaces
    # it.
    covariances = [
        matrix if is_dense(side, simplex(mean), n) else implied_covariance(side.kernel, simplex(mean))
        for side, mean, matrix in zip(sides, found.means, covariances, strict=True)
    ]
    interval = VarianceInterval(found.joint, n, _cell_variance(sides, found, heavy, equal))
    return EstimatedTable(
        found.joint,
        interval.error,
        n,
        first.question.guarantee.compose(second.question.guarantee),
        tuple(sides[0].categories.labels),
        tuple(sides[1].categories.labels),
        _Crossed(sides, found, heavy, covariances, equal, n, (first, second), given),
        confidence=interval,
        limits=SHARE,
        remark="" if given is None else f", design effect {given.design_effect:.2f}",
    )


def _reading_moments(side: CategoryQuestion) -> tuple[float, float]:
    """Return t, the mean square of an answer's decoded indicator for other people, and its increase s − t.

    t = q(1 − q)/(p − q)², and s − t = (1 − 2q)/(p − q).
    """
    return side.q * (1.0 - side.q) / side.gap**2, (1.0 - 2.0 * side.q) / side.gap


def _cell_variance(
    sides: list[CategoryQuestion], found: _Products, heavy: _Products, n: float
) -> tuple[Any, Any, Any]:
    """Return the variance of the share of each pair of answers, as a function a + b·f − c·f² of it.

    The noise of both questions is independent given the answers. So the mean square of the product follows
    from the share f of the pair and the shares r and c of its two answers: (s₁ − t₁)(s₂ − t₂)f + (s₁ − t₁)t₂r
    + t₁(s₂ − t₂)c + t₁t₂. For weighted people, the shares are weighted by the squares of the weights (f + d
    for the pair), with the error of n equally weighted people.
    """
    (t1, own1), (t2, own2) = map(_reading_moments, sides)
    row, column = (np.clip(mean, 0.0, 1.0) for mean in heavy.means)
    constant = t1 * t2 + own1 * t2 * row[:, None] + t1 * own2 * column[None, :]
    if heavy is found:
        return constant / n, own1 * own2 / n, 1.0 / n
    more = np.clip(heavy.joint, 0.0, 1.0) - np.clip(found.joint, 0.0, 1.0)
    return (constant + own1 * own2 * more) / n, (own1 * own2 - 2.0 * more) / n, 1.0 / n


@dataclass(frozen=True, eq=False)
class _Crossed:
    """The test and the shares within rows and columns of a table of two questions."""

    sides: list[CategoryQuestion]
    found: _Products
    heavy: _Products  # the products weighted by the squares of the weights
    covariances: list[Floats]
    equal: float  # the effective number of people
    n: int
    reports: tuple[Reports, Reports]
    weights: Weights | None

    def within(self, side: int) -> QuotientInterval:
        """Return the shares of the second answer among people with the first: f/r, by rows of the first.

        For a share ρ the number y₁(y₂ − ρ) has the mean 0, and its mean square follows from ρ, the share r of
        the first answer and the share c of the second: it is quadratic in ρ, and so are the ends of the
        interval.
        """
        (t1, own1), (t2, own2) = (_reading_moments(self.sides[k]) for k in (side, 1 - side))
        joint = self.found.joint if side == 0 else self.found.joint.T
        row = np.clip(self.heavy.means[side], 0.0, 1.0)[:, None]
        column = np.clip(self.heavy.means[1 - side], 0.0, 1.0)[None, :]
        constant = t1 * t2 + own1 * t2 * row + t1 * own2 * column
        slope = own1 * own2 * row - 2.0 * t1 * column
        square = np.broadcast_to(t1 - own1 * row, joint.shape)
        spread = (constant / self.equal, -slope / (2.0 * self.equal), square / self.equal)
        bottom = np.broadcast_to(self.found.means[side][:, None], joint.shape)
        return QuotientInterval(joint, bottom, spread, self.n)

    def influence(self, at: tuple[int, int], whose: str) -> Floats:
        """Return each person's influence on a share: y₁y₂ − f of people, y₁(y₂ − ρ)/r of rows."""
        first, second = (indicators(part)[:, code] for part, code in zip(self.reports, at, strict=True))
        if whose == "people":
            return influences(first * second, self.weights)[1]
        side = 0 if whose == "rows" else 1
        first, second = (first, second) if side == 0 else (second, first)
        total = float(self.found.means[side][at[side]])
        gaps = first * (second - float(self.found.joint[at]) / total) / total
        return influences(gaps, self.weights)[1]

    def independence(self) -> Significance:
        """Return the χ² test of independence; the covariance of products follows from the factors."""
        bases = [contrasts(len(matrix)) for matrix in self.covariances]
        inside = [base.T @ matrix @ base for base, matrix in zip(bases, self.covariances, strict=True)]
        gaps = bases[0].T @ (self.found.joint - np.outer(*self.found.means)) @ bases[1]
        statistic = self.equal * quadratic_form(gaps, *inside)
        return Significance.chi_square(statistic, gaps.size, INDEPENDENCE)


INDEPENDENCE: Final = "independence of the two answers"
_PAIRS: Final = 1 << 22  # largest number of distinct pairs of reports that are counted
_BITS: Final = 8  # largest number of categories whose sets are counted
# standard errors; the error of a correlation is linear in variances that exceed 0 by this
_CLEAR: Final = 4.0
_FAR: Final = 4.0  # standard errors; a correlation this close to ±1 counts as near ±1


@dataclass(frozen=True, eq=False)
class CorrelationInterval(ConfidenceInterval):
    """The interval of a correlation coefficient, from −1 to 1.

    If both variances exceed 0 by four standard errors, it is Fieller's interval. Near ±1 it also contains
    Fisher's interval (symmetric in artanh(r)), because the error of an estimate near ±1 is too small.
    Otherwise it holds every correlation that is compatible with intervals of the covariance and of both
    variances, each with a third of the error probability.
    """

    quotient: QuotientInterval  # quotient of the covariance and the root of both variances
    covariance: StudentInterval
    variances: tuple[StudentInterval, StudentInterval]

    def interval(self, level: float) -> tuple[float, float]:
        if all(float(variance.value) > _CLEAR * float(variance.error) for variance in self.variances):
            low, high = self.quotient.interval(level)
            turned = self._fisher(level)
            ends = min(float(low), turned[0]), max(float(high), turned[1])
        else:
            each = 1.0 - (1.0 - level) / 3.0
            low, high = self.covariance.interval(each)
            others = [variance.interval(each) for variance in self.variances]
            least, most = (math.sqrt(math.prod(max(end[side], 0.0) for end in others)) for side in (0, 1))
            ends = _least_ratio(low, least, most), -_least_ratio(-high, least, most)
        return max(float(ends[0]), -1.0), min(float(ends[1]), 1.0)

    def _fisher(self, level: float) -> tuple[float, float]:
        value = float(self.quotient.value)
        if not 0.0 < 1.0 - abs(value) < _FAR * float(self.quotient.error):
            return value, value
        reach = student_t_quantile(level, self.quotient.freedom or self.quotient.n - 1)
        reach *= float(self.quotient.error) / (1.0 - value**2)
        return math.tanh(math.atanh(value) - reach), math.tanh(math.atanh(value) + reach)


class _Joint:
    """The averages of two numbers of the same people, and each person's contribution."""

    def __init__(self, first: Reports, second: Reports) -> None:
        self.n = check_pair(first, second)
        self.told = decoded = [PersonNumbers.of(reports) for reports in (first, second)]
        both = answered_all(decoded)
        self.share = float(both.mean())
        self.answered: Floats = both / self.share
        # The number among people who answered both is its decoding times the indicator of the other answer.
        self.means = [
            float((decoded[side].value * decoded[1 - side].answered).mean()) / self.share for side in (0, 1)
        ]
        self.gaps = [
            part.value - mean * part.answered for part, mean in zip(decoded, self.means, strict=True)
        ]
        self.products: Floats = self.gaps[0] * self.gaps[1] / self.share
        self.covariance = float(self.products.sum() / (self.n - 1))
        self.guarantee: Guarantee = first.question.guarantee.compose(second.question.guarantee)
        self.remark = OF_ANSWERS if any(part.optional for part in decoded) else ""

    @property
    def moved(self) -> Floats:
        """Each person's influence on the covariance."""
        return np.asarray(self.products - self.covariance * self.answered)

    def average(self, value: float, influence: Floats) -> StudentInterval:
        """Return a value with the error of its influence function, one number for each person."""
        gaps = influence - influence.mean()
        spread = float((gaps**2).sum() / (self.n - 1))
        skew = float((gaps**3).mean() / spread) if spread > 0.0 else 0.0
        return StudentInterval(value, math.sqrt(spread / self.n), self.n, skew)

    def variance(self, side: int) -> tuple[float, Floats]:
        """Return the variance of the values of one number, and each person's influence on it."""
        other = self.told[1 - side].answered / self.share
        square, gaps, mean = self.told[side].square * other, self.gaps[side] * other, self.means[side]
        size = float(square.mean())
        noise = float((gaps**2).sum() / (self.n - 1) / self.n)  # noise of the squared mean
        influence = square - size * self.answered - 2.0 * mean * gaps
        return size - mean**2 + noise, np.asarray(influence)

    def quotient(self, top: float, bottom: float, above: Floats, below: Floats) -> QuotientInterval:
        """Return a ratio with the errors of the influence functions of its two parts."""
        matrix = np.cov(above, below) / self.n
        spread = float(matrix[0, 0]), float(matrix[0, 1]), float(matrix[1, 1])
        left = above - top / bottom * below
        return QuotientInterval(top, bottom, spread, self.n, freedom(left - left.mean()))


Second = (
    Reports | tuple[str, str] | None
)  # the reports of the other number, or the names of two numbers of the same reports


def _together(first: Reports | Counts, second: Second) -> _Joint | CountedMoments:
    """Return the averages of two numbers, from two reports of a person or one report about both."""
    if isinstance(second, Reports) and isinstance(first, Reports):
        return _Joint(first, second)
    if isinstance(second, Reports) or not isinstance(first, Reports | Counts):
        return _Joint(first, second)  # type: ignore[arg-type]  # which refuses them
    return CountedMoments(first, second)


@name_result
def covariance(first: Reports | Counts, second: Second = None) -> Estimate:
    """Estimate the covariance of two numbers of the same people, without bias.

    For `dt.Nullable` numbers only people who answered both count.
    The reports are in the same order of people, as from `dt.Each`. Reports of
    `dt.optimal.JointMoments` are about both numbers: `dt.stats.covariance(reports)`, or with a pair of names
    if there are more than two.

    >>> import dither as dt, numpy as np
    >>> heights = np.linspace(0, 1, 20_000)
    >>> podium = dt.Podium(dt.Interval(0, 1), epsilon=4)
    >>> asked = dt.Each(arm=podium, leg=podium)
    >>> reports = asked.perturb({"arm": heights, "leg": heights}, source=dt.Seeded(1))
    >>> dt.stats.covariance(reports["arm"], reports["leg"])
    0.0834 ± 0.0015 (95 %, n = 20 000)
    """
    joint = _together(first, second)
    interval = joint.average(joint.covariance, joint.moved)
    clipped = clipping_of("covariance", {"the first number": first, "the second": second})
    return Estimate.of(interval, joint.guarantee, remark=joint.remark, clipping=clipped)


@name_result
def correlation(first: Reports | Counts, second: Second = None) -> Estimate:
    """Estimate the correlation of two numbers of the same people, from −1 to 1.

    The noise does not bias it towards 0, because the variances are of the values and not of the reports.
    For `dt.Nullable` numbers only people who answered both count. Reports of `dt.optimal.JointMoments`
    contain both numbers; pass them by themselves or with a pair of names.
    """
    joint = _together(first, second)
    (x, of_x), (y, of_y) = joint.variance(0), joint.variance(1)
    _positive(x, "first")
    _positive(y, "second")
    bottom = math.sqrt(x * y)
    moved = bottom / 2.0 * (of_x / x + of_y / y)
    parts = joint.quotient(joint.covariance, bottom, joint.moved, moved)
    variances = joint.average(x, of_x), joint.average(y, of_y)
    interval = CorrelationInterval(parts, joint.average(joint.covariance, joint.moved), variances)
    value = min(max(parts.value, -1.0), 1.0)
    error, guarantee = parts.error, joint.guarantee
    clipped = clipping_of("correlation", {"the first number": first, "the second": second})
    more: dict[str, Any] = {"remark": joint.remark, "clipping": clipped}
    return Estimate(value, error, joint.n, guarantee, confidence=interval, **more)


def _least_ratio(low: float, least: float, most: float) -> float:
    """Return the least ratio of a number above `low` and a divisor from `least` to `most`, at least 0."""
    divisor = most if low > 0.0 else least
    return low / divisor if divisor > 0.0 else (-math.inf if low <= 0.0 else 0.0)


def _positive(variance: float, which: str) -> None:
    if not variance > 0.0:
        raise NotIdentifiable(
            f"the variance of the {which} number is not distinguishable from 0; collect more reports, or "
            "use a larger ε. dt.stats.covariance needs no variances"
        )
