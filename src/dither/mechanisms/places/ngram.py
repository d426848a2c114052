"""NGram: a public point by the exponential mechanism, optionally only among points within reach."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self, final

from dither.domains import Region
from dither.kernels.places.points import FallingWeights, PointKernel
from dither.mechanisms.places.points import Points, PublicPoints, positive


@final
@dataclass(frozen=True)
class NGram(PublicPoints):
    """A public point, the likelier the nearer it is to the true place.

    Promise:   pure ε for one location (or one trajectory: `unit`); usually less is spent, see `guarantee`.
               `as_published` reports only points near the true place, and so has no guarantee.
    Reports:   the index of a point.
    Use when:  TraCS is compared with the exponential mechanism. The cost of a location grows with the points.
    Reference: [Thesis, Def. 8, Sec. 6.3.2] after [Cunningham21]: the reachable set is a ball.
    """

    _: KW_ONLY
    reach: float | None = None

    @classmethod
    def as_published(cls, domain: Region, points: Points, *, epsilon: float, **more: Any) -> Self:
        """Return the mechanism of the thesis: only points within 0.75 diameters of the truth are possible."""
        return cls(domain, points, epsilon=epsilon, **{"reach": 0.75, **more})

    def _check(self) -> None:
        if self.reach is not None:
            object.__setattr__(self, "reach", positive("the reach", self.reach))

    def _kernel(self) -> PointKernel:
        reach = None if self.reach is None else self.reach * self.domain.diameter
        return PointKernel(self._pairs, FallingWeights(self.grades, reach))
