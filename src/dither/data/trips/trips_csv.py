"""Trips as CSV: a row for each place, with an id, a time, a latitude and a longitude.

The specification is a comment in the first line, the reports are a column `report`.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from dither.data.formats.cells import comment_line
from dither.data.formats.csv import Csv
from dither.data.formats.format import Chunk, Progress, TripFormat
from dither.data.trips.trips import TripPoint, Trips, column_of, gather_trips, usual_name
from dither.errors import InvalidParameter

_REPORT: Final = "report"
_CSV: Final = Csv()  # tables and trips share one parser of CSV


class TripCsv(TripFormat):
    """Rows with columns for the id, the time, the latitude and the longitude, in any order."""

    def read(self, path: Path, progress: Progress) -> Trips:
        columns = _columns(path)
        found: list[TripPoint] = []
        for chunk in _CSV.read(path, list(dict.fromkeys(columns.values()))):
            found += _points(chunk, columns)
            progress(len(chunk))
        if not found:
            raise InvalidParameter(f"expected locations in {path.name}; choose another file")
        specification = _CSV.specification(path)
        return Trips.of(gather_trips(found, in_order=specification is not None), specification)

    def write(self, path: Path, trips: Trips) -> None:
        with path.open("x", newline="", encoding="utf-8") as stream:
            if trips.specification is not None:
                stream.write(comment_line(trips.specification))
            out = csv.writer(stream, lineterminator="\n")
            given: dict[str, Sequence[Any] | None] = {"time": trips.times, _REPORT: trips.reports}
            more = {name: column for name, column in given.items() if column is not None}
            out.writerow(["id", "lat", "lon", *more])
            trip = np.repeat(np.arange(len(trips)), trips.paths.lengths)
            for row, (longitude, latitude) in enumerate(trips.paths.points.tolist()):
                location = f"{latitude:.7f}", f"{longitude:.7f}"
                out.writerow([trips.names[trip[row]], *location, *(column[row] for column in more.values())])


def _columns(path: Path) -> dict[str, str]:
    """Return the column of each kind that the file has; raise InvalidParameter without coordinates."""
    heading = _CSV.columns(path)
    columns = {kind: column_of(kind, heading) for kind in ("id", "time", "latitude", "longitude")}
    for kind in ("latitude", "longitude"):
        if not columns[kind]:
            raise InvalidParameter(
                f"expected a column for the {kind} in {path.name}; call it {usual_name(kind)!r}"
            )
    columns[_REPORT] = _REPORT if _REPORT in heading else ""
    return {kind: name for kind, name in columns.items() if name}


def _points(chunk: Chunk, columns: dict[str, str]) -> Iterator[TripPoint]:
    """Yield the places of a chunk; a row without any of the columns, such as a blank line, is left out."""
    empty = [None] * len(chunk)
    names, times, longitudes, latitudes, reports = (
        chunk.cells(columns[kind]) if kind in columns else empty
        for kind in ("id", "time", "longitude", "latitude", _REPORT)
    )
    rows = zip(names, times, longitudes, latitudes, reports, strict=True)
    for row, (name, time, longitude, latitude, report) in enumerate(rows):
        if (name, time, longitude, latitude, report) != (None,) * 5:
            yield TripPoint(
                (name or "").strip(),
                (time or "").strip(),
                _degrees(longitude, chunk, columns["longitude"], row),
                _degrees(latitude, chunk, columns["latitude"], row),
                report or "",
                chunk.first + row,
            )


def _degrees(cell: Any, chunk: Chunk, column: str, row: int) -> float:
    try:
        degrees = float(cell)
    except (TypeError, ValueError):
        degrees = math.nan
    if not math.isfinite(degrees):
        raise InvalidParameter(
            f"{chunk.where(column, row)}: expected a number of degrees; correct the cell or leave the row out"
        )
    return degrees
