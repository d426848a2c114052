"""Path mechanisms whose reports are public points: the rivals of TraCS, which live in discrete space."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final

import numpy as np

from dither.arrays import Array, Floats, Integers, Mask
from dither.domains import Disk, Parallelogram, Paths, Rectangle, Region, finite
from dither.errors import InvalidParameter, OutsideDomain
from dither.kernels.table.weighted_choice import Graded, blocks, draw, largest_ratio
from dither.mechanisms.places.path import PathMechanism
from dither.privacy import Bound, Nothing, Pure, Unit
from dither.privacy.exact import log_above
from dither.randomness import Source

Points = Sequence[tuple[float, float]]

_MOST_POINTS: Final = 1 << 15


@dataclass(frozen=True)
class PointMechanism(PathMechanism):
    """A report is one of a public list of points; a place is moved to its nearest point first."""

    points: Points = field(repr=False)

    takes = (Rectangle, Disk, Parallelogram)
    columns: ClassVar[int] = 1

    def _build(self) -> None:
        try:
            places = self.region.check(np.asarray(self.points, dtype=np.float64))
        except (OutsideDomain, TypeError, ValueError):
            raise InvalidParameter(f"the points are pairs of numbers in {self.domain}") from None
        if places.ndim != 2 or not 2 <= len(places) <= _MOST_POINTS:
            raise InvalidParameter(f"there are between 2 and {_MOST_POINTS} points")
        if len(np.unique(places, axis=0)) != len(places):
            raise InvalidParameter("a point appears twice")
        object.__setattr__(self, "points", tuple((x, y) for x, y in places.tolist()))
        _ = self.grade if self.unit is Unit.LOCATION else self.per_location(1)

    @property
    def region(self) -> Region:
        """The domain of the places."""
        assert isinstance(self.domain, Region)
        return self.domain

    @cached_property
    def places(self) -> Floats:
        """The points, as an array."""
        return np.asarray(self.points)

    @cached_property
    def grade(self) -> Graded:
        """The bounds of the weights: what makes any choice private."""
        return Graded.largest(self.epsilon)

    @abstractmethod
    def _weights(self, points: Integers) -> Integers:
        """Give the weight of every point for true points, one row each."""

    def _send(self, paths: Paths, source: Source, threads: int) -> Array:
        drawn = np.empty((len(paths.points), 1), dtype=self.dtype)
        for block in blocks(len(drawn), len(self.points)):
            drawn[block, 0] = draw(self._weights(self.nearest(paths.points[block])), source)
        return drawn

    def _receive(self, cells: Array, begins: Mask) -> Floats:
        return self.places[cells[:, 0]]

    def weights_of(self, place: tuple[float, float]) -> Integers:
        """Give the integer weight of every point for a place: its probability, up to their sum."""
        return np.asarray(self._weights(self.nearest(self.region.check([place])))[0])

    def nearest(self, places: Floats) -> Integers:
        """Give the number of the nearest point of each place."""
        nearest = np.empty(len(places), dtype=np.int64)
        for block in blocks(len(places), len(self.points)):
            nearest[block] = distances(places[block], self.places).argmin(axis=1)
        return nearest

    def _realised(self) -> tuple[Bound, str]:
        count = len(self.points)
        ratio = largest_ratio(count, count, self._weights)
        how = f"the largest ratio of two weights, over all pairs of {count} points and all reports"
        if ratio is None:
            return Nothing("which points can be reported depends on the true location"), how
        return Pure(log_above(Fraction(ratio))), how

    @property
    def most(self) -> float:
        """The bound that the weights' bounds give: looking at every pair of points may find less."""
        return log_above(self.grade.ratio)

    @property
    def _limits(self) -> tuple[tuple[int, int], ...]:
        return ((0, len(self.points) - 1),)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The whole numbers that hold a report."""
        return np.dtype(np.min_scalar_type(len(self.points) - 1))

    def wire(self) -> dict[str, Any]:
        """Give the bounds of the weights."""
        grade = self.per_location(1).grade
        return {"kernel": {"low": grade.low, "high": grade.high}, "codebook": {"points": len(self.points)}}


def distances(first: Floats, second: Floats) -> Floats:
    """Give the distance of every first place to every second one."""
    across, along = (np.subtract.outer(first[:, axis], second[:, axis]) for axis in (0, 1))
    across *= across
    along *= along
    across += along
    return np.asarray(np.sqrt(across, out=across), dtype=np.float64)


def grid(area: Rectangle, side: int) -> list[tuple[float, float]]:
    """Give the points of a square grid over a rectangle, its corners included: side × side of them.

    >>> from dither.domains import Interval
    >>> len(grid(Rectangle(Interval(0, 1), Interval(0, 1)), 11))
    121
    """
    if isinstance(side, bool) or not isinstance(side, int) or side < 2:
        raise InvalidParameter("a grid has at least two points a side")
    x = np.linspace(area.x.low, area.x.high, side)
    y = np.linspace(area.y.low, area.y.high, side)
    return [(float(a), float(b)) for a in x for b in y]


def positive(name: str, value: object) -> float:
    """Give a public length as a float, or say what it must be."""
    number = finite(name, value)
    if not number > 0.0:
        raise InvalidParameter(f"{name} must be positive")
    return number
