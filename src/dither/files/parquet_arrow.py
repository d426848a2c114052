"""Tables as binary columns: Parquet and Arrow files. The specification of reports travels in the schema."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dither.arrays import Integers, Mask
from dither.domains import Domain
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain
from dither.files.arrow import (
    BATCH,
    SPECIFICATION,
    arrow,
    column_of_reports,
    column_values,
    read_reports,
    report_type,
)
from dither.files.format import Chunk, Format, Written, absent_column, no_head
from dither.mechanisms.base import Mechanism
from dither.reports import Reports
from dither.wire.campaign import Campaign

if TYPE_CHECKING:
    import pyarrow

    Batches = Iterator[pyarrow.RecordBatch]


@final
class ArrowChunk(Chunk):
    """A record batch."""

    def __init__(self, path: Path, first: int, batch: pyarrow.RecordBatch) -> None:
        super().__init__(path, first)
        self._batch = batch

    def __len__(self) -> int:
        return int(self._batch.num_rows)

    def cells(self, column: str) -> Sequence[Any]:
        cells: list[Any] = self._batch.column(column).to_pylist()
        return cells

    def absent(self, column: str) -> Mask:
        return ~np.asarray(self._batch.column(column).is_valid().to_numpy(zero_copy_only=False))

    def values(self, column: str, domain: Domain, rows: Integers) -> Any:
        try:
            return column_values(self.kept(column, rows), domain)
        except OutsideDomain as error:
            raise InvalidParameter(f"{self.path.name}, column {column!r}: {error}") from None

    def kept(self, column: str, rows: Integers) -> Any:
        cells = self._batch.column(column)
        return cells if rows.size == len(self) else cells.take(arrow().array(rows))

    def reports(self, column: str, mechanism: Mechanism[Any]) -> Reports:
        try:
            return read_reports(self._batch.column(column), mechanism)
        except MalformedReport as error:
            rows = f"rows {self.first} to {self.first + len(self) - 1}"
            raise MalformedReport(f"{self.path.name}, {rows}, column {column!r}: {error}") from None


class _Columns(Format):
    """What binary formats share: a schema with metadata, and batches of columns."""

    @abstractmethod
    def opened(self, path: Path) -> Any:
        """Open a file, or raise one of Arrow's errors."""

    @abstractmethod
    def schema(self, file: Any) -> pyarrow.Schema:
        """Give an open file's schema."""

    @abstractmethod
    def batches(self, file: Any, columns: list[str]) -> Batches:
        """Give some columns of an open file, a batch at a time."""

    @abstractmethod
    def writer(self, path: Path, schema: pyarrow.Schema) -> Any:
        """Open a file for writing batches."""

    @contextmanager
    def _open(self, path: Path) -> Iterator[Any]:
        pa = arrow()
        try:
            with self.opened(path) as file:
                yield file
        except pa.ArrowInvalid:
            raise InvalidParameter(f"{path.name} is not the kind of file that its name says") from None

    def read(self, path: Path, columns: Sequence[str]) -> Iterator[Chunk]:
        with self._open(path) as file:
            there = self.schema(file).names
            for column in columns:
                if column not in there:
                    raise absent_column(path, column, there)
            first = 1
            for batch in self.batches(file, list(columns)):
                yield ArrowChunk(path, first, batch)
                first += batch.num_rows

    def columns(self, path: Path) -> list[str]:
        with self._open(path) as file:
            return list(self.schema(file).names)

    def head(self, path: Path) -> str:
        with self._open(path) as file:
            text = (self.schema(file).metadata or {}).get(SPECIFICATION)
        if text is None:
            raise no_head(path)
        return str(text.decode())

    def write(self, path: Path, campaign: Campaign, chunks: Iterator[Written]) -> None:
        pa = arrow()
        metadata = {SPECIFICATION: campaign.to_json().encode()}
        fields = [pa.field(name, report_type(question)) for name, question in campaign.questions.items()]
        first = next(chunks, None)
        if first is not None:
            for name, column in first.items():
                if not isinstance(column, Reports):
                    fields.append(pa.field(name, _kept_type(column)))
        schema = pa.schema(fields, metadata=metadata)
        with self.writer(path, schema) as writer:
            while first is not None:
                writer.write_batch(_batch(first, schema))
                first = next(chunks, None)


@final
class Parquet(_Columns):
    """Parquet, by row groups."""

    def opened(self, path: Path) -> Any:
        return _parquet().ParquetFile(path, pre_buffer=False)  # or what was read stays in memory

    def schema(self, file: Any) -> pyarrow.Schema:
        return file.schema_arrow

    def batches(self, file: Any, columns: list[str]) -> Batches:
        yield from file.iter_batches(batch_size=BATCH, columns=columns)

    def writer(self, path: Path, schema: pyarrow.Schema) -> Any:
        return _parquet().ParquetWriter(path, schema)


@final
class ArrowFile(_Columns):
    """Arrow's own file format, also called Feather."""

    def opened(self, path: Path) -> Any:
        return arrow().ipc.open_file(arrow().memory_map(str(path)))

    def schema(self, file: Any) -> pyarrow.Schema:
        return file.schema

    def batches(self, file: Any, columns: list[str]) -> Batches:
        for number in range(file.num_record_batches):
            batch = file.get_batch(number).select(columns)
            for begin in range(0, batch.num_rows, BATCH):  # one batch may hold the whole file
                yield batch.slice(begin, BATCH)

    def writer(self, path: Path, schema: pyarrow.Schema) -> Any:
        return arrow().ipc.new_file(str(path), schema)


def _parquet() -> Any:
    arrow()
    from pyarrow import parquet

    return parquet


def _kept_type(column: Any) -> pyarrow.DataType:
    """Give the type of a column that is kept: its own, or text where it comes from text."""
    pa = arrow()
    return column.type if isinstance(column, pa.Array) else pa.string()


def _batch(chunk: Written, schema: pyarrow.Schema) -> pyarrow.RecordBatch:
    pa = arrow()
    columns = []
    for name in schema.names:
        column: Any = chunk[name]
        if isinstance(column, Reports):
            column = column_of_reports(column)
        elif not isinstance(column, pa.Array):
            column = pa.array([None if cell is None else str(cell) for cell in column], pa.string())
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, schema=schema)
