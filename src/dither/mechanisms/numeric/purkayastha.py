"""Purkayastha: an angle plus noise that decays exponentially with the angular distance."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dither.core.domains import Circle
from dither.core.kernels.lattice.integers import SPENT, Ring
from dither.core.kernels.lattice.noise import End, Geometric, LatticeNoise, fixed_exponential
from dither.foundation.arrays import Floats
from dither.mechanisms.analysis.noise import RingLaw, SmoothDensity
from dither.mechanisms.numeric.base import LatticeMechanism


@dataclass(frozen=True)
class Purkayastha(LatticeMechanism):
    """An angle plus noise on the circle; reports near the value are likelier.

    Promise:   pure ε.
    Reports:   steps of the circle.
    Use when:  a baseline for directions is needed; `OGPM` on a circle has a smaller error.
    Reference: [Weggenmann21] on the circle.
    """

    _draws = ("lattice ring",)

    _takes = (Circle,)

    def lattice(self) -> Ring:
        half = self.cells // 2
        return Ring(
            LatticeNoise(
                Geometric(), fixed_exponential(Fraction(self.epsilon) * SPENT / half), half, End.RING
            )
        )

    @cached_property
    def law(self) -> RingLaw:
        """The distribution of the continuous mechanism that the steps approximate."""
        return RingLaw(AngularDensity(self.epsilon))


@dataclass(frozen=True)
class AngularDensity(SmoothDensity):
    """The density ε·e^(−2ε|z|) / (1 − e^−ε) for |z| ≤ 1/2, in turns: κ = ε/π in radians."""

    epsilon: float
    limit: float = 0.5

    @property
    def scale(self) -> float:  # type: ignore[override]
        """The distance, in turns, that reduces the density by a factor e."""
        return 0.5 / self.epsilon

    def density(self, gap: Floats) -> Floats:
        top = self.epsilon / -np.expm1(-self.epsilon)
        return np.asarray(top * np.exp(-2.0 * self.epsilon * np.abs(gap)))

    def below(self, gap: Floats) -> Floats:
        return np.asarray(0.5 + np.sign(gap) * self.beside(np.abs(gap)))

    def beside(self, distance: Floats) -> Floats:
        return np.asarray(np.expm1(-2.0 * self.epsilon * distance) / np.expm1(-self.epsilon) / 2.0)
