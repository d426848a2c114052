"""Exact utilities: against enumeration of every report, and against integration of the densities."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.extensions.classifiers import LinearClassifier
from dither.extensions.classifiers.feature_law import feature_law
from dither.foundation.numerics.quadrature import integrate

sklearn = pytest.importorskip("sklearn")

from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

UNIT = dt.Interval(0, 1)
IRIS = load_iris()
PETALS = {"length": dt.Interval(1, 7), "width": dt.Interval(0, 3)}


def enumerated(predict: Any, x: Any, mechanisms: list[Any], columns: list[int]) -> float:
    """Every combination of reports, asked one by one: the truth."""
    marginals = [
        feature_law(mechanism).marginal(x[column])
        for mechanism, column in zip(mechanisms, columns, strict=True)
    ]
    places = np.meshgrid(*[marginal.places for marginal in marginals], indexing="ij")
    masses = np.ones(1)
    for marginal in marginals:
        masses = np.multiply.outer(masses, marginal.masses)
    rows = np.repeat(np.asarray(x, dtype=float)[None], places[0].size, axis=0)
    for column, place in zip(columns, places, strict=True):
        rows[:, column] = place.reshape(-1)
    return float(masses.reshape(-1)[predict(rows) == predict(np.asarray([x], dtype=float))[0]].sum())


@cache
def fitted(place: int) -> Any:
    return MODELS[place].fit(IRIS.data, IRIS.target)


def both(epsilon: float, kind: Any = dt.OGPM, **more: Any) -> dict[str, Any]:
    return {name: kind(domain, epsilon=epsilon, **more) for name, domain in PETALS.items()}


MODELS = [
    LogisticRegression(max_iter=500),
    LinearSVC(),
    RidgeClassifier(),
    SGDClassifier(random_state=0),
    make_pipeline(StandardScaler(), LogisticRegression()),
    DecisionTreeClassifier(random_state=0),
    RandomForestClassifier(20, random_state=0),
    RandomForestClassifier(20, max_depth=3, random_state=0),  # fractional votes
    ExtraTreesClassifier(20, random_state=0),
    make_pipeline(MinMaxScaler(), RandomForestClassifier(10, random_state=0)),
]
FEATURES = ["sepal length", "sepal width", "length", "width"]


@pytest.mark.some(every=3)
@pytest.mark.parametrize("which", range(len(MODELS)), ids=lambda which: str(MODELS[which]).replace("\n", ""))
@pytest.mark.parametrize("place", [20, 77, 119])
def test_three_classes_two_features(which: int, place: int) -> None:
    model, x = fitted(which), IRIS.data[place]
    mechanisms = both(2.0, cells=64)
    found = dt.classifiers.utility(model, x, dt.Each(mechanisms), names=FEATURES)
    truth = enumerated(model.predict, x, list(mechanisms.values()), [2, 3])
    assert found.method == "exact"
    assert found.confidence == 1.0
    assert found.queries == 0
    assert found.lower == pytest.approx(truth, abs=1e-12)
    assert found.upper == found.lower


@pytest.mark.parametrize("which", [0, 1, 5, 6], ids=lambda which: type(MODELS[which]).__name__)
def test_one_feature(which: int) -> None:
    model = fitted(which)
    x = IRIS.data[119]
    mechanism = dt.PM(PETALS["width"], epsilon=1, cells=1 << 10).truncated()
    found = dt.classifiers.utility(model.predict, x, dt.Each(width=mechanism), names=FEATURES)
    assert found.method == "exact"
    assert found.lower == pytest.approx(enumerated(model.predict, x, [mechanism], [3]), abs=1e-12)


@pytest.mark.parametrize(
    "kind",
    [
        lambda domain: dt.Laplace(domain, epsilon=1.5, cells=256).truncated(),
        lambda domain: dt.Gaussian(domain, epsilon=1.5, delta=0.05, cells=256).truncated(),
        lambda domain: dt.SW(domain, epsilon=1.5, cells=128).redesigned(),
        lambda domain: dt.Duchi(domain, epsilon=1.5),
        lambda domain: dt.Hybrid(domain, epsilon=1.5, cells=128),
        lambda domain: dt.Exponential(domain, np.linspace(domain.low, domain.high, 31), epsilon=1.5),
        lambda domain: dt.KRR(dt.Categories(np.linspace(domain.low, domain.high, 31).tolist()), epsilon=1.5),
        lambda domain: dt.Laplace(domain, epsilon=1.5, cells=256),
    ],
    ids=["Laplace", "Gaussian", "SW", "Duchi", "Hybrid", "Exponential", "KRR", "unclamped Laplace"],
)
def test_every_kind_of_mechanism(kind: Any) -> None:
    x = IRIS.data[77]
    mechanisms = {name: kind(domain) for name, domain in PETALS.items()}
    for model in (fitted(0), fitted(6)):
        found = dt.classifiers.utility(model, x, dt.Each(mechanisms), names=FEATURES)
        truth = enumerated(model.predict, x, list(mechanisms.values()), [2, 3])
        assert found.method == "exact"
        assert found.lower == pytest.approx(truth, abs=1e-12)


def test_points_on_the_plane_are_settled_by_the_classifier_itself() -> None:
    """With two coarse grids a tenth of all pairs lies exactly on the boundary, where rounding decides."""
    coarse = dt.KRR(dt.Categories([step / 10 for step in range(11)]), epsilon=2)
    for weights, bias in (([1.0, -1.0], 0.0), ([3.0, -3.0], 0.0), ([1.0, 1.0], -1.1), ([0.1, 0.7], -0.29)):
        model = LinearClassifier([weights], [bias])
        for x in ([0.7, 0.5], [0.5, 0.5], [0.1, 0.4]):
            found = dt.classifiers.utility(model, x, coarse)
            assert found.lower == pytest.approx(enumerated(model, x, [coarse, coarse], [0, 1]), abs=1e-14)


def test_brute_force_integration_of_the_densities() -> None:
    """∫∫ f₁ f₂ over the half-plane, by quadrature of pdf and cdf, against the sum over cells of 2^−16."""
    model = LinearClassifier([[4.0, 1.5]], [-3.0])
    x = [0.7, 0.45]
    for mechanism in (dt.OGPM(UNIT, epsilon=3), dt.SW(UNIT, epsilon=2), dt.Laplace(UNIT, epsilon=2)):
        low, high = mechanism.support

        def inner(y: Any, mechanism: Any = mechanism) -> Any:
            return mechanism.pdf(y, x[0]) * (1.0 - mechanism.cdf((3.0 - 4.0 * y) / 1.5, x[1]))

        truth = integrate(inner, low, high, breaks=np.linspace(low, high, 200).tolist(), tolerance=1e-9)
        assert dt.classifiers.utility(model, x, mechanism).lower == pytest.approx(truth, abs=2e-4)


def test_many_features_are_enclosed_tightly() -> None:
    generator = np.random.default_rng(3)
    for features in (3, 4):
        weights = generator.normal(size=features)
        model = LinearClassifier([weights], [-float(weights.sum()) / 2])
        x = generator.random(features)
        mechanism = dt.OGPM(UNIT, epsilon=2, cells=16)
        truth = enumerated(model, x.tolist(), [mechanism] * features, list(range(features)))
        found = dt.classifiers.utility(model, x, mechanism)
        assert found.confidence == 1.0
        assert found.lower <= truth <= found.upper
        assert found.upper - found.lower < 1e-3


def test_many_features_and_classes_are_bounded() -> None:
    generator = np.random.default_rng(4)
    model = LinearClassifier(generator.normal(size=(4, 3)), generator.normal(size=4) * 0.2)
    x = generator.random(3)
    mechanism = dt.OGPM(UNIT, epsilon=3, cells=32)
    truth = enumerated(model, x.tolist(), [mechanism] * 3, [0, 1, 2])
    found = dt.classifiers.utility(model, x, mechanism, confidence=1)
    assert found.lower <= truth <= found.upper


def test_a_forest_of_many_features_is_certified_by_its_cells() -> None:
    data = load_breast_cancer()
    scaled = MinMaxScaler().fit_transform(data.data)[:, :6]
    model = RandomForestClassifier(30, max_depth=4, random_state=1).fit(scaled, data.target)
    x = scaled[3]
    mechanism = dt.OGPM(UNIT, epsilon=6)
    certified = dt.classifiers.utility(model, x, mechanism, confidence=1)
    assert certified.method == "certified"
    assert certified.box is not None
    generator = np.random.default_rng(2)
    low, high = certified.box.corners
    inside = low + (high - low) * generator.random((20_000, 6))
    assert (model.predict(inside) == model.predict(x[None])[0]).all()
    sampled = dt.classifiers.utility(model, x, mechanism, method="Monte Carlo", source=dt.Seeded(1))
    assert 0.0 < certified.lower <= sampled.upper


def test_labels_and_tables() -> None:
    """Text labels, predict_proba and a model trained on a table give the same number."""
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(IRIS.data, columns=FEATURES)
    texts = np.array(IRIS.target_names)[IRIS.target]
    named = RandomForestClassifier(10, random_state=0).fit(table, texts)
    plain = RandomForestClassifier(10, random_state=0).fit(IRIS.data, IRIS.target)
    each = dt.Each(both(2.0))
    wanted = dt.classifiers.utility(plain, IRIS.data[77], each, names=FEATURES).lower
    record = dict(zip(FEATURES, IRIS.data[77].tolist(), strict=True))
    for found in (
        dt.classifiers.utility(named, table.iloc[77], each),
        dt.classifiers.utility(named.predict, record, each),
        dt.classifiers.utility(named.predict_proba, record, each),
        dt.classifiers.utility(named, dict(reversed(record.items())), each),
        dt.classifiers.utility(plain.predict_proba, IRIS.data[77], each, names=FEATURES),
    ):
        assert found.method == "exact"
        assert found.lower == wanted


def test_the_epsilon_of_a_record_is_stated() -> None:
    model = LinearClassifier([[1.0, 1.0]], [-1.0])
    alone, each = dt.OGPM(UNIT, epsilon=2), dt.Each(a=dt.OGPM(UNIT, epsilon=1), b=dt.OGPM(UNIT, epsilon=0.5))
    assert str(dt.classifiers.utility(model, [0.3, 0.4], alone).guarantee) == "ε ≤ 4 for one record"
    assert str(dt.classifiers.utility(model, [0.3, 0.4], each).guarantee) == "ε ≤ 1.5 for one record"
