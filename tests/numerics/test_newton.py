"""Newton's method, against 40 digits and scipy."""

from __future__ import annotations

import math

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from dither.mechanisms.numeric.podium import best_step
from dither.numerics.newton import bracketed_newton, newton


@given(st.floats(1e-6, 1e6))
def test_square_roots(square: float) -> None:
    root = newton(lambda x: (x * x - square, 2.0 * x), square + 1.0)  # convex, from the right
    assert root == pytest.approx(math.sqrt(square), rel=1e-15)


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 5.0, 50.0])
def test_the_step_of_podium_is_a_root_to_all_digits(epsilon: float) -> None:
    with mpmath.workdps(40):
        exact = mpmath.findroot(lambda s: mpmath.sinh(2 * s - epsilon) + 2 * mpmath.sinh(s), epsilon / 3)
    assert best_step(epsilon) == pytest.approx(float(exact), rel=1e-14)


def test_it_stops_after_so_many_steps() -> None:
    calls: list[float] = []
    newton(lambda x: (calls.append(x) or 1.0, 1.0), 0.0, steps=7)  # type: ignore[func-returns-value]
    assert calls == [0.0, -1.0, -2.0, -3.0, -4.0, -5.0, -6.0]


def falling(x: float) -> tuple[float, float]:
    return -math.atan(x - 0.7), -1.0 / (1.0 + (x - 0.7) ** 2)


def test_a_bracket_saves_steps_that_would_diverge() -> None:
    with pytest.raises((OverflowError, ZeroDivisionError, ValueError)):
        newton(falling, 5.0)
    found = bracketed_newton(falling, -10.0, 10.0, 5.0, tolerance=1e-12)
    assert found == pytest.approx(optimize.brentq(lambda x: falling(x)[0], -10.0, 10.0), abs=1e-11)


@given(st.floats(-0.99, 0.99), st.floats(-0.9, 0.9))
def test_roots_beside_poles(root: float, start: float) -> None:
    """1/(x + 1) − 1/(1 − x) and a constant: it goes to ±∞ at the ends, as the multiplier of a tilt does."""

    def function(x: float) -> tuple[float, float]:
        level = 1.0 / (root + 1.0) - 1.0 / (1.0 - root)
        value = 1.0 / (x + 1.0) - 1.0 / (1.0 - x) - level
        return value, -1.0 / (x + 1.0) ** 2 - 1.0 / (1.0 - x) ** 2

    found = bracketed_newton(function, -1.0, 1.0, start, tolerance=1e-9, absolute=1e-12)
    assert found == pytest.approx(root, abs=1e-8)
