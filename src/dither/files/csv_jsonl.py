"""Tables as text: CSV and JSON lines. The specification of reports stands in the first line."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, TextIO, final

import numpy as np

from dither.arrays import Integers, Mask
from dither.domains import Categories, Domain, Line
from dither.errors import InvalidParameter, MalformedReport
from dither.files.format import Chunk, Format, Written, absent_column, no_head
from dither.mechanisms.base import Mechanism
from dither.reports import Reports
from dither.wire.campaign import Campaign

CHUNK: Final = 1 << 16
_HEAD: Final = "# dither "
_JSON_HEAD: Final = '{"dither"'


@final
class TextChunk(Chunk):
    """Rows of cells as text, or as what JSON makes of them."""

    def __init__(self, path: Path, first: int, columns: Mapping[str, Sequence[Any]]) -> None:
        super().__init__(path, first)
        self._columns = columns

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def cells(self, column: str) -> Sequence[Any]:
        return self._columns[column]

    def absent(self, column: str) -> Mask:
        cells = self._columns[column]
        if None not in cells:
            return np.zeros(len(cells), dtype=np.bool_)
        return np.fromiter((cell is None for cell in cells), np.bool_, len(cells))

    def values(self, column: str, domain: Domain, rows: Integers) -> Any:
        return _reader(domain)(self.kept(column, rows))

    def kept(self, column: str, rows: Integers) -> Sequence[Any]:
        cells = self._columns[column]
        return cells if rows.size == len(cells) else [cells[row] for row in rows.tolist()]

    def reports(self, column: str, mechanism: Mechanism[Any]) -> Reports:
        layout, cells = mechanism.layout, self._columns[column]
        whole = np.array(cells) if layout.subdtype is None and layout.itemsize < 8 else np.empty(0)
        if whole.dtype.kind in "iU":
            with suppress(ValueError, OverflowError):  # one that is no number is looked for below
                return mechanism.reports(whole.astype(np.int64))
        kind = layout if layout.subdtype or layout.itemsize == 8 else np.dtype(np.int64)
        rows = np.empty(len(cells), dtype=kind)
        for number, cell in enumerate(cells):
            try:
                if layout.subdtype is None:
                    rows[number] = int(cell)
                else:
                    rows[number] = np.frombuffer(bytes.fromhex(cell), dtype=layout.base)
            except (ValueError, TypeError, OverflowError):
                place = self.where(column, number)
                raise MalformedReport(f"{place}: this is no report of {type(mechanism).__name__}") from None
        return mechanism.reports(rows)


@final
class Csv(Format):
    """Comma-separated values with a header row."""

    def read(self, path: Path, columns: Sequence[str]) -> Iterator[Chunk]:
        with _opened(path) as stream:
            rows = _rows(path, stream)
            header = next(rows, [])
            for column in columns:
                if column not in header:
                    raise absent_column(path, column, header)
            first = 1
            while some := list(islice(rows, CHUNK)):
                kept = {column: _column(some, header.index(column)) for column in columns}
                yield TextChunk(path, first, kept)
                first += len(some)

    def columns(self, path: Path) -> list[str]:
        with _opened(path) as stream:
            return next(_rows(path, stream), [])

    def head(self, path: Path) -> str:
        with _opened(path) as stream:
            line = stream.readline()
        if not line.startswith(_HEAD):
            raise no_head(path)
        return line.removeprefix(_HEAD)

    def write(self, path: Path, campaign: Campaign, chunks: Iterator[Written]) -> None:
        with path.open("x", newline="", encoding="utf-8") as stream:
            stream.write(_HEAD + campaign.to_json() + "\n")
            writer, begun = csv.writer(stream, lineterminator="\n"), False
            for chunk in chunks:
                if not begun:
                    writer.writerow(chunk)
                    begun = True
                writer.writerows(zip(*map(_cells, chunk.values()), strict=True))
            if not begun:
                writer.writerow(campaign.questions)


@final
class JsonLines(Format):
    """One JSON object a line."""

    def read(self, path: Path, columns: Sequence[str]) -> Iterator[Chunk]:
        first, number = 1, 0
        kept: dict[str, list[Any]] = {column: [] for column in columns}
        for row in self._objects(path):
            number += 1
            for column in columns:
                kept[column].append(row.get(column))
            if number - first + 1 == CHUNK:
                yield TextChunk(path, first, kept)
                first, kept = number + 1, {column: [] for column in columns}
        if number >= first:
            yield TextChunk(path, first, kept)

    def _objects(self, path: Path) -> Iterator[dict[str, Any]]:
        with _opened(path) as stream:
            number = 0
            for line in stream:
                if not line.strip() or line.startswith(_JSON_HEAD):
                    continue
                number += 1
                try:
                    row = json.loads(line)
                except ValueError:
                    row = None
                if not isinstance(row, dict):
                    raise InvalidParameter(f"{path.name}, row {number}: this line is no JSON object")
                yield row

    def columns(self, path: Path) -> list[str]:
        return list(next(self._objects(path), {}))

    def head(self, path: Path) -> str:
        with _opened(path) as stream:
            line = stream.readline()
        if not line.startswith(_JSON_HEAD):
            raise no_head(path)
        return line

    def write(self, path: Path, campaign: Campaign, chunks: Iterator[Written]) -> None:
        with path.open("x", encoding="utf-8") as stream:
            stream.write(campaign.to_json() + "\n")
            for chunk in chunks:
                names = list(chunk)
                for row in zip(*map(_cells, chunk.values()), strict=True):
                    line = dict(zip(names, row, strict=True))
                    stream.write(json.dumps(line, ensure_ascii=False, default=str) + "\n")


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    """Open text whatever program wrote it: a byte-order mark is skipped, and other encodings are refused."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            yield stream
    except UnicodeDecodeError:
        raise InvalidParameter(f"{path.name} is not UTF-8 text; save it as UTF-8 first") from None


def _rows(path: Path, stream: TextIO) -> Iterator[list[str]]:
    line = stream.readline()
    reader = csv.reader(stream if line.startswith(_HEAD) else chain([line], stream))
    try:
        yield from reader
    except csv.Error as error:
        raise InvalidParameter(f"{path.name}, line {reader.line_num}: {error}") from None


def _column(rows: list[list[str]], place: int) -> list[str | None]:
    """Give one column; a cell that is empty, or beyond the end of a short row, is None."""
    try:
        cells: list[str | None] = [row[place] for row in rows]
    except IndexError:
        cells = [row[place] if place < len(row) else None for row in rows]
    return [cell or None for cell in cells] if "" in cells else cells


def _cells(column: Reports | Sequence[Any]) -> Sequence[Any]:
    """Give what a line of text can hold: whole numbers, or hexadecimal text for rows of them."""
    if not isinstance(column, Reports):
        plain: Sequence[Any] = column.to_pylist() if hasattr(column, "to_pylist") else column  # from Arrow
        return plain
    if column.cells.ndim == 1:
        return list(column.cells.tolist())
    return [row.tobytes().hex() for row in np.ascontiguousarray(column.cells)]


def _reader(domain: Domain) -> Callable[[Sequence[Any]], Any]:
    if isinstance(domain, Line):
        return lambda cells: np.array(cells, dtype=np.float64)
    if isinstance(domain, Categories):
        if isinstance(domain.labels, range):
            return lambda cells: np.array([int(cell) for cell in cells], dtype=np.int64)
        texts = {str(label): label for label in domain.labels}
        return lambda cells: [texts.get(str(cell), cell) for cell in cells]
    raise InvalidParameter(f"a column cannot hold values of {domain}")
