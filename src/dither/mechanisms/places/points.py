"""The base classes of path mechanisms whose reports are public points."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, final

import numpy as np

from dither.arrays import Array, Floats, Integers, Mask
from dither.domains import Disk, Parallelogram, Rectangle, Region, finite
from dither.domains.plane import Pair
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain, found
from dither.kernels.places.points import ChoiceKernel, PointKernel, WeightRule
from dither.kernels.table.weighted_choice import Grades
from dither.mechanisms.places.path import PathMechanism, PlaceLikelihood, Rows, Runs
from dither.privacy import Bound, Nothing, Pure
from dither.privacy.exact import log_above

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class PublicPoints(PathMechanism[Region, Runs], Generic[Runs]):
    """A report is one of a public list of points; a place is first rounded to its nearest point."""

    points: Points = field(repr=False)

    takes = (Rectangle, Disk, Parallelogram)

    def _build(self) -> None:
        try:
            places = self.domain.check(np.asarray(self.points, dtype=np.float64))
        except (OutsideDomain, TypeError, ValueError):
            raise InvalidParameter(f"points must be pairs of numbers in {self.domain}") from None
        if places.ndim != 2:
            raise InvalidParameter(f"points must be pairs of numbers in {self.domain}")
        if len(np.unique(places, axis=0)) != len(places):
            raise InvalidParameter(f"a point appears twice among the {len(places)} points")
        object.__setattr__(self, "points", tuple((x, y) for x, y in places.tolist()))
        _ = self.kernel

    @cached_property
    def places(self) -> Floats:
        """The points, as an array."""
        return np.asarray(self.points)

    @final
    @property
    def _pairs(self) -> tuple[Pair, ...]:
        return tuple((float(x), float(y)) for x, y in self.points)

    @cached_property
    def grades(self) -> Grades:
        """The bounds of the weights, which guarantee ε for any weights between them."""
        return Grades.largest(self.epsilon)

    def _receive(self, cells: Array, begins: Mask) -> Floats:
        return self.places[cells[:, 0]]


@dataclass(frozen=True)
class PointMechanism(PublicPoints[PointKernel]):
    """One public point for each location, drawn by weights."""

    @abstractmethod
    def _rule(self) -> WeightRule:
        """Return the paper's rule for the weights of points by their distances."""

    @final
    def _kernel(self) -> PointKernel:
        return PointKernel(self._pairs, self._rule())

    def _check_travelled(self, kernel: Any) -> None:
        if not isinstance(kernel, PointKernel) or kernel.points != self._pairs:
            raise MalformedReport("the points of the kernel differ from those of the mechanism")
        if self.keeps and (kernel.largest is None or kernel.epsilon > self.epsilon):
            raise InvalidParameter(f"the weights spend more than ε = {self.epsilon:g}")

    def weights_of(self, place: tuple[float, float]) -> Integers:
        """Return the integer weight of every point for a place, proportional to its probability."""
        kernel = self.kernel
        return np.asarray(kernel.weights(kernel.nearest(self.domain.check([place])))[0])

    def _realised(self) -> tuple[Bound, str]:
        kernel = self.kernel
        if kernel.largest is None:
            return Nothing("which points can be reported depends on the true location"), kernel.evidence
        return Pure(kernel.epsilon), kernel.evidence

    @property
    def most(self) -> float:
        """The bound on ε from the bounds of the weights; comparing all pairs of points may yield less."""
        return log_above(self.grades.ratio)

    def likelihood(self, cells: Floats) -> PlaceLikelihood:
        return TableLikelihood(self.kernel, cells)


@final
@dataclass(frozen=True, eq=False)
class TableLikelihood(PlaceLikelihood):
    """The likelihood of reports with finitely many candidates: a table with one row for each candidate."""

    kernel: ChoiceKernel
    cells: Floats

    @cached_property
    def _table(self) -> Floats:
        return self.kernel.table(self.cells)

    def of(self, reports: Array) -> Rows:
        told = self.kernel.told(reports[:, 1:])
        return lambda chosen: np.asarray(self._table[told[chosen]])


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
