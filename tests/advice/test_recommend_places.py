"""What is recommended for maps, districts and mean places, beside simulations of the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter

CITY = dt.Rectangle(dt.Interval(0, 20), dt.Interval(0, 15))


def test_a_mean_place_is_asked_by_one_coordinate() -> None:
    table = dt.recommend(CITY, dt.goals.MeanPlace(n=20_000), epsilon=1)
    assert table[0]["mechanism"].startswith("Sampled(")
    assert "x=Optimal(unbiased=True)" in table[0]["mechanism"]  # one number each: whole places are biased
    assert table["Sampled(x=Hybrid(…), y=Hybrid(…))"]["error"] > 1.02 * table[0]["error"]
    corner = np.zeros((20_000, 2))
    told = []
    for seed in range(12):
        reports = table.best.perturb(corner, source=dt.Seeded(seed))
        told.append([float(dt.mean(reports[side])) for side in ("x", "y")])
    error = np.sqrt(np.square(told).sum(axis=1).mean())
    assert 0.5 * table[0]["error"] < error < 1.5 * table[0]["error"]  # at a corner variances are large
    people = dt.people_for(CITY, dt.goals.MeanPlace(), table[0]["error"], epsilon=1, sampling=False)
    assert people == pytest.approx(20_000, rel=0.01)


def test_districts_are_asked_as_a_list() -> None:
    table = dt.recommend(CITY, dt.goals.Districts(n=100_000, across=4, along=4), epsilon=1)
    plain = dt.recommend(dt.Categories(16), dt.goals.Frequencies(n=100_000), epsilon=1)
    assert table[0]["error"] == pytest.approx(plain[0]["error"])
    assert isinstance(table.best.domain, dt.Categories)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1, 4])
def test_maps_rank_the_design_for_maps_first(epsilon: float) -> None:
    table = dt.recommend(CITY, dt.goals.Maps(n=100_000), epsilon=epsilon)
    assert table[0]["mechanism"].startswith("Optimal(")
    errors = {row["mechanism"]: row["error"] for row in table}
    assert errors["Optimal(…, purpose='map')"] < 0.8 * errors["TraCSC(…, inner=SW)"]


def test_maps_state_the_range_of_other_populations_and_fall_with_more_people(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    goal = dt.goals.Maps(n=4000, across=4, along=4)
    table = dt.recommend(CITY, goal, epsilon=2)
    for row in table:
        assert row["from"] < row["error"] < row["to"] <= 1
    assert "of single populations from" in table[0]["why"]
    simulated = goal.error(table.best)
    monkeypatch.setattr("dither.advice.goals.places._MOST_SIMULATED", 1000)
    assert goal.error(table.best) == pytest.approx(simulated, rel=0.4)  # from 125 and 1 000 people
    known = dt.goals.Maps(n=4000, across=4, along=4, places=[(1, 1), (5, 3)])
    assert "from" not in dt.recommend(CITY, known, epsilon=2)[0]


def _other_populations() -> dict[str, Callable[[np.random.Generator, int], Any]]:
    """Return populations of the unit square that are unlike the city of the prediction."""
    points = np.array([[0.12, 0.8], [0.33, 0.27], [0.5, 0.61], [0.77, 0.4], [0.9, 0.9]])
    return {
        "two peaks with a gap": lambda rng, n: np.where(
            rng.random((n, 2)) < 0.4, rng.uniform(0.1, 0.25, (n, 2)), rng.uniform(0.6, 0.85, (n, 2))
        ),
        "heaps": lambda rng, n: np.round(10 * rng.normal(0.5, 0.2, (n, 2))) / 10,
        "half at 0": lambda rng, n: np.where(rng.random((n, 2)) < 0.5, 0.0, rng.beta(2, 2, (n, 2))),
        "U": lambda rng, n: rng.beta(0.5, 0.5, (n, 2)),
        "five points": lambda rng, n: points[rng.integers(0, 5, n)],
        "a spike": lambda rng, n: np.full((n, 2), 0.61),
        "a triangle": lambda rng, n: rng.triangular(0.0, 0.7, 1.0, (n, 2)),
        "a corner": lambda rng, n: rng.beta(2, 6, (n, 2)),
    }


@pytest.mark.slow
def test_the_range_of_a_map_holds_the_errors_of_other_populations() -> None:
    square = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
    inside = []
    for epsilon, n, cells in ((1, 2000, 6), (1, 2000, 16), (2, 20_000, 6), (4, 20_000, 16)):
        goal = dt.goals.Maps(n=n, across=cells, along=cells)
        for row, design in zip(
            table := dt.recommend(square, goal, epsilon=epsilon), table.mechanisms, strict=True
        ):
            for number, draw in enumerate(_other_populations().values()):
                people = np.clip(draw(np.random.default_rng(number), n), 0, 1)
                found = dt.maps.density(
                    design.perturb(people[:, None], source=dt.Seeded(number)), cells, cells
                )
                truth = (
                    np.histogram2d(people[:, 0], people[:, 1], bins=cells, range=[[0.0, 1.0], [0.0, 1.0]])[0]
                    / n
                )
                miss = np.abs(found.probabilities - truth).sum() / 2
                inside.append(row["from"] <= miss <= row["to"])
    assert np.mean(inside) >= 0.9


def test_what_is_refused() -> None:
    for wrong in (
        lambda: dt.goals.Districts(across=0),
        lambda: dt.goals.Districts(across=1, along=1),
        lambda: dt.goals.Districts(n=-1),
        lambda: dt.goals.Maps(n=0),
        lambda: dt.recommend(dt.Interval(0, 1), dt.goals.MeanPlace(n=5), epsilon=1),
        lambda: dt.recommend(CITY, dt.goals.Mean(n=5), epsilon=1),
        lambda: dt.goals.Maps().people([], 0.1),
    ):
        with pytest.raises(InvalidParameter):
            wrong()
