"""Mechanisms of one's own in a comparison, and comparisons for a goal."""

from __future__ import annotations

import pytest

import dither as dt
from dither.errors import InvalidParameter


def test_ones_own_mechanisms_are_compared() -> None:
    domain = dt.Interval(0, 10)
    mine = dt.Podium(domain, epsilon=1, cells=64)
    table = dt.compare(domain, epsilon=1, also=[mine, mine])
    assert table["Podium (yours)"]["worst absolute"] == pytest.approx(mine.worst_error(dt.absolute))
    assert "Podium (yours) 2" in [row["mechanism"] for row in table]
    categories = dt.Categories(4)
    table = dt.compare(categories, epsilon=1, also=[dt.KRR(categories, epsilon=2)])
    assert table[0]["mechanism"] == "KRR (yours)"  # with twice the budget
    for wrong in (dt.Podium(dt.Interval(0, 1), epsilon=1), dt.KRR(categories, epsilon=1), "Podium"):
        with pytest.raises(InvalidParameter, match="`also` holds mechanisms on"):
            dt.compare(domain, epsilon=1, also=[wrong])  # type: ignore[list-item]


def test_a_comparison_for_a_goal_agrees_with_the_recommendation() -> None:
    domain, goal = dt.Interval(0, 1), dt.goals.Mean(n=500)
    table, ranking = dt.compare(domain, epsilon=1, goal=goal), dt.recommend(domain, goal, epsilon=1)
    assert table[0]["mechanism"] == ranking[0]["mechanism"]
    assert table[0]["error"] == pytest.approx(ranking[0]["error"])
    with pytest.raises(InvalidParameter, match="needs the domain Categories"):
        dt.compare(domain, epsilon=1, goal=dt.goals.Frequencies(n=1))


@pytest.mark.parametrize(("epsilon", "best"), [(1.0, "Hybrid"), (4.0, "Podium")])
def test_the_default_on_an_interval_is_the_better_one_for_a_mean(epsilon: float, best: str) -> None:
    text = f"[questions.a]\ninterval = [0, 1]\nepsilon = {epsilon}\n"
    (mechanism,) = dt.Campaign.from_toml(text).questions.values()
    assert type(mechanism).__name__ == best
    others = [dt.Hybrid(dt.Interval(0, 1), epsilon=epsilon), dt.Podium(dt.Interval(0, 1), epsilon=epsilon)]
    goal = dt.goals.Mean(n=1)
    assert goal.error(mechanism) == min(goal.error(other) for other in others)
