"""L-SRR: public points in three groups by distance, one probability for each group."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Self, final

import numpy as np

from dither.arrays import Array, Floats, Integers
from dither.domains import Region
from dither.errors import InvalidParameter, found
from dither.kernels.places.points import PointKernel, RingWeights, distances, ring
from dither.kernels.table.weighted_choice import blocks
from dither.mechanisms.places.points import Points, PublicPoints, positive
from dither.numerics.bisection import largest_float
from dither.privacy.exact import exp_below


class Contrast(Enum):
    """The ratio of the weights of a near and a far point."""

    KEPT = "as many as ε allows"
    MEANT = "e^ε"
    CODED = "ε"


@final
@dataclass(frozen=True)
class LSRR(PublicPoints):
    """A public point, likeliest near the true place, less likely in a middle ring, and least beyond it.

    Promise:   pure ε for one location (or one trajectory: `unit`): the ratio of the weights of near and far
               points is the largest that ε allows, given the number of points near each point.
    Reports:   the index of a point.
    Use when:  TraCS is compared with staircase randomized response. The rings are shares of the longer side.
    Reference: [Thesis, Sec. 6.3.2] after [Wang22]. There the ratio e^ε is claimed to spend ε. It spends more,
               because rows have different normalising sums: `as_meant`. In the authors' program the ratio is
               ε: `as_published`.
    """

    _: KW_ONLY
    rings: tuple[float, float] = (0.3, 0.6)
    contrast: Contrast = Contrast.KEPT

    @classmethod
    def as_published(cls, domain: Region, points: Points, *, epsilon: float, **more: Any) -> Self:
        """Return the mechanism of the authors' program: near points weigh ε times as much as far ones."""
        return cls(domain, points, epsilon=epsilon, **{"contrast": Contrast.CODED, **more})

    @classmethod
    def as_meant(cls, domain: Region, points: Points, *, epsilon: float, **more: Any) -> Self:
        """Return the mechanism of the paper: near points weigh e^ε times as much as far ones."""
        return cls(domain, points, epsilon=epsilon, **{"contrast": Contrast.MEANT, **more})

    def _check(self) -> None:
        if not (isinstance(self.rings, tuple) and len(self.rings) == 2):
            raise InvalidParameter("rings must be a pair of radii: where near ends and where far begins")
        near, far = (positive("a ring", ring) for ring in self.rings)
        if not near < far:
            raise InvalidParameter(
                f"the first ring must be smaller than the second, not {near:g} and {far:g}"
            )
        if not isinstance(self.contrast, Contrast):
            raise InvalidParameter(
                f"contrast must be a member of dt.rivals.Contrast, not {found(self.contrast)}"
            )
        object.__setattr__(self, "rings", (near, far))

    @property
    def _radii(self) -> tuple[float, float]:
        side = max(self.domain.box.x.length, self.domain.box.y.length)
        return self.rings[0] * side, self.rings[1] * side

    @cached_property
    def levels(self) -> Integers:
        """The weights of near points, of points in the middle ring, and of far points."""
        match self.contrast:
            case Contrast.CODED:
                return self._levels(self.epsilon)
            case Contrast.MEANT:
                return self._levels(math.exp(self.epsilon))
        return self._levels(self._largest)

    def _levels(self, contrast: float) -> Integers:
        # [Thesis, Sec. 6.3.2] c, (1 + c)/2 and 1, for groups of any sizes
        parts = np.array([contrast, (1.0 + contrast) / 2.0, 1.0]) / max(contrast, 1.0)
        return np.maximum(np.rint(self.grades.high * parts), 1.0).astype(np.int64)

    @cached_property
    def _largest(self) -> float:
        """The largest contrast c that spends at most ε, by bisection; e^(ε/2) certainly does.

        Let a row have a near points, with points of the middle ring counted half. Its weights add up to
        N + (c − 1)·a. So of all rows in which a point is near, in the middle or far, only those with the
        smallest and the largest a matter.
        """
        count = len(self.points)
        least, most = _extremes(tuple(self.points), self._radii)
        bound = float(exp_below(Fraction(self.epsilon)))

        def keeps(contrast: float) -> bool:
            levels = np.array([contrast, (1.0 + contrast) / 2.0, 1.0])[:, None]
            likeliest = (levels / (count + (contrast - 1.0) * least)).max(
                axis=0, initial=0.0, where=least < np.inf
            )
            unlikeliest = (levels / (count + (contrast - 1.0) * most)).min(
                axis=0, initial=np.inf, where=most > -np.inf
            )
            rounding = 1.0 - 8.0 * contrast / self.grades.high  # room for rounding the levels to integers
            return bool((likeliest / unlikeliest).max() <= bound * rounding)

        low, high = math.exp(self.epsilon / 2.0) * (1.0 - 1e-6), math.exp(self.epsilon)
        return largest_float(keeps, low, high, tolerance=1e-12)

    def _kernel(self) -> PointKernel:
        near, between, far = self.levels.tolist()
        return PointKernel(self._pairs, RingWeights((near, between, far), self._radii))


def _grouped(places: Floats, rows: Integers, radii: tuple[float, float]) -> Array:
    """Return for some points whether every point is near (0), in the middle ring (1) or far (2)."""
    return ring(distances(places[rows], places), radii)


@lru_cache(maxsize=4)
def _extremes(points: Points, radii: tuple[float, float]) -> tuple[Floats, Floats]:
    """Return, for each group and point, the fewest and the most near points of rows with it in the group.

    Points of the middle ring count half. If a point is never in a group, the values are infinite.
    """
    places, count = np.asarray(points), len(points)
    numbers = np.arange(count)
    least, most = np.full((3, count), np.inf), np.full((3, count), -np.inf)
    for block in blocks(count, count):
        groups = _grouped(places, numbers[block], radii)
        near = ((2 - groups).sum(axis=1, dtype=np.int64) / 2.0)[:, None]
        for kind in range(3):
            own = groups == kind
            np.minimum(least[kind], np.where(own, near, np.inf).min(axis=0), out=least[kind])
            np.maximum(most[kind], np.where(own, near, -np.inf).max(axis=0), out=most[kind])
    return least, most
