"""The options that name the public area of trips, in degrees, and the mechanism on it, in metres."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import Any, Final

import click

from dither.domains import Disk, Interval, Rectangle, Region
from dither.errors import InvalidParameter
from dither.maps import LocalMap, Map, ReferenceMap, ranked
from dither.mechanisms.combined.post_processing import Projected, Reading
from dither.mechanisms.numeric.ogpm import OGPM
from dither.mechanisms.numeric.sw import SW
from dither.mechanisms.places.gridding import Gridding
from dither.mechanisms.places.path import PathMechanism
from dither.mechanisms.places.planar_laplace import PlanarLaplace
from dither.mechanisms.places.strawman import Strawman
from dither.mechanisms.places.tracs_c import TraCSC
from dither.mechanisms.places.tracs_d import TraCSD
from dither.privacy import Unit

INNER: Final[dict[str, Any]] = {"ogpm": OGPM, "sw": SW, "sw-redesigned": partial(SW, redesign=True)}
KINDS: Final[dict[str, Callable[..., PathMechanism]]] = {
    "tracs-c": TraCSC,
    "tracs-d": TraCSD,
    "planar-laplace": PlanarLaplace,
    "gridding": Gridding,
    "strawman": Strawman,
}


@dataclass(frozen=True)
class Area:
    """A public area: its projection to metres, its shape there, and the post-processing of reports."""

    onto: Map
    region: Region
    reading: Reading | None = None

    def mechanism(self, kind: str, epsilon: float, unit: Unit, inner: str) -> PathMechanism:
        """Return a mechanism on the area; for `best` the more accurate of TraCS-C and TraCS-D."""
        more: dict[str, Any] = {"epsilon": epsilon, "unit": unit, "reading": self.reading}
        if kind == "best":
            share = {**more, "epsilon": min(epsilon, 8.0), "unit": Unit.LOCATION}
            kind = "tracs-c" if isinstance(ranked(self.region, **share)[0].mechanism, TraCSC) else "tracs-d"
        if kind == "tracs-c":
            more["inner"] = INNER[inner]
        if kind == "tracs-d":
            more |= {"direction": INNER[inner], "distance": INNER[inner]}
        return KINDS[kind](self.region, **more)


def area_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options --box, --disk, --polygon and --crs, and pass their area as `area`."""

    @click.option("--box", nargs=4, type=float, metavar="W S E N", help="A box, in degrees.")
    @click.option("--disk", nargs=3, type=float, metavar="LON LAT METRES", help="A centre and a radius.")
    @click.option(
        "--polygon",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="A GeoJSON file with a polygon: reports are moved into it (extra: geo).",
    )
    @click.option("--crs", metavar="NAME", help="Metres of this system, as EPSG:32654 (extra: geo).")
    @wraps(command)
    def with_area(
        *args: Any,
        box: tuple[float, float, float, float] | None,
        disk: tuple[float, float, float] | None,
        polygon: Path | None,
        crs: str | None,
        **kwargs: Any,
    ) -> None:
        given = [one for one in (box, disk, polygon) if one is not None]
        if len(given) != 1:
            raise click.UsageError(
                "give the public area: --box W S E N, --disk LON LAT METRES or --polygon FILE; "
                "do not take it from the data"
            )
        if disk is not None:
            area = _about(*disk, crs)
        else:
            parts = [] if polygon is None else _polygon(polygon)
            area = _within(box or _bounds(parts), crs, parts)
        command(*args, area=area, **kwargs)

    return with_area


def _about(longitude: float, latitude: float, radius: float, crs: str | None) -> Area:
    onto: Map = LocalMap(longitude, latitude) if crs is None else ReferenceMap(crs)
    x, y = onto.to_plane((longitude, latitude)).tolist()
    return Area(onto, Disk(radius, (x, y)))


def _within(bounds: tuple[float, float, float, float], crs: str | None, parts: list[Any]) -> Area:
    west, south, east, north = bounds
    if not (-180.0 <= west < east <= 180.0 and -90.0 < south < north < 90.0):
        raise click.UsageError(
            "an area is given in degrees: WEST below EAST, within −180 to 180, and SOUTH below NORTH, within "
            "−90 to 90; it does not cross the 180th meridian"
        )
    box = Rectangle(Interval(west, east), Interval(south, north))
    onto: Map = LocalMap.of(box) if crs is None else ReferenceMap(crs)
    region = onto.rectangle(box)
    if not parts:
        return Area(onto, region)
    moved = [[onto.to_plane(ring).tolist() for ring in part] for part in parts]
    return Area(onto, region, Projected({"type": "MultiPolygon", "coordinates": moved}))


def _polygon(file: Path) -> list[Any]:
    """Return the parts of the first polygon of a GeoJSON file."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        found = data["features"][0] if data["type"] == "FeatureCollection" else data
        geometry = found.get("geometry", found)
        if geometry["type"] in ("Polygon", "MultiPolygon"):
            parts = geometry["coordinates"]
            return list(parts) if geometry["type"] == "MultiPolygon" else [parts]
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        pass
    raise InvalidParameter(f"{file.name}: a GeoJSON file with a polygon was expected")


def _bounds(parts: list[Any]) -> tuple[float, float, float, float]:
    corners = [corner for part in parts for ring in part for corner in ring]
    x, y = [corner[0] for corner in corners], [corner[1] for corner in corners]
    return min(x), min(y), max(x), max(y)


def to_text(area: Area) -> dict[str, Any]:
    """Return the projection of an area as JSON, for the specification."""
    match area.onto:
        case LocalMap(longitude, latitude):
            return {"local": [longitude, latitude]}
        case ReferenceMap(name):
            return {"crs": name}
    raise InvalidParameter("this map cannot travel")


def from_text(given: Any) -> Map:
    """Return the projection that `to_text` wrote."""
    if isinstance(given, dict) and "local" in given:
        return LocalMap(*given["local"])
    return ReferenceMap(given["crs"])
