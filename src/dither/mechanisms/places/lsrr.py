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
from dither.errors import InvalidParameter
from dither.kernels.places.points import RingWeights, distances, ring
from dither.kernels.table.weighted_choice import blocks
from dither.mechanisms.places.points import PointMechanism, Points, positive
from dither.numerics.bisection import largest_float
from dither.privacy.exact import exp_below


class Contrast(Enum):
    """How many times as much as a far point a near one weighs."""

    KEPT = "as many as ε allows"
    MEANT = "e^ε"
    CODED = "ε"


@final
@dataclass(frozen=True)
class LSRR(PointMechanism):
    """A public point, likelier if it is near the true place, less likely in a middle ring, least beyond.

    Promise:   pure ε for one location (or one trajectory: `unit`): near points weigh as much more than far
               ones as that allows, given how many points each point has near it.
    Reports:   the number of a point.
    Use when:  TraCS is compared with staircase randomized response. The rings are shares of the longer side.
    Reference: [Thesis, Sec. 6.3.2] after [Wang22]. The contrast e^ε, which is claimed to give ε, gives more,
               because rows are divided by different sums: `as_meant`. As coded it is ε: `as_published`.
    """

    _: KW_ONLY
    rings: tuple[float, float] = (0.3, 0.6)
    contrast: Contrast = Contrast.KEPT

    @classmethod
    def as_published(cls, domain: Region, points: Points, *, epsilon: float, **more: Any) -> Self:
        """Give the mechanism of the authors' program: near points weigh ε times as much as far ones."""
        return cls(domain, points, epsilon=epsilon, **{"contrast": Contrast.CODED, **more})

    @classmethod
    def as_meant(cls, domain: Region, points: Points, *, epsilon: float, **more: Any) -> Self:
        """Give the mechanism of the paper: near points weigh e^ε times as much as far ones."""
        return cls(domain, points, epsilon=epsilon, **{"contrast": Contrast.MEANT, **more})

    def _build(self) -> None:
        if not (isinstance(self.rings, tuple) and len(self.rings) == 2):
            raise InvalidParameter("there are two rings: where near ends and where far begins")
        near, far = (positive("a ring", ring) for ring in self.rings)
        if not near < far:
            raise InvalidParameter("the first ring is smaller than the second")
        if not isinstance(self.contrast, Contrast):
            raise InvalidParameter("contrast is one of dt.Contrast's choices")
        object.__setattr__(self, "rings", (near, far))
        super()._build()

    @property
    def _radii(self) -> tuple[float, float]:
        side = max(self.domain.box.x.length, self.domain.box.y.length)
        return self.rings[0] * side, self.rings[1] * side

    @cached_property
    def levels(self) -> Integers:
        """The weights of near points, of those between, and of far ones."""
        match self.contrast:
            case Contrast.CODED:
                return self._levels(self.epsilon)
            case Contrast.MEANT:
                return self._levels(math.exp(self.epsilon))
        return self._levels(self._largest)

    def _levels(self, contrast: float) -> Integers:
        # [Thesis, Sec. 6.3.2] c, (1 + c)/2 and 1, whatever the groups' sizes
        parts = np.array([contrast, (1.0 + contrast) / 2.0, 1.0]) / max(contrast, 1.0)
        return np.maximum(np.rint(self.grades.high * parts), 1.0).astype(np.int64)

    @property
    def keeps(self) -> bool:
        """Whether ε is kept: with the contrast that keeps it."""
        return self.contrast is Contrast.KEPT

    @property
    def most(self) -> float:
        """ε: the contrast was chosen so that no pair of points spends more."""
        return self.epsilon

    @cached_property
    def _largest(self) -> float:
        """The largest contrast c that keeps ε, by bisection; e^(ε/2) surely does.

        With a near points, those between counted half, a row adds up to N + (c − 1)·a. So of the rows in
        which a point is near, between or far, only the smallest and the largest a matter: found once.
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
            rounding = 1.0 - 8.0 * contrast / self.grades.high  # levels are whole numbers
            return bool((likeliest / unlikeliest).max() <= bound * rounding)

        low, high = math.exp(self.epsilon / 2.0) * (1.0 - 1e-6), math.exp(self.epsilon)
        return largest_float(keeps, low, high, tolerance=1e-12)

    def _rule(self) -> RingWeights:
        near, between, far = self.levels.tolist()
        return RingWeights((near, between, far), self._radii)


def _grouped(places: Floats, rows: Integers, radii: tuple[float, float]) -> Array:
    """Say of every point whether it is near (0), between (1) or far (2), seen from some of them."""
    return ring(distances(places[rows], places), radii)


@lru_cache(maxsize=4)
def _extremes(points: Points, radii: tuple[float, float]) -> tuple[Floats, Floats]:
    """Give, for each group and point, the least and the most near points of rows in which it is in the group.

    Points between count half. A group that a point is never in has infinities.
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
