"""Samples follow the exact law, at a false-alarm rate of one in a million; broken twins do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import dither as dt
from tests.support.broken.numbers import HeavyTail, Shifted, TooNarrow
from tests.support.cases.numbers import MIXED, WINDOWS, Case, names
from tests.support.chi_square import ALARM, p_value

UNIT = dt.Interval(0, 1)


def draw(mechanism: object, x: float, size: int, seed: int) -> np.ndarray:
    return mechanism.perturb(np.full(size, x), source=dt.Seeded(seed)).cells  # type: ignore[attr-defined]


@pytest.mark.parametrize("case", WINDOWS, ids=names(WINDOWS))
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_blocks_follow_the_law(case: Case, epsilon: float) -> None:
    mechanism = case(epsilon, cells=64)
    for unit in (0.0, 0.31, 1.0):
        x = float(mechanism.line.from_unit(np.asarray(unit)))
        assert p_value(draw(mechanism, x, 100_000, 3), mechanism.probabilities(x)) > ALARM


@pytest.mark.parametrize("case", MIXED, ids=names(MIXED))
def test_mixtures_follow_the_law(case: Case) -> None:
    mechanism = case(2.0, cells=32)
    for unit in (0.0, 0.31, 1.0):
        x = float(mechanism.line.from_unit(np.asarray(unit)))
        assert p_value(draw(mechanism, x, 100_000, 4), mechanism.probabilities(x)) > ALARM


def one_by_one(mechanism: Any, x: float, size: int) -> np.ndarray:
    source = dt.Seeded(9)
    return np.array([int(mechanism.perturb(x, source=source).cells) for _ in range(size)])


@pytest.mark.some(every=3)
@pytest.mark.parametrize("epsilon", [0.5, 8.0, 14.0, 30.0])
@pytest.mark.parametrize("kind", [dt.OGPM, dt.Podium, dt.Duchi])
def test_one_by_one_follows_the_same_law(kind: type, epsilon: float) -> None:
    """Few values go through plain integers, many through blocks: one law, the rare reports included.

    Above ε ≈ 10 nothing rare is expected among so few draws; tests/laws counts the words of that branch.
    """
    mechanism = kind(UNIT, epsilon=epsilon, **({} if kind is dt.Duchi else {"cells": 16}))
    assert p_value(one_by_one(mechanism, 0.4, 8_000), mechanism.probabilities(0.4)) > ALARM


@pytest.mark.parametrize("epsilon", [8.0, 12.0, 14.0])
@pytest.mark.parametrize("kind", [dt.OGPM, dt.Podium])
def test_large_budgets_in_blocks(kind: type, epsilon: float) -> None:
    """Above ε ≈ 12 the lottery takes 96 bits: another branch, the same law, in the tail too."""
    mechanism = kind(UNIT, epsilon=epsilon, cells=256)
    law = mechanism.probabilities(0.3)
    assert sum(p for p in law if p < 1e-3) * 200_000 > 10  # a tail that is seen
    assert p_value(draw(mechanism, 0.3, 200_000, 6), law) > ALARM


@pytest.mark.parametrize("epsilon", [8.0, 12.0, 14.0])
def test_a_heavy_tail_is_rejected(epsilon: float) -> None:
    """Twenty times the tail: seen in blocks at every budget, and one by one at ε = 8."""
    law = dt.OGPM(UNIT, epsilon=epsilon, cells=256).probabilities(0.3)
    twin = HeavyTail(UNIT, epsilon=epsilon, cells=256)
    assert p_value(draw(twin, 0.3, 200_000, 6), law) < ALARM
    if epsilon == 8.0:
        few = HeavyTail(UNIT, epsilon=epsilon, cells=16)
        law = dt.OGPM(UNIT, epsilon=epsilon, cells=16).probabilities(0.4)
        assert p_value(one_by_one(few, 0.4, 8_000), law) < ALARM


def test_a_window_too_narrow_is_rejected() -> None:
    honest = dt.OGPM(UNIT, epsilon=1.0, cells=1024)
    twin = TooNarrow(UNIT, epsilon=1.0, cells=1024)
    assert p_value(draw(honest, 0.5, 4_000_000, 1), honest.probabilities(0.5)) > ALARM
    assert p_value(draw(twin, 0.5, 4_000_000, 1), honest.probabilities(0.5)) < ALARM


def test_a_late_window_is_rejected() -> None:
    honest = dt.Podium(UNIT, epsilon=1.0, cells=64)
    twin = Shifted(UNIT, epsilon=1.0, cells=64)
    assert p_value(draw(honest, 0.5, 2_000_000, 2), honest.probabilities(0.5)) > ALARM
    assert p_value(draw(twin, 0.5, 2_000_000, 2), honest.probabilities(0.5)) < ALARM


@pytest.mark.parametrize("case", [case for case in WINDOWS if case.unbiased], ids=lambda case: case.name)
def test_the_average_report_is_the_value(case: Case) -> None:
    mechanism = case(1.0)
    for unit in (0.0, 0.7):
        x = float(mechanism.line.from_unit(np.asarray(unit)))
        values = mechanism.perturb(np.full(400_000, x), source=dt.Seeded(8)).values
        z = (values.mean() - x) / np.sqrt(mechanism.variance(x) / values.size)
        assert abs(z) < stats.norm.isf(ALARM / 2)


def test_the_secure_source_follows_the_law_too() -> None:
    mechanism = dt.Podium(UNIT, epsilon=1.0, cells=64)
    cells = mechanism.perturb(np.full(200_000, 0.6)).cells
    assert p_value(cells, mechanism.probabilities(0.6)) > ALARM


def test_two_threads_follow_the_law() -> None:
    mechanism = dt.SW(UNIT, epsilon=1.0, cells=64)
    cells = mechanism.perturb(np.full(200_000, 0.6), source=dt.Seeded(3), threads=2).cells
    assert p_value(cells, mechanism.probabilities(0.6)) > ALARM
    again = mechanism.perturb(np.full(200_000, 0.6), source=dt.Seeded(3), threads=2).cells
    assert np.array_equal(cells, again)
