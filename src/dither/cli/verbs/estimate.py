"""`dither estimate`: estimates from a file of reports."""

from __future__ import annotations

from glob import glob
from pathlib import Path

import click

from dither.cli.collectors import ADDRESSES, print_remote, print_remote_groups
from dither.cli.estimates import Wanted, print_estimates, print_groups
from dither.cli.output import JSON_OPTION, rows_done
from dither.data.files import group_files, summarise_files
from dither.data.streams import is_standard, shown_name
from dither.errors import DitherError
from dither.estimation.comparison.groups import MINIMUM
from dither.wire.campaign import Campaign
from dither.wire.codec import from_json


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--column", help="Estimate one question only.")
@click.option(
    "--question",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The questions of reports out of a database: a specification (with --column), or a campaign's TOML.",
)
@click.option("--bins", type=int, help="Also the distribution of numeric answers, in this many bins.")
@click.option(
    "--quantile", "shares", type=float, multiple=True, help="Also a quantile of numeric answers, such as 0.9."
)
@click.option(
    "--step",
    type=float,
    help="Answers are multiples of this above the lowest value: the share of each point.",
)
@click.option("--by", multiple=True, help="By groups: a column of public labels, such as city. Repeatable.")
@click.option(
    "--minimum",
    type=click.IntRange(min=2),
    default=MINIMUM,
    show_default=True,
    help="With --by: leave out groups with fewer reports.",
)
@click.option("--table", "table_name", default="reports", help="Of a database: the table of reports.")
@click.option("--folded", metavar="TABLE", help="Of a database: a table of counts of days that were folded.")
@click.option("--unique", is_flag=True, help="Of a database: the reports have no batch and are unique.")
@click.option(
    "--map", "renamed", multiple=True, metavar="COLUMN=NAME", help="Of a database: a column's name."
)
@click.option(
    "--token-file",
    "tokens",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False),
    help="Of collectors: the admin token, to add up also what waits; one file for all, or one for each.",
)
@JSON_OPTION
def command(
    files: tuple[str, ...],
    column: str | None,
    question: Path | None,
    bins: int | None,
    shares: tuple[float, ...],
    step: float | None,
    by: tuple[str, ...],
    minimum: int,
    table_name: str,
    folded: str | None,
    unique: bool,
    renamed: tuple[str, ...],
    tokens: tuple[str, ...],
    as_json: bool,
) -> None:
    """Estimate means, mean directions and frequencies from files that `dither perturb` wrote.

    Several files of the same questions are added up; a pattern such as "day-*.csv" names several. Every
    estimate has a 95 % interval. A file carries its questions; for a table of reports out of a database
    --question states them. For trips: `dither trajectory density`.

    \b
    dither estimate reports.csv
    dither estimate monday.csv tuesday.csv "week-2/*.csv"
    dither estimate reports.csv --column minutes --bins 32 --quantile 0.9
    dither estimate reports.csv --column minutes --step 15
    dither estimate reports.csv --by city --by day
    dither estimate export.csv --column report --question minutes.json
    dither estimate duckdb://reports.db --question campaign.toml --by day
    dither estimate http://127.0.0.1:8000/v1/campaigns/ID --quantile 0.9
    dither estimate http://127.0.0.1:8000/v1/campaigns/ID --by day

    The address of a campaign at a collector stands for its reports; several collectors of one campaign are
    added up. Its intervals of means and frequencies hold at any time, however often you look. Its groups are
    day and label. A collector shows what has grown by its minimum of people. With the operator's token
    (--token-file) everything that is stored is added up, and the minimum is asked of the sum.
    """
    wanted = Wanted(bins, shares, step)
    if by and wanted.numbers:
        raise click.UsageError(
            "--by estimates means and frequencies; leave out --bins, --step and --quantile"
        )
    remote = [name for name in files if name.startswith(ADDRESSES)]
    if remote:
        if len(remote) < len(files) or question is not None:
            raise click.UsageError("addresses of collectors go without files and --question")
        if by:
            print_remote_groups(remote, tokens, by, column, minimum, as_json)
        else:
            print_remote(remote, tokens, column, wanted, as_json)
        return
    asked = None if question is None else _questions(question, column)
    if any("://" in name for name in files):
        from dither.cli import databases

        if databases.all_addresses(files):
            if asked is None:
                raise click.UsageError("a database carries no questions; state them with --question FILE")
            table = databases.report_table(table_name, unique, renamed)
            counts = databases.counts_of(files, asked, table, folded)
            if by:
                print_groups(databases.groups_of(asked, counts, by), column, minimum, as_json)
            else:
                found = databases.summaries_of(asked, counts)
                print_estimates(found, "the database", column, wanted, as_json)
            return
    paths = [path for name in files for path in _matching(name)]
    with rows_done(f"reading {', '.join(shown_name(path) for path in paths[:3])}") as progress:
        if by:
            groups = group_files(paths, by, asked, progress=progress)
            print_groups(groups, column, minimum, as_json)
            return
        summaries = summarise_files(paths, asked, progress=progress)
    print_estimates(summaries, shown_name(paths[0]), column, wanted, as_json)


def _matching(name: str) -> list[Path]:
    """Return the files of a name or a pattern; raise UsageError if there is none."""
    path = Path(name)
    if is_standard(path) or path.is_file():
        return [path]
    pattern = bool(set(name) & set("*?["))
    found = sorted(map(Path, glob(name, recursive=True))) if pattern else []  # noqa: PTH207 absolute ones too
    if not found:
        raise click.UsageError(f"there is no file {name}")
    return found


def _questions(file: Path, column: str | None) -> Campaign:
    """Return the questions of a specification, of a campaign in TOML, or of a campaign in JSON."""
    if file.suffix == ".toml":
        return Campaign.read(file)
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise click.UsageError(f"{file} is not UTF-8 text") from None
    try:
        if column is not None:
            return Campaign({column: from_json(text)})
        return Campaign.from_json(text)
    except DitherError as error:
        hint = "" if column else "; a specification of one question needs --column, where its reports are"
        raise click.UsageError(f"{file}: {error}{hint}") from None
