"""Trips in files, by the ending of the file's name: .gpx, .geojson (or .json), .csv, .gpkg, .parquet."""

from __future__ import annotations

import csv
from pathlib import Path
from types import ModuleType
from typing import Final

from dither.atomic import renamed, whole
from dither.errors import InvalidParameter, OutsideDomain
from dither.files.trips import csv as tables
from dither.files.trips import geojson, gpx
from dither.files.trips import geopandas as layers
from dither.files.trips.trips import Progress, Trips

_KINDS: Final[dict[str, ModuleType]] = {
    ".gpx": gpx,
    ".geojson": geojson,
    ".json": geojson,
    ".csv": tables,
    ".gpkg": layers,
    ".parquet": layers,
}


def read_trips(file: str | Path, *, progress: Progress | None = None) -> Trips:
    """Read trips from a GPX, GeoJSON, CSV, GeoPackage or GeoParquet file."""
    path = Path(file)
    kind = _kind(path)
    if not path.is_file():
        raise InvalidParameter("there is no such file")
    try:
        trips: Trips = kind.read(path, progress)
    except (UnicodeDecodeError, csv.Error):
        raise InvalidParameter(f"{path.name}: this is not a text in UTF-8") from None
    except (InvalidParameter, OutsideDomain) as error:
        raise type(error)(f"{path.name}: {error}") from None
    return trips


def write_trips(trips: Trips, file: str | Path) -> None:
    """Write trips to such a file, which appears under its name when it is whole."""
    path = Path(file)
    kind = _kind(path)
    if kind is layers:
        with renamed(path) as part:
            layers.write(trips, part)
    else:
        with whole(path) as stream:
            kind.write(trips, stream)


def _kind(path: Path) -> ModuleType:
    try:
        return _KINDS[path.suffix.lower()]
    except KeyError:
        raise InvalidParameter(f"trips are in files whose names end in {', '.join(sorted(_KINDS))}") from None
