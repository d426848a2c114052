"""Intervals of means of vectors: the pools of the tool are draws of the product, and the record holds."""

import numpy as np
import pytest

import dither as dt
from tools.coverage_vectors import (
    LEAST,
    MOST,
    PAGE,
    PEOPLE,
    QUANTITIES,
    RUNS,
    Setting,
    pool,
    question,
    recorded,
    settings,
    table,
)


@pytest.mark.parametrize("people", PEOPLE)
def test_a_pool_has_the_nearest_directions_of_people_and_their_mean(people: str) -> None:
    drawn = pool(people, 5, 1, 40)
    rng = np.random.default_rng(1)
    rng.integers(1 << 32, size=40, dtype=np.uint64)
    vectors = PEOPLE[people].draw(rng, 40, 5)
    for epsilon, near in drawn.near.items():
        kernel = question(people, 5, epsilon).kernel
        assert near[7].tolist() == kernel.near(vectors[7], int(drawn.seeds[7]))
    assert np.abs(PEOPLE[people].draw(rng, 40_000, 5).mean(axis=0) - PEOPLE[people].mean(5)).max() < 0.02


def test_reports_of_a_pool_are_those_of_its_people() -> None:
    setting = Setting("unit vectors about a topic", 4, 300, 4.0)
    drawn = pool(setting.people, 4, 2, 300)
    reports = setting.reports(drawn, np.random.default_rng(1), dt.Seeded(1))
    order = np.random.default_rng(1).choice(300, 300, replace=False)
    assert (reports.cells >> np.uint64(16) == drawn.seeds[order]).all()
    kernel = reports.question.kernel
    near = (drawn.near[4.0][order] == (reports.cells & np.uint64(65_535))[:, None]).any(axis=1)
    chance = kernel.window.width * kernel.window.inside / kernel.window.total
    assert abs(near.mean() - chance) < 5.0 * np.sqrt(chance * (1 - chance) / 300)


def test_settings_that_are_recorded_hold() -> None:
    """Coordinates are many in each run. The other shares may be two standard errors outside."""
    kept = recorded()
    every = {setting.name: setting for setting in settings()}
    assert len(kept) >= 8
    for setting in (every[name] for name in kept):
        assert kept[setting.name]["runs"] >= RUNS[setting.n] >= 200
        for quantity, (share, error) in zip(QUANTITIES, kept[setting.name]["held"], strict=True):
            slack = 0.0 if quantity == "coordinates" else 2.0 * error
            assert LEAST - slack <= share <= MOST + slack, (setting.name, quantity)
    assert f"<!-- vectors: begin -->\n{table()}\n<!-- vectors: end -->" in PAGE.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    "setting", [setting for setting in settings() if setting.d in (10, 384)], ids=lambda one: one.name
)
def test_intervals_hold_at_length(setting: Setting) -> None:
    for share, error in setting.measure(RUNS[setting.n] // 10, seed=2):
        assert LEAST - 3.5 * error <= share <= MOST + 3.5 * error
