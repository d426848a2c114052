"""TraCS-D: a location as a direction and a distance from the previous report."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Final, final

from dither.domains import Disk, Parallelogram, Rectangle, Region
from dither.kernels.places.walk import TURN, UNIT
from dither.mechanisms.base import NumberMechanism
from dither.mechanisms.numeric.ogpm import OGPM
from dither.mechanisms.places.pair import Inner, PairMechanism, StepByStep, made

HEURISTIC: Final = math.pi / (math.pi + 1.0)  # the direction's share of ε [Thesis, Sec. 6.3.1]


@final
@dataclass(frozen=True)
class TraCSD(StepByStep, PairMechanism[Region]):
    """A place whose direction and distance from the previous report are likelier near the true ones.

    Promise:   pure ε for one location (or one trajectory: `unit`), π/(π+1) of it for the direction (`split`).
    Reports:   two cells for each location; they are decoded in order, beginning at `start` (the centre).
    Use when:  the area is a disk, or paths run along its short side; elsewhere `TraCSC` is more accurate.
    Reference: [Thesis, Alg. 1, Thm 12]. The starting corner of the paper is not used, nor its four cases of
               the distance space, which fail on an edge: see deviations.
    """

    _: KW_ONLY
    direction: Inner = OGPM
    distance: Inner = OGPM
    split: float = HEURISTIC

    takes = (Rectangle, Disk, Parallelogram)

    def _split(self) -> float:
        return self.split

    def _make(self, first: float, second: float) -> tuple[NumberMechanism, NumberMechanism]:
        direction = made(self.direction, TURN, first, self.cells)
        return direction, made(self.distance, UNIT, second, self.cells)
