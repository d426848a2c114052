"""The distribution of a report given an input ("law"), in closed form: densities, moments and errors.

Mean, variance and the error under any loss are expectations of a function of report − input. Everything here
is in units in which the domain is [0, 1].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final, NamedTuple, final

import numpy as np

from dither.arrays import Floats
from dither.losses import Power
from dither.numerics.bisection import bisect_arrays

Function = Callable[[Floats], Floats]

_HALVINGS: Final = 54  # bisection steps, down to the rounding error of a float
_MISSING: Final = 1e-9  # if the atoms lack less probability than this, the distribution is discrete


class Moment(NamedTuple):
    """A function of report − input, and its antiderivative."""

    function: Function
    antiderivative: Function


BIAS: Final = Moment(lambda gap: gap, lambda gap: gap**2 / 2.0)
COSINE: Final = Moment(
    lambda gap: np.cos(2.0 * np.pi * gap),
    lambda gap: np.sin(2.0 * np.pi * (gap - np.round(gap))) / (2.0 * np.pi),
)


def loss_moment(loss: Power, circular: bool) -> Moment:
    """Return a loss as a moment; on a circle distances are the short way round."""
    if circular:
        return Moment(loss.circular, loss.circular_antiderivative)
    return Moment(loss, loss.antiderivative)


class Law(ABC):
    """The distribution of the report Y for each input x ∈ [0, 1]. Arguments broadcast."""

    circular: bool

    kinks: tuple[float, ...] = ()  # inputs at which the expected loss may not be smooth in the input
    piecewise_constant: bool = False  # whether the density is constant between `jumps`
    falling: bool = False  # whether it is that of noise such as Laplace's or normal noise

    @abstractmethod
    def expect(self, x: Floats, moment: Moment) -> Floats:
        """Return E[f(Y − x) | x]."""

    @abstractmethod
    def density(self, y: Floats, x: Floats) -> Floats:
        """Return the density at y, without atoms."""

    @abstractmethod
    def cumulative(self, y: Floats, x: Floats) -> Floats:
        """Return P(Y ≤ y | x), atoms included."""

    def between(self, first: Floats, last: Floats, x: Floats) -> Floats:
        """Return P(first < Y ≤ last | x), atoms included."""
        return np.asarray(self.cumulative(last, x) - self.cumulative(first, x))

    def atoms(self, x: Floats) -> tuple[Floats, Floats]:
        """Return the reports of positive probability, and their masses: shapes (m,) and x.shape + (m,).

        By default there are none.
        """
        return np.empty(0), np.empty((*np.shape(x), 0))

    @property
    @abstractmethod
    def support(self) -> tuple[float, float]:
        """The smallest and the largest report."""

    def jumps(self, x: float) -> Floats:
        """Return the reports at which the density for x may jump, with both ends of the support."""
        return np.array(self.support)

    @final
    @property
    def monotone_ratios(self) -> bool:
        """Whether the extremes of the ratio of two such densities for one input are at the input or at jumps.

        Piecewise constant densities have constant ratios between jumps. The ratio of two Laplace or two
        normal densities with one centre is monotone on each side of it.
        """
        return self.piecewise_constant or self.falling

    def quantiles(self, x: float, shares: Floats) -> Floats:
        """Return a report for each pair (u, v) of uniform numbers: here, the smallest report with cdf ≥ u."""
        place, wanted = np.asarray(x), shares[:, 0]
        low, high = (np.full(wanted.size, end) for end in self.support)
        atoms, masses = self.atoms(place)
        if not is_discrete(masses):
            _, high = bisect_arrays(lambda y: self.cumulative(y, place) >= wanted, low, high, _HALVINGS)
        if atoms.size:  # bisection only approaches an atom; return the atom itself
            up_to = self.cumulative(atoms, place)
            which = np.minimum(np.searchsorted(up_to, wanted), atoms.size - 1)
            on = (up_to[which] >= wanted) & (up_to[which] - masses[which] < wanted)
            high = np.where(on, atoms[which], high)
        return np.asarray(high, dtype=np.float64)


def is_discrete(masses: Floats) -> bool:
    """Return whether the masses of the atoms add up to 1, so that the distribution has no density."""
    return float(masses.sum()) > 1.0 - _MISSING
