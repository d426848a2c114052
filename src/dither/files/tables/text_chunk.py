"""Rows of a table that was read from text, or of cells that are plain objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from dither.arrays import Array, Floats, Integers, Mask
from dither.errors import InvalidParameter, OutsideDomain
from dither.files.arrow import plain
from dither.files.dialect import Dialect
from dither.files.format import USUAL, Chunk, Columns
from dither.files.text import from_text, to_text
from dither.question import Question
from dither.reports import Reports

ROWS: Final = 1 << 16  # rows of a chunk


@final
class TextChunk(Chunk):
    """Rows of cells: text from CSV, plain objects from JSON and from spreadsheets."""

    def __init__(
        self, path: Path, first: int, columns: Mapping[str, Sequence[Any]], dialect: Dialect = USUAL
    ) -> None:
        super().__init__(path, first, dialect)
        self._columns = columns

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def cells(self, column: str) -> Sequence[Any]:
        return self._columns[column]

    def absent(self, column: str) -> Mask:
        cells = self._columns[column]
        if not self.dialect.na and None not in cells:
            return np.zeros(len(cells), dtype=np.bool_)
        return np.fromiter(map(self.dialect.absent, cells), np.bool_, len(cells))

    def numbers(self, column: str, rows: Integers) -> Floats:
        return numbers_in(self.kept(column, rows), self.dialect)

    def kept(self, column: str, rows: Integers) -> Sequence[Any]:
        cells = self._columns[column]
        return cells if rows.size == len(cells) else [cells[row] for row in rows.tolist()]

    def raw_reports(self, column: str, mechanism: Question) -> Array:
        return from_text(self._columns[column], mechanism, partial(self.where, column))


def numbers_in(cells: Sequence[Any], dialect: Dialect) -> Floats:
    """Return cells as numbers, NaN where a cell is not a number."""
    if dialect.decimal == ".":
        try:
            numbers = np.array(cells, dtype=np.float64)
        except (ValueError, TypeError, OverflowError):
            pass  # below, cell by cell
        else:
            if numbers.ndim == 1:  # lists of one length would make a second axis
                return numbers
    return np.fromiter(map(dialect.number, cells), np.float64, len(cells))


def written(rows: Columns) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a chunk as objects that text can hold."""
    return zip(*(cells_of(name, column) for name, column in rows.items()), strict=True)


def cells_of(name: str, column: Reports | Sequence[Any]) -> Sequence[Any]:
    """Return a column to be written as objects that text can hold."""
    if isinstance(column, Reports):
        return to_text(column)
    if not hasattr(column, "to_pylist"):
        return column
    try:
        return plain(column)
    except OutsideDomain as error:
        raise InvalidParameter(f"column {name!r} cannot be kept as text: {error}") from None
