"""One interface to every mechanism of one number: its laws, its draws, and what is refused."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.extensions.classifiers import Indicator, LinearClassifier, RawRelease
from dither.extensions.classifiers.feature_law import MOST_REPORTS, Randomisation, feature_law
from tests.extensions.classifiers.settings import UNIT
from tests.support.cases.numbers import NUMERIC, Case, names

OGPM = dt.OGPM(UNIT, epsilon=1)
STEEP = LinearClassifier([[10.0, 1.0]], [-6.0])
UNSORTED = dt.KRR(dt.Categories([0.9, 0.1, 0.5, 0.0]), epsilon=2)


@pytest.fixture
def indicator() -> Indicator:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RawRelease)
        return Indicator(OGPM, delta=0.1, allow_raw_release=True)


def far_off(found: float, wanted: float, n: int) -> bool:
    """Whether a share of n draws is more than five standard errors from its probability."""
    return abs(found - wanted) > 5 * math.sqrt(wanted * (1 - wanted) / n) + 1e-9


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


@pytest.mark.parametrize(
    "mechanism",
    [
        dt.JRR(dt.Categories([0.0, 1.0]), p=0.8, rho=0, n=20_000),  # trials would depend on each other
        dt.OUE(dt.Categories([0.0, 1.0]), epsilon=1),
        dt.KRR(dt.Categories(["a", "b"]), epsilon=1),
        dt.KRR(dt.Categories([0.0, math.inf]), epsilon=1),
        dt.Sampled(a=OGPM),
        OGPM.sampled,  # a law alone promises nothing
        "ogpm",
    ],
    ids=["JRR", "OUE", "words", "infinite", "Sampled", "law", "text"],
)
def test_what_does_not_randomise_a_record_of_numbers_is_refused(mechanism: Any) -> None:
    with pytest.raises(dt.errors.InvalidParameter):
        Randomisation.of(mechanism)


def test_an_indicator_is_not_taken_for_a_feature_nor_for_a_data_set(indicator: Indicator) -> None:
    with pytest.raises(dt.errors.InvalidParameter, match="not by Indicator"):
        dt.classifiers.utility(STEEP, [0.8, 0.5], dt.Each({"a": indicator, "b": OGPM}))
    for refuse in (
        lambda: dt.classifiers.over_records(STEEP, [[0.8, 0.5]], indicator),
        lambda: dt.classifiers.report(STEEP, [0.8, 0.5], {"raw": indicator}),
    ):
        with pytest.raises(dt.errors.InvalidParameter, match="Indicator is not supported here"):
            refuse()


def test_an_indicator_takes_single_numbers_alone() -> None:
    for wrong in (dt.OUE(dt.Categories(3), epsilon=1), dt.Sampled(a=OGPM), OGPM.sampled):
        with pytest.raises(dt.errors.InvalidParameter, match="an Indicator needs"):
            Indicator(wrong, delta=0.1, allow_raw_release=True)


def test_one_coin_for_a_record_of_two_features(indicator: Indicator) -> None:
    found = Randomisation.of(indicator).guarantee(2)
    assert found.epsilon == pytest.approx(2 * OGPM.guarantee.epsilon)
    assert found.delta == indicator.guarantee.delta
    sent = indicator.perturb(np.full((20_000, 2), 0.3), source=dt.Seeded(1))
    raw = sent == 0.3
    assert (raw[:, 0] == raw[:, 1]).all()
    assert not far_off(raw[:, 0].mean(), 0.1, 20_000)


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
