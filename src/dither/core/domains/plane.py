"""Domains of places: rectangles, parallelograms, disks and the sphere; and paths, many in one array.

Values one by one, each with bytes that identify it: the input of permanent (memoised) answers.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Final, Self

import numpy as np

from dither.core.domains.categories import Categories, Several, Text
from dither.core.domains.domain import (
    Box,
    Circle,
    Domain,
    Interval,
    Optional,
    extent,
    finite,
    numbers,
    regular,
)
from dither.errors import InvalidParameter, OutsideDomain, found
from dither.foundation.arrays import Array, Floats, Integers, Mask
from dither.foundation.canonical import real

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
        if points.size and not bool(along.min() >= -_BORDER and along.max() <= 1.0 + _BORDER):
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


@dataclass(frozen=True, eq=False)
class Paths:
    """Paths of any lengths: path i is `points[offsets[i]:offsets[i + 1]]`, an array of pairs.

    >>> trips = Paths.of([[(0, 0), (1, 1)], [(2, 2)]])
    >>> len(trips), trips.lengths.tolist(), trips[0].tolist()
    (2, [2, 1], [[0.0, 0.0], [1.0, 1.0]])
    """

    points: Floats
    offsets: Integers

    def __post_init__(self) -> None:
        points, offsets = np.asarray(self.points), np.asarray(self.offsets)
        if points.ndim != 2 or points.shape[1] != 2:
            raise InvalidParameter(f"points of paths must have the shape (n, 2), not {points.shape}")
        if offsets.ndim != 1 or offsets.dtype.kind not in "iu" or not offsets.size:
            raise InvalidParameter(
                "offsets must be whole numbers: the index at which each path begins, and the end of the last"
            )
        if offsets[0] != 0 or offsets[-1] != len(points):
            raise InvalidParameter(
                f"offsets must begin with 0 and end with the number of places, {len(points)}"
            )
        if not (np.diff(offsets) > 0).all():
            raise OutsideDomain("a path has no places; leave empty paths out")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "offsets", offsets.astype(np.int64, copy=False))

    @staticmethod
    def of(values: object) -> Paths:
        """Return arrays or lists as paths.

        An array of shape (n, 2) is one path. An array of shape (m, n, 2) is m paths of length n. A list may
        contain paths of different lengths.
        """
        if isinstance(values, Paths):
            return values
        if _is_ragged(values):
            parts = [_pairs(part) for part in values]  # type: ignore[attr-defined]
            points = np.concatenate(parts) if parts else np.zeros((0, 2))
            return Paths(points, np.cumsum([0, *map(len, parts)], dtype=np.int64))
        array = numbers(values)
        if array.ndim > 3 or array.ndim == 0 or array.shape[-1] != 2:
            raise OutsideDomain(
                "paths must be an array of shape (n, 2) or (m, n, 2), or a list of such arrays"
            )
        length = 1 if array.ndim == 1 else array.shape[-2]
        if length == 0:
            raise OutsideDomain("a path has no places; leave empty paths out")
        points = array.astype(np.float64, copy=False).reshape(-1, 2)
        return Paths(points, np.arange(0, len(points) + 1, length, dtype=np.int64))

    @staticmethod
    def split(points: Floats, begins: Mask) -> Paths:
        """Return paths from all places, and a mask that is True at the first place of each path."""
        return Paths(points, np.append(np.flatnonzero(begins), len(points)).astype(np.int64))

    @property
    def lengths(self) -> Integers:
        """The number of places of each path."""
        return np.diff(self.offsets)

    @property
    def begins(self) -> Mask:
        """A mask of all places, True at the first place of each path."""
        marks = np.zeros(len(self.points), dtype=np.bool_)
        marks[self.offsets[:-1]] = True
        return marks

    def like(self, points: object) -> Paths:
        """Return paths of the same lengths with other places."""
        places = numbers(points)
        return Paths(places.astype(np.float64, copy=False).reshape(-1, 2), self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> Floats:
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range: there are {len(self)} paths")
        index %= len(self)
        return self.points[self.offsets[index] : self.offsets[index + 1]]

    def __iter__(self) -> Iterator[Floats]:
        return (self[index] for index in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.points, dtype=dtype)

    def __repr__(self) -> str:
        return f"Paths({len(self)} with {len(self.points)} places)"  # without the places: they are secret


def _is_ragged(values: object) -> bool:
    """Return whether a list contains paths, and not the pairs of one path."""
    if isinstance(values, np.ndarray) or not isinstance(values, Sequence):
        return False
    return all(_depth(part) != 1 for part in values)


def _depth(part: object) -> int:
    if not isinstance(part, Sequence | np.ndarray):
        return 1
    if not len(part):
        return 2
    first = regular(part[0])
    return 2 if first is None or first.ndim > 0 else 1


def _pairs(part: object) -> Floats:
    array = numbers(part)
    if not array.size:
        raise OutsideDomain("a path has no places; leave empty paths out")
    if array.ndim != 2 or array.shape[1] != 2:
        raise OutsideDomain("each path of a list must be an array of shape (n, 2)")
    return array.astype(np.float64, copy=False)


@dataclass(frozen=True, eq=False, repr=False)
class SeparateValues:
    """The values passed to `perturb`, one by one.

    `values[i]` can be passed to `perturb` separately. Two entries of `marks` are equal if and only if the
    values are. The reports of all values together have the shape `shape`, followed by that of one report.
    """

    values: list[Any]
    marks: list[bytes]
    shape: tuple[int, ...]


def separate_values(domain: Domain, values: object) -> SeparateValues:
    """Return the values of a domain one by one; raise OutsideDomain if one is not in the domain."""
    marks = _marks(domain, values)
    if isinstance(domain, Several):  # without the −1 that fill rows up to the largest set of these people
        sets = [row[row >= 0] for row in marks]
        alone = [[[domain.labels[code] for code in codes]] for codes in sets]
        return SeparateValues(alone, [codes.tobytes() for codes in sets], marks.shape[:-1])
    shape = marks.shape[:-1]
    if isinstance(domain, Optional):
        values = np.ma.masked_invalid(marks[..., 0])
        single: list[Any] = [values.reshape(-1)[place : place + 1] for place in range(values.size)]
        return SeparateValues(single, [row.tobytes() for row in np.ravel(marks)], shape)
    if isinstance(values, np.ma.MaskedArray) and domain.optional:
        values = np.where(np.ma.getmaskarray(values), np.array(None), values.data)
    rows = np.asarray(values, dtype=object if are_labels(domain) else None)
    rows = rows.reshape(-1, *rows.shape[len(shape) :])
    flat = np.ascontiguousarray(marks).reshape(-1, marks.shape[-1])
    return SeparateValues(
        [rows[place : place + 1] for place in range(len(rows))], [row.tobytes() for row in flat], shape
    )


def are_labels(domain: Domain) -> bool:
    """Return whether values are labels, which an array keeps as objects: numpy would make them all texts."""
    return isinstance(domain, Text) or (
        isinstance(domain, Categories) and not isinstance(domain.labels, range)
    )


def separate_paths(paths: Paths, shape: tuple[int, ...]) -> SeparateValues:
    """Return paths one by one: a whole path is one value."""
    points = np.asarray(paths.points, dtype="<f8") + 0.0  # so that −0 is 0
    ends = paths.offsets.tolist()
    parts = [points[begin:end] for begin, end in pairwise(ends)]
    return SeparateValues(parts, [part.tobytes() for part in parts], shape)


def _marks(domain: Domain, values: object) -> Array:
    """Return a row of numbers for each value; rows are equal if and only if the values are."""
    checked = domain.check(values)
    if isinstance(domain, Text):
        return checked
    if isinstance(domain, Categories):
        return np.asarray(checked, dtype="<i8")[..., None]
    if isinstance(domain, Several):
        return np.asarray(checked, dtype="<i8")
    if isinstance(domain, Optional):  # NaN is "no answer"
        missing = np.isnan(checked)
        inside = _marks(domain.of, np.where(missing, domain.of.low, checked))[..., 0]
        checked = np.where(missing, np.nan, inside)
    if isinstance(domain, Circle):
        checked = domain.wrap(checked)  # the period is the same angle as 0
    rows = np.asarray(checked, dtype="<f8") + 0.0  # so that −0 is 0
    return rows if isinstance(domain, Plane | Box) else rows[..., None]
