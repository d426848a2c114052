"""The interface of a file format: how it reads, how it writes, and how it carries the specification.

A file of reports carries its *specification*: JSON text that names the mechanisms and holds everything that
is needed to decode their reports. Every format returns it by `specification(path)` and stores it by `write`.
Each format has its own place for it: the first line, the schema, an element.

A new format is a class in a file of its own and two lines in `registry.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

import numpy as np

from dither.arrays import Array, Floats, Integers, Mask
from dither.domains import first_misfit
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain, found, unknown_name
from dither.files.dialect import Dialect
from dither.files.streams import not_text, shown_name
from dither.question import Question
from dither.reports import Reports

if TYPE_CHECKING:
    from dither.files.trips.trips import Trips

Progress = Callable[[int], None]  # called with the number of rows (or places) done since the last call
USUAL: Final = Dialect()
Columns = Mapping[str, Reports | Sequence[Any]]  # rows to be written: reports, and other cells unchanged


class Format(ABC):
    """One file format. It has no state; one instance of each is in `registry.py`."""

    endings: ClassVar[tuple[str, ...]]  # of file names, in lower case, with the dot; the usual one first
    compressible: ClassVar[bool] = False  # whether .gz or .zst may follow the ending

    @abstractmethod
    def specification(self, path: Path) -> str | None:
        """Return the specification that a file carries, as JSON text, or None if it carries none."""


class TableFormat(Format):
    """A format of tables: columns with names, read and written in chunks of rows."""

    parsed: ClassVar[bool] = True  # whether reading takes so long that it has a thread of its own

    @abstractmethod
    def columns(self, path: Path, dialect: Dialect = USUAL) -> list[str]:
        """Return the names of a file's columns, in order."""

    @abstractmethod
    def read(self, path: Path, columns: Sequence[str], dialect: Dialect = USUAL) -> Iterator[Chunk]:
        """Yield the named columns, a chunk of rows at a time; raise InvalidParameter if one is absent."""

    @abstractmethod
    def write(self, path: Path, specification: str, chunks: Iterator[Columns]) -> None:
        """Write a new file with the specification and all chunks.

        There is at least one chunk; it may have no rows. All chunks have the same columns.
        """


class TripFormat(Format):
    """A format of trips: paths of longitudes and latitudes with names, read and written at once."""

    @abstractmethod
    def read(self, path: Path, progress: Progress) -> Trips:
        """Return the trips of a file, with their times, reports and specification where it has them."""

    @abstractmethod
    def write(self, path: Path, trips: Trips) -> None:
        """Write a new file with trips, and with their times, reports and specification if they have any."""

    def specification(self, path: Path) -> str | None:
        return self.read(path, silent).specification


class Chunk(ABC):
    """Some consecutive rows of a table. `first` is the number of the first one; rows are counted from 1."""

    def __init__(self, path: Path, first: int, dialect: Dialect = USUAL) -> None:
        self.path, self.first, self.dialect = path, first, dialect

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def cells(self, column: str) -> Sequence[Any]:
        """Return a column as plain objects, None where a cell is empty."""

    @abstractmethod
    def absent(self, column: str) -> Mask:
        """Return True for every empty cell of a column, and for every word that stands for no answer."""

    @abstractmethod
    def numbers(self, column: str, rows: Integers) -> Floats:
        """Return some rows of a column as numbers, NaN where a cell is not a number."""

    def coded(self, column: str, rows: Integers) -> tuple[Integers, list[Any]]:
        """Return the distinct cells among some rows of a column, and for each row the place of its cell."""
        distinct: dict[tuple[type, str], tuple[int, Any]] = {}
        cells = self.kept(column, rows)
        codes = (  # 1, True and "1" are three cells
            distinct.setdefault((type(cell), str(cell)), (len(distinct), cell))[0] for cell in cells
        )
        return np.fromiter(codes, np.int64, len(cells)), [cell for _, cell in distinct.values()]

    @abstractmethod
    def kept(self, column: str, rows: Integers) -> Sequence[Any]:
        """Return some rows of a column unchanged."""

    @abstractmethod
    def raw_reports(self, column: str, mechanism: Question) -> Array:
        """Return a column of reports as whole numbers; raise MalformedReport for a cell that is not one."""

    @final
    def reports(self, column: str, mechanism: Question) -> Reports:
        """Return a column of reports; raise MalformedReport if no device can have sent one of them."""
        raw = self.raw_reports(column, mechanism)
        try:
            return mechanism.reports(raw)
        except MalformedReport as error:
            row = first_misfit(lambda begin, end: _possible(mechanism, raw[begin:end]), len(raw))
            raise MalformedReport(f"{self.where(column, self.row_of(column, row))}: {error}") from None

    def row_of(self, column: str, report: int) -> int:
        """Return the row of a report of `raw_reports`: they differ if empty cells are skipped."""
        return report

    def where(self, column: str, row: int) -> str:
        """Return the place of a cell for an error: file, row and column, never the value."""
        return f"{shown_name(self.path)}, row {self.first + row}, column {column!r}"

    def everywhere(self, column: str) -> str:
        """Return the place of all cells of a column, for an error whose row is not known."""
        last = self.first + len(self) - 1
        return f"{shown_name(self.path)}, rows {self.first} to {last}, column {column!r}"


def _possible(mechanism: Question, raw: Array) -> bool:
    try:
        mechanism.reports(raw)
    except MalformedReport:
        return False
    return True


def silent(count: int) -> None:
    """Ignore progress: for callers that do not show it."""


@contextmanager
def naming(path: Path) -> Iterator[None]:
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
        f"{shown_name(path)}: there is no column {found(column)} among {len(there)}. The first row must hold "
        "the names of the columns; it is not shown here, because it may hold the values of a person"
    )


def require(path: Path, columns: Sequence[str], there: Sequence[str], *, shown: bool = True) -> None:
    """Raise InvalidParameter unless a file has all of the columns, and no two columns of one name.

    The error lists the names only if `shown`, or if one of the columns is there: then they are names.
    """
    for column in columns:
        if column not in there:
            raise absent_column(path, column, there, shown=shown or any(one in there for one in columns))
    if len(set(there)) < len(there):
        for column in there:
            if there.count(column) == 1:
                continue
            raise InvalidParameter(
                f"{shown_name(path)} has more than one column {found(column)}; rename all but one"
            )
