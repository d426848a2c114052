"""EM: uphill only, to the top, on the right matrix."""

from itertools import pairwise

import numpy as np
import pytest

import dither as dt
from dither.core.kernels.transition import Dense, Windows
from dither.estimation.likelihood import (
    average_on_circle,
    average_on_line,
    climb,
    grid,
    smooth,
    step,
    tilt,
)

UNIT = dt.Interval(0, 1)
SMALL = {
    "sw": dt.SW(UNIT, epsilon=1, cells=64),
    "ogpm": dt.OGPM(UNIT, epsilon=2, cells=64),
    "circle": dt.OGPM(dt.Circle(1), epsilon=1, cells=64),
    "hybrid": dt.Hybrid(UNIT, epsilon=2, cells=64),
}
each_case = pytest.mark.parametrize("mechanism", SMALL.values(), ids=SMALL.keys())


def problem(mechanism, bins=24, n=3000, seed=1):
    values = np.random.default_rng(seed).beta(2, 5, n)
    reports = mechanism.perturb(values, source=dt.Seeded(seed))
    operator = mechanism.question.likelihood(mechanism.line.from_unit((np.arange(bins) + 0.5) / bins), 64)
    return operator, operator.counts(mechanism.question.counting.count(reports.cells))


def height(operator, counts, probabilities):
    return float(counts @ np.log(operator.forward(probabilities)))


@each_case
def test_a_plain_step_never_goes_downhill(mechanism):
    operator, counts = problem(mechanism)
    now = np.random.default_rng(2).dirichlet(np.ones(24))
    heights = []
    for _ in range(60):
        heights.append(height(operator, counts, now))
        now = step(operator, counts / counts.sum(), now, operator.forward(now))
        assert now.sum() == pytest.approx(1)
    assert all(after >= before - 1e-9 for before, after in pairwise(heights))


@each_case
def test_neither_does_an_accelerated_one(mechanism):
    operator, counts = problem(mechanism)
    start = np.full(24, 1 / 24)
    heights = [
        climb(operator, counts, start, tolerance=0.0, most=most).log_likelihood for most in range(2, 200, 6)
    ]
    assert all(after >= before - 1e-9 for before, after in pairwise(heights))
    fit = climb(operator, counts, start, most=60, tolerance=0.0)
    plain = start
    for _ in range(60):
        plain = step(operator, counts / counts.sum(), plain, operator.forward(plain))
    assert fit.log_likelihood > height(operator, counts, plain)


@each_case
def test_the_top_is_certified(mechanism):
    operator, counts = problem(mechanism)
    fit = climb(operator, counts, np.full(24, 1 / 24), tolerance=1e-9)
    assert fit.shortfall < 1e-3
    assert fit.log_likelihood == pytest.approx(height(operator, counts, fit.probabilities))
    early = climb(operator, counts, np.full(24, 1 / 24), most=4)
    assert fit.log_likelihood - early.log_likelihood <= early.shortfall


def test_with_two_reports_the_top_is_known():
    duchi = dt.Duchi(UNIT, epsilon=1)
    operator = duchi.question.likelihood(np.array([0.0, 1.0]), 2)
    counts = np.array([620.0, 380.0])
    fit = climb(operator, counts, np.array([0.5, 0.5]), tolerance=1e-13)
    matrix = operator.dense()
    np.testing.assert_allclose(fit.probabilities, np.linalg.solve(matrix, counts / 1000), rtol=1e-5)
    # Beyond what any mixture explains, everybody is at an end.
    fit = climb(operator, np.array([900.0, 100.0]), np.array([0.5, 0.5]), tolerance=1e-13)
    np.testing.assert_allclose(fit.probabilities, [1.0, 0.0], atol=1e-6)


def test_with_three_bins_the_top_is_where_a_search_finds_it():
    operator, counts = problem(SMALL["sw"], bins=3)
    fit = climb(operator, counts, np.full(3, 1 / 3), tolerance=1e-12)
    side = np.linspace(0, 1, 201)
    best = max(
        (height(operator, counts, np.array([a, b, 1 - a - b])), a, b)
        for a in side
        for b in side
        if a + b <= 1
    )
    assert fit.log_likelihood >= best[0]
    np.testing.assert_allclose(fit.probabilities[:2], best[1:], atol=0.01)


def test_the_same_top_on_the_dense_matrix():
    operator, counts = problem(SMALL["sw"])
    dense = Dense(operator.dense(), np.arange(64))
    start = np.full(24, 1 / 24)
    one, other = (climb(which, counts, start, tolerance=1e-10) for which in (operator, dense))
    assert one.log_likelihood == pytest.approx(other.log_likelihood, abs=1e-6)


def test_an_operator_that_is_half_a_cell_off_is_rejected():
    """The same reports, the same bins; the twin forgets that a cell's middle is not its start."""
    mechanism = dt.SW(UNIT, epsilon=4, cells=32)
    values = np.full(100_000, 0.5)
    reports = mechanism.perturb(values, source=dt.Seeded(3))
    right = grid(mechanism.question, 128)
    broken = Windows(right.starts + 0.5, right.width, right.rows, right.contrast)
    counts = right.counts(mechanism.question.counting.count(reports.cells))
    inputs = (np.arange(128) + 0.5) / 128

    def loss(operator):
        """Twice the log-likelihood that the true mean costs: more than 24 by chance once in a million."""
        start = np.full(inputs.size, 1 / inputs.size)
        free = climb(operator, counts, start)
        bound = climb(operator, counts, start, finish=tilt(inputs - 0.5))
        return 2 * (free.log_likelihood - bound.log_likelihood)

    assert loss(right) < 24
    assert loss(broken) > 24


def test_tilting_keeps_the_constraint_and_is_the_likeliest():
    rng = np.random.default_rng(4)
    weights, gaps = rng.dirichlet(np.ones(9)), np.linspace(-1, 2, 9)
    best = tilt(gaps)(weights)
    assert best.sum() == pytest.approx(1)
    assert best @ gaps == pytest.approx(0, abs=1e-9)
    for _ in range(200):
        move = rng.standard_normal(9)
        basis = np.linalg.qr(np.stack([np.ones(9), gaps], axis=1))[0]
        move -= basis @ (basis.T @ move)
        other = best + 1e-4 * move / np.abs(move).max()
        if other.min() > 0:
            assert weights @ np.log(other) <= weights @ np.log(best) + 1e-12


@pytest.mark.parametrize(
    ("kernel", "corners"), [(average_on_line, {}), (average_on_circle, {(0, -1): 1, (-1, 0): 1})]
)
def test_smoothing_averages_with_the_neighbours(kernel, corners):
    """Weights 1, 2, 1 over 4; on a line the ends have 2, 1 over 3. Then the sum is made 1 again."""
    matrix = 2.0 * np.eye(40) + np.eye(40, k=1) + np.eye(40, k=-1)
    for place, weight in corners.items():
        matrix[place] = weight
    matrix /= matrix.sum(axis=1, keepdims=True)
    rough = np.random.default_rng(5).dirichlet(np.full(40, 0.2))
    wanted = matrix @ rough
    np.testing.assert_allclose(kernel(rough), wanted / wanted.sum(), rtol=1e-12)
    np.testing.assert_allclose(kernel(np.full(40, 1 / 40)), np.full(40, 1 / 40), rtol=1e-12)


def test_smoothed_em_is_smoother_and_less_likely():
    operator, counts = problem(SMALL["sw"])
    start = np.full(24, 1 / 24)
    likely = climb(operator, counts, start)
    gentle = smooth(operator, counts, start, average_on_line, tolerance=1e-2)
    assert np.abs(np.diff(gentle.probabilities)).sum() < np.abs(np.diff(likely.probabilities)).sum()
    assert gentle.log_likelihood < likely.log_likelihood
