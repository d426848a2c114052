"""Projections of unbiased frequencies onto non-negative frequencies that sum to one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import numpy as np

from dither.errors import InvalidParameter
from dither.foundation.arrays import Floats


def simplex(values: Floats) -> Floats:
    """Return the Euclidean projection on the probability simplex, by one sort [Duchi08, Fig. 1].

    >>> simplex(np.array([0.75, 0.5, -0.25]))
    array([0.625, 0.375, 0.   ])
    """
    values = _check_frequencies(values)
    largest = np.sort(values)[::-1]
    shifts = (1.0 - np.cumsum(largest)) / np.arange(1, values.size + 1)
    kept = int(np.flatnonzero(largest + shifts > 0.0)[-1])
    return np.asarray(np.maximum(values + shifts[kept], 0.0), dtype=np.float64)


def norm_sub(values: Floats) -> Floats:
    """Return frequencies with negative ones set to 0 and the others shifted to sum to 1 [Wang20, Sec. 4].

    The result equals `simplex`: both are least-squares projections.

    >>> norm_sub(np.array([0.75, 0.5, -0.25]))
    array([0.625, 0.375, 0.   ])
    """
    values = _check_frequencies(values)
    kept = np.ones(values.size, dtype=np.bool_)
    while True:
        shift = (1.0 - values[kept].sum()) / kept.sum()
        negative = kept & (values + shift < 0.0)
        if not negative.any():
            return np.where(kept, values + shift, 0.0)
        kept &= ~negative


ProjectionName = Literal["posterior", "simplex", "norm sub"]
PROJECTIONS: Final[dict[str, Callable[[Floats], Floats]]] = {
    "posterior": simplex,  # applied to the posterior means of `frequency_posterior`
    "simplex": simplex,
    "norm sub": norm_sub,
}


def _check_frequencies(values: Floats) -> Floats:
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or not values.size or not np.isfinite(values).all():
        raise InvalidParameter("expected frequencies to be a non-empty vector of finite numbers")
    return values
