"""TraCS-C: a location as two coordinates, each reported by its own mechanism."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Final, final

import numpy as np

from dither.arrays import Array, Floats, Integers, Mask
from dither.domains import Parallelogram, Paths, Rectangle, Sphere
from dither.kernels.counting import CoarseGrid
from dither.kernels.transition import Product
from dither.mechanisms.number import NumberMechanism
from dither.mechanisms.numeric.ogpm import OGPM
from dither.mechanisms.places.pair import Inner, PairMechanism, made, product
from dither.mechanisms.places.path import PlaceLikelihood, Rows, Separable
from dither.privacy import Unit
from dither.randomness import Source

Crossed = Rectangle | Parallelogram | Sphere  # the range of each coordinate does not depend on the other

_COUNTED: Final = 256  # cells of a coordinate that a summary distinguishes
_GROUPS: Final = 128  # groups of reports for each coordinate, in maps
_INNER: Final = 4  # points along a bin of a coordinate at which the likelihood is evaluated


@final
@dataclass(frozen=True)
class TraCSC(PairMechanism[Crossed]):
    """A place whose two coordinates are each likelier near the true one.

    Promise:   pure ε for one location (or one trajectory: `unit`); half of it for each coordinate (`split`).
    Reports:   two cells for each location, one along each axis. On the sphere a longitude is an angle.
    Use when:  single locations in a rectangle matter; `TraCSD` is better on disks and for paths along a short
               side.
    Reference: [Thesis, Alg. 2, Thm 14]; parallelograms and the sphere: [Thesis, Sec. 6.2.5].
    """

    _: KW_ONLY
    inner: Inner = OGPM
    split: float = 0.5

    takes = (Rectangle, Parallelogram, Sphere)

    def _split(self) -> float:
        return self.split

    def _make(self, first: float, second: float) -> tuple[NumberMechanism, NumberMechanism]:
        x, y = self.domain.axes
        return made(self.inner, x, first, self.cells), made(self.inner, y, second, self.cells)

    def _inputs(self, place: Floats, reference: Floats | None) -> tuple[float, float]:
        x, y = self.domain.to_axes(place).tolist()
        return x, y

    def _send(self, paths: Paths, source: Source, threads: int) -> Array:
        return self.kernel.draw(self.domain.to_axes(paths.points), source, threads=threads)

    def _receive(self, cells: Array, begins: Mask) -> Floats:
        coordinates = np.empty(cells.shape)
        for axis, (part, line) in enumerate(zip(self.parts, self.domain.axes, strict=True)):
            np.clip(part.decode(cells[:, axis]), line.low, line.high, out=coordinates[:, axis])
        return self.domain.from_axes(coordinates)

    def likelihood(self, cells: Floats) -> PlaceLikelihood:
        return _Axes(self, cells)

    def separable(self, shape: tuple[int, int]) -> Separable | None:
        if not isinstance(self.domain, Rectangle | Sphere) or self.unit is not Unit.LOCATION:
            return None
        matrices = []
        for part, line, bins in zip(self.parts, self.domain.axes, shape, strict=True):
            x = line.from_unit((np.arange(bins * _INNER) + 0.5) / (bins * _INNER))
            matrices.append(part.likelihood(x, max(_GROUPS, bins)).spread(_INNER).dense())
        rows = [len(matrix) for matrix in matrices]

        def groups(reports: Array) -> Integers:
            first, second = (
                reports[:, axis + 1].astype(np.int64) * rows[axis] // part.outcomes
                for axis, part in enumerate(self.parts)
            )
            return np.asarray(first * rows[1] + second)

        return Separable(Product(*matrices), groups)

    @property
    def counting(self) -> CoarseGrid:
        first, second = (part.outcomes for part in self.parts)
        return CoarseGrid(3, (first, second), (min(first, _COUNTED), min(second, _COUNTED)))


@final
@dataclass(frozen=True, eq=False)
class _Axes(PlaceLikelihood):
    mechanism: TraCSC
    cells: Floats

    def of(self, reports: Array) -> Rows:
        axes = self.mechanism.domain.to_axes(self.cells.reshape(-1, 2))
        numbers = [axes[None, :, axis] for axis in (0, 1)]

        def rows(chosen: Integers) -> Floats:
            found = product(self.mechanism.parts, reports[chosen, 1:], numbers)
            return np.asarray(found.reshape(len(chosen), *self.cells.shape[:2]).mean(axis=2))

        return rows
