"""Bounds hold as often as they say, where the true utility is known; the published one does not."""

from __future__ import annotations

import numpy as np
import pytest

import dither as dt
from dither.classifiers import UtilityMethod
from dither.classifiers.proofs.confidence import binomial_above
from tests.classifiers.settings import HALF, SETTINGS, UNIT, Setting, black_box

pytest.importorskip("sklearn")

OMEGA = 0.05
QUICK, LONG = 40, 2000
FALSE_ALARM = 1e-6
CELL = 2e-5  # how well the true curve is known
each_setting = pytest.mark.parametrize("setting", SETTINGS, ids=[setting.name for setting in SETTINGS])


def wrong(setting: Setting, method: UtilityMethod, runs: int, queries: int) -> int:
    """How many of so many seeded runs claim more than the truth."""
    found = (
        dt.utility(
            black_box(setting.predict),
            setting.x,
            setting.mechanism,
            confidence=1 - OMEGA,
            method=method,
            queries=queries,
            source=dt.Seeded(run),
        ).lower
        for run in range(runs)
    )
    return sum(lower > setting.truth + 1e-12 for lower in found)


def too_often(failures: int, runs: int) -> bool:
    """Whether so many failures refute a rate of at most ω, at the false-alarm rate of the tests."""
    return 1.0 - binomial_above(runs - failures, runs, FALSE_ALARM) > OMEGA


@each_setting
@pytest.mark.parametrize("method", [UtilityMethod.MONTE_CARLO, UtilityMethod.REPAIRED, UtilityMethod.REGION])
def test_the_bound_holds(setting: Setting, method: UtilityMethod) -> None:
    assert not too_often(wrong(setting, method, QUICK, 300), QUICK)


@pytest.mark.slow
@each_setting
@pytest.mark.parametrize("method", [UtilityMethod.MONTE_CARLO, UtilityMethod.REPAIRED, UtilityMethod.REGION])
def test_the_bound_holds_in_2000_runs(setting: Setting, method: UtilityMethod) -> None:
    failures = wrong(setting, method, LONG, 1000)
    print(f"{setting.name}, {method.value}: wrong in {failures} of {LONG} runs")
    assert failures <= OMEGA * LONG


def curve_failures(setting: Setting, runs: int, queries: int) -> tuple[int, int]:
    """Runs in which the lower edge is above the truth anywhere, and in which the estimate is (the twin)."""
    epsilons = np.linspace(setting.epsilon / 2, setting.epsilon, 5)
    truth = setting.designed(epsilons)
    above, estimated = 0, 0
    for run in range(runs):
        curve = dt.utility_curve(
            black_box(setting.predict),
            setting.x,
            dt.OGPM(UNIT, epsilon=1),
            epsilons,
            queries=queries,
            confidence=1 - OMEGA,
            source=dt.Seeded(run),
        )
        assert curve.method is UtilityMethod.IMPORTANCE
        above += bool((curve.lower > truth + CELL).any())
        estimated += bool((curve.estimate > truth + CELL).any())
    return above, estimated


@each_setting
def test_the_whole_curve_holds_and_its_estimate_would_not(setting: Setting) -> None:
    above, estimated = curve_failures(setting, QUICK, 400)
    assert not too_often(above, QUICK)
    assert too_often(estimated, QUICK)


@pytest.mark.slow
@each_setting
def test_the_whole_curve_holds_in_2000_runs(setting: Setting) -> None:
    failures, _ = curve_failures(setting, LONG, 1000)
    print(f"{setting.name}, whole curve: wrong in {failures} of {LONG} runs")
    assert failures <= OMEGA * LONG


def test_the_published_box_is_rejected() -> None:
    """The broken twin: it claims .99 where the truth is .036, in every run; the repaired one does not."""
    setting = SETTINGS[-1]
    fine = dt.OGPM(UNIT, epsilon=8)
    truth = 1.0 - float(dt.concentration(fine, (0.5 - 1.02 * HALF, 0.5 + 1.02 * HALF), 0.5)) ** 2
    assert truth == pytest.approx(0.036, abs=5e-4)
    for run in range(5):
        published, repaired, sampled = (
            dt.utility(
                black_box(setting.predict),
                setting.x,
                fine,
                method=method,
                confidence=confidence,
                source=dt.Seeded(run),
            )
            for method, confidence in (
                (UtilityMethod.PUBLISHED, 0.95),
                (UtilityMethod.REPAIRED, 1 - FALSE_ALARM),
                (UtilityMethod.MONTE_CARLO, 1 - FALSE_ALARM),
            )
        )
        assert published.lower == pytest.approx(0.99, abs=1e-9)
        assert not published.is_bound
        assert "not a bound" in repr(published)
        assert repaired.lower <= truth
        assert sampled.lower <= truth <= sampled.upper
    assert too_often(wrong(setting, UtilityMethod.PUBLISHED, 20, 10), 20)


def test_the_estimate_taken_as_a_bound_is_rejected() -> None:
    setting = SETTINGS[0]
    shares = [
        dt.utility(
            black_box(setting.predict), setting.x, setting.mechanism, queries=300, source=dt.Seeded(run)
        ).estimate
        for run in range(QUICK)
    ]
    assert too_often(sum(share > setting.truth for share in shares), QUICK)


def test_certified_boxes_hold_nothing_else() -> None:
    setting = SETTINGS[3]
    found = dt.utility(setting.predict, setting.x, setting.mechanism, confidence=1)
    assert found.method is UtilityMethod.CERTIFIED
    assert 0.5 < found.lower <= setting.truth
    assert found.box is not None
    low, high = found.box.corners
    points = low + (high - low) * np.random.default_rng(0).random((50_000, 2))
    assert (setting.predict(points) == setting.predict(np.array([setting.x]))[0]).all()
