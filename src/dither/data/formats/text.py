"""Rows of text: chunks of cells that were read, and columns as they are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dither.core.question import Question
from dither.core.reports import Reports
from dither.data.dialect import USUAL, Dialect
from dither.data.formats.arrow import to_objects
from dither.data.formats.cells import to_text
from dither.data.formats.format import Chunk, Columns, GappedReports, ItemLists, code_cells, split_cells
from dither.errors import InvalidParameter, OutsideDomain
from dither.foundation.arrays import Array, Floats, Integers, Mask


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
        return np.fromiter(map(self.dialect.is_absent, cells), np.bool_, len(cells))

    def numbers(self, column: str, rows: Integers) -> Floats:
        return numbers_in(self.take(column, rows), self.dialect)

    def codes(self, column: str, rows: Integers) -> tuple[Integers, list[Any]]:
        return code_cells(self.take(column, rows))

    def lists(self, column: str, rows: Integers) -> ItemLists:
        return split_cells(self, column, rows)

    def ids(self, column: str) -> None:
        return None  # objects: one by one

    def take(self, column: str, rows: Integers) -> Sequence[Any]:
        cells = self._columns[column]
        return cells if rows.size == len(cells) else [cells[row] for row in rows.tolist()]

    def raw_reports(self, column: str, question: Question) -> Array:
        return self.from_cells(column, self._columns[column], question)


def numbers_in(cells: Sequence[Any], dialect: Dialect) -> Floats:
    """Return cells as numbers, NaN where a cell is not a number."""
    if dialect.point == "." and dialect.thousands is None:
        try:
            numbers = np.array(cells, dtype=np.float64)
        except (ValueError, TypeError, OverflowError):
            pass  # below, cell by cell
        else:
            if numbers.ndim == 1:  # lists of equal length would make a second axis
                return numbers
    return np.fromiter(map(dialect.number, cells), np.float64, len(cells))


def text_rows(rows: Columns) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a chunk as objects that text can hold."""
    return zip(*(text_cells(name, column) for name, column in rows.items()), strict=True)


def text_cells(name: str, column: Reports | GappedReports | Sequence[Any]) -> Sequence[Any]:
    """Return a column to be written as objects that text can hold."""
    if isinstance(column, GappedReports):
        reported = iter(to_text(column.reports))
        return [next(reported) if there else None for there in column.there.tolist()]
    if isinstance(column, Reports):
        return to_text(column)
    if not hasattr(column, "to_pylist"):
        return column
    try:
        return to_objects(column)
    except OutsideDomain as error:
        raise InvalidParameter(f"column {name!r} cannot be kept as text: {error}") from None
