"""Planar Laplace: noise in the plane that decays with the distance; reports are clipped to the area."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from dither.errors import InvalidParameter, MalformedReport
from dither.kernels.lattice.planar import PlanarNoise
from dither.kernels.places.planar import PlanarKernel, steps_across
from dither.mechanisms.places.noise.planar import PlanarMechanism
from dither.numerics.rounding import float_at_least
from dither.privacy import Bound, Pure


@final
@dataclass(frozen=True)
class PlanarLaplace(PlanarMechanism[PlanarKernel]):
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

    def _check_travelled(self, kernel: Any) -> None:
        if not isinstance(kernel, PlanarKernel):
            raise MalformedReport("PlanarLaplace needs a kernel of planar noise")
        if kernel.exponent > Fraction(self.epsilon):
            raise InvalidParameter(f"the noise spends more than ε = {self.epsilon:g}")

    @property
    def per_distance(self) -> float:
        """ε per unit of distance (geo-indistinguishability), up to one step of the lattice."""
        return float(self.kernel.noise.exponent(1)) / self.kernel.spacing

    def _realised(self) -> tuple[Bound, str]:
        return Pure(float_at_least(self.kernel.exponent)), self.kernel.evidence
