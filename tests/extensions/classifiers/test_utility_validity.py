"""Bounds hold as often as they say, where the true utility is known."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.extensions.classifiers.monte_carlo import binomial_above
from tests.extensions.classifiers.settings import SETTINGS, UNIT, Setting, black_box

pytest.importorskip("sklearn")

OMEGA = 0.05
QUICK, LONG = 40, 1000
FALSE_ALARM = 1e-6
CELL = 2e-5  # how well the true curve is known
MONTE_CARLO = partial(dt.classifiers.utility, method="Monte Carlo")
each_setting = pytest.mark.parametrize("setting", SETTINGS, ids=[setting.name for setting in SETTINGS])


def wrong(setting: Setting, runs: int, queries: int, bound: Any = MONTE_CARLO) -> int:
    """How many of so many seeded runs claim more than the truth."""
    found = (
        bound(
            black_box(setting.predict),
            setting.x,
            setting.mechanism,
            confidence=1 - OMEGA,
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
def test_the_bound_holds(setting: Setting) -> None:
    assert not too_often(wrong(setting, QUICK, 300), QUICK)


@pytest.mark.slow
@each_setting
def test_the_bound_holds_at_length(setting: Setting) -> None:
    failures = wrong(setting, LONG, 1000)
    print(f"{setting.name}: wrong in {failures} of {LONG} runs")
    assert failures <= OMEGA * LONG


def curve_failures(setting: Setting, runs: int, queries: int) -> tuple[int, int]:
    """Runs in which the lower edge is above the truth anywhere, and in which the estimate is (the twin)."""
    epsilons = np.linspace(setting.epsilon / 2, setting.epsilon, 5)
    truth = setting.designed(epsilons)
    above, estimated = 0, 0
    for run in range(runs):
        curve = dt.classifiers.utility_curve(
            black_box(setting.predict),
            setting.x,
            dt.OGPM(UNIT, epsilon=1),
            epsilons,
            queries=queries,
            confidence=1 - OMEGA,
            source=dt.Seeded(run),
        )
        assert curve.method == "importance sampling"
        above += bool((curve.lower > truth + CELL).any())
        estimated += bool((curve.estimate > truth + CELL).any())
    return above, estimated


@pytest.mark.some(every=3)
@each_setting
def test_the_whole_curve_holds_and_its_estimate_would_not(setting: Setting) -> None:
    above, estimated = curve_failures(setting, QUICK, 400)
    assert not too_often(above, QUICK)
    assert too_often(estimated, QUICK)


@pytest.mark.slow
@each_setting
def test_the_whole_curve_holds_at_length(setting: Setting) -> None:
    failures, _ = curve_failures(setting, LONG, 1000)
    print(f"{setting.name}, whole curve: wrong in {failures} of {LONG} runs")
    assert failures <= OMEGA * LONG


def test_the_estimate_taken_as_a_bound_is_rejected() -> None:
    setting = SETTINGS[0]
    shares = [
        dt.classifiers.utility(
            black_box(setting.predict), setting.x, setting.mechanism, queries=300, source=dt.Seeded(run)
        ).estimate
        for run in range(QUICK)
    ]
    assert too_often(sum(share > setting.truth for share in shares), QUICK)


def test_certified_boxes_hold_nothing_else() -> None:
    setting = SETTINGS[3]
    found = dt.classifiers.utility(setting.predict, setting.x, setting.mechanism, confidence=1)
    assert found.method == "certified"
    assert 0.5 < found.lower <= setting.truth
    assert found.box is not None
    low, high = found.box.corners
    points = low + (high - low) * np.random.default_rng(0).random((50_000, 2))
    assert (setting.predict(points) == setting.predict(np.array([setting.x]))[0]).all()
