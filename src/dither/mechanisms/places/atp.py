"""ATP: every second location is drawn by distance, the others also by their directions from neighbours."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self, final

from dither.domains import Region
from dither.errors import InvalidParameter, found
from dither.kernels.places.two_copies import TwoCopies
from dither.kernels.table.weighted_choice import Grades
from dither.kernels.window.integers import Blocks
from dither.mechanisms.places.points import Points, PublicPoints


@final
@dataclass(frozen=True)
class ATP(PublicPoints):
    """A public point that is nearest to two noisy copies of the path together.

    Promise:   pure ε for one location (or one trajectory: `unit`), ε/2 in each copy. `as_published` has no
               guarantee: its sectors are centred on the true direction and reveal it.
    Reports:   the index of a point.
    Use when:  TraCS is compared with directions by k-ary randomized response. It needs the whole path first.
    Reference: [Thesis, Sec. 6.3.2] after [Zhang23]; sectors that do not depend on the secret are ours.
    """

    _: KW_ONLY
    sectors: int = 6
    centred: bool = False

    @classmethod
    def as_published(cls, domain: Region, points: Points, *, epsilon: float, **more: Any) -> Self:
        """Return the mechanism of the authors' program: centred sectors, false ones drawn too rarely."""
        return cls(domain, points, epsilon=epsilon, **{"centred": True, **more})

    def _check(self) -> None:
        if isinstance(self.sectors, bool) or not isinstance(self.sectors, int) or self.sectors < 2:
            raise InvalidParameter(
                f"sectors must be a whole number from 2 upwards, not {found(self.sectors)}"
            )

    def _kernel(self) -> TwoCopies:
        # Each copy has ε/2: all of it for an anchor, or 3/16 of ε for each direction and 1/8 for the choice.
        told = self.epsilon * 3.0 / 16.0
        return TwoCopies(
            self._pairs,
            Grades.largest(self.epsilon / 2.0),
            Blocks.largest(told, self.sectors),
            Grades.largest(self.epsilon / 8.0),
            math.exp(told) if self.centred else None,
        )
