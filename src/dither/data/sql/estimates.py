"""The query that estimates: value, low, high and n for each question, by day, week, month or label.

Its numbers equal `dither estimate`: means by the least-variance decoding with the corrected interval of
Student's t, and frequencies with the score interval. The query counts the reports, or reads a table of
counts, and joins a codebook: the number that each counted cell adds to an average, or the answers that it
supports.
"""

from __future__ import annotations

import csv
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np

from dither.core.count_tables import Measure
from dither.core.kernels.counting import ColumnSums, EachReport, LeadingBits, PackedColumns
from dither.core.kernels.kernel import UnbiasedReading
from dither.core.kernels.sets.items import ItemSets
from dither.core.question import CategoryQuestion, NumberQuestion, Question
from dither.core.questionnaire import Questionnaire
from dither.data.formats.format import Questions
from dither.data.sql.blocks import Stage, select_list
from dither.data.sql.dialects import SqlDialect, dialect_named
from dither.data.sql.query import ReportTable, counting_query
from dither.errors import DitherError, InvalidParameter, found, unknown_name
from dither.estimation.intervals import rare_limits
from dither.estimation.linear import least_variances, unbiased_reading
from dither.estimation.method import category_question, has_numbers
from dither.estimation.verbs import QUANTITIES
from dither.foundation.numerics.distributions import inverse_survival

GROUPS: Final = ("day", "week", "month", "label")
MINIMUM: Final = 10  # reports; below it the formula of t has another branch
INLINE: Final = 1000  # rows of a codebook that are written into the query
LEVEL: Final = 0.95
_COLUMNS: Final = ("fingerprint", "cell", "answer_number", "answer", "value")
_TERMS: Final = 16  # terms of the series of eˣ − 1; x is below 0.6
_LINES: Final = 500  # rows of an INSERT


class CodebookRow(NamedTuple):
    """The contribution of a counted cell to the average, or to the support of an answer."""

    fingerprint: str
    cell: int
    answer_number: int  # the index of the answer in the question's list; 0 for a mean
    answer: str | None
    value: float


class CodebookTable(NamedTuple):
    """The rows that a query joins, and the name of their table; None if the query contains them."""

    rows: tuple[CodebookRow, ...]
    table: str | None

    def script(self, dialect: str | SqlDialect) -> str:
        """Return the statements that create the table and fill it."""
        spoken = dialect_named(dialect) if isinstance(dialect, str) else dialect
        name = spoken.path(str(self.table).split("."))
        types = {"cell": spoken.integer, "answer_number": spoken.integer, "value": spoken.real}
        defined = ", ".join(f"{column} {types.get(column, spoken.words)}" for column in _COLUMNS)
        end = f" {spoken.storage}" if spoken.storage else ""
        parts = [f"CREATE TABLE {name} ({defined}){end}"]
        for first in range(0, len(self.rows), _LINES):
            listed = ",\n".join(
                f"({', '.join(_literals(row, spoken))})" for row in self.rows[first : first + _LINES]
            )
            parts.append(f"INSERT INTO {name} ({', '.join(_COLUMNS)}) VALUES\n{listed}")
        return ";\n".join(parts) + ";\n"

    def write(self, path: Path, dialect: str | SqlDialect, ending: str) -> None:
        """Write the table: `.sql`, a script, or `.csv`, whose columns have the names of the table's."""
        if ending == ".sql":
            path.write_text(self.script(dialect), encoding="utf-8")
            return
        with path.open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(_COLUMNS)
            rows.writerows((*row[:4], repr(row.value)) for row in self.rows)


class EstimateQuery(NamedTuple):
    """The text of a query, the codebook that it joins, and the reasons for omitted questions."""

    text: str
    codebook: CodebookTable
    left_out: Mapping[str, str] = MappingProxyType({})  # the reason, by the name of the question


def estimate_query(
    questions: Questions,
    dialect: str | SqlDialect,
    table: ReportTable | None = None,
    *,
    by: Sequence[str] = (),
    folded: str | None = None,
    codebook: str | None = None,
    since: date | None = None,
    minimum: int = 100,
) -> EstimateQuery:
    """Return the SQL text whose result is the estimate of every question, for each group.

    The result has the columns of `by`, then question, answer_number, answer, value, low, high and n; the
    interval holds at 95 %. If values of a question are clipped, there are also quantity, outside, outside_low
    and outside_high: the name of the quantity, and the share of people outside. `by` names some of day,
    week (its Monday), month (its first day) and label. With `folded`, a table of counts, and no `table`, only
    the counts are read. `codebook` names a table that holds the codebook; without it the rows are written
    into the query, if they are at most a thousand. Groups with fewer reports than `minimum` are left out.
    Questions that a query cannot estimate are in `left_out`; if there is no other question, this is an error.
    """
    campaign = Questionnaire.of(questions)
    spoken = dialect_named(dialect) if isinstance(dialect, str) else dialect
    for name in by:
        if name not in GROUPS:
            raise unknown_name("group", name, GROUPS)
    if isinstance(minimum, bool) or not isinstance(minimum, int) or minimum < MINIMUM:
        raise InvalidParameter(
            f"expected minimum to be an integer of at least {MINIMUM}, got {found(minimum)}; with fewer "
            "reports use dither estimate"
        )
    where = table if table is not None or folded is not None else ReportTable()
    if where is not None:
        for name in by:
            column = "label" if name == "label" else "day"
            if getattr(where, column) is None:
                raise InvalidParameter(
                    f"expected a column for the {column} in the table of reports; add it, or leave {name} out"
                )
    found_parts: list[_QuestionPart] = []
    left_out: dict[str, DitherError] = {}
    for name, question in campaign.questions.items():
        try:
            found_parts.append(_part(name, question, spoken))
        except DitherError as error:
            left_out[name] = error
    if not found_parts:
        raise next(iter(left_out.values()))
    named = any(part.question.domain.clipping is not None for part in found_parts)
    parts = [replace(part, named=named) for part in found_parts]
    rows = tuple(row for part in parts for row in part.codebook)
    if codebook is None and len(rows) > INLINE:
        raise InvalidParameter(
            f"expected a codebook that fits the text of a query, got {len(rows)} rows; name a table for "
            "them: codebook='codebook'"
        )
    book = CodebookTable(rows, codebook)
    keys = tuple(dict.fromkeys(by))
    tables = [
        f"q{number} AS (\n{_counts_relation(part, keys, where, folded, since)}\n)"
        for number, part in enumerate(parts)
    ]
    if rows:
        tables.insert(0, f"codebook AS (\n{_codebook_relation(book, spoken)}\n)")
    selects = [part.select(f"q{number}", keys, minimum) for number, part in enumerate(parts)]
    ordered = ", ".join(["question", *keys, "answer_number"])
    text = (
        _head(spoken, len(parts), len(left_out), book)
        + "WITH "
        + ",\n".join(tables)
        + "\nSELECT * FROM (\n"
        + "\nUNION ALL\n".join(selects)
        + f"\n) AS s\nORDER BY {ordered}\n"
    )
    return EstimateQuery(text, book, {name: str(error) for name, error in left_out.items()})


def _head(dialect: SqlDialect, count: int, left_out: int, book: CodebookTable) -> str:
    """Return the comment at the head; it has no text from outside that could end the comment."""
    tested = (
        "executed by dither's tests" if dialect.executed else "not executed: only parsed by dither's tests"
    )
    lines = [
        f"Estimates from reports, written by dither for {dialect.title}; {tested}.",
        f"Questions: {count}. Intervals hold at 95 %, at one look.",
    ]
    if left_out:
        lines.append(f"Left out: {left_out}, of kinds that no query estimates.")
    if book.table is not None and book.rows:
        lines.append(f"It joins a codebook of {len(book.rows)} rows; the same command wrote it.")
    return "".join(f"-- {line}\n" for line in lines)


def _counts_relation(
    part: _QuestionPart,
    keys: Sequence[str],
    table: ReportTable | None,
    folded: str | None,
    since: date | None,
) -> str:
    """Return the counts of one question by the keys: measure, cell and total."""
    dialect = part.dialect
    needed = [name for name in ("day", "label") if name in keys or (name == "day" and _has_days(keys))]
    sources = []
    if table is not None:
        lines = counting_query({part.name: part.question}, dialect, table, since=since).splitlines()
        sources.append("\n".join(line for line in lines if not line.startswith("-- ")))
    if folded is not None:
        columns = {name: f"s.{name}" for name in (*needed, "measure", "cell", "total")}
        days = f" AND s.day >= {dialect.day(since)}" if since is not None else ""
        sources.append(
            f"SELECT {select_list(columns)}\nFROM {dialect.path(folded.split('.'))} AS s\n"
            f"WHERE s.question = {dialect.text(part.name)} "
            f"AND s.fingerprint = '{part.question.fingerprint}'{days}"
        )
    if len(sources) == 2:
        columns = {name: f"s.{name}" for name in (*needed, "measure", "cell", "total")}
        sources[0] = f"SELECT {select_list(columns)}\nFROM ({sources[0]}) AS s"
    grouping = {
        name: {"week": dialect.week, "month": dialect.month}.get(name, "{0}").format(
            "s.label" if name == "label" else "s.day"
        )
        for name in keys
    } | {"measure": "s.measure", "cell": "s.cell"}
    union = "\nUNION ALL\n".join(sources)
    counted = f"s.measure IN ('{Measure.COUNT}', '{Measure.REPORTS}')"
    return (
        f"SELECT {select_list(grouping)}, {dialect.whole('SUM(s.total)')} AS total\n"
        f"FROM (\n{union}\n) AS s\nWHERE {counted} GROUP BY {', '.join(grouping.values())}"
    )


def _has_days(keys: Iterable[str]) -> bool:
    return any(name in ("day", "week", "month") for name in keys)


def _codebook_relation(book: CodebookTable, dialect: SqlDialect) -> str:
    if book.table is not None:
        listed = select_list({name: f"s.{name}" for name in _COLUMNS})
        return f"SELECT {listed} FROM {dialect.path(book.table.split('.'))} AS s"
    lines: list[str] = []
    for row in book.rows:
        texts = dict(zip(_COLUMNS, _literals(row, dialect), strict=True))
        texts["answer"] = f"CAST({texts['answer']} AS {dialect.words})"
        texts["value"] = f"CAST({texts['value']} AS {dialect.real})"
        lines.append(f"SELECT {select_list(texts)}" if not lines else f"SELECT {', '.join(texts.values())}")
    return "\nUNION ALL ".join(lines)


def _literals(row: CodebookRow, dialect: SqlDialect) -> list[str]:
    answer = "NULL" if row.answer is None else dialect.text(row.answer)
    return [f"'{row.fingerprint}'", str(row.cell), str(row.answer_number), answer, _number(row.value)]


def _number(value: float) -> str:
    """Return a number as a literal that databases read as a double, or as the same decimal."""
    return f"{value:.17e}" if value >= 0.0 else f"({value:.17e})"


@dataclass(frozen=True, eq=False)
class _QuestionPart(ABC):
    """One question of the query."""

    name: str
    question: Question
    dialect: SqlDialect
    named: bool = False  # True if the result names the quantity and its values

    @cached_property
    def codebook(self) -> tuple[CodebookRow, ...]:
        """The rows of its codebook."""
        return tuple(self._rows())

    @abstractmethod
    def _rows(self) -> Iterator[CodebookRow]:
        """Yield the rows of the codebook."""

    @abstractmethod
    def select(self, counts: str, keys: Sequence[str], minimum: int) -> str:
        """Return the SELECT of its estimates from the relation of its counts."""

    def real(self, expression: str) -> str:
        """Return an expression as a double."""
        return f"CAST({expression} AS {self.dialect.real})"

    def stages(self, relation: str, kept: Sequence[str], stages: Sequence[Stage]) -> str:
        """Return a relation with further columns, each stage computed from the one before."""
        names = list(kept)
        for stage in stages:
            columns = {**{name: f"s.{name}" for name in names}, **stage}
            relation = f"(SELECT {select_list(columns)}\nFROM {relation} AS s{self.dialect.fence})"
            names += list(stage)
        return relation

    def _name_columns(self) -> dict[str, str]:
        """Return the name of the quantity, and the share of people outside if values were clipped."""
        clipping = self.question.domain.clipping
        each = QUANTITIES[next(iter(self.question.quantities))].each
        name = each if clipping is None else f"{each} of {clipping.values}"
        known = () if clipping is None else clipping.outside
        parts = [self.real("NULL" if not known else _number(part)) for part in known or (0.0, 0.0, 0.0)]
        columns = ("outside", "outside_low", "outside_high")
        return {"quantity": self.dialect.text(name), **dict(zip(columns, parts, strict=True))}

    def result(self, relation: str, keys: Sequence[str], minimum: int, answer: Mapping[str, str]) -> str:
        """Return the last SELECT, restricted to groups that are large enough."""
        columns = {
            **{name: f"s.{name}" for name in keys},
            "question": self.dialect.text(self.name),
            **answer,
            **{name: f"s.{name}" for name in ("value", "low", "high")},
            "n": self.dialect.whole("s.n"),
            **(self._name_columns() if self.named else {}),
        }
        return f"SELECT {select_list(columns)}\nFROM {relation} AS s WHERE s.n >= {minimum}"


class _Mean(_QuestionPart):
    """A question whose estimate is the mean of numbers."""

    question: NumberQuestion

    @cached_property
    def _reading(self) -> UnbiasedReading:
        return unbiased_reading(self.question)

    @cached_property
    def _affine(self) -> tuple[float, float] | None:
        """The number of cell 0 and the step from cell to cell, if all numbers lie on a line."""
        values = self._reading.values
        step = float(values[-1] - values[0]) / max(values.size - 1, 1)
        line = float(values[0]) + step * np.arange(values.size)
        exact = np.abs(values - line).max() <= 1e-13 * max(float(np.ptp(values)), 1e-300)
        return (float(values[0]), step) if exact else None

    def _rows(self) -> Iterator[CodebookRow]:
        if self._affine is None:
            for cell, value in enumerate(self._reading.values.tolist()):
                yield CodebookRow(self.question.fingerprint, cell, 0, None, value)

    def select(self, counts: str, keys: Sequence[str], minimum: int) -> str:
        reading, size = self._reading, self._reading.values.size
        where = f"WHERE s.measure = '{Measure.COUNT}'"
        listed = [f"s.{name} AS {name}" for name in (*keys, "cell", "total")]
        if self._affine is not None:
            first, step = self._affine
            value = f"({_number(first)} + ({_number(step)} * {self.real('s.cell')}))"
            rows = f"(SELECT {', '.join(listed)}, {value} AS value FROM {counts} AS s {where})"
        else:
            join = f"b.fingerprint = '{self.question.fingerprint}' AND b.cell = s.cell"
            rows = (
                f"(SELECT {', '.join(listed)}, b.value AS value\n"
                f"FROM {counts} AS s JOIN codebook AS b ON {join} {where})"
            )
        over = f"OVER ({'PARTITION BY ' + ', '.join(f's.{name}' for name in keys) if keys else ''})"
        inside = f"CASE WHEN s.cell < {size} THEN {{}} ELSE 0 END"
        product = inside.format(f"{self.real('s.total')} * s.value")
        people = {
            "n": self.real(f"SUM({inside.format('s.total')}) {over}"),
            "summed": f"SUM({product}) {over}",
            "rests": self.real(f"SUM(CASE WHEN s.cell < {size} THEN 0 ELSE s.total END) {over}"),
        }
        kept = [*keys, "cell", "total", "value"]
        cut = _number(reading.cut)
        rest = f" + ({cut} * (s.rests - (s.n * {_number(reading.half)})))" if reading.cut else ""
        rows = self.stages(rows, kept, [people, {"mean": f"((s.summed{rest}) / s.n)"}])
        gap, weight = "(s.value - s.mean)", self.real("s.total")
        sums = {
            **{name: f"s.{name}" for name in (*keys, "n", "mean")},
            "squares": f"SUM({weight} * {gap} * {gap})",
            "cubes": f"SUM({weight} * {gap} * {gap} * {gap})",
        }
        grouped = ", ".join(f"s.{name}" for name in (*keys, "n", "mean"))
        relation = (
            f"(SELECT {select_list(sums)}\nFROM {rows} AS s WHERE s.cell < {size} GROUP BY {grouped} "
            f"HAVING s.n >= {minimum})"
        )
        stages = [
            {"spread": "(s.squares / (s.n - 1))", "least": self._least(), **_student_first()},
            *_student_stages(),
            {
                "error": "SQRT((CASE WHEN s.spread > s.least / 2 THEN s.spread ELSE s.least END) / s.n)",
                "skew": "(CASE WHEN s.spread > 0 THEN s.cubes / s.n / s.spread ELSE 0 END)",
            },
            {"shift": "(s.t * s.t * s.skew / (2 * s.n))"},
            {"half": "SQRT((s.shift * s.shift) + (s.t * s.t * s.error * s.error))"},
            {
                "value": "s.mean",
                "low": "(s.mean + s.shift - s.half)",
                "high": "(s.mean + s.shift + s.half)",
            },
        ]
        found = self.stages(relation, [*keys, "n", "mean", "squares", "cubes"], stages)
        answer = {"answer_number": self.dialect.whole("0"), "answer": f"CAST(NULL AS {self.dialect.words})"}
        return self.result(found, keys, minimum, answer)

    def _least(self) -> str:
        """Return the least variance that numbers of reports can have, given their mean, by interpolation."""
        at, known = (numbers.tolist() for numbers in least_variances(self.question))
        clipped = f"LEAST(GREATEST(s.mean, {_number(at[0])}), {_number(at[-1])})"
        cases = [
            f"WHEN s.mean < {_number(end)} THEN {_number(first)} + "
            f"({_number((last - first) / (end - begin))} * ({clipped} - {_number(begin)}))"
            for (begin, first), (end, last) in pairwise(zip(at, known, strict=True))
        ]
        return f"(CASE {' '.join(cases)} ELSE {_number(known[-1])} END)"


def _student_first() -> Stage:
    """Return the first columns of the quantile of Student's t [Hill70], for n − 1 degrees of freedom."""
    return {"freedom": "(s.n - 1)", "a": "(1 / (s.n - 1.5e0))"}


def _student_stages() -> list[Stage]:
    """Return the columns that end with `t`; they are the formula of `student_t_quantile` above 9 degrees."""
    normal = -inverse_survival((1.0 - LEVEL) / 2.0)
    square = normal * normal
    power = ((0.4 * square + 6.3) * square + 36.0) * square + 94.5
    constant = ((-5.0 * normal - 7.0) * normal - 2.0) * normal
    series = "1"
    for term in range(_TERMS, 1, -1):  # e^x − 1 = x·(1 + x/2·(1 + x/3·(…)))
        series = f"(1 + (s.x / {term} * {series}))"
    return [
        {"b": "(48 / (s.a * s.a))"},
        {
            "c": "((((2.07e4 * s.a / s.b) - 9.8e1) * s.a - 1.6e1) * s.a + 9.636e1)",
        },
        {"d": f"(((9.45e1 / (s.b + s.c) - 3) / s.b + 1) * SQRT(s.a * {_number(np.pi / 2.0)}) * s.freedom)"},
        {"e": f"(s.c + {_number(constant)} + ({_number(0.05 * normal**4)} * s.d) + s.b)"},
        {"y": f"((({_number(power)} / s.e - {_number(square)} - 3) / s.b + 1) * {_number(normal)})"},
        {"x": "(s.a * s.y * s.y)"},
        {"t": f"SQRT(s.freedom * s.x * {series})"},
    ]


class _Frequencies(_QuestionPart):
    """A question whose estimates are shares of answers."""

    question: CategoryQuestion

    @cached_property
    def _labels(self) -> list[str | None]:
        return [None if label is None else str(label) for label in self.question.categories.labels]

    @cached_property
    def _listed(self) -> bool:
        """Whether the counts are of reports, each of which supports some answers."""
        return isinstance(self.question.counting, EachReport) and not self.question.one_category

    def _rows(self) -> Iterator[CodebookRow]:
        """Yield the answers that each cell supports; the first rows of all answers list their names."""
        mark, labels = self.question.fingerprint, self._labels
        for number, label in enumerate(labels):
            yield CodebookRow(mark, -1 if self._listed else number, number, label, 1.0)
        if self._listed:
            outcomes = self.question.counting.size
            for cell in range(outcomes):
                held = np.asarray(self.question.kernel.support(np.array([cell]), len(labels)))[0]
                for number in np.flatnonzero(held).tolist():
                    yield CodebookRow(mark, cell, number, None, 1.0)

    def select(self, counts: str, keys: Sequence[str], minimum: int) -> str:
        question, counting = self.question, self.question.counting
        own = f"b.fingerprint = '{question.fingerprint}'"
        implied = isinstance(counting, EachReport | LeadingBits | ColumnSums | PackedColumns)
        columns = counting.columns if isinstance(counting, ColumnSums | PackedColumns) else 1
        measure = Measure.COUNT if implied else Measure.REPORTS
        sets = isinstance(question.kernel, ItemSets)
        items = len(self._labels)
        people = {
            "n": f"(SUM(CASE WHEN s.measure = '{measure}' THEN s.total ELSE 0 END) / {columns})",
            "dummies": f"SUM(CASE WHEN s.measure = '{Measure.COUNT}' AND s.cell = {items} THEN s.total "
            "ELSE 0 END)",
        }
        by = [f"s.{name}" for name in keys]
        listed = "".join(f"{text} AS {name}, " for name, text in zip(keys, by, strict=True))
        grouped = f" GROUP BY {', '.join(by)}" if by else ""
        groups = f"(SELECT {listed}{select_list(people)} FROM {counts} AS s{grouped})"
        names = f"{own} AND b.cell = {'-1' if self._listed else 'b.answer_number'}"
        # A row for each group and answer has n; rows of cells have the support. Their sum has both.
        every = (
            f"SELECT {listed}b.answer_number AS code, b.answer AS answer, {self.real('0')} AS supports, "
            f"{self.real('s.n')} AS n, {self.real('s.dummies')} AS dummies\n"
            f"FROM {groups} AS s CROSS JOIN (SELECT * FROM codebook AS b WHERE {names}) AS b"
        )
        supported = (
            f"SELECT {listed}b.answer_number AS code, CAST(NULL AS {self.dialect.words}) AS answer, "
            f"{self.real('s.total')} AS supports, {self.real('0')} AS n, {self.real('0')} AS dummies\n"
            f"FROM {counts} AS s JOIN codebook AS b ON {own} AND b.cell = s.cell\n"
            f"WHERE s.measure = '{Measure.COUNT}'"
        )
        sums = {
            **dict(zip((*keys, "code"), (*by, "s.code"), strict=True)),
            "answer": "MAX(s.answer)",
            **{name: f"SUM(s.{name})" for name in ("supports", "n", "dummies")},
        }
        relation = (
            f"(SELECT {select_list(sums)}\nFROM (\n{every}\nUNION ALL\n{supported}\n) AS s "
            f"GROUP BY {', '.join([*by, 's.code'])})"
        )
        relation = f"(SELECT * FROM {relation} AS s WHERE s.n >= {minimum})"
        kept = [*keys, "code", "answer", "supports", "n", "dummies"]
        p, q, gap = question.p, question.q, question.gap
        stages = _score_stages("s.supports / s.n", q, gap, "")
        ends = {"value": f"((s.share - {_number(q)}) / {_number(gap)})", "low": "s.least", "high": "s.most"}
        if sets and question.counting.size - items < items:
            stages += _score_stages("1 - s.dummies / s.n", 1.0 - p, gap, "_full")
            ends["high"] = "CASE WHEN s.least_full > 0 THEN s.most + s.most_full ELSE s.most END"
        found = self.stages(relation, kept, [*stages, ends])
        return self.result(found, keys, minimum, {"answer_number": "s.code", "answer": "s.answer"})


def _score_stages(share: str, other: float, gap: float, end: str) -> list[Stage]:
    """Return the columns share, least and most: the score interval of a frequency, also of rare events."""
    unit = inverse_survival((1.0 - LEVEL) / 2.0) ** 2
    limits = rare_limits(LEVEL)

    def rare(events: str) -> str:
        """Return the lower limit of the mean of one to three events; NULL for other numbers."""
        cases = [
            f"WHEN s.n >= {10 * count} AND ABS({events} - {count}) <= 0.5 "
            f"THEN {_number(limit)} + ({events} - {count})"
            for count, limit in reversed(limits.items())
        ]
        return f"(CASE {' '.join(cases)} END)"

    here, few, many = f"s.share{end}", f"s.few{end}", f"s.many{end}"
    events, others = f"(s.n * {here})", f"(s.n * (1 - {here}))"
    low, high = f"s.low{end}", f"s.high{end}"
    return [
        {f"share{end}": f"({share})", f"unit{end}": f"({_number(unit)} / s.n)"},
        {
            f"half{end}": f"SQRT((s.unit{end} * {here} * (1 - {here})) + (s.unit{end} * s.unit{end} / 4))",
            f"few{end}": rare(events),
            f"many{end}": rare(others),
        },
        {
            f"low{end}": f"(({here} + s.unit{end} / 2 - s.half{end}) / (1 + s.unit{end}))",
            f"high{end}": f"(({here} + s.unit{end} / 2 + s.half{end}) / (1 + s.unit{end}))",
        },
        {
            f"low{end}_rare": f"(CASE WHEN {few} / s.n < {low} THEN {few} / s.n ELSE {low} END)",
            f"high{end}_rare": f"(CASE WHEN 1 - {many} / s.n > {high} THEN 1 - {many} / s.n ELSE {high} END)",
        },
        {
            f"least{end}": f"((s.low{end}_rare - {_number(other)}) / {_number(gap)})",
            f"most{end}": f"((s.high{end}_rare - {_number(other)}) / {_number(gap)})",
        },
    ]


def _part(name: str, question: Question, dialect: SqlDialect) -> _QuestionPart:
    """Return the part of a question; raise InvalidParameter if a query does not estimate it."""
    usual = next(iter(question.quantities), "")
    table = getattr(question.book, "shares", False)  # a table of probabilities, as in dt.Matrix
    if usual == "frequencies" and question.alone and not table:
        return _Frequencies(name, category_question(question), dialect)
    if usual == "mean" and has_numbers(question) and not question.line.circular:
        try:
            unbiased_reading(question)
        except DitherError as error:
            raise type(error)(f"question {name!r}: {error}") from None
        return _Mean(name, question, dialect)
    line = question.domain.line
    if line is not None and line.scale:
        raise InvalidParameter(
            f"question {name!r}: expected numbers with a mean, got positions on a scale; count in SQL and "
            "use dither estimate --folded for the bounds"
        )
    raise InvalidParameter(
        f"question {name!r}: expected a mean on an interval or frequencies, got {question.name} on "
        f"{question.domain}; count in SQL and use dither estimate --folded"
    )
