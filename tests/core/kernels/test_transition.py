"""The operator under every likelihood: the same matrix as the exact probabilities, never written out."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

import dither as dt
from dither.core.kernels.kernel import listed_likelihood
from dither.core.kernels.transition import Product, Windows

UNIT = dt.Interval(0, 1)
CASES = {
    "sw": dt.SW(UNIT, epsilon=1, cells=256),
    "podium": dt.Podium(dt.Interval(18, 100), epsilon=2, cells=128),
    "pm, cut": dt.PM(UNIT, epsilon=0.5, cells=64).truncated(),
    "ogpmu": dt.rivals.OGPMU(UNIT, epsilon=4, cells=64),
    "duchi": dt.Duchi(dt.Interval(-1, 1), epsilon=1),
    "ogpm": dt.OGPM(UNIT, epsilon=1, cells=256),
    "narrow": dt.OGPM(UNIT, epsilon=20, cells=256),
    "faint": dt.SW(UNIT, epsilon=1e-6, cells=64),
    "circle": dt.OGPM(dt.Circle(360), epsilon=1, cells=256),
    "circle, wide": dt.SW(dt.Circle(1), epsilon=0.1, cells=64),
    "hybrid": dt.Hybrid(UNIT, epsilon=2, cells=128),
    "hybrid, duchi only": dt.Hybrid(UNIT, epsilon=0.5, cells=64),
}
each_case = pytest.mark.parametrize("mechanism", CASES.values(), ids=CASES.keys())


def exact(mechanism, inputs):
    return np.array([[float(chance) for chance in mechanism.probabilities(x)] for x in inputs]).T


def somewhere(mechanism, count=37):
    return mechanism.line.from_unit(np.sort(np.append(np.random.default_rng(5).random(count - 2), [0, 1])))


@each_case
def test_the_operator_is_the_matrix_of_exact_probabilities(mechanism):
    inputs = somewhere(mechanism)
    operator = mechanism.question.likelihood(inputs, mechanism.question.outcomes)
    matrix = exact(mechanism, inputs)
    np.testing.assert_allclose(operator.dense(), matrix, rtol=1e-12, atol=1e-15)
    weights = np.random.default_rng(1).random(mechanism.question.outcomes)
    np.testing.assert_allclose(operator.backward(weights), matrix.T @ weights, rtol=1e-12)
    dense = listed_likelihood(mechanism.question.kernel, inputs, mechanism.question.outcomes)
    np.testing.assert_allclose(dense.dense(), matrix, rtol=1e-12)


@pytest.mark.some(every=4)
@each_case
@pytest.mark.parametrize("rows", [16, 32])
def test_grouped_rows_are_sums_of_rows(mechanism, rows):
    inputs = somewhere(mechanism)
    tally = mechanism.question.counting.count(mechanism.perturb(inputs, source=dt.Seeded(1)).cells)
    for operator in (
        mechanism.question.likelihood(inputs, rows),
        listed_likelihood(mechanism.question.kernel, inputs, rows, mechanism.question.kernel.typical()),
    ):
        matrix = exact(mechanism, inputs)
        grouped = np.stack([operator.counts(column) for column in matrix.T], axis=1)
        np.testing.assert_allclose(operator.dense(), grouped, rtol=1e-11, atol=1e-15)
        assert operator.counts(tally).sum() == inputs.size
        assert operator.shape == (grouped.shape[0], inputs.size)


@each_case
def test_bins_are_averages_of_their_inputs(mechanism):
    inputs = mechanism.line.from_unit((np.arange(48) + 0.5) / 48)
    for fine in (
        mechanism.question.likelihood(inputs, 32),
        listed_likelihood(mechanism.question.kernel, inputs, 32, mechanism.question.kernel.typical()),
    ):
        operator = fine.spread(4)
        averaged = fine.dense().reshape(-1, 12, 4).mean(axis=2)
        np.testing.assert_allclose(operator.dense(), averaged, rtol=1e-11, atol=1e-15)
        weights = np.random.default_rng(2).random(fine.shape[0])
        np.testing.assert_allclose(operator.backward(weights), averaged.T @ weights, rtol=1e-11)


@each_case
def test_twins_are_equal_columns(mechanism):
    inputs = mechanism.line.from_unit((np.arange(48) + 0.5) / 48)
    fine = mechanism.question.likelihood(inputs, 64)
    for times in (1, 4):
        columns = fine.dense().reshape(-1, 48 // times, times)
        first = columns[:, :-1, :1]
        equal = (columns[:, 1:] == first).all(axis=(0, 2)) & (columns[:, :-1] == first).all(axis=(0, 2))
        np.testing.assert_array_equal(fine.spread(times).twins(), equal)


def memory(operator):
    """Return the most bytes that the use of an operator takes at once."""
    fresh = replace(operator)  # without what was computed before
    tracemalloc.start()
    fresh.forward(np.ones(fresh.shape[1]))
    fresh.backward(np.ones(fresh.shape[0]))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def test_a_bin_in_which_the_circle_begins_costs_no_more_than_others():
    circle = dt.OGPM(dt.Circle(1), epsilon=1)
    inputs = (np.arange(2048) + 0.5) / 2048
    operator = circle.question.likelihood(inputs, 256).spread(16)
    assert (np.ptp(operator.starts, axis=1) > 128).any()  # one bin has starts on both sides
    line = dt.OGPM(dt.Interval(0, 1), epsilon=1).question.likelihood(inputs, 256).spread(16)
    assert memory(operator) < 2 * memory(line)
    assert memory(replace(operator, circular=False)) > 2 * memory(line)  # the twin: from one end to the other
    fine = circle.question.likelihood(inputs, 256).dense().reshape(256, 128, 16).mean(axis=2)
    np.testing.assert_allclose(operator.dense(), fine, rtol=1e-11)


def test_the_ends_of_an_interval_are_twins_for_ogpm_alone():
    inputs = (np.arange(256) + 0.5) / 256
    twins = CASES["ogpm"].question.likelihood(inputs, 256).twins()
    erased = 1 / (1 + np.exp(0.5))  # 38 % of the domain at ε = 1, half at either end
    assert abs(twins.sum() - 256 * erased) < 4
    assert twins[:40].all()
    assert twins[-40:].all()
    assert not CASES["sw"].question.likelihood(inputs, 256).twins().any()


def test_a_window_that_is_half_a_cell_off_is_not_the_matrix():
    mechanism = CASES["sw"]
    inputs = somewhere(mechanism)
    right = mechanism.question.likelihood(inputs, 256)
    broken = Windows(right.starts + 0.5, right.width, 256, right.contrast)
    assert np.abs(broken.dense() - exact(mechanism, inputs)).max() > 1e-4


@pytest.mark.parametrize(
    "mechanism",
    [
        *(dt.SW(UNIT, epsilon=epsilon) for epsilon in (0.1, 1, 4)),
        dt.OGPM(UNIT, epsilon=1),
        *(dt.OGPM(dt.Circle(360), epsilon=epsilon) for epsilon in (0.1, 2)),
        dt.Hybrid(UNIT, epsilon=2),
        dt.Laplace(UNIT, epsilon=1, cells=1 << 10),
    ],
    ids=repr,
)
def test_weighted_products_of_columns_are_those_of_the_matrix(mechanism):
    bins, times = 64, 8
    fine = mechanism.line.from_unit((np.arange(bins * times) + 0.5) / (bins * times))
    spread = mechanism.question.likelihood(fine, 1024).spread(times)
    points = mechanism.question.likelihood(somewhere(mechanism), 1024)
    # The reciprocals of expected shares: a Fisher information weighs rows with them.
    weights = 1.0 / spread.forward(np.random.default_rng(3).dirichlet(np.full(bins, 3.0)))
    for first, second, close in ((spread, spread, 0.005), (points, spread, 0.06)):
        exactly = (first.dense() * weights[:, None]).T @ second.dense()
        # Rows that two windows cover in part, and bins whose windows just touch, are approximated.
        np.testing.assert_allclose(first.products(weights, second), exactly, atol=close * exactly.max())
    own = (spread.dense() ** 2 * weights[:, None]).sum(axis=0)
    np.testing.assert_allclose(np.diagonal(spread.products(weights, spread)), own, rtol=0.002)


def test_a_product_is_the_kronecker_product_of_its_matrices():
    rng = np.random.default_rng(3)
    first, second = rng.random((3, 2)), rng.random((5, 4))
    product, matrix = Product(first, second), np.kron(first, second)
    assert product.shape == matrix.shape
    inputs, reports = rng.random(8), rng.random(15)
    np.testing.assert_allclose(product.forward(inputs), matrix @ inputs)
    np.testing.assert_allclose(product.backward(reports), matrix.T @ reports)
    assert product.counts(np.arange(15)).tolist() == list(range(15))
    assert product.twins().tolist() == [False] * 7  # one for every two neighbouring columns
    wide = product.spread(2)
    np.testing.assert_allclose(wide.second, (second[:, ::2] + second[:, 1::2]) / 2)
    np.testing.assert_array_equal(wide.first, first)
