"""`dither estimate`: estimates from a file of reports."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from filecmp import cmp
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dither.cli.answers import Wanted
from dither.cli.options import BINS, DAY, JSON_OPTION
from dither.cli.output import rows_done
from dither.cli.questions import ADDRESSES, find_questions, holds_questions
from dither.cli.show import print_estimates, print_groups, print_results, print_versions
from dither.data.streams import is_standard, shown_name

if TYPE_CHECKING:
    from dither.core.questionnaire import Questionnaire
    from dither.estimation.estimate import Alternative


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--column", help="Estimate one question only.")
@click.option(
    "--question",
    "asked_by",
    multiple=True,
    help="The questions of reports from a database: a specification (with --column), or a campaign, in TOML "
    "or signed, or its address. Repeatable for versions of a campaign.",
)
@click.option(
    "--bins",
    type=BINS,
    help="Also the distribution of numeric answers, in this many bins; of dates by day, week, month or year, "
    "of times by hour.",
)
@click.option(
    "--quantile", "shares", type=float, multiple=True, help="Also a quantile of numeric answers, such as 0.9."
)
@click.option(
    "--step",
    type=float,
    help="Also the share of each point, if answers are multiples of this above the lowest value.",
)
@click.option(
    "--by", multiple=True, help="Estimate groups by a column of public labels, such as city. Repeatable."
)
@click.option(
    "--minimum",
    type=click.IntRange(min=2),
    default=100,
    show_default=True,
    help="With --by: leave out groups with fewer reports.",
)
@click.option("--table", "table_name", default="reports", help="Of a database: the table of reports.")
@click.option("--folded", metavar="TABLE", help="Of a database: the table of counts of folded days.")
@click.option("--unique", is_flag=True, help="Of a database: the reports have no batch and are unique.")
@click.option("--wide", is_flag=True, help="Of a database: each row is a person, each column a question.")
@click.option("--since", type=DAY, help="Of a database or a collector: reports of this day and later.")
@click.option(
    "--map", "renamed", multiple=True, metavar="COLUMN=NAME", help="Of a database: a column's name."
)
@click.option(
    "--token-file",
    "tokens",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False),
    help="Of collectors: the file of the admin token, to include unpublished reports; one for all, or "
    "one each.",
)
@click.option("--weight", metavar="COLUMN", help="A public column of weights, such as survey weights.")
@click.option("--cross", metavar="QUESTION", help="A table of --column and a second question.")
@click.option(
    "--within", type=click.Choice(["rows", "columns"]), help="With --cross: shares of each row or column."
)
@click.option(
    "--difference",
    is_flag=False,
    flag_value="",
    metavar="[GROUP]",
    help="With --by: simultaneous intervals for the differences of all groups, or of each group with "
    "one. With "
    "--cross: the difference of two questions of the same people, such as after and before.",
)
@click.option(
    "--contrast",
    "contrasts",
    multiple=True,
    metavar="NAME: LABEL=WEIGHT, …",
    help="With --by: a sum of groups whose weights add up to 0, such as 'any: none=-1, half=0.5, full=0.5'. "
    "Repeatable; the intervals hold together.",
)
@click.option(
    "--alternative",
    type=click.Choice(["two-sided", "greater", "less"]),
    default="two-sided",
    show_default=True,
    help="With --difference or --contrast: one-sided p-values; choose the side before you see the results.",
)
@click.option(
    "--regression",
    metavar="FORMULA",
    help="A regression on questions and columns, such as 'minutes ~ age + C(city)'; extra `formulas`.",
)
@click.option(
    "--person",
    metavar="COLUMN",
    help="The public column that identifies people who have several rows. With --by, for waves: their "
    "differences are paired.",
)
@click.option(
    "--population",
    multiple=True,
    metavar="LABEL=SHARE",
    help="With --by: one estimate for a population whose groups have these shares or numbers of people. "
    "Give one for every group; =SHARE is the group without a label.",
)
@click.option(
    "--retention",
    "retained",
    is_flag=True,
    help="Of a campaign that counts presence, or its presence.json: active devices, retention and cohorts. "
    "Several collectors of one campaign are added up.",
)
@click.option(
    "--test", is_flag=True, help="With --cross: test independence. With --by: test equal distributions."
)
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Draw it: .png, .svg or .pdf.")
@click.option(
    "-o",
    "--out",
    "output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a table: .csv, .xlsx, .md, .tex or .html.",
)
@JSON_OPTION
def command(
    files: tuple[str, ...],
    column: str | None,
    asked_by: tuple[str, ...],
    bins: int | str | None,
    shares: tuple[float, ...],
    step: float | None,
    by: tuple[str, ...],
    minimum: int,
    table_name: str,
    folded: str | None,
    unique: bool,
    wide: bool,
    since: date | None,
    renamed: tuple[str, ...],
    tokens: tuple[str, ...],
    weight: str | None,
    cross: str | None,
    within: str | None,
    difference: str | None,
    contrasts: tuple[str, ...],
    alternative: Alternative,
    regression: str | None,
    person: str | None,
    population: tuple[str, ...],
    retained: bool,
    test: bool,
    plot: Path | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Estimate means, mean directions and frequencies from files that `dither perturb` wrote.

    Several files of the same questions are added up; a pattern such as "day-*.csv" names several. Every
    estimate has a 95 % interval. A file carries its questions; for a table of reports from a database
    --question states them. For trips use `dither trajectory density`.

    \b
    dither estimate reports.csv
    dither estimate monday.csv tuesday.csv "week-2/*.csv"
    dither estimate reports.csv --column minutes --bins 32 --quantile 0.9
    dither estimate reports.csv --column minutes --step 15
    dither estimate reports.csv --column born --bins month
    dither estimate reports.csv --by city --by day
    dither estimate reports.csv --column minutes --by city --difference Kyoto
    dither estimate reports.csv --by sex --population f=0.51 --population m=0.49
    dither estimate reports.csv --column pet --cross home --within rows --plot pets.png
    dither estimate waves.csv --column after --cross before --difference
    dither estimate waves.csv --column minutes --by wave --person id --difference
    dither estimate trial.csv --column minutes --by arm --contrast "any: none=-1, half=0.5, full=0.5"
    dither estimate reports.csv --regression "minutes ~ age + C(city)" --plot line.png
    dither estimate reports.csv --weight weight -o table.xlsx
    dither estimate export.csv --column report --question minutes.json
    dither estimate duckdb://reports.db --question campaign.toml --by day
    dither estimate duckdb://reports.db --question version-1.json --question version-2.json --by day
    dither estimate http://127.0.0.1:8000/v1/campaigns/ID --quantile 0.9
    dither estimate http://127.0.0.1:8000/v1/campaigns/ID --by day
    dither estimate http://127.0.0.1:8000/v1/campaigns/ID --retention

    --by takes columns of public labels, or a question with private categories, whose noise is also removed.
    --weight is a public column of the file. Printed shares and their intervals are cut at 0 and 1, with a
    mark; files have the uncut numbers.

    The address of a campaign at a collector means its reports; several collectors of one campaign are
    added up. Its intervals of means and frequencies hold at any time, however often you look. Its groups are
    day, week, month and label; the interval for a --population holds for one look. A collector publishes
    reports in groups of at least its minimum of people. With the operator's token (--token-file) all stored
    reports are added up, and the minimum applies to the sum.
    """
    known: dict[str, float] = {}
    sums: dict[str, dict[str, float]] = {}
    if population or contrasts:
        from dither.cli.desk import read_contrasts, read_population

        known, sums = read_population(population), read_contrasts(contrasts)
    of_groups = (by, cross, within, difference, test, minimum, known, person)
    wanted = Wanted(
        bins, shares, step, weight, *of_groups, regression=regression, contrasts=sums, alternative=alternative
    )
    wanted.check(files, bool(asked_by))
    _check_places(files, tokens, table_name != "reports" or folded or unique or wide or renamed)
    if since and "://" not in files[0]:
        raise click.UsageError("expected --since with a database or a collector, got files; leave it out")
    written = output is not None or plot is not None
    if written:
        from dither.cli.tables import check_outputs, write_results

        check_outputs(files, output, plot)
    versions = [_questions(source, column) for source in asked_by]
    results: dict[str, Any]
    if retained:
        from dither.cli.collectors import print_retention

        results = print_retention(files, as_json)
    elif files[0].startswith(ADDRESSES):
        from dither.cli.collectors import print_collected

        results = print_collected(files, tokens, column, wanted, as_json, since)
    elif any("://" in name for name in files):
        from dither.cli import databases

        if not databases.all_addresses(files) or not versions:
            raise click.UsageError(
                "expected --question FILE with a database because it does not contain questions; give it"
            )
        table = databases.report_table(table_name, unique, wide, renamed)
        versions = [databases.countable(request, column) for request in versions]
        counts = [databases.counts_of(files, request, table, folded, since) for request in versions]
        results = _of_database(versions, counts, column, wanted, as_json)
    else:
        if len(versions) > 1:
            raise click.UsageError(
                f"expected one --question with files, got {len(versions)}; several versions of a campaign "
                "need a database"
            )
        results = _of_files(files, column, versions[0] if versions else None, wanted, as_json)
    if written:
        write_results(results, output, plot)


def _of_files(
    files: Sequence[str],
    column: str | None,
    request: Questionnaire | None,
    wanted: Wanted,
    as_json: bool,
) -> dict[str, Any]:
    """Print the estimates of files, and return them."""
    from dither.data.report_files import group_files, summarise_file

    paths = [path for name in files for path in _matching(name)]
    _check_once(paths)
    compared = wanted.difference is not None or wanted.test or wanted.contrasts or wanted.population
    if wanted.by and compared and wanted.person is None:
        from dither.cli.desk import check_people

        check_people(paths)
    if wanted.regression is not None:
        from dither.cli.desk import answer_regression

        results = answer_regression(paths, wanted.regression, wanted.weight, request)
        print_results(results, as_json)
        return results
    if wanted.rows or (wanted.by and _is_private(paths, wanted.by, request)):
        from dither.cli.desk import answer_rows, read_rows

        results = answer_rows(read_rows(paths, wanted, column, request), wanted)
        print_results(results, as_json)
        return results
    with rows_done(f"loading {', '.join(shown_name(path) for path in paths[:3])}") as progress:
        if wanted.by:
            groups = group_files(paths, wanted.by, request, progress=progress)
        else:
            summaries = summarise_file(*paths, questions=request, progress=progress)
    if wanted.by:
        return print_groups(groups, column, wanted, as_json)
    return print_estimates(summaries, shown_name(paths[0]), column, wanted, as_json)


def _is_private(paths: Sequence[Path], by: Sequence[str], questions: Questionnaire | None) -> bool:
    """Return whether a column of groups is a question of the file."""
    from dither.data.report_files import carried_questions

    return bool(set(by) & set(carried_questions(paths[0], questions).questions))


def _of_database(
    versions: Sequence[Questionnaire],
    counts: Sequence[dict[str, list[Any]]],
    column: str | None,
    wanted: Wanted,
    as_json: bool,
) -> dict[str, Any]:
    """Print the estimates of a campaign, or of its versions, from the counts of a database."""
    from dither.cli import databases

    if len(versions) > 1:
        if wanted.numbers:
            raise click.UsageError(
                "expected means or frequencies of several versions, got --bins, --step or --quantile; "
                "leave them out"
            )
        if wanted.by:
            groups = [
                databases.groups_of(version, table, wanted.by)
                for version, table in zip(versions, counts, strict=True)
            ]
            return databases.print_version_groups(groups, column, wanted, as_json)
        return print_versions(databases.summaries_of_versions(versions, counts), column, as_json)
    if wanted.by:
        return print_groups(databases.groups_of(versions[0], counts[0], wanted.by), column, wanted, as_json)
    found = databases.summaries_of(versions[0], counts[0])
    return print_estimates(found, "the database", column, wanted, as_json)


def _questions(location: str, column: str | None) -> Questionnaire:
    """Return the questions of a database; a specification does not name its question, so --column must."""
    if location.endswith(".json") and column is None and not holds_questions(location):
        raise click.UsageError(
            f"{location}: expected --column, the column of the reports, with the specification of one "
            "question; give it"
        )
    return find_questions(location, column).campaign


def _matching(name: str) -> list[Path]:
    """Return the files of a name or a pattern; raise UsageError if none exists."""
    path = Path(name)
    if is_standard(path) or path.is_file():
        return [path]
    pattern = bool(set(name) & set("*?["))
    found = sorted(map(Path, glob(name, recursive=True))) if pattern else []  # noqa: PTH207 absolute ones too
    if not found:
        from dither.data.sql.delta import is_table_folder

        folder = f'{name} is a folder; name its files, such as "{name}/*.parquet"'
        if is_table_folder(path):
            folder = f"{name} is a Delta table; its address is duckdb://{name}"
        raise click.UsageError(folder if path.is_dir() else f"file not found: {name}")
    return found


def _check_once(paths: Sequence[Path]) -> None:
    """Raise UsageError for a file that is named twice; warn about copies with the same content."""
    seen: dict[Path, Path] = {}
    sizes: dict[int, list[Path]] = {}
    for path in paths:
        if is_standard(path):
            continue
        if path.resolve() in seen:
            raise click.UsageError(
                f"expected each file once, got {path} twice; name it once, or its people are counted twice"
            )
        seen[path.resolve()] = path
        same = sizes.setdefault(path.stat().st_size, [])
        copy = next((other for other in same if cmp(other, path, shallow=False)), None)
        if copy is not None:
            click.echo(
                f"{path} and {copy} have the same content: if one is a copy, its people are counted twice",
                err=True,
            )
        same.append(path)


def _check_places(files: Sequence[str], tokens: Sequence[str], database: object) -> None:
    """Raise UsageError for options of a database or a collector without one."""
    remote = files[0].startswith(ADDRESSES)
    if database and (remote or "://" not in files[0]):
        raise click.UsageError(
            "expected a database for --table, --folded, --unique, --wide and --map, such as "
            "duckdb://reports.db or duckdb://FOLDER with Parquet files; leave them out"
        )
    if tokens and not remote:
        raise click.UsageError(
            "expected the address of a collector, http://…/v1/campaigns/ID, with --token-file; leave it out"
        )
