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
from typing import TYPE_CHECKING, Any, ClassVar, final

from dither.arrays import Array, Integers, Mask
from dither.domains import Domain
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain, unknown_name
from dither.mechanisms.base import Mechanism
from dither.reports import Reports

if TYPE_CHECKING:
    from dither.files.trips.trips import Trips

Progress = Callable[[int], None]  # called with the number of rows (or places) done since the last call
Columns = Mapping[str, Reports | Sequence[Any]]  # rows to be written: reports, and other cells unchanged


class Format(ABC):
    """One file format. It has no state; one instance of each is in `registry.py`."""

    endings: ClassVar[tuple[str, ...]]  # of file names, in lower case, with the dot; the usual one first

    @abstractmethod
    def specification(self, path: Path) -> str | None:
        """Return the specification that a file carries, as JSON text, or None if it carries none."""


class TableFormat(Format):
    """A format of tables: columns with names, read and written in chunks of rows."""

    @abstractmethod
    def columns(self, path: Path) -> list[str]:
        """Return the names of a file's columns, in order."""

    @abstractmethod
    def read(self, path: Path, columns: Sequence[str]) -> Iterator[Chunk]:
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

    def __init__(self, path: Path, first: int) -> None:
        self.path, self.first = path, first

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def cells(self, column: str) -> Sequence[Any]:
        """Return a column as plain objects, None where a cell is empty."""

    @abstractmethod
    def absent(self, column: str) -> Mask:
        """Return True for every empty cell of a column."""

    @abstractmethod
    def values(self, column: str, domain: Domain, rows: Integers) -> Any:
        """Return some rows of a column in the form that `domain.check` takes; they are not checked here."""

    @abstractmethod
    def kept(self, column: str, rows: Integers) -> Sequence[Any]:
        """Return some rows of a column unchanged."""

    @abstractmethod
    def raw_reports(self, column: str, mechanism: Mechanism[Any]) -> Array:
        """Return a column of reports as whole numbers; raise MalformedReport for a cell that is not one."""

    @final
    def reports(self, column: str, mechanism: Mechanism[Any]) -> Reports:
        """Return a column of reports; raise MalformedReport if no device can have sent one of them."""
        raw = self.raw_reports(column, mechanism)
        try:
            return mechanism.reports(raw)
        except MalformedReport as error:
            raise MalformedReport(f"{self.everywhere(column)}: {error}") from None

    def where(self, column: str, row: int) -> str:
        """Return the place of a cell for an error: file, row and column, never the value."""
        return f"{self.path.name}, row {self.first + row}, column {column!r}"

    def everywhere(self, column: str) -> str:
        """Return the place of all cells of a column, for an error whose row is not known."""
        return f"{self.path.name}, rows {self.first} to {self.first + len(self) - 1}, column {column!r}"


def silent(count: int) -> None:
    """Ignore progress: for callers that do not show it."""


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the file's name in front of the errors that are raised inside."""
    try:
        yield
    except UnicodeDecodeError:
        raise not_utf8(path) from None
    except (InvalidParameter, MalformedReport, OutsideDomain) as error:
        raise type(error)(f"{path.name}: {error}") from None


def not_utf8(path: Path) -> InvalidParameter:
    """Return the error for a text file in another encoding."""
    return InvalidParameter(f"{path.name} is not UTF-8 text; save it as UTF-8 first")


def absent_column(path: Path, column: str, there: Sequence[str]) -> InvalidParameter:
    """Return the error for a column that a file does not have."""
    return InvalidParameter(f"{path.name}: {unknown_name('column', column, there)}")


def require(path: Path, columns: Sequence[str], there: Sequence[str]) -> None:
    """Raise InvalidParameter unless a file has all of the columns, and no two columns of one name."""
    for column in columns:
        if column not in there:
            raise absent_column(path, column, there)
    if len(set(there)) < len(there):
        for column in there:
            if there.count(column) == 1:
                continue
            raise InvalidParameter(f"{path.name} has more than one column {column!r}; rename all but one")
