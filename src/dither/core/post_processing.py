"""Post-processing of places at the collector: rounding to public points or to a grid, projection to a shape.

Post-processing uses only the reports, so guarantees do not change: post_processing (proofs/Combine.v).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar, Final

import numpy as np

from dither.core.combinator import Combinator
from dither.core.domains import Rectangle, numbers, read_domain
from dither.core.domains.plane import PAIR
from dither.errors import InvalidParameter, MalformedReport, MissingExtra, OutsideDomain, found
from dither.foundation.arrays import Floats, Integers
from dither.foundation.canonical import ANY, WHOLE, Codec, Data, Fields, list_of
from dither.privacy import Guarantee

_BLOCK: Final = 1 << 16


_KINDS: Final[dict[str, type[PostProcessing]]] = {}


class PostProcessing(Combinator):
    """A public map from places to places, applied to decoded reports by `mechanism.read(…)`.

    A specification contains its `kind` and its parameters.
    """

    on_devices: ClassVar[bool] = False
    kind: ClassVar[str]
    fields: ClassVar[Fields]  # the parameters in a specification

    def __init_subclass__(cls, **more: object) -> None:
        super().__init_subclass__(**more)
        if "kind" in vars(cls):
            _KINDS[cls.kind] = cls

    def promise(self, inner: Sequence[Guarantee]) -> Guarantee:
        """Return the mechanism's own guarantee; post-processing does not change it."""
        (own,) = inner
        return own

    def plain(self) -> dict[str, Any]:
        """Return the parameters by name, as JSON-compatible data."""
        return self.fields.write(self)

    @abstractmethod
    def __call__(self, places: object) -> Floats:
        """Return the processed places; the last axis of the array must have length 2."""


@dataclass(frozen=True)
class Rounded(PostProcessing):
    """Places rounded to the nearest of a public list of points.

    >>> Rounded([(0, 0), (1, 0)])([(0.4, 0.2), (0.7, 0.1)])
    array([[0., 0.],
           [1., 0.]])
    """

    points: Sequence[tuple[float, float]] = field(repr=False)

    kind: ClassVar[str] = "Rounded"
    fields = Fields(points=list_of(PAIR))

    def __post_init__(self) -> None:
        try:
            points = np.asarray(self.points, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidParameter("points must be pairs of numbers") from None
        if points.ndim != 2 or points.shape[1] != 2 or not len(points) or not np.isfinite(points).all():
            raise InvalidParameter(
                f"points must be finite and of shape (n, 2) with n ≥ 1; their shape is {points.shape}"
            )
        object.__setattr__(self, "points", tuple((x, y) for x, y in points.tolist()))

    @cached_property
    def _tree(self) -> Any:
        return _extra("scipy.spatial", "rounding to points").cKDTree(np.asarray(self.points))

    def numbers(self, places: object) -> Integers:
        """Return the index of the nearest point of each place."""
        pairs = _pairs(places)
        flat = pairs.reshape(-1, 2)
        found = np.empty(len(flat), dtype=np.int64)
        # Successive locations that are close together use the same part of the tree, and it stays in the
        # cache.
        order = _along_a_curve(flat)
        for begin in range(0, len(flat), _BLOCK):
            rows = order[begin : begin + _BLOCK]
            found[rows] = self._tree.query(flat[rows])[1]
        return found.reshape(pairs.shape[:-1])

    def __call__(self, places: object) -> Floats:
        return np.asarray(self.points)[self.numbers(places)]


def _read_rectangle(data: Data) -> Rectangle:
    area = read_domain(data)
    if not isinstance(area, Rectangle):
        raise MalformedReport(f"area must be a rectangle, not {type(area).__name__}")
    return area


_RECTANGLE: Final = Codec(Rectangle.device, _read_rectangle)


@dataclass(frozen=True)
class Snapped(PostProcessing):
    """Locations moved to the centre of their cell of a grid (the nearest centre)."""

    area: Rectangle
    columns: int
    rows: int

    kind: ClassVar[str] = "Snapped"
    fields = Fields(area=_RECTANGLE, columns=WHOLE, rows=WHOLE)

    def __post_init__(self) -> None:
        if not isinstance(self.area, Rectangle):
            raise InvalidParameter(f"area must be a Rectangle, not {type(self.area).__name__}")
        for count in (self.columns, self.rows):
            if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= 1 << 16:
                raise InvalidParameter(
                    f"columns and rows must be integers from 1 to 2^16, not {found(count)}"
                )

    def numbers(self, places: object) -> Integers:
        """Return the index of each place's cell, counted column by column."""
        steps = self._steps(_pairs(places))
        return np.asarray(steps[..., 0] * self.rows + steps[..., 1])

    def _steps(self, locations: Floats) -> Integers:
        low = np.array([self.area.x.low, self.area.y.low])
        steps = np.floor((locations - low) / self._cell)
        return np.asarray(np.clip(steps, 0, np.array([self.columns, self.rows]) - 1).astype(np.int64))

    @property
    def _cell(self) -> Floats:
        return np.array([self.area.x.length / self.columns, self.area.y.length / self.rows])

    def __call__(self, places: object) -> Floats:
        low = np.array([self.area.x.low, self.area.y.low])
        return np.asarray(low + (self._steps(_pairs(places)) + 0.5) * self._cell)


@dataclass(frozen=True)
class Moved(PostProcessing):
    """Locations moved by a table with a location for each node of a grid with the area's corners.

    The table is interpolated between the nodes. `design.read("median")` makes one.
    """

    area: Rectangle
    table: tuple[tuple[tuple[float, float], ...], ...] = field(repr=False)

    kind: ClassVar[str] = "Moved"
    fields = Fields(area=_RECTANGLE, table=list_of(list_of(PAIR)))

    def __post_init__(self) -> None:
        nodes = np.asarray(self.table, dtype=np.float64)
        if nodes.ndim != 3 or nodes.shape[2] != 2 or min(nodes.shape) < 2 or not np.isfinite(nodes).all():
            raise InvalidParameter(
                "expected a table of places with two or more columns and rows of pairs of numbers"
            )

    @cached_property
    def _nodes(self) -> Floats:
        return np.asarray(self.table, dtype=np.float64)

    def __call__(self, places: object) -> Floats:
        pairs = self.area.clip(_pairs(places))
        last = np.array(self._nodes.shape[:2]) - 1
        unit = (pairs - [self.area.x.low, self.area.y.low]) / [self.area.x.length, self.area.y.length]
        at = np.minimum((unit * last).astype(np.int64), last - 1)
        (x, y), (p, q) = np.moveaxis(at, -1, 0), np.moveaxis(unit * last - at, -1, 0)[..., None]
        low = self._nodes[x, y] * (1 - p) + self._nodes[x + 1, y] * p
        high = self._nodes[x, y + 1] * (1 - p) + self._nodes[x + 1, y + 1] * p
        return np.asarray(low * (1 - q) + high * q)


@dataclass(frozen=True, init=False)
class Projected(PostProcessing):
    """Places outside a public shape moved to the nearest place in it.

    The shape is a shapely geometry, a GeoJSON geometry, or the corners of a polygon. It may have several
    polygons, and these may have holes.
    """

    shape: str = field(repr=False)  # well-known text (WKT), the same for equal shapes

    kind: ClassVar[str] = "Projected"
    fields = Fields(shape=ANY)

    def __init__(self, shape: object) -> None:
        shapely = _extra("shapely", "moving places into a polygon")
        try:
            geometry = _geometry(shapely, shape)
        except InvalidParameter:
            raise
        except Exception:
            raise InvalidParameter(
                "shape must be a polygon, its GeoJSON, or the list of its corners"
            ) from None
        if (
            geometry.is_empty
            or geometry.geom_type not in ("Polygon", "MultiPolygon")
            or not geometry.is_valid
        ):
            raise InvalidParameter(
                "shape must be one or several polygons whose borders do not cross themselves"
            )
        object.__setattr__(self, "shape", shapely.to_wkt(geometry, rounding_precision=-1))

    @cached_property
    def geometry(self) -> Any:
        """The shape as a shapely geometry."""
        shapely = _extra("shapely", "moving places into a polygon")
        geometry = shapely.from_wkt(self.shape)
        shapely.prepare(geometry)
        return geometry

    def __call__(self, places: object) -> Floats:
        shapely = _extra("shapely", "moving places into a polygon")
        pairs = _pairs(places)
        flat = pairs.reshape(-1, 2).copy()
        outside = ~shapely.covers(self.geometry, shapely.points(flat))
        ways = shapely.shortest_line(shapely.points(flat[outside]), self.geometry)
        flat[outside] = shapely.get_coordinates(ways).reshape(-1, 2, 2)[:, 1]
        return flat.reshape(pairs.shape)


def _geometry(shapely: Any, shape: object) -> Any:
    if isinstance(shape, str):
        return shapely.from_wkt(shape)
    if isinstance(shape, dict):
        return shapely.geometry.shape(shape.get("geometry", shape))
    if hasattr(shape, "geom_type"):
        return shape
    return shapely.Polygon(np.asarray(shape, dtype=np.float64))


def _pairs(locations: object) -> Floats:
    array = numbers(locations)
    if array.ndim == 0 or array.shape[-1] != 2:
        raise OutsideDomain("places must be an array whose last axis has length 2")
    if not np.isfinite(array).all():
        raise OutsideDomain("expected places as pairs of finite numbers, got one that is not")
    return array.astype(np.float64, copy=False)


def _along_a_curve(locations: Floats) -> Integers:
    """Return an order in which successive places are close together: along the columns of a coarse grid."""
    if len(locations) < _BLOCK:
        return np.arange(len(locations))
    low, high = locations.min(axis=0), locations.max(axis=0)
    steps = ((locations - low) / np.maximum(high - low, 1e-300) * 255.0).astype(np.uint16)
    key = steps[:, 0] << np.uint16(8) | np.where(steps[:, 0] & 1, 255 - steps[:, 1], steps[:, 1])
    return np.argsort(key, kind="stable")


def _extra(module: str, what: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra(what, "geo") from None


def read_processing(kind: str, data: Mapping[str, Any]) -> PostProcessing:
    """Return the post-processing that `plain` wrote; raise MalformedReport if its kind is unknown."""
    if kind not in _KINDS:
        raise MalformedReport(f"expected a post-processing among {', '.join(_KINDS)}, got {found(kind)}")
    return _KINDS[kind](**_KINDS[kind].fields.read(data))
