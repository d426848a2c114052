"""Tables as files, in chunks: CSV and JSON lines, with the campaign's specification at the head of reports.

Reading and writing hold one chunk at a time. A file of reports is written under a temporary name and renamed
when it is whole, so that a crash or a full disk leaves no half file.
"""

from __future__ import annotations

import csv
import json
import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO, final

import numpy as np

from dither.campaigns.campaign import Campaign
from dither.errors import InvalidParameter, MalformedReport
from dither.mechanisms.mechanism import Mechanism
from dither.reports import Reports

CHUNK: Final = 1 << 16
_HEAD: Final = "# dither "


@final
@dataclass(frozen=True)
class Chunk:
    """Some rows of a table: its columns, and the number of the first row (rows are counted from 1)."""

    first: int
    columns: Mapping[str, Sequence[Any]]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))


class Format(ABC):
    """One way of writing a table."""

    @abstractmethod
    def read(self, path: Path, columns: Sequence[str]) -> Iterator[Chunk]:
        """Give the named columns in chunks; cells that are empty or absent are None."""

    @abstractmethod
    def head(self, path: Path) -> str:
        """Give the campaign's specification at the head of a file of reports."""

    @abstractmethod
    def write(self, stream: TextIO, campaign: Campaign, chunks: Iterator[Mapping[str, Sequence[Any]]]) -> int:
        """Write the head and the rows, and give the number of rows."""


@final
class Csv(Format):
    """Comma-separated values with a header row."""

    def read(self, path: Path, columns: Sequence[str]) -> Iterator[Chunk]:  # noqa: D102
        with path.open(newline="", encoding="utf-8") as stream:
            rows = csv.reader(line for line in stream if not line.startswith(_HEAD))
            header = next(rows, [])
            places = [_place(header, column, path) for column in columns]
            first, kept = 1, []
            for row in rows:
                kept.append(
                    [row[place] if place < len(row) and row[place] != "" else None for place in places]
                )
                if len(kept) == CHUNK:
                    yield Chunk(first, dict(zip(columns, zip(*kept, strict=True), strict=True)))
                    first, kept = first + CHUNK, []
            if kept:
                yield Chunk(first, dict(zip(columns, zip(*kept, strict=True), strict=True)))

    def head(self, path: Path) -> str:  # noqa: D102
        with path.open(encoding="utf-8") as stream:
            line = stream.readline()
        if not line.startswith(_HEAD):
            raise MalformedReport(f"{path.name} is not a file of reports: its first line is no specification")
        return line.removeprefix(_HEAD)

    def write(self, stream: TextIO, campaign: Campaign, chunks: Iterator[Mapping[str, Sequence[Any]]]) -> int:  # noqa: D102
        stream.write(_HEAD + campaign.to_json() + "\n")
        writer, count = csv.writer(stream, lineterminator="\n"), 0
        for chunk in chunks:
            if not count:
                writer.writerow(chunk)
            writer.writerows(zip(*chunk.values(), strict=True))
            count += len(next(iter(chunk.values())))
        if not count:
            writer.writerow(campaign.questions)
        return count


@final
class JsonLines(Format):
    """One JSON object a line."""

    def read(self, path: Path, columns: Sequence[str]) -> Iterator[Chunk]:  # noqa: D102
        with path.open(encoding="utf-8") as stream:
            first, number = 1, 0
            kept: dict[str, list[Any]] = {column: [] for column in columns}
            for line in stream:
                if not line.strip() or line.startswith('{"dither"'):
                    continue
                number += 1
                try:
                    row = json.loads(line)
                    for column in columns:
                        kept[column].append(row.get(column))
                except (ValueError, AttributeError):
                    raise InvalidParameter(
                        f"{path.name}, row {number}: this line is no JSON object"
                    ) from None
                if number - first + 1 == CHUNK:
                    yield Chunk(first, kept)
                    first, kept = number + 1, {column: [] for column in columns}
            if number >= first:
                yield Chunk(first, kept)

    def head(self, path: Path) -> str:  # noqa: D102
        with path.open(encoding="utf-8") as stream:
            line = stream.readline()
        if not line.startswith('{"dither"'):
            raise MalformedReport(f"{path.name} is not a file of reports: its first line is no specification")
        return line

    def write(self, stream: TextIO, campaign: Campaign, chunks: Iterator[Mapping[str, Sequence[Any]]]) -> int:  # noqa: D102
        stream.write(campaign.to_json() + "\n")
        count = 0
        for chunk in chunks:
            names = list(chunk)
            for row in zip(*chunk.values(), strict=True):
                stream.write(json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) + "\n")
                count += 1
        return count


_FORMATS: Final[dict[str, type[Format]]] = {".csv": Csv, ".jsonl": JsonLines, ".ndjson": JsonLines}


def format_of(path: Path) -> Format:
    """Give the format that a file's ending names."""
    try:
        return _FORMATS[path.suffix.lower()]()
    except KeyError:
        known = ", ".join(_FORMATS)
        raise InvalidParameter(f"{path.name}: a file's name ends in one of {known}") from None


@contextmanager
def whole(path: Path) -> Iterator[TextIO]:
    """Open a file that appears under its name only when everything was written."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with open(handle, "w", newline="", encoding="utf-8") as stream:  # noqa: PTH123  (a handle)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def to_cells(reports: Reports) -> list[Any]:
    """Give reports as what a table can hold: whole numbers, or hexadecimal text for rows of them."""
    if reports.cells.ndim == 1:
        return list(reports.cells.tolist())
    return [row.tobytes().hex() for row in np.ascontiguousarray(reports.cells)]


def from_cells(mechanism: Mechanism, column: Sequence[Any], where: Callable[[int], str]) -> Reports:
    """Read reports back from a table's column; `where` names a place for the error of one that is none."""
    layout = mechanism.layout
    rows = np.empty(
        len(column), dtype=layout if layout.subdtype else np.int64 if layout.itemsize < 8 else layout
    )
    for number, cell in enumerate(column):
        try:
            if layout.subdtype is None:
                rows[number] = int(cell)
            else:
                rows[number] = np.frombuffer(bytes.fromhex(cell), dtype=layout.base)
        except (ValueError, TypeError, OverflowError):
            raise MalformedReport(
                f"{where(number)}: this is no report of {type(mechanism).__name__}"
            ) from None
    return mechanism.reports(rows)


def _place(header: Sequence[str], column: str, path: Path) -> int:
    try:
        return list(header).index(column)
    except ValueError:
        shown = ", ".join(map(repr, header[:12]))
        raise InvalidParameter(f"{path.name} has no column {column!r}; it has {shown}") from None
