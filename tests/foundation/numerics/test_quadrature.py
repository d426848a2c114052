"""Integrals and sums, against scipy's quad, exact integrals and sums term by term."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import integrate as reference

from dither.foundation.numerics.quadrature import between, gauss_legendre, integrate, total

Function = Callable[[np.ndarray], np.ndarray]


@pytest.mark.parametrize(
    ("function", "low", "high"),
    [
        (np.cos, 0.0, 3.0),
        (lambda x: np.exp(-(x**2) / 2.0), -40.0, 40.0),
        (lambda x: np.exp(-np.abs(x - 0.3) / 0.01), 0.0, 1.0),  # a kink that is not named
        (np.sqrt, 0.0, 2.0),
        (lambda x: 1.0 / (1.0 + 1e4 * x**2), -1.0, 1.0),
    ],
)
def test_integrals_agree_with_scipy(function: Function, low: float, high: float) -> None:
    exact, _ = reference.quad(function, low, high, limit=500, epsabs=0.0, epsrel=1e-12, points=[0.3, 0.0])
    assert integrate(function, low, high) == pytest.approx(exact, rel=1e-11)


def test_a_jump_is_found_and_is_exact_where_it_is_named() -> None:
    def step(x: np.ndarray) -> np.ndarray:
        return np.where(x < 1.0 / 3.0, 1.0, 5.0)

    exact = 1.0 / 3.0 + 5.0 * 2.0 / 3.0
    assert integrate(step, 0.0, 1.0, breaks=(1.0 / 3.0,)) == pytest.approx(exact, rel=1e-15)
    assert integrate(step, 0.0, 1.0) == pytest.approx(exact, rel=1e-11)
    assert integrate(step, 0.0, 1.0, breaks=(7.0, -1.0)) == pytest.approx(exact, rel=1e-11)


def test_an_integral_of_zero_and_over_nothing() -> None:
    assert integrate(np.zeros_like, 0.0, 1.0) == 0.0
    assert integrate(np.cos, 2.0, 2.0) == 0.0


def test_panels_of_any_shape() -> None:
    edges = np.sort(np.random.default_rng(3).uniform(-2.0, 2.0, (3, 2, 9)), axis=-1)
    found = between(np.exp, edges)
    assert found == pytest.approx(np.exp(edges[..., -1]) - np.exp(edges[..., 0]), rel=1e-13)
    assert found.shape == (3, 2)


@pytest.mark.parametrize(("count", "run"), [(0, 10), (1, 10), (5_000, 100), (100_003, 640), (200_000, 5_000)])
def test_sums_term_by_term(count: int, run: int) -> None:
    def function(x: np.ndarray) -> np.ndarray:
        return np.exp(-x / 5_000.0) * (1.0 + x / 10_000.0)

    exact = math.fsum(function(np.arange(count, dtype=np.float64)).tolist())
    assert total(function, count, run) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("count", [2, 5, 8, 16])
def test_the_gauss_rule_is_exact_for_polynomials_of_its_degree(count: int) -> None:
    nodes, weights = gauss_legendre(count)
    assert float(weights.sum()) == pytest.approx(2.0, rel=1e-14)
    even = 2 * count - 2
    assert float(nodes**even @ weights) == pytest.approx(2.0 / (even + 1), rel=1e-12)
    assert float(nodes ** (2 * count) @ weights) != pytest.approx(2.0 / (2 * count + 1), rel=1e-12)
    with pytest.raises(ValueError, match="read-only"):
        nodes[0] = 0.0
