"""Data frames of every library as a stream of record batches, and back to a frame of that library."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from dither.errors import InvalidParameter
from dither.files.arrow import BATCH, arrow
from dither.files.compact import compacted, decoded, has_dictionary, plain_type

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
    if library == "pyspark":  # its stream would collect all rows on one machine
        raise InvalidParameter("for a frame of Spark use dt.frames.spark, whose perturb also takes a path")
    if library == "polars" and type(frame).__name__ == "LazyFrame":
        return _stream(pa, frame.collect(engine="streaming")), lambda reader: _polars(reader).lazy()
    if library == "polars":
        return _stream(pa, frame), _polars
    if library == "pandas":
        return _stream(pa, frame), _pandas(frame.index)
    if library in ("duckdb", "_duckdb"):
        return _stream(pa, frame), _duckdb
    if isinstance(frame, pa.Table):
        return frame.to_reader(max_chunksize=BATCH), _whole
    if isinstance(frame, pa.RecordBatchReader):
        return frame, _decoded
    if hasattr(frame, "scanner"):  # a pyarrow dataset
        return frame.scanner(batch_size=BATCH).to_reader(), _dataset
    if hasattr(frame, "__arrow_c_stream__"):
        return _stream(pa, frame), _whole
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


def _whole(reader: pyarrow.RecordBatchReader) -> pyarrow.Table:
    return compacted(reader.read_all())


def _decoded(reader: pyarrow.RecordBatchReader) -> pyarrow.RecordBatchReader:
    """Return the batches with values in place of dictionaries, which may hold values of other rows."""
    schema = reader.schema
    for place, field in enumerate(schema):
        if has_dictionary(field.type):
            schema = schema.set(place, field.with_type(plain_type(field.type)))
    if schema == reader.schema:
        return reader
    pa = arrow()

    def batches() -> Iterator[pyarrow.RecordBatch]:
        for batch in reader:
            columns = [decoded(*one) for one in zip(batch.columns, schema.types, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def _polars(reader: pyarrow.RecordBatchReader) -> Any:
    import polars

    given, table = reader.schema, _whole(reader)
    frame: Any = polars.from_arrow(table)
    for place, field in enumerate(given):
        if any(key.startswith(b"_PL_ENUM") for key in field.metadata or {}):
            used = _dictionary(table.column(place))
            frame = frame.with_columns(polars.col(field.name).cast(polars.Enum(used)))
    return frame


def _dictionary(column: pyarrow.ChunkedArray) -> list[Any]:
    """Return the values of a compacted dictionary column."""
    return list(column.chunk(0).dictionary.to_pylist()) if column.num_chunks else []


def _pandas(index: Any) -> Back:
    import pandas

    def back(reader: pyarrow.RecordBatchReader) -> Any:
        table = _whole(reader)
        names = [name for name in table.schema.names if not name.startswith("__index_level_")]
        # The metadata describes the types before randomisation; some columns hold reports now.
        frame = table.select(names).to_pandas(ignore_metadata=True)
        for name in names:
            column = table.column(name)
            if column.null_count and str(column.type).startswith("uint"):  # pandas would make them floats
                kind = getattr(pandas, f"UI{str(column.type)[2:]}Dtype")()
                frame[name] = column.to_pandas(types_mapper=lambda _, kind=kind: kind)
        return frame.set_axis(_used(index))

    return back


def _used(index: Any) -> Any:
    """Return a pandas index without the values of rows that it no longer has."""
    for method in ("remove_unused_categories", "remove_unused_levels"):
        if hasattr(index, method):
            return getattr(index, method)()
    return index


def _duckdb(reader: pyarrow.RecordBatchReader) -> Any:
    import duckdb

    return duckdb.from_arrow(_whole(reader))


def _dataset(reader: pyarrow.RecordBatchReader) -> Any:
    import pyarrow.dataset

    return pyarrow.dataset.dataset(_whole(reader))
