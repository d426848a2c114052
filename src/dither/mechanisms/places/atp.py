"""ATP: every second point by distance alone, the others among what their neighbours see in a direction."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self, final

from dither.arrays import Array
from dither.domains import Paths, Region
from dither.errors import InvalidParameter, MalformedReport
from dither.kernels.places.two_copies import TwoCopies
from dither.kernels.table.weighted_choice import Grades
from dither.kernels.window.integers import Blocks
from dither.mechanisms.base import Travelled
from dither.mechanisms.places.points import Points, PublicPoints
from dither.privacy import Bound, Nothing, Pure
from dither.randomness import Source


@final
@dataclass(frozen=True)
class ATP(PublicPoints[TwoCopies]):
    """A public point that two noisy copies of the path agree on as well as may be.

    Promise:   pure ε for one location (or one trajectory: `unit`), ε/2 in each copy. `as_published` promises
               nothing: its sectors are centred on the true direction, which they give away.
    Reports:   the number of a point.
    Use when:  TraCS is compared with directions by k-ary randomized response. It needs the whole path first.
    Reference: [Thesis, Sec. 6.3.2] after [Zhang23]; sectors that do not depend on the secret are ours.
    """

    _: KW_ONLY
    sectors: int = 6
    centred: bool = False

    @classmethod
    def as_published(cls, domain: Region, points: Points, *, epsilon: float, **more: Any) -> Self:
        """Give the mechanism of the authors' program: centred sectors, and lies told too seldom."""
        return cls(domain, points, epsilon=epsilon, **{"centred": True, **more})

    def _build(self) -> None:
        if isinstance(self.sectors, bool) or not isinstance(self.sectors, int) or self.sectors < 2:
            raise InvalidParameter("there are at least two sectors")
        super()._build()

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

    def _check_travelled(self, kernel: Any) -> None:
        if not isinstance(kernel, TwoCopies) or kernel.points != self._pairs:
            raise MalformedReport("the kernel and the mechanism disagree about the points")
        if self.keeps and (kernel.odds is not None or kernel.epsilon > self.epsilon):
            raise InvalidParameter("the choices spend more than the mechanism's ε")

    def _send(self, paths: Paths, source: Source, threads: int) -> Array:
        if threads != 1:
            raise InvalidParameter("ATP draws whole paths in one thread; leave `threads` out")
        return self.kernel.draw_paths(paths, source)[:, None]

    @property
    def keeps(self) -> bool:
        """Whether ε is kept: with sectors that do not depend on the secret."""
        return not self.centred

    def _realised(self) -> tuple[Bound, str]:
        if self.centred:
            return Nothing("the candidates depend on the exact direction of the true location"), "not finite"
        return Pure(self.kernel.epsilon), self.kernel.evidence

    def _version_1(self, sampled: Mapping[str, Any]) -> Travelled:
        kernel = self._kernel()
        own = {
            "anchor": kernel.anchor.low,
            "sector": [kernel.sector.step, kernel.sector.bits],
            "choice": kernel.choice.low,
        }
        if sampled["kernel"] != own:
            raise MalformedReport("the reports were sampled by other weights than this version's")
        return Travelled(kernel)
