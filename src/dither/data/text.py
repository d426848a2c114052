"""Cells of text: rows that were read from text, reports as text, and the specification in a comment line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from dither.arrays import Array, Floats, Integers, Mask
from dither.data.arrow import to_objects
from dither.data.formats import Chunk, Columns, code_cells
from dither.data.options import USUAL, Dialect
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain
from dither.question import Question
from dither.reports import Reports

ROWS: Final = 1 << 16  # rows of a chunk
_COMMENT: Final = "# dither "  # the first line of a CSV file begins so if it holds the specification


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

    def take(self, column: str, rows: Integers) -> Sequence[Any]:
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


def text_rows(rows: Columns) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a chunk as objects that text can hold."""
    return zip(*(text_cells(name, column) for name, column in rows.items()), strict=True)


def text_cells(name: str, column: Reports | Sequence[Any]) -> Sequence[Any]:
    """Return a column to be written as objects that text can hold."""
    if isinstance(column, Reports):
        return to_text(column)
    if not hasattr(column, "to_pylist"):
        return column
    try:
        return to_objects(column)
    except OutsideDomain as error:
        raise InvalidParameter(f"column {name!r} cannot be kept as text: {error}") from None


def comment_line(specification: str) -> str:
    """Return the first line of a CSV file that carries a specification."""
    return f"{_COMMENT}{specification}\n"


def from_comment_line(line: str) -> str | None:
    """Return the specification in the first line of a CSV file, or None if the line holds none."""
    return line.removeprefix(_COMMENT).strip() if line.startswith(_COMMENT) else None


def to_text(reports: Reports) -> list[Any]:
    """Return reports as cells of text: a whole number each, or hexadecimal digits if they are several.

    Hexadecimal digits are the bytes of the numbers, each number with its lowest byte first.
    """
    if reports.cells.ndim == 1:
        return list(reports.cells.tolist())
    rows = np.ascontiguousarray(reports.cells, dtype=reports.cells.dtype.newbyteorder("<"))
    digits, width = rows.tobytes().hex(), 2 * rows.dtype.itemsize * rows.shape[-1]
    return [digits[begin : begin + width] for begin in range(0, len(digits), width)]


def from_text(cells: Sequence[Any], mechanism: Question, where: Callable[[int], str]) -> Array:
    """Return the whole numbers of reports that were written by `to_text`, one row for each cell.

    A cell that cannot be read raises MalformedReport with `where(index)`. Whether a device can have sent
    the numbers is not checked here: pass the result to `mechanism.reports`.
    """
    read = _read_numbers if mechanism.layout.subdtype is None else _read_rows
    return read(cells, mechanism, where)


def _read_numbers(cells: Sequence[Any], mechanism: Question, where: Callable[[int], str]) -> Array:
    layout = mechanism.layout
    if layout.itemsize < 8:
        with suppress(ValueError, OverflowError):  # the loop below finds the cell that is not a number
            whole = np.array(cells)
            if whole.dtype.kind in "iU" and whole.ndim == 1:
                return whole.astype(np.int64)
    rows = np.empty(len(cells), dtype=layout if layout.itemsize == 8 else np.int64)
    for index, cell in enumerate(cells):
        try:
            rows[index] = int(cell)
        except (ValueError, TypeError, OverflowError):
            raise _malformed_cell(mechanism, where(index)) from None
    return rows


def _read_rows(cells: Sequence[Any], mechanism: Question, where: Callable[[int], str]) -> Array:
    layout = mechanism.layout
    base, shape = layout.base.newbyteorder("<"), layout.shape
    for index, cell in enumerate(cells):
        # `bytes.fromhex` skips spaces, which would make up for missing digits.
        if not isinstance(cell, str) or len(cell) != 2 * layout.itemsize or not cell.isalnum():
            raise _malformed_cell(mechanism, where(index))
        try:
            bytes.fromhex(cell)
        except ValueError:
            raise _malformed_cell(mechanism, where(index)) from None
    return np.frombuffer(bytes.fromhex("".join(cells)), base).reshape(len(cells), *shape)


def _malformed_cell(mechanism: Question, place: str) -> MalformedReport:
    return MalformedReport(f"{place}: this is not a report of {mechanism.name}")
