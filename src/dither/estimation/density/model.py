"""The model of `dt.empirical_bayes`: p = softmax(θ) over bins and point masses, and the prior of θ.

Bins come first. Their log-probabilities are smooth a priori: second differences are normal with precision λ.
Point masses ("atoms") come last, each with a log-odds against all bins that is normal, N(−3, 2²).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

import numpy as np

from dither.arrays import Floats
from dither.kernels.transition import Operator

ATOM_CENTRE: Final = -3.0  # prior mean of an atom's log-odds: 5 % of the people
ATOM_SPREAD: Final = 2.0  # and its standard deviation
_SLOPE: Final = 3.0  # prior standard deviation of the log-density's slope, from the middle to an end
_TINY: Final = 1e-300


class Strength(NamedTuple):
    """The precision λ of second differences, and the standard deviation τ of single bins about the curve."""

    smoothness: float
    scatter: float = 0.0


@dataclass(frozen=True, eq=False)
class Prior:
    """The normal prior of the bins' log-probabilities, up to a constant that does not matter."""

    differences: Floats  # D, with D'D the penalty
    slope: Floats | None  # None on a circle, where only the constant has no second difference
    bins: int

    @staticmethod
    @lru_cache(maxsize=8)
    def of(bins: int, *, circular: bool) -> Prior:
        """Return the prior of so many bins of an interval or a circle."""
        unit = np.eye(bins)
        if circular:
            return Prior(np.roll(unit, 1, axis=0) - 2.0 * unit + np.roll(unit, -1, axis=0), None, bins)
        slope = np.linspace(-1.0, 1.0, bins) if bins > 1 else np.zeros(1)
        return Prior(np.diff(unit, 2, axis=0), slope, bins)

    @property
    def rank(self) -> int:
        """How many directions the smoothness penalises."""
        return self.bins - 1 if self.slope is None else max(self.bins - 2, 0)

    @property
    def first(self) -> float:
        """The largest λ of interest: the log-density is straight but for about a third."""
        return 10.0 * self.bins**3 / math.pi**4

    @cached_property
    def _squares(self) -> Floats:
        return np.asarray(self.differences.T @ self.differences)

    @cached_property
    def _directions(self) -> tuple[Floats, Floats]:
        """The penalised directions and their penalties."""
        values, vectors = np.linalg.eigh(self._squares)
        return values[self.bins - self.rank :], vectors[:, self.bins - self.rank :]

    def precision(self, strength: Strength) -> tuple[Floats, float]:
        """Return the prior precision, and its log-determinant over all directions but the constant."""
        smoothness, scatter = strength
        steep = 0.0 if self.slope is None else float(self.slope @ self.slope)
        if scatter == 0.0:
            matrix = smoothness * self._squares
            level = self.rank * math.log(smoothness) + float(np.log(self._directions[0]).sum())
        else:
            penalties, vectors = self._directions
            inverse = 1.0 / (1.0 / (smoothness * penalties) + scatter**2)
            matrix = (vectors * inverse) @ vectors.T
            level = float(np.log(inverse).sum())
        if steep > 0.0 and self.slope is not None:
            along = 1.0 / (_SLOPE**2 * steep + scatter**2)
            matrix = matrix + np.outer(self.slope, self.slope) * (along / steep)
            level += math.log(along)
        return matrix, level


@dataclass(frozen=True, eq=False)
class DensityModel:
    """Counts of reports, and their laws for values in each bin and at each atom."""

    operator: Operator  # a column for each bin
    atoms: Floats  # a column for each atom
    counts: Floats
    prior: Prior

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return self.operator.shape[1]

    @cached_property
    def n(self) -> float:
        """How many reports there are."""
        return float(self.counts.sum())

    def expected_shares(self, shares: Floats) -> Floats:
        """Return the probability of each row."""
        found = self.operator.forward(shares[: self.bins])
        if self.atoms.shape[1]:
            found = found + self.atoms @ shares[self.bins :]
        return np.maximum(found, _TINY)

    def backward(self, rows: Floats) -> Floats:
        """Return the mean of a number per row, for each column."""
        return np.concatenate([self.operator.backward(rows), rows @ self.atoms])

    def products(self, weights: Floats) -> Floats:
        """Return Σ weight·column·column over the rows, for each pair of columns."""
        bins, all_columns = self.bins, self.bins + self.atoms.shape[1]
        found = np.empty((all_columns, all_columns))
        found[:bins, :bins] = self.operator.products(weights, self.operator)
        if all_columns > bins:
            weighted = self.atoms * weights[:, None]
            found[bins:, bins:] = weighted.T @ self.atoms
            for number, column in enumerate(weighted.T):
                found[bins + number, :bins] = found[:bins, bins + number] = self.operator.backward(column)
        return found

    def with_atoms(self, atoms: Floats) -> DensityModel:
        """Return the same model with other atoms."""
        return DensityModel(self.operator, atoms, self.counts, self.prior)
