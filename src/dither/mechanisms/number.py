"""What estimators ask of a mechanism of one number: a straight reading of its reports, and its transition."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

import numpy as np

from dither.arrays import Array, Floats
from dither.domains import Circle
from dither.kernels.transition import Dense, Operator
from dither.mechanisms.analysis import Questions
from dither.mechanisms.base import Mechanism

STRAIGHT: Final = 1e-6  # how far, in lengths of the domain, a mean report may be off a straight line


@final
@dataclass(frozen=True, eq=False)
class Reading:
    """A number for each report that is counted, such that the mean for an input is the input itself.

    Where a tally counts only the leading bits of cells, `cut` is what one unit of the rest is worth; the
    values then are those of the middle of a group, `half` units up.
    """

    values: Floats
    cut: float = 0.0
    half: float = 0.0

    def total(self, tally: Array, n: int) -> float:
        """Give the sum of the readings of n reports."""
        rest = self.cut * (float(tally[-1]) - n * self.half) if self.cut else 0.0
        return float((tally[: self.values.size] * self.values).sum()) + rest


@dataclass(frozen=True)
class Numerical(Mechanism, Questions):
    """A mechanism of one number, on an interval or a circle."""

    @abstractmethod
    def probabilities(self, x: float) -> list[Fraction]:
        """Give the exact probability of every report for the input x, from the very integers sampled."""

    def chances(self, x: float) -> Floats:
        """Give the probability of every report for the input x, in floats."""
        return np.array([float(chance) for chance in self.probabilities(x)])

    def decoded(self) -> Floats:
        """Give what each report that is counted stands for."""
        return np.asarray(self.decode(np.arange(self.outcomes)), dtype=np.float64)

    def straight(self) -> Reading | None:
        """Give the reading of reports whose mean is the value, or None where the mean report is not straight.

        The reading undoes any choice of decoding: what matters is which reports were sent. Here the mean
        cell, or else the mean decoded report, is tabulated at a few inputs and compared with a line.
        """
        if isinstance(self.line, Circle):
            return None
        inputs = np.linspace(self.line.low, self.line.high, 9)
        chances = np.stack([self.chances(float(x)) for x in inputs])
        cells = np.arange(self.outcomes)
        for numbers in (cells, self.decoded()):
            means = chances @ numbers
            slope = (means[-1] - means[0]) / self.line.length
            line = means[0] + slope * (inputs - self.line.low)
            if np.abs(means - line).max() < STRAIGHT * abs(slope) * self.line.length:
                return Reading(self.line.low + (numbers - means[0]) / slope)
        return None

    @property
    def window_share(self) -> float:
        """The share of the reports within which the likeliest ones of one input lie."""
        return 1.0

    def transition(self, x: Floats, rows: int) -> Operator:
        """Give P(report | input) for inputs x, reports grouped into about `rows` rows."""
        groups = np.arange(self.outcomes)
        if rows < self.outcomes:
            # Rows of about equal probability: fine where reports fall, coarse far outside the domain.
            inputs = np.linspace(self.line.low, self.line.high, 9)
            below = np.cumsum(sum(self.chances(float(one)) for one in inputs)) / inputs.size
            groups = np.unique(np.searchsorted(below, np.arange(rows) / rows, side="right"))
        columns = [np.add.reduceat(self.chances(float(one)), groups) for one in x]
        return Dense(np.stack(columns, axis=1), groups)
