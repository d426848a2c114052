"""The exponential mechanism on public points of an area: any score keeps ε, and the text is checked."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable

import numpy as np
import pytest

import dither as dt
from dither.errors import DitherError, InvalidParameter
from tests.support.cases.places import POINTS, SQUARE, UNIT

Pair = tuple[float, float]
SCORES: dict[str, Callable[[Pair, Pair], float]] = {
    "distance": lambda place, point: -math.dist(place, point),
    "equality": lambda place, point: float(place == point),
    "one axis": lambda place, point: -abs(place[0] - point[0]),
    "product": lambda place, point: 1e6 * place[0] * point[1],
}


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 8.0, 50.0])
@pytest.mark.parametrize("name", SCORES)
def test_every_score_keeps_the_budget_in_exact_arithmetic(name: str, epsilon: float) -> None:
    made = dt.Exponential(SQUARE, POINTS, epsilon=epsilon, score=SCORES[name])
    rows = [made.question.probabilities(point) for point in POINTS]
    assert all(sum(row) == 1 for row in rows)
    spent = math.log(max(max(column) / min(column) for column in zip(*rows, strict=True)))
    assert spent <= epsilon * (1 + 1e-12)
    assert spent >= 0.99 * min(epsilon, 8.0)  # weights end at 2^40
    for row, place in zip(rows, POINTS, strict=True):
        scores = [SCORES[name](place, point) for point in POINTS]
        assert all(np.diff(np.array(row, dtype=float)[np.argsort(scores)]) >= 0.0)


def test_equality_as_a_score_is_randomized_response() -> None:
    made = dt.Exponential(SQUARE, POINTS, epsilon=2, score=SCORES["equality"])
    truth = math.exp(2.0) / (math.exp(2.0) + len(POINTS) - 1)
    assert float(made.question.probabilities(POINTS[4])[4]) == pytest.approx(truth, rel=1e-5)


def test_without_a_score_it_is_the_distance() -> None:
    plain = dt.Exponential(SQUARE, POINTS, epsilon=2)
    assert (
        plain.fingerprint == dt.Exponential(SQUARE, POINTS, epsilon=2, score=SCORES["distance"]).fingerprint
    )


def test_the_printed_scale_is_half() -> None:
    printed = dt.Exponential(SQUARE, POINTS, epsilon=2, as_published=True)
    weights = printed.weights_of(POINTS[0])
    assert weights.max() / weights.min() == pytest.approx(math.e, rel=1e-9)  # ε/2 over the whole row
    stated = dt.Exponential(SQUARE, POINTS, epsilon=2, sensitivity=math.sqrt(2.0))
    assert stated.fingerprint == printed.fingerprint


def test_scores_travel() -> None:
    made = dt.Exponential(SQUARE, POINTS, epsilon=1, score=SCORES["one axis"])
    assert pickle.loads(pickle.dumps(made)) == made
    assert dt.from_json(made.to_json()).design() == made
    assert made.at(2.0).score == made.score
    assert dt.audit(made).holds


def test_a_map_is_made_from_its_reports() -> None:
    made = dt.Exponential(SQUARE, POINTS, epsilon=6)
    people = np.repeat([[0.1, 0.1], [0.9, 0.9]], [1500, 500], axis=0)
    density = dt.maps.density(made.perturb(people, source=dt.randomness.Seeded(5)), 3, 3, smoothing=0.0)
    shares = np.asarray(density.probabilities)
    assert shares.sum() == pytest.approx(1.0)
    assert shares.max() == pytest.approx(0.75, abs=0.1)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"score": lambda place, point: math.nan}, "finite numbers"),
        ({"score": [[0.0, 1.0]]}, "9 × 9"),
        ({"score": lambda place, point: 3.0}, "differ between points"),
        ({"sensitivity": 0.01}, "state a larger one"),
        ({"sensitivity": 0.0}, "positive"),
        ({"sensitivity": "far"}, "sensitivity"),
    ],
)
def test_wrong_parameters_are_refused(given: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        dt.Exponential(SQUARE, POINTS, epsilon=1, **given)  # type: ignore[arg-type]


def test_points_must_lie_in_the_area_and_be_few() -> None:
    with pytest.raises(InvalidParameter, match="pairs of numbers"):
        dt.Exponential(SQUARE, [0.1, 0.2], epsilon=1)
    with pytest.raises(InvalidParameter, match=r"dt\.rivals\.NGram"):
        dt.Exponential(SQUARE, [(x / 1100, 0.5) for x in range(1100)], epsilon=1)
    with pytest.raises(InvalidParameter, match="Interval or Circle"):
        dt.Exponential(dt.Categories(3), [0, 1], epsilon=1)  # type: ignore[arg-type]


def change(weights: dict[str, object], **more: object) -> str:
    """Return a specification whose table of weights was changed."""
    data = json.loads(dt.Exponential(dt.Rectangle(UNIT, UNIT), POINTS, epsilon=1).to_json())
    device = json.loads(data["device"])
    device["weights"] |= weights
    device |= more
    data["device"] = json.dumps(device, separators=(",", ":"), sort_keys=True)
    return json.dumps(data)


@pytest.mark.parametrize(
    "weights",
    [
        {"values": [1 << 41, 1]},
        {"values": [1.5]},
        {"rows": [[0] * 9] * 8},
        {"rows": [[0] * 8] * 9},
        {"rows": [[99] * 9] * 9},
        {"rows": [[-1] * 9] * 9},
        {"values": []},
        {"kind": "listing"},
    ],
    ids=str,
)
def test_damaged_tables_are_refused(weights: dict[str, object]) -> None:
    assert dt.from_json(change({}))
    with pytest.raises(DitherError):
        dt.from_json(change(weights))


def test_a_table_that_spends_more_is_refused() -> None:
    with pytest.raises(DitherError):
        dt.from_json(change({"values": [1 << 40, 1], "rows": (1 - np.eye(9, dtype=int)).tolist()}))
