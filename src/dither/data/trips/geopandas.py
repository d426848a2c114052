"""Geographic data frames of geopandas as trips, and back; files of GeoPackage and GeoParquet (extra `geo`).

The specification is a column with the same text in every row; times and reports are columns of JSON lists.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

from dither.data.formats.format import Progress, TripFormat, name_errors
from dither.data.trips.trips import Trip, TripPoint, Trips, column_of, gather_trips
from dither.errors import InvalidParameter, MissingExtra


def geopandas() -> Any:
    """Return the module geopandas; raise MissingExtra if it is not installed."""
    return _extra("geopandas")


def read_frame(path: Path, reader: Callable[[Path], Any]) -> Any:
    """Return the frame in a file; raise InvalidParameter if it holds none."""
    try:
        return reader(path)
    except ImportError:
        raise MissingExtra("files of geometries", "geo") from None
    except Exception:  # pyogrio, pyarrow and geopandas have no error in common
        raise InvalidParameter("expected a file of geometries; choose another file") from None


def trips_from_frame(frame: Any) -> Trips:
    """Return the trips of a GeoDataFrame: lines are trips; points are gathered by an id, ordered by time.

    A projected frame is converted to longitudes and latitudes. A frame without a projection is assumed to be
    in degrees.
    """
    geometry = getattr(frame, "geometry", None)
    if geometry is None:
        raise InvalidParameter(
            f"expected a GeoDataFrame with a geometry column, got {type(frame).__name__}; convert it"
        )
    if getattr(frame, "crs", None) is not None and not frame.crs.is_geographic:
        frame = frame.to_crs("EPSG:4326")
        geometry = frame.geometry
    columns = {kind: column_of(kind, frame.columns) for kind in ("id", "time")}
    found: list[Trip | TripPoint] = []
    for number, shape in enumerate(geometry):
        own = {kind: str(frame[name].iloc[number]) if name else "" for kind, name in columns.items()}
        if shape is None or shape.is_empty:
            raise InvalidParameter(
                f"expected a geometry in row {number + 1} of the data frame; leave the row out"
            )
        if shape.geom_type == "LineString":
            locations = [(x, y) for x, y, *_ in shape.coords]
            times, reports = (_texts(frame, name, number, len(locations)) for name in ("times", "reports"))
            found.append(Trip(own["id"] or str(number), locations, times, reports))
        elif shape.geom_type == "Point":
            (report,) = _texts(frame, "reports", number, 1) or [""]
            (time,) = _texts(frame, "times", number, 1) or [own["time"]]
            found.append(TripPoint(own["id"], time, shape.x, shape.y, report))
        else:
            raise InvalidParameter(
                f"expected lines or points, got a {shape.geom_type} in row {number + 1} of the data frame; "
                "leave the row out"
            )
    carried = str(frame["specification"].iloc[0]) if found and "specification" in frame.columns else None
    return Trips.of(gather_trips(found, in_order=carried is not None), carried)


def trips_to_frame(trips: Trips) -> Any:
    """Return a GeoDataFrame with a line for each trip (a point for a trip of one location)."""
    line, point = _extra("shapely").LineString, _extra("shapely").Point
    shapes = [line(locations) if len(locations) > 1 else point(locations[0]) for locations in trips.paths]
    columns: dict[str, list[str]] = {"id": list(trips.names)}
    ends = trips.paths.offsets.tolist()
    for name, column in (("times", trips.times), ("reports", trips.reports)):
        if column is not None:
            columns[name] = [json.dumps(column[begin:end]) for begin, end in pairwise(ends)]
    if trips.specification is not None:
        columns["specification"] = [trips.specification] * len(trips)
    return geopandas().GeoDataFrame(columns, geometry=shapes, crs="EPSG:4326")


def _texts(frame: Any, name: str, number: int, count: int) -> list[str] | None:
    """Return the JSON list in a cell if it has one text for each of `count` locations."""
    try:
        found = json.loads(frame[name].iloc[number])
        return [str(text) for text in found] if len(found) == count else None
    except (KeyError, TypeError, ValueError):
        return None


def _extra(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra("geographic data frames", "geo") from None


class GeoPackage(TripFormat):
    """A GeoPackage with one layer, named `trips`."""

    def read(self, path: Path, progress: Progress) -> Trips:
        with name_errors(path):
            trips = trips_from_frame(read_frame(path, geopandas().read_file))
        progress(len(trips.paths.points))
        return trips

    def write(self, path: Path, trips: Trips) -> None:
        trips_to_frame(trips).to_file(path, driver="GPKG", layer="trips")


class GeoParquet(TripFormat):
    """A Parquet file with a geometry column."""

    def read(self, path: Path, progress: Progress) -> Trips:
        with name_errors(path):
            trips = trips_from_frame(read_frame(path, geopandas().read_parquet))
        progress(len(trips.paths.points))
        return trips

    def write(self, path: Path, trips: Trips) -> None:
        trips_to_frame(trips).to_parquet(path)
