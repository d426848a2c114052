"""The query that turns a table of reports into counts, by day, label and question."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta

from dither.errors import DitherError, InvalidParameter, found
from dither.estimation.counts.table import Measure
from dither.frames.sql.blocks import Block, Cell, block, listed
from dither.frames.sql.dialects import SqlDialect, dialect_named
from dither.frames.sql.table import ReportTable
from dither.question import Question
from dither.wire.campaign import Campaign


def counting_query(
    questions: Mapping[str, Question] | Campaign,
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
    if where.question is None and len({one.fingerprint for one in campaign.questions.values()}) < len(
        campaign.questions
    ):
        raise InvalidParameter("two questions have one fingerprint; a column `question` must tell them apart")
    since = None if day is None or retries is None else day - timedelta(days=retries)
    parts = [_counted(name, one, spoken, where, day, since) for name, one in campaign.questions.items()]
    return _head(spoken, campaign) + "\nUNION ALL\n".join(parts) + "\n"


def _head(dialect: SqlDialect, campaign: Campaign) -> str:
    """Return the comment at the head: nothing in it comes from outside, so that nothing can end it."""
    prints = sorted({one.fingerprint for one in campaign.questions.values()})
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


def asked(campaign: Campaign, dialect: SqlDialect, table: ReportTable) -> str:
    """Return the condition that a row belongs to one of the questions."""
    if table.question is not None:
        names = ", ".join(dialect.text(name) for name in campaign.questions)
        return f"{dialect.identifier(table.question)} IN ({names})"
    prints = ", ".join(f"'{one.fingerprint}'" for one in campaign.questions.values())
    return f"{dialect.identifier(table.fingerprint or '')} IN ({prints})"


def _counted(
    name: str,
    mechanism: Question,
    dialect: SqlDialect,
    table: ReportTable,
    day: date | None,
    since: date | None,
) -> str:
    """Return the SELECT of one question's counts."""
    public = tuple(one for one in ("day", "label") if getattr(table, one) is not None)
    needed = "report" if mechanism.layout.subdtype is None else "report_hex"
    if getattr(table, needed) is None:
        raise InvalidParameter(f"question {name!r} needs the column {needed}, which the table does not have")
    if table.unique:
        days = "" if day is None else f" AND s.{dialect.identifier(table.day or '')} = {dialect.day(day)}"
        relation = _source(name, mechanism, dialect, table, (*public, needed), days)
    else:
        relation = _once(name, mechanism, dialect, table, (*public, needed), day, since)
    one = Block(dialect, mechanism, relation, public, weighted=not table.unique)
    try:
        counts = block(mechanism.counting, one)
    except DitherError as error:
        raise type(error)(f"question {name!r}: {error}") from None
    cells = {Cell.OTHER: Measure.OTHER, Cell.MALFORMED: Measure.MALFORMED, Cell.REPORTS: Measure.REPORTS}
    cases = " ".join(f"WHEN {cell:d} THEN '{measure}'" for cell, measure in cells.items())
    columns = {
        **{name: f"s.{name}" for name in public},
        "question": dialect.text(name),
        "fingerprint": f"'{mechanism.fingerprint}'",
        "measure": f"CASE s.cell {cases} ELSE '{Measure.COUNT}' END",
        "cell": dialect.whole("CASE WHEN s.cell < 0 THEN 0 ELSE s.cell END"),
        "total": dialect.whole("s.total"),
    }
    return f"SELECT {listed(columns)}\nFROM {counts} AS s"


def _source(
    name: str,
    mechanism: Question,
    dialect: SqlDialect,
    table: ReportTable,
    columns: tuple[str, ...],
    days: str = "",
) -> str:
    """Return some columns of the reports of one question, with their state; `days` is a condition."""
    given = {one: f"s.{dialect.identifier(getattr(table, one))}" for one in (*columns, *_there(table))}
    expected = f"'{mechanism.fingerprint}'"
    cases = []
    if not table.unique:
        cases.append(f"WHEN {_absent(given)} THEN {Cell.MALFORMED:d}")
    if table.fingerprint is not None:
        cases += [f"WHEN {given['fingerprint']} = {expected} THEN 0", f"ELSE {Cell.OTHER:d}"]
    else:
        cases.append("ELSE 0")
    judged = f"CASE {' '.join(cases)} END" if len(cases) > 1 else "0"
    if table.question is not None:
        where = f"{given['question']} = {dialect.text(name)}"
    else:
        where = f"{given['fingerprint']} = {expected}"
    chosen = listed({**{one: given[one] for one in columns}, "state": judged})
    return f"(SELECT {chosen}\nFROM {dialect.path(table.name)} AS s WHERE {where}{days})"


def _once(
    name: str,
    mechanism: Question,
    dialect: SqlDialect,
    table: ReportTable,
    columns: tuple[str, ...],
    day: date | None,
    since: date | None,
) -> str:
    """Return the reports of one question without duplicates, each of the first day on which it was seen."""
    keys = tuple(one for one in ("batch", "place") if getattr(table, one) is not None)
    days, having = "", ""
    if day is not None and table.day is not None:
        column = f"s.{dialect.identifier(table.day)}"
        days = f" AND {column} <= {dialect.day(day)}"
        days += "" if since is None else f" AND {column} >= {dialect.day(since)}"
        having = f" HAVING MIN(s.day) = {dialect.day(day)}"
    absent = " OR ".join(f"s.{one} IS NULL" for one in keys)
    chosen = {
        **{one: f"MIN(s.{one})" for one in columns},
        "state": "s.state",
        "weight": f"CASE WHEN {absent} THEN COUNT(*) ELSE 1 END",  # rows without a batch are not one report
    }
    source = _source(name, mechanism, dialect, table, (*columns, *keys), days)
    grouped = ", ".join(f"s.{one}" for one in ("state", *keys))
    return f"(SELECT {listed(chosen)}\nFROM {source} AS s GROUP BY {grouped}{having})"


def _there(table: ReportTable) -> tuple[str, ...]:
    """Return the columns of the table that say what a row is."""
    names = ("question", "fingerprint", "batch", "place")
    return tuple(one for one in names if getattr(table, one) is not None)


def _absent(given: Mapping[str, str]) -> str:
    return " OR ".join(f"{given[one]} IS NULL" for one in ("batch", "place") if one in given)
