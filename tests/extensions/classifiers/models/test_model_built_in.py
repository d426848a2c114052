"""Data sets that come inside scikit-learn, with models trained here: every way agrees with every other."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import dither as dt
from tests.extensions.classifiers.settings import black_box

pytest.importorskip("sklearn")

from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import minmax_scale

UNIT = dt.Interval(0, 1)


@cache
def table(name: str) -> tuple[Any, Any, list[str]]:
    data = load_breast_cancer() if name == "cancer" else load_diabetes()
    target = data.target if name == "cancer" else data.target > np.median(data.target)
    return minmax_scale(data.data), target, [str(column) for column in data.feature_names]


@cache
def images() -> tuple[Any, Any]:
    """The digits, pooled to 4 × 4."""
    digits = load_digits()
    pooled = digits.images.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)) / 16.0
    return pooled.reshape(-1, 16), digits.target


SENSITIVE = {"cancer": ("worst radius", "mean texture"), "diabetes": ("bmi", "s5")}


@pytest.mark.parametrize("name", SENSITIVE)
@pytest.mark.parametrize("kind", ["linear", "forest"])
def test_exact_certified_and_sampled_agree(name: str, kind: str) -> None:
    features, target, names = table(name)
    model = (
        LogisticRegression(max_iter=2000) if kind == "linear" else RandomForestClassifier(50, random_state=0)
    )
    model.fit(features, target)
    mechanism = dt.Each(dict.fromkeys(SENSITIVE[name], dt.OGPM(UNIT, epsilon=2)))
    for place in (3, 150):
        x = features[place]
        exact = dt.classifiers.utility(model, x, mechanism, names=names)
        assert exact.method == "exact"
        sampled = dt.classifiers.utility(
            black_box(model.predict),
            x,
            mechanism,
            names=names,
            confidence=1 - 1e-6,
            queries=5000,
            source=dt.Seeded(place),
        )
        assert sampled.method == "Monte Carlo"
        assert sampled.lower <= exact.lower <= sampled.upper
        domains = dict.fromkeys(SENSITIVE[name], UNIT)
        box = dt.classifiers.hyperrectangle(model, x, domains, names=names).box
        values = [x[names.index(feature)] for feature in SENSITIVE[name]]
        assert dt.classifiers.concentration(dt.OGPM(UNIT, epsilon=2), box, values) <= exact.lower + 1e-3


def test_a_curve_from_one_set_of_queries_contains_the_exact_one() -> None:
    features, target, names = table("cancer")
    model = RandomForestClassifier(50, random_state=0).fit(features, target)
    x = features[3]
    for make in (
        dt.OGPM(UNIT, epsilon=1),
        dt.Laplace(UNIT, epsilon=1, cells=1 << 14).truncated(),
        dt.Podium(UNIT, epsilon=1),
        dt.Exponential(UNIT, np.linspace(0, 1, 41), epsilon=1),
        dt.Duchi(UNIT, epsilon=1),
        dt.Hybrid(UNIT, epsilon=1),
    ):
        mechanism = dt.Each(dict.fromkeys(SENSITIVE["cancer"], make))
        epsilons = np.linspace(1, 8, 4)
        exact = dt.classifiers.utility_curve(model, x, mechanism, epsilons, names=names)
        once = dt.classifiers.utility_curve(
            black_box(model.predict),
            x,
            mechanism,
            epsilons,
            names=names,
            method="importance sampling",  # few reports would be listed
            confidence=1 - 1e-6,
            queries=5000,
            source=dt.Seeded(5),
        )
        assert exact.method == "exact"
        assert once.method == "importance sampling"
        assert (once.lower <= exact.lower + 1e-3).all()
        assert (exact.lower <= once.upper + 1e-3).all()
        assert np.abs(once.estimate - exact.lower).max() < 0.06
        assert (once.upper - once.lower).max() < 0.6


@pytest.mark.slow
def test_sixteen_pixels() -> None:
    pixels, target = images()
    model = MLPClassifier((16,), max_iter=400, random_state=0, tol=1e-3).fit(pixels, target)
    assert model.score(pixels, target) > 0.85
    x = pixels[0]
    proven = dt.classifiers.utility(model, x, dt.OGPM(UNIT, epsilon=12), confidence=1)
    sampled = dt.classifiers.utility(model, x, dt.OGPM(UNIT, epsilon=12), queries=2000, source=dt.Seeded(1))
    assert proven.method == "certified"
    assert 0.05 < proven.lower <= sampled.upper
    assert sampled.method == "Monte Carlo"


def test_average_and_worst_over_a_data_set() -> None:
    features, target, names = table("diabetes")
    model = LogisticRegression(max_iter=2000).fit(features, target)
    mechanism = dt.Each(dict.fromkeys(SENSITIVE["diabetes"], dt.OGPM(UNIT, epsilon=2, cells=1 << 12)))
    people = features[:40]
    done = []
    exact = dt.classifiers.over_records(model, people, mechanism, names=names, progress=done.append)
    assert sum(done) == 40
    alone = [dt.classifiers.utility(model, x, mechanism, names=names).lower for x in people]
    assert exact.lower == pytest.approx(alone, abs=1e-12)
    assert exact.average.lower == pytest.approx(np.mean(alone))
    assert exact.worst.lower == pytest.approx(min(alone))
    sampled = dt.classifiers.over_records(
        model,
        people,
        mechanism,
        names=names,
        method="Monte Carlo",
        confidence=1 - 1e-6,
        queries=400,
        source=dt.Seeded(2),
    )
    assert sampled.average.lower <= exact.average.lower <= sampled.average.upper
    assert sampled.worst.lower <= exact.worst.lower <= sampled.worst.upper
    assert ((sampled.lower <= exact.lower) & (exact.lower <= sampled.upper)).all()
    assert sampled.average.queries == 40 * 400
    assert sampled.average.upper - sampled.average.lower < 0.06
