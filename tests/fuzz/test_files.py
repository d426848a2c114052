"""Tables, files of reports and files of trips, changed at random."""

from __future__ import annotations

import atexit
import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import dither as dt
from dither import data
from dither.errors import DitherError
from tests.fuzz import mutations
from tests.fuzz.limits import MANY, SOME, fuzz

QUESTIONS: dict[str, Any] = {
    "age": dt.Podium(dt.Interval(18, 100), epsilon=1, cells=256),
    "browser": dt.KRR(dt.Categories(["firefox", "chrome"]), epsilon=1),
}
TABLE = "age,browser,city\n18,firefox,Tokyo\n35.5,chrome,Kyōto\n100,firefox,\n"
AREA = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
TEXT = (".csv", ".jsonl")
COLUMNAR = (".parquet", ".arrow")
TRIPS = (".gpx", ".geojson")


_FOLDER = TemporaryDirectory(prefix="dither-fuzz-")
atexit.register(_FOLDER.cleanup)


def folder() -> Path:
    return Path(_FOLDER.name)


@cache
def table(ending: str) -> bytes:
    """Return a table of values in a format."""
    if ending == ".csv":
        return TABLE.encode()
    head, *rows = (line.split(",") for line in TABLE.strip().splitlines())
    records = [
        {name: float(cell) if name == "age" else cell or None for name, cell in zip(head, row, strict=True)}
        for row in rows
    ]
    if ending == ".jsonl":
        return "\n".join(json.dumps(record) for record in records).encode()
    pyarrow = pytest.importorskip("pyarrow")
    path = folder() / f"made{ending}"
    made = pyarrow.Table.from_pylist(records)
    if ending == ".parquet":
        pytest.importorskip("pyarrow.parquet").write_table(made, path)
    else:
        with pytest.importorskip("pyarrow.ipc").new_file(path, made.schema) as writer:
            writer.write_table(made)
    return path.read_bytes()


@cache
def reports(ending: str) -> bytes:
    """Return a file of reports in a format."""
    path, out = folder() / f"values{ending}", folder() / f"reports{ending}"
    path.write_bytes(table(ending))
    data.perturb_file(path, out, QUESTIONS, force=True)
    return out.read_bytes()


@cache
def trips(ending: str) -> bytes:
    path = folder() / f"trips{ending}"
    data.Trips(dt.Paths.of([[(0.1, 0.2), (0.3, 0.4)], [(0.5, 0.5)]]), ("a", "é"), None).write(path)
    return path.read_bytes()


@cache
def trip_reports(ending: str) -> bytes:
    path, out = folder() / f"asked{ending}", folder() / f"told{ending}"
    path.write_bytes(trips(ending))
    data.perturb_trips(path, out, dt.TraCSD(AREA, epsilon=2))
    return out.read_bytes()


def damaged(old: bytes, random: Random, *, binary: bool) -> bytes:
    """Change a file as bytes, and as text or as JSON where it is some."""
    if binary or random.random() < 0.2:
        return mutations.bits(old, random)
    text = old.decode()
    if random.random() < 0.5:
        lines = text.splitlines(keepends=True)
        at = random.randrange(len(lines))
        lines[at] = _changed_line(lines[at], random)
        text = "".join(lines)
    else:
        text = mutations.text(text, random)
    return text.encode(errors="surrogatepass")


def _changed_line(line: str, random: Random) -> str:
    begin = line.find("{")
    try:
        data = json.loads(line[begin:]) if begin >= 0 else None
    except ValueError:
        data = None
    if data is None:
        cells = line.split(",")
        cells[random.randrange(len(cells))] = str(mutations.value(random))
        return ",".join(cells)
    return line[:begin] + mutations.dumped(mutations.change(data, random)) + "\n"


def written(ending: str, data: bytes) -> Path:
    path = folder() / f"changed{ending}"
    path.write_bytes(data)
    return path


def read_table(ending: str, random: Random) -> None:
    path = written(ending, damaged(table(ending), random, binary=ending in COLUMNAR))
    data.perturb_file(path, folder() / "out.csv", QUESTIONS, missing="skip", force=True)


def read_reports(ending: str, random: Random) -> None:
    data.summarise_file(written(ending, damaged(reports(ending), random, binary=ending in COLUMNAR)))


def read_trips(ending: str, random: Random) -> None:
    data.Trips.read(written(ending, damaged(trips(ending), random, binary=False)))


def read_trip_reports(ending: str, random: Random) -> None:
    data.TripReports.read(written(ending, damaged(trip_reports(ending), random, binary=False)))


READERS: dict[str, tuple[Callable[[str, Random], Any], tuple[str, ...]]] = {
    "table": (read_table, (*TEXT, *COLUMNAR)),
    "reports": (read_reports, (*TEXT, *COLUMNAR)),
    "trips": (read_trips, (*TRIPS, ".csv")),
    "trip reports": (read_trip_reports, (*TRIPS, ".csv")),
}
WAYS = {
    f"{name}{ending}": partial(reader, ending)
    for name, (reader, endings) in READERS.items()
    for ending in endings
}


@pytest.mark.parametrize("way", WAYS)
def test_only_errors_of_dither_come_out_of_files(way: str) -> None:
    fuzz(WAYS[way], SOME)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_only_errors_of_dither_come_out_of_very_many_files(way: str) -> None:
    fuzz(WAYS[way], MANY)


def test_the_files_that_are_changed_can_be_read() -> None:
    """Without a change nothing is refused: the tests above begin at valid files."""
    for ending in (*TEXT, *COLUMNAR):
        try:
            counts = data.perturb_file(
                written(ending, table(ending)), folder() / "out.csv", QUESTIONS, force=True
            )
            assert counts.written == 3
            assert data.summarise_file(written(ending, reports(ending)))["age"].n == 3
        except DitherError as error:
            pytest.fail(f"{ending}: {error}")
    for ending in (*TRIPS, ".csv"):
        assert len(data.Trips.read(written(ending, trips(ending))).paths) == 2
        assert len(data.TripReports.read(written(ending, trip_reports(ending))).trips.paths) == 2
