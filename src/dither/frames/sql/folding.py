"""Retention: the reports of a day are counted into a table of counts and then deleted, in one transaction.

Counts add, so that late reports of a day that was folded already are folded again, as further rows. Folding a
day deletes the copies of its reports that came on later days, too: they can no longer be recognised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from dither.errors import InvalidParameter
from dither.estimation.counts.table import NEEDED
from dither.frames.sql.dialects import SqlDialect
from dither.frames.sql.query import asked, counting_query
from dither.frames.sql.table import ReportTable
from dither.question import Question
from dither.wire.campaign import Campaign


def fold_statements(
    questions: Mapping[str, Question] | Campaign,
    dialect: SqlDialect,
    table: ReportTable,
    folded: str | Sequence[str],
    day: date,
) -> list[str]:
    """Return the statements that fold a day: create the table of counts, add to it, delete the reports.

    Run them in one transaction. What is deleted is what was counted, and copies of it.
    """
    if not dialect.begin:
        raise InvalidParameter(
            f"{dialect.title} has no transaction that sees one moment of two tables; reports could be lost "
            "or counted twice. Write the counts of a day that is over by `dither sql --day`, then delete it"
        )
    if table.day is None:
        raise InvalidParameter("a table of reports without days cannot be folded by day")
    campaign = Campaign.of(questions)
    public = [one for one in ("day", "label") if getattr(table, one) is not None]
    columns = [*public, "question", *NEEDED]
    counts = dialect.path(_parts(folded))
    types = {"day": "DATE", "cell": dialect.integer, "total": dialect.integer}
    defined = ", ".join(f"{name} {types.get(name, dialect.words)}" for name in columns)
    query = counting_query(campaign, dialect, table, day=day)
    body = "\n".join(line for line in query.splitlines() if not line.startswith("-- "))
    return [
        f"CREATE TABLE IF NOT EXISTS {counts} ({defined})",
        f"INSERT INTO {counts} ({', '.join(columns)})\n{body}",
        _deletion(campaign, dialect, table, day),
    ]


def fold_script(
    questions: Mapping[str, Question] | Campaign,
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


def _deletion(campaign: Campaign, dialect: SqlDialect, table: ReportTable, day: date) -> str:
    reports, days = dialect.path(table.name), dialect.identifier(table.day or "")
    wanted, first = asked(campaign, dialect, table), f"{days} = {dialect.day(day)}"
    if table.unique:
        return f"DELETE FROM {reports} WHERE {wanted} AND {first}"
    keys = ", ".join(
        dialect.identifier(given)
        for one in ("question", "fingerprint", "batch", "place")
        if (given := getattr(table, one)) is not None
    )
    already = f"SELECT {keys} FROM {reports} WHERE {wanted} AND {first}"
    copies = f"{days} > {dialect.day(day)} AND ({keys}) IN ({already})"
    return f"DELETE FROM {reports} WHERE {wanted} AND ({first} OR ({copies}))"


def stored_query(dialect: SqlDialect, folded: str | Sequence[str], columns: Sequence[str]) -> str:
    """Return the query that reads a table of counts, several rows of a cell added up."""
    keys = ", ".join(one for one in columns if one != "total")
    total = dialect.whole("SUM(total)")
    return f"SELECT {keys}, {total} AS total FROM {dialect.path(_parts(folded))} GROUP BY {keys}"


def check_counts(names: Sequence[str]) -> None:
    """Raise InvalidParameter unless a result has the columns of a table of counts."""
    if not set(NEEDED) <= set(names):
        raise InvalidParameter(f"a table of counts has the columns question, {', '.join(NEEDED)}")


def _parts(name: str | Sequence[str]) -> tuple[str, ...]:
    return tuple(name.split(".")) if isinstance(name, str) else tuple(name)
