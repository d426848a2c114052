"""Geographic data frames, and the files that hold them: GeoPackage and GeoParquet (extra `geo`)."""

from __future__ import annotations

import json
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

from dither.errors import InvalidParameter, MissingExtra
from dither.files.trips.csv import Row, assembled, named
from dither.files.trips.trips import Progress, Trip, Trips


def read(file: Path, progress: Progress | None = None) -> Trips:
    """Read a file of geometries, at once: lines are trips, points are gathered by an id."""
    geopandas = _extra("geopandas")
    try:
        frame = geopandas.read_parquet(file) if _parquet(file) else geopandas.read_file(file)
    except ImportError:
        raise MissingExtra("files of geometries", "geo") from None
    except Exception:  # whatever the libraries below raise, it is about the file
        raise InvalidParameter("this is not a file of geometries") from None
    return from_frame(frame)


def write(trips: Trips, file: Path) -> None:
    """Write a file of geometries."""
    frame = to_frame(trips)
    if _parquet(file):
        frame.to_parquet(file)
    else:
        frame.to_file(file, driver="GPKG", layer="trips")


def from_frame(frame: Any) -> Trips:
    """Read a GeoDataFrame: lines are trips; points are gathered by an id column and ordered by a time."""
    geometry = getattr(frame, "geometry", None)
    if geometry is None:
        raise InvalidParameter("a GeoDataFrame with a geometry column was expected")
    if getattr(frame, "crs", None) is not None and not frame.crs.is_geographic:
        frame = frame.to_crs("EPSG:4326")
        geometry = frame.geometry
    columns = {kind: named(kind, frame.columns) for kind in ("id", "time")}
    found: list[Trip | Row] = []
    for number, shape in enumerate(geometry):
        own = {kind: str(frame[name].iloc[number]) if name else "" for kind, name in columns.items()}
        if shape is None or shape.is_empty:
            raise InvalidParameter(f"row {number + 1} of the data frame has no geometry; leave it out")
        if shape.geom_type == "LineString":
            places = [(x, y) for x, y, *_ in shape.coords]
            times, told = (_each(frame, name, number, len(places)) for name in ("times", "reports"))
            found.append(Trip(own["id"] or str(number), places, times, told))
        elif shape.geom_type == "Point":
            (report,) = _each(frame, "reports", number, 1) or [""]
            (when,) = _each(frame, "times", number, 1) or [own["time"]]
            found.append(Row(own["id"], when, shape.x, shape.y, report))
        else:
            raise InvalidParameter("geometries are lines or points")
    specification = str(frame["specification"].iloc[0]) if "specification" in frame.columns else ""
    return Trips.of(assembled(found), specification)


def to_frame(trips: Trips) -> Any:
    """Write a GeoDataFrame with a line for each trip (a point for a trip of one place)."""
    geopandas, shapely = _extra("geopandas"), _extra("shapely")
    line, point = shapely.LineString, shapely.Point
    shapes = [line(places) if len(places) > 1 else point(places[0]) for places in trips.paths]
    columns: dict[str, list[str]] = {"id": list(trips.names)}
    ends = trips.paths.offsets.tolist()
    for name, column in (("times", trips.times), ("reports", trips.reports)):
        if column is not None:
            columns[name] = [json.dumps(column[a:b]) for a, b in pairwise(ends)]
    if trips.specification:
        columns["specification"] = [trips.specification] * len(trips)
    return geopandas.GeoDataFrame(columns, geometry=shapes, crs="EPSG:4326")


def _each(frame: Any, name: str, number: int, count: int) -> list[str] | None:
    """Give what a row says of each of its places, if it does: a list as JSON."""
    try:
        found = json.loads(frame[name].iloc[number])
        return [str(one) for one in found] if len(found) == count else None
    except (KeyError, TypeError, ValueError):
        return None


def _parquet(file: Path) -> bool:
    return file.suffix.lower() == ".parquet"


def _extra(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra("geographic data frames", "geo") from None
