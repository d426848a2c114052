"""Gridding: a cell of a grid by the exponential mechanism, then any place in the cell."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, final

import numpy as np

from dither.arrays import Array, Floats, Integers, Mask
from dither.domains import Paths, Rectangle
from dither.errors import InvalidParameter
from dither.kernels.table.weighted_choice import Graded, blocks, draw, largest_ratio
from dither.mechanisms.places.path import PathMechanism
from dither.mechanisms.places.points import distances
from dither.privacy import Bound, Nothing, Pure, Unit
from dither.privacy.exact import log_above
from dither.randomness import Source

WITHIN: Final = 1 << 8  # places told apart along a side of a cell
_MOST_SIDE: Final = 128


@final
@dataclass(frozen=True)
class Gridding(PathMechanism):
    """A place anywhere in a cell of a grid, the likelier the nearer the cell's centre is to the true cell's.

    Promise:   pure ε for one location (or one trajectory: `unit`); usually less is spent, see `guarantee`.
    Reports:   two cells a location, of a grid 256 times as fine: within a cell of the grid all are alike.
    Use when:  TraCS is compared with dividing the area first. Coarse grids blur, fine ones dilute.
    Reference: [Thesis, D.2.3].
    """

    _: KW_ONLY
    side: int = 10

    takes = (Rectangle,)

    def _build(self) -> None:
        if isinstance(self.side, bool) or not isinstance(self.side, int) or not 2 <= self.side <= _MOST_SIDE:
            raise InvalidParameter(f"a grid has between 2 and {_MOST_SIDE} cells a side")
        _ = self.grade if self.unit is Unit.LOCATION else self.per_location(1)

    @property
    def rectangle(self) -> Rectangle:
        """The domain of the places."""
        assert isinstance(self.domain, Rectangle)
        return self.domain

    @cached_property
    def grade(self) -> Graded:
        """The bounds of the weights: what makes any choice private."""
        return Graded.largest(self.epsilon)

    @cached_property
    def _corner(self) -> Floats:
        return np.array([self.rectangle.x.low, self.rectangle.y.low])

    @cached_property
    def _cell(self) -> Floats:
        return np.array([self.rectangle.x.length, self.rectangle.y.length]) / self.side

    @cached_property
    def _centres(self) -> Floats:
        steps = np.arange(self.side) + 0.5
        across, along = np.meshgrid(steps, steps, indexing="ij")
        return np.stack([across.reshape(-1), along.reshape(-1)], axis=1) * self._cell

    def _weights(self, cells: Integers) -> Integers:
        return self.grade.exponential(distances(self._centres[cells], self._centres))

    def cells_of(self, places: Floats) -> Integers:
        """Give the number of each place's cell, column by column."""
        steps = np.clip(((places - self._corner) / self._cell).astype(np.int64), 0, self.side - 1)
        return np.asarray(steps[:, 0] * self.side + steps[:, 1])

    def _send(self, paths: Paths, source: Source, threads: int) -> Array:
        truth = self.cells_of(paths.points)
        drawn = np.empty_like(truth)
        for block in blocks(truth.size, self.side**2):
            drawn[block] = draw(self._weights(truth[block]), source)
        coarse = np.stack([drawn // self.side, drawn % self.side], axis=1)
        inner = source.integers(WITHIN, 2 * truth.size).reshape(-1, 2)
        return (coarse * WITHIN + inner).astype(self.dtype)

    def _receive(self, cells: Array, begins: Mask) -> Floats:
        return np.asarray(self._corner + (cells + 0.5) / WITHIN * self._cell, dtype=np.float64)

    def _realised(self) -> tuple[Bound, str]:
        count = self.side**2
        ratio = largest_ratio(count, count, self._weights)
        how = f"the largest ratio of two weights, over all pairs of {count} cells and all reports"
        return Nothing("a cell is impossible") if ratio is None else Pure(log_above(Fraction(ratio))), how

    @property
    def most(self) -> float:
        """The bound that the weights' bounds give: looking at every pair of cells may find less."""
        return log_above(self.grade.ratio)

    @property
    def _limits(self) -> tuple[tuple[int, int], ...]:
        return ((0, self.side * WITHIN - 1),) * 2

    @property
    def dtype(self) -> np.dtype[Any]:
        """The whole numbers that hold a report."""
        return np.dtype(np.uint16)

    def wire(self) -> dict[str, Any]:
        """Give the bounds of the weights and the grid."""
        grade = self.per_location(1).grade
        return {"kernel": {"low": grade.low, "high": grade.high}, "codebook": {"side": self.side}}
