"""Read trips from files, and write them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dither.atomic import renamed
from dither.errors import InvalidParameter
from dither.files.format import Progress, silent
from dither.files.registry import trip_format
from dither.files.trips.trips import Trips


def read_trips(file: str | Path, *, progress: Progress | None = None) -> Trips:
    """Return the trips of a file: GPX, GeoJSON or CSV, and with the extra `geo` GeoPackage or GeoParquet.

    `progress` is called with the number of places read since the last call.
    """
    path = Path(file)
    reader = trip_format(path)
    if not path.is_file():
        raise InvalidParameter(f"there is no file {path}")
    return replace(reader.read(path, progress or silent), file=path.name)


def write_trips(trips: Trips, file: str | Path) -> None:
    """Write trips to a file in the format of its ending; the file appears when it is complete."""
    path = Path(file)
    writer = trip_format(path)
    with renamed(path) as part:
        writer.write(part, trips)
