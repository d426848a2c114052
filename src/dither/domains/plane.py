"""Domains of places: rectangles, disks and the sphere."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self, final

import numpy as np

from dither.arrays import Floats
from dither.device_text import real
from dither.domains.domain import Domain, extent, finite, numbers
from dither.domains.line import Circle, Interval
from dither.errors import InvalidParameter, OutsideDomain, found

Pair = tuple[float, float]

_SLACK: Final = 1e-12  # of a side: the least room before the border, so that no division by zero occurs


class Plane(Domain):
    """A domain of two numbers; values are arrays whose last axis has length 2."""

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
            raise OutsideDomain("places must be an array whose last axis has length 2")
        return array.astype(np.float64, copy=False)

    def refuse(self) -> None:
        """Raise the error for a place outside; the message does not contain the place."""
        raise OutsideDomain(
            f"a place is not a pair of finite numbers in {self}; check the data, or use clip(places) first"
        )


class Region(Plane):
    """A bounded convex area: from each of its places, every ray meets the border once."""

    @property
    @abstractmethod
    def diameter(self) -> float:
        """The largest distance between two places."""

    @abstractmethod
    def gauge(self, reference: Floats, step: Floats) -> Floats:
        """Return the Minkowski gauge of steps: the length of each step over the distance to the border.

        A step with gauge 1 ends on the border. The gauge is 0 for no step, and very large if the reference is
        on the border and the step leads outside.
        """

    @abstractmethod
    def gauge_one(self, reference: Pair, step: Pair) -> float:
        """Return `gauge` for one reference and one step, without arrays."""


@final
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

    def __post_init__(self) -> None:
        if not (isinstance(self.x, Interval) and isinstance(self.y, Interval)):
            raise InvalidParameter(
                "a rectangle needs two intervals, such as Rectangle(Interval(0, 2), Interval(0, 1))"
            )

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
        # The maximum over both coordinates: the side that is reached first decides.
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

    def device(self) -> dict[str, Any]:
        return {"kind": self.kind, "x": self.x.device(), "y": self.y.device()}

    @classmethod
    def from_device(cls, data: Mapping[str, Any]) -> Self:
        return cls(Interval.from_device(data["x"]), Interval.from_device(data["y"]))

    def __str__(self) -> str:
        return f"{self.x} × {self.y}"


@final
@dataclass(frozen=True)
class Disk(Region):
    """All places within a radius of a centre."""

    radius: float
    centre: Pair = (0.0, 0.0)

    kind: ClassVar[str] = "disk"
    outside: ClassVar[str] = "clip"

    def __post_init__(self) -> None:
        if not finite("the radius", self.radius) > 0:
            raise InvalidParameter(f"the radius of a disk must be positive, not {found(self.radius)}")
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
            raise OutsideDomain("a place is not a pair of finite numbers")
        shrink = np.minimum(1.0, self.radius / np.maximum(distance, self.radius))
        return np.asarray(self.centre + (points - self.centre) * shrink[..., None], dtype=np.float64)

    def _distance(self, points: Floats) -> Floats:
        offset = points - np.asarray(self.centre)
        return np.asarray(np.hypot(offset[..., 0], offset[..., 1]), dtype=np.float64)

    def device(self) -> dict[str, Any]:
        return {"kind": self.kind, "radius": self.radius, "centre": list(self.centre)}

    @classmethod
    def from_device(cls, data: Mapping[str, Any]) -> Self:
        return cls(real(data["radius"]), read_pair(data["centre"]))

    def __str__(self) -> str:
        return f"the disk of radius {self.radius:g} about ({self.centre[0]:g}, {self.centre[1]:g})"


@final
@dataclass(frozen=True)
class Sphere(Plane):
    """Longitude and latitude in degrees on a sphere, of the earth's mean radius in metres by default.

    Longitudes from −180 to 180, latitudes from −90 to 90.
    """

    radius: float = 6_371_008.8

    kind: ClassVar[str] = "sphere"
    outside: ClassVar[str] = "clip"

    def __post_init__(self) -> None:
        if not finite("the radius", self.radius) > 0:
            raise InvalidParameter(f"the radius of a sphere must be positive, not {found(self.radius)}")
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

    def device(self) -> dict[str, Any]:
        return {"kind": self.kind, "radius": self.radius}

    @classmethod
    def from_device(cls, data: Mapping[str, Any]) -> Self:
        return cls(real(data["radius"]))

    def __str__(self) -> str:
        return "longitude [−180, 180] × latitude [−90, 90]"


def _towards(side: Interval, reference: Floats, step: Floats) -> Floats:
    room = np.where(step > 0.0, side.high - reference, reference - side.low)
    return np.asarray(np.abs(step) / np.maximum(room, _SLACK * side.length), dtype=np.float64)


def _towards_one(side: Interval, reference: float, step: float) -> float:
    room = side.high - reference if step > 0.0 else reference - side.low
    return abs(step) / max(room, _SLACK * side.length)


def read_pair(data: Sequence[Any]) -> Pair:
    """Return a list of two numbers as a pair."""
    x, y = data
    return real(x), real(y)
