"""The formats: an ending names one format, and an unknown ending names the nearest one."""

from __future__ import annotations

from pathlib import Path

import pytest

from dither.data.formats.format import TableFormat, TripFormat, table_format, trip_format
from dither.data.streams import TABLES, TRIPS
from dither.errors import InvalidParameter


@pytest.mark.parametrize("formats", [TABLES, TRIPS], ids=["tables", "trips"])
def test_every_ending_has_a_format_and_is_in_lower_case(formats: dict[str, str]) -> None:
    find = table_format if formats is TABLES else trip_format
    kind = TableFormat if formats is TABLES else TripFormat
    assert all(ending.startswith(".") and ending == ending.lower() for ending in formats)
    assert all(isinstance(find(Path(f"in{ending}")), kind) for ending in formats)


def test_the_ending_is_read_whatever_its_case() -> None:
    assert table_format(Path("DATA.CSV")) is table_format(Path("data.csv"))
    assert trip_format(Path("RIDE.GPX")) is trip_format(Path("ride.gpx"))
    assert trip_format(Path("ride.csv")) is not table_format(Path("ride.csv"))


@pytest.mark.parametrize(
    ("find", "name", "hint"),
    [
        (table_format, "in.cvs", "did you mean .csv?"),
        (table_format, "in.parqet", "did you mean .parquet?"),
        (trip_format, "in.geojsn", "did you mean .geojson?"),
        (table_format, "in.gpx", "for trips use dt.data.perturb_trips or dither trajectory"),
        (trip_format, "in.jsonl", "for tables use dt.data.perturb_file or dither perturb"),
        (table_format, "in.qqqqqq", ".csv, .tsv, .jsonl, .ndjson, .parquet, .arrow, .feather, .xlsx"),
        (trip_format, "in", ".gpx, .geojson, .json, .csv, .gpkg, .parquet"),
    ],
)
def test_an_unknown_ending(find: object, name: str, hint: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        find(Path(name))  # type: ignore[operator]
    assert str(caught.value).startswith(f"{name}: expected t")
    assert "ends in one of" in str(caught.value)
    assert str(caught.value).endswith(hint)
