"""Samples follow the exact law, at a false-alarm rate of one in a million; broken twins do not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import dither as dt
from tests.support.broken.numbers import Shifted, TooNarrow
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


@pytest.mark.parametrize("epsilon", [0.5, 14.0, 30.0])
@pytest.mark.parametrize("kind", [dt.OGPM, dt.Podium, dt.Duchi])
def test_one_by_one_follows_the_same_law(kind: type, epsilon: float) -> None:
    """Few values go through plain integers, many through blocks: one law."""
    mechanism = kind(UNIT, epsilon=epsilon, **({} if kind is dt.Duchi else {"cells": 16}))
    source = dt.Seeded(9)
    cells = np.array([int(mechanism.perturb(0.4, source=source).cells) for _ in range(8_000)])
    law = mechanism.probabilities(0.4)
    if epsilon < 10:
        assert p_value(cells, law) > ALARM
    likely = {cell for cell, p in enumerate(law) if p > 1e-3}
    assert set(cells.tolist()) <= likely or epsilon < 10


def test_large_budgets_in_blocks() -> None:
    """Above ε ≈ 12 the lottery takes 96 bits: another branch, the same law."""
    for epsilon in (12.0, 14.0):
        mechanism = dt.Podium(UNIT, epsilon=epsilon, cells=256)
        cells = draw(mechanism, 0.3, 200_000, 6)
        share = float(sum(p for p in mechanism.probabilities(0.3) if p > 1e-3))
        likely = [cell for cell, p in enumerate(mechanism.probabilities(0.3)) if p > 1e-3]
        assert np.isin(cells, likely).mean() == pytest.approx(share, abs=5 * (0.25 / 200_000) ** 0.5)


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
