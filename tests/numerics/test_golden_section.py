"""Minima and maxima, against scipy's and by counting evaluations."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from dither.numerics.golden_section import argmax, argmin, global_maximum
from dither.numerics.grid_search import integer_argmin


@pytest.mark.parametrize(
    ("function", "low", "high"),
    [
        (lambda x: (x - 0.3) ** 2, 0.0, 1.0),
        (lambda x: abs(x - 2.0) ** 1.5, -1.0, 7.0),
        (lambda x: math.exp(x) - 3.0 * x, 0.0, 4.0),
        (lambda x: x, 1.0, 2.0),
    ],
)
def test_minima_agree_with_scipy(function: Callable[[float], float], low: float, high: float) -> None:
    exact = optimize.minimize_scalar(function, bounds=(low, high), method="bounded", options={"xatol": 1e-10})
    assert argmin(function, low, high, sections=45) == pytest.approx(exact.x, abs=1e-7)
    assert argmax(lambda x: -function(x), low, high, sections=45) == pytest.approx(exact.x, abs=1e-7)


@given(st.floats(0.0, 1.0), st.integers(0, 30))
def test_the_result_is_the_best_that_was_evaluated_and_near(least: float, sections: int) -> None:
    seen: dict[float, float] = {}

    def function(x: float) -> float:
        seen[x] = abs(x - least)
        return seen[x]

    found = argmin(function, 0.0, 1.0, sections=sections)
    assert seen[found] == min(seen.values())
    assert len(seen) <= sections + 2
    assert abs(found - least) <= 0.618034 ** (sections + 1) + 1e-12


def wavy(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.sin(37.0 * x) + np.cos(11.0 * x) - (x - 0.4) ** 2)


def test_the_highest_of_many_peaks() -> None:
    exact = -optimize.dual_annealing(lambda x: -float(wavy(x[0])), [(0.0, 1.0)], rng=1).fun
    assert global_maximum(wavy, 0.0, 1.0) == pytest.approx(exact, rel=1e-12)
    assert global_maximum(wavy, 0.0, 1.0) > float(wavy(np.linspace(0.0, 1.0, 513)).max())  # the grid is not


def test_a_peak_at_an_end_and_a_flat_function() -> None:
    assert global_maximum(lambda x: x**3, -1.0, 2.0) == 8.0
    assert global_maximum(lambda x: -x, -1.0, 2.0) == 1.0
    assert global_maximum(np.ones_like, 0.0, 1.0) == 1.0


def test_a_peak_narrower_than_the_grid_is_found_where_it_is_named() -> None:
    def spike(x: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, 1.0 - 1e5 * np.abs(x - 1.0 / 3.0))

    assert global_maximum(spike, 0.0, 1.0, breaks=(1.0 / 3.0, 7.0)) == 1.0
    assert global_maximum(spike, 0.0, 1.0) < 1.0


@pytest.mark.parametrize(("low", "high"), [(0, 0), (1, 50), (-100, 1000), (7, 7_000)])
def test_integers_by_enumeration(low: int, high: int) -> None:
    def function(x: int) -> float:
        return math.cos(x / 300.0) + 1e-7 * (x - 20) ** 2

    assert integer_argmin(function, low, high) == min(range(low, high + 1), key=function)


def test_integers_beyond_enumeration() -> None:
    assert (
        integer_argmin(lambda x: abs(x - 123_456_789_012), 0, 1 << 40, points=64, rounds=9) == 123_456_789_012
    )
    tried: set[int] = set()
    integer_argmin(lambda x: tried.add(x) or float(abs(x - 777_777)), 0, 1 << 20)  # type: ignore[func-returns-value]
    assert len(tried) <= 5 * 65 + 3
