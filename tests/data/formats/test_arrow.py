"""What is left out of a table stays out: not in a dictionary, a view or a run, and not under a null."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither import results
from dither.data.formats.format import table_format

pa = pytest.importorskip("pyarrow")

# Long enough to lie outside a view's own sixteen bytes.
SECRET, SHOWN = "the secret of somebody who was left out", ["an ordinary word, shown", "another word, shown"]
THREE = [SHOWN[0], SECRET, SHOWN[1]]
ASKED = {"minutes": dt.Podium(dt.Interval(0, 180), epsilon=1)}


def words() -> Any:
    return pa.array(THREE).dictionary_encode()


def under_null() -> Any:
    """Three texts, of which the second is null but lies in the buffer."""
    ends = np.cumsum([0, *map(len, THREE)]).astype(np.int32)
    buffers = [pa.py_buffer(b"\x05"), pa.py_buffer(ends), pa.py_buffer("".join(THREE).encode())]
    return pa.Array.from_buffers(pa.string(), 3, buffers)


COLUMNS: dict[str, Callable[[], Any]] = {
    "dictionary": words,
    "wide dictionary": lambda: words().cast(pa.dictionary(pa.int64(), pa.large_string())),
    "view": lambda: pa.array(THREE, pa.string_view()),
    "binary view": lambda: pa.array([one.encode() for one in THREE], pa.binary_view()),
    "dictionary of views": lambda: pa.DictionaryArray.from_arrays(
        [0, 1, 2], pa.array(THREE, pa.string_view())
    ),
    "runs": lambda: pa.RunEndEncodedArray.from_arrays(pa.array([1, 2, 3], pa.int32()), pa.array(THREE)),
    "list": lambda: pa.ListArray.from_arrays([0, 1, 2, 3], words()),
    "list view": lambda: pa.ListViewArray.from_arrays([0, 1, 2], [1, 1, 1], pa.array(THREE)),
    "struct": lambda: pa.StructArray.from_arrays([words()], ["word"]),
    "map": lambda: pa.MapArray.from_arrays([0, 1, 2, 3], pa.array(["k"] * 3), words()),
    "text": lambda: pa.array(THREE),
}
UNDER_NULL: dict[str, Callable[[], Any]] = {
    "text": under_null,
    "struct": lambda: pa.StructArray.from_arrays(
        [pa.array(THREE)], ["word"], mask=pa.array([False, True, False])
    ),
}


def write(path: Path, minutes: list[float | None], column: Any) -> bool:
    """Write a table of three rows; False if the format has no such column."""
    batch = pa.record_batch(
        {"minutes": pa.array(minutes, pa.float64()), "id": pa.array([1, 2, 1]), "word": column}
    )
    try:
        if path.suffix == ".arrow":
            with pa.ipc.new_file(str(path), batch.schema) as writer:
                writer.write_batch(batch)
        else:
            from pyarrow import parquet

            parquet.write_table(pa.Table.from_batches([batch]), path)
    except pa.ArrowException:
        return False
    return True


@pytest.mark.some(every=3)
@pytest.mark.parametrize("goes", ["arrow", "feather", "parquet", "csv", "jsonl"])
@pytest.mark.parametrize("came", ["arrow", "parquet"])
@pytest.mark.parametrize("kind", COLUMNS)
def test_a_row_that_is_left_out_is_nowhere_in_the_file(
    kind: str, came: str, goes: str, tmp_path: Path
) -> None:
    path, out = tmp_path / f"in.{came}", tmp_path / f"out.{goes}"
    if not write(path, [1.0, None, 3.0], COLUMNS[kind]()):
        pytest.skip(f"{came} has no column of this type")
    counts = dt.data.perturb_file(path, out, ASKED, keep=["word"], missing="skip")
    assert counts == results.RowCounts(written=2, missing=1)
    (chunk,) = table_format(out).read(out, ["word"])
    assert [SHOWN[row] in str(cell) for row, cell in enumerate(chunk.cells("word"))] == [True, True]
    assert SECRET.encode() not in out.read_bytes()
    assert SECRET.encode() in path.read_bytes()  # the test can fail


@pytest.mark.parametrize("goes", ["arrow", "parquet"])
@pytest.mark.parametrize("kind", UNDER_NULL)
def test_bytes_stored_at_a_null_are_not_written(kind: str, goes: str, tmp_path: Path) -> None:
    path, out = tmp_path / "in.arrow", tmp_path / f"out.{goes}"
    assert write(path, [1.0, 2.0, 3.0], UNDER_NULL[kind]())
    assert dt.data.perturb_file(path, out, ASKED, keep=["word"]).written == 3
    (chunk,) = table_format(out).read(out, ["word"])
    assert chunk.cells("word")[1] is None
    assert SECRET.encode() not in out.read_bytes()
    assert SECRET.encode() in path.read_bytes()


def test_further_rows_of_a_person_are_nowhere_either(tmp_path: Path) -> None:
    path, out = tmp_path / "in.arrow", tmp_path / "out.arrow"
    write(path, [1.0, 2.0, 3.0], pa.array([*SHOWN, SECRET]).dictionary_encode())
    assert dt.data.perturb_file(path, out, ASKED, keep=["word"], person="id").repeated == 1
    assert SECRET.encode() not in out.read_bytes()


def test_every_row_left_out(tmp_path: Path) -> None:
    path, out = tmp_path / "in.arrow", tmp_path / "out.arrow"
    write(path, [None, None, None], words())
    dt.data.perturb_file(path, out, ASKED, keep=["word"], missing="skip")
    for word in THREE:
        assert word.encode() not in out.read_bytes()


def _table() -> Any:
    return pa.table({"minutes": [1.0, 3.0], "word": words().take(pa.array([0, 2]))})


def _pandas(ordered: bool = False) -> Any:
    pandas = pytest.importorskip("pandas")
    word = pandas.Categorical(THREE, categories=THREE[::-1], ordered=ordered)
    frame = pandas.DataFrame({"minutes": [1.0, 2.0, 3.0], "word": word})
    return frame[frame["minutes"] != 2.0]


def _pandas_index() -> Any:
    return _pandas().set_index("word")


def _polars(kind: str) -> Any:
    polars = pytest.importorskip("polars")
    dtype = {
        "Categorical": polars.Categorical,
        "Enum": polars.Enum(THREE),
        "List": polars.List(polars.Enum(THREE)),
    }
    rows = [[one] for one in THREE] if kind == "List" else THREE
    frame = polars.DataFrame(
        {"minutes": [1.0, 2.0, 3.0], "word": rows}, schema={"minutes": polars.Float64, "word": dtype[kind]}
    )
    return frame.filter(polars.col("minutes") != 2.0)


def _duckdb() -> Any:
    return pytest.importorskip("duckdb").from_arrow(_table())


def _ipc(frame: Any) -> bytes:
    sink = pa.BufferOutputStream()
    table = pa.RecordBatchReader.from_stream(frame).read_all()
    with pa.ipc.new_file(sink, table.schema) as writer:  # a file: it has one dictionary for all batches
        writer.write_table(table)
    return bytes(sink.getvalue())


FRAMES: dict[str, Callable[[], Any]] = {
    "table": _table,
    "reader": lambda: _table().to_reader(),
    "pandas": _pandas,
    "pandas, ordered": lambda: _pandas(ordered=True),
    "pandas, index": _pandas_index,
    "polars, categorical": lambda: _polars("Categorical"),
    "polars, enum": lambda: _polars("Enum"),
    "polars, enums in lists": lambda: _polars("List"),
    "polars, lazy": lambda: _polars("Enum").lazy(),
    "duckdb": _duckdb,
}


@pytest.mark.parametrize("kind", FRAMES)
def test_a_row_that_was_filtered_out_is_nowhere_in_the_frame(kind: str) -> None:
    keep = [] if kind == "pandas, index" else ["word"]
    out = dt.data.perturb(FRAMES[kind](), ASKED, keep=keep)
    if kind == "polars, lazy":
        out = out.collect()
    written = _ipc(out)
    if kind.startswith(("pandas", "polars")):
        written += pickle.dumps(out)
    for word in SHOWN:
        assert (word.encode() in written) == bool(keep)
    assert SECRET.encode() not in written


def test_categories_keep_their_order_and_their_kind() -> None:
    out = dt.data.perturb(_pandas(ordered=True), ASKED, keep=["word"])
    assert out["word"].dtype.ordered
    assert out["word"].cat.categories.tolist() == SHOWN[::-1]
    assert out["word"].tolist() == SHOWN
    polars = pytest.importorskip("polars")
    assert dt.data.perturb(_polars("Enum"), ASKED, keep=["word"])["word"].dtype == polars.Enum(SHOWN)
    assert dt.data.perturb(_polars("Categorical"), ASKED, keep=["word"])["word"].dtype == polars.Categorical
    assert dt.data.perturb(_polars("Enum"), ASKED, keep=["word"])["word"].to_list() == SHOWN


def test_a_question_about_categories() -> None:
    asked = {"word": dt.KRR(dt.Categories(THREE), epsilon=1)}
    for kind in ("pandas", "polars, enum", "polars, categorical", "table", "reader", "duckdb"):
        out = dt.data.perturb(FRAMES[kind](), asked)
        assert dt.data.summarise(out, asked)["word"].n == 2


def test_dictionaries_of_many_batches_become_one() -> None:
    column = pa.chunked_array(
        [pa.array(["a", None, "b"]).dictionary_encode(), pa.array(["c", "a", None]).dictionary_encode()]
    )
    frame = pa.table({"minutes": [1.0] * 6, "word": column})
    out = dt.data.perturb(frame, ASKED, keep=["word"])
    assert out.column("word").to_pylist() == column.to_pylist()
    assert _ipc(out)
    empty = dt.data.perturb(frame.slice(0, 0), ASKED, keep=["word"])
    assert empty.schema.field("word").type == frame.schema.field("word").type
    assert b"abc" not in _ipc(empty)
