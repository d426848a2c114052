"""Trips in files, by the ending of the file's name: .gpx, .geojson (or .json), .csv."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Final

from dither.errors import InvalidParameter
from dither.paths import geojson, gpx, tables
from dither.paths.trips import Trips

_KINDS: Final[dict[str, ModuleType]] = {
    ".gpx": gpx,
    ".geojson": geojson,
    ".json": geojson,
    ".csv": tables,
}


def read_trips(file: str | Path) -> Trips:
    """Read trips from a GPX, GeoJSON or CSV file."""
    path = Path(file)
    kind = _kind(path)
    if not path.is_file():
        raise InvalidParameter("there is no such file")
    trips: Trips = kind.read(path)
    return trips


def write_trips(trips: Trips, file: str | Path) -> None:
    """Write trips to a GPX, GeoJSON or CSV file."""
    path = Path(file)
    _kind(path).write(trips, path)


def _kind(path: Path) -> ModuleType:
    try:
        return _KINDS[path.suffix.lower()]
    except KeyError:
        raise InvalidParameter(f"trips are in files whose names end in {', '.join(sorted(_KINDS))}") from None
