"""Formulas at large budgets, where a window is narrower than rounding would like, and small tables."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dither as dt
from dither.core.kernels.window.codebook import Steps
from dither.foundation.numerics.quadrature import integrate
from dither.mechanisms.analysis.law import BIAS

UNIT = dt.Interval(0, 1)


@pytest.mark.parametrize("epsilon", [18.0, 19.0, 25.0, 40.0, 50.0])
def test_ogpm_keeps_its_closed_forms(epsilon: float) -> None:
    mechanism = dt.OGPM(UNIT, epsilon=epsilon)
    width = 1 / (1 + math.exp(epsilon / 2))
    assert mechanism.worst_error("absolute") == pytest.approx(width, rel=1e-5)
    for x in (0.25, 0.5):
        side = (x**2 + (1 - x) ** 2) / 2
        exact = math.exp(epsilon / 2) * width**2 / 4 + math.exp(-epsilon / 2) * (side - width**2 / 4)
        assert mechanism.error("absolute", x) == pytest.approx(exact, rel=1e-5)


@pytest.mark.parametrize("epsilon", [10.0, 20.0, 35.0, 50.0])
def test_directions_keep_their_length(epsilon: float) -> None:
    """ρ = 2(p − q)·sin c in radians, c half the window."""
    mechanism = dt.SW(dt.Circle(360), epsilon=epsilon)
    half = math.pi * mechanism.shape().width
    p = 1 / (2 * math.pi) / (math.exp(-epsilon) + -math.expm1(-epsilon) * half / math.pi)
    exact = 2 * p * -math.expm1(-epsilon) * math.sin(half)
    np.testing.assert_allclose(1 - mechanism.variance([0.0, 3.0, 123.4, 360.0]), exact, rtol=1e-9)


def test_narrow_and_wide_windows_agree_where_both_can() -> None:
    for epsilon in (17.5, 18.5, 19.0):  # on both sides of the width at which the formula changes
        exact = 1 / (1 + math.exp(epsilon / 2))
        for mechanism in (dt.OGPM(UNIT, epsilon=epsilon), dt.OGPM(dt.Circle(2), epsilon=epsilon)):
            assert mechanism.worst_error("absolute") == pytest.approx(exact, rel=1e-8)


def test_integrals_of_noise_end() -> None:
    """A function that rounding makes rough is not halved for ever."""
    rough = np.random.default_rng(1)
    found = integrate(lambda x: 1.0 + 1e-9 * rough.standard_normal(x.shape), 0.0, 1.0)
    assert found == pytest.approx(1.0, abs=1e-8)


def test_small_tables_at_once_or_one_by_one() -> None:
    rng = np.random.default_rng(2)
    values = np.sort(rng.random(64))
    few, many = Steps(values), Steps(np.repeat(values, 2))  # the same codebook, below and above the limit
    begin, end, x = rng.random((7, 1)) / 2, 0.5 + rng.random((7, 1)) / 2, rng.random((1, 5))
    np.testing.assert_allclose(
        few.integral(begin, end, x, BIAS), many.integral(begin, end, x, BIAS), atol=1e-14
    )
    assert few.integral(np.zeros(1), np.ones(1), np.zeros(1), BIAS)[0] == pytest.approx(values.mean())
