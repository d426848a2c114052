"""Estimates from tables of reports in databases: what `dither estimate duckdb://…` needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

import click

from dither.cli.output import number_of
from dither.errors import DitherError, unknown_name

if TYPE_CHECKING:
    from dither.cli.answers import Wanted
    from dither.core.counts import Counts
    from dither.core.questionnaire import Questionnaire
    from dither.data.sql.engines import Columns
    from dither.data.sql.query import ReportTable
    from dither.estimation.groups import GroupCounts, GroupedEstimates


def counts_of(
    addresses: Sequence[str],
    campaign: Questionnaire,
    table: ReportTable,
    folded: str | None,
    since: date | None = None,
) -> Columns:
    """Return the counts of all databases in one table."""
    from dither.data.sql.engines import connect

    total: Columns = {}
    for address in addresses:
        with connect(address, table) as engine:
            for name, values in engine.counts(campaign, table, folded=folded, since=since).items():
                total.setdefault(name, []).extend(values)
    return total


def countable(campaign: Questionnaire, column: str | None = None) -> Questionnaire:
    """Return the questions whose reports a query counts, and print the reasons for omitted ones on stderr.

    Raise the error if no question is left, or if `column` is omitted.
    """
    from dither.data.sql.query import counting_query

    kept: dict[str, Any] = {}
    reasons: dict[str, DitherError] = {}
    for name, question in campaign.questions.items():
        try:
            counting_query({name: question}, "duckdb")
            kept[name] = question
        except DitherError as error:
            reasons[name] = error
    if not kept or column in reasons:
        raise reasons.get(column or "", next(iter(reasons.values())))
    for reason in reasons.values():
        click.echo(f"left out: {reason}", err=True)
    return replace(campaign, questions=kept) if reasons else campaign


def all_addresses(files: Sequence[str]) -> bool:
    """Return whether the arguments are addresses of databases; raise UsageError if only some are."""
    from dither.data.sql.engines import is_address

    found = [is_address(name) for name in files]
    if any(found) and not all(found):
        raise click.UsageError(
            "expected either files of reports or databases, got both; estimate them one after the other"
        )
    return all(found)


def report_table(name: str, unique: bool, wide: bool, renamed: Sequence[str]) -> ReportTable:
    """Return the table of reports that the options --table, --unique, --wide and --map describe."""
    from dither.data.sql.dialects import table_name
    from dither.data.sql.query import OPTIONAL, ReportTable

    columns: dict[str, str | None] = {"batch": None} if unique and not wide else {}
    for entry in renamed:
        column, equals, given = entry.partition("=")
        if not equals:
            raise click.UsageError(
                f"expected --map COLUMN=NAME with COLUMN one of {', '.join(OPTIONAL)}, got {entry!r}"
            )
        columns[column] = given or None
    made = ReportTable.of_columns if wide else ReportTable
    return made(table_name(name)).rename(columns)


def summaries_of(campaign: Questionnaire, counts: Columns) -> dict[str, Counts]:
    """Return the summary of each question, and print the number of omitted reports on standard error."""
    from dither.core.counts import Counts
    from dither.data.sql.engines import question_totals

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
        found[name] = Counts(mechanism, totals.counts, totals.n)
    return found


def summaries_of_versions(
    versions: Sequence[Questionnaire], counts: Sequence[Columns]
) -> dict[str, list[Counts]]:
    """Return the summaries of each question in all versions of a campaign that ask it.

    Reports of another version have another fingerprint, and are not counted as left out.
    """
    from dither.core.counts import Counts
    from dither.data.sql.engines import question_totals

    names = dict.fromkeys(name for campaign in versions for name in campaign.questions)
    found: dict[str, list[Counts]] = {name: [] for name in names}
    for name in names:
        known: dict[str, Any] = {}
        for campaign, table in zip(versions, counts, strict=True):
            question = campaign.questions.get(name)
            if question is not None and question.fingerprint not in known:
                known[question.fingerprint] = totals = question_totals(name, question, table)
                found[name].append(Counts(question, totals.counts, totals.n))
        for totals in known.values():
            others = sum(other.n + other.malformed for other in known.values() if other is not totals)
            left = [(totals.malformed, "malformed"), (totals.other - others, "of another fingerprint")]
            for number, words in left:
                if number > 0:
                    click.echo(f"{name}: left out: {number} {words}", err=True)
    return found


def groups_of(campaign: Questionnaire, counts: Columns, by: Sequence[str]) -> dict[str, GroupCounts]:
    """Return the counts of each question by day, week or month, by label, or by both."""
    from dither.core.counts import Counts
    from dither.data.sql.engines import question_totals
    from dither.estimation.groups import GroupCounts
    from dither.foundation.tables import period_start

    counts = {
        **counts,
        **{
            name: [day if day is None else period_start(name, day) for day in counts.get("day", ())]
            for name in ("week", "month")
            if "day" in counts
        },
    }
    known = [name for name in ("day", "week", "month", "label") if name in counts]
    for column in by:
        if column not in known:
            raise unknown_name("column of groups", column, known)
    rows: dict[tuple[Any, ...], list[int]] = {}
    for row, label in enumerate(zip(*(counts[column] for column in by), strict=True)):
        rows.setdefault(label, []).append(row)
    found = {name: GroupCounts(question, by) for name, question in campaign.questions.items()}
    for label, chosen in rows.items():
        part = {key: [values[row] for row in chosen] for key, values in counts.items()}
        for name, mechanism in campaign.questions.items():
            totals = question_totals(name, mechanism, part)
            found[name].add_summary(label, Counts(mechanism, totals.counts, totals.n))
    return found


def print_version_groups(
    groups: Sequence[Mapping[str, GroupCounts]], column: str | None, wanted: Wanted, as_json: bool
) -> dict[str, Any]:
    """Print tables of groups, each estimated from all versions of a question together."""
    from dither.cli.show import print_tables
    from dither.estimation.comparison import combine_groups

    names = dict.fromkeys(name for counts in groups for name in counts)
    if column is not None and column not in names:
        raise click.UsageError(str(unknown_name("question", column, names)))
    tables: dict[str, GroupedEstimates] = {}
    heads: dict[str, str] = {}
    for name in names if column is None else [column]:
        versions = {counts[name].question.fingerprint: counts[name] for counts in groups if name in counts}
        heads[name] = f"{number_of(len(versions), 'version')}, each weighs by its precision"
        tables[name] = combine_groups(list(versions.values()), minimum=wanted.minimum)
    return print_tables(tables, heads, wanted, as_json)
