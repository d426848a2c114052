"""The interface of a file format: reading, writing, and storing the specification.

A file of reports carries its *specification*: JSON text that names the mechanisms and holds everything that
is needed to decode their reports. Every format returns it by `specification(path)` and stores it by `write`.
Each format stores it in its own way: in the first line, the schema, or an element.

A new format is a class in a file of its own, and a line for each ending in `streams.TABLES` or `.TRIPS`.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from dither.core.domains import first_misfit
from dither.core.question import Question
from dither.core.questionnaire import Questionnaire
from dither.core.reports import Reports
from dither.data.dialect import USUAL, Dialect
from dither.data.formats.cells import from_text
from dither.data.streams import COMPRESSED, SURVEYS, TABLES, TRIPS, ending, not_text, shown_name
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain, found, unknown_name
from dither.foundation.arrays import Array, Integers, Mask

if TYPE_CHECKING:
    from dither.data.trips.trips import Trips


Questions = Mapping[str, Any] | Questionnaire  # questions by the names of their columns
Progress = Callable[[int], None]  # called with the number of rows (or places) done since the last call
Columns = Mapping[str, "Reports | GappedReports | Sequence[Any]"]  # rows to be written: reports, other cells

ItemLists = tuple[Integers, list[Any], Integers, Mask]  # result of `Chunk.lists`

ROWS: Final = 1 << 16  # rows of a chunk
_COMPRESSIBLE: Final = (".csv", ".tsv", ".jsonl", ".ndjson")  # .gz or .zst may follow these endings


class GappedReports:
    """Reports of some rows of a table. The other rows have an empty cell because their answer is missing."""

    def __init__(self, reports: Reports, there: Mask) -> None:
        self.reports, self.there = reports, there

    def __len__(self) -> int:
        return len(self.there)


class TableFormat(ABC):
    """A format of tables: columns with names, read and written in chunks of rows. It has no state."""

    parsed: ClassVar[bool] = True  # True if a thread reads ahead, because the format is slow

    @abstractmethod
    def specification(self, path: Path) -> str | None:
        """Return the specification that a file carries, as JSON text, or None if it carries none."""

    @abstractmethod
    def columns(self, path: Path, dialect: Dialect = USUAL) -> list[str]:
        """Return the names of a file's columns, in order."""

    @abstractmethod
    def read(self, path: Path, columns: Sequence[str], dialect: Dialect = USUAL) -> Iterator[Chunk]:
        """Yield the named columns, a chunk of rows at a time.

        Raise InvalidParameter if a column is missing.
        """

    @abstractmethod
    def write(self, path: Path, specification: str, chunks: Iterator[Columns]) -> None:
        """Write a new file with the specification and all chunks.

        There is at least one chunk; it may have no rows. All chunks have the same columns.
        """


class TripFormat(ABC):
    """A format of trips: paths of longitudes and latitudes with names, read and written at once."""

    @abstractmethod
    def read(self, path: Path, progress: Progress) -> Trips:
        """Return the trips of a file, with their times, reports and specification where it has them."""

    @abstractmethod
    def write(self, path: Path, trips: Trips) -> None:
        """Write a new file with trips, and with their times, reports and specification if they have any."""


def table_format(path: Path) -> TableFormat:
    """Return the format of a table by its file's ending; raise InvalidParameter if it is not known."""
    if ending(path) in SURVEYS:
        survey: TableFormat = _load_format(SURVEYS[ending(path)])
        return survey
    otherwise = "for trips use dt.data.perturb_trips or dither trajectory"
    table: TableFormat = _load_format(_named_format(path, TABLES, "tables", otherwise))
    return table


def trip_format(path: Path) -> TripFormat:
    """Return the format of trips by their file's ending; raise InvalidParameter if it is not known."""
    otherwise = "for tables use dt.data.perturb_file or dither perturb"
    trips: TripFormat = _load_format(_named_format(path, TRIPS, "trips", otherwise))
    return trips


def file_specification(path: Path) -> str | None:
    """Return the specification that a file of a table or of trips carries, or None if it carries none."""
    if ending(path) in TABLES:
        return table_format(path).specification(path)
    return trip_format(path).read(path, ignore_progress).specification


def _named_format(path: Path, formats: Mapping[str, str], what: str, otherwise: str) -> str:
    """Return the module and the class of a format by a file's ending."""
    last = ending(path)
    if last in formats:
        if path.suffix.lower() in COMPRESSED and last not in _COMPRESSIBLE:
            raise InvalidParameter(
                f"expected {path.name} without {last}, because {' and '.join(COMPRESSED)} are for .csv and "
                f".jsonl and {last} files are compressed inside; rename it"
            )
        return formats[last]
    if last in TABLES or last in TRIPS:
        hint = f"; {otherwise}"
    else:
        near = get_close_matches(last, formats, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
    raise InvalidParameter(
        f"{path.name}: expected {what} in a file that ends in one of {', '.join(formats)}{hint}"
    )


@cache
def _load_format(name: str) -> Any:
    """Return the one instance of a format, such as "formats.csv.Csv"."""
    module, _, format_class = name.rpartition(".")
    return getattr(import_module(f"dither.data.{module}"), format_class)()


def is_of_trips(specification: str) -> bool:
    """Return whether the specification in a file is one of trips, and not of a table."""
    try:
        given = json.loads(specification)
    except (ValueError, RecursionError):
        return False
    return isinstance(given, dict) and {"mechanism", "map"} <= given.keys()


class Chunk(ABC):
    """Some consecutive rows of a table. `first` is the number of the first one; rows are counted from 1."""

    may_be_empty: ClassVar[bool] = False  # True if a row may have no report
    typed: ClassVar[bool] = False  # True if numbers are numbers, not texts

    def __init__(self, path: Path, first: int, dialect: Dialect = USUAL, *, place: str | None = None) -> None:
        """`place` are the words before a row in errors; the name of the file if it is left out."""
        self.path, self.first, self.dialect, self.place = path, first, dialect, place

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def cells(self, column: str) -> Sequence[Any]:
        """Return a column as plain objects, None where a cell is empty."""

    @abstractmethod
    def absent(self, column: str) -> Mask:
        """Return True for every empty cell of a column, and for every word that means no answer."""

    @abstractmethod
    def numbers(self, column: str, rows: Integers) -> Array:
        """Return some rows of a column as numbers, NaN where a cell is not a number.

        Numbers of a typed column keep their type: a domain allows for the digits of a narrow one.
        """

    @abstractmethod
    def codes(self, column: str, rows: Integers) -> tuple[Integers, list[Any]]:
        """Return the distinct cells among some rows of a column, and for each row the index of its cell."""

    @abstractmethod
    def lists(self, column: str, rows: Integers) -> ItemLists:
        """Return the items of the sets in some rows: codes, the distinct items, and the end of each row.

        The mask is True where a cell is not a list of items; it has no items here.
        """

    @abstractmethod
    def take(self, column: str, rows: Integers) -> Any:
        """Return some rows of a column unchanged."""

    @abstractmethod
    def ids(self, column: str) -> np.ma.MaskedArray | tuple[Array, Integers] | None:
        """Return ids of people: numbers as 64 bits each, or texts as UTF-8 bytes and where each one begins.

        None if the cells are of another kind, or a text is missing: `cells` returns them one by one.
        """

    @abstractmethod
    def raw_reports(self, column: str, question: Question) -> Array:
        """Return a column of reports as integers; raise MalformedReport for a cell that is not one.

        Empty cells are left out: those people did not answer this question.
        """

    def from_cells(self, column: str, cells: Sequence[Any], question: Question) -> Array:
        """Return the integers of the reports in cells of text, without empty cells."""
        if None not in cells:
            return from_text(cells, question, partial(self.where, column))
        rows = [row for row, cell in enumerate(cells) if cell is not None]
        return from_text([cells[row] for row in rows], question, lambda at: self.where(column, rows[at]))

    def check_rows(self, columns: Sequence[str]) -> None:
        """Raise MalformedReport if a row lacks all columns of reports, because such rows are never written.

        Frames may have such rows, of nulls, and so may the files that they are written to.
        """
        if self.may_be_empty:
            return
        empty = np.logical_and.reduce([self.absent(column) for column in columns])
        if empty.any():
            position = self.where(columns[0], int(empty.argmax()))
            raise MalformedReport(f"{position}: this row has no report")

    def reports(self, column: str, question: Question) -> Reports:
        """Return a column of reports; raise MalformedReport if no device can have sent one of them."""
        raw = self.raw_reports(column, question)
        try:
            return Reports(question, question.reports(raw).cells, column)
        except MalformedReport as error:
            index = first_misfit(lambda begin, end: _is_possible(question, raw[begin:end]), len(raw))
            row = int(np.flatnonzero(~self.absent(column))[index])
            raise MalformedReport(f"{self.where(column, row)}: {error}") from None

    def where(self, column: str, row: int) -> str:
        """Return the location of a cell for an error: file, row and column, never the value."""
        before = f"{shown_name(self.path)}, " if self.place is None else self.place
        return f"{before}row {self.first + row}, column {column!r}"


def _is_possible(question: Question, raw: Array) -> bool:
    try:
        question.reports(raw)
    except MalformedReport:
        return False
    return True


def code_cells(cells: Sequence[Any]) -> tuple[Integers, list[Any]]:
    """Return the distinct cells, and for each cell its index among them; 1, True and "1" differ."""
    distinct: dict[tuple[type, str], tuple[int, Any]] = {}
    codes = (distinct.setdefault((type(cell), str(cell)), (len(distinct), cell))[0] for cell in cells)
    return np.fromiter(codes, np.int64, len(cells)), [cell for _, cell in distinct.values()]


def split_cells(chunk: Chunk, column: str, rows: Integers) -> ItemLists:
    """Return the items of sets in cells of text or of lists, as `Chunk.lists` does."""
    cells = chunk.cells(column)
    found = [chunk.dialect.items(cells[row]) for row in rows.tolist()]
    odd = np.array([items is None for items in found], dtype=np.bool_)
    codes, items = code_cells([item for items in found for item in items or ()])
    ends: Integers = np.cumsum([len(items or ()) for items in found], dtype=np.int64)
    return codes, items, ends, odd


def ignore_progress(count: int) -> None:
    """Do nothing: for callers that do not show progress."""


@contextmanager
def name_errors(path: Path) -> Iterator[None]:
    """Put the file's name in front of the errors that are raised inside."""
    try:
        yield
    except UnicodeDecodeError:
        raise not_text(path) from None
    except (InvalidParameter, MalformedReport, OutsideDomain) as error:
        raise type(error)(f"{shown_name(path)}: {error}") from None


def absent_column(path: Path, column: str, there: Sequence[str], *, shown: bool = True) -> InvalidParameter:
    """Return the error for a column that a file does not have; `there` is listed if it may be shown."""
    if shown:
        return InvalidParameter(f"{shown_name(path)}: {unknown_name('column', column, there)}")
    return InvalidParameter(
        f"{shown_name(path)}: cannot find the column {found(column)} among {len(there)}; put the names of "
        "the columns into the first row (it is not shown here, because it may be a person's values)"
    )


def require_columns(path: Path, columns: Sequence[str], there: Sequence[str], *, shown: bool = True) -> None:
    """Raise InvalidParameter unless a file has all of the columns, and no two columns of one name.

    The error lists the names only if `shown`, or if one of the columns is there: a file with that column has
    a header.
    """
    for column in columns:
        if column not in there:
            raise absent_column(path, column, there, shown=shown or any(name in there for name in columns))
    if len(set(there)) < len(there):
        for column in there:
            if there.count(column) == 1:
                continue
            raise InvalidParameter(
                f"{shown_name(path)}: expected one column {found(column)}, got several; rename all but one"
            )
