"""Gridding: a cell of a grid by the exponential mechanism, then a uniform place in the cell."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import final

from dither.domains import Rectangle
from dither.kernels.places.grid import GridKernel
from dither.kernels.table.weighted_choice import Grades
from dither.mechanisms.places.path import PathMechanism


@final
@dataclass(frozen=True)
class Gridding(PathMechanism[Rectangle]):
    """A uniform place in a cell of a grid; cells are likelier the nearer their centre is to the true cell's.

    Promise:   pure ε for one location (or one trajectory: `unit`); usually less is spent, see `guarantee`.
    Reports:   two cells for each location, of a grid 256 times as fine, uniform within a coarse cell.
    Use when:  TraCS is compared with dividing the area first. A coarse grid limits the resolution; a fine
               grid has many cells far from the truth.
    Reference: [Thesis, D.2.3].
    """

    _: KW_ONLY
    side: int = 10

    takes = (Rectangle,)

    def _codebook(self, kernel: GridKernel) -> None:
        """Return None: the grid is part of the kernel."""

    def _kernel(self) -> GridKernel:
        return GridKernel(self.domain, self.side, Grades.largest(self.epsilon))
