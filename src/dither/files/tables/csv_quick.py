"""CSV by Arrow and Polars, in the same form as by the plain reader. Needs the extra `frames`.

Polars' reader fills a row that is too short with nulls and says nothing; Arrow's refuses it. So Arrow reads,
and Polars, whose writer is faster and quotes as few cells as possible, writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from dither.arrays import Array, Floats, Integers, Mask
from dither.files.arrow import coded_column
from dither.files.compact import rows_of
from dither.files.dialect import Dialect
from dither.files.format import Chunk, Columns
from dither.files.streams import byte_stream
from dither.files.tables.text_chunk import cells_of, numbers_in
from dither.files.text import from_text
from dither.question import Question
from dither.reports import Reports

if TYPE_CHECKING:
    import pyarrow

BLOCK: Final = 1 << 21  # bytes that Arrow reads at once


def batches(
    path: Path, columns: Sequence[str], dialect: Dialect, header: Sequence[str], separator: str, lines: int
) -> Iterator[CsvBatch | None]:
    """Yield the rows below the first `lines` lines, then None if Arrow did not read to the end."""
    try:
        import pyarrow
        from pyarrow import csv as reader
    except ImportError:
        yield None
        return
    with byte_stream(path) as stream:
        head = b"".join(stream.readline() for _ in range(lines))
        if b"\r" in head.replace(b"\r\n", b"") or not head.endswith(b"\n"):  # lines end otherwise
            yield None
            return
        text = pyarrow.string()
        try:
            source = reader.open_csv(
                stream,
                read_options=reader.ReadOptions(column_names=list(header), block_size=BLOCK),
                parse_options=reader.ParseOptions(
                    delimiter=separator, newlines_in_values=True, ignore_empty_lines=False
                ),
                convert_options=reader.ConvertOptions(
                    column_types=dict.fromkeys(columns, text),
                    include_columns=list(dict.fromkeys(columns)),
                    strings_can_be_null=True,
                    null_values=[""],
                ),
            )
            first = 1
            for batch in source:
                yield CsvBatch(path, first, batch, dialect)
                first += batch.num_rows
        except pyarrow.ArrowInvalid:  # an empty line, a ragged row, no UTF-8: the plain reader says which
            yield None


@final
class CsvBatch(Chunk):
    """Rows of text in Arrow columns."""

    def __init__(self, path: Path, first: int, batch: pyarrow.RecordBatch, dialect: Dialect) -> None:
        super().__init__(path, first, dialect)
        self._batch = batch

    def __len__(self) -> int:
        return int(self._batch.num_rows)

    def cells(self, column: str) -> Sequence[Any]:
        cells: list[Any] = self._batch.column(column).to_pylist()
        return cells

    def absent(self, column: str) -> Mask:
        if self.dialect.na:
            cells = self.cells(column)
            return np.fromiter(map(self.dialect.absent, cells), np.bool_, len(cells))
        absent: Mask = self._batch.column(column).is_null().to_numpy(zero_copy_only=False)
        return absent

    def numbers(self, column: str, rows: Integers) -> Floats:
        import pyarrow
        from pyarrow import compute

        cells = self.kept(column, rows)
        texts = cells
        if self.dialect.decimal == ",":
            if compute.any(compute.match_substring(cells, ".")).as_py():
                return numbers_in(cells.to_pylist(), self.dialect)
            texts = compute.replace_substring(cells, ",", ".")
        try:  # what Arrow reads, Python's float reads as the same number; the opposite is not true
            numbers: Floats = texts.cast(pyarrow.float64()).to_numpy(zero_copy_only=False)
        except pyarrow.ArrowInvalid:
            return numbers_in(cells.to_pylist(), self.dialect)
        return numbers

    def coded(self, column: str, rows: Integers) -> tuple[Integers, list[Any]]:
        return coded_column(self.kept(column, rows))

    def kept(self, column: str, rows: Integers) -> Any:
        whole = self._batch.column(column)
        return whole if rows.size == len(whole) else rows_of(whole, rows)

    def raw_reports(self, column: str, mechanism: Question) -> Array:
        import pyarrow

        cells = self._batch.column(column)
        if mechanism.layout.subdtype is None and mechanism.layout.itemsize < 8 and not cells.null_count:
            with suppress(pyarrow.ArrowInvalid):
                numbers: Array = cells.cast(pyarrow.int64()).to_numpy(zero_copy_only=False)
                return numbers
        return from_text(cells.to_pylist(), mechanism, partial(self.where, column))


def frame(chunk: Columns) -> Any:
    """Return a chunk as a Polars frame, or None if Polars does not write it as the plain writer does."""
    try:
        import polars
        from pyarrow import Array as ArrowArray
        from pyarrow import compute, types
    except ImportError:
        return None
    columns: dict[str, Any] = {}
    for name, column in chunk.items():
        if isinstance(column, Reports):
            columns[name] = column.cells if column.cells.ndim == 1 else cells_of(name, column)
        elif isinstance(column, ArrowArray) and types.is_string(column.type):
            # Polars leaves a carriage return without quotes, where it ends the row.
            if compute.any(compute.match_substring(column, "\r")).as_py():
                return None
            columns[name] = polars.from_arrow(column)
        else:
            return None
    return polars.DataFrame(columns)
