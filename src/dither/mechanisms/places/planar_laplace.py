"""Planar Laplace: noise in the plane that falls off with the distance, moved back into the area."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar, Final, final

import numpy as np

from dither.arrays import Array, Floats, Mask
from dither.domains import Disk, Parallelogram, Paths, Rectangle, Region
from dither.errors import InvalidParameter
from dither.kernels.lattice.planar import PlanarNoise
from dither.mechanisms.places.path import PathMechanism
from dither.numerics.rounding import float_at_least
from dither.privacy import Bound, Pure, Unit
from dither.randomness import Source

_FAR: Final = (1 << 31) - 1  # reports are 32-bit: farther ones are told as this far


@final
@dataclass(frozen=True)
class PlanarLaplace(PathMechanism):
    """A place at a random distance and in any direction from the true one, moved back into the area.

    Promise:   pure ε for one location (or one trajectory: `unit`): the noise falls by e^ε over the area's
               diameter. The same reports keep geo-indistinguishability, see `per_distance`.
    Reports:   the point of a square lattice that the noise leads to, two 32-bit numbers a location.
    Use when:  places near each other should look alike; under pure ε `TraCSC` is more accurate.
    Reference: [Thesis, Def. 23]. The diameter is the area's own; scaling to the unit square first, as coded,
               adds up to 13 % of error: see deviations.
    """

    _: KW_ONLY
    cells: int = 1 << 16
    clipped: bool = True

    takes = (Rectangle, Disk, Parallelogram)
    decoding_only: ClassVar[frozenset[str]] = frozenset({"clipped", "reading"})

    def _build(self) -> None:
        if isinstance(self.cells, bool) or not isinstance(self.cells, int) or not 2 <= self.cells <= 1 << 20:
            raise InvalidParameter("the longer side of the lattice has between 2 and 2^20 cells")
        _ = self.kernel if self.unit is Unit.LOCATION else self.per_location(1)

    @property
    def region(self) -> Region:
        """The domain of the places."""
        assert isinstance(self.domain, Region)
        return self.domain

    @cached_property
    def spacing(self) -> float:
        """The distance between neighbouring points of the lattice."""
        return max(self.region.box.x.length, self.region.box.y.length) / self.cells

    @cached_property
    def reach(self) -> int:
        """The largest distance between two places on the lattice, in steps, rounded up."""
        # A place is moved to the nearest point of the lattice, by at most half a diagonal of a cell.
        return math.ceil(self.region.diameter / self.spacing * (1.0 + 1e-9) + math.sqrt(2.0))

    @cached_property
    def kernel(self) -> PlanarNoise:
        """The noise in integers: what devices sample."""
        return PlanarNoise.largest(self.epsilon, self.reach)

    @property
    def per_distance(self) -> float:
        """ε per unit of distance between two places, up to a step of the lattice: geo-indistinguishable."""
        return float(self.kernel.exponent(1)) / self.spacing

    def _send(self, paths: Paths, source: Source, threads: int) -> Array:
        origin = np.array([self.region.box.x.low, self.region.box.y.low])
        points = np.rint((paths.points - origin) / self.spacing).astype(np.int64)
        points += self.kernel.draw(len(points), source)
        return np.asarray(np.clip(points, -_FAR, _FAR), dtype=self.dtype)

    def _receive(self, cells: Array, begins: Mask) -> Floats:
        places = np.array([self.region.box.x.low, self.region.box.y.low]) + cells * self.spacing
        return self.region.clip(places) if self.clipped else places

    @property
    def _limits(self) -> tuple[tuple[int, int], ...]:
        return (-_FAR, _FAR), (-_FAR, _FAR)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The whole numbers that hold a report."""
        return np.dtype(np.int32)

    def _realised(self) -> tuple[Bound, str]:
        epsilon = float_at_least(self.kernel.exponent(self.reach))
        how = (
            f"{self.kernel.fall}·{self.reach}/{self.kernel.per}: the noise's rate over the diameter, in steps"
        )
        return Pure(epsilon), how

    def wire(self) -> dict[str, Any]:
        """Give the noise's rate and the lattice."""
        kernel = self.per_location(1).kernel
        box = self.region.box
        return {
            "kernel": {"fall": kernel.fall, "per": kernel.per, "reach": self.reach},
            "codebook": {"origin": [box.x.low, box.y.low], "spacing": self.spacing},
        }
