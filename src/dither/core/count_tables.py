"""Read tables of counts that a database query returned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple

import numpy as np

from dither.core.question import Question, as_question
from dither.errors import InvalidParameter, MalformedReport, Mismatch, MissingExtra, found
from dither.foundation.arrays import Integers

NEEDED: Final = ("fingerprint", "measure", "cell", "total")
MOST_COUNT: Final = (1 << 63) - 1


class Measure(StrEnum):
    """The kinds of totals in the rows of a table of counts."""

    COUNT = "count"  # reports of a cell, or reports that support a category
    REPORTS = "reports"  # all reports, if the counts do not imply their number
    MALFORMED = "malformed"  # left out: reports that no device can have sent, or without a batch
    OTHER = "other fingerprint"  # left out: reports of another mechanism than the question's


class CountTotals(NamedTuple):
    """The vector of counts of a question, the number of its reports, and how many rows were left out."""

    counts: Integers
    n: int
    malformed: int
    other: int


def read_counts(question: Question, table: object, name: str | None) -> CountTotals:
    """Return the totals of one question; rows of several days, labels and machines are added.

    Columns are found by their names, in upper or lower case.
    """
    question = as_question(question)
    columns = _columns(table)
    for column in NEEDED:
        if column not in columns:
            raise InvalidParameter(
                f"expected a table of counts with the columns {', '.join(NEEDED)}; {column!r} is missing, "
                f"found "
                f"{', '.join(map(found, list(columns)[:10])) or 'no columns'}"
            )
    rows = _rows_of(question, columns, name)
    sums: dict[Measure, int] = dict.fromkeys(Measure, 0)
    counts = [0] * question.counting.size
    for row in rows:
        measure, total = _measure(columns["measure"][row]), whole_number(columns["total"][row])
        if measure is not Measure.COUNT:
            sums[measure] += total
            continue
        cell = whole_number(columns["cell"][row])
        if cell >= len(counts):
            raise MalformedReport(
                f"expected cells of this question from 0 to {len(counts) - 1}, got another number; check "
                "the column 'cell'"
            )
        counts[cell] += total
    if max([*counts, *sums.values()]) > MOST_COUNT:
        raise MalformedReport("expected counts of at most 2^63 − 1, got a larger one; check the table")
    vector = np.array(counts, dtype=np.int64)
    implied = question.counting.implied_answers(vector)
    n = sums[Measure.REPORTS] if implied is None else implied
    return CountTotals(vector, n, sums[Measure.MALFORMED], sums[Measure.OTHER])


def _rows_of(question: Question, columns: Mapping[str, Sequence[Any]], name: str | None) -> list[int]:
    """Return the rows with the question's fingerprint, and with its name if one is given."""
    prints = columns["fingerprint"]
    names = columns.get("question")
    if name is not None and names is None:
        raise InvalidParameter(
            "expected no name for a table of counts without a column 'question'; leave name= out"
        )
    rows = [
        row
        for row, given in enumerate(prints)
        if given == question.fingerprint and (name is None or names is None or names[row] == name)
    ]
    if not rows and len(prints):
        what = "of this mechanism" if name is None else f"of this mechanism and the question {found(name)}"
        raise Mismatch(f"expected rows {what} in the table of counts, got none")
    if names is not None and name is None and len({names[row] for row in rows}) > 1:
        several = ", ".join(sorted({found(names[row]) for row in rows}))
        raise InvalidParameter(
            f"expected name= to choose a question, because several have this mechanism: {several}; pass "
            "one of them"
        )
    return rows


def _columns(table: object) -> Mapping[str, Sequence[Any]]:
    """Return the columns of a table: a frame, a mapping of columns, or rows that are mappings."""
    columns: Mapping[str, Sequence[Any]]
    if isinstance(table, Mapping):
        columns = {str(name).lower(): list(values) for name, values in table.items()}
    elif hasattr(table, "__arrow_c_stream__"):
        columns = _of_arrow(table)
    elif isinstance(table, Iterable) and not isinstance(table, str | bytes):
        rows = list(table)
        if not all(isinstance(row, Mapping) for row in rows):
            raise InvalidParameter(
                "expected the rows of a table of counts to be mappings from names to values"
            )
        names = list(rows[0]) if rows else list(NEEDED)
        try:
            columns = {str(name).lower(): [row[name] for row in rows] for name in names}
        except KeyError:
            raise InvalidParameter("expected the same columns in every row of the table of counts") from None
    else:
        raise InvalidParameter(
            "expected a table of counts as a data frame, a mapping of columns, or a list of rows "
            f"that are mappings, got {type(table).__name__}"
        )
    if len({len(values) for values in columns.values()}) > 1:
        raise InvalidParameter(
            "expected columns of one length in the table of counts; give every column a cell in every row"
        )
    return columns


def _of_arrow(table: object) -> Mapping[str, Sequence[Any]]:
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra("data frames", "frames") from None
    arrow_table = pyarrow.RecordBatchReader.from_stream(table).read_all()
    return {name.lower(): arrow_table.column(name).to_pylist() for name in arrow_table.column_names}


def _measure(given: object) -> Measure:
    try:
        return Measure(given)  # type: ignore[arg-type]
    except ValueError:
        raise MalformedReport(
            f"expected a measure to be one of {', '.join(map(repr, map(str, Measure)))}, got {found(given)}"
        ) from None


def whole_number(given: Any) -> int:
    """Return an integer from 0 upwards; databases also send decimals and floats without a fraction."""
    try:
        number = int(given)
        if isinstance(given, bool) or number != given or number < 0:
            raise ValueError
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        raise MalformedReport(
            "expected integers from 0 upwards as cells and totals; check the table"
        ) from None
    return number
