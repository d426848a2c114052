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
from dither.numerics.bisection import bisect_arrays

Function = Callable[[Floats], Floats]

_HALVINGS: Final = 54  # of an interval, down to the last digit of a float
_MISSING: Final = 1e-9  # atoms that lack less probability than this have all of it


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
    """Return a loss as a moment, the short way round on a circle."""
    if circular:
        return Moment(loss.circular, loss.circular_antiderivative)
    return Moment(loss, loss.antiderivative)


class Law(ABC):
    """What a mechanism reports for each input x ∈ [0, 1]. Inputs and outputs broadcast."""

    circular: bool

    @abstractmethod
    def expect(self, x: Floats, moment: Moment) -> Floats:
        """Return E[f(Y − x) | x]."""

    @abstractmethod
    def density(self, y: Floats, x: Floats) -> Floats:
        """Return the density at y, atoms left out."""

    @abstractmethod
    def cumulative(self, y: Floats, x: Floats) -> Floats:
        """Return P(Y ≤ y | x), atoms included."""

    def between(self, first: Floats, last: Floats, x: Floats) -> Floats:
        """Return P(first < Y ≤ last | x), atoms included."""
        return np.asarray(self.cumulative(last, x) - self.cumulative(first, x))

    def atoms(self, x: Floats) -> tuple[Floats, Floats]:
        """Return the places with positive probability, and their masses: shapes (m,) and x.shape + (m,).

        A law that has some overrides this.
        """
        return np.empty(0), np.empty((*np.shape(x), 0))

    @property
    @abstractmethod
    def support(self) -> tuple[float, float]:
        """The smallest and the largest report."""

    @property
    def kinks(self) -> tuple[float, ...]:
        """Inputs at which an error, as a function of the input, may change its formula."""
        return ()

    def jumps(self, x: float) -> Floats:
        """Return the places at which the density of the report for x may jump, the ends among them."""
        return np.array(self.support)

    @property
    def piecewise_constant(self) -> bool:
        """Whether the density is known to be constant between `jumps`."""
        return False

    @property
    def monotone_ratios(self) -> bool:
        """Whether the ratio of two such densities about one input is extreme at it, at or between jumps.

        Piecewise constant densities have constant ratios between jumps. The ratio of two Laplace or of two
        normal densities with one centre is monotone on either side of it.
        """
        return self.piecewise_constant

    def quantiles(self, x: float, shares: Floats) -> Floats:
        """Return a report for each pair (u, v) of independent uniform numbers: the smallest with cdf ≥ u."""
        place, wanted = np.asarray(x), shares[:, 0]
        low, high = (np.full(wanted.size, end) for end in self.support)
        atoms, masses = self.atoms(place)
        if not is_discrete(masses):
            _, high = bisect_arrays(lambda y: self.cumulative(y, place) >= wanted, low, high, _HALVINGS)
        if atoms.size:  # bisection only comes near an atom
            up_to = self.cumulative(atoms, place)
            which = np.minimum(np.searchsorted(up_to, wanted), atoms.size - 1)
            on = (up_to[which] >= wanted) & (up_to[which] - masses[which] < wanted)
            high = np.where(on, atoms[which], high)
        return np.asarray(high, dtype=np.float64)


def is_discrete(masses: Floats) -> bool:
    """Return whether the masses of a law's atoms are all of its probability, so that it has no density."""
    return float(masses.sum()) > 1.0 - _MISSING
