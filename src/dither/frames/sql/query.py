"""The query that turns a table of reports into counts, by day, label and question."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, Final

from dither.errors import DitherError, InvalidParameter
from dither.estimation.counts.table import Measure
from dither.frames.sql.blocks import Block, Cell, block, listed
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

    The result has the columns `day` and `label` (if the table has them), `question`, `fingerprint`,
    `measure`, `cell` and `total`. All totals add: counts of several days, tables or machines may be put
    below each other. Reports of another fingerprint, and those that no device can have sent, are not
    counted; `measure` says how many. With `day`, only reports that were first seen on that day are counted.
    """
    campaign = Campaign.of(questions)
    spoken = dialect_named(dialect) if isinstance(dialect, str) else dialect
    where = table or ReportTable()
    if day is not None and where.day is None:
        raise InvalidParameter("the table of reports has no column for the day; leave out the day")
    if where.question is None and len({one.fingerprint for one in campaign.questions.values()}) < len(
        campaign.questions
    ):
        raise InvalidParameter("two questions have one fingerprint; a column `question` must tell them apart")
    parts = [_counted(name, one, spoken, where, day) for name, one in campaign.questions.items()]
    body = "\nUNION ALL\n".join(parts)
    once = "" if where.unique else f"WITH {ONCE} AS (\n{_once(campaign, spoken, where, day)}\n)\n"
    return f"{_head(spoken, campaign)}{once}{body}\n"


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


def _once(campaign: Campaign, dialect: SqlDialect, table: ReportTable, day: date | None) -> str:
    """Return the reports without duplicates; a report counts for the first day on which it was seen."""
    keys, least = (
        {
            name: f"s.{dialect.identifier(given)}"
            for name in names
            if (given := getattr(table, name)) is not None
        }
        for names in (("question", "fingerprint", "batch", "place"), ("day", "label", "report", "report_hex"))
    )
    absent = " OR ".join(f"{keys[name]} IS NULL" for name in ("batch", "place") if name in keys)
    columns = {
        **keys,
        **{name: f"MIN({text})" for name, text in least.items()},
        "weight": f"CASE WHEN {absent} THEN COUNT(*) ELSE 1 END",
    }
    where, having = asked(campaign, dialect, table, "s."), ""
    if day is not None:
        where += f" AND {least['day']} <= {dialect.day(day)}"
        having = f" HAVING MIN({least['day']}) = {dialect.day(day)}"
    grouped = ", ".join(keys.values())
    source = dialect.path(table.name)
    return f"SELECT {listed(columns)}\nFROM {source} AS s WHERE {where} GROUP BY {grouped}{having}"


def asked(campaign: Campaign, dialect: SqlDialect, table: ReportTable, relation: str = "") -> str:
    """Return the condition that a row belongs to one of the questions."""
    if table.question is not None:
        names = ", ".join(dialect.text(name) for name in campaign.questions)
        return f"{relation}{dialect.identifier(table.question)} IN ({names})"
    prints = ", ".join(f"'{one.fingerprint}'" for one in campaign.questions.values())
    return f"{relation}{dialect.identifier(table.fingerprint or '')} IN ({prints})"


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
        return f"s.{field}" if once else f"s.{dialect.identifier(getattr(table, field))}"

    expected = f"'{mechanism.fingerprint}'"
    cases = [] if table.fingerprint is None else [f"WHEN {column('fingerprint')} = {expected} THEN 0"]
    if once:
        absent = " OR ".join(
            f"s.{one} IS NULL" for one in ("batch", "place") if getattr(table, one) is not None
        )
        cases.insert(0, f"WHEN {absent} THEN {Cell.MALFORMED:d}")
    otherwise = "0" if table.fingerprint is None else f"{Cell.OTHER:d}"
    judged = f"CASE {' '.join(cases)} ELSE {otherwise} END" if cases else otherwise
    columns = {**{one: column(one) for one in (*public, needed)}, "state": judged}
    if once:
        columns["weight"] = "s.weight"
    if table.question is not None:
        where = f"{column('question')} = {dialect.text(name)}"
    else:
        where = f"{column('fingerprint')} = {expected}"
    if day is not None and not once:
        where += f" AND {column('day')} = {dialect.day(day)}"
    origin = ONCE if once else dialect.path(table.name)
    return f"(SELECT {listed(columns)}\nFROM {origin} AS s WHERE {where})"
