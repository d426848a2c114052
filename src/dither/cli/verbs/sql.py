"""`dither sql`: the query that counts reports in a database."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dither.cli.databases import countable, report_table
from dither.cli.options import DAY, FORCE_OPTION, JSON_OPTION
from dither.cli.output import print_json
from dither.cli.questions import find_questions
from dither.data.streams import output_path

if TYPE_CHECKING:
    from dither.core.questionnaire import Questionnaire
    from dither.data.sql.dialects import SqlDialect
    from dither.data.sql.estimates import EstimateQuery


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
@click.option(
    "--table",
    "table_name",
    default="reports",
    show_default=True,
    help="The table of reports, or the address of a Delta table, such as s3://bucket/reports.",
)
@click.option("--unique", is_flag=True, help="The reports have no batch: they are already unique.")
@click.option(
    "--wide", is_flag=True, help="A row is a person, with a column for each question, as `perturb` writes."
)
@click.option(
    "--map",
    "renamed",
    multiple=True,
    metavar="COLUMN=NAME",
    help="The name of a column of the table, if it differs; COLUMN= for a missing column.",
)
@click.option("--day", type=DAY, help="Only reports first seen on this day.")
@click.option("--since", type=DAY, help="Reports first seen on this day or later.")
@click.option(
    "--retries",
    type=click.IntRange(min=0),
    help="With --day or --since: the number of days before it that are searched for copies.",
)
@click.option("--fold", metavar="TABLE", help="Write a script that folds --day into these counts instead.")
@click.option(
    "--estimate",
    "estimated",
    is_flag=True,
    help="Write a query that returns value, low, high and n of every question instead.",
)
@click.option(
    "--by",
    multiple=True,
    type=click.Choice(["day", "week", "month", "label"]),
    help="With --estimate: estimate each of these groups. Repeatable.",
)
@click.option(
    "--folded",
    metavar="TABLE",
    help="With --estimate: read this table of counts; add reports with --table.",
)
@click.option(
    "--codebook",
    type=click.Path(dir_okay=False, path_type=Path),
    help="With --estimate: write the table that the query joins, .sql or .csv. The table has the file's "
    "name.",
)
@click.option(
    "--minimum",
    type=click.IntRange(min=10),
    default=100,
    show_default=True,
    help="With --estimate: leave out groups with fewer reports.",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write to this file instead of the terminal.",
)
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
    day: date | None,
    since: date | None,
    retries: int | None,
    fold: str | None,
    estimated: bool,
    by: tuple[str, ...],
    folded: str | None,
    codebook: Path | None,
    minimum: int,
    out: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write the SQL query that counts a table of reports, by day, label and question.

    CAMPAIGN is a campaign, in TOML or signed, or its address, or a question's specification with --column.
    In Python, `dt.Counts.from_counts(question, table)` reads the counts. The table is expected to have
    the columns day, label, question, fingerprint, batch, place, report and report_hex; --map renames or
    leaves some out.

    With --estimate the query returns the estimates of `dither estimate`, with 95 % intervals, in the columns
    question, answer_number, answer, value, low, high and n, for a dashboard or a model of dbt.

    \b
    dither sql survey.toml --dialect duckdb -o counts.sql
    dither sql survey.toml --dialect postgresql --table warehouse.reports --map batch= --map place=
    dither sql survey.toml --dialect snowflake --day 2026-11-15
    dither sql survey.toml --dialect duckdb --day 2026-11-15 --fold counts -o fold.sql
    dither sql survey.toml --dialect trino --since 2026-11-15 --retries 14
    dither sql survey.toml --dialect databricks --wide --table answers
    dither sql survey.toml --dialect spark --table s3://bucket/reports --since 2026-11-15
    dither sql survey.toml --dialect duckdb --estimate --by week --codebook codebook.sql -o answers.sql
    dither sql survey.toml --dialect postgresql --estimate --folded counts --by day --by label
    """
    from dither.data.sql.dialects import DIALECTS
    from dither.data.sql.estimates import estimate_query
    from dither.data.sql.query import counting_query
    from dither.data.sql.retention import fold_script

    questions = _questions_of(campaign, column)
    table = report_table(table_name, unique, wide, renamed)
    dialect = DIALECTS[dialect_name]
    if retries is not None and day is None and since is None:
        raise click.UsageError(
            "expected --retries, the days before it that are searched for copies, with --day or --since; "
            "give one of them"
        )
    wanted = {"--by": by, "--folded": folded, "--codebook": codebook}
    if not estimated and any(wanted.values()):
        raise click.UsageError(
            f"expected {next(name for name in wanted if wanted[name])} with --estimate; add --estimate, or "
            "leave it out"
        )
    left_out: dict[str, str] = {}
    if estimated:
        if fold is not None or day is not None or retries is not None:
            raise click.UsageError(
                "expected no --day, --retries or --fold with --estimate; use --since for the first day"
            )
        _check_codebook(codebook)
        given = click.get_current_context().get_parameter_source("table_name")
        only = folded is not None and given is click.core.ParameterSource.DEFAULT
        made = estimate_query(
            questions,
            dialect,
            None if only else table,
            by=by,
            folded=folded,
            codebook=None if codebook is None else codebook.stem,
            since=since,
            minimum=minimum,
        )
        text = made.text
        left_out = dict(made.left_out)
        for reason in left_out.values():
            click.echo(f"left out: {reason}", err=True)
        _write_codebook(made, codebook, Path(campaign), dialect, force)
    elif fold is not None:
        if since is not None or retries is not None:
            raise click.UsageError(
                "expected no --since and no --retries with --fold because it folds one --day; leave them out"
            )
        if day is None:
            raise click.UsageError("expected --day, the day to fold, with --fold; give it")
        text = fold_script(questions, dialect, table, fold, day)
    else:
        questions = countable(questions)
        text = counting_query(questions, dialect, table, day=day, since=since, retries=retries)
    if out is not None:
        with output_path(out, Path(campaign), force=force) as position:
            position.write_text(text, encoding="utf-8")
    if as_json:
        file = None if out is None else str(out)
        print_json(
            {
                **{"dialect": dialect_name, "query": text, "file": file},
                **{"codebook": codebook and str(codebook), "left_out": left_out},
            }
        )
    elif out is None:
        click.echo(text)


def _check_codebook(codebook: Path | None) -> None:
    if codebook is not None and codebook.suffix not in (".sql", ".csv"):
        raise click.UsageError(f"--codebook {codebook.name}: expected a name that ends with .sql or .csv")


def _write_codebook(
    made: EstimateQuery, codebook: Path | None, campaign: Path, dialect: SqlDialect, force: bool
) -> None:
    """Write the table that a query joins, if a file for it is named."""
    if codebook is None:
        return
    with output_path(codebook, campaign, force=force) as position:
        made.codebook.write(position, dialect, codebook.suffix)
    if not made.codebook.rows:
        click.echo("the query needs no codebook: the table is empty", err=True)


def _questions_of(campaign: str, column: str) -> Questionnaire:
    """Return the questions of a campaign; raise UsageError if no query can count their reports."""
    found = find_questions(campaign, column)
    if found.contract is not None and found.contract.repeat == "kept change":
        raise click.UsageError(
            "expected a campaign without kept changes, whose reports are of intervals; count them with "
            "KeptChange.reports(rows) of Python, or use days.csv of the collector"
        )
    return found.campaign
