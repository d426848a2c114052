"""A scikit-learn transformer: `Perturb` randomises every feature of every row. Needs scikit-learn."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from dither.arrays import Array
from dither.domains import Interval, Line
from dither.errors import InvalidParameter, MissingExtra
from dither.mechanisms.base import Mechanism
from dither.mechanisms.numeric.podium import Podium
from dither.randomness import Seeded

__all__ = ["Perturb"]

try:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingExtra("dither.sklearn", "classifiers") from None


class Perturb(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Randomise every number of a table, as people would before sending it.

    Each value spends the mechanism's ε on its own, so a row of d features spends d·ε; `guarantee_` says so.
    Values beyond the domain are moved to its nearer end: in a pipeline nothing else is public.

    Parameters
    ----------
    mechanism : a mechanism on an interval or a circle; `Podium` on [low, high] if left out.
    epsilon, low, high : the budget of one value and the public bounds, where no mechanism is given.
    random_state : for tests only. With a seed the noise repeats, and the output is not private.

    """

    def __init__(
        self,
        mechanism: Mechanism[Any] | None = None,
        *,
        epsilon: float = 1.0,
        low: float = 0.0,
        high: float = 1.0,
        random_state: int | None = None,
    ) -> None:
        self.mechanism = mechanism
        self.epsilon = epsilon
        self.low = low
        self.high = high
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Build the mechanism; nothing is learnt from the data but the number of features."""
        validate_data(self, X)
        if self.mechanism is not None and not isinstance(getattr(self.mechanism, "domain", None), Line):
            raise InvalidParameter("Perturb takes a mechanism on an interval or a circle")
        given = self.mechanism or Podium(Interval(self.low, self.high), epsilon=self.epsilon)
        self.mechanism_ = given
        self.guarantee_ = given.guarantee.repeated(self.n_features_in_)
        return self

    def transform(self, X: Any) -> Array:
        """Give what the reports stand for, one number for each value."""
        check_is_fitted(self)
        table = validate_data(self, X, reset=False, dtype=np.float64)
        source = None if self.random_state is None else Seeded(int(self.random_state))
        return np.asarray(self.mechanism_.perturb(self.mechanism_.domain.clip(table), source=source).values)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags
