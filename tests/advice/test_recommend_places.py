"""What is recommended for maps, districts and mean places, beside simulations of the same."""

from __future__ import annotations

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


@pytest.mark.slow
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
