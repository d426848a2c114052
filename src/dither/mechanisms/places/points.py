"""The base classes of path mechanisms whose reports are public points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

import numpy as np

from dither.arrays import Integers
from dither.domains import Disk, Parallelogram, Rectangle, Region, finite
from dither.domains.plane import Pair
from dither.errors import InvalidParameter, OutsideDomain, found
from dither.kernels.table.weighted_choice import Grades
from dither.mechanisms.places.path import PathMechanism

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class PublicPoints(PathMechanism[Region]):
    """A report is one of a public list of points; a place is first rounded to its nearest point."""

    points: Points = field(repr=False)

    takes = (Rectangle, Disk, Parallelogram)

    def _check(self) -> None:
        try:
            places = self.domain.check(np.asarray(self.points, dtype=np.float64))
        except (OutsideDomain, TypeError, ValueError):
            raise InvalidParameter(f"points must be pairs of numbers in {self.domain}") from None
        if places.ndim != 2:
            raise InvalidParameter(f"points must be pairs of numbers in {self.domain}")
        if len(np.unique(places, axis=0)) != len(places):
            raise InvalidParameter(f"a point appears twice among the {len(places)} points")
        object.__setattr__(self, "points", tuple((x, y) for x, y in places.tolist()))

    @final
    @property
    def _pairs(self) -> tuple[Pair, ...]:
        return tuple((float(x), float(y)) for x, y in self.points)

    @final
    @cached_property
    def grades(self) -> Grades:
        """The bounds of the weights, which guarantee ε for any weights between them."""
        return Grades.largest(self.epsilon)

    @final
    def _codebook(self, kernel: Any) -> None:
        """Return None: the points are part of the kernel."""

    def weights_of(self, place: tuple[float, float]) -> Integers:
        """Return the integer weight of every point for a place, proportional to its probability."""
        kernel = self.kernel
        return np.asarray(kernel.weights(kernel.nearest(self.domain.check([place])))[0])


def grid(area: Rectangle, side: int) -> list[tuple[float, float]]:
    """Return the side × side points of a grid over a rectangle, with its corners.

    >>> from dither.domains import Interval
    >>> len(grid(Rectangle(Interval(0, 1), Interval(0, 1)), 11))
    121
    """
    if isinstance(side, bool) or not isinstance(side, int) or side < 2:
        raise InvalidParameter(f"side must be a whole number from 2 upwards, not {found(side)}")
    x = np.linspace(area.x.low, area.x.high, side)
    y = np.linspace(area.y.low, area.y.high, side)
    return [(float(a), float(b)) for a in x for b in y]


def positive(name: str, value: object) -> float:
    """Return a public length as a float; raise InvalidParameter unless it is positive."""
    number = finite(name, value)
    if not number > 0.0:
        raise InvalidParameter(f"{name} must be positive, not {number:g}")
    return number
