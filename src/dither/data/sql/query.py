"""A table of reports: its columns, its rows, and the query that turns it into counts by day and question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import date, timedelta
from typing import Any, Final, NamedTuple, Self

from dither.core.batch import BatchBody, identity_digest
from dither.core.count_tables import Measure
from dither.core.question import Question
from dither.core.questionnaire import Questionnaire
from dither.data.formats.format import Questions
from dither.data.sql.blocks import Block, Cell, counting_block, select_list
from dither.data.sql.dialects import SqlDialect, dialect_named, table_name
from dither.errors import DitherError, InvalidParameter, Mismatch, found, unknown_name

TOMBSTONE: Final = -1  # `place` of a row that marks a withdrawn batch
OPTIONAL: Final = ("day", "label", "question", "fingerprint", "batch", "place", "report", "report_hex")


@dataclass(frozen=True)
class ReportTable:
    """The names of a table of reports and of its columns; None for a column that the table does not have.

    A row is one report. Integers are in `report`; reports of several numbers or bits are in
    `report_hex`, their bytes as lower-case hexadecimal text, as in the JSON of a batch. `batch` is the digest
    of the identity of the batch that brought the report, and `place` its number among the batch's reports to
    that question: rows that are equal in `question`, `fingerprint`, `batch` and `place` are one report. A row
    with the place -1 is a tombstone: its batch was taken back, and counts nowhere. Without `batch`, the
    reports are already unique, and none was taken back. Where `wide` is True, a row is a person, and every
    question has a column of its name, as in the files of `dither perturb` and of Spark. See
    `ReportTable.of_columns`.
    """

    name: tuple[str, ...] = ("reports",)  # a table, or a schema and a table, and so on
    day: str | None = "day"
    label: str | None = "label"
    question: str | None = "question"
    fingerprint: str | None = "fingerprint"
    batch: str | None = "batch"
    place: str | None = "place"
    report: str | None = "report"
    report_hex: str | None = "report_hex"
    wide: bool = False

    @classmethod
    def of_columns(
        cls, name: str | tuple[str, ...] = ("reports",), *, day: str | None = None, label: str | None = None
    ) -> Self:
        """Return a table with a row per person, a column per question, and optional day and label columns."""
        return cls(name, day, label, None, None, None, None, None, None, wide=True)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        given: object = self.name
        parts = table_name(given) if isinstance(given, str) else tuple(given)  # type: ignore[arg-type]
        object.__setattr__(self, "name", parts)
        if not parts or not all(isinstance(part, str) and part for part in parts):
            raise InvalidParameter(
                f"expected the name of a table to be one or more texts, got {found(given)}"
            )
        for item in fields(self)[1:-1]:
            given = getattr(self, item.name)
            if given is not None and not (isinstance(given, str) and given):
                raise InvalidParameter(
                    f"expected the column {item.name} to be a name, or None, got {found(given)}"
                )
        if self.wide:
            if any(getattr(self, name) is not None for name in OPTIONAL[2:]):
                raise InvalidParameter(
                    "expected the columns day and label in a table with a column for each question"
                )
        elif self.question is None and self.fingerprint is None:
            raise InvalidParameter(
                "expected a column question, fingerprint, or both in a table of reports; add one"
            )
        if self.batch is None:
            object.__setattr__(self, "place", None)

    def rename(self, columns: Mapping[str, str | None]) -> Self:
        """Return the table with other names of columns; None, or an empty name, for a missing column."""
        for name in columns:
            if name not in OPTIONAL:
                raise unknown_name("column of a table of reports", name, OPTIONAL)
        changes: dict[str, Any] = {name: given or None for name, given in columns.items()}
        return replace(self, **changes)

    @property
    def unique(self) -> bool:
        """Whether the reports are already unique: no column identifies their batch."""
        return self.batch is None


def report_rows(batch: BatchBody, questions: Questions, day: date) -> Iterator[dict[str, Any]]:
    """Yield the rows of a batch in the columns of `ReportTable`; `day` is the day on which it arrived.

    Raise Mismatch if a report is of none of the questions.
    """
    names: dict[str, str] = {}
    digest = identity_digest(bytes.fromhex(batch.id)).hex()
    known = Questionnaire.of(questions).questions
    for name, question in known.items():
        if names.setdefault(question.fingerprint, name) != name:
            raise InvalidParameter(
                f"expected different device texts, got the same for the question {name!r} and another "
                "one; "
                "ask it in another campaign"
            )
    for fingerprint, reports in batch.reports.items():
        if fingerprint not in names:
            raise Mismatch("a batch has reports of none of the questions: their fingerprint is another one")
        name = names[fingerprint]
        layout = known[name].layout
        integer = layout.subdtype is None
        for index, report in enumerate(reports):
            yield {
                "day": day,
                "label": batch.label,
                "question": name,
                "fingerprint": fingerprint,
                "batch": digest,
                "place": index,
                "report": int.from_bytes(report, "little") if integer else None,
                "report_hex": None if integer else report.hex(),
            }


def counting_query(
    questions: Questions,
    dialect: str | SqlDialect,
    table: ReportTable | None = None,
    *,
    day: date | None = None,
    since: date | None = None,
    retries: int | None = None,
) -> str:
    """Return the SQL text that counts a table of reports; `Counts.from_counts` reads its result.

    The result has the columns `day` and `label` (if the table has them), `question`, `fingerprint`,
    `measure`, `cell` and `total`. All totals add: counts of several days, tables or machines may be put
    below each other. Reports of another fingerprint, and those that no device can have sent, are not counted;
    `measure` has their numbers. With `day`, only reports that were first seen on that day are counted, with
    `since`, those that were first seen on that day or later: all earlier days are searched for them, or only
    `retries` days, the time during which devices retry.
    """
    campaign = Questionnaire.of(questions)
    spoken = dialect_named(dialect) if isinstance(dialect, str) else dialect
    where = table or ReportTable()
    if retries is not None and (isinstance(retries, bool) or not isinstance(retries, int) or retries < 0):
        raise InvalidParameter(
            f"expected retries to be an integer number of days from 0 upwards, got {found(retries)}"
        )
    first = day if since is None else since
    if first is not None and where.day is None:
        raise InvalidParameter(
            "expected a column for the day in the table of reports; add it, or leave the day out"
        )
    if day is not None and since is not None:
        raise InvalidParameter("expected day or since, got both; give one of them")
    if (
        where.question is None
        and not where.wide
        and len({question.fingerprint for question in campaign.questions.values()}) < len(campaign.questions)
    ):
        raise InvalidParameter(
            "expected different fingerprints, got the same for two questions; add a column "
            "`question` with "
            "their names"
        )
    searched = None if first is None or retries is None else first - timedelta(days=retries)
    days = None if first is None else _Days(first, searched, only=since is None)
    parts = [
        _question_query(name, question, spoken, where, days) for name, question in campaign.questions.items()
    ]
    return _head(spoken, campaign) + "\nUNION ALL\n".join(parts) + "\n"


class _Days(NamedTuple):
    """The days of a query: reports first seen on `first`, or then and later; `searched` for their copies."""

    first: date
    searched: date | None
    only: bool

    def condition(self, dialect: SqlDialect, column: str) -> str:
        """Return the condition that a day is one of these."""
        return f"{column} {'=' if self.only else '>='} {dialect.day(self.first)}"

    def looked_at(self, dialect: SqlDialect, column: str) -> str:
        """Return the further conditions of rows that are searched for copies."""
        last = f" AND {column} <= {dialect.day(self.first)}" if self.only else ""
        return last + (f" AND {column} >= {dialect.day(self.searched)}" if self.searched is not None else "")


def _head(dialect: SqlDialect, campaign: Questionnaire) -> str:
    """Return the comment at the head: nothing in it comes from outside, so that nothing can end it."""
    prints = sorted({question.fingerprint for question in campaign.questions.values()})
    tested = (
        "executed by dither's tests" if dialect.executed else "not executed: only parsed by dither's tests"
    )
    lines = [
        f"Counts of reports, written by dither for {dialect.title}; {tested}.",
        f"Questions: {len(campaign.questions)}; "
        f"fingerprints: {', '.join(prints[:8])}{', …' if prints[8:] else ''}",
        "Read the result by dt.Counts.from_counts(question, table).",
    ]
    return "".join(f"-- {line}\n" for line in lines)


def question_condition(campaign: Questionnaire, dialect: SqlDialect, table: ReportTable) -> str:
    """Return the condition that a row belongs to one of the questions."""
    if table.question is not None:
        names = ", ".join(dialect.text(name) for name in campaign.questions)
        return f"{dialect.identifier(table.question)} IN ({names})"
    prints = ", ".join(f"'{question.fingerprint}'" for question in campaign.questions.values())
    return f"{dialect.identifier(table.fingerprint or '')} IN ({prints})"


def _question_query(
    name: str,
    question: Question,
    dialect: SqlDialect,
    table: ReportTable,
    days: _Days | None,
) -> str:
    """Return the SELECT of one question's counts."""
    public = tuple(name for name in ("day", "label") if getattr(table, name) is not None)
    needed = "report" if question.layout.subdtype is None else "report_hex"
    if getattr(table, needed) is None and not table.wide:
        raise InvalidParameter(f"question {name!r}: expected the column {needed} in the table; add it")
    if table.unique:
        column = f"s.{dialect.identifier(table.day)}" if table.day is not None else ""
        where = "" if days is None else f" AND {days.condition(dialect, column)}"
        rows = _wide_rows if table.wide else _question_rows
        relation = rows(name, question, dialect, table, (*public, needed), where)
    else:
        relation = _distinct_reports(name, question, dialect, table, (*public, needed), days)
    part = Block(dialect, question, relation, public, weighted=not table.unique)
    try:
        counts = counting_block(question.counting, part)
    except DitherError as error:
        raise type(error)(f"question {name!r}: {error}") from None
    cells = {Cell.OTHER: Measure.OTHER, Cell.MALFORMED: Measure.MALFORMED, Cell.REPORTS: Measure.REPORTS}
    cases = " ".join(f"WHEN {cell:d} THEN '{measure}'" for cell, measure in cells.items())
    columns = {
        **{name: f"s.{name}" for name in public},
        "question": dialect.text(name),
        "fingerprint": f"'{question.fingerprint}'",
        "measure": f"CASE s.cell {cases} ELSE '{Measure.COUNT}' END",
        "cell": dialect.whole("CASE WHEN s.cell < 0 THEN 0 ELSE s.cell END"),
        "total": dialect.whole("s.total"),
    }
    return f"SELECT {select_list(columns)}\nFROM {counts} AS s"


def _wide_rows(
    name: str,
    question: Question,
    dialect: SqlDialect,
    table: ReportTable,
    columns: tuple[str, ...],
    days: str = "",
) -> str:
    """Return the reports of one question from its column; a person without an answer has no report."""
    *public, needed = columns
    given = f"s.{dialect.identifier(name)}"
    chosen = {column: f"s.{dialect.identifier(getattr(table, column))}" for column in public}
    chosen[needed] = given if needed == "report" else dialect.hexadecimal.format(given)
    listed = select_list({**chosen, "state": "0"})
    return f"(SELECT {listed}\nFROM {dialect.relation(table.name)} AS s WHERE {given} IS NOT NULL{days})"


def _question_rows(
    name: str,
    question: Question,
    dialect: SqlDialect,
    table: ReportTable,
    columns: tuple[str, ...],
    days: str = "",
) -> str:
    """Return some columns of the reports of one question, with their state; `days` is a condition."""
    given = {
        column: f"s.{dialect.identifier(getattr(table, column))}" for column in (*columns, *_identity(table))
    }
    expected = f"'{question.fingerprint}'"
    cases = []
    if not table.unique:
        cases.append(f"WHEN {_is_absent(given)} THEN {Cell.MALFORMED:d}")
    if table.fingerprint is not None:
        cases += [f"WHEN {given['fingerprint']} = {expected} THEN 0", f"ELSE {Cell.OTHER:d}"]
    else:
        cases.append("ELSE 0")
    judged = f"CASE {' '.join(cases)} END" if len(cases) > 1 else "0"
    if table.question is not None:
        where = f"{given['question']} = {dialect.text(name)}"
    else:
        where = f"{given['fingerprint']} = {expected}"
    chosen = select_list({**{column: given[column] for column in columns}, "state": judged})
    if "batch" in given and "place" in given:
        names = (dialect.relation(table.name), *(given[key].removeprefix("s.") for key in ("batch", "place")))
        where += f" AND {dialect.kept.format(*names, TOMBSTONE)}"
    return f"(SELECT {chosen}\nFROM {dialect.relation(table.name)} AS s WHERE {where}{days})"


def _distinct_reports(
    name: str,
    question: Question,
    dialect: SqlDialect,
    table: ReportTable,
    columns: tuple[str, ...],
    chosen_days: _Days | None,
) -> str:
    """Return the reports of one question without duplicates, each of the first day on which it was seen."""
    keys = tuple(key for key in ("batch", "place") if getattr(table, key) is not None)
    days, having = "", ""
    if chosen_days is not None and table.day is not None:
        days = chosen_days.looked_at(dialect, f"s.{dialect.identifier(table.day)}")
        having = f" HAVING {chosen_days.condition(dialect, 'MIN(s.day)')}"
    absent = " OR ".join(f"s.{key} IS NULL" for key in keys)
    chosen = {
        **{column: f"MIN(s.{column})" for column in columns},
        "state": "s.state",
        "weight": f"CASE WHEN {absent} THEN COUNT(*) ELSE 1 END",  # rows without a batch are not one report
    }
    source = _question_rows(name, question, dialect, table, (*columns, *keys), days)
    grouped = ", ".join(f"s.{key}" for key in ("state", *keys))
    return f"(SELECT {select_list(chosen)}\nFROM {source} AS s GROUP BY {grouped}{having})"


def _identity(table: ReportTable) -> tuple[str, ...]:
    """Return the columns of the table that identify a row."""
    names = ("question", "fingerprint", "batch", "place")
    return tuple(name for name in names if getattr(table, name) is not None)


def _is_absent(given: Mapping[str, str]) -> str:
    return " OR ".join(f"{given[key]} IS NULL" for key in ("batch", "place") if key in given)
