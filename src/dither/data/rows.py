"""The rows of a table: the used rows, the cells that do not fit their question, and the identity of people.

Missing answers, texts and values outside of the domain are distinguished, counted and named by their rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

import numpy as np

from dither.core.domains import Domain
from dither.core.questionnaire import Questionnaire
from dither.data.columns import ColumnAnswers, Misfit, item_columns, judge, rows_where
from dither.data.dialect import Missing, Outside, missing_answer
from dither.data.formats.format import Chunk, Questions
from dither.data.people import KnownPeople, are_ids, person_text
from dither.errors import InvalidParameter, OutsideDomain, found
from dither.foundation.arrays import Integers, Mask

NAMED: Final = 10  # rows of each kind that an error names


@dataclass(frozen=True)
class ColumnFit:
    """How many cells of a column fit its question; `missing`, `text` and `outside` count those that do not.

    `rows` names the first ten rows of each kind. The numbers are exact: only for the holder of the values.
    """

    cells: int = 0
    missing: int = 0
    text: int = 0
    outside: int = 0
    rows: dict[str, tuple[int, ...]] = field(default_factory=dict)
    decimal: bool = False  # True if a text is a number with the other decimal sign
    thousands: bool = False  # True if a text may have groups of three digits: 3.500 is 3.5 or 3 500

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
        self._typed: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._counts)

    def count_cells(self, column: str, cells: int) -> None:
        """Count the cells of a column, whether they fit or not."""
        self._cells[column] = self._cells.get(column, 0) + cells

    def add(self, chunk: Chunk, column: str, kind: Misfit, rows: Integers) -> None:
        """Count rows of a chunk with a misfit in a column."""
        if not rows.size:
            return
        key = column, kind
        self._first.setdefault(key, chunk.where(column, int(rows[0])))
        self._counts[key] = self._counts.get(key, 0) + int(rows.size)
        named = self._rows.setdefault(key, [])
        named += [chunk.first + int(row) for row in rows[: NAMED - len(named)]]
        if chunk.typed:
            self._typed.add(column)
        elif kind is Misfit.TEXT:  # of all rows, so that the message does not depend on the chunks
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
            position, domain = self._first[column, kind], questions[column]
            if kind is Misfit.MISSING:
                line = str(missing_answer(position))
            elif kind is Misfit.TEXT:
                unclear = column in self._thousands
                hint = _NAN if column in self._typed else _text_hint(column in self._decimal, unclear)
                line = (
                    f"{position}: the cell is not {'clearly ' * unclear}a number, as {domain} needs; {hint}"
                )
            else:
                line = f"{position}: the value is not in {domain}; {domain.hint}"
            yield line + _other_rows(self._rows[column, kind], count)


_NAN: Final = "NaN is not a missing answer: fill it in, or make it null"


def _text_hint(decimal: bool, thousands: bool) -> str:
    if thousands:
        return (
            "3.500 and 3,500 may be 3.5 or 3 500; pass Dialect(thousands='.') or Dialect(thousands=',') if "
            "they are thousands, otherwise Dialect(decimal='.') or Dialect(decimal=',')"
        )
    if decimal:
        return "for numbers with a decimal comma pass Dialect(decimal=',')"
    return "name the words that mean no answer with Dialect(na=[…]), or give the column categories"


def _other_rows(rows: Sequence[int], count: int) -> str:
    if count == 1:
        return ""
    more = ", …" if count > len(rows) else ""
    return f" ({count} such cells: rows {', '.join(map(str, rows))}{more})"


def check_keep(keep: Sequence[str], campaign: Questionnaire) -> None:
    """Raise InvalidParameter unless the columns to keep are a list of names without questions."""
    if isinstance(keep, str):
        raise InvalidParameter(f"expected keep to be a list of column names, got a text; pass [{keep!r}]")
    clash = set(keep) & set(campaign.questions)
    if clash:
        raise InvalidParameter(
            f"expected a column to keep other than the question {min(clash)!r}; leave it out, because its "
            "values would leak"
        )


_MOST_ROWS: Final = 1000  # rows of one person


@dataclass(frozen=True)
class RowCounts:
    """The number of rows of a table that were written as reports, and of omitted ones by reason.

    `missing` cells lack an answer, and `outside` cells have a value outside of its domain: the other answers
    of their rows are written, and a row without any is left out. `repeated` rows are further rows of a
    person. `clipped` counts the values that were moved into their domain and written. `silent` and `beyond`
    are the columns whose gaps show who did not answer, and who had a value outside of the domain.
    """

    written: int = 0
    missing: int = 0
    repeated: int = 0
    outside: int = 0
    clipped: int = 0
    silent: tuple[str, ...] = field(default=(), compare=False)
    beyond: tuple[str, ...] = field(default=(), compare=False)

    def add(self, other: RowCounts) -> RowCounts:
        """Return the counts of both parts of a table."""
        return RowCounts(
            self.written + other.written,
            self.missing + other.missing,
            self.repeated + other.repeated,
            self.outside + other.outside,
            self.clipped + other.clipped,
            tuple(dict.fromkeys([*self.silent, *other.silent])),
            tuple(dict.fromkeys([*self.beyond, *other.beyond])),
        )


def divide_budget(campaign: Questionnaire, rows: int) -> Questionnaire:
    """Return the questions with ε divided over the rows of a person; the promise is ε for the person."""
    if isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= _MOST_ROWS:
        raise InvalidParameter(
            f"expected rows, the most rows of one person, to be an integer from 1 to {_MOST_ROWS}, got "
            f"{found(rows)}"
        )
    if rows == 1:
        return campaign
    parts = {name: question.at(question.epsilon / rows) for name, question in campaign.questions.items()}
    return Questionnaire(parts, campaign.sampled)


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
        self,
        campaign: Questionnaire,
        person: str | None,
        missing: Missing,
        outside: Outside,
        rows: int = 1,
    ) -> None:
        self.domains = domains_of(campaign)
        self.counts, self.misfits = RowCounts(), Misfits()
        self._person, self._missing, self._outside = person, missing, outside
        self._people = KnownPeople(rows)
        self.ticks: dict[str, list[str]] = {}  # the yes-or-no columns of questions that have no own column

    def mark(self, chunk: Chunk) -> tuple[dict[str, Mask], Mask, int]:
        """Return the rows without an answer to each question, the rows to use, and how many are repeated.

        Used are rows with an answer that are the first of their person: chunks come in their order. This may
        run ahead of `choose` in a thread of its own.
        """
        silent = {name: self._absent(chunk, name) for name in self.domains}
        used = np.zeros(len(chunk), dtype=np.bool_)
        for name, domain in self.domains.items():
            if domain.empty_is_value:  # "no answer" is an answer, or nothing was ticked
                used[:] = True
            else:
                used |= ~silent[name]
        if self._person is None:
            return silent, used, 0
        first = first_rows(self._people, chunk, self._person, used)
        return silent, used & first, int(np.count_nonzero(used & ~first))

    def choose(
        self, chunk: Chunk, marked: tuple[dict[str, Mask], Mask, int], drawn: Integers | None = None
    ) -> tuple[Integers, dict[str, ColumnAnswers]]:
        """Return the rows that `mark` chose and that fit, and their answers.

        Cells that are an error are counted as misfits. If each row answers one question alone, `drawn` is its
        number; the question is drawn before any value is read.
        """
        silent, used, repeated = marked
        there = rows_where(used)
        read: dict[str, ColumnAnswers] = {}
        missing = outside = clipped = 0
        silent_in, beyond_in = list[str](), list[str]()
        for name, domain in self.domains.items():
            decided = judge(
                chunk,
                name,
                domain,
                self._missing,
                self._outside,
                absent=silent[name],
                rows=there,
                ticks=self.ticks.get(name),
            )
            for kind, rows in decided.misfits.items():
                self.misfits.add(chunk, name, kind, rows)
            missing, outside = missing + decided.missing, outside + decided.outside
            silent_in += [name] * bool(decided.missing)
            beyond_in += [name] * bool(decided.outside)
            clipped += decided.clipped
            answers = decided.answers
            read[name] = answers if drawn is None else answers.only(drawn[there] == len(read))
        if drawn is not None or outside:  # a row without any answer is left out
            some = np.logical_or.reduce([answers.there for answers in read.values()])
            there = there[some]
            read = {name: ColumnAnswers(part.values, part.there[some]) for name, part in read.items()}
        part = RowCounts(there.size, missing, repeated, outside, clipped, tuple(silent_in), tuple(beyond_in))
        self.counts = self.counts.add(part)
        return (np.empty(0, dtype=np.int64), {}) if self.misfits else (there, read)

    def _absent(self, chunk: Chunk, name: str) -> Mask:
        alone = self.ticks.get(name) is None
        return chunk.absent(name) if alone else np.zeros(len(chunk), dtype=np.bool_)

    def columns(self, there: Sequence[str]) -> list[str]:
        """Return the columns of all questions in a table with these columns, and note ticked items."""
        found = []
        for name, domain in self.domains.items():
            names = item_columns(name, domain, there)
            if names != [name]:
                self.ticks[name] = names
            found += names
        return found


def first_rows(known: KnownPeople, chunk: Chunk, column: str, answered: Mask) -> Mask:
    """Return True for the first rows of each person; only a digest of each id is remembered."""
    ids = chunk.ids(column)
    if isinstance(ids, np.ma.MaskedArray):  # numbers: all chunks of a column have one type
        there = ~np.ma.getmaskarray(ids)
        if (answered & ~there).any():
            raise _person_error(chunk.where(column, int(np.argmax(answered & ~there))), "")
        there[there] = known.first_numbers(ids.data if there.all() else ids.data[there])
        return there
    if ids is None or not are_ids(*ids):
        people = [person_text(cell) for cell in chunk.cells(column)]
        for row, person in enumerate(people):
            if not person and answered[row]:
                raise _person_error(chunk.where(column, row), person)
        parts = [(person or "").encode(errors="surrogatepass") for person in people]
        ends = np.cumsum([0, *map(len, parts)])
        ids = np.frombuffer(b"".join(parts), dtype=np.uint8), ends
    return known.first_texts(*ids)


def _person_error(location: str, person: str | None) -> InvalidParameter:
    what = "the id of the person is empty" if person == "" else "the id of a person is a text or a number"
    return InvalidParameter(
        f"{location}: {what}; fill it in, leave the row out, or use no person column if every row is a person"
    )
