"""Two questions that the same people answered: tables, covariance, correlation and linear regression.

Tables of attributes from the reports of `Marginals`: unbiased; consistent and non-negative if asked.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Final, cast

import numpy as np

from dither.arrays import Floats, Integers
from dither.errors import InvalidParameter, NotIdentifiable, found, unknown_name
from dither.estimation.estimate import Estimate, show, thousands
from dither.estimation.frequency import simplex
from dither.estimation.intervals import ConfidenceInterval, StudentInterval, VarianceInterval
from dither.estimation.significance import (
    Significance,
    blocks,
    check_pair,
    contrasts,
    implied_covariance,
    indicators,
    is_dense,
    number_question,
    numbers,
    protocol_of,
    quadratic_form,
    squares,
)
from dither.estimation.summary import Summary, summarise
from dither.kernels.sets.functions import FunctionsKernel, TableReading
from dither.numerics.distributions import student_t_quantile
from dither.privacy import Guarantee
from dither.question import CategoryQuestion, Question
from dither.reports import Reports
from dither.table import Row, as_html, as_text, show_label


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedTable(Estimate):
    """The share of people with each pair of answers. Unbiased: some shares may be negative.

    `table["cat", "house"]` is one share, with its interval; `value` has a row for each answer to the first
    question and a column for each to the second.
    """

    rows: Sequence[Hashable]
    columns: Sequence[Hashable]
    dependence: Significance
    confidence: VarianceInterval = field(kw_only=True)

    def independence(self) -> Significance:
        """Test the hypothesis that the two answers of a person are independent.

        A χ² statistic of the covariances of all pairs of answers, with the covariance that they have under
        the hypothesis: it contains the noise of both mechanisms.
        """
        return self.dependence

    def __getitem__(self, pair: Any) -> Estimate:
        first, second = pair if isinstance(pair, tuple) and len(pair) == 2 else (pair, None)
        if first not in self.rows:
            raise unknown_name("answer to the first question", first, map(str, self.rows))
        if second not in self.columns:
            raise unknown_name("answer to the second question", second, map(str, self.columns))
        at = self.rows.index(first), self.columns.index(second)
        return Estimate.of(self.confidence.pick(at), self.guarantee, origin=self)

    def items(self) -> Iterator[tuple[tuple[Hashable, Hashable], Estimate]]:
        """Return the pairs of answers with their shares."""
        return (((a, b), self[a, b]) for a in self.rows for b in self.columns)

    def _names(self) -> list[Row]:
        return [{"first": row, "second": other} for row in self.rows for other in self.columns]

    def _grid(self) -> tuple[list[str], list[list[str]]]:
        value, half = np.asarray(self.value), np.asarray(self.half_width())
        lines = [
            [
                str(show_label(label)),
                *(show(float(v), float(h)) for v, h in zip(value[i], half[i], strict=True)),
            ]
            for i, label in enumerate(self.rows)
        ]
        return ["", *map(str, self.columns)], lines

    def __repr__(self) -> str:
        return f"{as_text(*self._grid())}\n(95 %, n = {thousands(self.n)})"

    def _repr_html_(self) -> str:
        return as_html(*self._grid())


def distinct_pairs(first: Reports, second: Reports) -> tuple[tuple[Reports, Reports], Floats]:
    """Return the different pairs of reports and how often each occurs; all pairs if they are too many."""
    people, sizes = len(first), [_different(reports) for reports in (first, second)]
    if not all(sizes) or sizes[0] * sizes[1] > min(_PAIRS, people):
        return (first, second), np.ones(people)
    codes = [reports.cells.reshape(people).astype(np.intp) for reports in (first, second)]
    joint = np.bincount(codes[0] * sizes[1] + codes[1])
    seen = np.flatnonzero(joint)
    pair = [
        reports.question.reports(code.astype(reports.cells.dtype).reshape(-1, *reports.cells.shape[1:]))
        for reports, code in zip((first, second), divmod(seen, sizes[1]), strict=True)
    ]
    return (pair[0], pair[1]), joint[seen].astype(np.float64)


def _different(reports: Reports) -> int:
    """Return how many different numbers stand for a report; 0 if it is not one number."""
    cells = reports.cells
    if cells.ndim == 1:
        return reports.question.outcomes
    return int(cells.max()) + 1 if cells.shape[1:] == (1,) and cells.dtype == np.uint8 else 0


def crosstab(first: Reports, second: Reports) -> EstimatedTable:
    """Estimate how frequent each pair of answers is, from two questions that the same people answered.

    The reports are in the same order of people, as those of `dt.Each` and of `dt.data.reports` are. Each
    report is read by its own channel, inverted; their products average to the shares, without bias.

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
    sizes = [len(side.categories) for side in sides]
    products = np.zeros(sizes)
    sums = [np.zeros(size) for size in sizes]
    inner = [np.zeros((size, size)) for size in sizes]
    pair, times = distinct_pairs(first, second)
    for people in blocks(times.size, sum(sizes)):
        told, often = [indicators(reports[people]) for reports in pair], times[people, None]
        products += (often * told[0]).T @ told[1]
        for side, read in enumerate(told):
            sums[side] += (often * read).sum(axis=0)
            inner[side] += (often * read).T @ read
    value = products / n
    means = [total / n for total in sums]
    covariances = [matrix / n - np.outer(mean, mean) for matrix, mean in zip(inner, means, strict=True)]
    # A category that hardly anybody reported has no variance of its own: then it is that of its noise.
    covariances = [
        found if is_dense(side, simplex(mean), n) else implied_covariance(side.kernel, simplex(mean))
        for side, mean, found in zip(sides, means, covariances, strict=True)
    ]
    interval = VarianceInterval(value, n, _cell_variance(sides, means, n))
    return EstimatedTable(
        value,
        interval.error,
        n,
        first.question.guarantee.compose(second.question.guarantee),
        tuple(sides[0].categories.labels),
        tuple(sides[1].categories.labels),
        _independence(value - np.outer(*means), covariances, n),
        confidence=interval,
    )


def _cell_variance(sides: list[CategoryQuestion], means: list[Floats], n: int) -> tuple[Any, Any, Any]:
    """Return the variance of the share of each pair of answers, as a function a + b·f − c·f² of it.

    The square of an answer's indicator has the mean s if it is the person's, else t = q(1 − q)/(p − q)², and
    s − t is (1 − 2q)/(p − q). The noise of both questions is independent given the answers, so that the
    mean square of the product follows from the shares f of the pair, and r and c of its two answers:
    (s₁ − t₁)(s₂ − t₂)f + (s₁ − t₁)t₂r + t₁(s₂ − t₂)c + t₁t₂.
    """
    other = [side.q * (1.0 - side.q) / side.gap**2 for side in sides]
    extra = [(1.0 - 2.0 * side.q) / side.gap for side in sides]
    row, column = (np.clip(mean, 0.0, 1.0) for mean in means)
    constant = (
        other[0] * other[1] + extra[0] * other[1] * row[:, None] + other[0] * extra[1] * column[None, :]
    )
    return constant / n, extra[0] * extra[1] / n, 1.0 / n


def _independence(dependence: Floats, covariances: list[Floats], n: int) -> Significance:
    """Return the χ² test of no dependence; under it the covariance of products is that of the factors."""
    bases = [contrasts(len(matrix)) for matrix in covariances]
    inside = [base.T @ matrix @ base for base, matrix in zip(bases, covariances, strict=True)]
    gaps = bases[0].T @ dependence @ bases[1]
    statistic = n * quadratic_form(gaps, *inside)
    return Significance.chi_square(statistic, gaps.size, "independence of the two answers")


_PAIRS: Final = 1 << 22  # different pairs of reports that are counted
# By how many standard errors variances exceed 0 for the error of a correlation to be linear in theirs.
_CLEAR: Final = 4.0


@dataclass(frozen=True, eq=False)
class QuotientInterval(ConfidenceInterval):
    """Fieller's interval of a ratio of two correlated averages [Fieller54].

    It holds all r for which top − r·bottom is compatible with 0, and is infinite where the bottom may be 0.
    `spread` is the covariance matrix of the two averages: of the top, of both, of the bottom.
    """

    top: float
    bottom: float
    spread: tuple[float, float, float]
    n: int

    @property
    def value(self) -> float:
        """The ratio."""
        return self.top / self.bottom

    @property
    def error(self) -> float:
        """The standard error of the ratio."""
        value, (top, both, bottom) = self.value, self.spread
        return math.sqrt(max(top - 2 * value * both + value**2 * bottom, 0.0)) / abs(self.bottom)

    def interval(self, level: float) -> tuple[float, float]:
        return fieller(self.top, self.bottom, self.spread, student_t_quantile(level, self.n - 1))


@dataclass(frozen=True, eq=False)
class CorrelationInterval(ConfidenceInterval):
    """The interval of a correlation coefficient, from −1 to 1.

    It is Fieller's if both variances exceed 0 by four standard errors. Otherwise it holds every correlation
    that fits intervals of the covariance and of both variances, at a third of the error each.
    """

    quotient: QuotientInterval  # of the covariance and the root of both variances
    covariance: StudentInterval
    variances: tuple[StudentInterval, StudentInterval]

    def interval(self, level: float) -> tuple[float, float]:
        if all(float(variance.value) > _CLEAR * float(variance.error) for variance in self.variances):
            ends = self.quotient.interval(level)
        else:
            each = 1.0 - (1.0 - level) / 3.0
            low, high = self.covariance.interval(each)
            others = [variance.interval(each) for variance in self.variances]
            least, most = (math.sqrt(math.prod(max(end[side], 0.0) for end in others)) for side in (0, 1))
            ends = _least_ratio(low, least, most), -_least_ratio(-high, least, most)
        return max(float(ends[0]), -1.0), min(float(ends[1]), 1.0)


@dataclass(frozen=True, eq=False)
class EstimatedLine:
    """The line that fits the second number best to the first: slope and intercept, with their intervals.

    `slope`, `intercept` and `at(x)` are estimates. The noise of the first number does not flatten the slope.
    """

    slope: Estimate
    intercept: Estimate
    _line: _Line = field(repr=False)

    def at(self, x: float) -> Estimate:
        """Estimate the mean of the second number for people whose first number is x, on the line."""
        number = isinstance(x, int | float | np.integer | np.floating) and not isinstance(x, bool)
        if not number or not math.isfinite(x):
            raise InvalidParameter(f"x is one finite number, not {found(x)}")
        return self._line.at(float(x))

    def __repr__(self) -> str:
        return f"slope {self.slope}; intercept {self.intercept}"


@dataclass(frozen=True, eq=False)
class _Line:
    """The averages behind a line and each person's influence on them, with numbers taken from the middle."""

    joint: _Joint
    variance: float
    influence: Floats  # on the variance of the first number

    def at(self, x: float) -> Estimate:
        joint, variance = self.joint, self.variance
        offset = x - joint.middles[0] - joint.means[0]
        top = joint.means[1] * variance + joint.covariance * offset
        moved = (
            variance * joint.gaps[1]
            + joint.means[1] * self.influence
            + offset * (joint.products - joint.products.mean())
            - joint.covariance * joint.gaps[0]
        )
        # The middle of the second domain is added to the top as a multiple of the bottom.
        top += joint.middles[1] * variance
        found = joint.quotient(top, variance, moved + joint.middles[1] * self.influence, self.influence)
        return Estimate.of(found, joint.guarantee)

    def slope(self) -> Estimate:
        joint = self.joint
        moved = joint.products - joint.products.mean()
        found = joint.quotient(joint.covariance, self.variance, moved, self.influence)
        return Estimate.of(found, joint.guarantee)


class _Joint:
    """The averages of two numbers of the same people, and each person's part in them."""

    def __init__(self, first: Reports, second: Reports) -> None:
        self.n = check_pair(first, second)
        self.reports = first, second
        told = [numbers(reports) for reports in (first, second)]
        lines = [number_question(reports).line for reports in (first, second)]
        self.middles = [(line.low + line.high) / 2.0 for line in lines]
        self.means = [float(column.mean()) for column in told]
        self.gaps = [column - mean for column, mean in zip(told, self.means, strict=True)]
        self.products: Floats = self.gaps[0] * self.gaps[1]
        self.covariance = float(self.products.sum() / (self.n - 1))
        self.guarantee: Guarantee = first.question.guarantee.compose(second.question.guarantee)

    def average(self, value: float, influence: Floats) -> StudentInterval:
        """Return a value with the error of its influence function, one number for each person."""
        gaps = influence - influence.mean()
        spread = float((gaps**2).sum() / (self.n - 1))
        skew = float((gaps**3).mean() / spread) if spread > 0.0 else 0.0
        return StudentInterval(value, math.sqrt(spread / self.n), self.n, skew)

    def variance(self, side: int) -> tuple[float, Floats]:
        """Return the variance of the values of one number, and each person's influence on it."""
        square = squares(self.reports[side])
        mean = self.means[side]
        noise = float((self.gaps[side] ** 2).sum() / (self.n - 1) / self.n)  # of the squared mean
        influence = square - square.mean() - 2.0 * mean * self.gaps[side]
        return float(square.mean()) - mean**2 + noise, np.asarray(influence)

    def quotient(self, top: float, bottom: float, above: Floats, below: Floats) -> QuotientInterval:
        """Return a ratio with the errors of the influence functions of its two parts."""
        matrix = np.cov(above, below) / self.n
        spread = float(matrix[0, 0]), float(matrix[0, 1]), float(matrix[1, 1])
        return QuotientInterval(top, bottom, spread, self.n)


def covariance(first: Reports, second: Reports) -> Estimate:
    """Estimate the covariance of two numbers of the same people, without bias.

    The reports are in the same order of people, as those of `dt.Each` are.
    """
    joint = _Joint(first, second)
    return Estimate.of(joint.average(joint.covariance, joint.products), joint.guarantee)


def correlation(first: Reports, second: Reports) -> Estimate:
    """Estimate the correlation of two numbers of the same people: from −1 to 1, and 0 if it is unrelated.

    The noise of the reports does not pull it towards 0: variances of the values are used, not of the reports.
    """
    joint = _Joint(first, second)
    (x, of_x), (y, of_y) = joint.variance(0), joint.variance(1)
    _positive(x, "first")
    _positive(y, "second")
    bottom = math.sqrt(x * y)
    moved = bottom / 2.0 * (of_x / x + of_y / y)
    parts = joint.quotient(joint.covariance, bottom, joint.products - joint.products.mean(), moved)
    variances = joint.average(x, of_x), joint.average(y, of_y)
    interval = CorrelationInterval(parts, joint.average(joint.covariance, joint.products), variances)
    value = min(max(parts.value, -1.0), 1.0)
    return Estimate(value, parts.error, joint.n, joint.guarantee, confidence=interval)


def regression(first: Reports, second: Reports) -> EstimatedLine:
    """Estimate the least-squares line of the second number on the first, for the same people."""
    joint = _Joint(first, second)
    variance, influence = joint.variance(0)
    _positive(variance, "first")
    line = _Line(joint, variance, influence)
    return EstimatedLine(line.slope(), line.at(0.0), line)


def fieller(
    top: float, bottom: float, spread: tuple[float, float, float], reach: float
) -> tuple[float, float]:
    """Return the ends of {r : (top − r·bottom)² ≤ reach²·variance}; infinite if the bottom may be 0."""
    if not math.isfinite(reach):
        return -math.inf, math.inf
    lead = bottom**2 - reach**2 * spread[2]
    middle = top * bottom - reach**2 * spread[1]
    rest = top**2 - reach**2 * spread[0]
    if lead <= 0.0:
        return -math.inf, math.inf
    root = math.sqrt(max(middle**2 - lead * rest, 0.0))
    return (middle - root) / lead, (middle + root) / lead


def _least_ratio(low: float, least: float, most: float) -> float:
    """Return the least ratio of a number above `low` and a divisor from `least` to `most`, at least 0."""
    divisor = most if low > 0.0 else least
    return low / divisor if divisor > 0.0 else (-math.inf if low <= 0.0 else 0.0)


def _positive(variance: float, which: str) -> None:
    if not variance > 0.0:
        raise NotIdentifiable(
            f"the variance of the {which} number cannot be told from 0 by these reports; ask more people, or "
            "use a larger ε. dt.covariance needs no variances"
        )


Variance = tuple[Any, Any, Any]  # a, b and c of the variance a + b·f − c·f² of a share f

_ROUNDS: Final = 500
_CLOSE: Final = 1e-10


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedTables(Mapping[tuple[str, ...], Estimate]):
    """Shares of the cells of every table: `tables["age", "sex"]` is an `Estimate` of a matrix.

    Names may be given in either order. The tables are unbiased; cells may be negative. `consistent` makes
    them non-negative, with equal shares of an attribute in all tables that hold it.
    """

    parts: dict[tuple[str, ...], Estimate]
    n: int
    possible: bool = False

    def __getitem__(self, names: Any) -> Estimate:
        key = (names,) if isinstance(names, str) else names
        if key in self.parts:
            return self.parts[key]
        if isinstance(key, tuple) and len(key) == 2 and key[::-1] in self.parts:
            return _table(_interval(self.parts[key[::-1]]).transpose(), self.parts[key[::-1]].guarantee)
        listed = "; ".join(", ".join(names) for names in list(self.parts)[:8])
        raise InvalidParameter(f"there is no table {found(names)}; there are {listed}")

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def consistent(self) -> EstimatedTables:
        """Return non-negative tables that sum to 1 and agree about every attribute, near the unbiased ones.

        Tables are projected in turn onto those that agree and onto those that are possible. The step biases
        rare cells; standard errors stay those of the unbiased tables.
        """
        values = {key: np.asarray(part.value, dtype=np.float64) for key, part in self.parts.items()}
        for _ in range(_ROUNDS):
            possible = {key: np.maximum(value, 0.0) for key, value in values.items()}
            agreeing = _agree(possible)
            moved = max(float(np.abs(agreeing[key] - possible[key]).max()) for key in values)
            values = agreeing
            if moved < _CLOSE:
                break
        kept = {key: np.maximum(value, 0.0) for key, value in values.items()}
        kept = {key: value / value.sum() for key, value in kept.items()}
        moved_parts = {
            key: replace(part, value=kept[key], confidence=replace(_interval(part), value=kept[key]))
            for key, part in self.parts.items()
        }
        return EstimatedTables(moved_parts, self.n, True)

    def __repr__(self) -> str:
        shown = ", ".join(" × ".join(key) for key in list(self.parts)[:4])
        more = ", …" if len(self) > 4 else ""
        step = ", consistent" if self.possible else ""
        return f"EstimatedTables({shown}{more}; n = {thousands(self.n)}{step})"


def tables(reports: Reports | Summary) -> EstimatedTables:
    """Estimate the tables of all pairs of attributes (or of all attributes) from reports of `Marginals`.

    Without bias. The values of each function are read by f = (share − q)/(p − q); a table is put together
    from its functions, directly or by lines.
    """
    summary = summarise(reports)
    question = summary.question
    kernel = question.kernel
    if not isinstance(kernel, FunctionsKernel):
        raise InvalidParameter(f"tables are estimated from reports of Marginals, not of {question.name}")
    reading: TableReading = question.book
    shares, variances = _values(question, kernel, summary.counts)
    names, sizes = question.domain.names, kernel.sizes
    asked = [function.attributes for function in kernel.functions]
    found: dict[tuple[str, ...], tuple[Floats, Variance]] = {}
    for places in combinations(range(len(sizes)), reading.way):
        key = tuple(names[place] for place in places)
        if reading.order:
            found[key] = _from_lines(kernel, reading.order, places, shares, variances)
        else:
            at = asked.index(places)
            shape = tuple(sizes[place] for place in places)
            found[key] = shares[at].reshape(shape), variances[at]
    if reading.way == 2 and not reading.order:
        found = _agreeing(found, len(sizes))
    guarantee, n = question.guarantee, summary.n
    parts = {
        key: _table(VarianceInterval(value, n, variance), guarantee)
        for key, (value, variance) in found.items()
    }
    return EstimatedTables(parts, n)


def _table(interval: VarianceInterval, guarantee: Guarantee) -> Estimate:
    return Estimate.of(interval, guarantee)


def _interval(table: Estimate) -> VarianceInterval:
    return cast("VarianceInterval", table.confidence)


def _values(
    question: Question, kernel: FunctionsKernel, counts: Integers
) -> tuple[list[Floats], list[Variance]]:
    """Return the share of every value of every function, and its variance as a function of the share.

    With m = q + (p − q)f it is m(1 − m)/(n(p − q)²) [Wang17, Thm 2].
    """
    counting = kernel.counting(question.domain)
    shares: list[Floats] = []
    variances: list[Variance] = []
    people = counting.people(counts)
    if min(people, default=0) < 2:
        raise NotIdentifiable("some functions were reported by fewer than two people; ask more people")
    order = question.book.order
    for draw, function, own, n in zip(
        kernel.reporting, kernel.functions, counting.split(counts), people, strict=True
    ):
        q, gap = float(draw.rates[1]), float(draw.rates[0] - draw.rates[1])
        share = draw.supports(own, order or len(function.values)) / n
        shares.append((share - q) / gap)
        variances.append((q * (1.0 - q) / (n * gap**2), (1.0 - 2.0 * q) / (n * gap), 1.0 / n))
    return shares, variances


def _from_lines(
    kernel: FunctionsKernel,
    order: int,
    places: tuple[int, ...],
    shares: list[Floats],
    variances: list[Variance],
) -> tuple[Floats, Variance]:
    """Return a table from the shares of its lines: (Σ over directions of the cell's line − 1)/q.

    The share of a line is that of the cell and of the rest of the line, which is taken as estimated.
    """
    asked = [function.attributes for function in kernel.functions]
    shape = (kernel.sizes[places[0]], kernel.sizes[places[1]])
    begin = asked.index(places)
    lines = [(asked.index((places[side],)), np.indices(shape)[side]) for side in (0, 1)]
    lines += [(at, np.reshape(kernel.functions[at].values, shape)) for at in range(begin, begin + order - 1)]
    value = (np.sum([shares[at][line] for at, line in lines], axis=0) - 1.0) / order
    constant, slope, square = np.zeros((3, *shape))
    for at, line in lines:
        a, b, c = variances[at]
        rest = np.clip(shares[at][line] - np.maximum(value, 0.0), 0.0, 1.0)
        constant += a + b * rest - c * rest**2
        slope += b - 2.0 * c * rest
        square += c
    return np.asarray(value), (constant / order**2, slope / order**2, square / order**2)


def _agreeing(
    found: dict[tuple[str, ...], tuple[Floats, Variance]], attributes: int
) -> dict[tuple[str, ...], tuple[Floats, Variance]]:
    """Return tables that sum to 1 and agree about every attribute, by least squares, with their variances."""
    values = _agree({key: value for key, (value, _) in found.items()})
    out: dict[tuple[str, ...], tuple[Floats, Variance]] = {}
    for key, (value, (constant, slope, square)) in found.items():
        rows, columns = value.shape
        kept = (rows - 1) * (columns - 1) + (rows + columns - 2) / (attributes - 1)
        part = kept / (rows * columns - 1)
        # A projection P has Σ_k P_ik² = P_ii: the cell's own variance counts P_ii² times, others the rest.
        near = np.clip(values[key], 0.0, 1.0)
        others = (part - part**2) * float(np.mean(constant + slope * near - square * near**2))
        own = part**2
        out[key] = values[key], (constant * own + others, slope * own, square * own)
    return out


def _agree(values: dict[tuple[str, ...], Floats]) -> dict[tuple[str, ...], Floats]:
    """Return the nearest tables, in squares, that sum to 1 and have the same shares of every attribute.

    The shares of an attribute are the mean over its tables, weighted by one over the other side's categories.
    """
    whole = {key: value + (1.0 - value.sum()) / value.size for key, value in values.items()}
    if any(value.ndim == 1 for value in whole.values()):
        return whole
    sums: dict[str, list[tuple[Floats, float]]] = {}
    for (first, second), value in whole.items():
        sums.setdefault(first, []).append((value.sum(axis=1), 1.0 / value.shape[1]))
        sums.setdefault(second, []).append((value.sum(axis=0), 1.0 / value.shape[0]))
    means = {
        name: np.sum([share * weight for share, weight in known], axis=0) / sum(w for _, w in known)
        for name, known in sums.items()
    }
    out: dict[tuple[str, ...], Floats] = {}
    for (first, second), value in whole.items():
        rows = (means[first] - value.sum(axis=1)) / value.shape[1]
        columns = (means[second] - value.sum(axis=0)) / value.shape[0]
        out[first, second] = value + rows[:, None] + columns[None, :]
    return out
