"""`dither perturb`: randomise columns of a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

import click

from dither.cli.options import FORCE_OPTION, JSON_OPTION, Asked, dialect_options, question_options
from dither.cli.output import number_of, print_json, rows_done
from dither.cli.protection import bound_words, check_protection
from dither.data.dialect import USUAL, Dialect, Missing, Outside
from dither.data.streams import TABLES, is_standard, shown_name
from dither.errors import InvalidParameter

if TYPE_CHECKING:
    from dither.core.questionnaire import Questionnaire
    from dither.data.rows import RowCounts


_INPUT: Final = click.Path(exists=True, dir_okay=False, path_type=Path, allow_dash=True)
_OUTPUT: Final = click.Path(dir_okay=False, path_type=Path, allow_dash=True)


@click.command()
@click.argument("file", type=click.Path(allow_dash=True))
@question_options
@dialect_options
@click.option(
    "-o",
    "--out",
    required=True,
    type=click.Path(allow_dash=True),
    help=f"The file of reports: {', '.join(TABLES)}; - is standard output, in CSV. With --engine "
    "spark a new folder.",
)
@click.option("--keep", multiple=True, metavar="COLUMN", help="Copy a public column unchanged.")
@click.option(
    "--person", metavar="COLUMN", help="The column that names the person: only the first row of each is used."
)
@click.option(
    "--rows",
    type=int,
    default=1,
    show_default=True,
    metavar="N",
    help="With --person: use up to N rows of each, with the budget divided over them.",
)
@click.option(
    "--missing",
    type=click.Choice(get_args(Missing)),
    default="error",
    show_default=True,
    help="What to do with an empty cell. With 'skip' it is public who did not answer.",
)
@click.option(
    "--outside",
    type=click.Choice(get_args(Outside)),
    default="error",
    show_default=True,
    help="What to do with a value outside the domain. 'clip' moves numbers to the nearest end; with 'skip' "
    "it is public who is outside.",
)
@click.option(
    "--engine",
    type=click.Choice(["files", "spark"]),
    default="files",
    show_default=True,
    help="The engine: dither for files, or Spark from Parquet to a folder of Parquet (extra `spark`).",
)
@click.option(
    "--master",
    metavar="URL",
    help="With --engine spark: a cluster, spark://HOST:7077 or (Connect) sc://HOST:15002.  [default: "
    "this machine]",
)
@FORCE_OPTION
@JSON_OPTION
@click.pass_context
def command(
    context: click.Context,
    file: str,
    asked: Asked,
    dialect: Dialect,
    out: str,
    keep: tuple[str, ...],
    person: str | None,
    rows: int,
    missing: Missing,
    outside: Outside,
    engine: str,
    master: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Randomise columns of FILE into a file of reports.

    The endings of the files' names state their formats: CSV and JSON lines (also .gz and .zst), and with the
    extra `frames` Parquet, Arrow and Excel; - is CSV on standard input or output. The output holds the
    reports, the columns that --keep names, and the specification that `dither estimate` needs; no other
    column of FILE is written. `dither check` counts the cells that fit before anything is drawn.

    \b
    dither perturb trips.csv --column minutes --interval 0 180 --epsilon 1 -o reports.csv
    dither perturb survey.csv --campaign survey.toml --person id -o reports.jsonl
    dither perturb waves.csv --campaign survey.toml --person id --rows 3 -o reports.jsonl
    dither perturb umfrage.csv.gz --campaign survey.toml --decimal , --na n/a -o reports.parquet
    dither perturb trips.parquet --campaign survey.toml --engine spark -o reports
    """
    from dither.data.files import perturb_file
    from dither.data.rows import check_keep

    campaign = asked.campaign
    asked.check_rows()
    check_protection(asked.guarantee())
    if engine == "spark":
        given = {
            "--person": person is not None,
            "--rows": rows != 1,
            "--outside": outside != "error",
            "--force": force,
            "--sep, --decimal, --encoding, --na": dialect != USUAL,
            "-": "-" in (file, out),
        }
        for option in (name for name, is_given in given.items() if is_given):
            raise click.UsageError(
                f"expected no {option} with --engine spark; leave it out, or use --engine files"
            )
        check_keep(keep, campaign)
        counts = perturb_with_spark(
            file, out, campaign, keep=keep, missing=missing, master=master or "local[*]"
        )
    else:
        if master is not None:
            raise click.UsageError("expected --master with --engine spark; add it, or leave --master out")
        parameters = {parameter.name: parameter for parameter in context.command.params}
        source = _INPUT.convert(file, parameters["file"], context)
        with rows_done(f"perturbing {shown_name(source)}") as progress:
            counts = perturb_file(
                source,
                _OUTPUT.convert(out, parameters["out"], context),
                campaign,
                keep=keep,
                person=person,
                rows=rows,
                missing=missing,
                outside=outside,
                dialect=dialect,
                force=force,
                progress=progress,
            )
    piped = is_standard(Path(out))  # standard output then contains only the reports
    if as_json:
        print_json({**asdict(counts), "guarantee": str(campaign.guarantee)}, err=piped)
        return
    left = [
        f"{counts.missing} unanswered" if counts.missing else "",
        f"{counts.repeated} repeated" if counts.repeated else "",
        f"{counts.outside} outside" if counts.outside else "",
    ]
    note = ", ".join(part for part in left if part)
    click.echo(
        f"{number_of(counts.written, 'report')} in {'standard output' if piped else out}"
        + (f"; left out: {note}" if note else "")
        + (f"; clipped: {counts.clipped}" if counts.clipped else ""),
        err=piped,
    )
    of_rows = f", over at most {rows} rows" if rows > 1 else ""
    who = "row" if person is None else "person"
    click.echo(f"each {who} is promised {bound_words(campaign.guarantee)}{of_rows}", err=piped)
    for names, who in ((counts.silent, "did not answer"), (counts.beyond, "was out of range")):
        if names:
            click.echo(f"gaps show who {who}, no part of the promise: {', '.join(names)}", err=piped)
    if keep:
        click.echo(f"not randomised, no part of the promise: {', '.join(keep)}", err=piped)


def perturb_with_spark(
    file: str, out: str, campaign: Questionnaire, *, keep: Sequence[str], missing: Missing, master: str
) -> RowCounts:
    """Randomise columns of Parquet files into a folder of reports; skip rows without an answer."""
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
        raise InvalidParameter(
            f"{file} {reason}; give a Parquet file or a folder of them to --engine spark"
        ) from None
