"""What is missing, and what is not a number, is the same in every kind of frame and file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither import results
from dither.data.dialect import Missing
from dither.errors import OutsideDomain

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")

NAN = float("nan")
NUMBER = dt.Podium(dt.Interval(0, 180), epsilon=1)
WORD = dt.KRR(dt.Categories(["a", "b"]), epsilon=1)
BITS = dt.OUE(dt.Categories(["a", "b"]), epsilon=1)
MISSING = "row 2, column 'x': the answer is missing"
OUTSIDE = "row 2, column 'x': the (value is not in|cell is not a number)"


def _nulls(kind: Any, *cells: Any) -> Any:
    return pa.table({"x": pa.array(cells, kind)})


# Frames of two rows with a missing answer in the second.
MISSING_IN: dict[str, Callable[[], tuple[Any, Any]]] = {
    "arrow": lambda: (_nulls(pa.float64(), 1.0, None), NUMBER),
    "arrow, masked": lambda: (pa.table({"x": pa.array(np.ones(2), mask=np.array([False, True]))}), NUMBER),
    "arrow, text": lambda: (_nulls(pa.string(), "a", None), WORD),
    "arrow, several numbers": lambda: (_nulls(pa.string(), "a", None), BITS),
    "arrow, view": lambda: (_nulls(pa.string_view(), "a", None), WORD),
    "arrow, decimal": lambda: (_nulls(pa.decimal128(5, 2), 1, None), NUMBER),
    "arrow, dictionary": lambda: (pa.table({"x": pa.array(["a", None]).dictionary_encode()}), WORD),
    "arrow, null in the dictionary": lambda: (
        pa.table({"x": pa.DictionaryArray.from_arrays([0, 1], pa.array(["a", None]))}),
        WORD,
    ),
    "arrow, numbers in a dictionary": lambda: (
        pa.table({"x": pa.array([1.0, None]).dictionary_encode()}),
        NUMBER,
    ),
    "arrow, runs": lambda: (
        pa.table({"x": pa.RunEndEncodedArray.from_arrays([1, 2], pa.array([1.0, None]))}),
        NUMBER,
    ),
    "pandas, nan": lambda: (pd.DataFrame({"x": [1.0, NAN]}), NUMBER),
    "pandas, object": lambda: (pd.DataFrame({"x": pd.Series([1.0, None], dtype=object)}), NUMBER),
    "pandas, Float64": lambda: (pd.DataFrame({"x": pd.array([1.0, pd.NA], dtype="Float64")}), NUMBER),
    "pandas, Int64": lambda: (pd.DataFrame({"x": pd.array([1, pd.NA], dtype="Int64")}), NUMBER),
    "pandas, text": lambda: (pd.DataFrame({"x": ["a", None]}), WORD),
    "pandas, several numbers": lambda: (pd.DataFrame({"x": ["a", None]}), BITS),
    "pandas, categorical": lambda: (pd.DataFrame({"x": pd.Categorical(["a", None])}), WORD),
    "polars": lambda: (pl.DataFrame({"x": [1.0, None]}), NUMBER),
    "polars, lazy": lambda: (pl.LazyFrame({"x": [1, None]}), NUMBER),
    "polars, text": lambda: (pl.DataFrame({"x": ["a", None]}), WORD),
    "polars, several numbers": lambda: (pl.DataFrame({"x": ["a", None]}), BITS),
    "polars, enum": lambda: (pl.DataFrame({"x": ["a", None]}, schema={"x": pl.Enum(["a", "b"])}), WORD),
    "duckdb": lambda: (duckdb.sql("select * from (values (1::double), (null)) t(x)"), NUMBER),
    "duckdb, decimal": lambda: (duckdb.sql("select * from (values (1.5), (null)) t(x)"), NUMBER),
    "duckdb, text": lambda: (duckdb.sql("select * from (values ('a'), (null)) t(x)"), WORD),
}
# Frames of two rows whose second value is there, but is not in the domain.
WRONG_IN: dict[str, Callable[[], tuple[Any, Any]]] = {
    "arrow": lambda: (_nulls(pa.float64(), 1.0, NAN), NUMBER),
    "pandas, arrow": lambda: (
        pd.DataFrame({"x": pd.arrays.ArrowExtensionArray(pa.array([1.0, NAN]))}),
        NUMBER,
    ),
    "polars": lambda: (pl.DataFrame({"x": [1.0, NAN]}), NUMBER),
    "duckdb": lambda: (duckdb.sql("select * from (values (1::double), ('nan'::double)) t(x)"), NUMBER),
    "arrow, empty text": lambda: (_nulls(pa.string(), "a", ""), WORD),
    "pandas, empty text": lambda: (pd.DataFrame({"x": ["a", ""]}), WORD),
    "polars, empty text": lambda: (pl.DataFrame({"x": ["a", ""]}), WORD),
}


@pytest.mark.parametrize("kind", MISSING_IN)
def test_a_missing_answer(kind: str) -> None:
    frame, mechanism = MISSING_IN[kind]()
    asked = {"x": mechanism}
    with pytest.raises(OutsideDomain, match=MISSING):
        dt.data.perturb(frame, asked)
    out = dt.data.perturb(frame, asked, missing="skip")
    assert dt.data.summarise(out, asked)["x"].n == 1
    rows = out.collect() if hasattr(out, "collect") else out
    assert pa.RecordBatchReader.from_stream(rows).read_all().column("x").is_null().to_pylist() == [
        False,
        True,
    ]


@pytest.mark.parametrize("choice", ["error", "skip"])
@pytest.mark.parametrize("kind", WRONG_IN)
def test_nan_is_an_error_with_every_choice(kind: str, choice: Missing) -> None:
    frame, mechanism = WRONG_IN[kind]()
    with pytest.raises(OutsideDomain, match=OUTSIDE):
        dt.data.perturb(frame, {"x": mechanism}, missing=choice)


def test_a_wrong_value_after_a_missing_one_is_named_by_its_own_row() -> None:
    frame = pa.table({"x": [None, 1.0, None, NAN, NAN]})
    with pytest.raises(OutsideDomain, match="row 4, column 'x'"):
        dt.data.perturb(frame, {"x": NUMBER}, missing="skip")


@pytest.mark.parametrize("mechanism", [NUMBER, WORD, BITS])
def test_nobody_answered(mechanism: Any) -> None:
    for frame in (
        pa.table({"x": pa.nulls(3)}),
        pl.DataFrame({"x": [None] * 3}),
        pd.DataFrame({"x": [None] * 3}),
    ):
        out = dt.data.perturb(frame, {"x": mechanism}, missing="skip")
        assert dt.data.summarise(out, {"x": mechanism})["x"].n == 0


def test_expressions_of_polars_have_the_same_rule() -> None:
    import dither.data.frames.polars  # noqa: F401

    for choice in ("error", "skip"):
        with pytest.raises(Exception, match=OUTSIDE):
            pl.DataFrame({"x": [1.0, NAN]}).select(pl.col("x").dither.perturb(NUMBER, missing=choice))
    words = pl.DataFrame({"x": ["a", None]})
    with pytest.raises(Exception, match=MISSING):
        words.select(pl.col("x").dither.perturb(WORD))
    out = words.select(pl.col("x").dither.perturb(WORD, missing="skip"))
    assert out["x"].is_null().to_list() == [False, True]


def _write(path: Path, cells: list[Any]) -> None:
    if path.suffix == ".csv":
        path.write_text("id,x\n" + "".join(f"0,{'' if cell is None else cell}\n" for cell in cells))
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps({"x": cell}) + "\n" for cell in cells))
    elif path.suffix == ".arrow":
        table = pa.table({"x": pa.array(cells)})
        if isinstance(cells[0], str):  # with the null in the dictionary
            table = pa.table({"x": pa.DictionaryArray.from_arrays(range(len(cells)), pa.array(cells))})
        with pa.ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table)
    else:
        pd.DataFrame({"x": cells}).to_parquet(path)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "arrow", "parquet"])
def test_files_have_the_same_rule(ending: str, tmp_path: Path) -> None:
    path, out = tmp_path / f"in.{ending}", tmp_path / "out.csv"
    for cells, mechanism in (([1.0, None], NUMBER), (["a", None], WORD)):
        _write(path, cells)
        with pytest.raises(OutsideDomain, match=MISSING):
            dt.data.perturb_file(path, out, {"x": mechanism}, force=True)
        counts = dt.data.perturb_file(path, out, {"x": mechanism}, missing="skip", force=True)
        assert counts == results.RowCounts(written=1, missing=1)
    if ending != "parquet":  # pandas writes it, to which NaN is missing
        _write(path, [1.0, NAN])
        for choice in ("error", "skip"):
            with pytest.raises(OutsideDomain, match=OUTSIDE):
                dt.data.perturb_file(path, out, {"x": NUMBER}, missing=choice, force=True)
