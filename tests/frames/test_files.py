"""Tables in files: every format reads into every other, streams, and leaves no half file behind."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.atomic import renamed
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain
from dither.files.arrow import BATCH
from dither.files.format import format_of

pa = pytest.importorskip("pyarrow")
frames = pytest.importorskip("dither.frames")

N = 500
QUESTIONS = {
    "minutes": dt.Podium(dt.Interval(0, 180), epsilon=1),
    "browser": dt.KRR(dt.Categories(["firefox", "chrome"]), epsilon=2),
    "tag": dt.OUE(dt.Categories(["a", "b", "c"]), epsilon=1),
}
BINARY = ("parquet", "arrow", "feather")
ENDINGS = ("csv", "jsonl", *BINARY)


def columns() -> dict[str, list[Any]]:
    rng = np.random.default_rng(3)
    return {
        "id": list(range(N)),
        "minutes": rng.gamma(4, 10, N).clip(0, 180).tolist(),
        "browser": rng.choice(["firefox", "chrome"], N).tolist(),
        "tag": rng.choice(["a", "b"], N).tolist(),
    }


def write(path: Path, table: dict[str, list[Any]]) -> Path:
    """Write a table by something other than dither."""
    rows = zip(*table.values(), strict=True)
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([table, *rows])
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(dict(zip(table, row, strict=True))) + "\n" for row in rows))
    elif path.suffix == ".parquet":
        from pyarrow import parquet

        parquet.write_table(pa.table(table), path)
    else:
        with pa.ipc.new_file(str(path), pa.table(table).schema) as writer:
            writer.write_table(pa.table(table))
    return path


@pytest.mark.parametrize("came", ENDINGS)
@pytest.mark.parametrize("goes", ENDINGS)
def test_every_format_into_every_other(came: str, goes: str, tmp_path: Path) -> None:
    path, out = write(tmp_path / f"in.{came}", columns()), tmp_path / f"out.{goes}"
    tally = frames.perturb_file(path, out, QUESTIONS, keep=("id",), source=dt.Seeded(4))
    assert (tally.written, tally.missing, tally.repeated) == (N, 0, 0)
    assert format_of(out).columns(out) == ["minutes", "browser", "tag", "id"]
    (chunk,) = format_of(out).read(out, ["id"])
    assert [int(cell) for cell in chunk.cells("id")] == list(range(N))
    totals = frames.summarise_file(out)
    for name, mechanism in QUESTIONS.items():
        assert totals[name].mechanism == mechanism
        # the same words, so the same reports whatever the formats
        assert np.array_equal(totals[name].counts, _expected()[name].counts)
    assert list(tmp_path.glob(".*")) == []


def _expected() -> dict[str, dt.Summary]:
    source, table = dt.Seeded(4), columns()
    return {
        name: dt.Summary.of(mechanism.perturb(table[name], source=source))
        for name, mechanism in QUESTIONS.items()
    }


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_does_not_count_is_left_out(ending: str, tmp_path: Path) -> None:
    table = {"minutes": [1.0, None, 3.0, 4.0], "id": [1, 2, 1, 3]}
    path, out = write(tmp_path / f"in.{ending}", table), tmp_path / f"out.{ending}"
    minutes = {"minutes": QUESTIONS["minutes"]}
    with pytest.raises(OutsideDomain, match=r"row 2, column 'minutes': the answer is missing.*public"):
        frames.perturb_file(path, out, minutes)
    assert not out.exists()
    tally = frames.perturb_file(path, out, minutes, person="id", missing=frames.Missing.SKIP)
    assert (tally.written, tally.missing, tally.repeated) == (2, 1, 1)
    assert frames.summarise_file(out)["minutes"].n == 2


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_value_outside_is_named_by_its_place_alone(ending: str, tmp_path: Path) -> None:
    table = columns()
    table["minutes"][321] = 98765.4321
    path, out = write(tmp_path / f"in.{ending}", table), tmp_path / f"out.{ending}"
    with pytest.raises(OutsideDomain) as caught:
        frames.perturb_file(path, out, QUESTIONS)
    assert f"in.{ending}, row 322, column 'minutes'" in str(caught.value)
    assert "98765" not in str(caught.value)
    assert caught.value.__context__ is None
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("ending", ENDINGS)
def test_wrong_files(ending: str, tmp_path: Path) -> None:
    path, out = write(tmp_path / f"in.{ending}", columns()), tmp_path / f"out.{ending}"
    if ending != "jsonl":  # an object may leave any name out
        with pytest.raises(InvalidParameter, match=r"has no column 'hours'; it has 'id', 'minutes'"):
            frames.perturb_file(path, out, {"hours": QUESTIONS["minutes"]})
    with pytest.raises(InvalidParameter, match="leak"):
        frames.perturb_file(path, out, QUESTIONS, keep=("minutes",))
    with pytest.raises(MalformedReport, match="carries no specification"):
        frames.summarise_file(path)
    with pytest.raises(InvalidParameter, match="mapping"):
        frames.perturb_file(path, out, {"minutes": "Podium"})
    broken = tmp_path / f"broken.{ending}"
    broken.write_bytes(b"\xff\xfe{[PAR1 nothing of the kind")
    with pytest.raises(InvalidParameter, match="broken"):
        frames.perturb_file(broken, out, QUESTIONS)
    with pytest.raises(InvalidParameter, match="ends in one of"):
        frames.perturb_file(tmp_path / "in.xlsx", out, QUESTIONS)
    assert not out.exists()


@pytest.mark.parametrize("ending", BINARY)
def test_a_column_of_another_type(ending: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"in.{ending}", columns())
    with pytest.raises(InvalidParameter, match=r"column 'browser': numbers were expected.*string"):
        frames.perturb_file(path, tmp_path / f"out.{ending}", {"browser": QUESTIONS["minutes"]})


@pytest.mark.parametrize("ending", BINARY)
def test_reports_that_are_none(ending: str, tmp_path: Path) -> None:
    path, out = write(tmp_path / f"in.{ending}", columns()), tmp_path / f"out.{ending}"
    frames.perturb_file(path, out, QUESTIONS)
    schema = pa.schema([("minutes", pa.int64())], metadata={b"dither": format_of(out).head(out).encode()})
    forged = tmp_path / f"forged.{ending}"
    with format_of(out).writer(forged, schema) as writer:  # type: ignore[attr-defined]
        writer.write_batch(pa.record_batch([pa.array([-5])], schema=schema))
    with pytest.raises((MalformedReport, InvalidParameter)):
        frames.summarise_file(forged)


def test_an_arrow_file_of_one_great_batch_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "in.arrow"
    batch = pa.record_batch({"minutes": np.linspace(0, 180, 2 * BATCH + 5)})
    with pa.ipc.new_file(str(path), batch.schema) as writer:
        writer.write_batch(batch)
    chunks = list(format_of(path).read(path, ["minutes"]))
    assert [len(chunk) for chunk in chunks] == [BATCH, BATCH, 5]
    assert [chunk.first for chunk in chunks] == [1, BATCH + 1, 2 * BATCH + 1]
    tally = frames.perturb_file(path, tmp_path / "out.parquet", {"minutes": QUESTIONS["minutes"]})
    assert tally.written == 2 * BATCH + 5


def test_a_spreadsheet_s_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("minutes,id\n1,2\n", encoding="utf-8-sig")
    assert frames.perturb_file(path, tmp_path / "out.csv", {"minutes": QUESTIONS["minutes"]}).written == 1


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_empty_table(ending: str, tmp_path: Path) -> None:
    table = {name: pa.array([], pa.float64()) for name in ("minutes", "id")} if ending in BINARY else {}
    path, out = tmp_path / f"in.{ending}", tmp_path / f"out.{ending}"
    if table:
        write(path, table)
    else:
        path.write_text("minutes,id\n" if ending == "csv" else "")
    assert frames.perturb_file(path, out, {"minutes": QUESTIONS["minutes"]}).written == 0
    assert frames.summarise_file(out)["minutes"].n == 0


def test_a_crash_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "old.txt"
    path.write_text("whole")

    def crash() -> Iterator[None]:
        with renamed(path) as part:
            part.write_text("half")
            raise OSError
        yield

    with pytest.raises(OSError):  # noqa: PT011
        next(crash())
    assert path.read_text() == "whole"
    assert [found.name for found in tmp_path.iterdir()] == ["old.txt"]
