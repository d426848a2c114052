"""The query that turns a table of reports into counts, by day, label and question."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, Final

from dither.errors import DitherError, InvalidParameter
from dither.estimation.count_table import Measure
from dither.frames.sql.blocks import Block, Cell, block
from dither.frames.sql.dialects import SqlDialect, dialect_named
from dither.frames.sql.table import ReportTable
from dither.mechanisms.base import Mechanism
from dither.wire.campaign import Campaign

ONCE: Final = "dither_once"  # the reports without duplicates


def counting_query(
    questions: Mapping[str, Mechanism[Any]] | Campaign,
    dialect: str | SqlDialect,
    table: ReportTable | None = None,
    *,
    day: date | None = None,
) -> str:
    """Return the SQL text that counts a table of reports; `Summary.from_counts` reads its result.

    The result has the columns `day` and `label` (if the table has them), `question`, `fingerprint`, `measure`,
    `cell` and `total`. All totals add: counts of several days, tables or machines may be put below each
    other. Reports of another fingerprint, and those that no device can have sent, are not counted; `measure`
    says how many. With `day`, only reports that were first seen on that day are counted.
    """
    campaign = Campaign.of(questions)
    spoken = dialect_named(dialect) if isinstance(dialect, str) else dialect
    where = table or ReportTable()
    if day is not None and where.day is None:
        raise InvalidParameter("the table of reports has no column for the day; leave out the day")
    parts = [_counted(name, one, spoken, where, day) for name, one in campaign.questions.items()]
    body = "\nUNION ALL\n".join(parts)
    once = "" if where.unique else f"WITH {ONCE} AS (\n{_once(campaign, spoken, where, day)}\n)\n"
    return f"{_head(spoken, campaign)}{once}{body}\n"


def _head(dialect: SqlDialect, campaign: Campaign) -> str:
    """Return the comment at the head: nothing in it comes from outside, so that nothing can end it."""
    prints = sorted({one.fingerprint for one in campaign.questions.values()})
    tested = "executed by dither's tests" if dialect.executed else "not executed: only parsed by dither's tests"
    lines = [
        f"Counts of reports, written by dither for {dialect.title}; {tested}.",
        f"Questions: {len(campaign.questions)}; fingerprints: {', '.join(prints[:8])}{', …' if prints[8:] else ''}",
        "Read the result by dt.Summary.from_counts(question, table).",
    ]
    return "".join(f"-- {line}\n" for line in lines)


def _once(campaign: Campaign, dialect: SqlDialect, table: ReportTable, day: date | None) -> str:
    """Return the reports without duplicates; a report counts for the first day on which it was seen."""
    quoted = dialect.identifier
    keys = {
        name: quoted(given)
        for name in ("question", "fingerprint", "batch", "place")
        if (given := getattr(table, name)) is not None
    }
    least = {
        name: f"MIN({quoted(given)})"
        for name in ("day", "label", "report", "report_hex")
        if (given := getattr(table, name)) is not None
    }
    absent = " OR ".join(f"{keys[name]} IS NULL" for name in ("batch", "place") if name in keys)
    listed = [f"{text} AS {name}" for name, text in {**keys, **least}.items()]
    listed.append(f"CASE WHEN {absent} THEN COUNT(*) ELSE 1 END AS weight")
    where = _asked(campaign, dialect, table)
    if day is not None and table.day is not None:
        where += f" AND {quoted(table.day)} <= {dialect.day(day)}"
    grouped = ", ".join(keys.values())
    having = "" if day is None or table.day is None else f" HAVING MIN({quoted(table.day)}) = {dialect.day(day)}"
    return f"SELECT {', '.join(listed)} FROM {dialect.path(table.name)} WHERE {where} GROUP BY {grouped}{having}"


def _asked(campaign: Campaign, dialect: SqlDialect, table: ReportTable) -> str:
    """Return the condition that a row belongs to one of the questions."""
    if table.question is not None:
        names = ", ".join(dialect.text(name) for name in campaign.questions)
        return f"{dialect.identifier(table.question)} IN ({names})"
    prints = ", ".join(f"'{one.fingerprint}'" for one in campaign.questions.values())
    return f"{dialect.identifier(table.fingerprint or '')} IN ({prints})"


def _counted(
    name: str, mechanism: Mechanism[Any], dialect: SqlDialect, table: ReportTable, day: date | None
) -> str:
    """Return the SELECT of one question's counts."""
    public = tuple(one for one in ("day", "label") if getattr(table, one) is not None)
    needed = "report" if mechanism.layout.subdtype is None else "report_hex"
    if getattr(table, needed) is None:
        raise InvalidParameter(f"question {name!r} needs the column {needed}, which the table does not have")
    relation = _source(name, mechanism, dialect, table, public, needed, day)
    one = Block(dialect, mechanism, relation, public, weighted=not table.unique)
    try:
        counts = block(mechanism.counting, one)
    except DitherError as error:
        raise type(error)(f"question {name!r}: {error}") from None
    cells = {Cell.OTHER: Measure.OTHER, Cell.MALFORMED: Measure.MALFORMED, Cell.REPORTS: Measure.REPORTS}
    cases = " ".join(f"WHEN {cell:d} THEN '{measure}'" for cell, measure in cells.items())
    columns = [
        *public,
        f"{dialect.text(name)} AS question",
        f"'{mechanism.fingerprint}' AS fingerprint",
        f"CASE cell {cases} ELSE '{Measure.COUNT}' END AS measure",
        f"{dialect.whole('CASE WHEN cell < 0 THEN 0 ELSE cell END')} AS cell",
        f"{dialect.whole('total')} AS total",
    ]
    return f"SELECT {', '.join(columns)}\nFROM {counts} AS counts"


def _source(
    name: str,
    mechanism: Mechanism[Any],
    dialect: SqlDialect,
    table: ReportTable,
    public: tuple[str, ...],
    needed: str,
    day: date | None,
) -> str:
    """Return the reports of one question, with their state."""
    once = not table.unique

    def column(field: str) -> str:  # in `ONCE` the columns have their usual names
        return field if once else dialect.identifier(getattr(table, field))

    expected = f"'{mechanism.fingerprint}'"
    cases = [] if table.fingerprint is None else [f"WHEN {column('fingerprint')} = {expected} THEN 0"]
    if once:
        absent = " OR ".join(
            f"{one} IS NULL" for one in ("batch", "place") if getattr(table, one) is not None
        )
        cases.insert(0, f"WHEN {absent} THEN {Cell.MALFORMED:d}")
    otherwise = "0" if table.fingerprint is None else f"{Cell.OTHER:d}"
    judged = f"CASE {' '.join(cases)} ELSE {otherwise} END" if cases else otherwise
    columns = [f"{column(one)} AS {one}" for one in (*public, needed)]
    columns += [f"{judged} AS state", *(["weight"] if once else [])]
    if table.question is not None:
        where = f"{column('question')} = {dialect.text(name)}"
    else:
        where = f"{column('fingerprint')} = {expected}"
    if day is not None and not once:
        where += f" AND {column('day')} = {dialect.day(day)}"
    origin = ONCE if once else dialect.path(table.name)
    return f"(SELECT {', '.join(columns)} FROM {origin} WHERE {where})"


