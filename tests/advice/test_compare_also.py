"""Mechanisms of one's own in a comparison, and comparisons for a goal."""

from __future__ import annotations

import numpy as np
import pytest

import dither as dt
from dither.advice import simulation
from dither.advice.catalogue import Candidate
from dither.advice.compare import OVERLAP, tied
from dither.errors import InvalidParameter


@pytest.mark.slow
def test_ones_own_mechanisms_are_compared() -> None:
    domain = dt.Interval(0, 10)
    mine = dt.Podium(domain, epsilon=1, cells=64)
    table = dt.compare(domain, epsilon=1, also=[mine, mine])
    assert table["Podium (yours)"]["worst absolute"] == pytest.approx(mine.worst_error("absolute"))
    assert "Podium (yours) 2" in [row["mechanism"] for row in table]
    categories = dt.Categories(4)
    table = dt.compare(categories, epsilon=1, also=[dt.KRR(categories, epsilon=2)])
    assert table[0]["mechanism"] == "KRR (yours)"  # with twice the budget
    for wrong in (dt.Podium(dt.Interval(0, 1), epsilon=1), dt.KRR(categories, epsilon=1), "Podium"):
        with pytest.raises(InvalidParameter, match="known errors in `also`"):
            dt.compare(domain, epsilon=1, also=[wrong])  # type: ignore[list-item]


@pytest.mark.slow
def test_a_comparison_for_a_goal_agrees_with_the_recommendation() -> None:
    domain, goal = dt.Interval(0, 1), dt.goals.Mean(n=500)
    table, ranking = dt.compare(domain, epsilon=1, goal=goal), dt.recommend(domain, goal, epsilon=1)
    assert table[0]["mechanism"] == ranking[0]["mechanism"]
    assert table[0]["error"] == pytest.approx(ranking[0]["error"])
    with pytest.raises(InvalidParameter, match="expected the domain Categories"):
        dt.compare(domain, epsilon=1, goal=dt.goals.Frequencies(n=1))


def _two(epsilon: float) -> list[Candidate]:
    kinds = (dt.SW, dt.Duchi, dt.Laplace)
    return [Candidate(kind.__name__, kind(dt.Interval(0, 1), epsilon=epsilon)) for kind in kinds]


@pytest.mark.slow
def test_columns_of_a_distribution_are_simulated_errors_with_their_seeds() -> None:
    goal = dt.goals.Distribution(n=400)
    how, rows = goal.columns(_two(2.0))
    assert "12 runs (seeds 1000 to 1011)" in how
    window, two_values, noise = rows
    spans = [f"{name}{end}" for name in ("W1", "KS") for end in ("", " from", " to")]
    assert list(window) == spans
    assert list(dt.goals.Distribution(n=400, distance="ks").columns(_two(2.0))[1][0]) == spans[3:] + spans[:3]
    assert set(two_values.values()) == {None}  # two values tell no shape
    assert window["W1"] < window["KS"]  # the mean gap, and the largest
    assert window["W1"] < noise["W1"]
    assert window["W1 from"] < window["W1"] < window["W1 to"]
    # What other seeds give, written out: the area between the cdf of each shape and the estimated one.
    places, gaps = np.linspace(0, 1, 513), []
    for seed in range(48):
        cdf = simulation.population(seed)
        values = np.interp(np.random.default_rng(seed).random(400), cdf, np.linspace(0, 1, cdf.size))
        shape = dt.distribution(dt.SW(dt.Interval(0, 1), epsilon=2).perturb(values, source=dt.Seeded(seed)))
        true = np.interp(places, np.linspace(0, 1, cdf.size), cdf)
        gaps.append(np.mean([abs(shape.cdf(x).value - at) for x, at in zip(places, true, strict=True)][::8]))
    spread = np.std(gaps) * (1 / 48 + 1 / 12) ** 0.5
    assert abs(np.mean(gaps) - window["W1"]) < 0.05 * np.mean(gaps) + 4.9 * spread


@pytest.mark.slow
def test_a_comparison_for_a_distribution() -> None:
    runs: list[int] = []
    table = dt.compare(dt.Interval(0, 1), epsilon=1, goal=dt.goals.Distribution(n=2000), progress=runs.append)
    order = [row["W1"] for row in table if row["W1"] is not None]
    assert order == sorted(order)
    assert len(order) > 12
    assert table["Duchi"]["KS"] is None
    assert "seeds 1000 to 1011" in repr(table)
    assert dt.compare(dt.Interval(0, 1), epsilon=1, goal=dt.goals.Distribution(n=2000)).rows == table.rows


@pytest.mark.parametrize(
    ("epsilon", "best"), [(1.0, "Optimal"), (2.0, "Optimal"), (4.0, "Optimal"), (8.5, "Podium")]
)
def test_the_default_on_an_interval_is_the_better_one_for_a_mean(epsilon: float, best: str) -> None:
    text = f"[questions.a]\ninterval = [0, 1]\nepsilon = {epsilon}\n"
    (mechanism,) = dt.Questionnaire.from_toml(text).questions.values()
    assert mechanism.name == best
    design = mechanism.design()
    others = [dt.Hybrid(dt.Interval(0, 1), epsilon=epsilon), dt.Podium(dt.Interval(0, 1), epsilon=epsilon)]
    goal = dt.goals.Mean(n=1)
    assert goal.error(design) <= min(goal.error(other) for other in others)


def test_predictions_whose_ranges_overlap_are_a_tie() -> None:
    """PM was ranked before SW by 6 % of an error that differs 300-fold between shapes."""
    row = {"mechanism": "a", "error": 1.0, "from": 0.5, "to": 2.0}
    other = {"mechanism": "b", "error": 1.4, "from": 1.9, "to": 4.0}
    assert tied(row, other, "error")
    assert not tied(row, {**other, "from": 2.1}, "error")
    assert not tied(row, {"mechanism": "c", "error": None, "from": None, "to": None}, "error")
    assert tied({"W1": 1.0, "W1 from": 0.9, "W1 to": 1.1}, {"W1": 2.0, "W1 from": 1.0, "W1 to": 3.0}, "W1")
    assert tied({"error": 1.0}, {"error": 1.0 + 1e-12}, "error")
    assert not tied({"error": 1.0}, {"error": 1.01}, "error")
    ranking = dt.recommend(dt.Interval(0, 8), dt.goals.Quantile(n=10_000, share=0.9), epsilon=1)
    text = repr(ranking)
    assert text.count("1=") == sum(tied(ranking[0], row, "error") for row in ranking) > 5
    assert OVERLAP in " ".join(text.split())
    for row in ranking:
        assert row["from"] == 0  # at a point mass
        assert row["to"] >= 0.072 * 8  # between two peaks
    plain = dt.recommend(dt.Interval(0, 1), dt.goals.Mean(n=100), epsilon=1)
    assert "1 " in repr(plain)
    assert OVERLAP not in " ".join(repr(plain).split())
