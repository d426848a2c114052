"""Advice on vectors: the ratio of people that was computed elsewhere, and errors next to simulations."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dither as dt
from dither.advice.vectors import on_vectors, squared_error, turning_point
from dither.errors import InvalidParameter
from tests.support.terminal import run

# People that `Sampled` needs over those of a vector, by ε and the share of the corner's squared length.
RATIOS = {(1, 0.1): 6.5, (2, 0.1): 5.9, (4, 0.1): 4.8, (1, 0.33): 2.1, (2, 0.33): 2.1, (4, 0.33): 2.8}
RATIOS |= {(1, 0.75): 0.97, (2, 0.75): 1.2, (4, 0.75): 2.3}


@pytest.mark.parametrize("epsilon", [1, 2, 4])
def test_the_ratio_of_people_is_the_one_computed_elsewhere(epsilon: int) -> None:
    for (other, share), ratio in RATIOS.items():
        if other == epsilon:
            domain = dt.Vectors(384, length=math.sqrt(share * 384), exact=True)
            whole, single = (squared_error(held) for held in on_vectors(domain, epsilon, each=1.0))
            # Another unbiased mechanism for one number was used there, which differs by up to 15 %.
            assert single / whole == pytest.approx(ratio, rel=0.17)
    turn = turning_point(384, float(epsilon))
    assert turn is None if epsilon > 1 else turn == pytest.approx(0.74, abs=0.02)


@pytest.mark.slow
def test_both_errors_are_those_of_simulations() -> None:
    """Vectors near a corner of the box: there `Sampled` is better, and the reason says so."""
    domain, n = dt.Vectors(8, length=0.49 * math.sqrt(8), centre=[0.5] * 8, exact=True), 4_000
    table = dt.recommend(domain, dt.goals.MeanOfVectors(n=n, each=0.5), epsilon=1)
    assert table[0]["mechanism"].startswith("Sampled")
    assert "and here it is 96 %" in table[0]["why"]
    vectors = 0.5 + 0.49 * np.random.default_rng(1).choice([-1.0, 1.0], (n, 8))
    truth, single, whole = vectors.mean(axis=0), [], []
    for seed in range(40):
        records = table.best.perturb(vectors, source=dt.Seeded(seed))
        found = np.array([float(dt.mean(records[name])) for name in records])
        single.append(((found - truth) ** 2).sum())
        reports = table.mechanisms[1].perturb(vectors, source=dt.Seeded(seed))
        whole.append(((np.asarray(dt.mean(reports).value) - truth) ** 2).sum())
    for row, squares in zip(table, (single, whole), strict=True):
        assert math.sqrt(np.mean(squares)) == pytest.approx(row["error"], rel=0.2)  # five standard errors


def test_vectors_are_compared_and_planned() -> None:
    compared = dt.compare(dt.Vectors(50), epsilon=2)
    assert compared["Optimal"]["relative squared error"] == pytest.approx(1.0, abs=0.02)
    assert compared["Sampled(Optimal(unbiased=True) of each number)"]["relative squared error"] > 20
    goal = dt.goals.MeanOfVectors(n=10_000)
    best = dt.recommend(dt.Vectors(50), goal, epsilon=2)
    assert "does not need fewer people" in best[0]["why"]
    assert "at most 0." in best[0]["why"]
    people = dt.people_for(
        dt.Vectors(50), dt.goals.MeanOfVectors(), best[0]["error"], epsilon=2, sampling=False
    )
    assert people == pytest.approx(10_000, rel=0.001)
    assert dt.epsilon_for(dt.Vectors(50), goal, best[0]["error"], sampling=False) == pytest.approx(
        2, rel=0.001
    )
    assert dt.recommend(dt.Vectors(5_000), goal, epsilon=2).mechanisms[1:] == ()  # too many to be named
    assert dt.recommend(dt.Vectors(1), goal, epsilon=2)[0]["mechanism"].startswith("Sampled")
    short = dt.recommend(dt.Vectors(50), goal, epsilon=2, most_bytes=2)
    assert [row["mechanism"] for row in short] == ["Sampled(Optimal(unbiased=True) of each number)"]


@pytest.mark.parametrize("each", [0.0, -1.0, math.nan, True, "1"])
def test_a_wrong_bound_of_numbers_is_refused(each: object) -> None:
    with pytest.raises(InvalidParameter, match="positive number"):
        dt.goals.MeanOfVectors(each=each)  # type: ignore[arg-type]


def test_other_goals_and_mechanisms_are_refused_with_the_remedy() -> None:
    with pytest.raises(InvalidParameter, match=r"for vectors dt\.goals\.MeanOfVectors"):
        dt.recommend(dt.Vectors(3), dt.goals.Mean(n=5), epsilon=1)
    with pytest.raises(InvalidParameter, match="no `also` for tables of attributes and for vectors"):
        dt.compare(dt.Vectors(3), epsilon=1, also=[dt.Optimal(dt.Vectors(3), epsilon=1)])


def test_the_terminal_recommends_for_vectors() -> None:
    given = ("recommend", "--vectors", 20, "--goal", "mean-vector", "--epsilon", 1)
    shown = run(*given, "--people", 1000, "--length", 3)
    assert "of length ≤ 3" in shown.output
    assert "the length of the error" in shown.output
    assert run(*given, "--people", 1000, "--interval", 0, 1).exit_code == 2
    assert run("recommend", "--interval", 0, 1, "--length", 3, "--goal", "mean").exit_code == 2
