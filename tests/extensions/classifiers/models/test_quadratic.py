"""QDA, naive Bayes and k-means: radii against closed forms, a grid and scikit-learn itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter
from dither.extensions.classifiers import QuadraticClassifier, euclidean_radius, hyperrectangle, radius

UNIT = dt.Interval(0, 1)
# Example 14 of the dissertation: the boundary is the circle about (−1, −1) of radius 2·√(1 + ln 2).
EXAMPLE_14 = QuadraticClassifier(
    [np.eye(2), 0.5 * np.eye(2)],
    [[0.0, 0.0], [0.5, 0.5]],
    [math.log(0.5), -0.5 - 0.5 * math.log(4.0) + math.log(0.5)],
)


@pytest.mark.parametrize("x", [(0.5, 0.5), (0.1, 0.9), (-1.0, -1.0), (3.0, 2.0)])
def test_the_dissertation_s_circle(x: tuple[float, float]) -> None:
    wanted = abs(2.0 * math.sqrt(math.log(2.0) + 1.0) - math.hypot(x[0] + 1.0, x[1] + 1.0))
    assert euclidean_radius(EXAMPLE_14, x) == pytest.approx(wanted, rel=1e-9)


def test_the_values_that_were_computed_independently() -> None:
    assert euclidean_radius(EXAMPLE_14, (0.5, 0.5)) == pytest.approx(0.4811, abs=5e-5)
    found = radius(EXAMPLE_14, (0.5, 0.5), UNIT)
    assert found.proven
    assert found.radius == pytest.approx(0.3402, abs=5e-5)


def _data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    means = np.array([[0.3, 0.3, 0.5], [0.7, 0.4, 0.4], [0.5, 0.8, 0.6]])
    answers = rng.integers(0, 3, 600)
    spread = np.array([0.05, 0.1, 0.15])[answers, None]
    return means[answers] + spread * rng.normal(size=(600, 3)), answers


def _models() -> dict[str, Any]:
    pytest.importorskip("sklearn")
    from sklearn.cluster import KMeans
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return {
        "QDA": QuadraticDiscriminantAnalysis(),
        "naive Bayes": GaussianNB(),
        "k-means": KMeans(3, n_init=2, random_state=0),
        "QDA, scaled": make_pipeline(StandardScaler(), QuadraticDiscriminantAnalysis()),
        "k-means, scaled": make_pipeline(StandardScaler(), KMeans(3, n_init=2, random_state=0)),
    }


@pytest.mark.some("QDA", "QDA, scaled")
@pytest.mark.parametrize("name", ["QDA", "naive Bayes", "k-means", "QDA, scaled", "k-means, scaled"])
def test_radii_touch_the_boundary_and_do_not_cross_it(name: str) -> None:
    """Points inside keep the answer of scikit-learn; just outside of the Euclidean ball one does not."""
    rows, answers = _data(1)
    model = _models()[name].fit(rows, answers)
    rng = np.random.default_rng(2)
    for x in np.clip(rows[:2], 0.0, 1.0):
        own = model.predict(x[None])[0]
        ball = euclidean_radius(model, x)
        turns = rng.normal(size=(4_000, 3))
        turns /= np.linalg.norm(turns, axis=1, keepdims=True)
        assert (model.predict(x + 0.999 * ball * turns) == own).all()
        nearest = [_first_change(model, own, x, turn) for turn in turns[:50]]
        assert min(nearest) >= ball * (1 - 1e-6)
        assert min(nearest) < 2.0 * ball  # and the ball is not much too small
        found = radius(model, x, UNIT)
        assert found.proven
        low, high = found.box.corners
        inside = rng.uniform(low, high, (4_000, 3))
        assert (model.predict(inside) == own).all()
        wider = hyperrectangle(model, x, UNIT)
        assert wider.proven
        assert (model.predict(rng.uniform(*wider.box.corners, (4_000, 3))) == own).all()


def test_linear_machines_and_mixtures_are_read_exactly() -> None:
    """A support vector machine with a linear kernel, and mixtures of normal laws of every kind."""
    pytest.importorskip("sklearn")
    from sklearn.mixture import GaussianMixture
    from sklearn.svm import SVC

    rows, answers = _data(1)
    two = SVC(kernel="linear").fit(rows, answers > 0)
    mixtures = [
        GaussianMixture(3, covariance_type=kind, random_state=0).fit(rows)
        for kind in ("full", "tied", "diag", "spherical")
    ]
    for model in (two, *mixtures):
        found = radius(model, np.clip(rows[0], 0.0, 1.0), UNIT)
        assert found.proven
        inside = np.random.default_rng(3).uniform(*found.box.corners, (2_000, 3))
        assert len(np.unique(model.predict(inside))) == 1
    kept = dt.classifiers.utility(two, np.clip(rows[0], 0.0, 1.0), dt.OGPM(UNIT, epsilon=2, cells=256))
    assert kept.method in ("exact", "certified")
    assert SVC(kernel="linear").fit(rows, answers).coef_.shape[0] == 3  # each two classes: not read
    several = radius(SVC(kernel="linear").fit(rows, answers), np.clip(rows[0], 0.0, 1.0), UNIT)
    assert not several.proven


def _first_change(model: Any, own: Any, x: np.ndarray, turn: np.ndarray) -> float:
    lengths = np.linspace(0.0, 3.0, 3_001)
    changed = model.predict(x + lengths[:, None] * turn) != own
    return float(lengths[changed.argmax()]) if changed.any() else math.inf


def test_some_features_may_stay_where_they_are() -> None:
    rows, answers = _data(1)
    model = _models()["QDA"].fit(rows, answers)
    part = euclidean_radius(model, rows[0], features=["a", "b"], names=["a", "b", "c"])
    assert part >= euclidean_radius(model, rows[0]) * (1 - 1e-9)


def test_a_score_that_never_changes_sign_has_no_boundary() -> None:
    certain = QuadraticClassifier([np.eye(2), 2 * np.eye(2)], np.zeros((2, 2)), [1.0, 0.0])
    assert euclidean_radius(certain, (0.3, 0.4)) == math.inf


def test_a_gradient_without_the_steepest_direction() -> None:
    """The hard case: at the centre of a saddle the way leads along the steepest direction."""
    saddle = QuadraticClassifier([np.diag([4.0, 0.0]), np.zeros((2, 2))], np.zeros((2, 2)), [2.0, 0.0])
    assert euclidean_radius(saddle, (0.0, 0.0)) == pytest.approx(1.0, rel=1e-9)  # 2 − 2·u² = 0


def test_the_euclidean_radius_refuses_other_classifiers() -> None:
    with pytest.raises(InvalidParameter, match="radius"):
        euclidean_radius(lambda rows: rows[:, 0] > 0.5, [0.2, 0.3])
    with pytest.raises(InvalidParameter):
        QuadraticClassifier([np.eye(2)], [[0.0, 0.0], [1.0, 1.0]], [0.0, 0.0])
