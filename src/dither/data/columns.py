"""One column of a table: the cells with answers, the cells that do not fit, and their treatment.

`missing`, `outside`, `clip` and optional questions are decided here, for files and for data frames. A format
produces a column: its cells as an array, and a mask of the cells that are empty (`Chunk`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from dither.core.domains import Categories, CodedLabels, Domain, LabelLists, Line
from dither.core.domains.calendar import Calendar
from dither.data.dialect import Dialect, Missing, Outside
from dither.data.formats.format import Chunk, table_format
from dither.data.streams import is_standard
from dither.errors import InvalidParameter, OutsideDomain
from dither.foundation.arrays import Array, Floats, Integers, Mask

ONLY_IN_PYTHON: Final = (
    "questions about vectors, several attributes, texts or places are randomised by question.perturb in "
    "Python, and trips by dt.data.perturb_trips"
)


class Misfit(Enum):
    """The reason why a cell does not fit its question."""

    MISSING = "missing"
    TEXT = "not a number"
    OUTSIDE = "outside"


@dataclass(frozen=True)
class Values:
    """The values of some rows of a column, and which of them do not fit.

    `values` are in the form that `domain.check` takes; values are meaningless where a mask is True.
    """

    values: Any
    text: Mask
    outside: Mask

    def between(self, absent: Mask) -> Values:
        """Return these values, with "no answer" or the empty set where a mask is True."""
        if not absent.any():
            return self
        at = np.cumsum(~absent) - 1
        if isinstance(self.values, CodedLabels):
            positions, last = self.values.places, len(self.values.labels)
            positions = np.where(absent, last, positions[at] if positions.size else last)
            values: Any = CodedLabels(positions, [*self.values.labels, None])
        elif isinstance(self.values, LabelLists):
            held = np.zeros(absent.size, dtype=np.int64)
            held[~absent] = np.diff(self.values.ends, prepend=0)
            values = LabelLists(self.values.labels, np.cumsum(held))
        else:
            values = np.zeros(absent.size)
            values[~absent] = self.values
            values = np.ma.MaskedArray(values, absent)
        text, outside = np.zeros(absent.size, dtype=np.bool_), np.zeros(absent.size, dtype=np.bool_)
        text[~absent], outside[~absent] = self.text, self.outside
        return Values(values, text, outside)


def read_values(chunk: Chunk, column: str, domain: Domain, rows: Integers) -> Values:
    """Return the values of some rows of a column without missing cells."""
    none = np.zeros(rows.size, dtype=np.bool_)
    line = domain.line
    if line is not None and isinstance(line.unit, Calendar):
        codes, cells = chunk.codes(column, rows)
        return _judge_numbers(line, line.unit.cells(cells, column)[codes])
    if line is not None:
        numbers = chunk.numbers(column, rows)
        unclear = _unclear_thousands(chunk, column, line, rows, numbers)
        if unclear is not None:
            numbers = np.where(unclear, np.nan, numbers)
        if line.scale:
            given, ends = numbers, (line.shown.low, line.shown.high)
            numbers, text = line.positions(given), np.isnan(given)
            return Values(numbers, text, ~text & ~((given >= ends[0]) & (given <= ends[1])))
        if not numbers.size or line.admits(numbers):  # the usual case, three times faster than masks
            return Values(numbers, none, none)
        return _judge_numbers(line, numbers)
    if domain.cell_type == "sets":
        return _read_sets(chunk, column, domain, rows)
    if domain.cell_type == "none":
        raise InvalidParameter(
            f"expected a domain whose values fit one column, got {domain}; {ONLY_IN_PYTHON}"
        )
    if domain.cell_type == "codes" and domain.count is not None:
        numbers = chunk.numbers(column, rows)
        text = np.isnan(numbers)
        inside = (numbers >= 0) & (numbers < domain.count) & (numbers == np.floor(numbers))
        codes = np.where(inside, numbers, 0).astype(np.int64)
        return Values(codes, text, ~text & ~inside)
    codes, cells = chunk.codes(column, rows)
    if _fit(domain, CodedLabels(np.arange(len(cells)), cells)):  # nearly always
        return Values(CodedLabels(codes, cells), none, none)
    # A label 3 is the text 3 in a file of text. None is "no answer", and not the text None.
    known = () if domain.listed is None else domain.listed.labels
    texts = {str(label): label for label in known if label is not None}
    labels = [cell if _is_label(domain, cell) else _label_of(cell, texts) for cell in cells]
    unknown = np.array([not _is_label(domain, label) for label in labels], dtype=np.bool_)
    return Values(CodedLabels(codes, labels), none, unknown[codes])


def _judge_numbers(line: Line, numbers: Array) -> Values:
    """Return numbers, the mask of NaN, and the mask of numbers outside the line."""
    low, high = np.asarray([line.low, line.high]).astype(_wide(numbers))
    text = np.isnan(numbers)
    return Values(numbers, text, ~text & ~((numbers >= low) & (numbers <= high)))


def _wide(numbers: Array) -> Any:
    """Return the type for comparing numbers with the ends of a domain. The ends are rounded to it."""
    return numbers.dtype if numbers.dtype.kind == "f" and numbers.dtype.itemsize > 2 else np.float64


def _label_of(cell: object, texts: Mapping[str, Any]) -> object:
    """Return the label of a cell by its text, or by its code if the cell has its own value label."""
    code = getattr(cell, "code", None)
    return texts.get(str(cell), cell if code is None else texts.get(str(code), cell))


def _unclear_thousands(
    chunk: Chunk, column: str, domain: Line, rows: Integers, numbers: Floats
) -> Mask | None:
    """Return the row of a text such as 3.500 that may be 3.5 or 3 500, both in the domain, or None.

    If another cell of the file has a point that cannot separate thousands, as in 0.5, points are decimal.
    Standard input is read once, so each of its cells is judged by itself.
    """
    dialect = chunk.dialect
    known = chunk.typed or dialect.decimal is not None or dialect.thousands is not None
    domain = domain.shown
    if known or max(-domain.low, domain.high) < 1000.0:
        return None
    thousandfold = np.abs(numbers) >= 1.0
    thousandfold &= (1000.0 * numbers >= domain.low) & (1000.0 * numbers <= domain.high)
    if not thousandfold.any():
        return None
    cells = chunk.cells(column)
    if not any(dialect.may_be_thousands(cells[row]) for row in rows[thousandfold].tolist()):
        return None
    if not is_standard(chunk.path):
        stat = chunk.path.stat()
        if _has_decimal_points(chunk.path, column, dialect, (stat.st_mtime_ns, stat.st_size)):
            return None
    unclear = [
        fold and dialect.may_be_thousands(cells[row]) for fold, row in zip(thousandfold, rows, strict=True)
    ]
    return np.array(unclear, dtype=np.bool_)


@lru_cache(maxsize=64)
def _has_decimal_points(path: Path, column: str, dialect: Dialect, state: tuple[int, int]) -> bool:
    """Return whether a number of a column has a point that is decimal for certain; `state` is the file's."""
    return any(
        isinstance(cell, str)
        and "." in cell
        and not dialect.may_be_thousands(cell)
        and not math.isnan(dialect.number(cell))
        for chunk in table_format(path).read(path, [column], dialect)
        for cell in chunk.cells(column)
    )


def item_columns(column: str, domain: Domain, there: Sequence[str]) -> list[str]:
    """Return the columns of a question: its own column, or for a set a yes-or-no column for each item.

    They are named like the question and the item, "tools.saw" or "tools_saw", or only like the item.
    """
    if domain.cell_type != "sets" or domain.listed is None or column in there:
        return [column]
    labels = domain.listed.labels
    for start in (f"{column}.", f"{column}_", f"{column} ", ""):
        names = [f"{start}{label}" for label in labels]
        if set(names) <= set(there):
            return names
    return [column]


_YES: Final = {"1", "yes", "true", "x", "y"}
_NO: Final = {"0", "no", "false", "n", ""}


def _is_ticked(cell: object, item: str) -> bool | None:
    """Return whether a cell of a yes-or-no column is a yes. An empty cell is a no, the item's name a yes."""
    if cell is None or isinstance(cell, bool | np.bool_):
        return bool(cell)
    text = (str(int(cell)) if isinstance(cell, float) and cell == int(cell) else str(cell)).strip()
    if text.lower() in _YES or text == item:
        return True
    return False if text.lower() in _NO else None


def read_ticks(chunk: Chunk, column: str, domain: Domain, rows: Integers, names: Sequence[str]) -> Values:
    """Return the sets of a question from a yes-or-no column for each item."""
    table = np.zeros((rows.size, len(names)), dtype=np.bool_)
    odd = np.zeros(rows.size, dtype=np.bool_)
    for index, (name, label) in enumerate(zip(names, _items(domain).labels, strict=True)):
        cells = chunk.cells(name)
        ticks = [_is_ticked(cells[row], str(label)) for row in rows.tolist()]
        odd |= [tick is None for tick in ticks]
        table[:, index] = [bool(tick) for tick in ticks]
    return Values(table, np.zeros_like(odd), odd)


def _items(domain: Domain) -> Categories:
    """Return the list of items of sets; raise InvalidParameter if the domain has no list."""
    if domain.listed is None:
        raise InvalidParameter(f"expected sets of items of a list, got {domain}")
    return domain.listed


def _read_sets(chunk: Chunk, column: str, domain: Domain, rows: Integers) -> Values:
    texts = {str(label): label for label in _items(domain).labels}
    unclear = any(chunk.dialect.items_sep in text for text in texts)
    if unclear and any(isinstance(cell, str) for cell in chunk.cells(column)):
        raise InvalidParameter(
            f"expected items without the separator {chunk.dialect.items_sep!r} in {column!r}; choose "
            "another separator with Dialect(items_sep=…)"
        )
    codes, cells, ends, odd = chunk.lists(column, rows)
    labels = [_label_of(cell, texts) if str(cell) in texts else None for cell in cells]
    unknown = np.array([str(cell) not in texts for cell in cells], dtype=np.bool_)
    wrong = unknown[codes] if cells else np.zeros(0, dtype=np.bool_)
    held = np.diff(ends, prepend=0)
    outside = odd.copy()
    outside[np.repeat(np.arange(rows.size), held)[wrong]] = True
    found: Any = CodedLabels(codes[~wrong], labels)
    if domain.listed is not None and domain.listed.cell_type == "codes":
        found = np.array([0 if label is None else label for label in labels], dtype=np.int64)[found.places]
    before = np.concatenate([[0], np.cumsum(wrong)])  # unknown items before each item
    return Values(LabelLists(found, ends - before[ends]), np.zeros_like(outside), outside)


def _is_label(domain: Domain, label: object) -> bool:
    return _fit(domain, [label])


def _fit(domain: Domain, labels: object) -> bool:
    try:
        domain.check(labels)
    except (OutsideDomain, TypeError, ValueError):
        return False
    return True


def clip_values(line: Line, values: Values) -> Any:
    """Return numbers clipped to the domain."""
    given = np.ma.getdata(values.values)
    bounds = np.nan_to_num(given, nan=line.low, posinf=np.finfo(np.float64).max)
    moved = np.where(values.outside, line.clip(bounds), given)
    if isinstance(values.values, np.ma.MaskedArray):
        moved = np.ma.MaskedArray(moved, np.ma.getmaskarray(values.values))
    return moved


@dataclass(frozen=True)
class ColumnAnswers:
    """The values of one question, in the form that `domain.check` takes, and the rows with a value."""

    values: Any
    there: Mask

    def only(self, rows: Mask) -> ColumnAnswers:
        """Return the answers of the rows where a mask is True; the other rows have no answer."""
        return ColumnAnswers(self.values[rows[self.there]], self.there & rows)

    def part(self, rows: slice) -> tuple[Any, Mask]:
        """Return the values of some rows, and the mask of these rows with a value."""
        begin = int(np.count_nonzero(self.there[: rows.start]))
        there = self.there[rows]
        return self.values[begin : begin + int(np.count_nonzero(there))], there


_ALL: list[Integers] = [np.arange(0)]  # the row numbers of the longest chunk


def rows_where(used: Mask) -> Integers:
    """Return the rows where a mask is True; for all of them, a part of one array that cannot be written."""
    if not used.all():
        return np.flatnonzero(used)
    rows = _ALL[0]
    if rows.size < used.size:
        rows = np.arange(used.size)
        rows.flags.writeable = False
        _ALL[0] = rows
    return rows[: used.size]


@dataclass(frozen=True)
class Decision:
    """The answers of a column, and the rows of its chunk that are an error, by kind.

    `missing` counts rows without an answer, `outside` values that are left out, and `clipped` values that
    were moved into their domain.
    """

    answers: ColumnAnswers
    misfits: Mapping[Misfit, Integers]
    missing: int = 0
    outside: int = 0
    clipped: int = 0


def judge(
    chunk: Chunk,
    column: str,
    domain: Domain,
    missing: Missing,
    outside: Outside,
    *,
    absent: Mask,
    rows: Integers,
    ticks: Sequence[str] | None = None,
) -> Decision:
    """Return the answers of some rows of a column to one question, and what does not fit.

    `absent` marks the rows of the chunk without an answer, and they are always counted, also outside `rows`.
    If an empty cell is an answer (`dt.Nullable`, `dt.Several(empty="none")`), each row has one. A value
    outside is an error, or is clipped if it is a number, or is left out. `ticks` are the yes-or-no columns of
    the items, if there are such.
    """
    misfits: dict[Misfit, Integers] = {}
    silent = 0
    if not domain.empty_is_value and absent.any():
        silent = int(np.count_nonzero(absent))
        if missing == "error":
            misfits[Misfit.MISSING] = np.flatnonzero(absent)
    gone = (
        absent if rows.size == absent.size else absent[rows]
    )  # rows ascend: if the number is equal, these are all
    request = rows[~gone] if gone.any() else rows
    read = read_values if ticks is None else partial(read_ticks, names=ticks)
    values = read(chunk=chunk, column=column, domain=domain, rows=request)
    there = ~gone
    if domain.empty_is_value:
        values, request, there = values.between(gone), rows, np.ones(rows.size, dtype=np.bool_)
    if values.text.any():
        misfits[Misfit.TEXT] = request[values.text]
    if not values.outside.any():
        return Decision(ColumnAnswers(values.values, there), misfits, silent)
    count = int(np.count_nonzero(values.outside))
    line = domain.line
    if line is not None and (outside == "clip" or line.clipping is not None):
        moved = ColumnAnswers(clip_values(line, values), there)
        return Decision(moved, misfits, silent, clipped=count)
    if outside != "skip":
        misfits[Misfit.OUTSIDE] = request[values.outside]
    there[there] = ~values.outside
    return Decision(ColumnAnswers(values.values[~values.outside], there), misfits, silent, outside=count)
