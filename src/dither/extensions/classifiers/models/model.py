"""Classifiers as functions of a record, and the parameters of known kinds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dither.errors import InvalidParameter
from dither.extensions.classifiers.models.forest import Forest, Leaves
from dither.extensions.classifiers.models.linear import LinearClassifier
from dither.extensions.classifiers.models.network import perceptron
from dither.extensions.classifiers.models.quadratic import QuadraticClassifier
from dither.extensions.classifiers.models.slice import Slice, SliceableClassifier
from dither.extensions.classifiers.subject import Subject
from dither.foundation.arrays import Array, Floats, Mask

_ROWS: Final = 1 << 17  # the most rows in one batch
_NUMBERS: Final = 1 << 24  # the most numbers in one batch
_PREDICTIONS: Final = ("predict", "predict_proba", "predict_log_proba")


@dataclass(frozen=True, eq=False)
class Model:
    """A classifier. `inside` is the estimator, module or function itself, whose parameters may be readable.

    `names` are the names of the features, if known; `labels` the names of the classes, if they are not
    numbers.
    """

    ask: Callable[[Array], Any]
    inside: object
    names: tuple[str, ...] | None = None
    labels: tuple[Any, ...] | None = None

    @staticmethod
    def of(predict: object) -> Model:
        """Return a function, an estimator of scikit-learn or its method, or a torch module as a model."""
        torch = sys.modules.get("torch")  # a module of torch cannot exist unless torch was imported
        if torch is not None and isinstance(predict, torch.nn.Module):
            return Model(_ask_tensors(predict, torch), predict)
        owner = getattr(predict, "__self__", None)
        if owner is not None and hasattr(owner, "fit") and hasattr(owner, "predict"):
            if getattr(predict, "__name__", "") not in _PREDICTIONS:
                raise InvalidParameter(
                    "expected predict to be the estimator itself, or its predict or predict_proba; pass "
                    "one of them"
                )
            return _estimator(owner, predict)
        if hasattr(predict, "fit") and hasattr(predict, "predict"):
            return _estimator(predict, predict.predict)
        if not callable(predict):
            raise InvalidParameter(
                "expected predict to be a function from rows to answers, an estimator of scikit-learn or a "
                f"torch module, got {type(predict).__name__}"
            )
        return Model(predict, predict)

    def __call__(self, rows: Array) -> Array:
        """Return one answer for each row."""
        size = max(1, min(_ROWS, _NUMBERS // max(1, rows[:1].size)))
        parts = [
            _labels(self.ask(rows[begin : begin + size]), len(rows[begin : begin + size]))
            for begin in range(0, len(rows), size)
        ]
        return np.concatenate(parts)

    def keeps(self, rows: Array, answer: object) -> Mask:
        """Return for each row whether the answer is the given one."""
        return np.asarray(self(rows) == answer, dtype=np.bool_)


def _labels(output: object, count: int) -> Array:
    """Return one label for each row from a classifier's output: labels, or one score for each class."""
    answers = np.asarray(output)
    if answers.ndim == 2 and answers.shape[1] == 1:
        answers = answers[:, 0]
    if answers.ndim == 2:
        answers = answers.argmax(axis=1)
    if answers.shape != (count,):
        raise InvalidParameter(
            "expected predict to take an array with one record per row and to return one answer, or one "
            f"score per class, for each row, got an array of shape {answers.shape} for {count} rows; "
            "correct predict"
        )
    return answers


def _estimator(estimator: Any, method: Any) -> Model:
    classes = getattr(estimator, "classes_", None) if method.__name__ == "predict" else None
    names = getattr(estimator, "feature_names_in_", None)
    return Model(
        with_column_names(estimator, method),
        estimator,
        None if names is None else tuple(map(str, names)),
        None if classes is None else tuple(classes),
    )


def with_column_names(estimator: Any, method: Callable[[Any], Any]) -> Callable[[Array], Any]:
    """Return a method that takes arrays, even if the estimator was trained on a table with column names."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return method

    def ask(rows: Array) -> object:
        try:
            import pandas
        except ImportError:
            return method(rows)
        frame = pandas.DataFrame(rows, columns=list(names))
        return method(frame if rows.dtype != object else frame.infer_objects())

    return ask


def _ask_tensors(module: Any, torch: Any) -> Callable[[Array], Any]:
    if module.training:
        raise InvalidParameter(
            "expected a module in evaluation mode, got one in training mode; call its eval() first"
        )
    first = next(module.parameters(), None)

    def ask(rows: Array) -> object:
        kind = torch.get_default_dtype() if first is None else first.dtype
        device = None if first is None else first.device
        with torch.inference_mode():
            answer = module(torch.as_tensor(rows, dtype=kind, device=device))
            if answer.ndim == 1 or (answer.ndim == 2 and answer.shape[1] == 1):
                answer = answer.reshape(-1) > 0.0  # a single score decides by its sign
            return answer.cpu().numpy()

    return ask


# By name, so that scikit-learn is not imported. Other classes with these attributes may predict differently.
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
_FORESTS: Final = frozenset(
    {"DecisionTreeClassifier", "ExtraTreeClassifier", "ExtraTreesClassifier", "RandomForestClassifier"}
)
_CENTRES: Final = frozenset({"KMeans", "MiniBatchKMeans"})
_QUADRATIC: Final = frozenset({"GaussianMixture", "GaussianNB", "QuadraticDiscriminantAnalysis"})
_SCALERS: Final = frozenset({"MaxAbsScaler", "MinMaxScaler", "RobustScaler", "StandardScaler"})


def read_parameters(model: Model, subject: Subject, answer: object) -> Slice | None:
    """Return a classifier as a function of the randomised features, or None if it cannot be read.

    `answer` is the classifier's for the record. None is also returned if the parameters predict another one.
    """
    if subject.row.dtype == object or subject.categorical or not np.isfinite(subject.row).all():
        return None
    steps, last = _pipeline(model.inside)
    if any(_class_name(step) not in _SCALERS or getattr(step, "clip", False) for step in steps):
        return None
    found: Slice | None = None
    if _class_name(last) in _FORESTS:
        found = _forest(steps, last, subject)
    elif (classifier := _classifier(steps, last, subject)) is not None:
        found = classifier.slice(
            subject.row, subject.columns, lambda points: model.keeps(subject.rows(points), answer)
        )
    if found is None or answer != (found.own if model.labels is None else model.labels[found.own]):
        return None
    return found


def _classifier(steps: Sequence[Any], last: Any, subject: Subject) -> SliceableClassifier | None:
    name = _class_name(last)
    # With several classes a support vector machine compares each two; linear classifiers do not.
    if name in _LINEAR or (name == "SVC" and last.kernel == "linear" and len(last.classes_) == 2):
        return _linear(steps, last)
    if name in _CENTRES and len(last.cluster_centers_) > 1:
        return _centres(steps, last)
    if name in _QUADRATIC:
        return _quadratic(last).rescale(*_scale_and_shift(steps, subject.row.size))
    if name == "MLPClassifier":
        return perceptron(last, *_scale_and_shift(steps, subject.row.size))
    if steps:
        return None
    if isinstance(last, SliceableClassifier):
        return last
    torch = sys.modules.get("torch")  # a module of torch cannot exist unless torch was imported
    if torch is not None and isinstance(last, torch.nn.Module):
        from dither.extensions.classifiers.models.network import network

        return network(last, subject.shape)
    return None


def _class_name(estimator: object) -> str:
    """Return the name of a class of scikit-learn, and nothing for other classes."""
    kind = type(estimator)
    return kind.__name__ if kind.__module__.startswith("sklearn.") else ""


def _pipeline(estimator: Any) -> tuple[Sequence[Any], Any]:
    """Return the steps before an estimator, and the estimator."""
    if _class_name(estimator) != "Pipeline":
        return [], estimator
    steps = [step for _, step in estimator.steps if step not in (None, "passthrough")]
    return steps[:-1], steps[-1]


def _transform(steps: Sequence[Any], rows: Floats) -> Floats:
    for step in steps:
        rows = np.asarray(with_column_names(step, step.transform)(rows), dtype=np.float64)
    return rows


def _scale_and_shift(steps: Sequence[Any], features: int) -> tuple[Floats, Floats]:
    """Return a chain of scalers as x·scale + shift."""
    at_zero, at_one = _transform(steps, np.stack([np.zeros(features), np.ones(features)]))
    return at_one - at_zero, at_zero


def _linear(steps: Sequence[Any], estimator: Any) -> LinearClassifier:
    weights = np.atleast_2d(np.asarray(estimator.coef_, dtype=np.float64))
    bias = np.broadcast_to(np.asarray(estimator.intercept_, dtype=np.float64), weights.shape[:1])
    scale, shift = _scale_and_shift(steps, weights.shape[1])
    return LinearClassifier(weights * scale, bias + weights @ shift)


def _centres(steps: Sequence[Any], estimator: Any) -> LinearClassifier:
    """Return k-means as a linear classifier: −½·|x − c|² is c·x − ½·|c|² but for a common term."""
    centres = np.asarray(estimator.cluster_centers_, dtype=np.float64)
    scale, shift = _scale_and_shift(steps, centres.shape[1])
    bias = centres @ shift - 0.5 * (centres**2).sum(axis=1)
    return LinearClassifier(centres * scale, bias)


def _quadratic(estimator: Any) -> QuadraticClassifier:
    """Return the log-posterior of normal classes, up to a constant."""
    if _class_name(estimator) == "GaussianNB":
        means, priors = np.asarray(estimator.theta_), np.asarray(estimator.class_prior_)
        variances = np.asarray(estimator.var_, dtype=np.float64)
        curvature = np.stack([np.diag(1.0 / row) for row in variances])
        spread = np.log(variances).sum(axis=1)
    elif _class_name(estimator) == "GaussianMixture":
        means, priors = np.asarray(estimator.means_), np.asarray(estimator.weights_)
        curvature = _precisions(estimator)
        spread = -np.linalg.slogdet(curvature)[1]
    else:
        means, priors = np.asarray(estimator.means_), np.asarray(estimator.priors_)
        turns = zip(estimator.rotations_, estimator.scalings_, strict=True)
        curvature = np.stack([turn @ np.diag(1.0 / size) @ turn.T for turn, size in turns])
        spread = np.array([np.log(size).sum() for size in estimator.scalings_])
    slope = np.einsum("cij,cj->ci", curvature, means)
    offset = np.log(priors) - 0.5 * (spread + np.einsum("ci,ci->c", slope, means))
    return QuadraticClassifier(curvature, slope, offset)


def _precisions(mixture: Any) -> Floats:
    """Return the inverse covariance matrix of every part of a mixture of normal laws."""
    given, (parts, features) = np.asarray(mixture.precisions_, dtype=np.float64), mixture.means_.shape
    match mixture.covariance_type:
        case "tied":
            return np.broadcast_to(given, (parts, features, features))
        case "full":
            return given
    # One number for each feature, or one for all of them.
    return np.stack([np.diag(np.broadcast_to(row, features)) for row in given])


def _forest(steps: Sequence[Any], estimator: Any, subject: Subject) -> Forest | None:
    if estimator.n_outputs_ != 1:
        return None
    members = getattr(estimator, "estimators_", [estimator])
    row = _transform(steps, subject.row[None])[0]
    votes = with_column_names(estimator, estimator.predict_proba)
    own = int(np.asarray(votes(row[None]))[0].argmax())

    def scale(feature: int, positions: Floats) -> Floats:
        if not steps:
            return positions
        rows = np.repeat(subject.row[None], positions.size, axis=0)
        rows[:, subject.columns[feature]] = positions
        return _transform(steps, rows)[:, subject.columns[feature]]

    def keeps(points: Floats) -> Mask:
        rows = np.repeat(row[None], len(points), axis=0)
        rows[:, list(subject.columns)] = points
        return np.asarray(np.asarray(votes(rows)).argmax(axis=1) == own)

    leaves = Leaves.of([member.tree_ for member in members], row, subject.columns)
    return Forest(own, leaves, len(members), scale, keeps)
