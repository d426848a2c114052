"""Tests of distributions that account for the noise: χ² for categories, Kolmogorov–Smirnov for numbers.

If few reports of a category are expected, or its joint distribution with others has no closed form, the
p-value of a χ² statistic is simulated under the hypothesis, or found by permuting the people of two groups.
Then it is exact for any number of reports.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeGuard

import numpy as np

from dither.core.counts import Counts, name_result, summarise
from dither.core.domains import Line
from dither.core.kernels.codes import SupportKernel
from dither.core.kernels.counting import EachReport
from dither.core.kernels.sets.bits import Bits
from dither.core.kernels.sets.hadamard import Columns
from dither.core.kernels.sets.projective import ProjectiveKernel
from dither.core.people import overlap
from dither.core.question import CategoryQuestion, OptionalQuestion, Question
from dither.core.reports import Reports
from dither.errors import InvalidParameter, Mismatch, NotIdentifiable
from dither.estimation.frequency import pair_rates
from dither.estimation.method import has_numbers, may_be_missing
from dither.estimation.person_numbers import check_one_answer, indicators, interval_question, protocol_of
from dither.estimation.projections import simplex
from dither.estimation.weights import Weighting, as_weights, check_weighted
from dither.foundation.arrays import Floats, Integers
from dither.foundation.numerics.distributions import chi_square_survival, kolmogorov_survival, kuiper_survival
from dither.foundation.randomness import Seeded
from dither.foundation.tables import Row, Tabular

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_FEW: Final = 64  # largest number of different reports whose counts are compared by χ²
_ROWS: Final = 4096
_EXPECTED: Final = 10.0  # least expected reports of each category for the χ² distribution
_DRAWS: Final = (199, 999)  # least and largest number of simulated statistics
_REACHED: Final = 10  # the simulation ends after this many statistics as large as the observed one
_WORK: Final = 1 << 22  # numbers that a simulation may draw, unless it needs more for the fewest
_MOST_PEOPLE: Final = 10**9  # limit of numpy's hypergeometric draws
_MOST_WORK: Final = 1 << 29  # with more work, the χ² distribution is used


@dataclass(frozen=True)
class Significance(Tabular):
    """The result of a test: its statistic, and the probability of a larger one under the hypothesis."""

    hypothesis: str
    method: str
    statistic: float
    p_value: float
    freedom: int | None = None
    draws: int = 0  # number of simulated statistics; 0 if the distribution is known

    @staticmethod
    def chi_square(statistic: float, freedom: int, hypothesis: str) -> Significance:
        """Return the result of a χ² test."""
        if not math.isfinite(statistic):
            raise NotIdentifiable(
                "expected reports that vary, got equal ones, so nothing can be tested; collect more reports"
            )
        p = chi_square_survival(statistic, freedom)
        return Significance(hypothesis, "χ²", float(statistic), p, freedom)

    def records(self) -> list[Row]:
        """Return one row: the hypothesis, the method, its statistic and the p-value."""
        return [
            {
                "hypothesis": self.hypothesis,
                "method": self.method,
                "statistic": self.statistic,
                "freedom": self.freedom,
                "p": self.p_value,
            }
        ]

    def plot(self, *, title: str = "", ax: Axes | None = None) -> Axes:
        """Draw the p-value next to the usual levels of a test; needs the extra `plot`."""
        from dither.estimation.plotting import draw_test

        return draw_test(self, title=title, ax=ax)

    def __repr__(self) -> str:
        freedom = (
            ""
            if self.freedom is None
            else f" with {self.freedom} degree{'s' * (self.freedom > 1)} of freedom"
        )
        p = "< 1e-15" if self.p_value < 1e-15 else f"= {self.p_value:.2g}"
        # No simulated statistic was as large as the observed one.
        if self.draws and self.p_value * (self.draws + 1) < 1.5:
            p = f"≤ {self.p_value:.2g}"
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


@name_result
def same_distribution(
    first: Reports | Counts,
    second: Reports | Counts,
    *,
    weights: tuple[Weighting, Weighting] | None = None,
) -> Significance:
    """Test the hypothesis that two groups of different people have the same distribution of answers.

    Under the hypothesis, reports of one mechanism also have the same distribution. So the noise changes the
    power of the test, but not its level. Categories are compared by χ² of the differences of frequencies;
    their ε may differ. Numbers are compared by the Kolmogorov–Smirnov test of the reports, or Kuiper's test
    on circles. With at most 64 different reports, the χ² test of their counts is used. `dt.Nullable` numbers
    are compared by χ² of the shares of five classes of reports among the people who answered, for any
    response rates.

    `weights` is a pair: the weights of the first and of the second group. Then categories, or five classes of
    reports on numbers, are compared by weighted shares, with a covariance that accounts for the weights.
    """
    questions = [
        reports.question if isinstance(reports, Reports | Counts) else None for reports in (first, second)
    ]
    for question in questions:
        if question is not None and not question.alone:
            raise InvalidParameter(
                "expected reports that are independent between people; use a mechanism of one person, such "
                "as KRR"
            )
        if question is not None:
            check_one_answer(question)
    if overlap(getattr(first, "people", ()), getattr(second, "people", ())):
        raise InvalidParameter(
            "expected groups of different people, but some people are in both; subtract the means or shares "
            "of the same people, dt.mean(a) - dt.mean(b), or test two answers by dt.stats.crosstab"
        )
    if weights is not None:
        return _same_weighted(first, second, weights)
    if all(question is not None and "frequencies" in question.quantities for question in questions):
        return _same_frequencies(first, second)
    left, right = summarise(first), summarise(second)
    if left.question.fingerprint == right.question.fingerprint and _may_be_left_out(left.question):
        return _same_answers(left, right)
    if left.question.fingerprint != right.question.fingerprint or not has_numbers(left.question):
        raise Mismatch(
            "expected reports of one mechanism with the same ε to compare two distributions of numbers; use "
            "dt.mean(a) - dt.mean(b) to compare means at different ε"
        )
    if min(left.n, right.n) < 2:
        raise NotIdentifiable("each group needs at least two reports")
    cells = left.question.outcomes
    tallies = [np.asarray(part.counts[:cells], dtype=np.float64) for part in (left, right)]
    what = "both groups have the same distribution"
    if cells <= _FEW:
        both = tallies[0] + tallies[1]
        few = float(both[both > 0].min()) * min(left.n, right.n) < _EXPECTED * both.sum()
        drawn = _divide(both.astype(np.int64), left.n) if few else np.zeros((0, cells))
        statistic = float(_pearson(tallies[0], both, left.n))
        freedom = max(int(np.count_nonzero(both)) - 1, 1)
        return _judge(statistic, _pearson(drawn, both, left.n), what, freedom=freedom, how="permuted")
    gaps = np.cumsum(tallies[0] / left.n - tallies[1] / right.n)
    size = left.n * right.n / (left.n + right.n)
    return _kolmogorov(gaps, size, left.question.line.circular, what)


def _same_weighted(first: object, second: object, weights: tuple[Weighting, Weighting]) -> Significance:
    """Return the test of two groups of weighted people, from their joined reports and weights."""
    told = [check_weighted(reports) for reports in (first, second)]
    if not isinstance(weights, tuple | list) or len(weights) != 2:
        raise InvalidParameter("expected weights of both groups: weights=(first, second)")
    sides = [as_weights(part, len(reports)).shares for part, reports in zip(weights, told, strict=True)]
    nobody = [np.zeros(part.size) for part in sides]
    members = [np.concatenate(pair) for pair in ((sides[0], nobody[1]), (nobody[0], sides[1]))]
    return same_among_private(Reports.concatenate(told), *members)


def same_among_private(reports: Reports, first: Floats, second: Floats) -> Significance:
    """Test the hypothesis that the people of two private groups have the same distribution of answers.

    `first` and `second` have a number for each person. Its mean is 1 for a member of the group and 0 for
    others (`indicators`). Answers are compared by the shares of categories, or of five classes of reports on
    numbers: Σ y·g/Σ y estimates the share g of a group, and the statistic is the χ² of the differences with
    the covariance of their linearisations under the hypothesis. It contains the noise of both questions. For
    `dt.Nullable` numbers they are the shares among people who answered.
    """
    check_one_answer(reports.question)
    answered = np.ones(len(reports))
    if "frequencies" in reports.question.quantities:
        classes = indicators(reports)[:, 1:]
    elif _may_be_left_out(reports.question):
        cells = reports.cells.reshape(-1)
        each, of_answers = _answer_classes(reports.question, np.bincount(cells))
        classes, answered = each[cells], of_answers[cells]
    else:
        interval_question(reports)
        cells = reports.cells.reshape(-1)
        edges = np.unique(np.quantile(cells, [0.2, 0.4, 0.6, 0.8], method="higher"))
        index = np.searchsorted(edges, cells, side="right")
        kept = np.unique(index)[1:]
        classes = np.asarray(index[:, None] == kept, dtype=np.float64)
    sizes = [float(first @ answered), float(second @ answered)]
    if not (min(sizes) > 0.0 and classes.shape[1]):
        raise NotIdentifiable("expected people in both groups, but one group may be empty; ask more people")
    pooled = (first + second) @ classes / sum(sizes)
    parts = [
        group[:, None] * (classes - answered[:, None] * pooled) / size
        for group, size in zip((first, second), sizes, strict=True)
    ]
    each = parts[0] - parts[1]
    gaps = each.sum(axis=0)
    statistic = float(gaps @ np.linalg.pinv(each.T @ each, rcond=1e-10) @ gaps)
    return Significance.chi_square(statistic, gaps.size, "both groups have the same distribution")


@name_result
def goodness_of_fit(
    reports: Reports, expected: Mapping[Any, float] | Sequence[float] | Floats
) -> Significance:
    """Test the hypothesis that answers are distributed as expected.

    For categories `expected` is a mapping from answers to shares that sum to 1. For numbers it is a list of
    public values, each equally likely, such as quantiles of a distribution at (i + ½)/m. For `dt.Nullable`
    answers it describes the people who answered or, with a share for `None`, all people.
    """
    if not isinstance(reports, Reports) or not reports.question.alone:
        raise InvalidParameter(
            "expected reports of independent people for a goodness of fit; use a mechanism of one person, "
            "such as KRR"
        )
    what = "answers are distributed as expected"
    question = reports.question
    if "frequencies" in question.quantities:
        protocol = protocol_of(reports)
        every = list(protocol.categories.labels)
        silent = isinstance(expected, Mapping) and None in every and None not in expected
        if not isinstance(expected, Mapping) or set(expected) | ({None} if silent else set()) != set(every):
            raise InvalidParameter(
                "expected `expected` to be a mapping with a share for exactly the categories"
            )
        labels = [label for label in every if label is not None or not silent]
        shares = np.array([expected[label] for label in labels], dtype=np.float64)
        if not (np.isfinite(shares).all() and shares.min() >= 0.0 and abs(shares.sum() - 1.0) < 1e-6):
            raise InvalidParameter(
                "expected the shares of `expected` to be numbers from 0 to 1 that sum to 1"
            )
        if silent:
            reported = indicators(reports)[:, np.array([label is not None for label in every])]
            return _expected_answers(reported, reported.sum(axis=1), shares, np.ones(len(reported)), what)
        return _expected_shares(reports, protocol, shares / shares.sum(), what)
    if isinstance(expected, Mapping):
        raise InvalidParameter(
            "expected `expected` to be a list of equally likely values for numbers, got a mapping"
        )
    if _may_be_left_out(question):
        counts = np.asarray(summarise(reports).counts, dtype=np.float64)
        classes, of_answers = _answer_classes(question, counts)
        positions = np.arange(counts.size)
        values = _expected_values(question.line, expected)
        laws = (question.kernel.likelihoods(positions, np.asarray(value)) for value in values)
        shares = np.mean([law @ classes for law in laws], axis=0)
        return _expected_answers(classes, of_answers, shares, counts, what)
    if not has_numbers(question):
        raise InvalidParameter(f"expected reports on numbers or categories, got reports of {question.name}")
    values = _expected_values(question.line, expected)
    operator = question.likelihood(values, _ROWS)
    law = operator.forward(np.full(values.size, 1.0 / values.size))
    counts = operator.counts(summarise(reports).counts)
    if law.size <= _FEW:
        law, n = law / law.sum(), len(reports)
        few = n * float(law.min()) < _EXPECTED
        drawn = np.random.default_rng(1).multinomial(n, law, size=_DRAWS[1] if few else 0)
        found = float(_fit(counts, law * n))
        return _judge(found, _fit(drawn, law * n), what, freedom=law.size - 1)
    reported = counts / len(reports)
    return _kolmogorov(np.cumsum(reported - law), float(len(reports)), question.line.circular, what)


def _expected_values(line: Line, expected: object) -> Floats:
    values = np.sort(line.check(expected)).reshape(-1)
    if not values.size:
        raise InvalidParameter("expected at least one value in `expected`, got none")
    return values


def _may_be_left_out(question: Question) -> TypeGuard[OptionalQuestion]:
    """Return whether reports are on an optional number in an interval."""
    return may_be_missing(question) and not question.line.circular


def _answer_classes(question: OptionalQuestion, counts: Floats | Integers) -> tuple[Floats, Floats]:
    """Return a number for each report and class of reports, and the decoded indicator of an answer.

    Reports on numbers are divided into five classes of about equal size, and all but the first are kept. For
    every person the noise puts a report into a class with a known probability. Less this probability, the
    number has the mean 0 without an answer, so its ratio to the decoded indicator is a mean over the people
    who answered.
    """
    kernel = question.kernel
    reported = np.zeros(kernel.outcomes)
    reported[: len(counts)] = counts
    running = np.cumsum(reported[: kernel.room])
    edges = np.unique(np.searchsorted(running, running[-1] * np.array([0.2, 0.4, 0.6, 0.8]))) + 1
    index = np.searchsorted(edges, np.arange(kernel.room), side="right")
    classes = np.zeros((kernel.outcomes, int(index[-1])))
    for number in range(1, int(index[-1]) + 1):
        inside = np.flatnonzero(index == number)
        classes[inside, number - 1] = 1.0
        classes[:, number - 1] -= (1.0 - kernel.window.contrast) * inside.size / kernel.outcomes
    return classes, kernel.answer_reading()


def _same_answers(left: Counts, right: Counts) -> Significance:
    """Return the χ² test of equal shares of classes among those who answered in two groups."""
    counts = [np.asarray(part.counts, dtype=np.float64) for part in (left, right)]
    classes, answered = _answer_classes(left.question, counts[0] + counts[1])  # type: ignore[arg-type]
    sizes = [float(part @ answered) for part in counts]
    errors = [math.sqrt(float(part @ answered**2)) for part in counts]
    if not all(size > error for size, error in zip(sizes, errors, strict=True)) or not classes.shape[1]:
        raise NotIdentifiable(
            "too few people of a group answered to compare it; ask more people, or join groups"
        )
    pooled = (counts[0] + counts[1]) @ classes / sum(sizes)
    gaps = counts[0] @ classes / sizes[0] - counts[1] @ classes / sizes[1]
    moved = classes - answered[:, None] * pooled
    spread = np.zeros((gaps.size, gaps.size))
    for part, size in zip(counts, sizes, strict=True):
        centred = moved - part @ moved / part.sum()
        spread += (centred * part[:, None]).T @ centred / size**2
    statistic = quadratic_form(gaps, spread)
    return Significance.chi_square(statistic, gaps.size, "those who answered have the same distribution")


def _expected_answers(
    reported: Floats, answered: Floats, expected: Floats, counts: Floats, what: str
) -> Significance:
    """Return the χ² test that mean(`reported`) is `expected` times mean(`answered`), by counts."""
    moved = (reported - answered[:, None] * expected)[:, : reported.shape[1]]
    mean = counts @ moved / counts.sum()
    centred = moved - mean
    spread = (centred * counts[:, None]).T @ centred / counts.sum() ** 2
    rank = int(np.linalg.matrix_rank(spread, tol=1e-9 * float(np.abs(spread).max() or 1.0), hermitian=True))
    statistic = float(mean @ np.linalg.pinv(spread, rcond=1e-9, hermitian=True) @ mean) if rank else math.inf
    return Significance.chi_square(statistic, max(rank, 1), f"{what} among those who answered")


def _kolmogorov(gaps: Floats, n: float, circular: bool, what: str) -> Significance:
    if circular:
        statistic = float(max(gaps.max(), 0.0) - min(gaps.min(), 0.0))
        return Significance(what, "Kuiper's V", statistic, kuiper_survival(statistic, n))
    statistic = float(np.abs(gaps).max())
    return Significance(what, "Kolmogorov–Smirnov D", statistic, kolmogorov_survival(statistic, n))


def _fit(counts: Any, expected: Floats) -> Floats:
    """Return Pearson's χ² statistic of counts, along the last axis."""
    return np.asarray(((counts - expected) ** 2 / expected).sum(axis=-1))


def _pearson(first: object, both: Floats, n: int) -> Floats:
    """Return the χ² statistic of homogeneity, from the counts of the first of two groups."""
    seen = both > 0
    share = n / both.sum()
    expected = both[seen] * share
    return np.asarray(_fit(np.asarray(first)[..., seen], expected) / (1.0 - share))


def _judge(
    statistic: float,
    simulated: Floats,
    what: str,
    *,
    freedom: int,
    dense: bool = False,
    how: str = "simulated",
) -> Significance:
    """Return the result of a χ² test, from simulated statistics if there are any.

    Equal statistics count half (the mid-p value [Lancaster61]): with two categories there are many, and the
    test would rarely reject. If `dense`, a statistic that hardly any simulated one reaches has the p-value of
    the multiple of a χ² variable that has their mean and variance [Satterthwaite46].
    """
    if not simulated.size:
        return Significance.chi_square(statistic, freedom, what)
    close = 1e-9 * max(abs(statistic), 1.0)
    beyond, reached = (np.count_nonzero(simulated > statistic + side) for side in (close, -close))
    if dense and reached < _REACHED:
        mean = float(simulated.mean())
        fitted = max(round(2.0 * mean**2 / float(simulated.var())), 1)
        return Significance.chi_square(statistic * fitted / mean, fitted, what)
    p = float((1 + beyond + reached) / 2.0 + 0.5) / (simulated.size + 1)
    return Significance(what, f"χ² ({how})", statistic, p, None, simulated.size)


def category_noise(kernel: SupportKernel) -> tuple[float, float]:
    """Return a and b such that a frequency f has the variance (a + b·f − f²)/n, up to a common term.

    The covariance of the estimates of all categories is diag(a + b·f) − ffᵀ, up to terms that are the same
    along a row or a column; contrasts between categories do not depend on these terms.
    """
    gap = float(kernel.rates[0] - kernel.rates[1])
    own, both = pair_rates(kernel)
    return (float(kernel.rates[1]) - both) / gap**2, (gap - 2.0 * (own - both)) / gap**2


def implied_covariance(kernel: SupportKernel, shares: Floats) -> Floats:
    """Return the covariance of a person's indicators that shares imply, up to terms without contrasts."""
    constant, slope = category_noise(kernel)
    return np.asarray(np.diag(constant + slope * shares) - np.outer(shares, shares))


def _alike(kernel: SupportKernel) -> bool:
    """Return whether all pairs of other people's categories have about the same probability of support."""
    return not isinstance(kernel, Columns | ProjectiveKernel)


def _contrast_statistic(gaps: Floats, spread: Floats, shares: Floats, scale: Floats | float) -> Floats:
    """Return gaps' C(C'VC)⁻¹C' gaps with V = diag(spread) − scale·shares·sharesᵀ, along the last axis.

    C are contrasts between categories. V is inverted by the formula of Sherman and Morrison.
    """
    weights = 1.0 / spread
    lowered = weights * shares
    factor = scale / (1.0 - scale * (lowered * shares).sum(axis=-1))

    def solve(vector: Any) -> Floats:
        inner = factor * (lowered * vector).sum(axis=-1)
        return np.asarray(weights * vector + lowered * np.expand_dims(inner, -1))

    solved, ones = solve(gaps), solve(np.ones_like(gaps))
    level = solved.sum(axis=-1) ** 2 / ones.sum(axis=-1)
    return np.asarray((gaps * solved).sum(axis=-1) - level)


def _expected_shares(reports: Reports, question: CategoryQuestion, shares: Floats, what: str) -> Significance:
    """Return the test of the frequencies against expected ones, with the covariance that these imply."""
    n, kernel = len(reports), question.kernel
    if n < 2:
        raise NotIdentifiable("expected at least two reports for a goodness of fit, got fewer")
    constant, slope = category_noise(kernel)

    def statistic(supports: object) -> Floats:
        gaps = (np.asarray(supports) / n - question.q) / question.gap - shares
        return n * _contrast_statistic(gaps, constant + slope * shares, shares, 1.0)

    found = float(statistic(question.supports(summarise(reports).counts)))
    dense = is_dense(question, shares, n)
    draws = 0 if dense and _alike(kernel) else _draws(question, n)
    simulated = statistic(_simulate(question, shares, n, draws)) if draws else np.zeros(0)
    return _judge(found, simulated, what, freedom=shares.size - 1, dense=dense)


def is_dense(question: CategoryQuestion, shares: Floats, n: int) -> bool:
    """Return whether enough reports that support each category are expected, and enough that do not."""
    means = question.q + question.gap * shares
    return n * float(min(means.min(), 1.0 - means.max())) >= _EXPECTED


def _draws(question: CategoryQuestion, n: int) -> int:
    """Return the number of collections to simulate; 0 if even the least number would take too long."""
    size = len(question.categories)
    if isinstance(question.counting, EachReport):
        work = question.counting.size
    else:
        work = size if isinstance(question.kernel, Bits) else n * size
    return _number_of_draws(work)


def _number_of_draws(work: int) -> int:
    least, most = _DRAWS
    return 0 if work * least > _MOST_WORK else min(max(_WORK // work, least), most)


def _simulate(question: CategoryQuestion, shares: Floats, n: int, draws: int, seed: int = 1) -> Integers:
    """Return the supports of each category in simulated collections of n people with these shares."""
    rng = np.random.default_rng(seed)
    kernel, size = question.kernel, shares.size
    if isinstance(question.counting, EachReport):
        cells = np.arange(question.counting.size)
        law = np.zeros(cells.size)
        for code in np.flatnonzero(shares):
            law += shares[code] * kernel.likelihoods(cells, np.asarray(code))
        reported = rng.multinomial(n, law / law.sum(), size=draws)
        return (
            reported if question.one_category else np.stack([kernel.supports(row, size) for row in reported])
        )
    if isinstance(kernel, Bits):
        held = rng.multinomial(n, shares, size=draws)
        return rng.binomial(held, question.p) + rng.binomial(n - held, question.q)
    source, counting = Seeded(seed), question.counting
    codes = rng.choice(size, size=(draws, n), p=shares)
    return np.stack([kernel.supports(counting.count(kernel.draw(row, source)), size) for row in codes])


def _same_frequencies(first: object, second: object) -> Significance:
    if not isinstance(first, Reports) or not isinstance(second, Reports):
        raise InvalidParameter(
            "expected reports to compare categories, because summaries have lost their correlations; pass "
            "the reports"
        )
    groups = (first, second)
    questions = [protocol_of(reports) for reports in groups]
    if questions[0].categories.labels != questions[1].categories.labels:
        raise Mismatch(
            "expected two groups with the same categories, got different ones; compare answers to one "
            "question"
        )
    if min(len(reports) for reports in groups) < 2:
        raise NotIdentifiable("each group needs at least two reports")
    what = "both groups have the same distribution"
    sizes = [len(reports) for reports in groups]
    noises = [category_noise(question.kernel) for question in questions]

    weights = [n / constant for n, (constant, _) in zip(sizes, noises, strict=True)]

    def read(*supports: object) -> tuple[Floats, Floats]:
        """Return the difference of the frequencies of both groups, and the frequencies of all people."""
        found = [
            (np.asarray(part) / n - question.q) / question.gap
            for part, n, question in zip(supports, sizes, questions, strict=True)
        ]
        return np.asarray(found[0] - found[1]), np.average(found, axis=0, weights=weights)

    def statistic(*supports: object) -> Floats:
        gaps, pooled = read(*supports)
        shares = np.maximum(pooled, 0.0)  # non-negative shares leave at least the noise in every direction
        shares = shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-300)
        spread = sum((a + b * shares) / n for n, (a, b) in zip(sizes, noises, strict=True))
        return _contrast_statistic(gaps, np.asarray(spread), shares, 1.0 / sizes[0] + 1.0 / sizes[1])

    supports = [
        question.supports(summarise(reports).counts)
        for question, reports in zip(questions, groups, strict=True)
    ]
    found, freedom = float(statistic(*supports)), supports[0].size - 1
    shares = simplex(read(*supports)[1])
    dense = all(is_dense(question, shares, n) for question, n in zip(questions, sizes, strict=True))
    if dense and all(_alike(question.kernel) for question in questions):
        return Significance.chi_square(found, freedom, what)
    if questions[0].fingerprint == questions[1].fingerprint:
        simulated, how = statistic(*_permute(questions[0], groups, supports)), "permuted"
    else:
        draws = min(_draws(question, n) for question, n in zip(questions, sizes, strict=True))
        drawn = [
            _simulate(question, shares, n, draws, seed)
            for seed, (question, n) in enumerate(zip(questions, sizes, strict=True), 1)
        ] if draws else []  # fmt: skip
        simulated, how = statistic(*drawn) if drawn else np.zeros(0), "simulated"
    return _judge(found, simulated, what, freedom=freedom, dense=dense, how=how)


def _permute(
    question: CategoryQuestion, groups: tuple[Reports, Reports], supports: list[Integers]
) -> tuple[Integers, Integers]:
    """Return the supports in two groups of the same sizes after a random division of all people."""
    rng, size = np.random.default_rng(1), supports[0].size
    total, people = supports[0] + supports[1], len(groups[0])
    kernel = question.kernel
    if isinstance(question.counting, EachReport):
        counts = sum(question.counting.count(reports.cells) for reports in groups)
        first = _divide(np.asarray(counts), people)
        if not question.one_category:
            first = np.stack([kernel.supports(row, size) for row in first])
        return first, total - first
    draws = _number_of_draws(int(total.sum()) + sum(map(len, groups)))
    if not draws:
        return np.zeros((0, size), dtype=np.int64), np.zeros((0, size), dtype=np.int64)
    held = np.concatenate([kernel.support(reports.cells, size).reshape(-1, size) for reports in groups])
    people_of, category = np.nonzero(held)
    drawn = np.empty((draws, size), dtype=np.int64)
    for row in drawn:
        chosen = np.zeros(len(held))
        chosen[rng.permutation(len(held))[:people]] = 1.0
        row[:] = np.bincount(category, chosen[people_of], size)
    return drawn, total - drawn


def _divide(counts: Integers, people: int) -> Integers:
    """Return the count of each report in a random group of this size, drawn without replacement."""
    rng, draws = np.random.default_rng(1), _number_of_draws(counts.size)
    if counts.sum() >= _MOST_PEOPLE:
        draws = 0
    return rng.multivariate_hypergeometric(counts, people, size=draws, method="marginals")
