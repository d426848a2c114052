"""CSV: cells with a separator, below a header row. The specification is a comment in the first line.

With the extra `frames`, rows are read by Arrow and written by Polars, which are many times faster. What Arrow
does not read is left to the plain reader, which has the last word: results and errors are the same.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO, final

from dither.errors import InvalidParameter
from dither.files.dialect import Dialect, is_header
from dither.files.format import USUAL, Chunk, Columns, TableFormat, require
from dither.files.streams import byte_sink, first_line, is_standard, shown_name, text_stream
from dither.files.tables import csv_quick
from dither.files.tables.text_chunk import ROWS, TextChunk, written
from dither.files.text import comment_line, from_comment_line


@final
class Csv(TableFormat):
    """Comma-separated values, or with another separator."""

    endings = (".csv", ".tsv")
    compressible = True

    def __init__(self, *, quick: bool = True) -> None:
        self._quick = quick

    def specification(self, path: Path) -> str | None:
        try:
            return from_comment_line(first_line(path).decode())
        except UnicodeDecodeError:  # not written by dither
            return None

    def columns(self, path: Path, dialect: Dialect = USUAL) -> list[str]:
        with text_stream(path, dialect) as stream:
            return next(_CsvRows(path, stream, dialect), [])

    def read(self, path: Path, columns: Sequence[str], dialect: Dialect = USUAL) -> Iterator[Chunk]:
        with text_stream(path, dialect) as stream:
            rows = _CsvRows(path, stream, dialect)
            header = next(rows, [])
            if not set(columns) <= set(header):
                require(path, columns, header, shown=is_header(header, next(rows, [])))
            require(path, columns, header)
            if not self._quick or is_standard(path) or stream.encoding not in ("utf-8", "utf-8-sig"):
                yield from _chunks(path, rows, header, columns, dialect)
                return
            head = rows.lines
        done = 0
        for chunk in csv_quick.batches(path, columns, dialect, header, rows.separator, head):
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

    def write(self, path: Path, specification: str, chunks: Iterator[Columns]) -> None:
        separator = "\t" if ".tsv" in path.suffixes else ","
        with byte_sink(path) as stream:
            stream.write(comment_line(specification).encode())
            for number, chunk in enumerate(chunks):
                if number == 0:
                    stream.write(_lines([chunk], separator))
                frame = csv_quick.frame(chunk) if self._quick else None
                if frame is None:
                    stream.write(_lines(written(chunk), separator))
                else:
                    frame.write_csv(stream, include_header=False, separator=separator)


def _lines(rows: Iterable[Iterable[Any]], separator: str) -> bytes:
    """Return rows as text. A carriage return, which ends a row, stands in quotes: Python 3.11 forgets it."""
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
        line = stream.readline()
        self._path = path
        self._comments = 0
        if from_comment_line(line) is not None:
            line, self._comments = stream.readline(), 1
        self.separator = "\t" if ".tsv" in path.suffixes and dialect.sep is None else dialect.separator(line)
        self._reader = csv.reader(chain([line] if line else [], stream), delimiter=self.separator)

    @property
    def lines(self) -> int:
        """The number of lines of the file that were read."""
        return self._comments + self._reader.line_num

    def __next__(self) -> list[str]:
        try:
            return next(self._reader)
        except csv.Error as error:
            raise InvalidParameter(f"{shown_name(self._path)}, line {self.lines}: {error}") from None


def _chunks(
    path: Path,
    rows: Iterator[list[str]],
    header: list[str],
    columns: Sequence[str],
    dialect: Dialect,
    first: int = 1,
) -> Iterator[Chunk]:
    """Yield the rows that are left, the first of them with the number `first`."""
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
                f"{shown_name(path)}, row {number}: the number of fields is {len(row)}, in the header {width}"
                "; a decimal comma, or a comma in a text without quotes, makes one field two"
            )


def _column(rows: list[list[str]], place: int) -> list[str | None]:
    """Return one column; an empty cell is None, and so is every cell of an empty line."""
    cells: list[str | None] = [row[place] if row else "" for row in rows]
    return [cell or None for cell in cells] if "" in cells else cells
