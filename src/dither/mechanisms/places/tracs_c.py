"""TraCS-C: a location as two coordinates, each reported by its own mechanism."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import final

from dither.domains import Parallelogram, Rectangle, Sphere
from dither.kernels.places.pair import AxesKernel, Crossed
from dither.mechanisms.base import NumberMechanism
from dither.mechanisms.numeric.ogpm import OGPM
from dither.mechanisms.places.pair import Inner, PairMechanism, made


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

    def _kernel(self) -> AxesKernel:
        first, second = self.parts
        return AxesKernel(first.kernel, second.kernel, self.domain)
