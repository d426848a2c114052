"""Parquet, and Arrow's own file format (also called Feather): batches of columns with a schema.

The specification is in the metadata of the schema. Spark writes the metadata of columns in its own way: a
file of a folder that `dt.data.spark.perturb` wrote has the questions there. Needs the extra `frames`.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dither.core.question import Question
from dither.core.question.base import VERSION
from dither.core.reports import Reports
from dither.data.dialect import USUAL, Dialect
from dither.data.formats.arrow import (
    BATCH,
    SPECIFICATION,
    arrow,
    encode_column,
    encode_dictionary,
    from_column,
    has_dictionary,
    is_missing,
    is_number,
    numbers_of,
    report_type,
    rows_of,
    to_column,
    to_ids,
    to_objects,
    with_gaps,
)
from dither.data.formats.format import (
    Chunk,
    Columns,
    GappedReports,
    ItemLists,
    TableFormat,
    code_cells,
    require_columns,
    split_cells,
)
from dither.errors import DitherError, InvalidParameter, MalformedReport, OutsideDomain
from dither.foundation.arrays import Array, Integers, Mask

if TYPE_CHECKING:
    import pyarrow

    Batches = Iterator[pyarrow.RecordBatch]

_PANDAS: Final = b"PANDAS_ATTRS"
_SPARK: Final = b"org.apache.spark.sql.parquet.row.metadata"


class ArrowChunk(Chunk):
    """A record batch of a file, or of a data frame: then `place` are the words before a row in errors."""

    may_be_empty = True
    typed = True

    def __init__(
        self,
        path: Path,
        first: int,
        batch: pyarrow.RecordBatch,
        dialect: Dialect = USUAL,
        *,
        place: str | None = None,
    ) -> None:
        super().__init__(path, first, dialect, place=place)
        self._batch = batch

    def __len__(self) -> int:
        return int(self._batch.num_rows)

    def cells(self, column: str) -> Sequence[Any]:
        with self._name_errors(column):
            return to_objects(self._batch.column(column))

    def absent(self, column: str) -> Mask:
        with self._name_errors(column):
            absent = is_missing(self._batch.column(column))
            column_data = self._batch.column(column)
            if self.dialect.na and is_number(column_data.type):
                codes = self.dialect.numbers_for_missing()
                absent |= np.isin(np.asarray(numbers_of(column_data.fill_null(0)), dtype=np.float64), codes)
            elif self.dialect.na:
                absent |= [self.dialect.is_absent(cell) for cell in self.cells(column)]
            return absent

    def numbers(self, column: str, rows: Integers) -> Array:
        with self._name_errors(column):  # the complete column has the wrong type
            column_data = self._batch.column(column)
            if not rows.size:  # any type, also nulls
                return np.empty(0)
            if rows.size == len(column_data) and is_number(
                column_data.type
            ):  # all rows, none of them missing
                return numbers_of(column_data)
            return numbers_of(self.take(column, rows))

    def codes(self, column: str, rows: Integers) -> tuple[Integers, list[Any]]:
        with self._name_errors(column):
            column_data = self._batch.column(column)
            if not rows.size:
                return np.empty(0, dtype=np.int64), []
            if has_dictionary(column_data.type) and not arrow().types.is_nested(column_data.type):
                return encode_dictionary(column_data, rows)
            cells = column_data if rows.size == len(column_data) else self.take(column, rows)
            try:
                return encode_column(cells)
            except (arrow().ArrowNotImplementedError, arrow().ArrowInvalid):  # lists, 16-bit floats
                return code_cells(to_objects(cells))

    def lists(self, column: str, rows: Integers) -> ItemLists:
        kinds, kind = arrow().types, self._batch.schema.field(column).type
        if not (kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_fixed_size_list(kind)):
            return split_cells(self, column, rows)
        with self._name_errors(column):
            cells = self.take(column, rows)
            inside, lengths = cells.flatten(), cells.value_lengths()
            ends = np.cumsum(np.asarray(lengths, dtype=np.int64))
            if kinds.is_null(inside.type):
                codes, items = np.zeros(len(inside), dtype=np.int64), [None]
            else:
                codes, items = encode_column(inside)
            return codes, items, ends, np.zeros(rows.size, dtype=np.bool_)

    def take(self, column: str, rows: Integers) -> Any:
        with self._name_errors(column):
            return rows_of(self._batch.column(column), rows)

    def ids(self, column: str) -> np.ma.MaskedArray | tuple[Array, Integers] | None:
        return to_ids(self._batch.column(column))

    def raw_reports(self, column: str, question: Question) -> Array:
        try:
            return from_column(self._batch.column(column), question)
        except MalformedReport as error:
            rows = f"rows {self.first} to {self.first + len(self) - 1}"
            raise MalformedReport(f"{self.path.name}, {rows}, column {column!r}: {error}") from None

    @contextmanager
    def _name_errors(self, column: str) -> Iterator[None]:
        """Put the file's name and the column in front of an error about a complete column."""
        if self.place is not None:
            try:
                yield
            except OutsideDomain as error:
                raise OutsideDomain(f"{self.place}column {column!r}: {error}") from None
            return
        location = f"{self.path.name}, column {column!r}"
        try:
            yield
        except OutsideDomain as error:
            raise InvalidParameter(f"{location}: {error}") from None
        except (arrow().ArrowException, ValueError, TypeError):  # the text of the error may hold a value
            raise InvalidParameter(
                f"{location}: this column cannot be read or is damaged; write the file again"
            ) from None


def validate_batch(batch: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
    """Return a batch of a file; raise pyarrow.ArrowInvalid if it is damaged.

    A damaged batch has offsets, lengths or indices that point beyond its buffers: using it without
    this check accesses foreign memory, and may end the process by a signal.
    """
    batch.validate(full=True)
    return batch


class ColumnarFormat(TableFormat):
    """A format of Arrow batches. A subclass defines how its files are opened, read and written."""

    parsed = False

    @abstractmethod
    def open(self, path: Path) -> Any:
        """Return an open file as a context manager. Raise pyarrow.ArrowInvalid if it has another format."""

    @abstractmethod
    def schema(self, file: Any) -> pyarrow.Schema:
        """Return the schema of an open file."""

    @abstractmethod
    def batches(self, path: Path, file: Any, columns: list[str]) -> Batches:
        """Yield the named columns of an open file, a batch of rows at a time, each by `validate_batch`."""

    @abstractmethod
    def writer(self, path: Path, schema: pyarrow.Schema, reports: Sequence[str] = ()) -> Any:
        """Return a writer of batches to a new file, as a context manager.

        `reports` are the columns that hold reports: their bits are random.
        """

    def specification(self, path: Path) -> str | None:
        with self._open_or_refuse(path) as file:
            metadata = self.schema(file).metadata or {}
            text = metadata.get(SPECIFICATION)
            if text is None:
                return _pandas_specification(metadata) or _spark_specification(metadata)
            return str(text.decode())

    def columns(self, path: Path, dialect: Dialect = USUAL) -> list[str]:
        with self._open_or_refuse(path) as file:
            return list(self.schema(file).names)

    def read(self, path: Path, columns: Sequence[str], dialect: Dialect = USUAL) -> Iterator[Chunk]:
        with self._open_or_refuse(path) as file:
            require_columns(path, columns, self.schema(file).names)
            first = 1
            for batch in self.batches(path, file, list(columns)):
                yield ArrowChunk(path, first, batch, dialect)
                first += batch.num_rows

    def write(self, path: Path, specification: str, chunks: Iterator[Columns]) -> None:
        pa = arrow()
        first = next(chunks)  # determines the columns and their types
        fields = [pa.field(name, _column_type(column)) for name, column in first.items()]
        schema = pa.schema(fields, metadata={SPECIFICATION: specification.encode()})
        reports = [name for name, column in first.items() if isinstance(column, Reports | GappedReports)]
        with self.writer(path, schema, reports) as writer:
            for chunk in chain([first], chunks):
                writer.write_batch(_to_batch(chunk, schema))

    @contextmanager
    def _open_or_refuse(self, path: Path) -> Iterator[Any]:
        try:
            with self.open(path) as file:
                yield file
        except DitherError:
            raise
        except Exception as error:
            if isinstance(error, OSError) and error.errno is not None:  # from the system: no such file
                raise
            # Arrow raises almost every kind of error for a damaged file; its text may show a value.
            raise InvalidParameter(
                f"expected {path.name} to be a valid {path.suffix} file; write it again"
            ) from None


def _column_type(column: object) -> pyarrow.DataType:
    """Return the type of a column of reports, or another column's own type (text for a source of text)."""
    pa = arrow()
    if isinstance(column, Reports | GappedReports):
        return report_type(column.question if isinstance(column, Reports) else column.reports.question)
    return column.type if isinstance(column, pa.Array) else pa.string()


def _to_batch(chunk: Columns, schema: pyarrow.Schema) -> pyarrow.RecordBatch:
    pa = arrow()
    columns = []
    for name in schema.names:
        column: Any = chunk[name]
        if isinstance(column, Reports):
            column = to_column(column)
        elif isinstance(column, GappedReports):
            column = with_gaps(column.reports, column.there)
        elif not isinstance(column, pa.Array):
            column = pa.array([None if cell is None else str(cell) for cell in column], pa.string())
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, schema=schema)


class Parquet(ColumnarFormat):
    """Parquet, by row groups."""

    def open(self, path: Path) -> Any:
        return _parquet().ParquetFile(path, pre_buffer=False)  # a buffer would keep all data in memory

    def schema(self, file: Any) -> pyarrow.Schema:
        return file.schema_arrow

    def batches(self, path: Path, file: Any, columns: list[str]) -> Batches:
        size, stored = file.metadata, path.stat().st_size
        groups = [size.row_group(number) for number in range(size.num_row_groups)]
        declared = sum(group.total_byte_size for group in groups)
        if declared > max(_MOST_BYTES, _MOST_RATIO * stored):
            raise _bomb(path, f"{stored} bytes would become {declared}")
        # A value of megabytes in a dictionary may be repeated in every row: it is measured before it is
        # decoded.
        texts = [
            field.name
            for field in file.schema_arrow
            if field.name in columns
            and _is_text(field.type)
            and any(_has_dictionary(group, field.name) for group in groups)
        ]
        texts = _by_dictionary(path, len(groups), texts)
        with _parquet().ParquetFile(path, pre_buffer=False, read_dictionary=texts) as part:
            for batch in map(validate_batch, part.iter_batches(batch_size=BATCH, columns=columns)):
                yield _decode_texts(measure_batch(path, batch), texts)

    def writer(self, path: Path, schema: pyarrow.Schema, reports: Sequence[str] = ()) -> Any:
        # Reports are random: a dictionary of them takes time and more room. Differences are packed in bits,
        # so that a report below 2^16 takes about 2 bytes, and not the 4 of Parquet's smallest integer.
        short = {name: "DELTA_BINARY_PACKED" for name in reports if _is_short(schema.field(name).type)}
        others = [name for name in schema.names if name not in reports]
        return _parquet().ParquetWriter(
            path, schema, use_dictionary=others or False, column_encoding=short or None
        )


_MOST_BYTES: Final = 1 << 28  # bytes of a batch of texts; of a complete file if it is highly compressed
_MOST_RATIO: Final = 1000
_MANY: Final = 1 << 12  # values of a dictionary above which it is no shorter way to read a column


def _bomb(path: Path, words: str) -> InvalidParameter:
    return InvalidParameter(
        f"{path.name} is refused because it has {words}, more than any table needs; write it again"
    )


def _is_text(kind: pyarrow.DataType) -> bool:
    types = arrow().types
    kinds = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    return any(is_kind(kind) for is_kind in kinds)


def _has_dictionary(group: Any, name: str) -> bool:
    columns = (group.column(index) for index in range(group.num_columns))
    return any(column.path_in_schema == name and column.has_dictionary_page for column in columns)


def _by_dictionary(path: Path, groups: int, texts: list[str]) -> list[str]:
    """Return the columns of texts that are read as dictionaries: those with few values, or with long ones.

    Batches of other columns are small enough. Arrow would make a new dictionary for each of them, and that is
    ten times slower for ids. The first row of a group of rows brings the complete dictionary of that group.
    """
    from pyarrow import compute

    many, long = set[str](), set[str]()
    if not texts:
        return texts
    with _parquet().ParquetFile(path, pre_buffer=False, read_dictionary=texts) as part:
        for group in range(groups):
            for batch in part.iter_batches(batch_size=1, row_groups=[group], columns=texts):
                for name, column in zip(texts, validate_batch(batch).columns, strict=True):
                    longest = compute.max(compute.binary_length(column.dictionary)).as_py() or 0
                    many |= {name} if len(column.dictionary) > _MANY else set()
                    long |= {name} if longest * BATCH > _MOST_BYTES else set()
                break
    return [name for name in texts if name in long or name not in many]


def measure_batch(path: Path, batch: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
    """Return a batch; raise InvalidParameter if the texts of its dictionaries have too many bytes."""
    from pyarrow import compute

    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if not arrow().types.is_dictionary(column.type) or not _is_text(column.type.value_type):
            continue
        lengths = compute.binary_length(column.dictionary).cast("int64")
        if (compute.sum(lengths.take(column.indices)).as_py() or 0) > _MOST_BYTES:
            raise _bomb(path, f"{batch.num_rows} cells of {name!r} have more than {_MOST_BYTES} bytes")
    return batch


def _decode_texts(batch: pyarrow.RecordBatch, texts: Sequence[str]) -> pyarrow.RecordBatch:
    """Return a batch with some columns decoded from dictionaries to texts."""
    for name in texts:
        column = batch.column(name)
        if arrow().types.is_dictionary(column.type):
            batch = batch.set_column(batch.schema.get_field_index(name), name, column.dictionary_decode())
    return batch


def _is_short(kind: pyarrow.DataType) -> bool:
    """Return whether a type is one of integers of one or two bytes."""
    return bool(arrow().types.is_integer(kind) and kind.bit_width <= 16)


def _pandas_specification(metadata: Mapping[bytes, bytes]) -> str | None:
    """Return the head of a file that pandas wrote of reports, from the `attrs` of the frame, or None."""
    try:
        carried = json.loads(metadata.get(_PANDAS, b"{}")).get(SPECIFICATION.decode())
    except (ValueError, AttributeError, RecursionError):
        return None
    return carried if isinstance(carried, str) else None


def _spark_specification(metadata: Mapping[bytes, bytes]) -> str | None:
    """Return the head of a file whose columns carry their questions in Spark's metadata, or None."""
    try:
        fields = json.loads(metadata.get(_SPARK, b"{}")).get("fields", [])
        carried = {field["name"]: field["metadata"].get(SPECIFICATION.decode()) for field in fields}
        questions = {name: json.loads(text) for name, text in carried.items() if text is not None}
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return None
    return json.dumps({"dither": VERSION, "questions": questions}, ensure_ascii=False) if questions else None


def _parquet() -> Any:
    arrow()  # raises MissingExtra if it is not installed
    from pyarrow import parquet

    return parquet


class ArrowFile(ColumnarFormat):
    """The Arrow IPC file format."""

    def open(self, path: Path) -> Any:
        return _open_fields(path, None)

    def schema(self, file: Any) -> pyarrow.Schema:
        return file.schema

    def batches(self, path: Path, file: Any, columns: list[str]) -> Batches:
        positions = sorted(file.schema.get_field_index(column) for column in columns)
        with _open_fields(path, positions) as part:
            for number in range(part.num_record_batches):
                batch = validate_batch(part.get_batch(number).select(columns))
                for begin in range(0, batch.num_rows, BATCH):  # one batch may hold the complete file
                    yield measure_batch(path, batch.slice(begin, BATCH))

    def writer(self, path: Path, schema: pyarrow.Schema, reports: Sequence[str] = ()) -> Any:
        return arrow().ipc.new_file(str(path), schema)


def _open_fields(path: Path, fields: list[int] | None) -> Any:
    """Return an open file that reads the fields at these indices, or all fields.

    It is not a memory map: a damaged file, or one that is cut while it is read, would end the process.
    """
    pa = arrow()
    return pa.ipc.open_file(pa.OSFile(str(path)), options=pa.ipc.IpcReadOptions(included_fields=fields))
