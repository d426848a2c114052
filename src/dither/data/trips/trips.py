"""Trips: named paths with optional times of their locations, and their files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from dither.core.domains import Paths, Plane, first_misfit
from dither.data.formats.format import Progress, ignore_progress, trip_format
from dither.errors import InvalidParameter, OutsideDomain
from dither.foundation.atomic import rename_after

if TYPE_CHECKING:
    from dither.estimation.maps.projection import Map


_NAMES: Final = {
    "id": ("id", "trip", "trip_id", "user", "user_id", "traj", "trajectory", "track", "name"),
    "time": ("time", "timestamp", "datetime", "date"),
    "latitude": ("lat", "latitude", "y"),
    "longitude": ("lon", "lng", "long", "longitude", "x"),
}


class Trip(NamedTuple):
    """One trip: its name, its longitudes and latitudes, and for each place its time, report and row."""

    name: str
    places: Sequence[tuple[float, float]]
    times: Sequence[str] | None = None
    reports: Sequence[str] | None = None
    rows: Sequence[int] | None = None


@dataclass(frozen=True, eq=False)
class Trips:
    """Paths of longitudes and latitudes, the name of each path, and the times of all places (or of none).

    Times and names are public: no mechanism protects them. Trips that were read from a file of reports also
    have the `reports`, one text for each place, and the `specification`; `TripReports.decode` reads them.
    `file` and `rows` are the source of each place, for errors.
    """

    paths: Paths
    names: tuple[str, ...]
    times: tuple[str, ...] | None = None
    reports: tuple[str, ...] | None = None
    specification: str | None = None
    rows: tuple[int, ...] | None = None
    file: str | None = None

    def __post_init__(self) -> None:
        if len(self.names) != len(self.paths):
            raise InvalidParameter("expected one name for every path; pass a name for each")
        for what, given in (("time", self.times), ("report", self.reports), ("row", self.rows)):
            if given is not None and len(given) != len(self.paths.points):
                raise InvalidParameter(
                    f"expected a {what} for every location, or for none; pass one for each"
                )

    @staticmethod
    def of(trips: Sequence[Trip], specification: str | None = None) -> Trips:
        """Return many trips as one object. Times (reports, rows) are kept if all trips have them."""
        locations = Paths.of([list(trip.places) for trip in trips])
        found = Trips(locations, tuple(trip.name for trip in trips), specification=specification)
        if trips and all(trip.times is not None for trip in trips):
            found = replace(found, times=tuple(time for trip in trips for time in trip.times or ()))
        if trips and all(trip.reports is not None for trip in trips):
            found = replace(found, reports=tuple(report for trip in trips for report in trip.reports or ()))
        if trips and all(trip.rows is not None for trip in trips):
            found = replace(found, rows=tuple(row for trip in trips for row in trip.rows or ()))
        return found

    @staticmethod
    def read(file: str | Path, *, progress: Progress | None = None) -> Trips:
        """Return the trips of a file: GPX, GeoJSON or CSV, and with the extra `geo` GeoPackage or GeoParquet.

        `progress` is called with the number of places read since the last call.
        """
        path = Path(file)
        reader = trip_format(path)
        if not path.is_file():
            raise InvalidParameter(f"cannot find the file {path}; check its name")
        return replace(reader.read(path, progress or ignore_progress), file=path.name)

    def write(self, file: str | Path) -> None:
        """Write the trips to a file in the format of its ending; the file appears when it is complete."""
        path = Path(file)
        writer = trip_format(path)
        with rename_after(path) as part:
            writer.write(part, self)

    @staticmethod
    def from_frame(frame: object) -> Trips:
        """Return the trips of a GeoDataFrame: lines are trips; points are gathered by an id, ordered by time.

        A projected frame is converted to longitudes and latitudes. A frame without a projection is assumed to
        be in degrees.
        """
        from dither.data.trips.geopandas import trips_from_frame

        return trips_from_frame(frame)

    def to_frame(self) -> Any:
        """Return a GeoDataFrame with a line for each trip (a point for a trip of one place)."""
        from dither.data.trips.geopandas import trips_to_frame

        return trips_to_frame(self)

    def check(self, area: Plane, projection: Map | None = None) -> None:
        """Raise OutsideDomain if a place is outside an area; the error names the row or trip of the first.

        With a projection, the area is in its metres; without one, in degrees.
        """

        def fits(begin: int, end: int) -> bool:
            points = self.paths.points[begin:end]
            try:
                area.check(points if projection is None else projection.to_plane(points))
            except OutsideDomain:
                return False
            return True

        total = len(self.paths.points)
        if not fits(0, total):
            raise OutsideDomain(f"{self.where(first_misfit(fits, total))}: the location is outside the area")

    def where(self, index: int) -> str:
        """Return the source of a location for an error: its row, or its trip."""
        trip = int(np.searchsorted(self.paths.offsets, index, side="right")) - 1
        location = f"trip {trip + 1}, place {index - int(self.paths.offsets[trip]) + 1}"
        if self.rows is not None:
            location = f"row {self.rows[index]}"
        return location if self.file is None else f"{self.file}, {location}"

    def __len__(self) -> int:
        return len(self.paths)

    def __repr__(self) -> str:
        return f"Trips({len(self)} with {len(self.paths.points)} places)"  # the places are secret


class TripPoint(NamedTuple):
    """One location of a trip, with the trip's name and the other known facts about the location."""

    trip: str
    time: str
    longitude: float
    latitude: float
    report: str = ""
    row: int = 0


def column_of(kind: str, heading: Iterable[str]) -> str:
    """Return the column for "id", "time", "latitude" or "longitude" by its usual names, or "" without one."""
    known = {str(name).strip().lower(): name for name in heading}
    return next((known[name] for name in _NAMES[kind] if name in known), "")


def usual_name(kind: str) -> str:
    """Return the usual name of a column, the first name that is searched."""
    return _NAMES[kind][0]


def gather_trips(found: Iterable[Trip | TripPoint], *, in_order: bool) -> list[Trip]:
    """Return points as trips, by name, in the order of first appearance; trips among them are unchanged.

    The points of a trip are ordered by time if all have one. With `in_order` they are not: reports are
    decoded in the order in which they were written.
    """
    trips: list[Trip | list[TripPoint]] = []
    by_name: dict[str, list[TripPoint]] = {}
    for part in found:
        if isinstance(part, Trip):
            trips.append(part)
            continue
        if part.trip not in by_name:
            by_name[part.trip] = []
            trips.append(by_name[part.trip])
        by_name[part.trip].append(part)
    return [trip if isinstance(trip, Trip) else _join_points(trip, in_order) for trip in trips]


def _join_points(points: list[TripPoint], in_order: bool) -> Trip:
    timed = all(point.time for point in points)
    if timed and not in_order:
        points = sorted(points, key=lambda point: _moment(point.time))
    return Trip(
        points[0].trip or "trip",
        [(point.longitude, point.latitude) for point in points],
        [point.time for point in points] if timed else None,
        [point.report for point in points] if all(point.report for point in points) else None,
        [point.row for point in points] if all(point.row for point in points) else None,
    )


def _moment(text: str) -> tuple[int, float, str]:
    """Return the sort key of a time: numbers are ordered as numbers, all else (ISO 8601) as text."""
    try:
        return 0, float(text), ""
    except ValueError:
        return 1, 0.0, text
