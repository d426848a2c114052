"""For scikit-learn: `Perturb` randomises a table; `NaiveBayes` and `NearestCentroid` learn from reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Self, cast

import numpy as np

from dither.core.domains import Interval, Vectors
from dither.core.question import Question
from dither.core.reports import Reports
from dither.errors import InvalidParameter, MissingExtra, OutsideDomain, found
from dither.estimation.projections import simplex
from dither.estimation.vectors import mean_vector
from dither.extensions.classifiers.class_moments import Classes, columns_of, features_of
from dither.foundation.arrays import Array, Floats
from dither.foundation.randomness import Source
from dither.foundation.tables import ResultTable
from dither.mechanisms.combined import Each, Records
from dither.mechanisms.numeric.podium import Podium
from dither.mechanisms.optimal.vectors import InBall
from dither.privacy import Nothing

__all__ = ["NaiveBayes", "NearestCentroid", "Perturb"]

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils import Tags
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, check_X_y, validate_data
except ImportError:
    raise MissingExtra("dither.sklearn", "classifiers") from None


def _is_number(mechanism: object) -> bool:
    """Return whether everybody reports a number or a direction."""
    domain = getattr(mechanism, "domain", None)
    return domain is not None and domain.line is domain


def _labels(mechanism: object) -> Sequence[object] | None:
    """Return the categories of a mechanism whose report is one of them; None for other mechanisms."""
    question = getattr(mechanism, "question", mechanism)
    domain = getattr(question, "domain", None)
    return getattr(domain, "labels", None) if getattr(question, "one_category", False) else None


class Perturb(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Randomise every value of a table, as devices do before sending it.

    Each value spends the mechanism's ε on its own, so a row of d features spends d·ε; `guarantee_` says so.
    With `dt.Each(age=…, browser=…)` every column has its own mechanism: numbers, or categories by `KRR`. A
    data frame is returned as a data frame.
    Every call of `transform` draws new noise and spends the budget again.
    A model that is trained on randomised features is attenuated: this shows the effect of randomisation on a
    trained model's answers. To train a model use `NaiveBayes`.
    Values beyond the domain are moved to its nearer end, because only the domain is public in a pipeline.

    Parameters
    ----------
    mechanism : a mechanism on an interval, a circle or categories for all columns, or `dt.Each` with one for
        each column; `Podium` on [low, high] if left out.
    epsilon, low, high : the budget of one value and the public bounds, if no mechanism is given.
    source : the `Source` of randomness; cryptographic if left out. With `Seeded(7)` the noise is
        reproducible, and `guarantee_` is `Nothing`. There is no `random_state`, because ensembles and
        searches set it in every step of a model. Clones share the source, so that their noise differs.

    """

    def __init__(
        self,
        mechanism: Question | Each | None = None,
        *,
        epsilon: float = 1.0,
        low: float = 0.0,
        high: float = 1.0,
        source: Source | None = None,
    ) -> None:
        self.mechanism = mechanism
        self.epsilon = epsilon
        self.low = low
        self.high = high
        self.source = source

    def fit(self, X: object, y: object = None) -> Self:
        """Build the mechanism; nothing is learnt from the data but the names and number of features."""
        if self.source is not None and not isinstance(self.source, Source):
            raise InvalidParameter(
                f"source must be a Source, such as dt.Seeded(7) for tests, not {type(self.source).__name__}"
            )
        given: Question | Each | Podium | None = self.mechanism
        together = isinstance(given, Each)
        if isinstance(given, Each):
            self._fit_names(X, given)
        else:
            given = given or Podium(Interval(self.low, self.high), epsilon=self.epsilon)
            if not _is_number(given) and _labels(given) is None:
                raise InvalidParameter(
                    "expected a mechanism on an interval, a circle or categories (KRR, whose report is one "
                    f"category), or dt.Each of such, not {type(self.mechanism).__name__}"
                )
            validate_data(self, X, **({} if _is_number(given) else {"dtype": None}))
        self.mechanism_ = given
        self.source_ = self.source  # fixed here: the guarantee is about this source
        promise = given.guarantee if together else given.guarantee.repeated(self.n_features_in_)
        private = self.source is None or self.source.private
        self.guarantee_ = (
            promise if private else replace(promise, bound=Nothing("the noise comes from a seed"))
        )
        return self

    def _fit_names(self, X: object, mechanism: Each) -> None:
        names = list(mechanism.parts)
        for name, part in mechanism.parts.items():
            if not _is_number(part) and _labels(part) is None:
                raise InvalidParameter(
                    f"expected reports of one number or one category each for {name!r}; use KRR for "
                    "categories"
                )
        columns_of(X, names)
        listed = getattr(X, "columns", None)
        if listed is not None and list(listed) != names:
            raise InvalidParameter(
                f"expected the columns {', '.join(names)}, in this order; select them first, as in "
                "frame[list(mechanism.parts)]"
            )
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)

    def transform(self, X: object) -> Array:
        """Return the decoded reports, one for each value; a data frame's as a data frame."""
        check_is_fitted(self)
        given = self.mechanism_
        if isinstance(given, Each):
            columns = columns_of(X, list(given.parts))
            made = {name: self._column(part, columns[name]) for name, part in given.parts.items()}
            if hasattr(X, "columns"):
                index = {"index": X.index} if hasattr(X, "index") else {}  # Polars' frames have no index
                return cast(Array, cast("Callable[..., object]", type(X))(made, **index))
            mixed = any(column.dtype.kind not in "fiu" for column in made.values())
            return np.column_stack([column.astype(object) if mixed else column for column in made.values()])
        if _labels(given) is not None:
            table = np.asarray(validate_data(self, X, reset=False, dtype=None))
        else:
            table = given.domain.clip(validate_data(self, X, reset=False, dtype=np.float64))
        return self._column(given, table.reshape(-1)).reshape(table.shape)

    def _column(self, mechanism: Question | Podium, values: Array) -> Array:
        labels = _labels(mechanism)
        if labels is None:
            values = mechanism.domain.clip(np.asarray(values, dtype=np.float64))
            drawn = mechanism.perturb(values, source=self.source_)
            return drawn.question.decode(drawn.cells)
        drawn = mechanism.perturb(values.tolist(), source=self.source_)
        return np.asarray(np.asarray(labels)[drawn.cells.astype(np.int64)])

    def __sklearn_clone__(self) -> Self:
        return type(self)(**self.get_params(deep=False))

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags


class NaiveBayes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that is trained on reports: naive Bayes with the noise taken out.

    Training a model on decoded reports attenuates it. This one needs only the mean and the variance of every
    number, and the shares of every answer, in each class. They are estimated from reports without bias;
    differences between classes that are within the noise are shrunk.

    `fit` takes the records of `dt.Each` or `dt.Sampled`, numbers and categories mixed, and the labels: public
    ones, or the reports of the same people on a category. `predict` takes plain tables: an array with the
    columns in the order of the attributes, or a data frame with their names.

    Attributes
    ----------
    classes_, class_prior_, feature_names_in_, n_features_in_ : as scikit-learn's.
    coefficients_ : a table of the means and shares of each class with their 95 % intervals.
    guarantee_ : the promise of all reports of one person together; predictions spend nothing.

    Examples
    --------
    >>> import dither as dt
    >>> from dither.sklearn import NaiveBayes
    >>> asked = dt.Each(hours=dt.Podium(dt.Interval(0, 10), epsilon=4))
    >>> records = asked.perturb({"hours": [2.0, 8.0] * 500}, source=dt.Seeded(1))
    >>> NaiveBayes().fit(records, ["part", "full"] * 500).predict({"hours": [1.5, 9.0]}).tolist()
    ['part', 'full']

    """

    def __init__(self, *, priors: Sequence[float] | None = None) -> None:
        self.priors = priors

    def fit(self, X: Records, y: object) -> Self:
        """Estimate the distribution of every attribute in each class, from records and labels."""
        if not isinstance(X, Records):
            raise InvalidParameter(
                f"expected the reports of dt.Each or dt.Sampled, got {found(X)}; to randomise a table, call "
                "dt.Each(…).perturb(table)"
            )
        classes = Classes.of(y, X.n)
        self.classes_ = np.array(classes.labels)
        self.features_ = features_of(X, classes)
        self.feature_names_in_ = np.array([feature.name for feature in self.features_], dtype=object)
        self.n_features_in_ = len(self.features_)
        self.class_prior_ = self._prior(classes)
        promise = X.question.guarantee
        self.guarantee_ = promise.compose(y.question.guarantee) if isinstance(y, Reports) else promise
        rows = [row for feature in self.features_ for row in feature.rows(classes.labels)]
        self.coefficients_ = ResultTable("means and shares of each class, with 95 % intervals", tuple(rows))
        return self

    def _prior(self, classes: Classes) -> Floats:
        if self.priors is None:
            shares = np.maximum(simplex(classes.members.mean(axis=0)), 1.0 / len(classes.members))
            return np.asarray(shares / shares.sum())
        prior = np.asarray(self.priors, dtype=np.float64)
        if prior.shape != (len(classes.labels),) or not (prior > 0).all() or abs(prior.sum() - 1.0) > 1e-6:
            raise InvalidParameter("expected priors to be positive numbers that sum to 1, one for each class")
        return prior

    def _scores(self, X: object) -> Floats:
        check_is_fitted(self)
        columns = columns_of(X, self.feature_names_in_.tolist())
        parts = [feature.log_chances(columns[feature.name]) for feature in self.features_]
        return np.asarray(np.log(self.class_prior_) + np.sum(parts, axis=0))

    def predict_log_proba(self, X: object) -> Floats:
        """Return the logarithm of the probability of each class, for each row."""
        scores = self._scores(X)
        top = scores.max(axis=1, keepdims=True)
        return np.asarray(scores - top - np.log(np.exp(scores - top).sum(axis=1, keepdims=True)))

    def predict_proba(self, X: object) -> Floats:
        """Return the probability of each class, for each row."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def predict(self, X: object) -> Array:
        """Return the most probable class of each row."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self._scores(X).argmax(axis=1)])


_FEW = 1_000  # reports
_CLEAR = 0.25  # largest share of noise in a squared length for scaling a class mean to length 1


class NearestCentroid(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier by class means, from one report on the label and all features of a person together.

    A person's vector has a block of features for each class. The block of their class holds their features,
    scaled to length 1, and the others are 0. It is randomised as one vector, so that ε protects the label and
    the features. The mean of a block points to the class mean, and `predict` returns the class whose mean has
    the smallest angle with the features: the shares of the classes are not needed.

    `fit(X, y)` randomises plain rows as devices do, and spends the budget once. `fit(reports)` takes reports
    that devices drew by `perturb`.

    Parameters
    ----------
    classes : the public list of classes; if left out, those of `y` in `fit`, which are then public.
    epsilon : the budget of one person.
    centre : public numbers subtracted from the features before they are scaled; 0 if left out.
    source : the `Source` of randomness; cryptographic if left out.

    Attributes
    ----------
    classes_, n_features_in_ : as scikit-learn's.
    centroids_ : a vector of about length 1 for each class.
    mean_ : the estimated mean of all blocks, with its errors.
    guarantee_ : the promise of one report to a person; predictions spend nothing.

    Examples
    --------
    >>> import dither as dt, numpy as np
    >>> from dither.sklearn import NearestCentroid
    >>> rows = np.tile([[1.0, 0.1], [0.1, 1.0]], (2_000, 1))
    >>> model = NearestCentroid(epsilon=4, source=dt.Seeded(1)).fit(rows, ["a", "b"] * 2_000)
    >>> model.predict([[0.9, 0.0], [0.0, 0.5]]).tolist()
    ['a', 'b']

    """

    def __init__(
        self,
        classes: Sequence[object] | None = None,
        *,
        epsilon: float = 1.0,
        centre: object = None,
        source: Source | None = None,
    ) -> None:
        self.classes = classes
        self.epsilon = epsilon
        self.centre = centre
        self.source = source

    def mechanism(self, classes: int, features: int) -> InBall:
        """Return the mechanism on vectors of classes × features numbers."""
        return InBall(Vectors(classes * features, exact=True), epsilon=self.epsilon)

    def perturb(self, X: object, y: object) -> Reports:
        """Return the report of each row and its label, as devices draw them; needs `classes`."""
        if self.classes is None:
            raise InvalidParameter(
                "expected the public classes, got none; name them, as in NearestCentroid(classes=[…])"
            )
        rows, labels = check_X_y(X, y)
        return self._perturb(rows, labels, np.array(list(self.classes)))

    def _perturb(self, rows: Floats, labels: Array, classes: Array) -> Reports:
        order = np.argsort(classes, kind="stable")
        codes = order[np.minimum(np.searchsorted(classes[order], labels), len(classes) - 1)]
        if not (classes[codes] == labels).all():
            raise OutsideDomain(
                "expected labels among the classes, got another one; add it to classes=[…], or drop these "
                "rows"
            )
        blocks = np.zeros((len(rows), len(classes), rows.shape[1]))
        blocks[np.arange(len(rows)), codes] = self._scale(rows)
        question = self.mechanism(len(classes), rows.shape[1])
        return question.perturb(blocks.reshape(len(rows), -1), source=self.source)

    def _scale(self, rows: Floats) -> Floats:
        """Return rows relative to the centre, of length 1; those at the centre point to the diagonal."""
        moved = np.asarray(rows, dtype=np.float64)
        if self.centre is not None:
            moved = moved - np.asarray(self.centre, dtype=np.float64)
        largest = np.abs(moved).max(axis=1, keepdims=True)
        moved = np.where(largest > 0.0, moved, 1.0) / np.where(largest > 0.0, largest, 1.0)
        return np.asarray(moved / np.sqrt((moved * moved).sum(axis=1, keepdims=True)))

    def fit(self, X: object, y: object = None) -> Self:
        """Estimate the class means, from reports or from plain rows and labels, which are randomised."""
        if isinstance(X, Reports):
            if self.classes is None or y is not None:
                raise InvalidParameter(
                    "expected classes=[…] and no y, because the reports contain the labels"
                )
            reports, self.classes_ = X, np.array(list(self.classes))
            size = getattr(X.question.domain, "dimension", 0)
            if not size or size % len(self.classes_):
                raise InvalidParameter(
                    f"expected reports on dt.Vectors of {len(self.classes_)} classes × features, as "
                    f"`perturb` draws them, got reports on {X.question.domain}"
                )
            self.n_features_in_ = size // len(self.classes_)
        else:
            rows, labels = validate_data(self, X, y)
            check_classification_targets(labels)
            self.classes_ = np.unique(labels) if self.classes is None else np.array(list(self.classes))
            if len(self.classes_) < 2:
                raise ValueError("the number of classes has to be greater than one; got 1 class")
            reports = self._perturb(rows, labels, self.classes_)
        # All reports are decoded for the errors if they are few; otherwise one in sixteen is enough.
        self.mean_ = mean_vector(reports, np.ones(len(reports)) if len(reports) < _FEW else None)
        self.guarantee_ = reports.question.guarantee
        blocks = np.asarray(self.mean_.value).reshape(len(self.classes_), -1)
        errors = np.asarray(self.mean_.standard_error).reshape(blocks.shape)
        squares = (blocks**2).sum(axis=1)
        clear = np.maximum(squares - (errors**2).sum(axis=1), _CLEAR * squares)
        self.centroids_ = blocks / np.sqrt(np.maximum(clear, np.finfo(float).tiny))[:, None]
        return self

    def predict(self, X: object) -> Array:
        """Return the class of each row, whose mean has the smallest angle."""
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False)
        return np.asarray(self.classes_[(self._scale(rows) @ self.centroids_.T).argmax(axis=1)])

    def __sklearn_clone__(self) -> Self:
        return type(self)(**self.get_params(deep=False))

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.classifier_tags.poor_score = True  # scikit-learn's checks have few rows
        return tags
