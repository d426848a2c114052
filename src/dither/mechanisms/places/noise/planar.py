"""What mechanisms with noise in the plane share: the lattice, the reading, the likelihood."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import final

from dither.domains import Disk, Parallelogram, Rectangle, Region
from dither.errors import InvalidParameter, found
from dither.kernels.places.planar import PlanarNoiseKernel
from dither.mechanisms.places.path import PathMechanism


@dataclass(frozen=True)
class PlanarMechanism(PathMechanism[Region]):
    """A place is rounded to a square lattice of `cells` points along the longer side, and noise is added.

    `clipped` says that the collector moves reports back into the area.
    """

    _: KW_ONLY
    cells: int = 1 << 16
    clipped: bool = True

    takes = (Rectangle, Disk, Parallelogram)

    def _check(self) -> None:
        if isinstance(self.cells, bool) or not isinstance(self.cells, int) or not 2 <= self.cells <= 1 << 20:
            raise InvalidParameter(
                f"cells along the longer side must be a whole number from 2 to 2^20, not {found(self.cells)}"
            )

    @final
    @property
    def spacing(self) -> float:
        """The distance of two neighbouring points of the lattice."""
        box = self.domain.box
        return float(max(box.x.length, box.y.length) / self.cells)

    @final
    @property
    def origin(self) -> tuple[float, float]:
        """The lattice point (0, 0): the lower left corner of the area's box."""
        box = self.domain.box
        return box.x.low, box.y.low

    def _codebook(self, kernel: PlanarNoiseKernel) -> bool:
        return self.clipped
