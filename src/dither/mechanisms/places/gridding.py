"""Gridding: a cell of a grid by the exponential mechanism, then a uniform place in the cell."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import final

import numpy as np

from dither.arrays import Array, Floats, Mask
from dither.domains import Rectangle
from dither.kernels.places.grid import WITHIN, GridKernel
from dither.kernels.table.weighted_choice import Grades
from dither.mechanisms.places.path import PathMechanism, PlaceLikelihood
from dither.mechanisms.places.points import TableLikelihood
from dither.privacy.exact import log_above


@final
@dataclass(frozen=True)
class Gridding(PathMechanism[Rectangle, GridKernel]):
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

    def _kernel(self) -> GridKernel:
        return GridKernel(self.domain, self.side, Grades.largest(self.epsilon))

    def _receive(self, cells: Array, begins: Mask) -> Floats:
        kernel = self.kernel
        return np.asarray(kernel.corner + (cells + 0.5) / WITHIN * kernel.cell, dtype=np.float64)

    @property
    def most(self) -> float:
        """The bound on ε from the bounds of the weights; comparing all pairs of cells may yield less."""
        return log_above(self.kernel.grades.ratio)

    def likelihood(self, cells: Floats) -> PlaceLikelihood:
        return TableLikelihood(self.kernel, cells)
