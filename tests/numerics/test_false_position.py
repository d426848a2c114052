"""False position: on target, on the right side, and with few evaluations."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from dither.numerics.false_position import decreasing_root, power_law_root, proportional_root


class Counted:
    """A function that counts its evaluations."""

    def __init__(self, function: Callable[[float], float]) -> None:
        self.function, self.calls = function, 0

    def __call__(self, x: float) -> float:
        self.calls += 1
        return self.function(x)


@given(st.floats(-12.0, 5.0), st.sampled_from([1e-2, 1e-4, 1e-8]))
def test_a_decreasing_function_ends_just_below_zero(root: float, close: float) -> None:
    function = Counted(lambda x: math.expm1(0.7 * (root - x)))
    found = decreasing_root(function, -14.0, 6.0, close=close)
    assert found is not None
    assert -close <= function(found) <= 0.0
    exact = optimize.brentq(function.function, -14.0, 6.0, xtol=1e-13)
    assert found == pytest.approx(exact, abs=2.0 * close)


def test_it_needs_fewer_evaluations_than_bisection() -> None:
    function = Counted(lambda x: 3.3 - x - 0.05 * x**2)
    decreasing_root(function, -14.0, 6.0, close=1e-6)
    assert function.calls <= 10 < math.log2(20.0 / 1e-6)


def test_a_function_that_stays_on_one_side() -> None:
    assert decreasing_root(lambda x: 1.0 - x, -5.0, 0.5, close=1e-3) is None
    assert decreasing_root(lambda x: -1.0 - x, 0.0, 9.0, close=1e-3) == 0.0


@given(st.floats(-4.0, 4.0))
def test_a_jump_is_met_from_its_lower_side(jump: float) -> None:
    found = decreasing_root(lambda x: 1.0 if x < jump else -1.0, -5.0, 5.0, close=1e-2)
    assert found is not None
    assert jump <= found <= jump + 1e-5


@given(st.floats(-3.0, 3.0), st.floats(0.01, 4.0), st.sampled_from([-1.0, 1.0]), st.floats(-0.05, 0.3))
def test_the_reach_of_a_nearly_linear_function(start: float, slope: float, side: float, bend: float) -> None:
    def loss(x: float) -> float:
        away = abs(x - start)
        return slope * away * (1.0 + bend * away)

    limit, target = start + 10.0 * side, 0.4 * loss(start + 10.0 * side)
    function = Counted(loss)
    found = proportional_root(function, start, limit, target, close=0.01 * target, resolution=1e-9)
    assert abs(loss(found) - target) < 0.01 * target
    assert (found - start) * side > 0.0
    assert function.calls <= 12


def test_a_target_beyond_the_limit_gives_the_limit() -> None:
    assert proportional_root(abs, 0.0, 2.0, 5.0, close=1e-3, resolution=1e-4) == 2.0
    assert proportional_root(abs, 0.0, -2.0, 5.0, close=1e-3, resolution=1e-4) == -2.0
    assert proportional_root(abs, 0.0, 0.0, 5.0, close=1e-3, resolution=1e-4) == 0.0


@pytest.mark.parametrize("jump", [0.1, 0.9])
def test_a_jump_over_the_target_gives_its_far_side(jump: float) -> None:
    found = proportional_root(
        lambda x: 0.1 * x if x < jump else math.inf, 0.0, 1.0, 1.0, close=1e-3, resolution=0.01, steps=40
    )
    assert jump <= found <= jump + 0.011


@given(st.floats(0.1, 1e6), st.floats(0.35, 0.65))
def test_a_power_law_that_is_not_quite_the_expected_one(factor: float, exponent: float) -> None:
    x, ratio = power_law_root(
        lambda x: factor * x**-exponent, 100.0, 2.0, close=0.01, steps=40, low=1e-9, high=1e60
    )
    assert abs(ratio - 1.0) < 0.01
    assert ratio == factor * x**-exponent


def test_a_power_law_that_does_not_reach_one() -> None:
    x, ratio = power_law_root(lambda x: 5.0, 1.0, 2.0, close=0.01, steps=6, low=0.5, high=1e3)
    assert (x, ratio) == (1e3, 5.0)
    x, ratio = power_law_root(lambda x: 0.1, 1.0, 2.0, close=0.01, steps=6, low=0.5, high=1e3)
    assert (x, ratio) == (0.5, 0.1)
