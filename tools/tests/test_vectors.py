"""Rivals on vectors: unbiased, with the errors of their formulas, so that the comparison is fair."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dither.mechanisms.optimal.vectors import best_gain
from tests.support.repository import ROOT
from tools.vectors import across, bound, digits, embeddings, measured, privunit, simplex


def test_products_are_those_given() -> None:
    rng = np.random.default_rng(1)
    vectors, products = embeddings(50), rng.uniform(-1.0, 1.0, 50)
    drawn = across(vectors, products, rng)
    assert (drawn * vectors).sum(axis=1) == pytest.approx(products)
    assert np.linalg.norm(drawn, axis=1) == pytest.approx(np.ones(50))


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_rivals_are_unbiased_and_near_the_bound(epsilon: float) -> None:
    """PrivUnit attains the bound, RRSC is at most 2.5 % above it; scales are right within 5 deviations."""
    vectors = np.tile(np.eye(64)[3], (5_000, 1))
    least = math.sqrt(bound(64, epsilon) / 5_000)
    for make, most in ((privunit, 1.0), (simplex, 1.025)):
        rival = make(64, epsilon)
        found = rival.mean(vectors, 5)
        assert found[3] == pytest.approx(1.0, abs=5.0 * least / math.sqrt(64))
        assert 0.9 <= measured(rival, vectors, range(12)) / least <= most * 1.1
    assert best_gain(64, epsilon) < 1.0


@pytest.mark.slow
def test_the_digits_are_unit_vectors() -> None:
    pytest.importorskip("sklearn")
    assert np.linalg.norm(digits(10), axis=1) == pytest.approx(np.ones(10))


def test_the_page_has_all_ways() -> None:
    page = (ROOT / "docs" / "vectors.md").read_text(encoding="utf-8")
    for way in ("Optimal", "PrivUnit", "RRSC", "one number, Optimal", "one number, Duchi"):
        assert page.count(f"| {way} |") == 2
