"""CSV: a row for each place, with an id, a time, a latitude and a longitude; data frames of geometries."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

from dither.errors import InvalidParameter, MissingExtra
from dither.paths.trips import Trip, Trips

_NAMES: Final = {
    "id": ("id", "trip", "trip_id", "user", "user_id", "traj", "trajectory", "track", "name"),
    "time": ("time", "timestamp", "datetime", "date"),
    "latitude": ("lat", "latitude", "y"),
    "longitude": ("lon", "lng", "long", "longitude", "x"),
}


class Row(NamedTuple):
    """One place of somebody's."""

    whose: str
    when: str
    longitude: float
    latitude: float


def read(file: Path) -> Trips:
    """Read a CSV file with a heading; rows of one id are a trip, in the order of their times, if any."""
    with file.open(newline="", encoding="utf-8-sig") as stream:
        rows = csv.DictReader(stream)
        columns = _columns(rows.fieldnames or ())
        found = [_row(line, columns, number) for number, line in enumerate(rows, 2)]
    if not found:
        raise InvalidParameter("this CSV file holds no places")
    return Trips.of(assembled(found))


def write(trips: Trips, file: Path) -> None:
    """Write a row for each place."""
    with file.open("w", newline="", encoding="utf-8") as stream:
        out = csv.writer(stream)
        timed = trips.times is not None
        out.writerow(["id", *(["time"] if timed else []), "lat", "lon"])
        step = 0
        for name, places in zip(trips.names, trips.paths, strict=True):
            for longitude, latitude in places.tolist():
                time = [trips.times[step]] if trips.times is not None else []
                out.writerow([name, *time, f"{latitude:.7f}", f"{longitude:.7f}"])
                step += 1


def assembled(found: Iterable[Trip | Row]) -> list[Trip]:
    """Gather rows by whose they are, at their first appearance; within each by time, if all have one."""
    trips: dict[object, Trip | list[Row]] = {}
    for number, one in enumerate(found):
        if isinstance(one, Trip):
            trips[number] = one
        else:
            own = trips.setdefault(one.whose, [])
            assert isinstance(own, list)
            own.append(one)
    return [one if isinstance(one, Trip) else _trip(one) for one in trips.values()]


def _trip(rows: list[Row]) -> Trip:
    timed = all(row.when for row in rows)
    ordered = sorted(rows, key=lambda row: _moment(row.when)) if timed else rows
    places = [(row.longitude, row.latitude) for row in ordered]
    return Trip(rows[0].whose or "trip", places, [row.when for row in ordered] if timed else None)


def from_frame(frame: Any) -> Trips:
    """Read a GeoDataFrame: lines are trips; points are gathered by an id column and ordered by a time."""
    geometry = getattr(frame, "geometry", None)
    if geometry is None:
        raise InvalidParameter("a GeoDataFrame with a geometry column was expected")
    if getattr(frame, "crs", None) is not None and not frame.crs.is_geographic:
        frame = frame.to_crs("EPSG:4326")
        geometry = frame.geometry
    columns = {kind: _named(kind, frame.columns) for kind in ("id", "time")}
    found: list[Trip | Row] = []
    for number, shape in enumerate(geometry):
        own = {kind: str(frame[name].iloc[number]) if name else "" for kind, name in columns.items()}
        if shape is None or shape.is_empty:
            raise InvalidParameter("a row of the data frame has no geometry; leave it out")
        if shape.geom_type == "LineString":
            found.append(Trip(own["id"] or str(number), [(x, y) for x, y, *_ in shape.coords]))
        elif shape.geom_type == "Point":
            found.append(Row(own["id"], own["time"], shape.x, shape.y))
        else:
            raise InvalidParameter("geometries are lines or points")
    return Trips.of(assembled(found))


def to_frame(trips: Trips) -> Any:
    """Write a GeoDataFrame with a line for each trip (a point for a trip of one place)."""
    try:
        geopandas, shapely = import_module("geopandas"), import_module("shapely")
    except ImportError:
        raise MissingExtra("geographic data frames", "geo") from None
    line, point = shapely.LineString, shapely.Point
    shapes = [line(places) if len(places) > 1 else point(places[0]) for places in trips.paths]
    return geopandas.GeoDataFrame({"id": list(trips.names)}, geometry=shapes, crs="EPSG:4326")


def _columns(heading: Iterable[str]) -> dict[str, str]:
    names = {kind: _named(kind, heading) for kind in _NAMES}
    missing = [kind for kind in ("latitude", "longitude") if not names[kind]]
    if missing:
        raise InvalidParameter(f"there is no column for the {missing[0]}; call it {_NAMES[missing[0]][0]!r}")
    return names


def _named(kind: str, heading: Iterable[str]) -> str:
    known = {str(name).strip().lower(): name for name in heading}
    return next((known[name] for name in _NAMES[kind] if name in known), "")


def _row(line: dict[str, str], columns: dict[str, str], number: int) -> Row:
    try:
        place = float(line[columns["longitude"]]), float(line[columns["latitude"]])
    except (TypeError, ValueError):
        raise InvalidParameter(f"line {number} has no numeric latitude and longitude") from None
    whose, when = ((line[name] or "").strip() if name else "" for name in (columns["id"], columns["time"]))
    return Row(whose, when, *place)


def _moment(text: str) -> tuple[int, float, str]:
    """Give what times are ordered by: numbers as numbers, all else (ISO 8601) as text."""
    try:
        return 0, float(text), ""
    except ValueError:
        return 1, 0.0, text
