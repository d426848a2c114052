"""CSV: cells with a separator, below a header row. The specification is a comment in the first line.

With the extra `frames`, rows are read by Arrow and written by Polars, which are many times faster. The plain
reader reads everything that Arrow refuses, so results and errors are the same. Polars' reader silently fills
a row that is too short with nulls; Arrow's refuses it. So Arrow reads. Polars writes, because its writer is
faster and quotes few cells.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TextIO

import numpy as np

from dither.core.question import Question
from dither.core.reports import Reports
from dither.data.dialect import USUAL, Dialect, is_header
from dither.data.formats.arrow import encode_column, rows_of, to_ids, to_mask, to_numbers
from dither.data.formats.cells import comment_line, from_comment_line
from dither.data.formats.format import (
    ROWS,
    Chunk,
    Columns,
    GappedReports,
    ItemLists,
    TableFormat,
    require_columns,
    split_cells,
)
from dither.data.formats.text import TextChunk, numbers_in, text_cells, text_rows
from dither.data.streams import (
    byte_sink,
    byte_stream,
    first_line,
    is_standard,
    lines,
    read_line,
    shown_name,
    text_stream,
)
from dither.errors import InvalidParameter
from dither.foundation.arrays import Array, Floats, Integers, Mask

if TYPE_CHECKING:
    import pyarrow

BLOCK: Final = 1 << 21  # bytes that Arrow reads at once
PLAIN_BYTES: Final = 1 << 17  # a smaller file is read before Arrow is imported
PLAIN_ROWS: Final = 1 << 15  # rows that are written before Polars is imported (the import takes as long)


class Csv(TableFormat):
    """Comma-separated values, or with another separator."""

    def __init__(self, *, quick: bool | None = None) -> None:
        """With `quick` Arrow and Polars are used; with None they are used except for small files."""
        self._quick = quick

    def specification(self, path: Path) -> str | None:
        try:
            return from_comment_line(first_line(path).decode())
        except UnicodeDecodeError:  # the file was not written by dither
            return None

    def columns(self, path: Path, dialect: Dialect = USUAL) -> list[str]:
        with text_stream(path, dialect) as stream:
            return next(_CsvRows(path, stream, dialect), [])

    def read(self, path: Path, columns: Sequence[str], dialect: Dialect = USUAL) -> Iterator[Chunk]:
        with text_stream(path, dialect) as stream:
            rows = _CsvRows(path, stream, dialect)
            header = next(rows, [])
            if not set(columns) <= set(header):
                require_columns(path, columns, header, shown=is_header(header, next(rows, [])))
            require_columns(path, columns, header)
            if not self._arrow(path) or stream.encoding not in ("utf-8", "utf-8-sig"):
                yield from _chunks(path, rows, header, columns, dialect)
                return
            head = rows.lines
        done = 0
        for chunk in read_batches(path, columns, dialect, header, rows.separator, head):
            if chunk is None:  # Arrow stopped here: an empty line, a damaged row, or the end
                break
            done += len(chunk)
            yield chunk
        else:
            return
        with text_stream(path, dialect) as stream:
            rows = _CsvRows(path, stream, dialect)
            next(rows)
            next(islice(rows, done, done), None)
            yield from _chunks(path, rows, header, columns, dialect, done + 1)

    def _arrow(self, path: Path) -> bool:
        """Return whether Arrow is tried first."""
        if self._quick is None:
            return not is_standard(path) and path.stat().st_size > PLAIN_BYTES
        return self._quick and not is_standard(path)

    def write(self, path: Path, specification: str, chunks: Iterator[Columns]) -> None:
        separator = "\t" if ".tsv" in path.suffixes else ","
        with byte_sink(path) as stream:
            stream.write(comment_line(specification).encode())
            done = 0
            for number, chunk in enumerate(chunks):
                if number == 0:
                    stream.write(_lines([chunk], separator))
                rows = len(next(iter(chunk.values())))
                frame = (
                    _polars_frame(chunk) if self._quick is not False and done + rows > PLAIN_ROWS else None
                )
                if frame is None:
                    stream.write(_lines(text_rows(chunk), separator))
                else:
                    frame.write_csv(stream, include_header=False, separator=separator)
                done += rows


def _lines(rows: Iterable[Iterable[Any]], separator: str) -> bytes:
    """Return rows as text. A carriage return ends a row, so it is quoted: Python 3.11 forgets it."""
    cells = list(rows)
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL):
        text = io.StringIO()
        csv.writer(text, delimiter=separator, lineterminator="\n", quoting=quoting).writerows(cells)
        if "\r" not in text.getvalue():
            break
    return text.getvalue().encode()


class _CsvRows(Iterator[list[str]]):
    """The header and the rows of a file, without the comment that holds the specification."""

    def __init__(self, path: Path, stream: TextIO, dialect: Dialect) -> None:
        line = read_line(path, stream)
        self._path = path
        self._comments = 0
        if from_comment_line(line) is not None:
            line, self._comments = read_line(path, stream), 1
        self.separator = (
            "\t" if ".tsv" in path.suffixes and dialect.sep is None else dialect.separator_of(line)
        )
        self._taken, self._ended = 0, False  # lines of this row, and whether there are no more
        self._reader = csv.reader(
            self._count_lines(chain([line] if line else [], lines(path, stream))), delimiter=self.separator
        )

    def _count_lines(self, found: Iterator[str]) -> Iterator[str]:
        for line in found:
            self._taken += 1
            yield line
        self._ended = True

    @property
    def lines(self) -> int:
        """The number of lines of the file that were read."""
        return self._comments + self._reader.line_num

    def __next__(self) -> list[str]:
        self._taken = 0
        try:
            row = next(self._reader)
        except csv.Error as error:
            raise InvalidParameter(
                f"{shown_name(self._path)}, line {self.lines}: {error}; correct the line"
            ) from None
        if self._ended and self._taken:  # the file ended within this row: it is inside a quoted cell
            raise InvalidParameter(
                f"{shown_name(self._path)}: expected a closing quote within the last {self._taken} lines; "
                "add it"
            )
        return row


def _chunks(
    path: Path,
    rows: Iterator[list[str]],
    header: list[str],
    columns: Sequence[str],
    dialect: Dialect,
    first: int = 1,
) -> Iterator[Chunk]:
    """Yield the remaining rows; the first of them has the number `first`."""
    while some := list(islice(rows, ROWS)):
        _check_widths(path, some, len(header), first)
        kept = {column: _column(some, header.index(column)) for column in columns}
        yield TextChunk(path, first, kept, dialect)
        first += len(some)


def _check_widths(path: Path, rows: list[list[str]], width: int, first: int) -> None:
    """Raise InvalidParameter for the first row, not an empty line, with another number of fields."""
    for number, row in enumerate(rows, first):
        if row and len(row) != width:
            raise InvalidParameter(
                f"{shown_name(path)}, row {number}: expected {width} fields as in the header, got "
                f"{len(row)}; quote texts that contain a comma, and pass Dialect(decimal=',') for "
                "a decimal comma"
            )


def _column(rows: list[list[str]], index: int) -> list[str | None]:
    """Return one column; an empty cell is None, and so is every cell of an empty line."""
    cells: list[str | None] = [row[index] if row else "" for row in rows]
    return [cell or None for cell in cells] if "" in cells else cells


def read_batches(
    path: Path, columns: Sequence[str], dialect: Dialect, header: Sequence[str], separator: str, above: int
) -> Iterator[CsvBatch | None]:
    """Yield the rows below the first `above` lines, then None if Arrow did not read to the end."""
    try:
        import pyarrow
        from pyarrow import csv as reader
    except ImportError:
        yield None
        return
    with byte_stream(path) as opened:
        stream = _CountedQuotes(opened)
        head = b"".join(opened.readline() for _ in range(above))
        if b"\r" in head.replace(b"\r\n", b"") or not head.endswith(b"\n"):  # lines end otherwise
            yield None
            return
        text = pyarrow.string()
        # The last column is also read: an open quote makes all later text its last cell.
        wanted, last = dict.fromkeys(columns), None
        if header.count(header[-1]) == 1:
            wanted[header[-1]] = None
        try:
            source = reader.open_csv(
                stream,
                read_options=reader.ReadOptions(column_names=list(header), block_size=BLOCK),
                parse_options=reader.ParseOptions(
                    delimiter=separator, newlines_in_values=True, ignore_empty_lines=False
                ),
                convert_options=reader.ConvertOptions(
                    column_types=dict.fromkeys(wanted, text),
                    include_columns=list(wanted),
                    strings_can_be_null=True,
                    null_values=[""],
                ),
            )
            first = 1
            for batch in source:
                yield CsvBatch(path, first, batch, dialect)
                first += batch.num_rows
                last = batch
        except pyarrow.ArrowInvalid:  # an empty line, a ragged row, no UTF-8: the plain reader says which
            yield None
            return
    if last is not None and stream.quotes and _may_be_open(last, header[-1], stream.end):
        with text_stream(path, dialect) as text:
            for _ in _CsvRows(path, text, dialect):
                pass


def _may_be_open(batch: pyarrow.RecordBatch, column: str, end: bytes) -> bool:
    """Return whether the last cell of a file may have a quote that is not closed."""
    if end not in (b"\n", b"\r") or column not in batch.schema.names or not batch.num_rows:
        return True
    cell = batch.column(column)[-1].as_py()
    return cell is not None and cell.endswith(("\n", "\r"))


class _CountedQuotes:
    """A stream of bytes that counts the quotes that are read, and keeps the last byte."""

    closed = False

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self.quotes, self.end = stream, 0, b""

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        data = self._stream.read(size)
        self.quotes += data.count(b'"')
        self.end = data[-1:] or self.end
        return data

    def readable(self) -> bool:
        """Return True."""
        return True


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
            return np.fromiter(map(self.dialect.is_absent, cells), np.bool_, len(cells))
        return to_mask(self._batch.column(column).is_null())

    def numbers(self, column: str, rows: Integers) -> Floats:
        import pyarrow
        from pyarrow import compute

        cells = self.take(column, rows)
        texts = cells
        if self.dialect.thousands is not None:
            return numbers_in(cells.to_pylist(), self.dialect)
        if self.dialect.point == ",":
            if compute.any(compute.match_substring(cells, ".")).as_py():
                return numbers_in(cells.to_pylist(), self.dialect)
            texts = compute.replace_substring(cells, ",", ".")
        try:  # Arrow and Python's float read the same number; Arrow refuses more texts
            return to_numbers(texts.cast(pyarrow.float64()))
        except pyarrow.ArrowInvalid:
            return numbers_in(cells.to_pylist(), self.dialect)

    def codes(self, column: str, rows: Integers) -> tuple[Integers, list[Any]]:
        return encode_column(self.take(column, rows))

    def lists(self, column: str, rows: Integers) -> ItemLists:
        return split_cells(self, column, rows)

    def take(self, column: str, rows: Integers) -> Any:
        column_data = self._batch.column(column)
        return column_data if rows.size == len(column_data) else rows_of(column_data, rows)

    def ids(self, column: str) -> np.ma.MaskedArray | tuple[Array, Integers] | None:
        return to_ids(self._batch.column(column))

    def raw_reports(self, column: str, question: Question) -> Array:
        import pyarrow

        cells = self._batch.column(column)
        if question.layout.subdtype is None and question.layout.itemsize < 8 and not cells.null_count:
            with suppress(pyarrow.ArrowInvalid):
                return to_numbers(cells.cast(pyarrow.int64()))
        return self.from_cells(column, cells.to_pylist(), question)


def _polars_frame(chunk: Columns) -> Any:
    """Return a chunk as a Polars frame, or None if Polars does not write it as the plain writer does."""
    try:
        import polars
        from pyarrow import Array as ArrowArray
        from pyarrow import compute, types
    except ImportError:
        return None
    columns: dict[str, Any] = {}
    for name, column in chunk.items():
        if isinstance(column, GappedReports):
            kind = polars.Int64 if column.reports.cells.ndim == 1 else polars.String
            columns[name] = polars.Series(name, text_cells(name, column), dtype=kind)
        elif isinstance(column, Reports):
            columns[name] = column.cells if column.cells.ndim == 1 else text_cells(name, column)
        elif isinstance(column, ArrowArray) and types.is_string(column.type):
            # Polars leaves a carriage return without quotes, where it ends the row.
            if compute.any(compute.match_substring(column, "\r")).as_py():
                return None
            columns[name] = polars.from_arrow(column)
        else:
            return None
    return polars.DataFrame(columns)
