"""Rows of tables: cells that do not fit are told apart and counted, never shown; ids of persons."""

from __future__ import annotations

import datetime
import io
import json
import sys
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither import results
from dither.data import Dialect, streams
from dither.data.people import KnownPeople, _Digests, are_ids, person_text
from dither.errors import InvalidParameter, OutsideDomain

MINUTES = {"minutes": dt.Podium(dt.Interval(0, 180), epsilon=1)}


def table(folder: Path, cells: list[str], name: str = "in.csv") -> Path:
    path = folder / name
    path.write_text("minutes;town\n" + "".join(f"{cell};x\n" for cell in cells))
    return path


def test_every_misfit_is_counted_and_ten_are_named(tmp_path: Path) -> None:
    path = table(tmp_path, ["7"] * 100_000 + ["4711"] * 14 + ["", "unknown"] + ["7"] * 70_000 + ["4712"])
    with pytest.raises(OutsideDomain) as caught:
        dt.data.perturb_file(path, tmp_path / "out.csv", MINUTES)
    outside, missing, text = sorted(str(caught.value).splitlines(), key=lambda line: "outside" not in line)[
        :3
    ]
    assert "in.csv, row 100001, column 'minutes': the value is not in [0, 180]" in str(caught.value)
    assert "(15 such cells: rows 100001, 100002" in str(caught.value)
    assert "100010, …)" in str(caught.value)
    assert "row 100015, column 'minutes': the answer is missing" in str(caught.value)
    assert "row 100016, column 'minutes': the cell is not a number" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 3
    assert all(word not in str(caught.value) for word in ("4711", "4712", "unknown"))
    assert len({outside, missing, text}) == 3
    assert not (tmp_path / "out.csv").exists()


def test_the_check_draws_nothing_and_counts_the_same(tmp_path: Path, monkeypatch: Any) -> None:
    path = table(tmp_path, ["12,5", "NA", "", "500", "17", "-3"])
    monkeypatch.setattr(dt.Podium, "perturb", None)  # a draw would fail
    fit = dt.data.check_file(path, MINUTES, dialect=Dialect(decimal=",", na=["NA"]))["minutes"]
    assert (fit.cells, fit.fit, fit.missing, fit.text, fit.outside) == (6, 2, 2, 0, 2)
    assert fit.rows == {"missing": (2, 3), "outside": (4, 6)}
    fit = dt.data.check_file(path, {"minutes": dt.Interval(0, 180)})["minutes"]
    assert (fit.fit, fit.missing, fit.text, fit.outside, fit.decimal) == (1, 1, 2, 2, True)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["in.csv"]


def test_values_outside(tmp_path: Path) -> None:
    path, out = table(tmp_path, ["-1", "500", "90", "inf"]), tmp_path / "out.csv"
    exact = {"minutes": dt.Podium(dt.Interval(0, 180), epsilon=50)}
    with pytest.raises(OutsideDomain, match="outside='clip'"):
        dt.data.perturb_file(path, out, exact)
    counts = dt.data.perturb_file(path, out, exact, outside="clip")
    assert counts == results.RowCounts(written=4, clipped=3)
    assert dt.mean(dt.data.summarise_file(out)["minutes"]).value == pytest.approx(450 / 4, abs=1)
    counts = dt.data.perturb_file(path, out, exact, outside="skip", force=True)
    assert counts == results.RowCounts(written=1, outside=3)
    with pytest.raises(InvalidParameter, match="no outside"):
        dt.data.perturb_file(path, out, exact, outside="clp")  # type: ignore[arg-type]


def test_angles_are_wrapped_and_labels_are_not_clipped(tmp_path: Path) -> None:
    path, out = table(tmp_path, ["370", "-350"]), tmp_path / "out.csv"
    angle = {"minutes": dt.OGPM(dt.Circle(360), epsilon=50)}
    dt.data.perturb_file(path, out, angle, outside="clip")
    assert dt.mean(dt.data.summarise_file(out)["minutes"]).value == pytest.approx(10, abs=1)
    for outside in ("error", "clip"):
        with pytest.raises(OutsideDomain, match="add a category"):
            dt.data.perturb_file(
                path, out, {"town": dt.KRR(dt.Categories(["a", "b"]), epsilon=1)}, outside=outside, force=True
            )


def test_whole_numbers_of_categories(tmp_path: Path) -> None:
    """2.7 is not rounded to an answer; 2.0 is 2, as programs write columns with gaps."""
    asked = {"minutes": dt.KRR(dt.Categories(5), epsilon=1)}
    fit = dt.data.check_file(table(tmp_path, ["2", "2.0", "2.7", "5", "-1", "x"]), asked)["minutes"]
    assert (fit.fit, fit.text, fit.outside) == (2, 1, 3)
    path = tmp_path / "in.jsonl"
    path.write_text('{"minutes": 2.7}\n{"minutes": [1]}\n{"minutes": 3}\n')
    fit = dt.data.check_file(path, asked)["minutes"]
    assert (fit.fit, fit.text, fit.outside) == (1, 1, 1)


@pytest.mark.slow
def test_standard_input_is_read_once_in_constant_memory(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(streams, "KEPT", 1 << 12)
    text = b"minutes\n" + b"".join(b"%d\n" % (number % 180) for number in range(200_000))

    class Standard:
        def __init__(self, data: bytes) -> None:
            self.buffer = io.BytesIO(data)

    for data, count in ((text, 200_000), (b"minutes\n5\n", 1)):
        monkeypatch.setattr(sys, "stdin", Standard(data))
        out = tmp_path / f"{count}.csv"
        assert dt.data.perturb_file("-", out, MINUTES).written == count
    monkeypatch.setattr(sys, "stdin", Standard(b"minutes\n4711\n"))
    with pytest.raises(OutsideDomain, match="standard input, row 1, column 'minutes'"):
        dt.data.perturb_file("-", tmp_path / "out.csv", MINUTES)


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_a_damaged_compressed_file_is_named(ending: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / f"in.csv.{ending}"
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(InvalidParameter, match=rf"in\.csv\.{ending} to be a valid \.{ending} file"):
        dt.data.check_file(path, MINUTES)
    good = tmp_path / f"good.csv.{ending}"
    dt.data.perturb_file(table(tmp_path, ["7"] * 9999), good, MINUTES)
    path.write_bytes(good.read_bytes()[:-20])
    with pytest.raises(InvalidParameter, match="to be a valid"):
        dt.data.summarise_file(path)
    with pytest.raises(InvalidParameter, match="compressed inside"):
        dt.data.check_file(tmp_path / f"in.parquet.{ending}", MINUTES)


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ({"sep": ",,"}, "one character"),
        ({"sep": "x"}, "one character"),
        ({"sep": 3}, "one character"),
        ({"decimal": "·"}, "decimal sign"),
        ({"encoding": "klingon"}, "cp1252"),
        ({"encoding": "base64"}, "cp1252"),
        ({"na": "NA"}, "list of words"),
    ],
)
def test_dialects_that_do_not_exist(wrong: dict[str, Any], hint: str) -> None:
    with pytest.raises(InvalidParameter, match=hint):
        Dialect(**wrong)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("minutes,town\n12,Berlin\n", True),
        ("12,Berlin\n55,Rome\n", False),
        ("Anna,Berlin\nBert,Rome\n", False),
        ("Anna,3\nBert,4\n", False),
        ("2026-01-02,x\n3,4\n", False),
        ("a@b.c,\n3,4\n", False),
    ],
)
def test_a_first_row_that_may_be_a_person_is_not_shown(text: str, shown: bool, tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text(text)
    with pytest.raises(InvalidParameter) as caught:
        dt.data.check_file(path, {"hours": dt.Interval(0, 1)})
    assert (text.split("\n", 1)[0].split(",", maxsplit=1)[0] in str(caught.value)) is shown
    assert "hours" in str(caught.value)


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_labels_of_a_file_are_drawn_as_the_same_list(tmp_path: Path, ending: str) -> None:
    polars = pytest.importorskip("polars")
    browser = dt.KRR(dt.Categories(["firefox", "chrome", "other"]), epsilon=1)
    answers = ["chrome", "firefox", "chrome", "other"] * 50
    path, out = tmp_path / f"in{ending}", tmp_path / "out.parquet"
    frame = polars.DataFrame({"browser": answers})
    write = {".csv": frame.write_csv, ".jsonl": frame.write_ndjson, ".parquet": frame.write_parquet}
    write[ending](path)
    dt.data.perturb_file(path, out, {"browser": browser}, source=dt.Seeded(4))
    expected = browser.perturb(answers, source=dt.Seeded(4)).cells.tolist()
    assert polars.read_parquet(out)["browser"].to_list() == expected
    drawn = dt.data.perturb(frame, {"browser": browser}, source=dt.Seeded(4))
    assert drawn["browser"].to_list() == expected


pa = pytest.importorskip("pyarrow")

ASKED = {"minutes": dt.Podium(dt.Interval(0, 180), epsilon=1)}
SECRET = "somebody"


@pytest.mark.parametrize(
    "same",
    [
        [1, 1.0, "1", " 1 ", "1.0", "1.00", Decimal("1.0"), Decimal("1E0"), b"1"],
        [0, 0.0, -0.0, "0", "0.0", "-0.0", Decimal("-0.0")],
        [1.5, "1.5", "1.50", Decimal("1.500")],
        [10**22, 1e22, str(10**22), Decimal("1e22")],
        [1e-7, "0.0000001", Decimal("1E-7")],
        [0.1, "0.1"],
        ["caf\u00e9", "cafe\u0301"],
        [None, "", "  ", float("nan"), Decimal("NaN"), b""],
        [True, "true"],
        [uuid.UUID(int=7), str(uuid.UUID(int=7))],
        [datetime.date(2020, 1, 2), "2020-01-02"],
    ],
)
def test_one_person(same: list[Any]) -> None:
    assert len({person_text(cell) for cell in same}) == 1


def test_different_persons() -> None:
    cells = [1, 2, -1, "007", 7, "A", "a", "1e3", 1000, 0.1, "0.10000000000000001", 2**53 + 1, 2.0**53]
    assert len({person_text(cell) for cell in cells}) == len(cells)


def test_values_that_are_not_ids() -> None:
    for cell in ([1], {"id": 1}, (1,), object()):
        assert person_text(cell) is None


def write(path: Path, ids: list[Any]) -> Path:
    """Write a table with these ids, and as many minutes; text stays text."""
    if path.suffix == ".csv":
        cells = ["" if one is None else str(one) for one in ids]
        path.write_text("minutes,id\n" + "".join(f'1,"{cell}"\n' for cell in cells))
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps({"minutes": 1, "id": one}) + "\n" for one in ids))
    else:
        table = pa.table({"minutes": [1.0] * len(ids), "id": ids})
        with pa.ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table)
    return path


@pytest.mark.parametrize(
    ("ending", "ids"),
    [
        ("csv", ["1", "1.0", " 1", "2", "1"]),
        ("jsonl", [1, 1.0, "1", 2, "1.0"]),
        ("arrow", [1.0, 1.0, 1.0, 2.0, 1.0]),
        ("arrow", ["1", "1.0", " 1", "2", "1"]),
    ],
)
def test_the_same_persons_in_every_format(ending: str, ids: list[Any], tmp_path: Path) -> None:
    path = write(tmp_path / f"in.{ending}", ids)
    counts = dt.data.perturb_file(path, tmp_path / "out.csv", ASKED, person="id")
    assert counts == results.RowCounts(written=2, repeated=3)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "arrow"])
@pytest.mark.parametrize("empty", [None, "", "  "])
def test_an_empty_id_is_refused_with_its_row(ending: str, empty: str | None, tmp_path: Path) -> None:
    path, out = write(tmp_path / f"in.{ending}", ["a", SECRET, empty, "b"]), tmp_path / "out.csv"
    with pytest.raises(InvalidParameter, match=rf"in\.{ending}, row 3, column 'id': .*empty") as caught:
        dt.data.perturb_file(path, out, ASKED, person="id")
    assert SECRET not in str(caught.value)
    assert not out.exists()
    assert dt.data.perturb_file(path, out, ASKED).written == 4


def test_nan_is_an_empty_id(tmp_path: Path) -> None:
    path = write(tmp_path / "in.arrow", [1.0, float("nan")])
    with pytest.raises(InvalidParameter, match=r"row 2, column 'id': .*empty"):
        dt.data.perturb_file(path, tmp_path / "out.csv", ASKED, person="id")


def test_an_id_of_several_values_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "in.jsonl", ["a", [SECRET]])
    with pytest.raises(InvalidParameter, match=r"row 2, column 'id': .*a text or a number") as caught:
        dt.data.perturb_file(path, tmp_path / "out.csv", ASKED, person="id")
    assert SECRET not in str(caught.value)


def test_a_row_without_an_answer_needs_no_id(tmp_path: Path) -> None:
    """Blank lines at the end of a file are rows without anything."""
    path = tmp_path / "in.csv"
    path.write_text("minutes,id\n1,a\n\n,\n2,b\n")
    counts = dt.data.perturb_file(path, tmp_path / "out.csv", ASKED, person="id", missing="skip")
    assert counts == results.RowCounts(written=2, missing=2)


def test_people_are_known_again_whatever_the_kind_of_column(tmp_path: Path) -> None:
    """Chunks of many kinds, repeats within and across them, and ids that are not as they stand."""
    random = np.random.default_rng(3)
    people, seen = KnownPeople(), set()
    for size in (1, 70_000, 300, 0, 5000):  # the table grows in between
        ids = [f"{number:x}" * (1 + number % 4) for number in random.integers(0, 90_000, size).tolist()]
        data = np.frombuffer("".join(ids).encode(), dtype=np.uint8)
        expected = []
        for one in ids:
            expected.append(one not in seen)
            seen.add(one)
        assert people.first_texts(data, np.cumsum([0, *map(len, ids)])).tolist() == expected
    assert not are_ids(np.frombuffer(b"a.b", np.uint8), np.array([0, 3]))
    assert not are_ids(np.frombuffer(b"ab", np.uint8), np.array([0, 0, 2]))
    assert not are_ids(np.frombuffer("é".encode(), np.uint8), np.array([0, 2]))
    assert are_ids(np.frombuffer(b"a1-b_2", np.uint8), np.array([0, 2, 6]))


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_mixed_ids_are_one_person(kind: str, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    ids = ["1", "1.0", " 1", "e\u0301", "\u00e9", "007", "7", "7", "x" * 40, "x" * 41, "x" * 40]
    place = tmp_path / f"in.{kind}"
    if kind == "parquet":
        parquet.write_table(pyarrow.table({"id": ids, "x": [0.5] * len(ids)}), place)
    elif kind == "csv":
        place.write_text("id,x\n" + "".join(f"{one},0.5\n" for one in ids), encoding="utf-8")
    else:
        place.write_text("".join(json.dumps({"id": one, "x": 0.5}) + "\n" for one in ids), encoding="utf-8")
    asked = {"x": dt.Podium(dt.Interval(0, 1), epsilon=1)}
    done = dt.data.perturb_file(place, tmp_path / f"out.{kind}", asked, person="id")
    assert (done.written, done.repeated) == (6, 5)


@pytest.mark.parametrize("kind", ["int64", "uint64", "int8", "float64", "float32", "large_string"])
def test_people_of_a_parquet_file_are_known_again(kind: str, tmp_path: Path) -> None:
    """Numbers are compared as numbers, texts by digests of 64 bits; nulls that did not answer are nobody."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    random, size = np.random.default_rng(5), 20_000
    numbers = random.integers(0, 100 if kind == "int8" else 9_000, size)
    if kind == "uint64":
        numbers = numbers.astype(np.uint64) + np.uint64(2**63)
    ids = [str(one) for one in numbers.tolist()] if kind == "large_string" else numbers.tolist()
    ids[0], values = None, [None, *[0.5] * (size - 1)]
    if kind.startswith("float"):
        ids[1:6] = [0.5, -0.0, 0.0, 1e300 if kind == "float64" else 1e30, 0.5]
    table = pa.table({"id": pa.array(ids, getattr(pa, kind)()), "x": values})
    parquet.write_table(table, tmp_path / "in.parquet", row_group_size=3_000)
    asked = {"x": dt.Podium(dt.Interval(0, 1), epsilon=1)}
    once = tmp_path / "in.parquet", tmp_path / "out.parquet", asked
    done = dt.data.perturb_file(*once, person="id", missing="skip")
    people = len({one for one in ids if one is not None})
    assert (done.written, done.repeated) == (people, size - 1 - people)
    parquet.write_table(table.set_column(1, "x", pa.array([0.5] * size)), tmp_path / "in.parquet")
    with pytest.raises(InvalidParameter, match="row 1, column 'id': the id of the person is empty"):
        dt.data.perturb_file(*once, person="id", force=True)


def test_a_table_of_people_grows_and_wraps_around() -> None:
    """Digests at the end of the table go on at its beginning, and stay known when the table grows."""
    known = _Digests()
    last = np.uint64(2**64 - 1) - np.arange(9, dtype=np.uint64)
    assert known.add(np.concatenate([last, last[:2]])).tolist() == [True] * 9 + [False] * 2
    others = np.random.default_rng(6).integers(1, 2**64, 600_000, dtype=np.uint64)
    assert known.add(others.copy()).all()
    assert not known.add(last.copy()).any()
    assert not known.add(others.copy()).any()
