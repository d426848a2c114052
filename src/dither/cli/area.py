"""The public area of trips: given in degrees on the command line, projected to metres."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from dither.errors import InvalidParameter

if TYPE_CHECKING:
    from dither.core.domains import Region
    from dither.core.post_processing import PostProcessing
    from dither.estimation.maps import Map
    from dither.mechanisms.optimal.routes import AmongRoutes
    from dither.mechanisms.places.base import PathMechanism, PathUnit


INNER: Final = ("ogpm", "sw", "sw-redesigned")
TYPICAL: Final = 10  # locations of a trip that "best" assumes
KINDS: Final = (
    "tracs-c",
    "tracs-d",
    "tracs-d-fixed",
    "planar-laplace",
    "planar-staircase",
    "gridding",
    "strawman",
)


def inside(name: str) -> Any:
    """Return the mechanism inside TraCS with this name, one of INNER."""
    from dither.mechanisms.numeric.ogpm import OGPM
    from dither.mechanisms.numeric.sw import SW

    return {"ogpm": OGPM, "sw": SW, "sw-redesigned": partial(SW, redesign=True)}[name]


def of_kind(name: str) -> Callable[..., PathMechanism[Any]]:
    """Return the mechanism on locations with this name, one of KINDS."""
    from dither.mechanisms.places.noise import PlanarLaplace, PlanarStaircase
    from dither.mechanisms.places.rivals import Gridding, Strawman
    from dither.mechanisms.places.tracs import TraCSC, TraCSD

    kinds: dict[str, Callable[..., PathMechanism[Any]]] = {
        "tracs-c": TraCSC,
        "tracs-d": TraCSD,
        "tracs-d-fixed": partial(TraCSD, reference="fixed"),
        "planar-laplace": PlanarLaplace,
        "planar-staircase": PlanarStaircase,
        "gridding": Gridding,
        "strawman": Strawman,
    }
    return kinds[name]


@dataclass(frozen=True)
class Area:
    """A public part of the earth: its projection to metres, its shape there, and how reports are decoded."""

    projection: Map
    region: Region
    reading: PostProcessing | None = None

    def mechanism(self, kind: str, epsilon: float, unit: PathUnit, inner: str | None) -> PathMechanism[Any]:
        """Return a mechanism on the area; "best" chooses the more accurate of TraCS-C and TraCS-D.

        `inner` names the mechanism inside TraCS, by default OGPM. Other kinds accept only None.
        """
        from dither.mechanisms.places.planning import ranked
        from dither.mechanisms.places.tracs import TraCSC

        more: dict[str, Any] = {"epsilon": epsilon, "unit": unit, "reading": self.reading}
        if kind == "best":
            share = {**more, "epsilon": min(epsilon, 8.0), "unit": "location"}
            # Only reports of TraCS-C give maps of any size, so a fixed reference must be requested.
            choices = [choice.mechanism for choice in ranked(self.region, length=TYPICAL, **share)]
            best = next(made for made in choices if getattr(made, "reference", None) != "fixed")
            kind = "tracs-c" if isinstance(best, TraCSC) else "tracs-d"
        if kind == "tracs-c":
            more["inner"] = inside(inner or "ogpm")
        elif kind in ("tracs-d", "tracs-d-fixed"):
            more |= {"direction": inside(inner or "ogpm"), "distance": inside(inner or "ogpm")}
        elif inner is not None:
            raise click.UsageError(
                f"expected --inner only with tracs-c and tracs-d, got {kind}; leave --inner out"
            )
        return of_kind(kind)(self.region, **more)

    def of_routes(
        self, public: Path, source: str | None, epsilon: float, points: int, *, clip: bool
    ) -> AmongRoutes:
        """Return the mechanism on complete paths in the area, with the public paths of a file."""
        from dither.core.domains import Routes
        from dither.data import Trips
        from dither.mechanisms.optimal.routes import AmongRoutes

        if self.reading is not None or not source:
            raise click.UsageError(
                "expected --routes with --source, the public source of the trips, and --box or --disk; "
                "give them"
            )
        paths = Trips.read(public).paths
        locations = self.projection.to_plane(paths.points)
        inside = paths.like(self.region.clip(locations) if clip else locations)
        return AmongRoutes(Routes(self.region, points=points), epsilon=epsilon, prior=(inside, source))  # type: ignore[arg-type]


def area_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options --box, --disk, --polygon and --crs, and pass their area as `area`."""

    @click.option("--box", nargs=4, type=float, metavar="W S E N", help="A box, in degrees.")
    @click.option("--disk", nargs=3, type=float, metavar="LON LAT METRES", help="A centre and a radius.")
    @click.option(
        "--polygon",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="A GeoJSON file with a polygon; decoded locations are moved into it (extra: geo).",
    )
    @click.option(
        "--crs", metavar="NAME", help="A coordinate system in metres, such as EPSG:32654 (extra: geo)."
    )
    @wraps(command)
    def with_area(
        *args: object,
        box: tuple[float, float, float, float] | None,
        disk: tuple[float, float, float] | None,
        polygon: Path | None,
        crs: str | None,
        **kwargs: object,
    ) -> None:
        given = [region for region in (box, disk, polygon) if region is not None]
        if len(given) != 1:
            raise click.UsageError(
                "expected one public area; give --box W S E N, --disk LON LAT METRES or --polygon FILE, "
                "not taken from the data"
            )
        if disk is not None:
            area = _about(*disk, crs)
        else:
            parts = [] if polygon is None else _polygon(polygon)
            area = _within(box or _bounds(parts), crs, parts)
        command(*args, area=area, **kwargs)

    return with_area


def _about(longitude: float, latitude: float, radius: float, crs: str | None) -> Area:
    from dither.core.domains import Disk
    from dither.estimation.maps import LocalMap, ReferenceMap

    projection: Map = LocalMap(longitude, latitude) if crs is None else ReferenceMap(crs)
    x, y = projection.to_plane((longitude, latitude)).tolist()
    return Area(projection, Disk(radius, (x, y)))


def _within(bounds: tuple[float, float, float, float], crs: str | None, parts: list[Any]) -> Area:
    from dither.core.domains import Interval, Rectangle
    from dither.core.post_processing import Projected
    from dither.estimation.maps import LocalMap, ReferenceMap

    west, south, east, north = bounds
    if not (-180.0 <= west < east <= 180.0 and -90.0 < south < north < 90.0):
        raise click.UsageError(
            "expected an area in degrees, WEST below EAST within −180 to 180 and SOUTH below NORTH within "
            f"−90 to 90, got {' '.join(f'{degrees:g}' for degrees in bounds)}; divide an area that crosses "
            "the 180th meridian"
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
    raise InvalidParameter(f"{file.name}: expected a GeoJSON file with a polygon; choose another file")


def _bounds(parts: list[Any]) -> tuple[float, float, float, float]:
    corners = [corner for part in parts for ring in part for corner in ring]
    x, y = [corner[0] for corner in corners], [corner[1] for corner in corners]
    return min(x), min(y), max(x), max(y)
