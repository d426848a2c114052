"""Which cells of a column fit their question: missing answers, text and values outside are told apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, final

import numpy as np

from dither.arrays import Integers, Mask
from dither.domains import Categories, CodedLabels, Domain, Line
from dither.errors import InvalidParameter, OutsideDomain
from dither.files.choices import missing_answer
from dither.files.format import Chunk

NAMED: Final = 10  # rows of each kind that an error names


class Misfit(Enum):
    """Why a cell does not fit."""

    MISSING = "missing"
    TEXT = "not a number"
    OUTSIDE = "outside"


@final
@dataclass(frozen=True)
class ColumnFit:
    """How many cells of a column fit its question; `missing`, `text` and `outside` count those that do not.

    `rows` names the first ten rows of each kind. The numbers are exact and are for whoever holds the values.
    """

    cells: int = 0
    missing: int = 0
    text: int = 0
    outside: int = 0
    rows: dict[str, tuple[int, ...]] = field(default_factory=dict)
    decimal: bool = False  # whether a text is a number with the other decimal sign

    @property
    def fit(self) -> int:
        """The number of cells that fit."""
        return self.cells - self.missing - self.text - self.outside


@final
class Misfits:
    """Counts the cells that do not fit, of all columns of a file, and names the first of each kind."""

    def __init__(self) -> None:
        self._cells: dict[str, int] = {}
        self._counts: dict[tuple[str, Misfit], int] = {}
        self._rows: dict[tuple[str, Misfit], list[int]] = {}
        self._first: dict[tuple[str, Misfit], str] = {}
        self._decimal: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._counts)

    def seen(self, column: str, cells: int) -> None:
        """Count the cells of a column, whether they fit or not."""
        self._cells[column] = self._cells.get(column, 0) + cells

    def add(self, chunk: Chunk, column: str, kind: Misfit, rows: Integers) -> None:
        """Count rows of a chunk, of which a column does not fit."""
        if not rows.size:
            return
        key = column, kind
        self._first.setdefault(key, chunk.where(column, int(rows[0])))
        self._counts[key] = self._counts.get(key, 0) + int(rows.size)
        named = self._rows.setdefault(key, [])
        named += [chunk.first + int(row) for row in rows[: NAMED - len(named)]]
        if kind is Misfit.TEXT and column not in self._decimal:
            cells = chunk.cells(column)
            if any(chunk.dialect.decimal_hint(cells[int(row)]) for row in rows[:NAMED]):
                self._decimal.add(column)

    def of(self, column: str) -> ColumnFit:
        """Return the counts of one column."""
        missing, text, outside = (self._counts.get((column, kind), 0) for kind in Misfit)
        rows = {
            kind.value: tuple(self._rows[column, kind]) for kind in Misfit if (column, kind) in self._rows
        }
        return ColumnFit(self._cells.get(column, 0), missing, text, outside, rows, column in self._decimal)

    def error(self, questions: dict[str, Domain]) -> OutsideDomain:
        """Return the error that counts all cells that do not fit and names the first ten of each kind."""
        return OutsideDomain("\n".join(self._lines(questions)))

    def _lines(self, questions: dict[str, Domain]) -> Iterator[str]:
        for (column, kind), count in self._counts.items():
            place, domain = self._first[column, kind], questions[column]
            if kind is Misfit.MISSING:
                line = str(missing_answer(place))
            elif kind is Misfit.TEXT:
                line = (
                    f"{place}: the cell is not a number, as {domain} needs; {_hint(column in self._decimal)}"
                )
            else:
                line = f"{place}: the value is not in {domain}" + _remedy(domain)
            yield line + _others(self._rows[column, kind], count)


def _hint(decimal: bool) -> str:
    if decimal:
        return "numbers with a decimal comma are read with --decimal , (Dialect(decimal=','))"
    return "name the words that stand for no answer with --na WORD (Dialect(na=[…]))"


def _remedy(domain: Domain) -> str:
    if isinstance(domain, Line):
        return "; change it, widen the domain, or use --outside clip (outside=dt.files.Outside.CLIP)"
    return "; add a category for all other answers"


def _others(rows: Sequence[int], count: int) -> str:
    if count == 1:
        return ""
    more = ", …" if count > len(rows) else ""
    return f" ({count} such cells: rows {', '.join(map(str, rows))}{more})"


@dataclass(frozen=True)
class Values:
    """The values of some rows of a column, and which of them do not fit.

    `values` are in the form that `domain.check` takes; they are not meaningful where a mask is True.
    """

    values: Any
    text: Mask
    outside: Mask

    def at(self, places: Mask) -> Any:
        """Return the values at the places where a mask is True."""
        if places.all():
            return self.values
        return self.values[places]


def read_values(chunk: Chunk, column: str, domain: Domain, rows: Integers) -> Values:
    """Return the values of some rows of a column, none of which is missing."""
    none = np.zeros(rows.size, dtype=np.bool_)
    if isinstance(domain, Line):
        numbers = chunk.numbers(column, rows)
        if not numbers.size or domain.admits(numbers):  # nearly always, and three times faster than masks
            return Values(numbers, none, none)
        text = np.isnan(numbers)
        return Values(numbers, text, ~text & ~((numbers >= domain.low) & (numbers <= domain.high)))
    if not isinstance(domain, Categories):
        raise InvalidParameter(f"a column cannot hold values of {domain}")
    if isinstance(domain.labels, range):
        numbers = chunk.numbers(column, rows)
        text = np.isnan(numbers)
        inside = (numbers >= 0) & (numbers < len(domain)) & (numbers == np.floor(numbers))
        codes = np.where(inside, numbers, 0).astype(np.int64)
        return Values(codes, text, ~text & ~inside)
    codes, cells = chunk.coded(column, rows)
    texts = {str(label): label for label in domain.labels}  # a label 3 is the text 3 in a file of text
    labels = [cell if _is_label(domain, cell) else texts.get(str(cell), cell) for cell in cells]
    unknown = np.array([not _is_label(domain, label) for label in labels], dtype=np.bool_)
    return Values(CodedLabels(codes, labels), none, unknown[codes])


def _is_label(domain: Categories, label: Any) -> bool:
    try:
        domain.check([label])
    except (OutsideDomain, TypeError, ValueError):
        return False
    return True


def clipped(domain: Domain, values: Values) -> Values:
    """Return the values with those outside moved to the nearest one inside; labels have no nearest one."""
    if not isinstance(domain, Line) or not values.outside.any():
        return values
    bounds = np.nan_to_num(values.values, nan=domain.low, posinf=np.finfo(np.float64).max)
    moved = np.where(values.outside, domain.clip(bounds), values.values)
    return Values(moved, values.text, np.zeros_like(values.outside))
