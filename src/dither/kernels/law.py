"""The law of a report given an input, as formulas: densities, moments and errors, each written once.

Mean, variance, error under any loss, cdf and concentration are expectations of a function of how far the
report is from the input. Everything here is in units in which the domain is [0, 1].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from dither.arrays import Floats
from dither.losses import Power

Function = Callable[[Floats], Floats]


class Moment(NamedTuple):
    """A function of how far a report is from the truth, and its antiderivative."""

    function: Function
    antiderivative: Function


BIAS: Final = Moment(lambda gap: gap, lambda gap: gap**2 / 2.0)
COSINE: Final = Moment(
    lambda gap: np.cos(2.0 * np.pi * gap),
    lambda gap: np.sin(2.0 * np.pi * (gap - np.round(gap))) / (2.0 * np.pi),
)


def loss_moment(loss: Power, circular: bool) -> Moment:
    """Give a loss as a moment, the short way round on a circle."""
    if circular:
        return Moment(loss.circular, loss.circular_antiderivative)
    return Moment(loss, loss.antiderivative)


class Law(ABC):
    """What a mechanism reports for each input x ∈ [0, 1]. Inputs and outputs broadcast."""

    circular: bool

    @abstractmethod
    def expect(self, x: Floats, moment: Moment) -> Floats:
        """Give E[f(Y − x) | x]."""

    @abstractmethod
    def density(self, y: Floats, x: Floats) -> Floats:
        """Give the density at y, atoms left out."""

    @abstractmethod
    def cumulative(self, y: Floats, x: Floats) -> Floats:
        """Give P(Y ≤ y | x), atoms included."""

    def between(self, first: Floats, last: Floats, x: Floats) -> Floats:
        """Give P(first < Y ≤ last | x), atoms included."""
        return np.asarray(self.cumulative(last, x) - self.cumulative(first, x))

    @abstractmethod
    def atoms(self, x: Floats) -> tuple[Floats, Floats]:
        """Give the places with positive probability, and that probability: shapes (m,) and x.shape + (m,)."""

    @property
    @abstractmethod
    def support(self) -> tuple[float, float]:
        """The smallest and the largest report."""

    @property
    def kinks(self) -> tuple[float, ...]:
        """Inputs at which an error, as a function of the input, may change its formula."""
        return ()
