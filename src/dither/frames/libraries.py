"""Data frames of every library as a stream of record batches, and back to a frame of that library."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from dither.errors import InvalidParameter
from dither.files.arrow import BATCH, arrow

if TYPE_CHECKING:
    import pyarrow

Back = Callable[["pyarrow.RecordBatchReader"], Any]


def open_stream(frame: Any) -> tuple[pyarrow.RecordBatchReader, Back]:
    """Return a frame's record batches, and the function that makes a frame of its kind from batches.

    Any object with the Arrow C stream protocol will do. A lazy frame is evaluated here, once: each evaluation
    draws new reports and spends the budget again.
    """
    pa = arrow()
    library = type(frame).__module__.partition(".")[0]
    if library == "polars" and type(frame).__name__ == "LazyFrame":
        return _stream(pa, frame.collect(engine="streaming")), lambda reader: _polars(reader).lazy()
    if library == "polars":
        return _stream(pa, frame), _polars
    if library == "pandas":
        return _stream(pa, frame), _pandas(frame.index)
    if library in ("duckdb", "_duckdb"):
        return _stream(pa, frame), _duckdb
    if isinstance(frame, pa.Table):
        return frame.to_reader(max_chunksize=BATCH), lambda reader: reader.read_all()
    if isinstance(frame, pa.RecordBatchReader):
        return frame, lambda reader: reader
    if hasattr(frame, "scanner"):  # a pyarrow dataset
        return frame.scanner(batch_size=BATCH).to_reader(), _dataset
    if hasattr(frame, "__arrow_c_stream__"):
        return _stream(pa, frame), lambda reader: reader.read_all()
    raise InvalidParameter(
        "a data frame was expected (pandas, Polars, PyArrow, DuckDB, or an object with the Arrow C stream "
        f"protocol), not {type(frame).__name__}"
    )


def _stream(pa: Any, frame: Any) -> pyarrow.RecordBatchReader:
    reader = pa.RecordBatchReader.from_stream(frame)

    def batches() -> Iterator[pyarrow.RecordBatch]:
        for batch in reader:
            for begin in range(0, batch.num_rows, BATCH):
                yield batch.slice(begin, BATCH)

    return pa.RecordBatchReader.from_batches(reader.schema, batches())


def _polars(reader: pyarrow.RecordBatchReader) -> Any:
    import polars

    return polars.from_arrow(reader.read_all())


def _pandas(index: Any) -> Back:
    import pandas

    def back(reader: pyarrow.RecordBatchReader) -> Any:
        table = reader.read_all()
        names = [name for name in table.schema.names if not name.startswith("__index_level_")]
        # The metadata describes the types before randomisation; some columns hold reports now.
        frame = table.select(names).to_pandas(ignore_metadata=True)
        for name in names:
            column = table.column(name)
            if column.null_count and str(column.type).startswith("uint"):  # pandas would make them floats
                kind = getattr(pandas, f"UI{str(column.type)[2:]}Dtype")()
                frame[name] = column.to_pandas(types_mapper=lambda _, kind=kind: kind)
        return frame.set_axis(index)

    return back


def _duckdb(reader: pyarrow.RecordBatchReader) -> Any:
    import duckdb

    return duckdb.from_arrow(reader.read_all())


def _dataset(reader: pyarrow.RecordBatchReader) -> Any:
    import pyarrow.dataset

    return pyarrow.dataset.dataset(reader.read_all())
