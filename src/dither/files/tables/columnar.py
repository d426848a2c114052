"""The common part of binary formats: batches of columns, and a schema with the specification."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dither.arrays import Array, Floats, Integers, Mask
from dither.errors import DitherError, InvalidParameter, MalformedReport, OutsideDomain
from dither.files.arrow import (
    SPECIFICATION,
    arrow,
    coded_column,
    from_column,
    is_number,
    numbers_of,
    plain,
    report_type,
    to_column,
)
from dither.files.compact import is_missing, rows_of
from dither.files.dialect import Dialect
from dither.files.format import USUAL, Chunk, Columns, TableFormat, require
from dither.question import Question
from dither.reports import Reports

if TYPE_CHECKING:
    import pyarrow

    Batches = Iterator[pyarrow.RecordBatch]


@final
class ArrowChunk(Chunk):
    """A record batch."""

    def __init__(self, path: Path, first: int, batch: pyarrow.RecordBatch, dialect: Dialect = USUAL) -> None:
        super().__init__(path, first, dialect)
        self._batch = batch

    def __len__(self) -> int:
        return int(self._batch.num_rows)

    def cells(self, column: str) -> Sequence[Any]:
        with self._naming(column):
            return plain(self._batch.column(column))

    def absent(self, column: str) -> Mask:
        with self._naming(column):
            absent = is_missing(self._batch.column(column))
            if self.dialect.na:
                absent |= [self.dialect.absent(cell) for cell in self.cells(column)]
            return absent

    def numbers(self, column: str, rows: Integers) -> Floats:
        with self._naming(column):  # the whole column has the wrong type
            whole = self._batch.column(column)
            if rows.size == len(whole) and is_number(whole.type):  # all rows, none of them missing
                return np.asarray(numbers_of(whole), dtype=np.float64)
            return np.asarray(numbers_of(self.kept(column, rows)), dtype=np.float64)

    def coded(self, column: str, rows: Integers) -> tuple[Integers, list[Any]]:
        with self._naming(column):
            cells = self.kept(column, rows)
            if not arrow().types.is_nested(cells.type):
                return coded_column(cells)
            return super().coded(column, rows)

    def kept(self, column: str, rows: Integers) -> Any:
        with self._naming(column):
            return rows_of(self._batch.column(column), rows)

    def raw_reports(self, column: str, mechanism: Question) -> Array:
        try:
            return from_column(self._batch.column(column), mechanism)
        except MalformedReport as error:
            raise MalformedReport(f"{self.everywhere(column)}: {error}") from None

    def row_of(self, column: str, report: int) -> int:
        return int(np.flatnonzero(~self.absent(column))[report])

    @contextmanager
    def _naming(self, column: str) -> Iterator[None]:
        """Put the file's name and the column in front of an error about a column as a whole."""
        place = f"{self.path.name}, column {column!r}"
        try:
            yield
        except OutsideDomain as error:
            raise InvalidParameter(f"{place}: {error}") from None
        except (arrow().ArrowException, ValueError, TypeError):  # the text of the error may hold a value
            raise InvalidParameter(f"{place}: this column cannot be read, or it is damaged") from None


def checked(batch: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
    """Return a batch of a file; raise pyarrow.ArrowInvalid if it is damaged.

    A damaged batch has offsets, lengths or indices that point beyond its buffers: using it before this check
    reads memory that is not its own, and may end the process by a signal.
    """
    batch.validate(full=True)
    return batch


class ColumnarFormat(TableFormat):
    """A format of Arrow batches. A subclass defines how its files are opened, read and written."""

    parsed = False

    @abstractmethod
    def opened(self, path: Path) -> Any:
        """Return an open file, which is a context manager; raise pyarrow.ArrowInvalid if it is not one."""

    @abstractmethod
    def schema(self, file: Any) -> pyarrow.Schema:
        """Return the schema of an open file."""

    @abstractmethod
    def batches(self, path: Path, file: Any, columns: list[str]) -> Batches:
        """Yield the named columns of a file, which is open, a batch of rows at a time, each `checked`."""

    @abstractmethod
    def writer(self, path: Path, schema: pyarrow.Schema, reports: Sequence[str] = ()) -> Any:
        """Return a writer of batches to a new file, which is a context manager.

        `reports` are the columns that hold reports: their bits are random.
        """

    def specification(self, path: Path) -> str | None:
        with self._open(path) as file:
            text = (self.schema(file).metadata or {}).get(SPECIFICATION)
            return None if text is None else str(text.decode())

    def columns(self, path: Path, dialect: Dialect = USUAL) -> list[str]:
        with self._open(path) as file:
            return list(self.schema(file).names)

    def read(self, path: Path, columns: Sequence[str], dialect: Dialect = USUAL) -> Iterator[Chunk]:
        with self._open(path) as file:
            require(path, columns, self.schema(file).names)
            first = 1
            for batch in self.batches(path, file, list(columns)):
                yield ArrowChunk(path, first, batch, dialect)
                first += batch.num_rows

    def write(self, path: Path, specification: str, chunks: Iterator[Columns]) -> None:
        pa = arrow()
        first = next(chunks)  # determines the columns and their types
        fields = [pa.field(name, _type(column)) for name, column in first.items()]
        schema = pa.schema(fields, metadata={SPECIFICATION: specification.encode()})
        reports = [name for name, column in first.items() if isinstance(column, Reports)]
        with self.writer(path, schema, reports) as writer:
            for chunk in chain([first], chunks):
                writer.write_batch(_batch(chunk, schema))

    @contextmanager
    def _open(self, path: Path) -> Iterator[Any]:
        try:
            with self.opened(path) as file:
                yield file
        except DitherError:
            raise
        except Exception as error:
            if isinstance(error, OSError) and error.errno is not None:  # of the system: no such file
                raise
            # Arrow raises almost every kind of error for a damaged file; its text may show a value.
            raise InvalidParameter(f"{path.name} is not a {path.suffix} file, or it is damaged") from None


def _type(column: Any) -> pyarrow.DataType:
    """Return the type of a column of reports; of another column its own, or text if it comes from text."""
    pa = arrow()
    if isinstance(column, Reports):
        return report_type(column.question)
    return column.type if isinstance(column, pa.Array) else pa.string()


def _batch(chunk: Columns, schema: pyarrow.Schema) -> pyarrow.RecordBatch:
    pa = arrow()
    columns = []
    for name in schema.names:
        column: Any = chunk[name]
        if isinstance(column, Reports):
            column = to_column(column)
        elif not isinstance(column, pa.Array):
            column = pa.array([None if cell is None else str(cell) for cell in column], pa.string())
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, schema=schema)
