"""The posterior of many frequencies, whose intervals are narrower if most categories are alike.

The frequencies are themselves a distribution: often a few large ones and many near zero. It is estimated from
all categories together, as a point mass at 0 and a smooth density [Robbins56], and gives each category a
posterior. Its intervals hold the truth in a share `level` of the categories on average, not for each
category: one that is unlike all others is covered less often.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from dither.core.kernels.transition import Dense
from dither.estimation.density import DensityModel, Path, Posterior, Prior
from dither.foundation.arrays import Floats, Indices
from dither.foundation.numerics.distributions import check_level, erfc

_BINS: Final = 96  # of the density of frequencies
_ROWS: Final = 256  # into which unbiased frequencies are counted
_REACH: Final = 6.0  # standard errors beyond the smallest and the largest


@dataclass(frozen=True, eq=False)
class Narrowed:
    """The posterior of every category: weights of the places that a frequency may have, the first one 0."""

    places: Floats
    weights: Floats  # a row for each different frequency
    rows: Indices  # the row of each category

    @classmethod
    def of(cls, values: Floats, errors: Floats) -> Self:
        """Estimate the distribution of frequencies from unbiased ones with their standard errors."""
        unit = float(np.median(errors))
        # Frequencies are functions of counts, so that many categories have the same one.
        known, rows_of, often = np.unique(values + 1j * errors, return_inverse=True, return_counts=True)
        values, errors = known.real, known.imag
        # Bins are as wide as half an error near 0, and wider for large frequencies.
        top = float(np.arcsinh(max(float(values.max()), unit) / unit + 3.0))
        edges = unit * np.sinh(top * np.arange(_BINS + 1) / _BINS)
        places = np.concatenate([[0.0], (edges[1:] + edges[:-1]) / 2.0])
        spread = np.interp(places, values, errors)
        low, high = float(values.min()) - _REACH * unit, float(values.max()) + _REACH * float(errors.max())
        start, end = np.arcsinh(low / unit), np.arcsinh(high / unit)
        rows = unit * np.sinh(np.linspace(start, end, _ROWS + 1))
        below = erfc((places - rows[:, None]) / (np.sqrt(2.0) * spread)) / 2.0
        chances = np.diff(below, axis=0)
        counts = np.histogram(values, rows, weights=often)[0].astype(np.float64)
        operator = Dense(chances[:, 1:], np.arange(_ROWS))
        model = DensityModel(operator, chances[:, :1], counts, Prior.of(_BINS, circular=False))
        shares = Posterior.over(model, [Path.down(model).refine(model)]).shares
        prior = np.concatenate([shares[-1:], shares[:-1]])
        gaps = (values[:, None] - places) / errors[:, None]
        weights = prior * np.exp(-(gaps**2) / 2.0 + np.min(gaps**2, axis=1, keepdims=True) / 2.0)
        return cls(edges, weights / weights.sum(axis=1, keepdims=True), rows_of.reshape(-1))

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Return the ends of the intervals: quantiles of the posteriors."""
        outside = (1.0 - check_level(level)) / 2.0
        sums = np.cumsum(self.weights, axis=1)  # up to 0, then up to each edge
        low, high = (self._quantile(sums, share) for share in (outside, 1.0 - outside))
        return low[self.rows], high[self.rows]

    def _quantile(self, sums: Floats, share: float) -> Floats:
        at = np.minimum((sums < share).sum(axis=1), sums.shape[1] - 1)
        rows = np.arange(sums.shape[0])
        before = np.where(at > 0, sums[rows, at - 1], 0.0)
        inner = np.clip((share - before) / np.maximum(sums[rows, at] - before, 1e-300), 0.0, 1.0)
        left, right = self.places[np.maximum(at - 1, 0)], self.places[at]
        return np.where(at == 0, 0.0, left + inner * (right - left))
