"""The privacy variants: raw releases only on demand, and the three normal noises side by side."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

import dither as dt
from dither.extensions.classifiers import Indicator, LinearClassifier, RawRelease
from dither.privacy import PAC, Approximate
from dither.privacy.exact import exp_above
from tests.extensions.classifiers.settings import UNIT
from tests.support.repository import reference

SIGMA = reference("qcu")["sigma"]
STEEP = LinearClassifier([[10.0, 1.0]], [-6.0])


def test_raw_records_are_released_only_on_demand_and_with_a_warning() -> None:
    mechanism = dt.OGPM(UNIT, epsilon=1)
    with pytest.raises(dt.errors.InvalidParameter, match="allow_raw_release"):
        Indicator(mechanism, delta=0.1)
    with pytest.warns(RawRelease, match="one of every 10 people sends the raw record"):
        found = Indicator(mechanism, delta=0.1, allow_raw_release=True)
    assert isinstance(found.guarantee.bound, Approximate)
    assert found.guarantee.delta == pytest.approx(0.1)
    for wrong in (0.0, 1.0, math.nan, "0.1"):
        with pytest.raises(dt.errors.InvalidParameter):
            Indicator(mechanism, delta=wrong, allow_raw_release=True)  # type: ignore[arg-type]
    with pytest.raises(dt.errors.InvalidParameter, match="pure"):
        Indicator(dt.Gaussian(UNIT, epsilon=1, delta=0.01), delta=0.1, allow_raw_release=True)


@pytest.fixture
def indicator() -> Indicator:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RawRelease)
        each = dt.Each(a=dt.OGPM(UNIT, epsilon=1), b=dt.OGPM(UNIT, epsilon=1))
        return Indicator(each, delta=0.1, allow_raw_release=True)


def test_utility_with_an_indicator(indicator: Indicator) -> None:
    x = [0.8, 0.5]
    plain, lifted = (dt.classifiers.utility(STEEP, x, kind) for kind in (indicator.mechanism, indicator))
    assert lifted.lower == pytest.approx(0.1 + 0.9 * plain.lower)
    assert lifted.guarantee is not None
    assert lifted.guarantee.bound == Approximate(plain.guarantee.epsilon, indicator.guarantee.delta)  # type: ignore[union-attr]
    sent = indicator.perturb(np.repeat([x], 20_000, axis=0), source=dt.Seeded(1))
    raw = (sent == x).all(axis=1)
    assert raw.mean() == pytest.approx(0.1, abs=5 * math.sqrt(0.09 / 20_000))
    kept = (STEEP(sent) == STEEP(np.array([x]))[0]).mean()
    assert kept == pytest.approx(lifted.lower, abs=5 * math.sqrt(0.25 / 20_000))
    curve = dt.classifiers.utility_curve(STEEP, x, indicator, [2.0, 6.0])
    assert curve.lower[0] == pytest.approx(lifted.lower)
    assert dt.classifiers.best_mechanism(
        STEEP, x, {"plain": indicator.mechanism, "raw": indicator}, epsilon=2
    ).names == (
        "raw",
        "plain",
    )


def test_theorem_17_is_false_for_discrete_mechanisms() -> None:
    """k = 2, ε = 1, δ = .1: the loss exceeds ε with probability .758, not .1; (ε, δ) is what holds."""
    mechanism = dt.KRR(dt.Categories(2), epsilon=1)
    delta = Fraction(1, 10)
    laws = []
    for value in (0, 1):
        chances = mechanism.probabilities(value)
        laws.append([(1 - delta) * chances[report] + delta * (report == value) for report in (0, 1)])
    loss = [laws[0][report] / laws[1][report] for report in (0, 1)]
    exceeds = sum(laws[0][report] for report in (0, 1) if loss[report] > Fraction(math.e))
    assert float(exceeds) == pytest.approx(0.758, abs=5e-4)
    beyond = sum(max(laws[0][r] - exp_above(Fraction(1)) * laws[1][r], Fraction(0)) for r in (0, 1))
    assert beyond <= delta


@pytest.mark.slow
def test_three_normal_noises() -> None:
    """Theorem 18, the exact PAC and the analytic Gaussian: 2.637, 1.595 and 1.086 at ε = 1, δ = .1."""
    kinds = {
        "value": "pac",
        "exact_one_sided_PAC": "exact pac",
        "analytic_gaussian": "analytic",
    }
    for row, calibration in kinds.items():
        for name, wanted in SIGMA[row].items():
            epsilon, delta = (float(part.lstrip("epsdlta")) for part in name.split("_"))
            found = dt.Gaussian(UNIT, epsilon=epsilon, delta=delta, calibration=calibration)
            assert found.sigma == pytest.approx(wanted, abs=SIGMA["abs_tol"])
            assert found.guarantee.delta <= delta
    exact = dt.Gaussian(UNIT, epsilon=1, delta=0.1, calibration="exact pac")
    assert isinstance(exact.guarantee.bound, PAC)
    assert exact.guarantee.delta > 0.0999  # nothing is left unspent
    loose = dt.Gaussian(UNIT, epsilon=1, delta=0.1, calibration="pac")
    assert loose.guarantee.delta == pytest.approx(0.0072, abs=1e-4)
    x = [0.8, 0.5]
    kept = [
        dt.classifiers.utility(
            STEEP, x, dt.Gaussian(UNIT, epsilon=1, delta=0.1, calibration=kind).truncated()
        ).lower
        for kind in kinds.values()
    ]
    assert kept == sorted(kept)


def test_independent_failures_compose() -> None:
    """d features with (ε, δ) each: (d·ε, 1 − (1 − δ)^d) [Thesis, Thm 16]."""
    mechanism = dt.Gaussian(UNIT, epsilon=1, delta=0.1, calibration="exact pac")
    delta = mechanism.guarantee.delta
    found = dt.classifiers.utility(STEEP, [0.8, 0.5], mechanism.truncated())
    assert found.guarantee is not None
    assert isinstance(found.guarantee.bound, PAC)
    assert found.guarantee.epsilon == 2.0
    assert found.guarantee.delta == pytest.approx(1 - (1 - delta) ** 2, rel=1e-12)
