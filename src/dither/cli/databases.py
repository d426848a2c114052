"""Estimates from tables of reports in databases: what `dither estimate duckdb://…` needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from dither.data.sql.engines import Columns, connect, is_address, question_totals
from dither.data.sql.query import OPTIONAL, ReportTable
from dither.errors import unknown_name
from dither.estimation.comparison.groups import GroupCounts
from dither.estimation.summary import Summary
from dither.wire.campaign import Campaign


def counts_of(
    addresses: Sequence[str], campaign: Campaign, table: ReportTable, folded: str | None
) -> Columns:
    """Return the counts of all databases, below each other."""
    total: Columns = {}
    for address in addresses:
        with connect(address, table) as engine:
            for name, values in engine.counts(campaign, table, folded=folded).items():
                total.setdefault(name, []).extend(values)
    return total


def all_addresses(files: Sequence[str]) -> bool:
    """Return whether the arguments are addresses of databases; raise UsageError if only some are."""
    found = [is_address(name) for name in files]
    if any(found) and not all(found):
        raise click.UsageError("name files of reports, or databases, not both")
    return all(found)


def report_table(name: str, unique: bool, renamed: Sequence[str]) -> ReportTable:
    """Return the table of reports that the options --table, --unique and --map describe."""
    columns: dict[str, str | None] = {"batch": None} if unique else {}
    for entry in renamed:
        column, equals, given = entry.partition("=")
        if not equals:
            raise click.UsageError(f"--map is COLUMN=NAME, with COLUMN one of {', '.join(OPTIONAL)}")
        columns[column] = given or None
    return ReportTable(tuple(name.split("."))).rename(columns)


def summaries_of(campaign: Campaign, counts: Columns) -> dict[str, Summary]:
    """Return the summary of each question, and say on standard error how many reports were left out."""
    found = {}
    for name, mechanism in campaign.questions.items():
        totals = question_totals(name, mechanism, counts)
        left = [
            f"{number} {words}"
            for number, words in ((totals.malformed, "malformed"), (totals.other, "of another fingerprint"))
            if number
        ]
        if left:
            click.echo(f"{name}: left out: {', '.join(left)}", err=True)
        found[name] = Summary(mechanism, totals.counts, totals.n)
    return found


def groups_of(campaign: Campaign, counts: Columns, by: Sequence[str]) -> dict[str, GroupCounts]:
    """Return the counts of each question by day, by label, or by both."""
    for column in by:
        if column not in ("day", "label") or column not in counts:
            raise unknown_name(
                "column of groups", column, [name for name in ("day", "label") if name in counts]
            )
    rows: dict[tuple[Any, ...], list[int]] = {}
    for row, label in enumerate(zip(*(counts[column] for column in by), strict=True)):
        rows.setdefault(label, []).append(row)
    found = {name: GroupCounts(question, by) for name, question in campaign.questions.items()}
    for label, chosen in rows.items():
        part = {key: [values[row] for row in chosen] for key, values in counts.items()}
        for name, mechanism in campaign.questions.items():
            totals = question_totals(name, mechanism, part)
            found[name].add_summary(label, Summary(mechanism, totals.counts, totals.n))
    return found
