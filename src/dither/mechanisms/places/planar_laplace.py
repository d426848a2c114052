"""Planar Laplace: noise in the plane that decays with the distance; reports are clipped to the area."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from dither.arrays import Array, Floats, Integers, Mask
from dither.device_text import whole
from dither.domains import Disk, Parallelogram, Rectangle, Region
from dither.domains.plane import read_pair
from dither.errors import InvalidParameter, MalformedReport, found
from dither.kernels.lattice.planar import PlanarNoise
from dither.kernels.places.planar import PlanarKernel, steps_across
from dither.mechanisms.base import Travelled
from dither.mechanisms.places.path import PathMechanism, PlaceLikelihood, Rows
from dither.numerics.rounding import float_at_least
from dither.privacy import Bound, Pure


@final
@dataclass(frozen=True)
class PlanarLaplace(PathMechanism[Region, PlanarKernel]):
    """A place at a random distance in a uniform direction from the true one, clipped to the area.

    Promise:   pure ε for one location (or one trajectory: `unit`): the density of the noise decreases by e^ε
               over the area's diameter. The same reports are geo-indistinguishable, see `per_distance`.
    Reports:   a point of a square lattice, two 32-bit numbers for each location.
    Use when:  places near each other should be hard to distinguish; under pure ε `TraCSC` is more accurate.
    Reference: [Thesis, Def. 23]. The diameter is the area's own; scaling to the unit square first, as coded,
               adds up to 13 % of error: see deviations.
    """

    _: KW_ONLY
    cells: int = 1 << 16
    clipped: bool = True

    takes = (Rectangle, Disk, Parallelogram)

    def _build(self) -> None:
        if isinstance(self.cells, bool) or not isinstance(self.cells, int) or not 2 <= self.cells <= 1 << 20:
            raise InvalidParameter(
                f"cells along the longer side must be a whole number from 2 to 2^20, not {found(self.cells)}"
            )
        _ = self.kernel

    def _kernel(self) -> PlanarKernel:
        box = self.domain.box
        spacing = max(box.x.length, box.y.length) / self.cells
        reach = steps_across(self.domain, spacing)
        noise = PlanarNoise.largest(self.epsilon, reach)
        return PlanarKernel(noise, (box.x.low, box.y.low), spacing, reach)

    def _check_travelled(self, kernel: Any) -> None:
        if not isinstance(kernel, PlanarKernel):
            raise MalformedReport("PlanarLaplace needs a kernel of planar noise")
        if kernel.exponent > Fraction(self.epsilon):
            raise InvalidParameter(f"the noise spends more than ε = {self.epsilon:g}")

    @property
    def per_distance(self) -> float:
        """ε per unit of distance (geo-indistinguishability), up to one step of the lattice."""
        return float(self.kernel.noise.exponent(1)) / self.kernel.spacing

    def _receive(self, cells: Array, begins: Mask) -> Floats:
        places = np.array(self.kernel.origin) + cells * self.kernel.spacing
        return self.domain.clip(places) if self.clipped else places

    def _realised(self) -> tuple[Bound, str]:
        return Pure(float_at_least(self.kernel.exponent)), self.kernel.evidence

    def likelihood(self, cells: Floats) -> PlaceLikelihood:
        return _Planar(self.kernel, cells)

    def codebook(self) -> Any:
        return {"origin": list(self.kernel.origin), "spacing": self.kernel.spacing}

    @classmethod
    def read_codebook(cls, data: Any) -> Any:
        return None  # the lattice is part of the device text

    def _version_1(self, sampled: Mapping[str, Any]) -> Travelled:
        data, book = sampled["kernel"], sampled["codebook"]
        noise = PlanarNoise(whole(data["fall"]), whole(data["per"]))
        return Travelled(
            PlanarKernel(noise, read_pair(book["origin"]), float(book["spacing"]), whole(data["reach"]))
        )


@final
@dataclass(frozen=True, eq=False)
class _Planar(PlaceLikelihood):
    kernel: PlanarKernel
    cells: Floats

    def of(self, reports: Array) -> Rows:
        places = self.cells.reshape(-1, 2)[None]

        def rows(chosen: Integers) -> Floats:
            found = self.kernel.likelihoods(reports[chosen, None, 1:], places)
            return np.asarray(found.reshape(len(chosen), *self.cells.shape[:2]).mean(axis=2))

        return rows
