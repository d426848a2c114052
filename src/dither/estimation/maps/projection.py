"""From longitudes and latitudes to metres in the plane, and back, so that areas and errors are in metres."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, Final

import numpy as np

from dither.core.domains import Interval, Rectangle, Sphere, finite
from dither.errors import InvalidParameter, MissingExtra, OutsideDomain, found
from dither.foundation.arrays import Floats

_AXIS: Final = 6_378_137.0  # WGS 84: the equatorial radius, and the square of the eccentricity
_ECCENTRICITY: Final = 0.006_694_379_990_141


class Map(ABC):
    """A public projection of a part of the earth. Places are (longitude, latitude) in degrees."""

    @abstractmethod
    def to_plane(self, places: object) -> Floats:
        """Return longitudes and latitudes as locations in metres."""

    @abstractmethod
    def to_earth(self, places: object) -> Floats:
        """Return locations in metres as longitudes and latitudes."""

    def rectangle(self, box: Rectangle) -> Rectangle:
        """Return the rectangle in metres around a box of longitudes and latitudes."""
        x, y = np.linspace(box.x.low, box.x.high, 33), np.linspace(box.y.low, box.y.high, 33)
        border = [(a, b) for a in x for b in (y[0], y[-1])] + [(a, b) for a in (x[0], x[-1]) for b in y]
        points = self.to_plane(border)
        low, high = points.min(axis=0), points.max(axis=0)
        return Rectangle(Interval(float(low[0]), float(high[0])), Interval(float(low[1]), float(high[1])))


@dataclass(frozen=True)
class LocalMap(Map):
    """A map in metres east and north of a centre. Distances are accurate near it, and boxes remain boxes.

    The equidistant cylindrical projection with the earth's two radii of curvature at the centre. Over a city
    (50 km) distances are right to about 0.5 %.

    >>> LocalMap(139.7, 35.7).to_plane([(139.7, 35.71)]).round(1)
    array([[   0. , 1109.5]])
    """

    longitude: float
    latitude: float

    def __post_init__(self) -> None:
        finite("the longitude", self.longitude)
        if not abs(finite("the latitude", self.latitude)) < 89.0:
            raise InvalidParameter(
                "expected the latitude of a local map's centre between −89 and 89 degrees, got "
                f"{found(self.latitude)}"
            )

    @staticmethod
    def of(box: Rectangle) -> LocalMap:
        """Return the map about the middle of a box of longitudes and latitudes."""
        return LocalMap(*box.centre)

    @cached_property
    def _degree(self) -> Floats:
        """The metres of a degree of longitude and of one of latitude at the centre."""
        angle = math.radians(self.latitude)
        bend = 1.0 - _ECCENTRICITY * math.sin(angle) ** 2
        across = _AXIS / math.sqrt(bend)
        along = _AXIS * (1.0 - _ECCENTRICITY) / bend**1.5
        return np.array([math.radians(across * math.cos(angle)), math.radians(along)])

    def to_plane(self, places: object) -> Floats:
        return np.asarray((_earth(places) - self._centre) * self._degree, dtype=np.float64)

    def to_earth(self, places: object) -> Floats:
        return np.asarray(
            np.asarray(places, dtype=np.float64) / self._degree + self._centre, dtype=np.float64
        )

    @property
    def _centre(self) -> Floats:
        return np.array([self.longitude, self.latitude])


@dataclass(frozen=True)
class ReferenceMap(Map):
    """A coordinate reference system by name, such as "EPSG:32654", whose unit is the metre (needs pyproj)."""

    name: str

    def __post_init__(self) -> None:
        _ = self._ways

    @cached_property
    def _ways(self) -> tuple[Any, Any]:
        try:
            pyproj: Any = import_module("pyproj")
        except ImportError:
            raise MissingExtra("coordinate reference systems", "geo") from None
        try:
            there = pyproj.Transformer.from_crs("EPSG:4326", self.name, always_xy=True)
            back = pyproj.Transformer.from_crs(self.name, "EPSG:4326", always_xy=True)
        except pyproj.exceptions.ProjError:
            raise InvalidParameter(
                "expected the name of a coordinate reference system, such as EPSG:32654, got "
                f"{found(self.name)}"
            ) from None
        return there, back

    def to_plane(self, places: object) -> Floats:
        return _move(self._ways[0], _earth(places))

    def to_earth(self, places: object) -> Floats:
        return _move(self._ways[1], np.asarray(places, dtype=np.float64))

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name}  # pyproj's objects stay in their process


def _earth(locations: object) -> Floats:
    return Sphere().check(locations)


def _move(way: Any, locations: Floats) -> Floats:
    x, y = way.transform(locations[..., 0], locations[..., 1])
    moved = np.stack([np.asarray(x), np.asarray(y)], axis=-1)
    if not np.isfinite(moved).all():
        raise OutsideDomain(
            "expected places within the range of this coordinate reference system, got one outside; choose "
            "another system"
        )
    return moved
