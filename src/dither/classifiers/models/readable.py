"""Which classifiers' parameters can be read: linear models, trees, forests and ReLU networks."""

from __future__ import annotations

import sys
from typing import Any, Final

import numpy as np

from dither.arrays import Floats, Mask
from dither.classifiers.models.forest import Forest, Leaves
from dither.classifiers.models.linear import Linear
from dither.classifiers.models.model import Model, tabled
from dither.classifiers.models.network import Network, perceptron
from dither.classifiers.models.slices import Slice
from dither.classifiers.subject import Subject

# By name, so that nothing is imported; others with the same attributes may answer in another way.
_LINEAR: Final = frozenset(
    {
        "LinearDiscriminantAnalysis",
        "LinearSVC",
        "LogisticRegression",
        "LogisticRegressionCV",
        "PassiveAggressiveClassifier",
        "Perceptron",
        "RidgeClassifier",
        "RidgeClassifierCV",
        "SGDClassifier",
    }
)
_TREES: Final = frozenset({"DecisionTreeClassifier", "ExtraTreeClassifier"})
_FORESTS: Final = frozenset({"ExtraTreesClassifier", "RandomForestClassifier"})
_SCALERS: Final = frozenset({"MaxAbsScaler", "MinMaxScaler", "RobustScaler", "StandardScaler"})


def read(model: Model, subject: Subject) -> Slice | None:
    """Give a classifier as a function of the randomised features, if its parameters can be read."""
    if subject.row.dtype == object or not np.isfinite(subject.row).all():
        return None
    steps, last = _pipeline(model.inside)
    if any(type(step).__name__ not in _SCALERS or getattr(step, "clip", False) for step in steps):
        return None
    found: Slice | None = None
    name = type(last).__name__
    if isinstance(last, Network):
        found = last.sliced(subject.row, subject.columns)
    elif isinstance(last, Linear) or (name in _LINEAR and _ours(last)):
        linear = last if isinstance(last, Linear) else _linear(steps, last)
        answer = model(subject.rows(subject.values[None]))[0]
        found = linear.sliced(
            subject.row, subject.columns, lambda points: model.keeps(subject.rows(points), answer)
        )
    elif name in _TREES | _FORESTS and _ours(last):
        found = _forest(steps, last, subject)
    elif name == "MLPClassifier" and _ours(last):
        network = perceptron(last, *_affine(steps, subject.row.size))
        found = None if network is None else network.sliced(subject.row, subject.columns)
    else:
        found = _module(model.inside, subject)
    return found if found is not None and _agrees(found, model, subject) else None


def _agrees(found: Slice, model: Model, subject: Subject) -> bool:
    """Say whether the parameters and the classifier itself give the record one answer."""
    answer = model(subject.rows(subject.values[None]))[0]
    return bool(answer == (found.own if model.labels is None else model.labels[found.own]))


def _ours(estimator: object) -> bool:
    return type(estimator).__module__.startswith("sklearn.")


def _pipeline(estimator: Any) -> tuple[list[Any], Any]:
    if type(estimator).__name__ != "Pipeline" or not _ours(estimator):
        return [], estimator
    steps = [step for _, step in estimator.steps if step not in (None, "passthrough")]
    return steps[:-1], steps[-1]


def _affine(steps: list[Any], features: int) -> tuple[Floats, Floats]:
    """Give a chain of scalers as x·scale + shift."""
    corners = np.stack([np.zeros(features), np.ones(features)])
    for step in steps:
        corners = np.asarray(tabled(step, step.transform)(corners), dtype=np.float64)
    return corners[1] - corners[0], corners[0]


def _linear(steps: list[Any], estimator: Any) -> Linear:
    weights = np.atleast_2d(np.asarray(estimator.coef_, dtype=np.float64))
    bias = np.broadcast_to(np.asarray(estimator.intercept_, dtype=np.float64), weights.shape[:1])
    scale, shift = _affine(steps, weights.shape[1])
    return Linear(weights * scale, bias + weights @ shift)


def _forest(steps: list[Any], estimator: Any, subject: Subject) -> Forest | None:
    if estimator.n_outputs_ != 1:
        return None
    members = getattr(estimator, "estimators_", [estimator])

    def transformed(rows: Floats) -> Floats:
        for step in steps:
            rows = np.asarray(tabled(step, step.transform)(rows), dtype=np.float64)
        return rows

    row = transformed(subject.row[None])[0]
    votes = tabled(estimator, estimator.predict_proba)
    own = int(np.asarray(votes(row[None]))[0].argmax())

    def scaled(feature: int, places: Floats) -> Floats:
        rows = np.repeat(subject.row[None], places.size, axis=0)
        rows[:, subject.columns[feature]] = places
        return transformed(rows)[:, subject.columns[feature]] if steps else places

    def asked(points: Floats) -> Mask:
        rows = np.repeat(row[None], len(points), axis=0)
        rows[:, list(subject.columns)] = points
        return np.asarray(np.asarray(votes(rows)).argmax(axis=1) == own)

    leaves = Leaves.of([member.tree_ for member in members], row, subject.columns)
    return Forest(own, leaves, len(members), scaled, asked)


def _module(inside: object, subject: Subject) -> Slice | None:
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(inside, torch.nn.Module):
        return None
    from dither.classifiers.models.torch_modules import network

    found = network(inside, subject.shape)
    return None if found is None else found.sliced(subject.row, subject.columns)
