"""The lower bound for linear queries: never above the optimum over all columns, by brute force."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from dither.mechanisms.optimal.queries.bound import (
    Multipliers,
    best_multipliers,
    differences,
    enumerated_bound,
    lower_bound,
    matched_bound,
)
from dither.mechanisms.optimal.queries.design import channel_of
from dither.mechanisms.optimal.queries.solve import Master, Moments, solve
from dither.mechanisms.optimal.queries.store import prefixes
from dither.mechanisms.optimal.queries.workload import bound_by_parts


def ranges(size: int) -> np.ndarray:
    return np.array([[float(i <= x <= j) for x in range(size)] for i in range(size) for j in range(i, size)])


WORKLOADS = {"prefixes": prefixes, "frequencies": np.eye, "ranges": ranges}


def optimum(gram: np.ndarray, epsilon: float) -> float:
    """The least average variance over all 2^k columns: the barrier's optimum is above by n·t at most."""
    size, ratio = len(gram), math.exp(epsilon)
    moments = Moments(gram)
    every = np.array(list(product((0.0, 1.0), repeat=size)))[:-1]  # all ones is all zeros, scaled
    master = Master(moments, moments.canonical(every), ratio)
    weights = master.start()
    shift = gram.sum() / size**2 - np.trace(gram) / size
    for share in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6):
        weights, _ = master.solve(weights, share * master.value(weights) / len(weights))
    return master.value(weights) + shift


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize(
    "size", [6, pytest.param(8, marks=pytest.mark.slow), pytest.param(9, marks=pytest.mark.slow)]
)
def test_the_bound_is_below_the_optimum_over_all_columns(size: int, name: str, epsilon: float) -> None:
    matrix = WORKLOADS[name](size)
    gram = matrix.T @ matrix
    bound = lower_bound(gram, math.exp(epsilon), best_multipliers(gram, math.exp(epsilon)))
    best = optimum(gram, epsilon)
    assert bound <= best * (1 + 1e-9)
    assert bound >= 0.96 * best  # measured: 0 to 3.5 % below for k = 6, 8 and 9


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0, 8.0])
@pytest.mark.parametrize("name", WORKLOADS)
def test_bounds_by_columns_and_by_pairs_are_below_the_optimum(name: str, epsilon: float) -> None:
    """From any channel the bound holds; from a solved one it is tight."""
    matrix, ratio = WORKLOADS[name](6), math.exp(epsilon)
    gram = matrix.T @ matrix
    best = optimum(gram, epsilon)
    solved = channel_of(solve(gram, epsilon), mirrored=Moments(gram).mirrored).matrix
    response = (np.ones((6, 6)) + (ratio - 1.0) * np.eye(6)) / (ratio + 5.0)
    tight, loose = (enumerated_bound(gram, ratio, channel) for channel in (solved, response))
    assert 0.98 * best <= tight <= best * (1 + 1e-6)
    assert loose <= best * (1 + 1e-6)
    assert 0.0 < matched_bound(gram, ratio) <= best * (1 + 1e-9)
    assert enumerated_bound(np.eye(28), ratio, np.eye(28)) == -math.inf


@pytest.mark.slow
@pytest.mark.parametrize("name", WORKLOADS)
def test_a_bound_by_parts_is_below_the_optimum(name: str) -> None:
    gram = WORKLOADS[name](6).T @ WORKLOADS[name](6)
    assert 0.65 < bound_by_parts(gram, 8.0) / optimum(gram, 8.0) < 1.0
    assert bound_by_parts(np.eye(37), 8.0) == -math.inf


def test_pairs_of_inputs_prove_the_optimum_of_two_answers() -> None:
    """Two inputs: randomized response is the optimum, and has E/(E − 1)²."""
    for epsilon in (0.1, 1.0, 6.0):
        ratio = math.exp(epsilon)
        assert matched_bound(np.array([[0.0, 0.0], [0.0, 1.0]]), ratio) == pytest.approx(
            ratio / (ratio - 1) ** 2
        )


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_every_permissible_column_obeys_the_inequality(epsilon: float) -> None:
    """uᵀNu ≤ 0 for all columns between c and E·c, not only for those at both ends."""
    ratio = math.exp(epsilon)
    matrix = prefixes(7)
    given = best_multipliers(matrix.T @ matrix, ratio).matrix(ratio)
    assert given is not None
    rng = np.random.default_rng(1)
    columns = np.concatenate([rng.uniform(1, ratio, (4000, 7)), rng.choice([1.0, ratio], (4000, 7))])
    assert (np.einsum("ni,ij,nj->n", columns, given, columns) <= 1e-9).all()
    wider = rng.choice([1.0, 1.5 * ratio], (4000, 7))
    assert np.einsum("ni,ij,nj->n", wider, given, wider).max() > 0.0


def test_the_even_bound_is_the_closed_form() -> None:
    """λ = 1, Y = 0: 4E/(E − 1)²·‖WP‖*²/k in the first term."""
    for epsilon, size in ((0.5, 5), (1.0, 16), (3.0, 9)):
        ratio, matrix = math.exp(epsilon), prefixes(size)
        gram = matrix.T @ matrix
        centred = matrix - matrix.mean(axis=1, keepdims=True)
        nuclear = np.linalg.svd(centred, compute_uv=False).sum()
        first = 4 * ratio / (ratio - 1) ** 2 * nuclear**2 / size
        expected = first + gram.sum() / size**2 - np.trace(gram) / size
        assert lower_bound(gram, ratio, Multipliers.even(size)) == pytest.approx(expected, rel=1e-10)


def test_for_frequencies_subset_selection_meets_the_bound() -> None:
    """With k/(e^ε + 1) an integer, subset selection attains it: k = 12, e^ε = 3, sets of 3."""
    size, ratio, chosen = 12, 3.0, 3
    own = chosen * ratio / (chosen * ratio + size - chosen)
    other = (own * (chosen - 1) + (1 - own) * chosen) / (size - 1)
    variance = (own * (1 - own) + (size - 1) * other * (1 - other)) / (own - other) ** 2
    bound = lower_bound(np.eye(size), ratio, Multipliers.even(size))
    # Its estimates sum to 1; the linear bound holds for those.
    assert bound <= variance * (1 + 1e-12)
    assert bound == pytest.approx(variance, rel=1e-9)


def test_the_published_bounds_for_prefixes() -> None:
    for size, epsilon, known in ((32, 0.5, 945.8), (32, 4.0, 4.870)):
        gram = prefixes(size).T @ prefixes(size)
        found = lower_bound(gram, math.exp(epsilon), best_multipliers(gram, math.exp(epsilon)))
        assert found == pytest.approx(known, rel=3e-4)


def test_multipliers_that_prove_nothing_say_so() -> None:
    gram = np.eye(4)
    assert lower_bound(gram, 2.0, Multipliers(np.array([1.0, 1.0, 1.0, -1.0]), np.zeros((4, 4)))) == -math.inf
    many = np.full((4, 4), 5.0)
    np.fill_diagonal(many, 0.0)
    assert lower_bound(gram, 2.0, Multipliers(np.ones(4), many)) == -math.inf
    across = differences(5)
    assert across.T @ across == pytest.approx(np.eye(4))
    assert np.abs(across.sum(axis=0)).max() < 1e-12


def test_no_channel_of_a_linear_program_is_below_the_bound() -> None:
    """Random ε-LDP channels with random columns, made feasible by a linear program, are all above."""
    size, epsilon = 5, 1.0
    ratio, matrix = math.exp(epsilon), prefixes(size)
    gram = matrix.T @ matrix
    bound = lower_bound(gram, ratio, best_multipliers(gram, ratio))
    rng = np.random.default_rng(3)
    least = math.inf
    for _ in range(40):
        columns = rng.uniform(1, ratio, (size, 60)) ** rng.uniform(1, 1.0)
        made = linprog(rng.random(60), A_eq=columns, b_eq=np.ones(size))
        if made.status != 0:
            continue
        channel = columns * made.x
        channel = channel[:, made.x > 1e-12]
        moments = channel / channel.mean(axis=0) @ channel.T
        if np.linalg.cond(moments) > 1e9:
            continue
        least = min(least, np.trace(np.linalg.solve(moments, gram)) - np.trace(gram) / size)
    assert bound < least < math.inf
