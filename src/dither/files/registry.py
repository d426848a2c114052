"""Every file format. A new one is two lines here: its import, and its entry in TABLES or TRIPS."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Final, TypeVar

from dither.errors import InvalidParameter
from dither.files.format import Format, TableFormat, TripFormat
from dither.files.streams import COMPRESSED, ending
from dither.files.tables.arrow_file import ArrowFile
from dither.files.tables.csv import Csv
from dither.files.tables.excel import Excel
from dither.files.tables.jsonl import JsonLines
from dither.files.tables.parquet import Parquet
from dither.files.trips.csv import TripCsv
from dither.files.trips.geojson import GeoJson
from dither.files.trips.geopackage import GeoPackage
from dither.files.trips.geoparquet import GeoParquet
from dither.files.trips.gpx import Gpx

# Pyarrow, openpyxl and geopandas are imported when one of their formats first reads or writes a file.
TABLES: Final[tuple[TableFormat, ...]] = (
    Csv(),
    JsonLines(),
    Parquet(),
    ArrowFile(),
    Excel(),
)
TRIPS: Final[tuple[TripFormat, ...]] = (
    Gpx(),
    GeoJson(),
    TripCsv(),
    GeoPackage(),
    GeoParquet(),
)

_Kind = TypeVar("_Kind", bound=Format)


def table_format(path: Path) -> TableFormat:
    """Return the format of a table by its file's ending; raise InvalidParameter if it is not known."""
    return _by_ending(path, TABLES, "tables", "for trips use dt.files.perturb_trips or dither trajectory")


def trip_format(path: Path) -> TripFormat:
    """Return the format of trips by their file's ending; raise InvalidParameter if it is not known."""
    return _by_ending(path, TRIPS, "trips", "for tables use dt.files.perturb_file or dither perturb")


def endings(formats: Sequence[Format]) -> list[str]:
    """Return the endings of formats, in their order."""
    return [each for one in formats for each in one.endings]


def _by_ending(path: Path, formats: Sequence[_Kind], what: str, otherwise: str) -> _Kind:
    last, known = ending(path), endings(formats)
    for one in formats:
        if last in one.endings:
            if path.suffix.lower() in COMPRESSED and not one.compressible:
                raise InvalidParameter(
                    f"{path.name}: {last} files are compressed inside; {' and '.join(COMPRESSED)} are for "
                    ".csv and .jsonl"
                )
            return one
    if last in endings([*TABLES, *TRIPS]):
        hint = f"; {otherwise}"
    else:
        near = get_close_matches(last, known, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
    raise InvalidParameter(f"{path.name}: a file of {what} ends in one of {', '.join(known)}{hint}")
