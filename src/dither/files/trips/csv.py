"""CSV: a row for each place, with an id, a time, a latitude and a longitude."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple, TextIO

import numpy as np

from dither.errors import InvalidParameter
from dither.files.trips.trips import Progress, Trip, Trips

_BATCH: Final = 1 << 13  # rows between two reports of progress
_HEAD: Final = "# dither "  # before the specification, in the first line of trips that were randomised
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
    report: str = ""
    row: int = 0


def read(file: Path, progress: Progress | None = None) -> Trips:
    """Read a CSV file with a heading; rows of one id are a trip, in the order of their times, if any."""
    with file.open(newline="", encoding="utf-8-sig") as stream:
        first = stream.readline()
        specification = first.removeprefix(_HEAD).strip() if first.startswith(_HEAD) else ""
        if not specification:
            stream.seek(0)
        rows = csv.DictReader(stream)
        columns = _columns(rows.fieldnames or ())
        found = []
        for number, line in enumerate(rows, 1):
            found.append(_row(line, columns, number))
            if progress is not None and number % _BATCH == 0:
                progress(_BATCH)
    if not found:
        raise InvalidParameter("this CSV file holds no places")
    return Trips.of(assembled(found), specification)


def write(trips: Trips, stream: TextIO) -> None:
    """Write a row for each place."""
    if trips.specification:
        stream.write(f"{_HEAD}{trips.specification}\n")
    out = csv.writer(stream, lineterminator="\n")
    more = {"time": trips.times, "report": trips.reports}
    known = {name: column for name, column in more.items() if column is not None}
    out.writerow(["id", "lat", "lon", *known])
    whose = np.repeat(np.arange(len(trips)), trips.paths.lengths)
    for row, (longitude, latitude) in enumerate(trips.paths.points.tolist()):
        place = f"{latitude:.7f}", f"{longitude:.7f}"
        out.writerow([trips.names[whose[row]], *place, *(column[row] for column in known.values())])


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
    return Trip(
        rows[0].whose or "trip",
        places,
        [row.when for row in ordered] if timed else None,
        [row.report for row in ordered] if all(row.report for row in rows) else None,
        [row.row for row in ordered] if all(row.row for row in rows) else None,
    )


def _columns(heading: Iterable[str]) -> dict[str, str]:
    names = {kind: named(kind, heading) for kind in _NAMES}
    missing = [kind for kind in ("latitude", "longitude") if not names[kind]]
    if missing:
        raise InvalidParameter(f"there is no column for the {missing[0]}; call it {_NAMES[missing[0]][0]!r}")
    return names


def named(kind: str, heading: Iterable[str]) -> str:
    """Give the column of a kind, by one of the names people give it; empty if there is none."""
    known = {str(name).strip().lower(): name for name in heading}
    return next((known[name] for name in _NAMES[kind] if name in known), "")


def _row(line: dict[str, str], columns: dict[str, str], number: int) -> Row:
    place = [_degrees(line, columns[kind], number) for kind in ("longitude", "latitude")]
    whose, when = ((line[name] or "").strip() if name else "" for name in (columns["id"], columns["time"]))
    return Row(whose, when, place[0], place[1], line.get("report") or "", number)


def _degrees(line: dict[str, str], column: str, number: int) -> float:
    try:
        value = float(line[column])
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise InvalidParameter(f"row {number}, column {column!r}: a number of degrees was expected")
    return value


def _moment(text: str) -> tuple[int, float, str]:
    """Give what times are ordered by: numbers as numbers, all else (ISO 8601) as text."""
    try:
        return 0, float(text), ""
    except ValueError:
        return 1, 0.0, text
