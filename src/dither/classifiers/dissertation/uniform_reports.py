"""Points that are uniform over all reports, whatever their probability: the base of two of the bounds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dither.arrays import Floats, Integers
from dither.classifiers.feature_law import FeatureLaw, Marginal, marginals
from dither.errors import InvalidParameter
from dither.randomness import Source


def list_marginals(laws: Sequence[FeatureLaw], values: Floats) -> tuple[Marginal, ...]:
    """Return the probabilities of all reports about each feature; raise if there are too many to list."""
    found = marginals(laws, values)
    if found is None:
        raise InvalidParameter("a mechanism has too many different reports to list; choose fewer cells")
    return found


def draw_uniform_reports(choices: Sequence[Floats | Integers], count: int, source: Source) -> Floats:
    """Draw rows with one of the choices for each feature, all equally likely."""
    columns = [places[source.integers(places.size, count)] for places in choices]
    return np.stack(columns, axis=-1).astype(np.float64)
