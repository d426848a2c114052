"""`dither sql`: the query that counts reports in a database.

Estimates from tables of reports in databases: what `dither estimate duckdb://…` needs.

`dither perturb --engine spark`: from a Parquet file or folder to a folder of reports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dither.cli.output import FORCE_OPTION, JSON_OPTION, find_questions, number_of, print_json
from dither.data.dialect import Missing
from dither.data.streams import output_path
from dither.errors import InvalidParameter, unknown_name

if TYPE_CHECKING:
    from dither.cli.verbs.estimate import Wanted
    from dither.core.summary import Summary
    from dither.core.wire import Campaign
    from dither.data.rows import RowCounts
    from dither.data.sql.engines import Columns
    from dither.data.sql.query import ReportTable
    from dither.estimation.groups import GroupCounts, GroupedEstimates


def counts_of(
    addresses: Sequence[str],
    campaign: Campaign,
    table: ReportTable,
    folded: str | None,
    since: datetime | None = None,
) -> Columns:
    """Return the counts of all databases, below each other."""
    from dither.data.sql.engines import connect

    total: Columns = {}
    for address in addresses:
        with connect(address, table) as engine:
            day = None if since is None else since.date()
            for name, values in engine.counts(campaign, table, folded=folded, since=day).items():
                total.setdefault(name, []).extend(values)
    return total


def all_addresses(files: Sequence[str]) -> bool:
    """Return whether the arguments are addresses of databases; raise UsageError if only some are."""
    from dither.data.sql.engines import is_address

    found = [is_address(name) for name in files]
    if any(found) and not all(found):
        raise click.UsageError("name files of reports, or databases, not both")
    return all(found)


def report_table(name: str, unique: bool, wide: bool, renamed: Sequence[str]) -> ReportTable:
    """Return the table of reports that the options --table, --unique, --wide and --map describe."""
    from dither.data.sql.query import OPTIONAL, ReportTable

    columns: dict[str, str | None] = {"batch": None} if unique and not wide else {}
    for entry in renamed:
        column, equals, given = entry.partition("=")
        if not equals:
            raise click.UsageError(f"--map is COLUMN=NAME, with COLUMN one of {', '.join(OPTIONAL)}")
        columns[column] = given or None
    made = ReportTable.of_columns if wide else ReportTable
    return made(tuple(name.split("."))).rename(columns)


def summaries_of(campaign: Campaign, counts: Columns) -> dict[str, Summary]:
    """Return the summary of each question, and say on standard error how many reports were left out."""
    from dither.core.summary import Summary
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
        found[name] = Summary(mechanism, totals.counts, totals.n)
    return found


def summaries_of_versions(
    versions: Sequence[Campaign], counts: Sequence[Columns]
) -> dict[str, list[Summary]]:
    """Return the summaries of each question in all versions of a campaign that ask it.

    Reports of another version are of another fingerprint, and are not said to be left out.
    """
    from dither.core.summary import Summary
    from dither.data.sql.engines import question_totals

    names = dict.fromkeys(name for campaign in versions for name in campaign.questions)
    found: dict[str, list[Summary]] = {name: [] for name in names}
    for name in names:
        known: dict[str, Any] = {}
        for campaign, table in zip(versions, counts, strict=True):
            question = campaign.questions.get(name)
            if question is not None and question.fingerprint not in known:
                known[question.fingerprint] = totals = question_totals(name, question, table)
                found[name].append(Summary(question, totals.counts, totals.n))
        for totals in known.values():
            others = sum(other.n + other.malformed for other in known.values() if other is not totals)
            left = [(totals.malformed, "malformed"), (totals.other - others, "of another fingerprint")]
            for number, words in left:
                if number > 0:
                    click.echo(f"{name}: left out: {number} {words}", err=True)
    return found


def groups_of(campaign: Campaign, counts: Columns, by: Sequence[str]) -> dict[str, GroupCounts]:
    """Return the counts of each question by day, by label, or by both."""
    from dither.core.summary import Summary
    from dither.data.sql.engines import question_totals
    from dither.estimation.groups import GroupCounts

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


def print_version_groups(
    groups: Sequence[Mapping[str, GroupCounts]], column: str | None, wanted: Wanted, as_json: bool
) -> dict[str, Any]:
    """Print tables of groups, each estimated from all versions of a question together."""
    from dither.cli.verbs.estimate import print_tables
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


@click.command()
@click.argument("campaign")
@click.option(
    "--dialect",
    "dialect_name",
    required=True,
    type=click.Choice(
        [
            *("bigquery", "clickhouse", "databricks", "duckdb", "postgresql", "redshift"),
            *("snowflake", "spark", "trino"),
        ]
    ),
    help="The database that the query is for.",
)
@click.option(
    "--column",
    default="report",
    show_default=True,
    help="The column of a question, if CAMPAIGN is one specification.",
)
@click.option("--table", "table_name", default="reports", show_default=True, help="The table of reports.")
@click.option("--unique", is_flag=True, help="The reports have no batch: they are already unique.")
@click.option(
    "--wide", is_flag=True, help="A row is a person, with a column for each question, as `perturb` writes."
)
@click.option(
    "--map",
    "renamed",
    multiple=True,
    metavar="COLUMN=NAME",
    help="The name of a column of the table, if it differs; COLUMN= for one that is not there.",
)
@click.option("--day", type=click.DateTime(["%Y-%m-%d"]), help="Only reports first seen on this day.")
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), help="Reports first seen on this day or later.")
@click.option(
    "--retries",
    type=click.IntRange(min=0),
    help="With --day or --since: how many days before it are searched for copies.",
)
@click.option("--fold", metavar="TABLE", help="Instead: a script that folds --day into these counts.")
@click.option("-o", "--out", type=click.Path(dir_okay=False, path_type=Path), help="Instead of the terminal.")
@FORCE_OPTION
@JSON_OPTION
def command(
    campaign: str,
    dialect_name: str,
    column: str,
    table_name: str,
    unique: bool,
    wide: bool,
    renamed: tuple[str, ...],
    day: datetime | None,
    since: datetime | None,
    retries: int | None,
    fold: str | None,
    out: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write the SQL query that counts a table of reports, by day, label and question.

    CAMPAIGN is a campaign, in TOML or signed, or its address, or a question's specification with --column.
    The counted result is read back by `dt.Summary.from_counts(question, table)`. The table is expected to
    have the columns day, label, question, fingerprint, batch, place, report and report_hex; --map renames or
    leaves some out.

    \b
    dither sql survey.toml --dialect duckdb -o counts.sql
    dither sql survey.toml --dialect postgresql --table warehouse.reports --map batch= --map place=
    dither sql survey.toml --dialect snowflake --day 2026-11-15
    dither sql survey.toml --dialect duckdb --day 2026-11-15 --fold counts -o fold.sql
    dither sql survey.toml --dialect trino --since 2026-11-15 --retries 14
    dither sql survey.toml --dialect databricks --wide --table answers
    """
    from dither.data.sql.dialects import DIALECTS
    from dither.data.sql.query import counting_query
    from dither.data.sql.retention import fold_script

    questions = find_questions(campaign, column).campaign
    given_day = None if day is None else day.date()
    table = report_table(table_name, unique, wide, renamed)
    dialect = DIALECTS[dialect_name]
    if retries is not None and day is None and since is None:
        raise click.UsageError("--retries is with --day or --since: how many days before it are searched")
    if fold is not None:
        if since is not None or retries is not None:
            raise click.UsageError("--fold is of one --day; leave out --since and --retries")
        if given_day is None:
            raise click.UsageError("--fold needs --day: which day is folded")
        text = fold_script(questions, dialect, table, fold, given_day)
    else:
        first = None if since is None else since.date()
        text = counting_query(questions, dialect, table, day=given_day, since=first, retries=retries)
    if out is not None:
        with output_path(out, Path(campaign), force=force) as place:
            place.write_text(text, encoding="utf-8")
    if as_json:
        print_json({"dialect": dialect_name, "query": text, "file": None if out is None else str(out)})
    elif out is None:
        click.echo(text)


def perturb_with_spark(
    file: str, out: str, campaign: Campaign, *, keep: Sequence[str], missing: Missing, master: str
) -> RowCounts:
    """Randomise columns of Parquet files into a folder of reports; rows without an answer are left out."""
    from dither.data.frames import spark
    from dither.data.frames.batches import wanted_columns
    from dither.data.rows import RowCounts

    session: Any = spark.session(master)
    try:
        given = _open_parquet(session, file)
        frame = spark.select_columns(given, wanted_columns(campaign, keep, given.columns))
        if missing == "skip":
            for name in campaign.questions:
                frame = frame.filter(frame[f"`{name.replace('`', '``')}`"].isNotNull())
        written = spark.perturb(frame, campaign, out, keep=keep).count()
        return RowCounts(written=written, missing=given.count() - written)
    finally:
        session.stop()


def _open_parquet(session: Any, file: str) -> Any:
    from pyspark.errors import PySparkException

    try:
        return session.read.parquet(file)
    except PySparkException as error:
        reason = "does not exist" if error.getCondition() == "PATH_NOT_FOUND" else "is not Parquet"
        raise InvalidParameter(f"{file} {reason}; --engine spark reads Parquet files and folders") from None
