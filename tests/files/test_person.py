"""The ids of persons: one rule for every format."""

from __future__ import annotations

import datetime
import json
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import dither as dt
from dither.errors import InvalidParameter
from dither.files.person import person_text

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


def test_what_is_no_id() -> None:
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
    counts = dt.files.perturb_file(path, tmp_path / "out.csv", ASKED, person="id")
    assert counts == dt.files.RowCounts(written=2, repeated=3)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "arrow"])
@pytest.mark.parametrize("empty", [None, "", "  "])
def test_an_empty_id_is_refused_with_its_row(ending: str, empty: str | None, tmp_path: Path) -> None:
    path, out = write(tmp_path / f"in.{ending}", ["a", SECRET, empty, "b"]), tmp_path / "out.csv"
    with pytest.raises(InvalidParameter, match=rf"in\.{ending}, row 3, column 'id': .*empty") as caught:
        dt.files.perturb_file(path, out, ASKED, person="id")
    assert SECRET not in str(caught.value)
    assert not out.exists()
    assert dt.files.perturb_file(path, out, ASKED).written == 4


def test_nan_is_an_empty_id(tmp_path: Path) -> None:
    path = write(tmp_path / "in.arrow", [1.0, float("nan")])
    with pytest.raises(InvalidParameter, match=r"row 2, column 'id': .*empty"):
        dt.files.perturb_file(path, tmp_path / "out.csv", ASKED, person="id")


def test_an_id_of_several_values_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "in.jsonl", ["a", [SECRET]])
    with pytest.raises(InvalidParameter, match=r"row 2, column 'id': .*a text or a number") as caught:
        dt.files.perturb_file(path, tmp_path / "out.csv", ASKED, person="id")
    assert SECRET not in str(caught.value)


def test_a_row_without_an_answer_needs_no_id(tmp_path: Path) -> None:
    """Blank lines at the end of a file are rows without anything."""
    path = tmp_path / "in.csv"
    path.write_text("minutes,id\n1,a\n\n,\n2,b\n")
    counts = dt.files.perturb_file(path, tmp_path / "out.csv", ASKED, person="id", missing=dt.Missing.SKIP)
    assert counts == dt.files.RowCounts(written=2, missing=2)
