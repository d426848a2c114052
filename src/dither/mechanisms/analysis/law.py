"""The distribution of a report given the input: its interface, tables, and mixtures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from dither.foundation.arrays import Floats
from dither.foundation.losses import Power
from dither.foundation.numerics.roots import bisect_arrays

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
    """Return a loss as a moment. On a circle, distances are along the shorter arc."""
    if circular:
        return Moment(loss.circular, loss.circular_antiderivative)
    return Moment(loss, loss.antiderivative)


class Law(ABC):
    """The distribution of the report Y for each input x ∈ [0, 1]. Arguments are broadcast."""

    circular: bool

    kinks: tuple[float, ...] = ()  # inputs at which the expected loss may not be smooth in the input
    piecewise_constant: bool = False  # True if the density is constant between `jumps`
    falling: bool = False  # True for noise such as Laplace or normal noise

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

    @abstractmethod
    def atoms(self, x: Floats) -> tuple[Floats, Floats]:
        """Return the reports of positive probability, and their masses: shapes (m,) and x.shape + (m,)."""

    @property
    @abstractmethod
    def support(self) -> tuple[float, float]:
        """The smallest and the largest report."""

    def jumps(self, x: float) -> Floats:
        """Return the reports at which the density for x may jump, including both ends of the support."""
        return np.array(self.support)

    @property
    def monotone_ratios(self) -> bool:
        """Whether the ratio of two such densities for one input has its extremes at the input or at jumps.

        Piecewise constant densities have constant ratios between jumps. The ratio of two Laplace or two
        normal densities with the same centre is monotone on each side of the centre.
        """
        return self.piecewise_constant or self.falling

    def quantiles(self, x: float, shares: Floats) -> Floats:
        """Return a report for each pair (u, v) of uniform numbers: by default the smallest with cdf ≥ u."""
        position, wanted = np.asarray(x), shares[:, 0]
        low, high = (np.full(wanted.size, end) for end in self.support)
        atoms, masses = self.atoms(position)
        if not is_discrete(masses):
            _, high = bisect_arrays(lambda y: self.cumulative(y, position) >= wanted, low, high, _HALVINGS)
        if atoms.size:  # bisection only approaches an atom; return the atom itself
            up_to = self.cumulative(atoms, position)
            which = np.minimum(np.searchsorted(up_to, wanted), atoms.size - 1)
            on = (up_to[which] >= wanted) & (up_to[which] - masses[which] < wanted)
            high = np.where(on, atoms[which], high)
        return np.asarray(high, dtype=np.float64)


def is_discrete(masses: Floats) -> bool:
    """Return whether the masses of the atoms add up to 1, so that the distribution has no density."""
    return float(masses.sum()) > 1.0 - _MISSING


def no_atoms(x: Floats) -> tuple[Floats, Floats]:
    """Return the atoms of a continuous distribution: no atom for any input."""
    return np.empty(0), np.empty((*np.shape(x), 0))


@dataclass(frozen=True, eq=False)
class TableLaw(Law):
    """A discrete distribution, such as a table of probabilities or a sampled lattice."""

    chances: Callable[[float], Floats]
    values: Floats
    circular: bool = False
    kinks: tuple[float, ...] = ()

    def expect(self, x: Floats, moment: Moment) -> Floats:
        x = np.asarray(x, dtype=np.float64)
        flat = [
            self.chances(value) @ moment.function(self.values - value) for value in x.reshape(-1).tolist()
        ]
        return np.array(flat).reshape(x.shape)

    def density(self, y: Floats, x: Floats) -> Floats:
        return np.zeros(np.broadcast_shapes(np.shape(y), np.shape(x)))

    def cumulative(self, y: Floats, x: Floats) -> Floats:
        y, x = np.broadcast_arrays(np.asarray(y, dtype=np.float64), np.asarray(x, dtype=np.float64))
        out = np.empty(y.size)
        for value in np.unique(x).tolist():
            here = np.flatnonzero(x.reshape(-1) == value)
            indices, masses = self.atoms(np.asarray(value))
            sums = np.concatenate([[0.0], np.cumsum(masses)])
            out[here] = sums[np.searchsorted(indices, y.reshape(-1)[here], side="right")]
        return out.reshape(y.shape)

    def atoms(self, x: Floats) -> tuple[Floats, Floats]:
        positions, which = np.unique(self.values, return_inverse=True)
        x = np.asarray(x, dtype=np.float64)
        masses = [np.bincount(which, self.chances(value)) for value in x.reshape(-1).tolist()]
        return positions, np.array(masses).reshape((*x.shape, positions.size))

    piecewise_constant = True

    @property
    def support(self) -> tuple[float, float]:
        return float(self.values.min()), float(self.values.max())


@dataclass(frozen=True, eq=False)
class MixedLaw(Law):
    """A mixture of distributions whose weights do not depend on the input."""

    weights: tuple[float, ...]
    laws: tuple[Law, ...]
    circular: bool = False

    def _mix(self, answer: Callable[[Law], Floats]) -> Floats:
        mixed = sum(weight * answer(law) for weight, law in zip(self.weights, self.laws, strict=True))
        return np.asarray(mixed, dtype=np.float64)

    def expect(self, x: Floats, moment: Moment) -> Floats:
        return self._mix(lambda law: law.expect(x, moment))

    def density(self, y: Floats, x: Floats) -> Floats:
        return self._mix(lambda law: law.density(y, x))

    def cumulative(self, y: Floats, x: Floats) -> Floats:
        return self._mix(lambda law: law.cumulative(y, x))

    def atoms(self, x: Floats) -> tuple[Floats, Floats]:
        parts = [law.atoms(x) for law in self.laws]
        positions = np.concatenate([position for position, _ in parts])
        masses = [weight * mass for weight, (_, mass) in zip(self.weights, parts, strict=True)]
        order = np.argsort(positions, kind="stable")
        return positions[order], np.concatenate(masses, axis=-1)[..., order]

    @property
    def support(self) -> tuple[float, float]:
        ends = [law.support for law, weight in zip(self.laws, self.weights, strict=True) if weight > 0]
        return min(low for low, _ in ends), max(high for _, high in ends)

    @property
    def kinks(self) -> tuple[float, ...]:  # type: ignore[override]
        """The inputs at which the expected loss of a part may not be smooth."""
        return tuple(sorted({kink for law in self.laws for kink in law.kinks}))

    def jumps(self, x: float) -> Floats:
        return np.concatenate([law.jumps(x) for law in self.laws])

    @property
    def piecewise_constant(self) -> bool:  # type: ignore[override]
        """Whether every density is constant between its jumps."""
        return all(law.piecewise_constant for law in self.laws)
