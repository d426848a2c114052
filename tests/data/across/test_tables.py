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
from dither import results
from dither.data.formats.arrow import BATCH
from dither.data.formats.format import table_format
from dither.data.streams import TABLES
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain
from dither.foundation.atomic import rename_after

pa = pytest.importorskip("pyarrow")

N = 500
QUESTIONS = {
    "minutes": dt.Podium(dt.Interval(0, 180), epsilon=1),
    "browser": dt.KRR(dt.Categories(["firefox", "chrome"]), epsilon=2),
    "tag": dt.OUE(dt.Categories(["a", "b", "c"]), epsilon=1),
}
ENDINGS = [ending.removeprefix(".") for ending in TABLES]
BINARY = ("parquet", "arrow", "feather")


def columns() -> dict[str, list[Any]]:
    rng = np.random.default_rng(3)
    return {
        "id": list(range(N)),
        "minutes": rng.gamma(4, 10, N).clip(0, 180).tolist(),
        "browser": rng.choice(["firefox", "chrome"], N).tolist(),
        "tag": rng.choice(["a", "b"], N).tolist(),
    }


def _csv(path: Path, table: dict[str, Any]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([table, *zip(*table.values(), strict=True)])


def _jsonl(path: Path, table: dict[str, Any]) -> None:
    rows = (dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _parquet(path: Path, table: dict[str, Any]) -> None:
    from pyarrow import parquet

    parquet.write_table(pa.table(table), path)


def _arrow(path: Path, table: dict[str, Any]) -> None:
    with pa.ipc.new_file(str(path), pa.table(table).schema) as writer:
        writer.write_table(pa.table(table))


def _excel(path: Path, table: dict[str, Any]) -> None:
    book = pytest.importorskip("openpyxl").Workbook()
    for row in [list(table), *zip(*(list(column) for column in table.values()), strict=True)]:
        book.active.append(row)
    book.save(path)


def _tsv(path: Path, table: dict[str, Any]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, delimiter="\t").writerows([table, *zip(*table.values(), strict=True)])


# How a program other than dither writes a table, for every ending that dither reads.
WRITERS = {
    ".csv": _csv,
    ".tsv": _tsv,
    ".xlsx": _excel,
    ".jsonl": _jsonl,
    ".ndjson": _jsonl,
    ".parquet": _parquet,
    ".arrow": _arrow,
    ".feather": _arrow,
}


def write(path: Path, table: dict[str, Any]) -> Path:
    WRITERS[path.suffix](path, table)
    return path


@pytest.mark.some(every=3)
@pytest.mark.parametrize("came", ENDINGS)
@pytest.mark.parametrize("goes", ENDINGS)
def test_every_format_into_every_other(came: str, goes: str, tmp_path: Path) -> None:
    path, out = write(tmp_path / f"in.{came}", columns()), tmp_path / f"out.{goes}"
    counts = dt.data.perturb_file(path, out, QUESTIONS, keep=("id",), source=dt.Seeded(4))
    assert counts == results.RowCounts(N, 0, 0)
    assert table_format(out).columns(out) == ["minutes", "browser", "tag", "id"]
    (chunk,) = table_format(out).read(out, ["id"])
    assert [int(cell) for cell in chunk.cells("id")] == list(range(N))
    totals = dt.data.summarise_file(out)
    for name, mechanism in QUESTIONS.items():
        assert totals[name].question == mechanism.question
        # the same words, so the same reports whatever the formats
        assert np.array_equal(totals[name].counts, _expected()[name].counts)
    assert list(tmp_path.glob(".*")) == []


def _expected() -> dict[str, dt.Counts]:
    source, table = dt.Seeded(4), columns()
    return {
        name: dt.Counts.of(mechanism.perturb(table[name], source=source))
        for name, mechanism in QUESTIONS.items()
    }


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_does_not_count_is_left_out(ending: str, tmp_path: Path) -> None:
    table = {"minutes": [1.0, None, 3.0, 4.0], "id": [1, 2, 1, 3]}
    path, out = write(tmp_path / f"in.{ending}", table), tmp_path / f"out.{ending}"
    minutes = {"minutes": QUESTIONS["minutes"]}
    with pytest.raises(OutsideDomain, match=r"row 2, column 'minutes': the answer is missing.*public"):
        dt.data.perturb_file(path, out, minutes)
    assert not out.exists()
    counts = dt.data.perturb_file(path, out, minutes, person="id", missing="skip")
    assert counts == results.RowCounts(written=2, missing=1, repeated=1)
    assert dt.data.summarise_file(out)["minutes"].n == 2


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_value_outside_is_named_by_its_place_alone(ending: str, tmp_path: Path) -> None:
    table = columns()
    table["minutes"][321] = 98765.4321
    path, out = write(tmp_path / f"in.{ending}", table), tmp_path / f"out.{ending}"
    with pytest.raises(OutsideDomain) as caught:
        dt.data.perturb_file(path, out, QUESTIONS)
    assert f"in.{ending}, row 322, column 'minutes'" in str(caught.value)
    assert "98765" not in str(caught.value)
    assert caught.value.__context__ is None
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


def test_a_number_beyond_every_float_is_named_by_its_place_alone(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    for huge in ("9" * 400, "9" * 5000, "1e999", "[" * 10**5):
        path.write_text(f'{{"minutes": 1, "tag": 0}}\n{{"minutes": {huge}, "tag": {huge}}}\n')
        for name, mechanism in (
            ("minutes", QUESTIONS["minutes"]),
            ("tag", dt.KRR(dt.Categories(3), epsilon=1)),
        ):
            with pytest.raises((OutsideDomain, InvalidParameter), match=r"in\.jsonl, row 2") as caught:
                dt.data.perturb_file(path, tmp_path / "out.csv", {name: mechanism})
            assert "99" not in str(caught.value)


def test_a_date_beyond_python_s_is_not_shown(tmp_path: Path) -> None:
    path, out = tmp_path / "in.arrow", tmp_path / "out.csv"
    write(path, {"minutes": [1.0], "day": pa.array([2**62], pa.timestamp("s"))})
    asked = {"minutes": QUESTIONS["minutes"]}
    for more in ({"keep": ["day"]}, {"person": "day"}):
        with pytest.raises(InvalidParameter, match=r"column 'day'.* beyond the range of Python"):
            dt.data.perturb_file(path, out, asked, **more)
    with pytest.raises(InvalidParameter, match="column 'day'"):
        dt.data.perturb_file(path, out, {"day": QUESTIONS["browser"]})


@pytest.mark.parametrize("ending", ENDINGS)
def test_wrong_files(ending: str, tmp_path: Path) -> None:
    path, out = write(tmp_path / f"in.{ending}", columns()), tmp_path / f"out.{ending}"
    for missing in ("error", "skip"):
        with pytest.raises(InvalidParameter, match=r"there is no column 'hours': there are id, minutes"):
            dt.data.perturb_file(path, out, {"hours": QUESTIONS["minutes"]}, missing=missing)
    for more in ({"keep": ["town"]}, {"person": "town"}):
        with pytest.raises(InvalidParameter, match="there is no column 'town'"):
            dt.data.perturb_file(path, out, QUESTIONS, **more)
    with pytest.raises(InvalidParameter, match="leak"):
        dt.data.perturb_file(path, out, QUESTIONS, keep=("minutes",))
    with pytest.raises(MalformedReport, match="expected a file of reports with a specification"):
        dt.data.summarise_file(path)
    with pytest.raises(InvalidParameter, match="mapping"):
        dt.data.perturb_file(path, out, {"minutes": "Podium"})
    broken = tmp_path / f"broken.{ending}"
    broken.write_bytes(b"\xff\xfe{[PAR1 nothing of the kind")
    with pytest.raises(InvalidParameter, match="broken"):
        dt.data.perturb_file(broken, out, QUESTIONS)
    with pytest.raises(InvalidParameter, match="keep to be a list"):
        dt.data.perturb_file(path, out, QUESTIONS, keep="id")
    for choice in ("skp", True, None):
        with pytest.raises(InvalidParameter, match="no missing"):
            dt.data.perturb_file(path, out, QUESTIONS, missing=choice)
    assert not out.exists()


@pytest.mark.parametrize("ending", BINARY)
def test_a_column_of_another_type(ending: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"in.{ending}", columns())
    with pytest.raises(InvalidParameter, match=r"column 'browser': numbers were expected.*string"):
        dt.data.perturb_file(path, tmp_path / f"out.{ending}", {"browser": QUESTIONS["minutes"]})


@pytest.mark.parametrize("ending", BINARY)
def test_invalid_reports_are_refused(ending: str, tmp_path: Path) -> None:
    path, out = write(tmp_path / f"in.{ending}", columns()), tmp_path / f"out.{ending}"
    dt.data.perturb_file(path, out, QUESTIONS)
    schema = pa.schema(
        [("minutes", pa.int64())], metadata={b"dither": (table_format(out).specification(out) or "").encode()}
    )
    forged = tmp_path / f"forged.{ending}"
    with table_format(out).writer(forged, schema) as writer:  # type: ignore[attr-defined]
        writer.write_batch(pa.record_batch([pa.array([-5])], schema=schema))
    with pytest.raises((MalformedReport, InvalidParameter)):
        dt.data.summarise_file(forged)


def test_columns_of_an_arrow_file_in_any_order(tmp_path: Path) -> None:
    path = write(tmp_path / "in.arrow", columns())
    (chunk,) = table_format(path).read(path, ["tag", "id"])
    assert chunk.cells("tag") == columns()["tag"]
    assert chunk.cells("id") == columns()["id"]
    with pytest.raises(KeyError):
        chunk.cells("minutes")


def test_an_arrow_file_of_one_great_batch_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "in.arrow"
    batch = pa.record_batch({"minutes": np.linspace(0, 180, 2 * BATCH + 5)})
    with pa.ipc.new_file(str(path), batch.schema) as writer:
        writer.write_batch(batch)
    chunks = list(table_format(path).read(path, ["minutes"]))
    assert [len(chunk) for chunk in chunks] == [BATCH, BATCH, 5]
    assert [chunk.first for chunk in chunks] == [1, BATCH + 1, 2 * BATCH + 1]
    counts = dt.data.perturb_file(path, tmp_path / "out.parquet", {"minutes": QUESTIONS["minutes"]})
    assert counts.written == 2 * BATCH + 5


def test_a_spreadsheet_s_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("minutes,id\n1,2\n", encoding="utf-8-sig")
    assert dt.data.perturb_file(path, tmp_path / "out.csv", {"minutes": QUESTIONS["minutes"]}).written == 1


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_empty_table_keeps_its_columns(ending: str, tmp_path: Path) -> None:
    path, out = tmp_path / f"in.{ending}", tmp_path / f"out.{ending}"
    write(path, {"minutes": pa.array([], pa.float64()), "tag": pa.array([], pa.string()), "id": pa.array([])})
    questions = {name: QUESTIONS[name] for name in ("minutes", "tag")}
    assert dt.data.perturb_file(path, out, questions, keep=["id"]) == results.RowCounts()
    assert {name: total.n for name, total in dt.data.summarise_file(out).items()} == {"minutes": 0, "tag": 0}
    if ending not in ("jsonl", "ndjson"):  # their rows hold the names
        assert table_format(out).columns(out) == ["minutes", "tag", "id"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_rows_that_are_all_left_out(ending: str, tmp_path: Path) -> None:
    path, out = tmp_path / f"in.{ending}", tmp_path / f"out.{ending}"
    nothing = pa.array([None, None], pa.float64()) if ending in BINARY else [None, None]
    write(path, {"minutes": nothing, "id": [1, 2]})
    asked = {"minutes": QUESTIONS["minutes"]}
    counts = dt.data.perturb_file(path, out, asked, keep=["id"], missing="skip")
    assert counts == results.RowCounts(missing=2)
    assert dt.data.summarise_file(out)["minutes"].n == 0
    if ending in BINARY:
        assert _schema(out).field("id").type == pa.int64()


def _schema(path: Path) -> Any:
    if path.suffix == ".parquet":
        from pyarrow import parquet

        return parquet.read_schema(path)
    return pa.ipc.open_file(str(path)).schema


def test_json_lines_files_of_one_campaign_may_be_concatenated(tmp_path: Path) -> None:
    path = write(tmp_path / "in.jsonl", columns())
    one, other, both = (tmp_path / f"{name}.jsonl" for name in ("one", "other", "both"))
    asked = {"minutes": QUESTIONS["minutes"]}
    dt.data.perturb_file(path, one, asked)
    both.write_text(one.read_text() * 2)
    assert dt.data.summarise_file(both)["minutes"].n == 2 * N
    dt.data.perturb_file(path, other, {"minutes": dt.Podium(dt.Interval(0, 180), epsilon=2)})
    both.write_text(one.read_text() + other.read_text())
    with pytest.raises(MalformedReport, match="row 501, column 'minutes'"):
        dt.data.summarise_file(both)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_report_of_several_numbers_that_is_too_short(ending: str, tmp_path: Path) -> None:
    """The digits of one number must not be taken for all numbers of the report."""
    wide = dt.OUE(dt.Categories(64), epsilon=1)
    path = write(tmp_path / f"in.{ending}", {"tag": [3, 4]})
    out = tmp_path / f"out.{ending}"
    dt.data.perturb_file(path, out, {"tag": wide})
    (chunk,) = table_format(out).read(out, ["tag"])
    whole = chunk.cells("tag")[1]
    for bad in (whole[:2], whole[:-2] + "  ", whole[:-1] + "g", whole + "00"):
        forged = tmp_path / f"forged.{ending}"
        forged.write_text(out.read_text().replace(whole, bad))
        with pytest.raises(MalformedReport, match=rf"forged.{ending}, row 2, column 'tag': .* report of OUE"):
            dt.data.summarise_file(forged)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_report_beyond_the_range_is_named_by_file_and_column(ending: str, tmp_path: Path) -> None:
    narrow, wide = dt.KRR(dt.Categories(2), epsilon=1), dt.KRR(dt.Categories(200), epsilon=1)
    forged = tmp_path / f"forged.{ending}"
    rows = {"tag": wide.perturb(range(200))}
    table_format(forged).write(forged, dt.Questionnaire({"tag": narrow}).to_json(), iter([rows]))
    with pytest.raises(MalformedReport, match=rf"forged.{ending}, row \d+, column 'tag'"):
        dt.data.summarise_file(forged)


def test_a_crash_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "old.txt"
    path.write_text("whole")

    def crash() -> Iterator[None]:
        with rename_after(path) as part:
            part.write_text("half")
            raise OSError
        yield

    with pytest.raises(OSError):  # noqa: PT011
        next(crash())
    assert path.read_text() == "whole"
    assert [found.name for found in tmp_path.iterdir()] == ["old.txt"]
