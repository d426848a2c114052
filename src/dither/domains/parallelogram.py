"""Parallelograms: images of the unit square under an affine map."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self, final

import numpy as np

from dither.arrays import Floats
from dither.domains.domain import extent, finite
from dither.domains.line import Interval
from dither.domains.plane import Pair, Rectangle, Region, read_pair
from dither.errors import InvalidParameter, OutsideDomain, found

_UNIT = Rectangle(Interval(0.0, 1.0), Interval(0.0, 1.0))
_SLACK = 1e-12  # tolerance, so that rounding does not put a place on the border outside


@final
@dataclass(frozen=True)
class Parallelogram(Region):
    """The places corner + s·first + t·second for s and t from 0 to 1: a rotated or sheared rectangle.

    >>> area = Parallelogram((0, 0), (2, 1), (0, 1))
    >>> area.centre
    (1.0, 1.0)
    """

    corner: Pair
    first: Pair
    second: Pair

    kind: ClassVar[str] = "parallelogram"
    outside: ClassVar[str] = "clip"

    def __post_init__(self) -> None:
        for name in ("corner", "first", "second"):
            pair = getattr(self, name)
            if not (isinstance(pair, tuple) and len(pair) == 2):
                raise InvalidParameter(
                    f"{name} of a parallelogram must be a pair of numbers such as (0, 1), not {found(pair)}"
                )
            object.__setattr__(self, name, tuple(finite("a coordinate", number) for number in pair))
        lengths = math.hypot(*self.first), math.hypot(*self.second)
        for length in lengths:
            extent("a side of a parallelogram", length, *self.corner, *lengths)
        sides = lengths[0] * lengths[1]
        if not abs(float(np.linalg.det(self._sides))) > 1e-9 * sides:
            raise InvalidParameter("the sides of a parallelogram must not be parallel or zero")
        _ = self.box  # raises if rounding in doubles makes a side empty

    @property
    def _sides(self) -> Floats:
        return np.array([self.first, self.second])

    @cached_property
    def _inverse(self) -> Floats:
        return np.asarray(np.linalg.inv(self._sides), dtype=np.float64)

    @property
    def centre(self) -> Pair:
        x, y = np.asarray(self.corner) + self._sides.sum(axis=0) / 2.0
        return float(x), float(y)

    @property
    def diameter(self) -> float:
        (a, b), (c, d) = self.first, self.second
        return max(math.hypot(a + c, b + d), math.hypot(a - c, b - d))

    @property
    def box(self) -> Rectangle:
        corners = np.asarray(self.corner) + np.array([[0, 0], [1, 0], [0, 1], [1, 1]]) @ self._sides
        low, high = corners.min(axis=0), corners.max(axis=0)
        return Rectangle(Interval(float(low[0]), float(high[0])), Interval(float(low[1]), float(high[1])))

    @property
    def axes(self) -> tuple[Interval, Interval]:
        """The domains of the two coordinates along the sides."""
        return _UNIT.axes

    def to_axes(self, places: Floats) -> Floats:
        """Return the coordinates of places along the two sides, from 0 to 1."""
        return np.clip((places - self.corner) @ self._inverse, 0.0, 1.0)

    def from_axes(self, coordinates: Floats) -> Floats:
        """Return the places of pairs of coordinates along the sides."""
        return np.asarray(np.asarray(self.corner) + coordinates @ self._sides, dtype=np.float64)

    def gauge(self, reference: Floats, step: Floats) -> Floats:
        return _UNIT.gauge(self.to_axes(reference), np.asarray(step @ self._inverse))

    def gauge_one(self, reference: Pair, step: Pair) -> float:
        ((a, b), (c, d)), (x, y) = self._inverse.tolist(), self.corner
        s, t = reference[0] - x, reference[1] - y
        inside = min(max(s * a + t * c, 0.0), 1.0), min(max(s * b + t * d, 0.0), 1.0)
        return _UNIT.gauge_one(inside, (step[0] * a + step[1] * c, step[0] * b + step[1] * d))

    def check(self, values: object) -> Floats:
        points = self._points(values)
        along = (points - self.corner) @ self._inverse
        if points.size and not bool(along.min() >= -_SLACK and along.max() <= 1.0 + _SLACK):
            self.refuse()
        return points

    def clip(self, values: object) -> Floats:
        """Return the places, with coordinates along the sides clipped to [0, 1]."""
        points = self._points(values)
        if not np.isfinite(points).all():
            raise OutsideDomain("a place is not a pair of finite numbers")
        return self.from_axes(self.to_axes(points))

    def device(self) -> dict[str, Any]:
        sides = {name: list(getattr(self, name)) for name in ("corner", "first", "second")}
        return {"kind": self.kind, **sides}

    @classmethod
    def from_device(cls, data: Mapping[str, Any]) -> Self:
        return cls(*(read_pair(data[name]) for name in ("corner", "first", "second")))

    def __str__(self) -> str:
        first, second = (f"({x:g}, {y:g})" for x, y in (self.first, self.second))
        return (
            f"the parallelogram at ({self.corner[0]:g}, {self.corner[1]:g}) with sides {first} and {second}"
        )
