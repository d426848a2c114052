"""A table of reports: its columns, its rows, and the query that turns it into counts by day and question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import date, timedelta
from typing import Any, Final, Self

from dither.data.formats import Questions
from dither.data.sql.blocks import Block, Cell, counting_block, select_list
from dither.data.sql.dialects import SqlDialect, dialect_named
from dither.errors import DitherError, InvalidParameter, Mismatch, found, unknown_name
from dither.estimation.summary import Measure
from dither.question import Question
from dither.wire.batch import BatchBody
from dither.wire.codec import Campaign

OPTIONAL: Final = ("day", "label", "question", "fingerprint", "batch", "place", "report", "report_hex")


@dataclass(frozen=True)
class ReportTable:
    """The names of a table of reports and of its columns; None for a column that the table does not have.

    A row is one report. Whole numbers are in `report`; reports of several numbers or bits are in
    `report_hex`, their bytes as lower-case hexadecimal text, as in the JSON of a batch. `batch` is the random
    identity of the batch that brought the report, and `place` its number among the batch's reports to that
    question: rows that are equal in `question`, `fingerprint`, `batch` and `place` are one report. Without
    `batch`, the reports are already unique.
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

    def __post_init__(self) -> None:
        given: object = self.name
        parts = tuple(given.split(".")) if isinstance(given, str) else tuple(given)  # type: ignore[arg-type]
        object.__setattr__(self, "name", parts)
        if not parts or not all(isinstance(part, str) and part for part in parts):
            raise InvalidParameter(f"the name of a table is one or more texts, not {found(given)}")
        for item in fields(self)[1:]:
            given = getattr(self, item.name)
            if given is not None and not (isinstance(given, str) and given):
                raise InvalidParameter(f"the column {item.name} is a name, or None, not {found(given)}")
        if self.question is None and self.fingerprint is None:
            raise InvalidParameter("a table of reports has a column question, fingerprint, or both")
        if self.batch is None:
            object.__setattr__(self, "place", None)

    def rename(self, columns: Mapping[str, str | None]) -> Self:
        """Return the table with other names of columns; None, or an empty name, for one that is not there."""
        for name in columns:
            if name not in OPTIONAL:
                raise unknown_name("column of a table of reports", name, OPTIONAL)
        changes: dict[str, Any] = {name: given or None for name, given in columns.items()}
        return replace(self, **changes)

    @property
    def unique(self) -> bool:
        """Whether the reports are already unique: nothing says which batch brought them."""
        return self.batch is None


def report_rows(batch: BatchBody, questions: Questions, day: date) -> Iterator[dict[str, Any]]:
    """Yield the rows of a batch in the columns of `ReportTable`; `day` is the day on which it arrived.

    Raise Mismatch if a report is of none of the questions.
    """
    names: dict[str, str] = {}
    known = Campaign.of(questions).questions
    for name, question in known.items():
        if names.setdefault(question.fingerprint, name) != name:
            raise InvalidParameter(f"question {name!r} has the device text of another one; ask it elsewhere")
    for fingerprint, reports in batch.reports.items():
        if fingerprint not in names:
            raise Mismatch("a batch has reports of none of the questions: their fingerprint is another one")
        name = names[fingerprint]
        layout = known[name].layout
        whole = layout.subdtype is None
        for place, report in enumerate(reports):
            yield {
                "day": day,
                "label": batch.label,
                "question": name,
                "fingerprint": fingerprint,
                "batch": batch.id,
                "place": place,
                "report": int.from_bytes(report, "little") if whole else None,
                "report_hex": None if whole else report.hex(),
            }


def counting_query(
    questions: Questions,
    dialect: str | SqlDialect,
    table: ReportTable | None = None,
    *,
    day: date | None = None,
    retries: int | None = None,
) -> str:
    """Return the SQL text that counts a table of reports; `Summary.from_counts` reads its result.

    The result has the columns `day` and `label` (if the table has them), `question`, `fingerprint`,
    `measure`, `cell` and `total`. All totals add: counts of several days, tables or machines may be put
    below each other. Reports of another fingerprint, and those that no device can have sent, are not
    counted; `measure` says how many. With `day`, only reports that were first seen on that day are counted:
    all earlier days are searched for them, or as many as `retries` says, the days during which devices retry.
    """
    campaign = Campaign.of(questions)
    spoken = dialect_named(dialect) if isinstance(dialect, str) else dialect
    where = table or ReportTable()
    if retries is not None and (isinstance(retries, bool) or not isinstance(retries, int) or retries < 0):
        raise InvalidParameter(f"retries is a whole number of days from 0 upwards, not {found(retries)}")
    if day is not None and where.day is None:
        raise InvalidParameter("the table of reports has no column for the day; leave out the day")
    if where.question is None and len(
        {question.fingerprint for question in campaign.questions.values()}
    ) < len(campaign.questions):
        raise InvalidParameter("two questions have one fingerprint; a column `question` must tell them apart")
    since = None if day is None or retries is None else day - timedelta(days=retries)
    parts = [
        _question_query(name, question, spoken, where, day, since)
        for name, question in campaign.questions.items()
    ]
    return _head(spoken, campaign) + "\nUNION ALL\n".join(parts) + "\n"


def _head(dialect: SqlDialect, campaign: Campaign) -> str:
    """Return the comment at the head: nothing in it comes from outside, so that nothing can end it."""
    prints = sorted({question.fingerprint for question in campaign.questions.values()})
    tested = (
        "executed by dither's tests" if dialect.executed else "not executed: only parsed by dither's tests"
    )
    lines = [
        f"Counts of reports, written by dither for {dialect.title}; {tested}.",
        f"Questions: {len(campaign.questions)}; "
        f"fingerprints: {', '.join(prints[:8])}{', …' if prints[8:] else ''}",
        "Read the result by dt.Summary.from_counts(question, table).",
    ]
    return "".join(f"-- {line}\n" for line in lines)


def question_condition(campaign: Campaign, dialect: SqlDialect, table: ReportTable) -> str:
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
    day: date | None,
    since: date | None,
) -> str:
    """Return the SELECT of one question's counts."""
    public = tuple(name for name in ("day", "label") if getattr(table, name) is not None)
    needed = "report" if question.layout.subdtype is None else "report_hex"
    if getattr(table, needed) is None:
        raise InvalidParameter(f"question {name!r} needs the column {needed}, which the table does not have")
    if table.unique:
        days = "" if day is None else f" AND s.{dialect.identifier(table.day or '')} = {dialect.day(day)}"
        relation = _question_rows(name, question, dialect, table, (*public, needed), days)
    else:
        relation = _distinct_reports(name, question, dialect, table, (*public, needed), day, since)
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
    return f"(SELECT {chosen}\nFROM {dialect.path(table.name)} AS s WHERE {where}{days})"


def _distinct_reports(
    name: str,
    question: Question,
    dialect: SqlDialect,
    table: ReportTable,
    columns: tuple[str, ...],
    day: date | None,
    since: date | None,
) -> str:
    """Return the reports of one question without duplicates, each of the first day on which it was seen."""
    keys = tuple(key for key in ("batch", "place") if getattr(table, key) is not None)
    days, having = "", ""
    if day is not None and table.day is not None:
        column = f"s.{dialect.identifier(table.day)}"
        days = f" AND {column} <= {dialect.day(day)}"
        days += "" if since is None else f" AND {column} >= {dialect.day(since)}"
        having = f" HAVING MIN(s.day) = {dialect.day(day)}"
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
    """Return the columns of the table that say what a row is."""
    names = ("question", "fingerprint", "batch", "place")
    return tuple(name for name in names if getattr(table, name) is not None)


def _is_absent(given: Mapping[str, str]) -> str:
    return " OR ".join(f"{given[key]} IS NULL" for key in ("batch", "place") if key in given)
