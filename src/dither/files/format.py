"""Tables as files, in chunks: what every format offers, and which ending names which.

Reading and writing hold one chunk at a time. A file of reports carries its campaign's specification.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from dither.arrays import Integers, Mask
from dither.domains import Domain
from dither.errors import InvalidParameter, MalformedReport
from dither.mechanisms.base import Mechanism
from dither.reports import Reports
from dither.wire.campaign import Campaign

Written = Mapping[str, Reports | Sequence[Any]]  # some rows on their way out: reports, and cells as they are


class Chunk(ABC):
    """Some rows of a table; `first` is the number of the first one (rows are counted from 1)."""

    def __init__(self, path: Path, first: int) -> None:
        self.path, self.first = path, first

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def cells(self, column: str) -> Sequence[Any]:
        """Give a column as plain objects; None where a cell is empty."""

    @abstractmethod
    def absent(self, column: str) -> Mask:
        """Say which cells of a column are empty."""

    @abstractmethod
    def values(self, column: str, domain: Domain, rows: Integers) -> Any:
        """Give some rows of a column as a mechanism on the domain takes them; not checked yet."""

    @abstractmethod
    def kept(self, column: str, rows: Integers) -> Sequence[Any]:
        """Give some rows of a column as they are."""

    @abstractmethod
    def reports(self, column: str, mechanism: Mechanism[Any]) -> Reports:
        """Read a column of reports back, or raise `MalformedReport` with its place."""

    def where(self, column: str, row: int) -> str:
        """Name the place of a cell: the file, the row and the column, never the value."""
        return f"{self.path.name}, row {self.first + row}, column {column!r}"


class Format(ABC):
    """One way of writing a table."""

    @abstractmethod
    def read(self, path: Path, columns: Sequence[str]) -> Iterator[Chunk]:
        """Give the named columns in chunks."""

    @abstractmethod
    def columns(self, path: Path) -> list[str]:
        """Give the names of a file's columns."""

    @abstractmethod
    def head(self, path: Path) -> str:
        """Give the campaign's specification that a file of reports carries."""

    @abstractmethod
    def write(self, path: Path, campaign: Campaign, chunks: Iterator[Written]) -> None:
        """Write the specification and the rows."""


# Formats are loaded by name, and only when a file asks for one: columns in binary need the extra `frames`.
_FORMATS: Final = {
    ".csv": "dither.files.csv_jsonl:Csv",
    ".jsonl": "dither.files.csv_jsonl:JsonLines",
    ".ndjson": "dither.files.csv_jsonl:JsonLines",
    ".parquet": "dither.files.parquet_arrow:Parquet",
    ".arrow": "dither.files.parquet_arrow:ArrowFile",
    ".feather": "dither.files.parquet_arrow:ArrowFile",
}


def format_of(path: Path) -> Format:
    """Give the format that a file's ending names."""
    name = _FORMATS.get(path.suffix.lower())
    if name is None:
        raise InvalidParameter(f"{path.name}: a file's name ends in one of {', '.join(_FORMATS)}")
    module, _, kind = name.partition(":")
    made: Format = getattr(importlib.import_module(module), kind)()
    return made


def absent_column(path: Path, column: str, there: Sequence[str]) -> InvalidParameter:
    """Give the error for a column that a file does not have."""
    return InvalidParameter(
        f"{path.name} has no column {column!r}; it has {', '.join(map(repr, there[:12]))}"
    )


def no_head(path: Path) -> MalformedReport:
    """Give the error for a file that carries no specification."""
    return MalformedReport(f"{path.name} is not a file of reports: it carries no specification")
