"""A column is decided in one way: files and frames have the same reports, counts and errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dither as dt
from dither.data.dialect import Missing, Outside
from dither.errors import DitherError

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

NUMBER = dt.Podium(dt.Interval(0, 180), epsilon=1)
WORD = dt.KRR(dt.Categories(["a", "b"]), epsilon=1)
CODE = dt.KRR(dt.Categories([1, 2]), epsilon=1)
COUNT = dt.KRR(dt.Categories(3), epsilon=1)
SET = dt.SetResponse(dt.Several(["saw", "drill"], most=1), epsilon=1)
PERHAPS = dt.KRR(dt.Nullable(dt.Categories(["a", "b"])), epsilon=1)
SOME = dt.Podium(dt.Nullable(dt.Interval(0, 180)), epsilon=1)

# Columns: a question and its cells, some of which are missing or outside.
COLUMNS: dict[str, tuple[Any, list[Any]]] = {
    "numbers": (NUMBER, [1.0, 2.0, 180.0]),
    "numbers, missing": (NUMBER, [1.0, None, 3.0, None]),
    "numbers, outside": (NUMBER, [1.0, 300.0, 3.0, -7.0]),
    "numbers, both": (NUMBER, [None, 300.0, 3.0, None, -1.0]),
    "labels": (WORD, ["a", "b", "a"]),
    "labels, both": (WORD, ["a", None, "secret", "b"]),
    "labels that are numbers": (CODE, [1, 2, None, 7]),
    "codes": (COUNT, [0, 2, None, 3]),
    "sets": (SET, [["saw"], [], None, ["hammer", "saw"], ["drill", "saw"]]),
    "no answer is an answer": (PERHAPS, ["a", None, "secret", "b"]),
    "no number is an answer": (SOME, [1.0, None, 300.0, 2.0]),
}


def _texts(cells: list[Any]) -> list[str]:
    return [
        "" if cell is None else (";".join(cell) or ";") if isinstance(cell, list) else str(cell)
        for cell in cells
    ]


def _write(path: Path, cells: list[Any]) -> None:
    if path.suffix == ".csv":
        path.write_text("id,x\n" + "".join(f"0,{text}\n" for text in _texts(cells)))
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps({"x": cell}) + "\n" for cell in cells))
    else:
        pl.DataFrame({"x": cells}).write_parquet(path)


FRAMES: dict[str, Callable[[list[Any]], Any]] = {
    "arrow": lambda cells: pa.table({"x": cells}),
    "pandas": lambda cells: pd.DataFrame({"x": pd.Series(cells, dtype=object)}),
    "polars": lambda cells: pl.DataFrame({"x": cells}),
}


def _told(out: Any) -> list[Any]:
    """Return the reports of a frame, without the rows that have none."""
    table = pa.RecordBatchReader.from_stream(out).read_all()
    return [cell for cell in table.column("x").to_pylist() if cell is not None]


def _frame(make: Callable[[list[Any]], Any], name: str, **choices: Any) -> list[Any] | str:
    question, cells = COLUMNS[name]
    try:
        return _told(dt.data.perturb(make(cells), {"x": question}, source=dt.Seeded(5), **choices))
    except DitherError as error:
        return str(error)


def _file(folder: Path, ending: str, name: str, **choices: Any) -> list[Any] | str:
    question, cells = COLUMNS[name]
    path, out = folder / f"in.{ending}", folder / "out.parquet"
    _write(path, cells)
    try:
        dt.data.perturb_file(path, out, {"x": question}, source=dt.Seeded(5), force=True, **choices)
    except DitherError as error:
        return str(error).replace(f"in.{ending}, ", "")
    return _told(pl.read_parquet(out))


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize(
    ("missing", "outside"), [("error", "error"), ("skip", "error"), ("skip", "clip"), ("skip", "skip")]
)
@pytest.mark.some(every=3)
def test_files_and_frames_have_the_same_reports_and_errors(
    name: str, missing: Missing, outside: Outside, tmp_path: Path
) -> None:
    choices = {"missing": missing, "outside": outside}
    found: dict[str, Any] = {kind: _frame(make, name, **choices) for kind, make in FRAMES.items()}
    found |= {ending: _file(tmp_path, ending, name, **choices) for ending in ("csv", "jsonl", "parquet")}
    expected = found["arrow"]
    assert all(one == expected for one in found.values()), found
    assert "secret" not in str(expected)
    assert isinstance(expected, str) or missing == "skip" or None not in COLUMNS[name][1] or "answer" in name


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["a", "b", "never"])])
def test_categories_of_polars_are_drawn_as_texts_are(kind: Any) -> None:
    """Also with nulls, and from a slice: only values of the dictionary are looked up."""
    texts = pl.DataFrame({"x": ["a", None, "b", "b", "a"] * 50})
    coded = texts.cast({"x": kind})
    for part in (slice(0, 250), slice(7, 90)):
        drawn = [
            dt.data.perturb(frame[part], {"x": WORD}, missing="skip", source=dt.Seeded(1))
            for frame in (texts, coded)
        ]
        assert drawn[0].equals(drawn[1])
    with pytest.raises(DitherError, match="row 2, column 'x': the answer is missing"):
        dt.data.perturb(coded, {"x": WORD})
    kept = dt.data.perturb(texts.with_columns(y=coded["x"]), {"x": WORD}, keep=["y"], missing="skip")
    assert kept["y"].to_list() == coded["x"].to_list()
