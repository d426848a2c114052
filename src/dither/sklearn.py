"""A scikit-learn transformer: `Perturb` randomises every feature of every row. Needs scikit-learn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from dither.core.domains import Interval, Line
from dither.core.question import Question
from dither.errors import InvalidParameter, MissingExtra
from dither.foundation.arrays import Array
from dither.foundation.randomness import Source
from dither.mechanisms.numeric.podium import Podium
from dither.privacy import Nothing

__all__ = ["Perturb"]

try:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingExtra("dither.sklearn", "classifiers") from None


class Perturb(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Randomise every number of a table, as devices do before sending it.

    Each value spends the mechanism's ε on its own, so a row of d features spends d·ε; `guarantee_` says so.
    Every call of `transform` draws new noise and spends the budget again.
    A model that is trained on randomised features is attenuated: this shows what randomisation does to a
    trained model's answers, and is no way to train one.
    Values beyond the domain are moved to its nearer end, because only the domain is public in a pipeline.

    Parameters
    ----------
    mechanism : a mechanism on an interval or a circle; `Podium` on [low, high] if left out.
    epsilon, low, high : the budget of one value and the public bounds, if no mechanism is given.
    source : the `Source` of randomness; cryptographic if left out. With `Seeded(7)` the noise is
        reproducible, and `guarantee_` is `Nothing`. There is no `random_state`, because ensembles and
        searches set it in every step of a model. Clones share the source, so that their noise differs.

    """

    def __init__(
        self,
        mechanism: Question | None = None,
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
        """Build the mechanism; nothing is learnt from the data but the number of features."""
        validate_data(self, X)
        if self.mechanism is not None and not isinstance(getattr(self.mechanism, "domain", None), Line):
            raise InvalidParameter(
                f"Perturb takes a mechanism on an interval or a circle, not {type(self.mechanism).__name__}"
            )
        if self.source is not None and not isinstance(self.source, Source):
            raise InvalidParameter(
                f"source must be a Source, such as dt.Seeded(7) for tests, not {type(self.source).__name__}"
            )
        given = self.mechanism or Podium(Interval(self.low, self.high), epsilon=self.epsilon)
        self.mechanism_ = given
        self.source_ = self.source  # fixed here: the guarantee is about this source
        promise = given.guarantee.repeated(self.n_features_in_)
        private = self.source is None or self.source.private
        self.guarantee_ = (
            promise if private else replace(promise, bound=Nothing("the noise comes from a seed"))
        )
        return self

    def transform(self, X: object) -> Array:
        """Return the decoded reports, one number for each value."""
        check_is_fitted(self)
        table = validate_data(self, X, reset=False, dtype=np.float64)
        clipped = self.mechanism_.domain.clip(table)
        drawn = self.mechanism_.perturb(clipped.reshape(-1), source=self.source_)
        return np.asarray(drawn.question.decode(drawn.cells)).reshape(clipped.shape)

    def __sklearn_clone__(self) -> Self:
        return type(self)(**self.get_params(deep=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags
