"""A certificate proves what it says, and nothing can be proved with wrong prices."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.mechanisms.optimal.design import Design
from dither.mechanisms.optimal.problem import Problem
from dither.mechanisms.optimal.solver.certificate import Prices, lower_bound
from tests.support.cases.optimal import GOALS, KINDS, UNIT, optimal


def brute_force(problem: Problem, prices: Prices) -> float:
    """The bound of the docstring, written again: D on a dense grid, every shift tried. Not rigorous."""
    ratio = math.exp(problem.epsilon)
    worst = problem.criterion == "worst"
    if worst:
        inputs, weights = prices.inputs, prices.weights / prices.weights.sum()
    else:
        inputs, weights = (prices.inputs[1:] + prices.inputs[:-1]) / 2, 2 * np.diff(prices.inputs)
        if problem.unbiased:
            inputs, weights = np.append(inputs, 0.5), np.append(weights, 0.0)
    reach = 3 / math.tanh(problem.epsilon / 2) if problem.unbiased else 0.5
    y = np.linspace(-reach, reach, 4001)
    masses = prices.masses
    if problem.unbiased:
        cost = weights[:, None] * y**2 - prices.slopes[:, None] * y
    elif worst:
        cost = weights[:, None] * problem.loss(y - inputs[:, None])
    else:  # φ is integrated over each cell, by several points of it
        share = (np.arange(8) + 0.5) / 8
        inputs = (prices.inputs[:-1, None] + np.diff(prices.inputs)[:, None] * share).reshape(-1)
        weights, masses = np.repeat(weights / 8, 8), np.repeat(masses / 8, 8)
        y = np.linspace(-0.5, 0.5, 801)
        cost = weights[:, None] * problem.loss(y - inputs[:, None])
    value = float(masses.sum())
    if problem.unbiased:
        value += float(prices.slopes @ inputs - (weights @ inputs**2 if worst else 1 / 12))

    def bound(shift: float) -> float:
        moved = cost - (masses - shift * weights)[:, None]
        level = np.where(moved < 0, ratio * moved, moved).sum(axis=0)
        return value - shift + min(0.0, float((level + level[::-1]).min() / 2))

    low, high = -0.02 * abs(value), 0.02 * abs(value)
    for _ in range(25):  # the bound is concave in the shift
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (left, high) if bound(left) < bound(right) else (low, right)
    return bound((low + high) / 2)


@pytest.mark.some(every=3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_the_bound_recomputed_by_brute_force(kind: str, epsilon: float) -> None:
    design = optimal(kind, epsilon).design
    again = brute_force(design.problem, design.prices)
    # The brute force sees D and the cells at points only, so it may be a little above.
    assert design.bound <= again * (1 + 1e-4)
    assert design.bound >= again * (1 - 2e-3)


@pytest.mark.some("*unbiased", "worst*")
@pytest.mark.parametrize("kind", KINDS)
def test_wrong_prices_prove_less_and_never_too_much(kind: str) -> None:
    design = optimal(kind, 2.0).design
    rng = np.random.default_rng(1)
    fooled = 0
    for _ in range(4):
        masses = design.prices.masses.copy()
        heavy = rng.choice(np.flatnonzero(np.abs(masses) > 0.2 * np.abs(masses).max()))
        masses[heavy] *= rng.uniform(1.3, 3.0)
        wrong = replace(design.prices, masses=masses)
        bound = lower_bound(design.problem, wrong)
        assert bound < design.error
        assert Design(design.problem, design.values, design.counts, design.width, wrong).gap > design.gap
        # The broken twin, a certificate that trusts the sum of the masses, is fooled.
        slack = wrong.slopes @ wrong.inputs[-wrong.slopes.size :] if wrong.slopes.size == masses.size else 0.0
        fooled += masses.sum() + slack > design.error
    assert fooled > 0 or KINDS[kind].get("unbiased")


@pytest.mark.parametrize("kind", ["worst absolute", "average absolute", "worst unbiased"])
def test_prices_that_are_no_prices_are_refused(kind: str) -> None:
    design = optimal(kind, 1.0).design
    prices = design.prices
    broken = [
        replace(prices, masses=prices.masses[:-1]),
        replace(prices, masses=np.where(np.arange(prices.masses.size) == 1, np.nan, prices.masses)),
        replace(prices, inputs=prices.inputs[::-1]),
        replace(prices, inputs=prices.inputs + 0.1),
    ]
    if prices.weights.size:
        broken += [replace(prices, weights=-prices.weights), replace(prices, weights=0 * prices.weights)]
    for wrong in broken:
        with pytest.raises(dt.errors.InvalidParameter):
            lower_bound(design.problem, wrong)


@pytest.mark.some(every=3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_a_window_too_narrow_is_seen(kind: str, epsilon: float) -> None:
    """The broken twin: 2 % off the width. Private all the same, but the error says so."""
    design = optimal(kind, epsilon).design
    if design.cells < 1024:
        pytest.skip("a window of one cell cannot be a little too narrow")
    narrow = Design(design.problem, design.values, design.counts, round(design.width * 0.98), design.prices)
    assert narrow.error > design.error * (1 + 1e-4)
    assert narrow.gap > design.gap


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_a_small_program_of_another_make_agrees(epsilon: float) -> None:
    """No symmetry, no windows, only f itself. With outputs at the inputs its value bounds |y − x|."""
    optimize = pytest.importorskip("scipy.optimize")
    points = np.linspace(0.0, 1.0, 17)
    n, ratio = points.size, math.exp(epsilon)
    loss = np.abs(points - points[:, None])
    size = n + n * n + 1

    def f(i: int, j: int) -> int:
        return n + i * n + j

    upper, equal = [], []
    for i in range(n):
        row = np.zeros(size)
        row[f(i, 0) : f(i, 0) + n] = 1.0
        equal.append(row)
        row = np.zeros(size)
        row[f(i, 0) : f(i, 0) + n], row[-1] = loss[i], -1.0
        upper.append(row)
        for j in range(n):
            below, above = np.zeros(size), np.zeros(size)
            below[j], below[f(i, j)] = 1.0, -1.0
            above[f(i, j)], above[j] = 1.0, -ratio
            upper += [below, above]
    cost = np.zeros(size)
    cost[-1] = 1.0
    found = optimize.linprog(
        cost, np.array(upper), np.zeros(len(upper)), np.array(equal), np.ones(n), method="highs"
    )
    certificate = optimal("worst absolute", epsilon).certificate
    assert found.fun <= certificate.error
    assert found.fun == pytest.approx(certificate.bound, rel=3e-3)


def _huber(gap: Any) -> Any:
    return np.where(np.abs(gap) < 0.1, 5 * gap**2, np.abs(gap) - 0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "criterion"), [(1.0, "worst"), pytest.param(2.0, "average", marks=pytest.mark.slow)]
)
def test_a_given_function_is_certified_by_monotony_alone(epsilon: float, criterion: object) -> None:
    pytest.importorskip("scipy")
    given = dt.Optimal(UNIT, epsilon=epsilon, loss=np.abs, criterion=criterion)
    known = dt.Optimal(UNIT, epsilon=epsilon, loss="absolute", criterion=criterion)
    assert given.certificate.bound <= known.certificate.error
    assert given.certificate.error >= known.certificate.bound
    assert given.gap < 0.015
    huber = dt.Optimal(
        dt.Interval(-3, 7), epsilon=epsilon, loss=lambda gap: _huber(gap / 10), criterion=criterion
    )
    assert huber.gap < 0.03
    assert huber.certificate.error < 10 * known.certificate.error
    assert huber.fingerprint == huber.at(epsilon).fingerprint


@pytest.mark.slow
def test_other_powers() -> None:
    pytest.importorskip("scipy")
    for loss, epsilon in ((3, 2.0), (0.5, 1.0)):
        best = dt.Optimal(UNIT, epsilon=epsilon, loss=loss)
        assert best.gap < 0.02
        assert best.certificate.error < dt.OGPM(UNIT, epsilon=epsilon, loss=loss).worst_error(loss)
        assert best.worst_error(loss) <= best.certificate.error * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", GOALS)
def test_fresh_designs_reach_the_goal(kind: str, epsilon: float) -> None:
    from dither.mechanisms.optimal.solver.solve_design import solve_design

    assert solve_design(optimal(kind, epsilon).problem).gap <= 0.005
