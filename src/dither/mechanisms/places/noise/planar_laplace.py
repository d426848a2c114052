"""Planar Laplace: noise in the plane that decays with the distance; reports are clipped to the area."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from dither.kernels.lattice.planar import PlanarNoise
from dither.kernels.places.planar import PlanarKernel, steps_across
from dither.mechanisms.places.noise.planar import PlanarMechanism


@final
@dataclass(frozen=True)
class PlanarLaplace(PlanarMechanism):
    """A place at a random distance in a uniform direction from the true one, clipped to the area.

    Promise:   pure ε for one location (or one trajectory: `unit`): the density of the noise decreases by e^ε
               over the area's diameter. The same reports are geo-indistinguishable, see `per_distance`.
    Reports:   a point of a square lattice, two 32-bit numbers for each location.
    Use when:  places near each other should be hard to distinguish; under pure ε `TraCSC` is more accurate,
               and for places some distance apart `PlanarStaircase`.
    Reference: [Andres13]; [Thesis, Def. 23]. The diameter is the area's own; scaling to the unit square
               first, as coded, adds up to 13 % of error: see deviations.
    """

    def _kernel(self) -> PlanarKernel:
        reach = steps_across(self.domain, self.spacing)
        return PlanarKernel(PlanarNoise.largest(self.epsilon, reach), self.origin, self.spacing, reach)

    @property
    def per_distance(self) -> float:
        """ε per unit of distance (geo-indistinguishability), up to one step of the lattice."""
        kernel: PlanarKernel = self.kernel
        return float(kernel.noise.exponent(1)) / kernel.spacing
