"""The exponential mechanism on public points of an area, by any score."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dither.core.domains import finite
from dither.core.kernels.alias import Grades
from dither.core.kernels.places.points import MOST_LISTED, ListedWeights, PointKernel, distances
from dither.errors import InvalidParameter, found
from dither.foundation.arrays import Floats, Integers
from dither.mechanisms.places.base import PublicPoints
from dither.mechanisms.scores import Score, score_gaps, score_table
from dither.privacy.exact import exp_below


@dataclass(frozen=True)
class ScoredPoints(PublicPoints):
    """`Exponential` for locations: a public point; nearer points, or those with a better score, are likelier.

    Promise:   pure ε for one location (or one trajectory: `unit`), all of which is spent; with `as_published`
               or a `sensitivity` it may be less.
    Reports:   the index of a point. A location is first rounded to its nearest point.
    Use when:  reports must be one of given points, and the score is not a distance. For scores by distance
               `Optimal` has the smaller error.
    Reference: [McSherry07, Thm 6] with the score −distance, or any `score(place, point)`. The scale is ours:
               the largest that keeps ε for these points. `as_published` divides by twice the sensitivity, the
               largest range of a row of scores.

    >>> import dither as dt
    >>> square = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
    >>> shops = [(0.1, 0.2), (0.5, 0.9), (0.8, 0.3)]
    >>> dt.Exponential(square, shops, epsilon=2, score=lambda place, shop: -abs(place[0] - shop[0])).guarantee
    Guarantee: ε ≤ 2 for one location
    """

    _: KW_ONLY
    sensitivity: float | None = None
    as_published: bool = False
    score: Score | None = None

    _called = "Exponential"

    def _check(self) -> None:
        if len(self.points) > MOST_LISTED:
            raise InvalidParameter(
                f"expected 2 to {MOST_LISTED} points, got {len(self.points)}; dt.rivals.NGram, whose "
                "probabilities depend only on the distance, takes more"
            )
        if self.score is not None:
            rows = score_table(self.score, self._pairs).tolist()
            object.__setattr__(self, "score", tuple(map(tuple, rows)))
        if self.sensitivity is not None:
            object.__setattr__(self, "sensitivity", finite("the sensitivity", self.sensitivity))
            if not self.sensitivity > 0.0:
                raise InvalidParameter(f"expected sensitivity to be positive, got {self.sensitivity:g}")

    @cached_property
    def _scores(self) -> Floats:
        locations = np.asarray(self._pairs)
        return 0.0 - distances(locations, locations) if self.score is None else np.array(self.score)

    def _kernel(self) -> PointKernel:
        gaps, size = score_gaps(self._scores), len(self.points)

        def weigh(grades: Grades, rows: Integers) -> Integers:
            return grades.weights(gaps[rows])

        if self.sensitivity is None and not self.as_published:
            grades = Grades.fullest(self.epsilon, size, weigh)
        else:
            widest = float(np.ptp(self._scores, axis=1).max())
            rate = self.epsilon * widest / (2.0 * (self.sensitivity or widest))
            grades = Grades(max(math.ceil(Grades.MOST * math.exp(-min(rate, 700.0))), 1))
        rows = weigh(grades, np.arange(size)).tolist()
        kernel = PointKernel(self._pairs, ListedWeights(tuple(map(tuple, rows))))
        if kernel.ratio > exp_below(Fraction(self.epsilon)):
            raise InvalidParameter(
                f"expected a sensitivity with which the points spend at most ε = {self.epsilon:g}, got "
                f"{found(self.sensitivity)}; state a larger one"
            )
        return kernel
