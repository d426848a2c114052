"""TraCS-C: a location as two coordinates, each told by a mechanism of its own."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Final, final

import numpy as np

from dither.arrays import Array, Floats, Integers, Mask
from dither.domains import Parallelogram, Paths, Rectangle, Sphere
from dither.mechanisms.base import Mechanism
from dither.mechanisms.numeric.ogpm import OGPM
from dither.mechanisms.places.pair import Inner, PairMechanism, made
from dither.randomness import Source

_COUNTED: Final = 256  # cells of a coordinate that a summary tells apart


@final
@dataclass(frozen=True)
class TraCSC(PairMechanism):
    """A place whose two coordinates are each likelier near the true one.

    Promise:   pure ε for one location (or one trajectory: `unit`); half of it for each coordinate (`split`).
    Reports:   two cells a location, one along each axis. On the sphere a longitude is an angle.
    Use when:  locations matter one by one in a rectangle; `TraCSD` is better on disks and where paths keep to
               a short side.
    Reference: [Thesis, Alg. 2, Thm 14]; parallelograms and the sphere: [Thesis, Sec. 6.2.5].
    """

    _: KW_ONLY
    inner: Inner = OGPM
    split: float = 0.5

    takes = (Rectangle, Parallelogram, Sphere)

    @property
    def crossed(self) -> Rectangle | Parallelogram | Sphere:
        """The domain: two coordinates that are free of each other."""
        assert isinstance(self.domain, Rectangle | Parallelogram | Sphere)
        return self.domain

    def _split(self) -> float:
        return self.split

    def _make(self, first: float, second: float) -> tuple[Mechanism, Mechanism]:
        x, y = self.crossed.axes
        return made(self.inner, x, first, self.cells), made(self.inner, y, second, self.cells)

    def _inputs(self, place: Floats, reference: Floats | None) -> tuple[float, float]:
        x, y = self.crossed.to_axes(place).tolist()
        return x, y

    def _send(self, paths: Paths, source: Source, threads: int) -> Array:
        coordinates = self.crossed.to_axes(paths.points)
        cells = np.empty(coordinates.shape, dtype=self.dtype)
        for axis, part in enumerate(self.parts):
            cells[:, axis] = part.perturb(coordinates[:, axis], source=source, threads=threads).cells
        return cells

    def _receive(self, cells: Array, begins: Mask) -> Floats:
        coordinates = np.empty(cells.shape)
        for axis, (part, line) in enumerate(zip(self.parts, self.crossed.axes, strict=True)):
            np.clip(part.decode(cells[:, axis]), line.low, line.high, out=coordinates[:, axis])
        return self.crossed.from_axes(coordinates)

    @property
    def tallies(self) -> int:
        """How long the vector of `tally` is: a grid of at most 256 × 256."""
        first, second = self._grid
        return first * second

    def tally(self, cells: Array) -> Integers:
        """Count reports on a grid of at most 256 × 256, whose rows follow the first coordinate."""
        first, second = self._grid
        flat = cells.reshape(-1, 3).astype(np.int64)
        rows = flat[:, 1] * first // self.parts[0].outcomes
        columns = flat[:, 2] * second // self.parts[1].outcomes
        return np.bincount(rows * second + columns, minlength=first * second)

    @property
    def _grid(self) -> tuple[int, int]:
        first, second = (min(part.outcomes, _COUNTED) for part in self.parts)
        return first, second
