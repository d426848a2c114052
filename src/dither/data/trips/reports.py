"""Reports of trips: drawn from trips, written to a file, and read back with the data for decoding."""

from __future__ import annotations

import datetime
import json
import re
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

from dither.core.domains import Paths, Plane, Sphere
from dither.core.question import Question, as_question
from dither.core.question.paths import PathQuestion
from dither.core.reports import Reports
from dither.core.wire import from_json
from dither.data.dialect import Outside
from dither.data.formats.cells import from_text, to_text
from dither.data.formats.format import Progress, ignore_progress, name_errors, trip_format
from dither.data.trips.trips import Trips
from dither.errors import (
    DitherError,
    InvalidParameter,
    MalformedReport,
    MissingExtra,
    OutsideDomain,
    unknown_name,
)
from dither.estimation.maps.projection import LocalMap, Map, ReferenceMap
from dither.foundation.canonical import real
from dither.foundation.randomness import Source

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
        wanted = len(self.trips) if self.of_routes else len(self.trips.paths.points)
        if len(self.reports) != wanted:
            raise InvalidParameter(
                "expected one report for every location, or for every complete trip of dt.Routes, got "
                "another number; pass the trips of these reports"
            )

    @property
    def of_routes(self) -> bool:
        """Whether there is one report for each complete trip, the number of a public path."""
        return _is_of_routes(self.reports.question)

    @staticmethod
    def draw(
        trips: Trips,
        question: object,
        *,
        projection: Map | None = None,
        outside: Outside = "error",
        keep_times: bool = False,
        source: Source | None = None,
        progress: Progress | None = None,
    ) -> TripReports:
        """Draw the reports of trips.

        A complete trip of `dt.Routes(…, by="order")` whose places have times is resampled to equal steps of
        time first. Times are left out unless `keep_times` is set: they are copied unchanged. `progress` is
        called with the number of locations perturbed since the last call.
        """
        name = as_question(question).name
        refusal = f"trips are randomised by a mechanism for paths such as dt.TraCSC, not by {name}"
        question = _trip_question(as_question(question), InvalidParameter(refusal))
        if outside not in ("error", "clip"):
            raise unknown_name("outside", outside, ("error", "clip"))
        if trips.specification is not None:
            raise InvalidParameter(
                "expected trips, got reports of trips, because further noise would spoil the estimates; "
                "estimate from them"
            )
        if keep_times and _is_of_routes(question):
            raise InvalidParameter(
                "expected no keep_times for complete trips, because their reports have no times; "
                "leave "
                "keep_times out"
            )
        if keep_times and trips.times is None:
            raise InvalidParameter("expected a time for every location; leave keep_times out")
        paths = _move_inside(trips, question, projection, outside)
        paths = _at_times(paths, trips, question)
        reports = _draw_batches(paths, question, source, progress or ignore_progress)
        if _is_of_routes(question):
            paths = Paths.of(reports.values) if len(reports) else paths
        decoded = reports.values.reshape(-1, 2)
        locations = paths.like(decoded if projection is None else projection.to_earth(decoded))
        times = trips.times if keep_times else None
        return TripReports(reports, projection, Trips(locations, trips.names, times))

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
        if _is_of_routes(question):  # all places of a trip have the number of its public path
            return _decode_routes(trips, question, projection)
        raw = from_text(trips.reports, question, trips.where)
        with name_errors(file):
            reports = question.reports(raw)
        unbegun = np.flatnonzero(reports.cells[trips.paths.offsets[:-1], 0] == 0)
        if unbegun.size:  # otherwise its locations would count for the previous trip
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
    def question(self) -> Question:
        """The question that drew the reports."""
        name = self.reports.question.name
        refusal = f"the reports are of {name}; a mechanism for paths such as dt.TraCSC was expected"
        return _trip_question(self.reports.question, InvalidParameter(refusal))

    def resample(self, trips: Trips) -> Trips:
        """Return trips with as many places as the public paths of the reports, at which they are compared."""
        points = (
            trips.paths.points if self.projection is None else self.projection.to_plane(trips.paths.points)
        )
        domain = self.question.domain
        inside = _at_times(domain.clip(trips.paths.like(points)), trips, self.question)
        places = domain.resample(inside).reshape(-1, 2)
        earth = places if self.projection is None else self.projection.to_earth(places)
        return Trips(self.trips.paths.like(earth), trips.names, None)

    def write(self, out: str | Path) -> None:
        """Write a file with the decoded trips, the reports and the specification, for `TripReports.read`."""
        specification = trip_specification(self.question, self.projection)
        texts = tuple(to_text(self.reports))
        if self.of_routes:
            lengths = self.trips.paths.lengths.tolist()
            texts = tuple(
                str(text) for text, length in zip(texts, lengths, strict=True) for _ in range(length)
            )
        replace(self.trips, reports=texts, specification=specification).write(out)

    def __len__(self) -> int:
        return len(self.trips)

    def __repr__(self) -> str:
        name = self.reports.question.name
        return f"TripReports({len(self)} trips with {len(self.trips.paths.points)} locations, by {name})"


def perturb_trips(
    path: str | Path,
    out: str | Path,
    question: object,
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


def _decode_routes(trips: Trips, question: Question, projection: Map | None) -> TripReports:
    """Return the reports of complete trips; raise MalformedReport if places of a trip have different ones."""
    offsets, texts = trips.paths.offsets, trips.reports or ()
    for begin, end in pairwise(offsets.tolist()):
        if len(set(texts[begin:end])) != 1:
            raise MalformedReport(f"{trips.where(begin)}: the places of a complete trip must have one report")
    raw = from_text(
        tuple(texts[begin] for begin in offsets[:-1]), question, lambda row: trips.where(offsets[row])
    )
    with name_errors(Path(trips.file or "trips")):
        reports = question.reports(raw)
    return TripReports(reports, projection, replace(trips, reports=None, specification=None))


def _at_times(paths: Paths, trips: Trips, question: Question) -> Paths:
    """Return complete trips at equal steps of time if they have times and are resampled by order."""
    if trips.times is None or not _is_of_routes(question) or question.domain.by != "order":
        return paths
    return paths.resample_times(_seconds(trips), question.domain.points)


def _seconds(trips: Trips) -> list[float]:
    """Return the times of all places in seconds; those without a zone are taken as UTC."""
    made = []
    for number, text in enumerate(trips.times or ()):
        try:
            time = datetime.datetime.fromisoformat(text)
        except ValueError:
            raise InvalidParameter(
                f"{trips.where(number)}: expected an ISO time stamp, such as 2026-05-01T08:00:00Z; for times "
                'of another form use dt.Routes(…, by="length")'
            ) from None
        made.append((time if time.tzinfo else time.replace(tzinfo=datetime.UTC)).timestamp())
    return made


def _is_of_routes(question: Question) -> bool:
    return bool(question.domain.protects == "trajectory")


def _move_inside(trips: Trips, question: Question, projection: Map | None, outside: Outside) -> Paths:
    """Return the paths in the question's coordinates, all inside its area, or raise OutsideDomain."""
    if outside == "error":
        try:
            trips.check(_area_of(question), projection)
        except OutsideDomain as error:
            raise OutsideDomain(
                f"{error}; choose a larger area, or move such locations to its border (outside='clip')"
            ) from None
    elif projection is not None:
        trips.check(Sphere())  # a place that is not on the earth cannot be projected
    points = trips.paths.points if projection is None else projection.to_plane(trips.paths.points)
    return trips.paths.like(_area_of(question).clip(points) if outside == "clip" else points)


def _area_of(question: Question) -> Plane:
    area: Plane = question.domain.area if _is_of_routes(question) else question.domain
    return area


def _draw_batches(paths: Paths, question: Question, source: Source | None, progress: Progress) -> Reports:
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


def trip_specification(question: Question, projection: Map | None) -> str:
    """Return the specification as JSON text."""
    return json.dumps({"mechanism": json.loads(question.to_json()), "map": _projection_to_plain(projection)})


def read_trip_specification(text: str) -> tuple[Question, Map | None]:
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
    refusal = MalformedReport(f"the specification is of {question.name}, which is not for trips")
    return _trip_question(question, refusal), projection


def _trip_question(question: Question, refusal: DitherError) -> Question:
    """Return a question about paths; raise the given error for any other one."""
    if not isinstance(question, PathQuestion) and not _is_of_routes(question):
        raise refusal
    return question


def _projection_to_plain(projection: Map | None) -> dict[str, Any] | None:
    match projection:
        case None:
            return None
        case LocalMap(longitude, latitude):
            return {"local": [longitude, latitude]}
        case ReferenceMap(name):
            return {"crs": _check_code(name, InvalidParameter)}
    raise InvalidParameter(
        f"expected a LocalMap or a ReferenceMap in a file, got {type(projection).__name__}; pass one of them"
    )


def _projection_from_plain(given: object) -> Map | None:
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
        raise error(
            "expected a coordinate reference system as an authority's code, such as EPSG:32654; "
            "write the "
            "file again with one"
        )
    return name
