"""Domains of places: rectangles, parallelograms, disks and the sphere."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Final, Self

import numpy as np

from dither.core.domains.domain import (
    Circle,
    Domain,
    Interval,
    Table,
    extent,
    finite,
    numbers,
)
from dither.errors import DitherError, InvalidParameter, OutsideDomain, found
from dither.foundation.arrays import Floats, Integers
from dither.foundation.canonical import REAL, Codec, Fields, list_of

Pair = tuple[float, float]

SIDE: Final = 1 << 16  # integers along an axis of a box
_SCALE: Final = 256  # steps of the longer side of a box
PLACE: Final = (1, 2)  # the shape of a location in an array: a path of length 1
_SLACK: Final = 1e-12  # the least distance to the border, relative to a side: it prevents division by zero


PAIR: Final = list_of(REAL, 2)


class Plane(Domain):
    """A domain of two numbers; values are arrays whose last axis has length 2."""

    shape = PLACE
    protects = "location"
    cell_type = "none"

    def words(self) -> str:
        return f"a location in {self}"

    @property
    @abstractmethod
    def centre(self) -> Pair:
        """The centre of the domain."""

    @property
    @abstractmethod
    def box(self) -> Rectangle:
        """The bounding box: the smallest axis-parallel rectangle that contains the domain."""

    def _points(self, values: object) -> Floats:
        array = numbers(values)
        if array.ndim == 0 or array.shape[-1] != 2:
            if array.size == 0:
                return np.zeros((0, 2))
            raise OutsideDomain("expected places as an array whose last axis has length 2")
        return array.astype(np.float64, copy=False)

    def refuse(self) -> None:
        """Raise the error for a place outside; the message does not contain the place."""
        raise OutsideDomain(
            f"expected places in {self}, got one outside; check the data, or use clip(places) first"
        )


class Region(Plane):
    """A bounded convex area: from each of its places, every ray meets the border once."""

    @property
    @abstractmethod
    def diameter(self) -> float:
        """The largest distance between two places."""

    def examples(self, *, few: bool = False) -> list[Floats]:
        """Return the corners of the area's box that lie in the area, and the centre of the area.

        An area without corners, such as a disk, has both ends of the middle line of its box, unless `few`.
        """
        box = self.box
        corners = [(x, y) for x in (box.x.low, box.x.high) for y in (box.y.low, box.y.high)]
        tried = [np.array(location, dtype=np.float64) for location in (*corners, self.centre)]
        locations = [location for location in tried if self._admits(location)]
        if len(locations) < 3 and not few:
            y = float(self.centre[1])
            locations = [np.array([box.x.low, y]), np.array([box.x.high, y]), *locations]
        return locations

    def _admits(self, location: Floats) -> bool:
        try:
            self.check(location)
        except DitherError:
            return False
        return True

    @property
    def scales(self) -> tuple[int, int]:
        """Two integers in proportion to the sides of the area's box, up to rounding: 256 for the longer."""
        sides = [side.high - side.low for side in (self.box.x, self.box.y)]
        x, y = (max(1, round(_SCALE * side / max(sides))) for side in sides)
        return x, y

    @abstractmethod
    def gauge(self, reference: Floats, step: Floats) -> Floats:
        """Return the Minkowski gauge of steps: the length of each step over the distance to the border.

        A step with gauge 1 ends on the border. The gauge is 0 for no step, and very large if the reference is
        on the border and the step leads outside.
        """

    @abstractmethod
    def gauge_one(self, reference: Pair, step: Pair) -> float:
        """Return `gauge` for one reference and one step, without arrays."""


_SIDE_OF: Final = Codec(Interval.device, Interval.from_device)


@dataclass(frozen=True)
class Rectangle(Region):
    """All pairs of a number from one interval and a number from another.

    >>> Rectangle(Interval(0, 2), Interval(0, 1)).diameter
    2.23606797749979
    """

    x: Interval
    y: Interval

    kind: ClassVar[str] = "rectangle"
    outside: ClassVar[str] = "clip"
    usual_mechanism = "TraCSC"
    fields = Fields(x=_SIDE_OF, y=_SIDE_OF)

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """Return the rectangle that `rectangle = [[low, high], [low, high]]` describes."""
        sides = table[cls.kind]
        pairs = isinstance(sides, list) and len(sides) == 2
        if not pairs or not all(isinstance(side, list) and len(side) == 2 for side in sides):
            raise InvalidParameter("expected two intervals: rectangle = [[0, 2], [0, 1]]")
        return cls(*(Interval(*side) for side in sides))

    def __post_init__(self) -> None:
        if not (isinstance(self.x, Interval) and isinstance(self.y, Interval)):
            raise InvalidParameter("expected two intervals, as in Rectangle(Interval(0, 2), Interval(0, 1))")

    @property
    def centre(self) -> Pair:
        return self.x.low + self.x.length / 2, self.y.low + self.y.length / 2

    @property
    def diameter(self) -> float:
        return math.hypot(self.x.length, self.y.length)

    @property
    def box(self) -> Rectangle:
        return self

    @property
    def axes(self) -> tuple[Interval, Interval]:
        """The domains of the two coordinates."""
        return self.x, self.y

    def to_axes(self, places: Floats) -> Floats:
        """Return the coordinates of places along the axes: here, the places themselves."""
        return places

    def from_axes(self, coordinates: Floats) -> Floats:
        """Return the places of pairs of coordinates."""
        return coordinates

    def gauge(self, reference: Floats, step: Floats) -> Floats:
        # The gauge is the maximum over both coordinates, because the side that is reached first decides.
        return np.maximum(
            _towards(self.x, reference[..., 0], step[..., 0]),
            _towards(self.y, reference[..., 1], step[..., 1]),
        )

    def gauge_one(self, reference: Pair, step: Pair) -> float:
        across, along = (
            _towards_one(self.x, reference[0], step[0]),
            _towards_one(self.y, reference[1], step[1]),
        )
        return max(across, along)

    def check(self, values: object) -> Floats:
        points = self._points(values)
        if points.size and not (self.x.admits(points[..., 0]) and self.y.admits(points[..., 1])):
            self.refuse()
        return points

    def clip(self, values: object) -> Floats:
        points = self._points(values)
        return np.stack([self.x.clip(points[..., 0]), self.y.clip(points[..., 1])], axis=-1)

    def __str__(self) -> str:
        return f"{self.x} × {self.y}"


@dataclass(frozen=True)
class Disk(Region):
    """All places within a radius of a centre."""

    radius: float
    centre: Pair = (0.0, 0.0)

    kind: ClassVar[str] = "disk"
    outside: ClassVar[str] = "clip"
    keys = ("centre",)
    usual_mechanism = "Polar"
    fields = Fields(radius=REAL, centre=PAIR)

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """Return the disk that `disk = radius` and `centre = [x, y]` describe."""
        centre = table.get("centre", [0.0, 0.0])
        return cls(table[cls.kind], tuple(centre) if isinstance(centre, list) else centre)

    def __post_init__(self) -> None:
        if not finite("the radius", self.radius) > 0:
            raise InvalidParameter(f"expected the radius of a disk to be positive, got {found(self.radius)}")
        if not (isinstance(self.centre, tuple) and len(self.centre) == 2):
            raise InvalidParameter("the centre of a disk must be a pair of numbers such as (0, 1)")
        x, y = (finite("a coordinate of the centre", coordinate) for coordinate in self.centre)
        extent("a disk", self.radius, self.radius, x, y)
        _ = self.box  # raises if rounding in doubles makes a side empty

    @property
    def diameter(self) -> float:
        return 2.0 * self.radius

    @property
    def box(self) -> Rectangle:
        (x, y), r = self.centre, self.radius
        return Rectangle(Interval(x - r, x + r), Interval(y - r, y + r))

    def gauge(self, reference: Floats, step: Floats) -> Floats:
        # 1/t for the t > 0 at which reference + t·step is on the circle, in the form without cancellation.
        offset = reference - np.asarray(self.centre)
        least = _SLACK * self.radius**2
        room = np.maximum(self.radius**2 - np.sum(offset * offset, axis=-1), least)
        along, square = np.sum(offset * step, axis=-1), np.sum(step * step, axis=-1)
        root = np.abs(along) + np.sqrt(along * along + square * room)
        inward = square / np.maximum(root, least * _SLACK)
        return np.asarray(np.where(along > 0.0, root / room, inward), dtype=np.float64)

    def gauge_one(self, reference: Pair, step: Pair) -> float:
        a, b = reference[0] - self.centre[0], reference[1] - self.centre[1]
        least = _SLACK * self.radius**2
        room = max(self.radius**2 - (a * a + b * b), least)
        along, square = a * step[0] + b * step[1], step[0] ** 2 + step[1] ** 2
        root = abs(along) + math.sqrt(along * along + square * room)
        return root / room if along > 0.0 else square / max(root, least * _SLACK)

    def check(self, values: object) -> Floats:
        points = self._points(values)
        # A tolerance of 10^−12, so that rounding does not put a place on the circle outside.
        if points.size and not bool(self._distance(points).max() <= self.radius * (1 + 1e-12)):
            self.refuse()
        return points

    def clip(self, values: object) -> Floats:
        points = self._points(values)
        distance = self._distance(points)
        if np.isnan(distance).any() or np.isinf(distance).any():
            raise OutsideDomain("expected places as pairs of finite numbers, got others; check the data")
        shrink = np.minimum(1.0, self.radius / np.maximum(distance, self.radius))
        return np.asarray(self.centre + (points - self.centre) * shrink[..., None], dtype=np.float64)

    def _distance(self, points: Floats) -> Floats:
        offset = points - np.asarray(self.centre)
        return np.asarray(np.hypot(offset[..., 0], offset[..., 1]), dtype=np.float64)

    def __str__(self) -> str:
        return f"the disk of radius {self.radius:g} about ({self.centre[0]:g}, {self.centre[1]:g})"


@dataclass(frozen=True)
class Sphere(Plane):
    """Longitude and latitude in degrees on a sphere, of the earth's mean radius in metres by default.

    Longitudes range from −180 to 180, and latitudes from −90 to 90.
    """

    radius: float = 6_371_008.8

    kind: ClassVar[str] = "sphere"
    outside: ClassVar[str] = "clip"
    usual_mechanism = "TraCSC"
    fields = Fields(radius=REAL)

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """Return the sphere that `sphere = true`, the earth, or `sphere = radius` describes."""
        given = table[cls.kind]
        return cls() if given is True else cls(given)

    def __post_init__(self) -> None:
        if not finite("the radius", self.radius) > 0:
            raise InvalidParameter(
                f"expected the radius of a sphere to be positive, got {found(self.radius)}"
            )
        extent("the radius of a sphere", self.radius)

    @property
    def centre(self) -> Pair:
        return 0.0, 0.0

    @property
    def box(self) -> Rectangle:
        return Rectangle(Interval(-180.0, 180.0), Interval(-90.0, 90.0))

    @property
    def longitude(self) -> Circle:
        """The domain of longitudes, in degrees from −180: a circle."""
        return Circle(360.0)

    @property
    def latitude(self) -> Interval:
        """The domain of latitudes, in degrees: an interval."""
        return Interval(-90.0, 90.0)

    @property
    def axes(self) -> tuple[Circle, Interval]:
        """The domains of the two coordinates."""
        return self.longitude, self.latitude

    def to_axes(self, places: Floats) -> Floats:
        """Return the coordinates of places along the axes: longitudes are shifted to begin at 0."""
        return np.asarray(places + np.array([180.0, 0.0]), dtype=np.float64)

    def from_axes(self, coordinates: Floats) -> Floats:
        """Return the places of pairs of coordinates."""
        return np.asarray(coordinates - np.array([180.0, 0.0]), dtype=np.float64)

    def check(self, values: object) -> Floats:
        points = self._points(values)
        inside = not points.size or (
            Interval(-180.0, 180.0).admits(points[..., 0]) and self.latitude.admits(points[..., 1])
        )
        if not inside:
            self.refuse()
        return points

    def clip(self, values: object) -> Floats:
        """Return places with longitudes wrapped and latitudes clipped at the poles."""
        points = self._points(values)
        longitude = self.longitude.wrap(points[..., 0] + 180.0) - 180.0
        return np.stack([longitude, self.latitude.clip(points[..., 1])], axis=-1)

    def distance(self, first: Floats, second: Floats) -> Floats:
        """Return great-circle distances, in the unit of the radius."""
        a, b = np.radians(np.asarray(first, float)), np.radians(np.asarray(second, float))
        half = (b - a) / 2.0
        square = np.sin(half[..., 1]) ** 2 + np.cos(a[..., 1]) * np.cos(b[..., 1]) * np.sin(half[..., 0]) ** 2
        return np.asarray(2.0 * self.radius * np.arcsin(np.sqrt(np.minimum(square, 1.0))), dtype=np.float64)

    def examples(self, *, few: bool = False) -> list[Floats]:
        """Return places far apart; the probabilities of their reports are not listed."""
        if few:
            return []
        ends = [(self.box.x.low, self.box.y.low), (self.box.x.low, self.box.y.high), self.centre]
        return [np.asarray(location, dtype=np.float64) for location in ends]

    def __str__(self) -> str:
        return "longitude [−180, 180] × latitude [−90, 90]"


def _towards(side: Interval, reference: Floats, step: Floats) -> Floats:
    room = np.where(step > 0.0, side.high - reference, reference - side.low)
    return np.asarray(np.abs(step) / np.maximum(room, _SLACK * side.length), dtype=np.float64)


def _towards_one(side: Interval, reference: float, step: float) -> float:
    room = side.high - reference if step > 0.0 else reference - side.low
    return abs(step) / max(room, _SLACK * side.length)


_UNIT = Rectangle(Interval(0.0, 1.0), Interval(0.0, 1.0))
_BORDER = 1e-12  # tolerance, so that rounding does not put a place on the border outside


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
    fields = Fields(corner=PAIR, first=PAIR, second=PAIR)

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
        """Return the points with the given coordinates along the two sides, each in [0, 1]."""
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
        if points.size and not bool(along.min() >= -_BORDER and along.max() <= 1.0 + _BORDER):
            self.refuse()
        return points

    def clip(self, values: object) -> Floats:
        """Return the places, with coordinates along the sides clipped to [0, 1]."""
        points = self._points(values)
        if not np.isfinite(points).all():
            raise OutsideDomain("expected places as pairs of finite numbers, got others; check the data")
        return self.from_axes(self.to_axes(points))

    def __str__(self) -> str:
        first, second = (f"({x:g}, {y:g})" for x, y in (self.first, self.second))
        return (
            f"the parallelogram at ({self.corner[0]:g}, {self.corner[1]:g}) with sides {first} and {second}"
        )


def steps_along(area: Region, places: Floats) -> Integers:
    """Return places as integers of 16 bits along each side of the area's box."""
    box = area.box
    low, high = np.array([[side.low, side.high] for side in (box.x, box.y)]).T
    return np.asarray(np.clip((places - low) / (high - low) * SIDE, 0, SIDE - 1), dtype=np.int64)
