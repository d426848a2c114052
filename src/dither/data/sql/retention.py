"""Retention: the reports of a day are counted into a table of counts and then deleted, in one transaction.

This is called *folding*. Counts can be added, so late reports of a folded day are folded as further rows.
Folding a day also deletes the copies of its reports that came on later days: they can no longer be
recognised.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from dither.core.count_tables import NEEDED
from dither.core.questionnaire import Questionnaire
from dither.data.formats.format import Questions
from dither.data.sql.delta import is_object_store
from dither.data.sql.dialects import SqlDialect
from dither.data.sql.query import ReportTable, counting_query, question_condition
from dither.errors import InvalidParameter


def fold_statements(
    questions: Questions,
    dialect: SqlDialect,
    table: ReportTable,
    folded: str | Sequence[str],
    day: date,
) -> list[str]:
    """Return the statements that fold a day: create the table of counts, add to it, delete the reports.

    Run them in one transaction. They delete only counted reports and their copies.
    """
    if not dialect.begin:
        raise InvalidParameter(
            "expected a dialect with transactions that read two tables at one moment, got "
            f"{dialect.title}: reports could be lost or counted twice; write the counts of a past day with "
            "`dither sql --day`, then delete it"
        )
    if is_object_store(table.name[0]):
        raise InvalidParameter(
            "expected a table other than a Delta table, because exports keep its reports; do not fold it"
        )
    if table.day is None or table.wide:
        raise InvalidParameter(
            "expected a table of reports with days and without a column per question; do not fold it"
        )
    campaign = Questionnaire.of(questions)
    public = [name for name in ("day", "label") if getattr(table, name) is not None]
    columns = [*public, "question", *NEEDED]
    counts = dialect.path(_name_parts(folded))
    types = {"day": "DATE", "cell": dialect.integer, "total": dialect.integer}
    defined = ", ".join(f"{name} {types.get(name, dialect.words)}" for name in columns)
    query = counting_query(campaign, dialect, table, day=day)
    body = "\n".join(line for line in query.splitlines() if not line.startswith("-- "))
    return [
        f"CREATE TABLE IF NOT EXISTS {counts} ({defined})",
        f"INSERT INTO {counts} ({', '.join(columns)})\n{body}",
        _delete_statement(campaign, dialect, table, day),
    ]


def fold_script(
    questions: Questions,
    dialect: SqlDialect,
    table: ReportTable,
    folded: str | Sequence[str],
    day: date,
) -> str:
    """Return a script that folds a day in one transaction; the table of counts is created before it."""
    create, *rest = fold_statements(questions, dialect, table, folded, day)
    tested = "executed" if dialect.executed else "not executed: only parsed"
    head = f"-- Folds a day of reports into counts, for {dialect.title}; {tested} by dither's tests."
    return ";\n".join([f"{head}\n{create}", dialect.begin, *rest, "COMMIT TRANSACTION"]) + ";\n"


def _delete_statement(campaign: Questionnaire, dialect: SqlDialect, table: ReportTable, day: date) -> str:
    reports, days = dialect.path(table.name), dialect.identifier(table.day or "")
    wanted, first = question_condition(campaign, dialect, table), f"{days} = {dialect.day(day)}"
    if table.unique:
        return f"DELETE FROM {reports} WHERE {wanted} AND {first}"
    keys = ", ".join(
        dialect.identifier(given)
        for name in ("question", "fingerprint", "batch", "place")
        if (given := getattr(table, name)) is not None
    )
    already = f"SELECT {dialect.row_column.format(keys)} FROM {reports} WHERE {wanted} AND {first}"
    copies = f"{days} > {dialect.day(day)} AND {dialect.row.format(keys)} IN ({already})"
    return f"DELETE FROM {reports} WHERE {wanted} AND ({first} OR ({copies}))"


def stored_query(
    dialect: SqlDialect,
    folded: str | Sequence[str],
    columns: Sequence[str],
    *,
    day: date | None = None,
    since: date | None = None,
) -> str:
    """Return the query that reads a table of counts of one day, or since a day; rows of a cell are added."""
    keys = ", ".join(name for name in columns if name != "total")
    total = dialect.whole("SUM(total)")
    first, sign = (since, ">=") if day is None else (day, "=")
    days = f" WHERE day {sign} {dialect.day(first)}" if first is not None else ""
    return f"SELECT {keys}, {total} AS total FROM {dialect.path(_name_parts(folded))}{days} GROUP BY {keys}"


def _name_parts(name: str | Sequence[str]) -> tuple[str, ...]:
    return tuple(name.split(".")) if isinstance(name, str) else tuple(name)
