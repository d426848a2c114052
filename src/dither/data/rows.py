"""The rows of a table: which of them are used, which cells do not fit their question, who a person is.

Missing answers, texts and values outside of the domain are told apart, counted and named by their rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, cast

import numpy as np

from dither.core.domains import Categories, CodedLabels, Domain, Line
from dither.core.domains.separate import as_array
from dither.core.questionnaire import Questionnaire
from dither.data.dialect import Dialect, Missing, Outside, missing_answer
from dither.data.formats.format import Chunk, Questions, table_format
from dither.data.people import KnownPeople, are_ids, person_text
from dither.data.streams import is_standard
from dither.errors import InvalidParameter, OutsideDomain
from dither.foundation.arrays import Floats, Integers, Mask

ONLY_IN_PYTHON: Final = (
    "questions about several attributes, texts or places are randomised by question.perturb in Python, and "
    "trips by dt.data.perturb_trips"
)
NAMED: Final = 10  # rows of each kind that an error names


class Misfit(Enum):
    """Why a cell does not fit."""

    MISSING = "missing"
    TEXT = "not a number"
    OUTSIDE = "outside"


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
    thousands: bool = False  # whether a text may have groups of three digits: 3.500 is 3.5 or 3 500

    @property
    def fit(self) -> int:
        """The number of cells that fit."""
        return self.cells - self.missing - self.text - self.outside


class Misfits:
    """Counts the cells that do not fit, of all columns of a file, and names the first of each kind."""

    def __init__(self) -> None:
        self._cells: dict[str, int] = {}
        self._counts: dict[tuple[str, Misfit], int] = {}
        self._rows: dict[tuple[str, Misfit], list[int]] = {}
        self._first: dict[tuple[str, Misfit], str] = {}
        self._decimal: set[str] = set()
        self._thousands: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._counts)

    def count_cells(self, column: str, cells: int) -> None:
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
        if kind is Misfit.TEXT:  # of all rows: what is said does not depend on where chunks begin
            dialect, cells = chunk.dialect, chunk.cells(column)
            for marks, hints in (
                (self._thousands, dialect.may_be_thousands),
                (self._decimal, dialect.has_other_decimal),
            ):
                if column not in marks and any(hints(cells[row]) for row in rows.tolist()):
                    marks.add(column)

    def column_fit(self, column: str) -> ColumnFit:
        """Return the counts of one column."""
        missing, text, outside = (self._counts.get((column, kind), 0) for kind in Misfit)
        rows = {
            kind.value: tuple(self._rows[column, kind]) for kind in Misfit if (column, kind) in self._rows
        }
        marks = column in self._decimal, column in self._thousands
        return ColumnFit(self._cells.get(column, 0), missing, text, outside, rows, *marks)

    def error(self, questions: dict[str, Domain]) -> OutsideDomain:
        """Return the error that counts all cells that do not fit and names the first ten of each kind."""
        return OutsideDomain("\n".join(self._lines(questions)))

    def _lines(self, questions: dict[str, Domain]) -> Iterator[str]:
        for (column, kind), count in self._counts.items():
            place, domain = self._first[column, kind], questions[column]
            if kind is Misfit.MISSING:
                line = str(missing_answer(place))
            elif kind is Misfit.TEXT:
                unclear = column in self._thousands
                hint = _text_hint(column in self._decimal, unclear)
                line = f"{place}: the cell is not {'clearly ' * unclear}a number, as {domain} needs; {hint}"
            else:
                line = f"{place}: the value is not in {domain}; {domain.hint}"
            yield line + _other_rows(self._rows[column, kind], count)


def _text_hint(decimal: bool, thousands: bool) -> str:
    if thousands:
        return (
            "3.500 and 3,500 may be 3.5 or 3 500: say --thousands . or --thousands , if they are thousands "
            "(Dialect(thousands=…)), or --decimal . or --decimal , if they are not (Dialect(decimal=…))"
        )
    if decimal:
        return "numbers with a decimal comma are read with --decimal , (Dialect(decimal=','))"
    return "name the words that stand for no answer with --na WORD (Dialect(na=[…]))"


def _other_rows(rows: Sequence[int], count: int) -> str:
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

    def select(self, places: Mask) -> Any:
        """Return the values at the places where a mask is True."""
        if places.all():
            return self.values
        return self.values[places]

    def between(self, absent: Mask) -> Values:
        """Return values with "no answer" where a mask is True, and these in their order elsewhere."""
        if not absent.any():
            return self
        at = np.cumsum(~absent) - 1
        if isinstance(self.values, CodedLabels):
            places, last = self.values.places, len(self.values.labels)
            places = np.where(absent, last, places[at] if places.size else last)
            values: Any = CodedLabels(places, [*self.values.labels, None])
        else:
            values = np.zeros(absent.size)
            values[~absent] = self.values
            values = np.ma.MaskedArray(values, absent)
        text, outside = np.zeros(absent.size, dtype=np.bool_), np.zeros(absent.size, dtype=np.bool_)
        text[~absent], outside[~absent] = self.text, self.outside
        return Values(values, text, outside)


def read_values(chunk: Chunk, column: str, domain: Domain, rows: Integers) -> Values:
    """Return the values of some rows of a column, none of which is missing."""
    none = np.zeros(rows.size, dtype=np.bool_)
    line = domain.line
    if line is not None:
        numbers = chunk.numbers(column, rows)
        unclear = _unclear_thousands(chunk, column, line, rows, numbers)
        if unclear is not None:
            numbers = np.where(unclear, np.nan, numbers)
        if not numbers.size or line.admits(numbers):  # nearly always, and three times faster than masks
            return Values(numbers, none, none)
        text = np.isnan(numbers)
        return Values(numbers, text, ~text & ~((numbers >= line.low) & (numbers <= line.high)))
    if domain.cell_type == "sets":
        return _read_sets(chunk, column, domain, rows)
    if domain.cell_type == "none":
        raise InvalidParameter(f"a column cannot hold values of {domain}; " + ONLY_IN_PYTHON)
    if domain.cell_type == "codes" and domain.count is not None:
        numbers = chunk.numbers(column, rows)
        text = np.isnan(numbers)
        inside = (numbers >= 0) & (numbers < domain.count) & (numbers == np.floor(numbers))
        codes = np.where(inside, numbers, 0).astype(np.int64)
        return Values(codes, text, ~text & ~inside)
    codes, cells = chunk.codes(column, rows)
    # A label 3 is the text 3 in a file of text. None is "no answer", and not the text None.
    known = () if domain.listed is None else domain.listed.labels
    texts = {str(label): label for label in known if label is not None}
    labels = [cell if _is_label(domain, cell) else _label_of(cell, texts) for cell in cells]
    unknown = np.array([not _is_label(domain, label) for label in labels], dtype=np.bool_)
    return Values(CodedLabels(codes, labels), none, unknown[codes])


def _label_of(cell: object, texts: Mapping[str, Any]) -> object:
    """Return the label that a cell is by its text, or by its code if it has a value label of its own."""
    code = getattr(cell, "code", None)
    return texts.get(str(cell), cell if code is None else texts.get(str(code), cell))


def _unclear_thousands(
    chunk: Chunk, column: str, domain: Line, rows: Integers, numbers: Floats
) -> Mask | None:
    """Return where a text such as 3.500 may be 3.5 or 3 500, both in the domain; None if nowhere.

    If another cell of the file has a point that cannot separate thousands, as in 0.5, points are decimal.
    Standard input is read once, so that each of its cells is judged alone.
    """
    dialect = chunk.dialect
    if dialect.decimal is not None or dialect.thousands is not None or max(-domain.low, domain.high) < 1000.0:
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
    """Return the columns that hold a question: its own, or for a set one yes-or-no column for each item.

    Those are named like the question and the item, "tools.saw", or like the item alone.
    """
    if domain.cell_type != "sets" or domain.listed is None or column in there:
        return [column]
    labels = domain.listed.labels
    for names in ([f"{column}.{label}" for label in labels], [str(label) for label in labels]):
        if set(names) <= set(there):
            return names
    return [column]


_YES: Final = {"1", "yes", "true", "x", "y"}
_NO: Final = {"0", "no", "false", "n", ""}


def _is_ticked(cell: object, item: str) -> bool | None:
    """Return whether a cell of a yes-or-no column is a yes; empty is no, the item's own name is yes."""
    if cell is None or isinstance(cell, bool | np.bool_):
        return bool(cell)
    text = (str(int(cell)) if isinstance(cell, float) and cell == int(cell) else str(cell)).strip()
    if text.lower() in _YES or text == item:
        return True
    return False if text.lower() in _NO else None


def read_ticks(chunk: Chunk, names: Sequence[str], domain: Domain, rows: Integers) -> Values:
    """Return sets from a yes-or-no column for each item."""
    table = np.zeros((rows.size, len(names)), dtype=np.bool_)
    odd = np.zeros(rows.size, dtype=np.bool_)
    for place, (name, label) in enumerate(zip(names, _items(domain).labels, strict=True)):
        cells = chunk.cells(name)
        ticks = [_is_ticked(cells[row], str(label)) for row in rows.tolist()]
        odd |= [tick is None for tick in ticks]
        table[:, place] = [bool(tick) for tick in ticks]
    return Values(table, np.zeros_like(odd), odd)


def _items(domain: Domain) -> Categories:
    """Return the list of items of sets; raise InvalidParameter if the domain has no list."""
    if domain.listed is None:
        raise InvalidParameter(f"expected sets of items of a list, got {domain}")
    return domain.listed


def _read_sets(chunk: Chunk, column: str, domain: Domain, rows: Integers) -> Values:
    texts = {str(label): label for label in _items(domain).labels}
    if any(chunk.dialect.items_sep in text for text in texts):
        raise InvalidParameter(
            f"an item of {column!r} holds the separator {chunk.dialect.items_sep!r}; choose another one "
            "with --items-sep (Dialect(items_sep=…))"
        )
    cells = chunk.cells(column)
    found: list[list[Any]] = []
    outside = np.zeros(rows.size, dtype=np.bool_)
    for place, row in enumerate(rows.tolist()):
        items = chunk.dialect.items(cells[row])
        known = [] if items is None else [texts.get(str(item)) for item in items]
        outside[place] = items is None or (None in known and any(str(item) not in texts for item in items))
        found.append([] if outside[place] else known)
    return Values(as_array(domain, found), np.zeros_like(outside), outside)


def _is_label(domain: Domain, label: object) -> bool:
    try:
        domain.check([label])
    except (OutsideDomain, TypeError, ValueError):
        return False
    return True


def clip_values(domain: Domain, values: Values) -> Values:
    """Return the values with those outside moved to the nearest one inside; labels have no nearest one."""
    line = domain.line
    if line is None or not values.outside.any():
        return values
    given = np.ma.getdata(values.values)
    bounds = np.nan_to_num(given, nan=line.low, posinf=np.finfo(np.float64).max)
    moved = np.where(values.outside, line.clip(bounds), given)
    if isinstance(values.values, np.ma.MaskedArray):
        moved = np.ma.MaskedArray(moved, np.ma.getmaskarray(values.values))
    return Values(moved, values.text, np.zeros_like(values.outside))


def check_keep(keep: Sequence[str], campaign: Questionnaire) -> None:
    """Raise InvalidParameter unless the columns to keep are a list of names that are no questions."""
    if isinstance(keep, str):
        raise InvalidParameter(f"keep is a list of column names, such as [{keep!r}], not a text")
    clash = set(keep) & set(campaign.questions)
    if clash:
        raise InvalidParameter(
            f"column {min(clash)!r} cannot be kept: it is a question, and its values would leak"
        )


@dataclass(frozen=True)
class RowCounts:
    """How many rows of a table were written as reports, and what was left out, by reason.

    `missing` cells lack an answer, and `outside` cells have a value outside of its domain: the other answers
    of their rows are written, and a row without any is left out. `repeated` rows are further rows of a
    person. `clipped` counts the values that were moved into their domain and written.
    """

    written: int = 0
    missing: int = 0
    repeated: int = 0
    outside: int = 0
    clipped: int = 0


@dataclass(frozen=True)
class ColumnAnswers:
    """The values of one question, in the form that `domain.check` takes, and the rows that have one."""

    values: Any
    there: Mask

    def part(self, rows: slice) -> tuple[Any, Mask]:
        """Return the values of some rows, and which of these rows have one."""
        begin = int(np.count_nonzero(self.there[: rows.start]))
        there = self.there[rows]
        return self.values[begin : begin + int(np.count_nonzero(there))], there


def domains_of(
    questions: Mapping[str, Domain] | Questions,
) -> dict[str, Domain]:
    """Return the domain of each question."""
    if isinstance(questions, Mapping) and all(isinstance(given, Domain) for given in questions.values()):
        return dict(cast(Mapping[str, Domain], questions))
    campaign = Questionnaire.of(cast(Questions, questions))
    return {name: question.domain for name, question in campaign.questions.items()}


class RowChoice:
    """Decides which rows are used, reads their values, and counts. Nearly always all rows are used."""

    def __init__(
        self, campaign: Questionnaire, person: str | None, missing: Missing, outside: Outside
    ) -> None:
        self.domains = domains_of(campaign)
        self.counts, self.misfits = RowCounts(), Misfits()
        self._person, self._missing, self._outside = person, missing, outside
        self._people = KnownPeople()
        self._places = np.arange(0)
        self.ticks: dict[str, list[str]] = {}  # the yes-or-no columns of questions that have no own column

    def mark(self, chunk: Chunk) -> tuple[dict[str, Mask], Mask, int]:
        """Return the rows without an answer to each question, the rows to use, and how many are repeated.

        Used are rows with an answer that are the first of their person: chunks come in their order. This may
        run ahead of `choose` in a thread of its own.
        """
        silent = {name: self._absent(chunk, name) for name in self.domains}
        used = np.zeros(len(chunk), dtype=np.bool_)
        for name, domain in self.domains.items():
            if domain.optional:  # "no answer" is an answer
                used[:] = True
            else:
                used |= ~silent[name]
        if self._person is None:
            return silent, used, 0
        first = self._first_rows(chunk, self._person, used)
        return silent, used & first, int(np.count_nonzero(used & ~first))

    def choose(
        self, chunk: Chunk, marked: tuple[dict[str, Mask], Mask, int], drawn: Integers | None = None
    ) -> tuple[Integers, dict[str, ColumnAnswers]]:
        """Return the rows that `mark` chose and that fit, and their answers.

        Cells that are an error are counted as misfits. If each row answers one question alone, `drawn` is its
        number; that is decided before any value is looked at.
        """
        silent, used, repeated = marked
        missing = 0
        for name, domain in self.domains.items():
            if not domain.optional and silent[name].any():
                missing += int(np.count_nonzero(silent[name]))
                if self._missing == "error":
                    self.misfits.add(chunk, name, Misfit.MISSING, np.flatnonzero(silent[name]))
        there = self._rows(used)
        read: dict[str, ColumnAnswers] = {}
        outside = clipped = 0
        for name, domain in self.domains.items():
            absent = silent[name][there]
            values, moved = self._fitting(chunk, name, domain, there, absent)
            left = values.outside
            outside, clipped = outside + int(np.count_nonzero(left)), clipped + moved
            told = np.ones(there.size, dtype=np.bool_) if domain.optional else ~absent
            kept = ~left if drawn is None else ~left & (drawn[there] == len(read))[told]
            told[told] = kept
            read[name] = ColumnAnswers(values.select(kept), told)
        if drawn is not None or (self._outside == "skip" and outside):  # a row without any answer is left out
            some = np.logical_or.reduce([answers.there for answers in read.values()])
            there = there[some]
            read = {name: ColumnAnswers(part.values, part.there[some]) for name, part in read.items()}
        part = RowCounts(there.size, missing, repeated, outside, clipped)
        self.counts = RowCounts(*map(sum, zip(astuple(self.counts), astuple(part), strict=True)))
        return (np.empty(0, dtype=np.int64), {}) if self.misfits else (there, read)

    def _fitting(
        self, chunk: Chunk, name: str, domain: Domain, there: Integers, absent: Mask
    ) -> tuple[Values, int]:
        """Return the values of a question, and how many were clipped; misfits are counted.

        They are those of the rows that answered, or of all rows where "no answer" is an answer.
        """
        asked = there[~absent]
        ticks = self.ticks.get(name)
        if ticks is not None:
            values = read_ticks(chunk, ticks, domain, asked)
        else:
            values = read_values(chunk, name, domain, asked)
        if domain.optional:
            values, asked = values.between(absent), there
        if values.text.any():
            self.misfits.add(chunk, name, Misfit.TEXT, asked[values.text])
        if not values.outside.any():
            return values, 0
        if self._outside == "clip" and domain.line is not None:
            return clip_values(domain, values), int(np.count_nonzero(values.outside))
        if self._outside != "skip":
            self.misfits.add(chunk, name, Misfit.OUTSIDE, asked[values.outside])
        return values, 0

    def _absent(self, chunk: Chunk, name: str) -> Mask:
        alone = self.ticks.get(name) is None
        return chunk.absent(name) if alone else np.zeros(len(chunk), dtype=np.bool_)

    def columns(self, there: Sequence[str]) -> list[str]:
        """Return the columns of all questions in a table with these columns; note those of ticked items."""
        found = []
        for name, domain in self.domains.items():
            names = item_columns(name, domain, there)
            if names != [name]:
                self.ticks[name] = names
            found += names
        return found

    def _rows(self, used: Mask) -> Integers:
        """Return the places at which a mask is True; for all of them, a part of one array of all places."""
        if not used.all():
            return np.flatnonzero(used)
        if self._places.size < used.size:
            self._places = np.arange(used.size)
            self._places.flags.writeable = False
        return self._places[: used.size]

    def _first_rows(self, chunk: Chunk, column: str, answered: Mask) -> Mask:
        """Return True for the first row of each person; only a digest of each id is remembered."""
        ids = chunk.ids(column)
        if isinstance(ids, np.ma.MaskedArray):  # numbers: the type of a column is that of all its chunks
            there = ~np.ma.getmaskarray(ids)
            if (answered & ~there).any():
                raise _person_error(chunk.where(column, int(np.argmax(answered & ~there))), "")
            there[there] = self._people.first_numbers(ids.data if there.all() else ids.data[there])
            return there
        if ids is None or not are_ids(*ids):
            people = [person_text(cell) for cell in chunk.cells(column)]
            for row, person in enumerate(people):
                if not person and answered[row]:
                    raise _person_error(chunk.where(column, row), person)
            parts = [(person or "").encode(errors="surrogatepass") for person in people]
            ends = np.cumsum([0, *map(len, parts)])
            ids = np.frombuffer(b"".join(parts), dtype=np.uint8), ends
        return self._people.first_texts(*ids)


def _person_error(place: str, person: str | None) -> InvalidParameter:
    what = "the id of the person is empty" if person == "" else "the id of a person is a text or a number"
    return InvalidParameter(
        f"{place}: {what}; fill it in, leave the row out, or use no person column if every row is a person"
    )
