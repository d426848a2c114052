"""One interface to every mechanism of one number: its laws, and its draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.extensions.classifiers import LinearClassifier
from dither.extensions.classifiers.feature_law import MOST_REPORTS, feature_law
from tests.extensions.classifiers.settings import UNIT, far_off
from tests.support.cases.numbers import NUMERIC, Case, names

STEEP = LinearClassifier([[10.0, 1.0]], [-6.0])
UNSORTED = dt.KRR(dt.Categories([0.9, 0.1, 0.5, 0.0]), epsilon=2)


@pytest.mark.parametrize(
    ("mechanism", "value", "wrong"),
    [
        (UNSORTED, 0.45, 0.06),
        (dt.KRR(dt.Categories(3), epsilon=1), 1.2, 0.0),
        (dt.Exponential(UNIT, [0.0, 0.4, 1.0], epsilon=2), 0.5, 0.9),
        (dt.Duchi(UNIT, epsilon=1), 0.7, 0.2),
        (dt.Memoised(dt.OGPM(UNIT, epsilon=2, cells=8), dt.Memoised.new_key(), name="x"), 0.3, 0.9),
    ],
    ids=["k-RR", "k-RR on 0 … k − 1", "Exponential", "Duchi", "Memoised"],
)
def test_draws_follow_the_marginal(mechanism: Any, value: float, wrong: float) -> None:
    law = feature_law(mechanism)
    marginal = law.marginal(value)
    assert (np.diff(marginal.places) > 0).all()
    n = 20_000
    reports = law.draw(np.full(n, value), dt.Seeded(1))
    found = [(reports == place).mean() for place in marginal.places]
    assert sum(found) == pytest.approx(1.0)
    assert not any(far_off(share, mass, n) for share, mass in zip(found, marginal.masses, strict=True))
    other = law.marginal(wrong).masses  # the broken twin: the law of another value
    assert any(far_off(share, mass, n) for share, mass in zip(found, other, strict=True))


def test_a_value_goes_to_the_nearest_category_whatever_their_order() -> None:
    marginal = feature_law(UNSORTED).marginal(0.45)
    assert marginal.places.tolist() == [0.0, 0.1, 0.5, 0.9]
    share, rest = (float(rate) for rate in UNSORTED.rates)
    assert marginal.masses.tolist() == [rest, rest, share, rest]


def test_too_many_reports_are_not_listed_but_sampled() -> None:
    fine = dt.OGPM(UNIT, epsilon=1, cells=2 * MOST_REPORTS)
    assert feature_law(fine).marginal(0.5) is None
    assert feature_law(dt.Memoised(fine, dt.Memoised.new_key(), name="x")).marginal(0.5) is None
    assert feature_law(dt.OGPM(UNIT, epsilon=1)).marginal(0.5) is not None
    found = dt.classifiers.utility(STEEP, [0.8, 0.5], fine, queries=100, source=dt.Seeded(1))
    assert found.method == "Monte Carlo"


def test_the_reports_of_sectors_are_listed() -> None:
    """Every mechanism of one number lists its reports, so that utility is a sum and not a sample."""
    sectors = dt.rivals.Sectors(dt.Circle(360), epsilon=2)
    marginal = feature_law(sectors).marginal(30.0)
    assert marginal is not None
    assert marginal.masses.sum() == pytest.approx(1.0, abs=1e-9)
    found = dt.classifiers.utility(LinearClassifier([[1.0]], [-180.0]), [30.0], sectors)
    assert found.method != "Monte Carlo"
    near = dt.classifiers.concentration(sectors.sampled, (0, 180), 30.0)
    assert found.estimate == pytest.approx(near, abs=1e-4)  # a cell at each edge


@pytest.mark.parametrize("case", NUMERIC, ids=names(NUMERIC))
def test_densities_are_constant_between_jumps_if_they_say_so(case: Case) -> None:
    law = case(2.0).law
    x = 0.37
    steps = np.unique(law.jumps(x))
    steps = steps[np.diff(steps, prepend=-np.inf) > 1e-12]  # one jump may be found twice, a rounding apart
    inner = steps[:-1, None] + np.diff(steps)[:, None] * np.array([0.01, 0.3, 0.62, 0.99])
    densities = law.density(inner, np.asarray(x))
    constant = np.ptp(densities, axis=1).max() <= 1e-9 * densities.max(initial=1.0)
    assert constant == law.piecewise_constant
    assert law.monotone_ratios or not law.piecewise_constant
