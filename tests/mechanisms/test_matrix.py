"""`dt.Matrix`: a table of probabilities of one's own."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import dither as dt
from dither.core.kernels.channel import BetweenPoints
from dither.errors import InvalidParameter, MalformedReport, NotIdentifiable
from tests.support.chi_square import p_value

ABC = dt.Categories(["a", "b", "c"])
WEIGHTS = [[5, 2, 1, 2], [1, 6, 2, 1], [2, 1, 5, 4]]
HOURS = dt.Interval(0, 8)
TENT = [[6, 3, 1], [2, 5, 2], [1, 2, 4]]


def test_the_promise_is_the_largest_ratio_of_the_normalised_rows() -> None:
    made = dt.Matrix(ABC, WEIGHTS)
    exact = [[Fraction(weight, sum(row)) for weight in row] for row in WEIGHTS]
    ratio = max(max(column) / min(column) for column in zip(*exact, strict=True))
    assert made.question.kernel.ratio == pytest.approx(float(ratio), rel=1e-30)
    assert made.epsilon == pytest.approx(math.log(ratio), rel=1e-14)
    assert made.guarantee.epsilon >= math.log(ratio) * (1 - 1e-15)
    assert dt.audit(made).ok
    for label, row in zip("abc", exact, strict=True):
        drawn = made.probabilities(label)
        assert sum(drawn) == 1
        assert max(abs(a - b) for a, b in zip(drawn, row, strict=True)) < Fraction(1, 1 << 120)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, math.log(3), 5.0, 20.0])
def test_floats_of_k_rr_keep_the_stated_epsilon(epsilon: float) -> None:
    own = math.exp(epsilon)
    table = (np.ones((3, 3)) + (own - 1) * np.eye(3)) / (own + 2)  # ratios may be above e^ε by rounding
    made = dt.Matrix(ABC, table, epsilon=epsilon)
    assert made.guarantee.epsilon <= epsilon
    assert made.guarantee.epsilon == pytest.approx(epsilon, rel=1e-7)
    assert made.question.variance(0.3) == pytest.approx(dt.KRR(ABC, epsilon=epsilon).variance(0.3), rel=1e-6)


def test_more_than_the_stated_epsilon_is_refused() -> None:
    with pytest.raises(InvalidParameter, match=r"stated ε = 1, got weights that spend 1\.09861"):
        dt.Matrix(dt.Categories(2), [[3, 1], [1, 3]], epsilon=1)
    with pytest.raises(InvalidParameter, match="at most the stated"):
        dt.Matrix(dt.Categories(2), [[3, 1], [1, 3]]).at(1.0986)


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([[1, 0], [1, 1]], "expected report 1 to be possible for every input"),
        ([[1, 2]], "2 to 1024 inputs"),
        ([[0.7, 0.3], [0.3]], "all rows of one length"),
        ([[-1, 1], [1, 1]], "non-negative"),
        ([[math.nan, 1], [1, 1]], "non-negative"),
        ([[math.inf, 1], [1, 1]], "non-negative"),
        ([[True, 1], [1, 1]], "non-negative"),
        ([[1, 1], [0, 0]], "positive weight in every row, got none in row 2"),
        ([[0.9, 0.2, 0.2], [0.1, 0.8, 0.8]], "transpose the matrix"),
        ([[1, 2], [2, 1], [1, 1]], "expected 2 rows, one for each input, got 3; transpose it"),
        ("ab", "non-negative"),
        (3, "expected a matrix"),
        ([], "expected a matrix"),
        ([[1e-300, 1], [1, 1]], "epsilon must be from"),
    ],
)
def test_what_is_not_a_matrix_is_refused(weights: object, says: str) -> None:
    with pytest.raises(InvalidParameter, match=says):
        dt.Matrix(dt.Categories(2), weights)  # type: ignore[arg-type]


def test_a_data_frame_is_a_matrix() -> None:
    for library in ("pandas", "polars"):
        frame = pytest.importorskip(library).DataFrame({"one": [3, 1], "other": [1, 3]})
        assert dt.Matrix(dt.Categories(2), frame) == dt.Matrix(dt.Categories(2), [[3, 1], [1, 3]])


def test_a_report_that_nobody_sends_is_left_out() -> None:
    made = dt.Matrix(dt.Categories(2), [[3, 0, 1], [1, 0, 3]])
    assert made.question.outcomes == 2
    given = dt.Matrix(HOURS, [[3, 0, 1], [1, 0, 3]], values=[0, 99, 8])
    assert given.question.book.values.tolist() == [0, 8]


def test_points_and_values_are_checked() -> None:
    for points in ([0, 4], [0, 4, 7], [0, 9, 8], [0, 0, 8], []):
        with pytest.raises(InvalidParameter):
            dt.Matrix(HOURS, TENT, points=points)
    with pytest.raises(InvalidParameter, match="3 values"):
        dt.Matrix(HOURS, TENT, values=[0, 8])
    with pytest.raises(InvalidParameter, match="only with an interval"):
        dt.Matrix(ABC, WEIGHTS, points=[0, 4, 8])
    with pytest.raises(InvalidParameter, match="Categories or Interval"):
        dt.Matrix(dt.Circle(360), TENT)


def test_it_travels_and_is_made_again() -> None:
    for made in (
        dt.Matrix(ABC, WEIGHTS),
        dt.Matrix(dt.Categories(2), [[Fraction(2, 3), Fraction(1, 3)], [Fraction(1, 3), Fraction(2, 3)]]),
        dt.Matrix(HOURS, TENT, points=[0, 2, 8], epsilon=2),
        dt.Matrix(HOURS, np.array(TENT) / 10, values=[0, 4, 8]),
    ):
        read = dt.from_json(made.to_json())
        assert read == made.question
        assert read.design() == made
        reports = made.perturb(["a", "b"] if made.domain is ABC else [0, 1])
        assert dt.from_bytes(reports.to_bytes()) == reports


def test_a_text_with_other_points_is_refused() -> None:
    text = dt.Matrix(HOURS, TENT).to_json()
    for wrong in ("[0.0,4.0,7.0]", "[0.0,8.0]", "[0.0,9.0,8.0]"):
        damaged = text.replace('\\"points\\":[0.0,4.0,8.0]', f'\\"points\\":{wrong}')
        damaged = damaged.replace('\\"points\\":[0,4,8]', f'\\"points\\":{wrong}')
        assert damaged != text
        with pytest.raises((MalformedReport, InvalidParameter, dt.errors.DitherError)):
            dt.from_json(damaged)


def test_draws_follow_the_table() -> None:
    made = dt.Matrix(ABC, WEIGHTS)
    for label, row in zip("abc", WEIGHTS, strict=True):
        reports = made.perturb([label] * 40_000, source=dt.Seeded(3))
        assert p_value(reports.cells, np.array(row) / sum(row)) > 1e-6
        wrong = np.array(row[::-1]) / sum(row)
        assert p_value(reports.cells, wrong) < 1e-6


@pytest.mark.parametrize("value", [0.0, 1.3, 4.0, 7.9, 8.0])
def test_draws_between_points_follow_the_mixture(value: float) -> None:
    made = dt.Matrix(HOURS, TENT)
    reports = made.perturb(np.full(40_000, value), source=dt.Seeded(5))
    low, share = (0, value / 4) if value < 4 else (1, value / 4 - 1)
    rows = np.array([np.array(row) / sum(row) for row in TENT])
    expected = rows[low] * (1 - share) + rows[low + 1] * share
    assert p_value(reports.cells, expected) > 1e-6
    exact = [float(chance) for chance in made.probabilities(value)]
    assert np.allclose(exact, expected, atol=1e-9)
    single = [made.question.kernel.draw_one(value, dt.Seeded(seed)) for seed in range(2_000)]
    assert p_value(single, expected) > 1e-6


def test_means_are_unbiased_everywhere() -> None:
    made = dt.Matrix(HOURS, TENT, points=[0, 1, 8])
    inputs = np.linspace(0, 8, 97)
    assert np.abs(np.asarray(made.bias(inputs))).max() < 1e-8
    values = np.random.default_rng(1).beta(2, 5, 60_000) * 8
    found = dt.mean(made.perturb(values, source=dt.Seeded(2)))
    low, high = found.interval(0.9999)
    assert low < values.mean() < high
    assert high - low < 0.4


def test_two_reports_have_no_unbiased_mean_of_three_points() -> None:
    made = dt.Matrix(HOURS, [[3, 1], [1, 3], [2, 2]])
    reports = made.perturb(np.linspace(0, 8, 500))
    with pytest.raises(NotIdentifiable):
        dt.mean(reports)
    scale = dt.Matrix(ABC, [[3, 1], [1, 3], [2, 2]])
    with pytest.raises(NotIdentifiable):
        dt.frequencies(scale.perturb(["a", "b", "c"] * 50))


def test_a_distribution_over_declared_points() -> None:
    stars = dt.Interval(1, 5, step=1)
    close = np.exp(-np.abs(np.subtract.outer(np.arange(5), np.arange(5))))
    made = dt.Matrix(stars, close)
    shares = np.array([0.1, 0.2, 0.1, 0.25, 0.35])
    values = np.repeat(np.arange(1, 6), (shares * 40_000).astype(int)).astype(float)
    found = dt.distribution(made.perturb(values, source=dt.Seeded(4)), bins=[1, 1.5, 2.5, 3.5, 4.5, 5])
    assert np.abs(np.asarray(found.probabilities) - shares).max() < 0.05


def test_frequencies_by_least_squares_and_by_likelihood() -> None:
    made = dt.Matrix(ABC, WEIGHTS)
    truth = np.array([0.6, 0.35, 0.05])
    answers = np.repeat(["a", "b", "c"], (truth * 30_000).astype(int))
    reports = made.perturb(answers, source=dt.Seeded(8))
    linear = dt.frequencies(reports)
    likely = dt.frequencies(reports, method="likelihood")
    for found in (linear, likely, linear.projected(), dt.frequencies(dt.Counts.of(reports))):
        low, high = found.interval(0.9999)
        assert ((np.asarray(low) <= truth) & (truth <= np.asarray(high))).all()
        assert np.asarray(found.value).sum() == pytest.approx(1.0)
    counts = np.bincount(reports.cells, minlength=4)
    table = np.array([np.array(row) / sum(row) for row in WEIGHTS])

    def log_likelihood(shares: np.ndarray) -> float:
        return float(counts @ np.log(shares @ table))

    best = log_likelihood(np.asarray(likely.value))
    random = np.random.default_rng(1).dirichlet(np.ones(3), 2_000)
    assert all(log_likelihood(shares) <= best + 1e-4 for shares in random)
    assert dt.estimate(reports)["a"].value == linear["a"].value
    both = linear.sum(["a", "b"])
    assert both.value == pytest.approx(linear["a"].value + linear["b"].value)
    assert both.standard_error == pytest.approx(linear["c"].standard_error, rel=1e-9)
    weighted = dt.frequencies(reports, weights=np.ones(len(answers)))
    assert np.allclose(weighted.value, linear.value)
    assert (linear["a"] - linear["b"]).standard_error > 0
    assert linear.at_any_time()["a"].half_width() > linear["a"].half_width()


def test_the_errors_of_both_estimates_are_right() -> None:
    made = dt.Matrix(ABC, WEIGHTS)
    truth = np.array([0.5, 0.5, 0.0])
    answers = np.repeat(["a", "b"], 1_000)
    for method in ("linear", "likelihood"):
        covered = []
        for seed in range(200):
            reports = made.perturb(answers, source=dt.Seeded(seed))
            low, high = dt.frequencies(reports, method=method).interval()  # type: ignore[arg-type]
            covered.append((np.asarray(low) <= truth) & (truth <= np.asarray(high)))
        # The answers are fixed, so that the intervals, which contain sampling, hold more often than 95 %.
        assert (np.mean(covered, axis=0) > 0.93).all()


def test_likelihood_of_k_rr_is_its_projection_where_nothing_is_negative() -> None:
    krr = dt.KRR(ABC, epsilon=2)
    reports = krr.perturb(["a", "b", "c"] * 1_000, source=dt.Seeded(1))
    likely = dt.frequencies(reports, method="likelihood")
    assert np.allclose(likely.value, dt.frequencies(reports).value, atol=1e-3)
    with pytest.raises(InvalidParameter, match=r"dt\.Matrix, or of dt\.KRR"):
        dt.frequencies(dt.OUE(ABC, epsilon=1).perturb(["a"]), method="likelihood")


@pytest.mark.slow
def test_it_is_compared_with_others() -> None:
    made = dt.Matrix(ABC, WEIGHTS)
    table = dt.compare(ABC, epsilon=made.epsilon, also=[made])
    row = table["Matrix (yours)"]
    assert row["average variance"] == pytest.approx(made.question.variance(1 / 3))
    assert row["relative average variance"] > 1
    hours = dt.Matrix(HOURS, TENT)
    row = dt.compare(HOURS, epsilon=hours.epsilon, also=[hours])["Matrix (yours)"]
    assert row["worst squared"] >= row["average squared"] > 0
    found = dt.recommend(HOURS, dt.goals.Mean(n=1_000), epsilon=hours.epsilon, also=[hours])
    assert found["Matrix (yours)"]["error"] > 0


def test_other_estimates_say_what_reads_a_table() -> None:
    made = dt.Matrix(ABC, WEIGHTS)
    first, second = (made.perturb(["a", "b", "c"] * 20) for _ in range(2))
    with pytest.raises(InvalidParameter, match=r"dt\.frequencies, dt\.estimate"):
        dt.stats.crosstab(first, second)


def test_points_increase() -> None:
    rule = BetweenPoints((0.0, 1.0, 8.0))
    rows, parts = rule.split(np.array([0.0, 0.5, 1.0, 4.5, 8.0]))
    assert rows.tolist() == [0, 0, 1, 1, 1]
    assert (parts / 2**32).tolist() == [0.0, 0.5, 0.0, 0.5, 1.0]
    with pytest.raises(InvalidParameter):
        BetweenPoints((0.0,))
    assert all(left < right for left, right in pairwise(rule.points))
