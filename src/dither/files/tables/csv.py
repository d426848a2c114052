"""CSV: comma-separated values with a header row. The specification is a comment in the first line."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TextIO, final

from dither.errors import InvalidParameter
from dither.files.format import Chunk, Columns, TableFormat, require
from dither.files.tables.text_chunk import ROWS, TextChunk, opened, written
from dither.files.text import comment_line, from_comment_line


@final
class Csv(TableFormat):
    """Comma-separated values."""

    endings = (".csv",)

    def specification(self, path: Path) -> str | None:
        with opened(path) as stream:
            return from_comment_line(stream.readline())

    def columns(self, path: Path) -> list[str]:
        with opened(path) as stream:
            return next(_rows(path, stream), [])

    def read(self, path: Path, columns: Sequence[str]) -> Iterator[Chunk]:
        with opened(path) as stream:
            rows = _rows(path, stream)
            header = next(rows, [])
            require(path, columns, header)
            first = 1
            while some := list(islice(rows, ROWS)):
                _check_widths(path, some, len(header), first)
                kept = {column: _column(some, header.index(column)) for column in columns}
                yield TextChunk(path, first, kept)
                first += len(some)

    def write(self, path: Path, specification: str, chunks: Iterator[Columns]) -> None:
        with path.open("x", newline="", encoding="utf-8") as stream:
            stream.write(comment_line(specification))
            writer = csv.writer(stream, lineterminator="\n")
            for number, chunk in enumerate(chunks):
                if number == 0:
                    writer.writerow(chunk)
                writer.writerows(written(chunk))


def _rows(path: Path, stream: TextIO) -> Iterator[list[str]]:
    """Yield the header and the rows, without the comment that holds the specification."""
    line = stream.readline()
    reader = csv.reader(stream if from_comment_line(line) is not None else chain([line], stream))
    try:
        yield from reader
    except csv.Error as error:
        raise InvalidParameter(f"{path.name}, line {reader.line_num}: {error}") from None


def _check_widths(path: Path, rows: list[list[str]], width: int, first: int) -> None:
    """Raise InvalidParameter for the first row, not an empty line, with another number of fields."""
    for number, row in enumerate(rows, first):
        if row and len(row) != width:
            raise InvalidParameter(
                f"{path.name}, row {number}: the number of fields is {len(row)}, in the header {width}; a "
                "decimal comma, or a comma in a text without quotes, makes one field two"
            )


def _column(rows: list[list[str]], place: int) -> list[str | None]:
    """Return one column; an empty cell is None, and so is every cell of an empty line."""
    cells: list[str | None] = [row[place] if row else "" for row in rows]
    return [cell or None for cell in cells] if "" in cells else cells
