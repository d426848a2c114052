"""Trips: paths with a name each and, where they are known, a time at each place; reading and writing them.

Reports of trips: drawn from trips, written to a file, and read back with everything that decodes them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from dither.core.domains import Paths, Plane, Sphere, first_misfit
from dither.core.question import as_question
from dither.core.question.paths import PathQuestion
from dither.core.reports import Reports
from dither.core.wire import from_json, to_json
from dither.data.formats.format import Progress, from_text, ignore_progress, name_errors, to_text, trip_format
from dither.data.streams import Outside
from dither.errors import (
    DitherError,
    InvalidParameter,
    MalformedReport,
    MissingExtra,
    OutsideDomain,
    unknown_name,
)
from dither.estimation.maps.projection import LocalMap, Map, ReferenceMap
from dither.foundation.atomic import rename_after
from dither.foundation.canonical import real
from dither.foundation.randomness import Source

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
    `file` and `rows` say where places were read, for errors.
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
            raise InvalidParameter("every path has one name")
        for what, given in (("time", self.times), ("report", self.reports), ("row", self.rows)):
            if given is not None and len(given) != len(self.paths.points):
                raise InvalidParameter(f"every place has one {what}, or none has")

    @staticmethod
    def of(trips: Sequence[Trip], specification: str | None = None) -> Trips:
        """Return many trips as one object. Times (reports, rows) are kept if all trips have them."""
        places = Paths.of([list(trip.places) for trip in trips])
        found = Trips(places, tuple(trip.name for trip in trips), specification=specification)
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
            raise InvalidParameter(f"there is no file {path}")
        return replace(reader.read(path, progress or ignore_progress), file=path.name)

    def write(self, file: str | Path) -> None:
        """Write the trips to a file in the format of its ending; the file appears when it is complete."""
        path = Path(file)
        writer = trip_format(path)
        with rename_after(path) as part:
            writer.write(part, self)

    @staticmethod
    def from_frame(frame: Any) -> Trips:
        """Return the trips of a GeoDataFrame: lines are trips; points are gathered by an id, ordered by time.

        A projected frame is brought to longitudes and latitudes; one that does not say how it is projected is
        taken to be in degrees.
        """
        from dither.data.trips.geopandas import trips_from_frame

        return trips_from_frame(frame)

    def to_frame(self) -> Any:
        """Return a GeoDataFrame with a line for each trip (a point for a trip of one place)."""
        from dither.data.trips.geopandas import trips_to_frame

        return trips_to_frame(self)

    def check(self, area: Plane, projection: Map | None = None) -> None:
        """Raise OutsideDomain if a place is outside an area; the error names the first one by its place.

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
        """Return where a place was read, for an error: by its row, or by its trip."""
        trip = int(np.searchsorted(self.paths.offsets, index, side="right")) - 1
        place = f"trip {trip + 1}, place {index - int(self.paths.offsets[trip]) + 1}"
        if self.rows is not None:
            place = f"row {self.rows[index]}"
        return place if self.file is None else f"{self.file}, {place}"

    def __len__(self) -> int:
        return len(self.paths)

    def __repr__(self) -> str:
        return f"Trips({len(self)} with {len(self.paths.points)} places)"  # the places are secret


class TripPoint(NamedTuple):
    """One place of a trip, with the trip's name and what else is known about the place."""

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
    """Return the usual name of a column, the first that is looked for."""
    return _NAMES[kind][0]


def gather_trips(found: Iterable[Trip | TripPoint], *, in_order: bool) -> list[Trip]:
    """Return points as trips, by name, in the order of first appearance; trips among them stay as they are.

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


BATCH: Final = 1 << 16  # places perturbed between two calls of `progress`
_AUTHORITY_CODE: Final = re.compile(r"[A-Z]{2,10}:[0-9]{1,8}")


@dataclass(frozen=True, eq=False)
class TripReports:
    """Reports of all locations of trips, and the trips as the collector decodes them.

    `reports` can be given to `dt.maps.density` and `dt.maps.flows`. With a `projection` the mechanism works
    in its metres, without one in degrees. `trips` has the decoded longitudes and latitudes, the names, and
    the times if they were kept. Names, times and the number of locations are public.
    """

    reports: Reports
    projection: Map | None
    trips: Trips

    def __post_init__(self) -> None:
        _ = self.question
        if len(self.reports) != len(self.trips.paths.points):
            raise InvalidParameter(
                "the trips and the reports differ in length: every location has one report"
            )

    @staticmethod
    def draw(
        trips: Trips,
        question: Any,
        *,
        projection: Map | None = None,
        outside: Outside = "error",
        keep_times: bool = False,
        source: Source | None = None,
        progress: Progress | None = None,
    ) -> TripReports:
        """Draw the reports of trips.

        Times are left out unless `keep_times` is set: they are copied unchanged. `progress` is called with
        the number of locations perturbed since the last call.
        """
        question = as_question(question)
        if not isinstance(question, PathQuestion):
            raise InvalidParameter(
                f"trips are randomised by a mechanism for paths such as dt.TraCSC, not by {question.name}"
            )
        if outside not in ("error", "clip"):
            raise unknown_name("outside", outside, ("error", "clip"))
        if trips.specification is not None:
            raise InvalidParameter(
                "these trips hold reports, which are random already; further noise would spoil the estimates"
            )
        if keep_times and trips.times is None:
            raise InvalidParameter("the times cannot be kept: not every location has one")
        paths = _move_inside(trips, question, projection, outside)
        reports = _draw_batches(paths, question, source, progress or ignore_progress)
        decoded = reports.values.reshape(-1, 2)
        places = paths.like(decoded if projection is None else projection.to_earth(decoded))
        times = trips.times if keep_times else None
        return TripReports(reports, projection, Trips(places, trips.names, times))

    @staticmethod
    def decode(trips: Trips) -> TripReports:
        """Decode the reports that trips from a file carry; raise MalformedReport if they carry none."""
        file = Path(trips.file or "trips")
        if trips.specification is None or trips.reports is None:
            raise MalformedReport(
                f"{file} carries no reports of trips; `dither trajectory perturb` and "
                "dt.data.perturb_trips write them"
            )
        with name_errors(file):
            question, projection = read_trip_specification(trips.specification)
        raw = from_text(trips.reports, question, trips.where)
        with name_errors(file):
            reports = question.reports(raw)
        unbegun = np.flatnonzero(reports.cells[trips.paths.offsets[:-1], 0] == 0)
        if unbegun.size:  # its locations would be decoded as those of the trip before
            where = trips.where(int(trips.paths.offsets[unbegun[0]]))
            raise MalformedReport(f"{where}: the trip does not begin here; its first reports are missing")
        own = replace(trips, reports=None, specification=None)
        return TripReports(reports, projection, own)

    @staticmethod
    def read(path: str | Path, *, progress: Progress | None = None) -> TripReports:
        """Return the reports in a file of randomised trips, with their question and projection.

        `progress` is called with the number of places read since the last call.
        """
        return TripReports.decode(Trips.read(path, progress=progress))

    @property
    def question(self) -> PathQuestion:
        """The question that drew the reports."""
        question = self.reports.question
        if not isinstance(question, PathQuestion):
            raise InvalidParameter(
                f"the reports are of {question.name}; a mechanism for paths such as dt.TraCSC was expected"
            )
        return question

    def write(self, out: str | Path) -> None:
        """Write a file with the decoded trips, the reports and the specification, for `TripReports.read`."""
        specification = trip_specification(self.question, self.projection)
        texts = tuple(to_text(self.reports))
        replace(self.trips, reports=texts, specification=specification).write(out)

    def __len__(self) -> int:
        return len(self.trips)

    def __repr__(self) -> str:
        name = self.reports.question.name
        return f"TripReports({len(self)} trips with {len(self.trips.paths.points)} locations, by {name})"


def perturb_trips(
    path: str | Path,
    out: str | Path,
    question: Any,
    *,
    projection: Map | None = None,
    outside: Outside = "error",
    keep_times: bool = False,
    source: Source | None = None,
    progress: Progress | None = None,
) -> TripReports:
    """Randomise the trips of one file into another, and return what was written.

    The endings of the files' names determine their formats. The output holds the trips as a collector decodes
    them, the reports and the specification: `TripReports.read` needs nothing else. With a projection, the
    area of the question is in its metres; without one, in degrees. Other options: see `TripReports.draw`.
    """
    trip_format(Path(out))  # an unknown ending is refused before anything is read
    drawn = TripReports.draw(
        Trips.read(path),
        question,
        projection=projection,
        outside=outside,
        keep_times=keep_times,
        source=source,
        progress=progress,
    )
    drawn.write(out)
    return drawn


def _move_inside(trips: Trips, question: PathQuestion, projection: Map | None, outside: Outside) -> Paths:
    """Return the paths in the question's coordinates, all inside its area, or raise OutsideDomain."""
    if outside == "error":
        try:
            trips.check(question.area, projection)
        except OutsideDomain as error:
            raise OutsideDomain(
                f"{error}; choose a larger area, or move such locations to its border "
                "(outside='clip', at the terminal --outside clip)"
            ) from None
    elif projection is not None:
        trips.check(Sphere())  # what is not on the earth cannot be projected
    points = trips.paths.points if projection is None else projection.to_plane(trips.paths.points)
    return trips.paths.like(question.area.clip(points) if outside == "clip" else points)


def _draw_batches(paths: Paths, question: PathQuestion, source: Source | None, progress: Progress) -> Reports:
    """Draw the reports of all locations, in batches of whole paths."""
    offsets, parts = paths.offsets, []
    begin = 0
    while begin < len(paths):
        end = max(begin + 1, int(np.searchsorted(offsets, offsets[begin] + BATCH, side="right")) - 1)
        rows = slice(offsets[begin], offsets[end])
        part = Paths(paths.points[rows], offsets[begin : end + 1] - offsets[begin])
        parts.append(question.perturb(part, source=source).cells)
        progress(int(rows.stop - rows.start))
        begin = end
    return question.reports(np.concatenate(parts) if parts else [])


def trip_specification(question: PathQuestion, projection: Map | None) -> str:
    """Return the specification as JSON text."""
    return json.dumps({"mechanism": json.loads(to_json(question)), "map": _projection_to_plain(projection)})


def read_trip_specification(text: str) -> tuple[PathQuestion, Map | None]:
    """Return the question and the projection; raise MalformedReport if the text is of another kind."""
    try:
        given = json.loads(text)
        question, projection = (
            from_json(json.dumps(given["mechanism"])),
            _projection_from_plain(given["map"]),
        )
    except MissingExtra:
        raise
    except DitherError as error:
        raise MalformedReport(f"the specification of these trips cannot be read: {error}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise MalformedReport("the specification of these trips cannot be read") from None
    if not isinstance(question, PathQuestion):
        raise MalformedReport(f"the specification is of {question.name}, which is not for trips")
    return question, projection


def _projection_to_plain(projection: Map | None) -> dict[str, Any] | None:
    match projection:
        case None:
            return None
        case LocalMap(longitude, latitude):
            return {"local": [longitude, latitude]}
        case ReferenceMap(name):
            return {"crs": _check_code(name, InvalidParameter)}
    raise InvalidParameter(
        f"a {type(projection).__name__} cannot be written to a file; use a LocalMap or a ReferenceMap"
    )


def _projection_from_plain(given: Any) -> Map | None:
    if given is None:
        return None
    if not isinstance(given, dict) or set(given) not in ({"local"}, {"crs"}):
        raise MalformedReport("the map of trips is null, local or a coordinate reference system")
    if "local" in given:
        longitude, latitude = map(real, given["local"])
        return LocalMap(longitude, latitude)
    return ReferenceMap(_check_code(given["crs"], MalformedReport))


def _check_code(name: object, error: type[DitherError]) -> str:
    """Return an authority's code; other texts are programs for PROJ, which may open files and addresses."""
    if not isinstance(name, str) or not _AUTHORITY_CODE.fullmatch(name):
        raise error("a coordinate reference system in a file is an authority's code, such as EPSG:32654")
    return name
