"""TraCS-C and TraCS-D: a path, location by location, by coordinates or by direction and distance."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Final

from dither.core.domains import Disk, Parallelogram, Rectangle, Region, Sphere
from dither.core.kernels.places.pair import AxesKernel, Crossed
from dither.core.kernels.places.walk import TURN, UNIT
from dither.mechanisms.numeric.base import NumberMechanism
from dither.mechanisms.numeric.ogpm import OGPM
from dither.mechanisms.places.base import Inner, PairMechanism, StepByStep, make_part


@dataclass(frozen=True)
class TraCSC(PairMechanism[Crossed]):
    """A location, reported by its two coordinates; values near each true coordinate are likelier.

    Promise:   pure ε for one location (or one trajectory: `unit`); half of it for each coordinate (`split`).
    Reports:   two cells for each location, one along each axis. On the sphere a longitude is an angle.
    Use when:  the two coordinates matter separately, or the area is a sphere. `dt.recommend` compares it with
               `TraCSD`, whose reports are nearer to the truth on most areas.
    Reference: [Thesis, Alg. 2, Thm 14]; parallelograms and the sphere: [Thesis, Sec. 6.2.5].
    """

    _draws = ("pair",)

    _: KW_ONLY
    inner: Inner = OGPM
    split: float = 0.5

    _takes = (Rectangle, Parallelogram, Sphere)

    def _split(self) -> float:
        return self.split

    def _make(self, first: float, second: float) -> tuple[NumberMechanism, NumberMechanism]:
        x, y = self.domain.axes
        return make_part(self.inner, x, first, self.cells), make_part(self.inner, y, second, self.cells)

    def _kernel(self) -> AxesKernel:
        first, second = self.parts
        return AxesKernel(first.question.kernel, second.question.kernel, self.domain)


HEURISTIC: Final = math.pi / (math.pi + 1.0)  # the direction's share of ε [Thesis, Sec. 6.3.1]


@dataclass(frozen=True)
class TraCSD(StepByStep, PairMechanism[Region]):
    """A location, reported by direction and distance from a public reference; near values are likelier.

    Promise:   pure ε for one location (or one trajectory: `unit`), π/(π+1) of it for the direction (`split`).
    Reports:   two cells for each location. The reference is `start` (the centre) at first and then the last
               report; with `reference="fixed"` it is `start` for every location.
    Use when:  single locations matter: "fixed" if they are far apart, "last" if a path moves slowly.
    Reference: [Thesis, Alg. 1, Thm 12]; any public reference: [Thesis, Sec. 6.2.2]. The paper's starting
               corner and its four cases of the distance space are not used, because they fail on an edge: see
               deviations.
    """

    _draws = ("walk",)

    _: KW_ONLY
    direction: Inner = OGPM
    distance: Inner = OGPM
    split: float = HEURISTIC

    _takes = (Rectangle, Disk, Parallelogram)

    def _split(self) -> float:
        return self.split

    def _make(self, first: float, second: float) -> tuple[NumberMechanism, NumberMechanism]:
        direction = make_part(self.direction, TURN, first, self.cells)
        return direction, make_part(self.distance, UNIT, second, self.cells)
