"""The public area of trips: given in degrees on the command line, projected to metres."""

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
from dither.mechanisms.numeric.ogpm import OGPM
from dither.mechanisms.numeric.sw import SW
from dither.mechanisms.places.gridding import Gridding
from dither.mechanisms.places.noise.planar_laplace import PlanarLaplace
from dither.mechanisms.places.noise.planar_staircase import PlanarStaircase
from dither.mechanisms.places.path import PathMechanism
from dither.mechanisms.places.strawman import Strawman
from dither.mechanisms.places.tracs_c import TraCSC
from dither.mechanisms.places.tracs_d import TraCSD
from dither.post_processing import PostProcessing, Projected
from dither.privacy import Unit

INNER: Final[dict[str, Any]] = {"ogpm": OGPM, "sw": SW, "sw-redesigned": partial(SW, redesign=True)}
KINDS: Final[dict[str, Callable[..., PathMechanism[Any]]]] = {
    "tracs-c": TraCSC,
    "tracs-d": TraCSD,
    "planar-laplace": PlanarLaplace,
    "planar-staircase": PlanarStaircase,
    "gridding": Gridding,
    "strawman": Strawman,
}


@dataclass(frozen=True)
class Area:
    """A public part of the earth: its projection to metres, its shape there, and how reports are decoded."""

    projection: Map
    region: Region
    reading: PostProcessing | None = None

    def mechanism(self, kind: str, epsilon: float, unit: Unit, inner: str | None) -> PathMechanism[Any]:
        """Return a mechanism on the area; "best" is the more accurate of TraCS-C and TraCS-D.

        `inner` names the mechanism inside TraCS, OGPM if it is None; other kinds have none and refuse one.
        """
        more: dict[str, Any] = {"epsilon": epsilon, "unit": unit, "reading": self.reading}
        if kind == "best":
            share = {**more, "epsilon": min(epsilon, 8.0), "unit": Unit.LOCATION}
            kind = "tracs-c" if isinstance(ranked(self.region, **share)[0].mechanism, TraCSC) else "tracs-d"
        if kind == "tracs-c":
            more["inner"] = INNER[inner or "ogpm"]
        elif kind == "tracs-d":
            more |= {"direction": INNER[inner or "ogpm"], "distance": INNER[inner or "ogpm"]}
        elif inner is not None:
            raise click.UsageError(f"--inner is for tracs-c and tracs-d; {kind} has no mechanism inside")
        return KINDS[kind](self.region, **more)


def area_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options --box, --disk, --polygon and --crs, and pass their area as `area`."""

    @click.option("--box", nargs=4, type=float, metavar="W S E N", help="A box, in degrees.")
    @click.option("--disk", nargs=3, type=float, metavar="LON LAT METRES", help="A centre and a radius.")
    @click.option(
        "--polygon",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="A GeoJSON file with a polygon, into which decoded places are moved (extra: geo).",
    )
    @click.option("--crs", metavar="NAME", help="A coordinate system in metres, as EPSG:32654 (extra: geo).")
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
    projection: Map = LocalMap(longitude, latitude) if crs is None else ReferenceMap(crs)
    x, y = projection.to_plane((longitude, latitude)).tolist()
    return Area(projection, Disk(radius, (x, y)))


def _within(bounds: tuple[float, float, float, float], crs: str | None, parts: list[Any]) -> Area:
    west, south, east, north = bounds
    if not (-180.0 <= west < east <= 180.0 and -90.0 < south < north < 90.0):
        raise click.UsageError(
            f"{' '.join(f'{degrees:g}' for degrees in bounds)} is not an area in degrees: WEST is below EAST "
            "within −180 to 180, and SOUTH below NORTH within −90 to 90; an area does not cross the 180th "
            "meridian"
        )
    box = Rectangle(Interval(west, east), Interval(south, north))
    projection: Map = LocalMap.of(box) if crs is None else ReferenceMap(crs)
    region = projection.rectangle(box)
    if not parts:
        return Area(projection, region)
    moved = [[projection.to_plane(ring).tolist() for ring in part] for part in parts]
    return Area(projection, region, Projected({"type": "MultiPolygon", "coordinates": moved}))


def _polygon(file: Path) -> list[Any]:
    """Return the parts of the first polygon in a GeoJSON file."""
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
