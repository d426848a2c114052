"""Messy numbers: codes for missing answers in every format, thousands, sheets of Excel, dates."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest

import dither as dt
from dither.data import Dialect
from dither.errors import InvalidParameter, OutsideDomain
from tests.support.terminal import run

openpyxl = pytest.importorskip("openpyxl")
pyarrow = pytest.importorskip("pyarrow")

AGE = {"age": dt.Interval(18, 100)}
INCOME = {"income": dt.Interval(0, 10_000)}
AGES = [30, -99, 41, None, -99.0]


def write(path: Path, name: str, cells: list[Any]) -> Path:
    if path.suffix == ".csv":
        path.write_text("\n".join([f"{name},x", *(f'"{"" if cell is None else cell}",1' for cell in cells)]))
    elif path.suffix == ".jsonl":
        path.write_text("\n".join(json.dumps({name: cell, "x": 1}) for cell in cells))
    elif path.suffix == ".parquet":
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.table({name: pyarrow.array(cells, pyarrow.float64())}), path)
    else:
        book = openpyxl.Workbook()
        for row in ([name], *([cell] for cell in cells)):
            book.active.append(row)
        book.save(path)
    return path


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "xlsx"])
@pytest.mark.parametrize("code", ["-99", "-99.0"])
def test_a_code_for_missing_is_a_number_in_every_format(ending: str, code: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"in.{ending}", "age", AGES)
    fit = dt.data.check_file(path, AGE, dialect=Dialect(na=[code]))["age"]
    assert (fit.fit, fit.missing, fit.rows["missing"]) == (2, 3, (2, 4, 5))
    clipped = run(
        *("perturb", path, "--column", "age", "--interval", 18, 100, "--epsilon", 1, f"--na={code}"),
        *("--outside", "clip", "--missing", "skip", "-o", tmp_path / "out.csv"),
    )
    assert "2 reports" in clipped.output
    assert "clipped" not in clipped.output


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("cells", [["3.500", "900", "1.250"], ["3,500", "900"], ["1.234.567"]])
def test_thousands_are_never_guessed(cells: list[str], big: bool, tmp_path: Path) -> None:
    path = write(tmp_path / "in.csv", "income", cells * (20_000 if big else 1))
    with pytest.raises(OutsideDomain, match="thousands="):
        dt.data.perturb_file(path, tmp_path / "out.csv", {"income": dt.Podium(INCOME["income"], epsilon=1)})
    seen = run("check", path, "--column", "income", "--interval", 0, 10_000)
    assert seen.exit_code == 1
    assert "ambiguous" in seen.output


@pytest.mark.parametrize("place", [0, 1, -1])
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_the_verdict_on_thousands_is_that_of_the_file(
    ending: str, place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A decimal in any row tells what points are, wherever chunks begin; a word with a point does not."""
    for module in ("csv", "jsonl"):
        monkeypatch.setattr(f"dither.data.formats.{module}.ROWS", 2)
    asked = {"income": dt.Podium(INCOME["income"], epsilon=1)}
    cells = ["3.500", "1.250", "900", "2.000", "4.125"]
    cells.insert(place % 6, "0.5")
    told = write(tmp_path / f"in.{ending}", "income", cells)
    assert dt.data.check_file(told, INCOME)["income"].fit == 6
    assert dt.data.perturb_file(told, tmp_path / "out.csv", asked).written == 6
    cells[cells.index("0.5")] = "n.a."
    seen = dt.data.check_file(write(tmp_path / f"word.{ending}", "income", cells), INCOME)["income"]
    assert (seen.fit, seen.thousands) == (1, True)
    many = write(tmp_path / f"other.{ending}", "income", ["1,5", "x", "3,500"])
    found = dt.data.check_file(many, INCOME)["income"]
    assert (found.thousands, found.decimal) == (True, True)


def test_standard_input_is_read_once_and_each_cell_is_judged_alone() -> None:
    asked = ("perturb", "-", "--column", "income", "--interval", 0, 10_000, "--epsilon", 1, "-o", "-")
    for cells, more, code in (
        ("3.500\n0.5", (), 2),
        ("0.25\n0.5", (), 0),
        ("3.500\n0.5", ("--decimal", "."), 0),
    ):
        assert run(*asked, *more, input=f"income\n{cells}\n").exit_code == code


def test_thousands_and_decimals_are_read_as_stated(tmp_path: Path) -> None:
    path = write(tmp_path / "in.csv", "income", ["3.500", "900"])
    for dialect, values in ((Dialect(thousands="."), [3500.0, 900.0]), (Dialect(decimal="."), [3.5, 900.0])):
        assert dt.data.check_file(path, INCOME, dialect=dialect)["income"].fit == 2
        assert [dialect.number(cell) for cell in ("3.500", "900")] == values
    points = write(tmp_path / "points.csv", "income", ["3.500", "0.5"])  # of which one cannot be thousands
    assert dt.data.check_file(points, INCOME)["income"].fit == 2
    ages = write(tmp_path / "ages.csv", "age", ["43.125"])  # 43 125 is no age
    assert dt.data.check_file(ages, AGE)["age"].fit == 1
    swiss = Dialect(thousands="'", decimal=".")
    read = {
        "1'234.5": 1234.5,
        "1 234": None,
        "12'34": None,
        "1'234'567": 1234567.0,
        "-1’000": -1000.0,
        "7": 7.0,
    }
    for text, number in read.items():
        assert str(swiss.number(text)) == str(float("nan") if number is None else number)
    assert Dialect(thousands="space", decimal=",").number("1\u202f234,5") == 1234.5
    for wrong in (
        {"thousands": "x"},
        {"thousands": ".", "decimal": "."},
        {"header_row": 0},
        {"header_row": "3-1"},
    ):
        with pytest.raises(InvalidParameter):
            Dialect(**wrong)


@pytest.fixture
def workbook(tmp_path: Path) -> Path:
    book = openpyxl.Workbook()
    book.active.title = "Read me"
    book.active.append(["This is about 2026"])
    data = book.create_sheet("Data")
    data.append(["Survey", None, None, None])
    data.append(["Person", None, "Income", None])
    data.merge_cells("A2:B2")
    data.merge_cells("C2:D2")
    data.append(["age", "born", "then", "now"])
    data.append([30, datetime.datetime(1996, 2, 3), 2000, 2500])
    data.append([41, datetime.datetime(1985, 6, 7), 3000, 3500])
    path = tmp_path / "survey.xlsx"
    book.save(path)
    return path


def test_sheets_and_header_rows(workbook: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="1 'Read me', 2 'Data'"):
        dt.data.check_file(workbook, AGE, dialect=Dialect(sheet="data"))
    for sheet in ("Data", 2):
        assert dt.data.check_file(workbook, AGE, dialect=Dialect(sheet=sheet, header_row=3))["age"].fit == 2
    both = Dialect(sheet="Data", header_row="2-3")
    now = {"Income now": dt.Interval(0, 9000), "Person age": dt.Interval(18, 100)}
    assert {name: fit.fit for name, fit in dt.data.check_file(workbook, now, dialect=both).items()} == {
        "Income now": 2,
        "Person age": 2,
    }
    merged = Dialect(sheet="Data", header_row=2)
    text = {"Income (2)": dt.Categories(["now", "x"])}
    assert dt.data.check_file(workbook, text, dialect=merged)["Income (2)"].fit == 1
    asked = {"age": dt.Podium(AGE["age"], epsilon=1)}
    where = Dialect(sheet="Data", header_row=3)
    dt.data.perturb_file(workbook, tmp_path / "out.csv", asked, keep=["born"], dialect=where)
    rows = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()[2:]
    assert [row.split(",")[1] for row in rows] == ["1996-02-03", "1985-06-07"]  # a date, and no midnight


def test_cells_that_do_not_fit_are_listed_for_the_holder_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "in.csv", "age", [30, "x\x1b[31m", 12, None])
    shown = run("check", path, "--column", "age", "--interval", 18, 100, "--show")
    assert shown.exit_code == 1
    assert [line.split()[-2:] for line in shown.output.splitlines()[1:]] == [["1", row] for row in "423"]
    assert "'12'" in shown.output
    assert "\x1b[31m" not in shown.output
    plain = run("check", path, "--column", "age", "--interval", 18, 100)
    assert "'12'" not in plain.output


def test_several_answers_in_a_cell(tmp_path: Path) -> None:
    path = write(tmp_path / "in.csv", "tools", ["saw|drill", "drill", "|"])
    made = run(
        *("perturb", path, "--column", "tools", "--several", "|", "--categories", "saw,drill,level"),
        *("--most", 2, "--epsilon", 1, "-o", tmp_path / "out.csv"),
    )
    assert "3 reports" in made.output, made.output
    assert (
        "expected --categories"
        in run("check", path, "--column", "tools", "--several", "|", "--most", 2).output
    )
