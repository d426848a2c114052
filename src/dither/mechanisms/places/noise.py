"""Noise in the plane: planar Laplace and the planar staircase."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from typing import cast

import numpy as np

from dither.core.domains import Disk, Parallelogram, Rectangle, Region, finite
from dither.core.kernels.lattice.plane import PlanarNoise, RingNoise
from dither.core.kernels.places.planar import (
    PlanarKernel,
    PlanarNoiseKernel,
    RingKernel,
    steps_across,
    steps_between,
)
from dither.errors import InvalidParameter, found
from dither.foundation.losses import Loss, as_power
from dither.foundation.numerics.roots import argmin
from dither.mechanisms.places.base import PathMechanism


@dataclass(frozen=True)
class PlanarMechanism(PathMechanism[Region]):
    """A location is rounded to a square lattice of `cells` points along the longer side, and noise is added.

    If `clipped`, the collector moves reports back into the area.
    """

    _: KW_ONLY
    cells: int = 1 << 16
    clipped: bool = True

    _takes = (Rectangle, Disk, Parallelogram)

    def _check(self) -> None:
        if isinstance(self.cells, bool) or not isinstance(self.cells, int) or not 2 <= self.cells <= 1 << 20:
            raise InvalidParameter(
                f"cells along the longer side must be an integer from 2 to 2^20, not {found(self.cells)}"
            )

    @property
    def spacing(self) -> float:
        """The distance of two neighbouring points of the lattice."""
        box = self.domain.box
        return float(max(box.x.length, box.y.length) / self.cells)

    @property
    def origin(self) -> tuple[float, float]:
        """The lattice point (0, 0): the lower left corner of the area's box."""
        box = self.domain.box
        return box.x.low, box.y.low

    def _codebook(self, kernel: PlanarNoiseKernel) -> bool:
        return self.clipped


@dataclass(frozen=True)
class PlanarLaplace(PlanarMechanism):
    """A location at a random distance in a uniform direction from the true location, clipped to the area.

    Promise:   pure ε for one location (or one trajectory: `unit`): the density of the noise decreases by e^ε
               over the area's diameter. The same reports are geo-indistinguishable, see `per_distance`.
    Reports:   a point of a square lattice, two 32-bit numbers for each location.
    Use when:  locations near each other should be hard to distinguish. Under pure ε `TraCSC` is more
               accurate, and for locations some distance apart `PlanarStaircase`.
    Reference: [Andres13]; [Thesis, Def. 23]. The diameter is the area's own; scaling to the unit square
               first, as in the authors' program, adds up to 13 % of error: see deviations.
    """

    _draws = ("planar",)

    def _kernel(self) -> PlanarKernel:
        reach = steps_across(self.domain, self.spacing)
        return PlanarKernel(PlanarNoise.largest(self.epsilon, reach), self.origin, self.spacing, reach)

    @property
    def per_distance(self) -> float:
        """ε per unit of distance (geo-indistinguishability), up to one step of the lattice."""
        kernel = cast(PlanarKernel, self.question.kernel)
        return float(kernel.noise.exponent(1)) / kernel.spacing


_COARSE = 16  # the fewest steps of the lattice in a distance


@dataclass(frozen=True)
class PlanarStaircase(PlanarMechanism):
    """A location from one of several rings around the true one, uniform in each ring, clipped to the area.

    Promise:   with `distance` Δ, geo-indistinguishability in steps: two locations d apart look alike up to
               ε·⌈d/Δ⌉, including the lattice. Without it, pure ε for one location (or one trajectory:
               `unit`).
    Reports:   a point of a square lattice, two 32-bit numbers for each location.
    Use when:  locations less than some distance apart should look alike, and ε per distance is 2 or more: the
               mean error is below planar Laplace with the same promise by 22 % at ε = 4 and 63 % at ε = 8.
               `PlanarLaplace` also makes nearer locations look more alike than ε.
    Reference: [Andres13] for the promise; the staircase of [GKOV15], in the plane and with round rings.
    """

    _draws = ("rings",)

    _: KW_ONLY
    distance: float | None = None
    loss: Loss = "absolute"

    def _check(self) -> None:
        as_power(self.loss)
        if self.distance is not None:
            distance = finite("distance", self.distance)
            least, most = _COARSE * self.spacing, self.domain.diameter
            if not least <= distance <= most:
                raise InvalidParameter(
                    f"expected a distance from {least:.3g}, {_COARSE} steps of the lattice, to {most:.3g}, "
                    f"the diameter of the area, got {found(distance)}; for a smaller distance choose more "
                    "cells"
                )
            object.__setattr__(self, "distance", distance)

    def _kernel(self) -> RingKernel:
        reach = steps_across(self.domain, self.spacing)
        width = reach if self.distance is None else steps_between(self.distance, self.spacing)
        first = max(1, round(width * best_share(self.epsilon, as_power(self.loss).exponent)))
        noise = RingNoise.largest(self.epsilon, first, width)
        return RingKernel(noise, self.origin, self.spacing, reach)


@lru_cache(maxsize=256)
def best_share(epsilon: float, power: float) -> float:
    """Return the best first radius as a share of a ring's width, for a power of the distance as the loss.

    With weights b^j on disks of radius γ + j the mean of |z|^k is Σ b^j·(γ+j)^(k+2) / Σ b^j·(γ+j)², times
    2/(k+2).
    """
    many = np.arange(min(math.ceil(60.0 / epsilon) + 20, 20_000))
    weights = np.exp(-epsilon * many)

    def mean(share: float) -> float:
        radii = share + many
        return float(weights @ radii ** (power + 2.0) / (weights @ radii**2))

    return argmin(mean, 0.0, 1.0, sections=40)
