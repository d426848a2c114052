"""CSV: the plain reader and the one of Arrow have one table of cases, with identical results."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.data.dialect import Dialect
from dither.data.formats import csv as csv_module
from dither.data.formats.csv import Csv, CsvBatch
from dither.errors import DitherError

pytest.importorskip("pyarrow")

PLAIN, QUICK = Csv(quick=False), Csv(quick=True)
EUROPE = Dialect(decimal=",")

# name: (the bytes of the file, its dialect, the cells of columns a and b, or a part of the error)
CASES: dict[str, tuple[bytes, Dialect, Any]] = {
    "plain": (b"a,b\n1,x\n2,y\n", Dialect(), [["1", "2"], ["x", "y"]]),
    "no last line end": (b"a,b\n1,x\n2,y", Dialect(), [["1", "2"], ["x", "y"]]),
    "Windows": (b"a,b\r\n1,x\r\n2,y\r\n", Dialect(), [["1", "2"], ["x", "y"]]),
    "old Macintosh": (b"a,b\r1,x\r2,y\r", Dialect(), [["1", "2"], ["x", "y"]]),
    "mixed line ends": (b"a,b\n1,x\r\n2,y\r3,z\n", Dialect(), [["1", "2", "3"], ["x", "y", "z"]]),
    "byte-order mark": (b"\xef\xbb\xbfa,b\n1,x\n", Dialect(), [["1"], ["x"]]),
    "UTF-16": ("a,b\n1,é\n".encode("utf-16"), Dialect(), [["1"], ["é"]]),
    "Western Windows": ("a,b\n1,é\n".encode("cp1252"), Dialect(encoding="cp1252"), [["1"], ["é"]]),
    "not UTF-8": ("a,b\n1,é\n".encode("cp1252"), Dialect(), "Dialect(encoding='cp1252')"),
    "not UTF-8, later": (b"a,b\n" + b"1,x\n" * 9 + b"1,\xe9\n", Dialect(), "Dialect(encoding='cp1252')"),
    "quotes": (b'a,b\n"1","x ""y"", z"\n2,u"v\n', Dialect(), [["1", "2"], ['x "y", z', 'u"v']]),
    "letters after quotes": (b'a,b\n1,"x"y\n', Dialect(), [["1"], ["xy"]]),
    "quoted newlines": (b'a,b\n1,"x\ny"\n2,"\r\n"\n', Dialect(), [["1", "2"], ["x\ny", "\r\n"]]),
    "quoted header": (b'"a","b\nb",b\n1,2,x\n', Dialect(), [["1"], ["x"]]),
    "quote without an end": (b'a,b\n1,"x\n2,y\n', Dialect(), "expected a closing quote"),
    "empty cells": (b'a,b\n,x\n1,\n"",""\n', Dialect(), [[None, "1", None], ["x", None, None]]),
    "empty lines": (b"a,b\n1,x\n\n2,y\n\n", Dialect(), [["1", None, "2", None], ["x", None, "y", None]]),
    "spaces": (b"a,b\n 1 , x\n", Dialect(), [[" 1 "], [" x"]]),
    "too many fields": (
        b"a,b\n7,x\n12,5,Berlin\n",
        Dialect(),
        "row 2: expected 2 fields as in the header, got 3",
    ),
    "too few fields": (b"a,b\n7,x\n12\n", Dialect(), "row 2: expected 2 fields as in the header, got 1"),
    "duplicate headers": (b"a,b,b\n1,x,y\n", Dialect(), "expected one column 'b'"),
    "other duplicates": (b"a,b,c,c\n1,x,y,z\n", Dialect(), "expected one column 'c'"),
    "semicolons": (b"a;b\n1;x\n", Dialect(), [["1"], ["x"]]),
    "semicolons with commas": (b"a;b\n12,5;x\n", EUROPE, [["12,5"], ["x"]]),
    "tabs": (b"a\tb\n1\tx\n", Dialect(), [["1"], ["x"]]),
    "bars": (b"b|a\nx|1\n", Dialect(), [["1"], ["x"]]),
    "separator given": (b"a;b\n1;x\n", Dialect(sep=";"), [["1"], ["x"]]),
    "the wrong separator": (b"a;b\n1;x\n", Dialect(sep=","), "cannot find the column 'a'"),
    "no header": (b"12,Berlin\n55,Rome\n", Dialect(), "cannot find the column 'a' among 2"),
    "no rows": (b"a,b\n", Dialect(), [[], []]),
    "nothing": (b"", Dialect(), "cannot find the column 'a' among 0"),
}


def outcome(reader: Csv, path: Path, dialect: Dialect) -> Any:
    cells: list[list[Any]] = [[], []]
    numbers: list[float] = []
    rows = []
    try:
        for chunk in reader.read(path, ["a", "b"], dialect):
            rows.append(chunk.first)
            for place, name in enumerate("ab"):
                cells[place] += chunk.cells(name)
            there = np.flatnonzero(~chunk.absent("a"))
            numbers += chunk.numbers("a", there).tolist()
    except DitherError as error:
        return str(error)
    return cells, repr(numbers)


@pytest.mark.parametrize("name", CASES)
def test_both_readers_agree(name: str, tmp_path: Path) -> None:
    data, dialect, expected = CASES[name]
    path = tmp_path / "in.csv"
    path.write_bytes(data)
    plain, quick = outcome(PLAIN, path, dialect), outcome(QUICK, path, dialect)
    assert plain == quick
    if isinstance(expected, str):
        assert expected in plain
        assert "Berlin" not in plain
    else:
        assert plain[0] == expected


def test_arrow_reads_what_is_usual(tmp_path: Path) -> None:
    """The comparison would be empty if the plain reader read everything."""
    path = tmp_path / "in.csv"
    path.write_bytes(CASES["quoted newlines"][0])
    assert all(isinstance(chunk, CsvBatch) for chunk in QUICK.read(path, ["a"]))


NUMBERS = (
    "1", " 2", "+3", "-4.5", ".5", "5.", "1e3", "1E-3", "inf", "-Infinity", "nan", "x", "1,5", "1.234,5",
    "0x10", "1_0", "１２", "1e999", "--1", "1 2", "9" * 30, "1e", "true", "0,1", "12,", ",5", "nan(1)",
)  # fmt: skip


@pytest.mark.parametrize("dialect", [Dialect(), EUROPE])
def test_numbers_are_the_same(dialect: Dialect, tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    for text in NUMBERS:
        for block in ([text], [text, "7"], ["1,5", text]):
            path.write_text("a\tb\n" + "".join(f"{cell}\tx\n" for cell in block), encoding="utf-8")
            assert outcome(PLAIN, path, dialect) == outcome(QUICK, path, dialect), (text, block)


def test_random_files_are_read_alike(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    random_ = random.Random(15)
    for _ in range(400):
        body = "".join(
            random_.choice(['"', ",", "\n", "\r\n", "\r", "1", "x", " ", "é", ""]) for _ in range(24)
        )
        path.write_bytes(("a,b\n1,2\n" + body).encode())
        plain, quick = outcome(PLAIN, path, Dialect()), outcome(QUICK, path, Dialect())
        assert plain == quick, body.encode()


def test_arrow_stops_in_the_middle_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that Arrow has read are not read again, and the numbers of rows go on."""
    monkeypatch.setattr(csv_module, "BLOCK", 4096)
    path = tmp_path / "in.csv"
    path.write_text("a,b\n" + "1,2\n" * 3000 + f"3,{'x' * 9000}\n4,5\n")  # a row longer than a block
    chunks = list(QUICK.read(path, ["a", "b"]))
    assert isinstance(chunks[0], CsvBatch)
    assert not isinstance(chunks[-1], CsvBatch)
    ends = np.cumsum([len(chunk) for chunk in chunks])
    assert ends[-1] == 3002
    assert [chunk.first for chunk in chunks] == [1, *(ends[:-1] + 1).tolist()]
    assert [len(chunk.cells("b")[-1]) for chunk in chunks][-1] == 1
    path.write_text("a,b\n" + "1,2\n" * 3000 + "5,6,7\n")
    with pytest.raises(DitherError, match="row 3001: expected 2 fields as in the header, got 3"):
        list(QUICK.read(path, ["a"]))


@pytest.mark.parametrize("rows", [0, csv_module.PLAIN_ROWS])
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.zst", "tsv", "jsonl.gz"])
def test_both_writers_write_the_same_cells(
    ending: str, rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kept texts that need quotes come back as they were; compressed files are read as the others."""
    from dither.data.formats.format import table_format

    monkeypatch.setattr(csv_module, "PLAIN_ROWS", rows)
    texts = ["plain", 'a "quote"', "a, comma", "two\nlines", "return\rhere", " space ", "é", "#hash", "-"]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"a": place, "b": text}) + "\n" for place, text in enumerate(texts)))
    middle, out = tmp_path / "middle.csv", tmp_path / f"out.{ending}"
    asked = {"a": dt.KRR(dt.Categories(9), epsilon=50)}
    dt.data.perturb_file(path, middle, asked, keep=["b"])
    raw = tmp_path / "raw.csv"
    raw.write_bytes(middle.read_bytes().split(b"\n", 1)[1])
    dt.data.perturb_file(raw, out, asked, keep=["b"])
    cells = [cell for chunk in table_format(out).read(out, ["b"]) for cell in chunk.cells("b")]
    assert cells == texts
    assert dt.data.summarise_file(out)["a"].n == len(texts)


def test_a_file_is_written_alike_by_both_writers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first rows are written by Python, those after `PLAIN_ROWS` by Polars: the bytes are the same."""
    pytest.importorskip("polars")
    texts = ["plain", 'a "quote"', "a, comma", "two\nlines", " space ", "é", "#hash", "-", ""]
    path = tmp_path / "in.csv"
    rows = "".join('{},"{}"\n'.format(place % 9, text.replace('"', '""')) for place, text in enumerate(texts))
    path.write_text("a,b\n" + rows * 50)
    monkeypatch.setattr(csv_module, "BLOCK", 512)
    question, found = {"a": dt.OUE(dt.Categories(9), epsilon=1)}, set()
    for plain_rows in (0, 200, 1 << 20):
        monkeypatch.setattr(csv_module, "PLAIN_ROWS", plain_rows)
        out = tmp_path / f"{plain_rows}.csv"
        dt.data.perturb_file(path, out, question, keep=["b"], source=dt.Seeded(3))
        found.add(out.read_bytes())
    assert len(found) == 1
