"""L-SRR: public points in three groups by distance, one probability for each group."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from dither.domains import Domain
from dither.errors import InvalidParameter
from dither.kernels.graded import blocks, largest_ratio
from dither.mechanisms.trajectory.points import PointMechanism, Points, distances, positive
from dither.privacy.exact import exp_below

Groups = NDArray[np.int8]
Integers = NDArray[np.int64]


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
    def as_published(cls, domain: Domain, points: Points, *, epsilon: float, **more: Any) -> Self:
        """Give the mechanism of the authors' program: near points weigh ε times as much as far ones."""
        return cls(domain, points, epsilon=epsilon, **{"contrast": Contrast.CODED, **more})

    @classmethod
    def as_meant(cls, domain: Domain, points: Points, *, epsilon: float, **more: Any) -> Self:
        """Give the mechanism of the paper: near points weigh e^ε times as much as far ones."""
        return cls(domain, points, epsilon=epsilon, **{"contrast": Contrast.MEANT, **more})

    def _build(self) -> None:
        if not (isinstance(self.rings, tuple) and len(self.rings) == 2):
            raise InvalidParameter("there are two rings: where near ends and where far begins")
        near, far = (positive("a ring", ring) for ring in self.rings)
        if not near < far:
            raise InvalidParameter("the first ring is smaller than the second")
        if not isinstance(self.contrast, Contrast):
            raise InvalidParameter("a contrast is one of dither's Contrast choices")
        object.__setattr__(self, "rings", (near, far))
        super()._build()

    def _groups(self, points: Integers) -> Groups:
        apart = distances(self.places[points], self.places)
        side = max(self.region.box.x.length, self.region.box.y.length)
        near, far = (ring * side for ring in self.rings)
        return (apart > near).astype(np.int8) + (apart > far)

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
        return np.maximum(np.rint(self.grade.high * parts), 1.0).astype(np.int64)

    @cached_property
    def _largest(self) -> float:
        """The largest contrast that keeps ε, by bisection on what is then spent; e^(ε/2) surely does."""
        count = len(self.points)
        bound = float(exp_below(Fraction(self.epsilon))) * (1.0 - 1e-12)
        groups = np.concatenate([self._groups(np.arange(count)[block]) for block in blocks(count, count)])

        def keeps(contrast: float) -> bool:
            levels = self._levels(contrast)
            spent = largest_ratio(count, count, lambda points: levels[groups[points]])
            return spent is not None and spent <= bound

        low, high = math.exp(self.epsilon / 2.0) * (1.0 - 1e-6), math.exp(self.epsilon)
        while high - low > 1e-9 * low:
            middle = (low + high) / 2.0
            low, high = (middle, high) if keeps(middle) else (low, middle)
        return low

    def _weights(self, points: Integers) -> Integers:
        return np.asarray(self.levels[self._groups(points)])
