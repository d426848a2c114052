"""The strawman of the thesis: TraCS-D with directions reported as sectors."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import final

from dither.domains import Disk, Parallelogram, Rectangle, Region
from dither.kernels.places.walk import TURN, UNIT
from dither.mechanisms.base import NumberMechanism
from dither.mechanisms.numeric.ogpm import OGPM
from dither.mechanisms.places.pair import PairMechanism, StepByStep, made
from dither.mechanisms.places.sectors import Sectors
from dither.mechanisms.places.tracs_d import HEURISTIC


@final
@dataclass(frozen=True)
class Strawman(StepByStep, PairMechanism[Region]):
    """A place reported as in TraCS-D, but with the sector of the direction instead of the direction.

    Promise:   pure ε for one location (or one trajectory: `unit`).
    Reports:   two cells for each location.
    Use when:  TraCS-D is compared with something simpler; it is worse at every ε.
    Reference: [Thesis, Sec. 6.2.2, 6.3.1].
    """

    _: KW_ONLY
    sectors: int = 6
    split: float = HEURISTIC

    takes = (Rectangle, Disk, Parallelogram)

    def _split(self) -> float:
        return self.split

    def _make(self, first: float, second: float) -> tuple[NumberMechanism, NumberMechanism]:
        direction = Sectors(TURN, epsilon=first, sectors=self.sectors, cells=self.cells)
        return direction, made(OGPM, UNIT, second, self.cells)
