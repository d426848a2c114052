"""JSON lines: one JSON object a line. The specification is the object in the first line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from dither.data.dialect import USUAL, Dialect
from dither.data.formats.format import ROWS, Chunk, Columns, TableFormat, absent_column
from dither.data.formats.text import TextChunk, text_rows
from dither.data.streams import lines, read_line, shown_name, text_sink, text_stream
from dither.errors import InvalidParameter

_HEAD: Final = '{"dither"'  # how the specification of a campaign begins


class JsonLines(TableFormat):
    """One JSON object a line. A row may leave out any column; a column that no row has is refused."""

    def specification(self, path: Path) -> str | None:
        with text_stream(path, USUAL) as stream:
            line = read_line(path, stream)
        return line.strip() if line.startswith(_HEAD) else None

    def columns(self, path: Path, dialect: Dialect = USUAL) -> list[str]:
        return list(next(_objects(path, dialect), {}))

    def read(self, path: Path, columns: Sequence[str], dialect: Dialect = USUAL) -> Iterator[Chunk]:
        first, number = 1, 0
        unseen, there = set(columns), dict[str, None]()
        kept: dict[str, list[Any]] = {column: [] for column in columns}
        for row in _objects(path, dialect):
            number += 1
            if unseen:
                unseen.difference_update(row)
                there |= dict.fromkeys(row)
            for column in columns:
                kept[column].append(row.get(column))
            if number - first + 1 == ROWS:
                yield TextChunk(path, first, kept, dialect)
                first, kept = number + 1, {column: [] for column in columns}
        if number and unseen:
            raise absent_column(path, min(unseen), list(there))
        if number >= first:
            yield TextChunk(path, first, kept, dialect)

    def write(self, path: Path, specification: str, chunks: Iterator[Columns]) -> None:
        with text_sink(path) as stream:
            stream.write(specification + "\n")
            for chunk in chunks:
                names = list(chunk)
                for row in text_rows(chunk):
                    line = dict(zip(names, row, strict=True))
                    stream.write(json.dumps(line, ensure_ascii=False, default=str) + "\n")


def _objects(path: Path, dialect: Dialect) -> Iterator[dict[str, Any]]:
    """Yield the rows, without the specification."""
    with text_stream(path, dialect) as stream:
        head, number = "", 0
        for line in lines(path, stream):
            if not head and not number and line.startswith(_HEAD):
                head = line
            if not line.strip() or line == head:  # files of one campaign may be concatenated
                continue
            number += 1
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            if not isinstance(row, dict):
                raise InvalidParameter(
                    f"{shown_name(path)}, row {number}: expected a JSON object; correct the line"
                )
            yield row
