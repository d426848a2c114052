"""What is fed to classifiers, and what is refused: in words, and without the record's values."""

from __future__ import annotations

import traceback
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.extensions.classifiers import LinearClassifier, Network
from dither.extensions.classifiers.result import Case
from dither.extensions.classifiers.subject import Subject
from dither.results import FeatureBox
from tests.extensions.classifiers.settings import UNIT, black_box

OGPM = dt.OGPM(UNIT, epsilon=1)
STEEP = LinearClassifier([[10.0, 1.0]], [-6.0])
SECRET = 0.73219846  # in no message


def test_only_the_randomised_features_move() -> None:
    seen = []

    def predict(rows: Any) -> Any:
        seen.append(rows)
        return rows[:, 1] > 0.5

    x = [0.2, 0.7, 0.9]
    found = dt.classifiers.utility(
        predict, x, dt.Each(b=OGPM), names=["a", "b", "c"], queries=500, source=dt.Seeded(1)
    )
    assert found.method == "Monte Carlo"
    asked = np.concatenate(seen[1:])
    assert asked.shape == (500, 3)
    assert (asked[:, [0, 2]] == [0.2, 0.9]).all()
    assert np.unique(asked[:, 1]).size > 400
    truth = dt.classifiers.concentration(OGPM, (0.5, 1), 0.7)
    assert found.lower <= truth <= found.upper


def test_images_keep_their_shape() -> None:
    shapes = []

    def predict(rows: Any) -> Any:
        shapes.append(rows.shape)
        return rows.mean(axis=(1, 2)) > 0.5

    dt.classifiers.utility(predict, np.full((3, 4), 0.6), OGPM, queries=100, source=dt.Seeded(1))
    assert shapes == [(1, 3, 4), (100, 3, 4)]


@pytest.mark.slow
def test_large_batches_are_cut() -> None:
    sizes = []

    def predict(rows: Any) -> Any:
        sizes.append(len(rows))
        return rows[:, 0] > 0.5

    dt.classifiers.utility(predict, np.full(300, 0.6), OGPM, queries=60_000, source=dt.Seeded(1))
    assert sum(sizes[1:]) == 60_000
    assert max(sizes) * 300 <= 1 << 24


@pytest.mark.parametrize(
    "answer",
    [
        lambda rows: rows[:, 0] > 0.5,
        lambda rows: np.where(rows[:, 0] > 0.5, "yes", "no"),
        lambda rows: np.stack([1 - rows[:, 0], rows[:, 0]], axis=1),
        lambda rows: (rows[:, [0]] > 0.5).astype(int),
        lambda rows: (rows[:, 0] > 0.5).tolist(),
    ],
)
def test_answers_of_many_kinds(answer: Any) -> None:
    found = dt.classifiers.utility(answer, [0.8], OGPM, queries=300, source=dt.Seeded(7))
    assert (
        found.estimate
        == dt.classifiers.utility(
            lambda rows: rows[:, 0] > 0.5, [0.8], OGPM, queries=300, source=dt.Seeded(7)
        ).estimate
    )


def test_records_by_name() -> None:
    record = {"age": 40.0, "city": "Oslo", "bmi": 25.0}

    def predict(rows: Any) -> Any:
        assert set(rows[:, 1]) == {"Oslo"}
        return rows[:, 0].astype(float) > 35

    found = dt.classifiers.utility(
        predict, record, dt.Each(age=dt.OGPM(dt.Interval(18, 100), epsilon=1)), queries=100
    )
    assert found.queries == 100


def test_memoised_parts_are_as_their_mechanisms() -> None:
    memoised = dt.Memoised(OGPM, dt.Memoised.new_key(), name="x")
    plain = dt.classifiers.utility(STEEP, [0.8, 0.5], dt.Each(a=OGPM, b=OGPM))
    assert dt.classifiers.utility(STEEP, [0.8, 0.5], dt.Each(a=memoised, b=OGPM)).lower == plain.lower
    sampled = dt.classifiers.utility(
        black_box(STEEP), [0.8, 0.5], dt.Each(a=memoised, b=OGPM), queries=1000, source=dt.Seeded(1)
    )
    assert 0.3 < sampled.estimate < 0.9  # fresh draws, not the one permanent answer


def test_the_secret_is_not_shown() -> None:
    case = Case.of(STEEP, [SECRET, 0.5], None, None)
    for text in (repr(case), repr(case.subject), repr(Subject.of([SECRET], None, None))):
        assert "0.73" not in text


class Fitted:
    """An estimator that takes three features."""

    n_features_in_ = 3

    def fit(self) -> None: ...

    def predict(self, rows: Any) -> Any:
        return rows[:, 2] > 0.5


class Odd:
    """A thing that is no classifier."""


@pytest.mark.parametrize(
    ("predict", "x", "mechanism", "more"),
    [
        (Odd(), [SECRET], OGPM, {}),
        (lambda rows: 1, [SECRET], OGPM, {}),
        (lambda rows: np.zeros(3), [SECRET], OGPM, {}),
        (STEEP, [SECRET, 0.5], dt.Each(a=OGPM), {}),
        (STEEP, [SECRET, 0.5], dt.Each(a=OGPM), {"names": ["b", "c"]}),
        (STEEP, [SECRET, 0.5], dt.Each(a=OGPM), {"names": ["a"]}),
        (STEEP, {"a": SECRET}, dt.Each(a=OGPM), {"names": ["a", "b"]}),
        (STEEP, [SECRET, 1.5], OGPM, {}),
        (STEEP, [SECRET, np.nan], OGPM, {}),
        (STEEP, [SECRET, 0.5], dt.Sampled(a=OGPM, b=OGPM), {}),
        (STEEP, [SECRET, 0.5], dt.OUE(dt.Categories(3), epsilon=1), {}),
        (STEEP, [SECRET, 0.5], "ogpm", {}),
        (Fitted(), [SECRET, 0.5], OGPM, {}),
        (STEEP, {"a": [SECRET, 0.2], "b": [0.5, 0.5]}, dt.Each(a=OGPM), {}),
        (black_box(STEEP), [SECRET, 0.5], OGPM, {"method": "exact"}),
        (black_box(STEEP), [SECRET, 0.5], OGPM, {"confidence": 1}),
    ],
)
def test_nonsense_is_refused_without_the_secret(
    predict: Any, x: Any, mechanism: Any, more: dict[str, Any]
) -> None:
    with pytest.raises(dt.errors.DitherError) as caught:
        dt.classifiers.utility(predict, x, mechanism, **more)
    shown = "".join(traceback.format_exception_only(caught.type, caught.value))
    assert str(SECRET) not in shown


@pytest.mark.parametrize(
    "make",
    [
        lambda: FeatureBox([0.5], [0.2]),
        lambda: FeatureBox([0.5, 0.1], [0.6]),
        lambda: FeatureBox([], []),
        lambda: FeatureBox([np.nan], [1.0]),
        lambda: LinearClassifier([[1.0]], [1.0, 2.0]),
        lambda: Network.dense([]),
        lambda: Network.dense([([[1.0]], [0.0]), ([[1.0, 1.0]], [0.0])]),
        lambda: dt.classifiers.radius(STEEP, [0.5, 0.5], UNIT, names=["a"]),
        lambda: dt.classifiers.radius(STEEP, [0.5, 1.5], UNIT),
        lambda: dt.classifiers.radius(STEEP, [0.5, 0.5], dt.Circle(1.0)),
        lambda: dt.classifiers.radius(black_box(STEEP), [0.5, 0.5], UNIT, tau=0),
        lambda: dt.classifiers.over_records(STEEP, [], OGPM),
        lambda: dt.classifiers.over_records(STEEP, [0.1, 0.2], OGPM),
        lambda: dt.classifiers.over_records(STEEP, [[0.1, 0.2]], OGPM, method="certified"),
        lambda: dt.classifiers.over_records(black_box(STEEP), [[0.1, 0.2]], OGPM, method="exact"),
    ],
)
def test_parts_check_themselves(make: Any) -> None:
    with pytest.raises(dt.errors.DitherError):
        make()
