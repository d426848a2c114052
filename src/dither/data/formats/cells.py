"""Reports as cells of text, and the specification as a comment line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

import numpy as np

from dither.core.question import Question
from dither.core.reports import Reports
from dither.errors import MalformedReport
from dither.foundation.arrays import Array

_COMMENT: Final = "# dither "  # the first line of a CSV file begins so if it holds the specification


def comment_line(specification: str) -> str:
    """Return the first line of a CSV file with a specification."""
    return f"{_COMMENT}{specification}\n"


def from_comment_line(line: str) -> str | None:
    """Return the specification in the first line of a CSV file, or None if the line holds none."""
    return line.removeprefix(_COMMENT).strip() if line.startswith(_COMMENT) else None


def to_text(reports: Reports) -> list[Any]:
    """Return reports as cells of text: an integer each, or hexadecimal digits if they are several.

    Hexadecimal digits are the bytes of the numbers, each number with its lowest byte first.
    """
    if reports.cells.ndim == 1:
        return list(reports.cells.tolist())
    rows = np.ascontiguousarray(reports.cells, dtype=reports.cells.dtype.newbyteorder("<"))
    digits, width = rows.tobytes().hex(), 2 * rows.dtype.itemsize * rows.shape[-1]
    return [digits[begin : begin + width] for begin in range(0, len(digits), width)]


def from_text(cells: Sequence[Any], question: Question, where: Callable[[int], str]) -> Array:
    """Return the integers of reports that were written by `to_text`, one row for each cell.

    A cell that cannot be read raises MalformedReport with `where(index)`. Whether a device can have sent
    the numbers is not checked here: pass the result to `question.reports`.
    """
    read = _read_numbers if question.layout.subdtype is None else _read_rows
    return read(cells, question, where)


def _read_numbers(cells: Sequence[Any], question: Question, where: Callable[[int], str]) -> Array:
    layout = question.layout
    if layout.itemsize < 8:
        with suppress(ValueError, OverflowError):  # the loop below finds the invalid cell
            integers = np.array(cells)
            if integers.dtype.kind in "iU" and integers.ndim == 1:
                return integers.astype(np.int64)
    rows = np.empty(len(cells), dtype=layout if layout.itemsize == 8 else np.int64)
    for index, cell in enumerate(cells):
        try:
            rows[index] = int(cell)
        except (ValueError, TypeError, OverflowError):
            raise _malformed_cell(question, where(index)) from None
    return rows


def _read_rows(cells: Sequence[Any], question: Question, where: Callable[[int], str]) -> Array:
    layout = question.layout
    base, shape = layout.base.newbyteorder("<"), layout.shape
    for index, cell in enumerate(cells):
        # `bytes.fromhex` skips spaces, and they could replace missing digits.
        if not isinstance(cell, str) or len(cell) != 2 * layout.itemsize or not cell.isalnum():
            raise _malformed_cell(question, where(index))
        try:
            bytes.fromhex(cell)
        except ValueError:
            raise _malformed_cell(question, where(index)) from None
    return np.frombuffer(bytes.fromhex("".join(cells)), base).reshape(len(cells), *shape)


def _malformed_cell(question: Question, location: str) -> MalformedReport:
    return MalformedReport(f"{location}: this is not a report of {question.name}")
