"""Rows of a table that was read from text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, TextIO, final

import numpy as np

from dither.arrays import Array, Integers, Mask
from dither.domains import Categories, Domain, Line
from dither.errors import InvalidParameter, OutsideDomain
from dither.files.arrow import plain
from dither.files.format import Chunk, Columns, not_utf8
from dither.files.text import from_text, to_text
from dither.mechanisms.base import Mechanism
from dither.reports import Reports

ROWS: Final = 1 << 16  # rows of a chunk


@final
class TextChunk(Chunk):
    """Rows of cells: text from CSV, plain objects from JSON."""

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

    def raw_reports(self, column: str, mechanism: Mechanism[Any]) -> Array:
        return from_text(self._columns[column], mechanism, partial(self.where, column))


@contextmanager
def opened(path: Path) -> Iterator[TextIO]:
    """Open a text file for reading. A byte-order mark is skipped; an encoding other than UTF-8 is refused."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            yield stream
    except UnicodeDecodeError:
        raise not_utf8(path) from None


def written(rows: Columns) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a chunk as objects that text can hold."""
    return zip(*(_cells(name, column) for name, column in rows.items()), strict=True)


def _cells(name: str, column: Reports | Sequence[Any]) -> Sequence[Any]:
    if isinstance(column, Reports):
        return to_text(column)
    if not hasattr(column, "to_pylist"):
        return column
    try:
        return plain(column)
    except OutsideDomain as error:
        raise InvalidParameter(f"column {name!r} cannot be kept as text: {error}") from None


def _reader(domain: Domain) -> Callable[[Sequence[Any]], Any]:
    """Return the function that turns cells into values of a domain."""
    if isinstance(domain, Line):
        return lambda cells: np.array(cells, dtype=np.float64)
    if isinstance(domain, Categories):
        if isinstance(domain.labels, range):
            return lambda cells: np.array([int(cell) for cell in cells], dtype=np.int64)
        texts = {str(label): label for label in domain.labels}
        return lambda cells: [texts.get(str(cell), cell) for cell in cells]
    raise InvalidParameter(f"a column cannot hold values of {domain}")
