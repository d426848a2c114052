"""The exponential mechanism with a score: any score keeps ε, and known scores give known mechanisms."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter

UNIT = dt.Interval(0, 1)
POINTS = (0.0, 0.25, 0.5, 1.0)
SCORES: dict[str, Callable[[float, float], float]] = {
    "distance": lambda value, point: -abs(value - point),
    "equality": lambda value, point: float(value == point),
    "one side": lambda value, point: -max(point - value, 0.0) - 3.0 * max(value - point, 0.0),
    "product": lambda value, point: value * point,
    "large numbers": lambda value, point: 1e9 - 1e6 * (value - point) ** 2,
}


def chances(made: dt.Exponential) -> list[list[Fraction]]:
    return [made.question.probabilities(point) for point in made.points]


@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 50.0])
@pytest.mark.parametrize("name", SCORES)
def test_every_score_keeps_the_budget_in_exact_arithmetic(name: str, epsilon: float) -> None:
    made = dt.Exponential(UNIT, POINTS, epsilon=epsilon, score=SCORES[name])
    rows = chances(made)
    assert all(sum(row) == 1 for row in rows)
    ratio = max(max(column) / min(column) for column in zip(*rows, strict=True))
    assert math.log(ratio) <= epsilon * (1 + 1e-12)
    assert made.guarantee.epsilon <= epsilon
    printed = dt.Exponential(UNIT, POINTS, epsilon=epsilon, score=SCORES[name], as_published=True)
    assert printed.guarantee.epsilon <= made.guarantee.epsilon


def test_better_points_are_likelier() -> None:
    made = dt.Exponential(UNIT, POINTS, epsilon=2, score=SCORES["one side"])
    for value, row in zip(POINTS, chances(made), strict=True):
        scores = [SCORES["one side"](value, point) for point in POINTS]
        assert [row[place] for place in np.argsort(scores)] == sorted(row)


def test_the_distance_as_a_score_is_the_plain_mechanism() -> None:
    plain = dt.Exponential(UNIT, POINTS, epsilon=2)
    assert chances(dt.Exponential(UNIT, POINTS, epsilon=2, score=SCORES["distance"])) == chances(plain)
    assert "score" not in plain.question.parameters


def test_equality_as_a_score_is_randomized_response() -> None:
    """[Thesis, Def. 26] calls it a special case: with the printed scale it is k-RR for ε/2."""
    full, half = (
        dt.Exponential(UNIT, POINTS, epsilon=2, score=SCORES["equality"], as_published=printed)
        for printed in (False, True)
    )
    for made, epsilon in ((full, 2.0), (half, 1.0)):
        truth = math.exp(epsilon) / (math.exp(epsilon) + 3.0)
        assert float(chances(made)[1][1]) == pytest.approx(truth, rel=1e-5)


def test_a_table_is_in_the_order_in_which_the_points_are_given() -> None:
    shuffled = (1.0, 0.25, 0.0, 0.5)
    table = [[SCORES["one side"](value, point) for point in shuffled] for value in shuffled]
    by_table = dt.Exponential(UNIT, shuffled, epsilon=1, score=table)
    by_function = dt.Exponential(UNIT, POINTS, epsilon=1, score=SCORES["one side"])
    assert chances(by_table) == chances(by_function)


def test_scores_travel() -> None:
    made = dt.Exponential(UNIT, POINTS, epsilon=1, score=SCORES["one side"])
    assert pickle.loads(pickle.dumps(made)) == made
    assert dt.from_json(made.to_json()).design() == made
    assert made.at(2.0).score == made.score


@pytest.mark.parametrize(
    "score", [[[1, 2], [3, 4]], "distance", [[1.0] * 4] * 4, lambda value, point: math.nan, [[1, 2, 3], [1]]]
)
def test_bad_scores_are_refused(score: object) -> None:
    with pytest.raises(InvalidParameter, match=r"expected .* score"):
        dt.Exponential(UNIT, POINTS, epsilon=1, score=score)  # type: ignore[arg-type]


def test_a_sensitivity_divides_the_scores() -> None:
    wide = dt.Exponential(UNIT, POINTS, epsilon=1, score=SCORES["product"], sensitivity=4)
    assert (
        wide.guarantee.epsilon
        < dt.Exponential(UNIT, POINTS, epsilon=1, score=SCORES["product"]).guarantee.epsilon
    )
    with pytest.raises(InvalidParameter, match="spend at most"):
        dt.Exponential(UNIT, POINTS, epsilon=1, score=SCORES["distance"], sensitivity=0.3)
