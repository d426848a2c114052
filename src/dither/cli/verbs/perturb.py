"""`dither perturb`: randomise columns of a file."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from dither.cli.options import build, domain_options, mechanism_names
from dither.cli.output import FORCE_OPTION, JSON_OPTION, print_json, rows_done
from dither.domains import Domain
from dither.files.collect import Missing, perturb_file
from dither.files.registry import TABLES, endings
from dither.wire.campaign import Campaign, default_mechanism


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--column", "columns", multiple=True, help="The column to randomise.")
@domain_options
@click.option("--epsilon", type=float, help="The budget ε of each person.")
@click.option(
    "--mechanism",
    shell_complete=mechanism_names,
    help="The mechanism, or its specification FILE.json; by default one that suits the domain.",
)
@click.option(
    "--campaign",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A TOML file with several questions, instead of --column, a domain and --epsilon.",
)
@click.option(
    "-o",
    "--out",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"The file of reports: {', '.join(endings(TABLES))}.",
)
@click.option("--keep", multiple=True, metavar="COLUMN", help="Copy a public column unchanged.")
@click.option(
    "--person", metavar="COLUMN", help="The column that names the person: only the first row of each is used."
)
@click.option(
    "--missing",
    type=click.Choice([choice.value for choice in Missing]),
    default=Missing.ERROR.value,
    show_default=True,
    help="What to do with an empty cell; 'skip' declares that who did not answer is public.",
)
@FORCE_OPTION
@JSON_OPTION
def command(
    file: Path,
    columns: tuple[str, ...],
    domain: Domain | None,
    epsilon: float | None,
    mechanism: str | None,
    campaign: Path | None,
    out: Path,
    keep: tuple[str, ...],
    person: str | None,
    missing: str,
    force: bool,
    as_json: bool,
) -> None:
    """Randomise columns of FILE into a file of reports.

    The endings of the files' names say their formats: CSV and JSON lines, and with the extra `frames` Parquet
    and Arrow. The output holds the reports, the columns that --keep names, and the specification that `dither
    estimate` needs; no other column of FILE is written.

    \b
    dither perturb trips.csv --column minutes --interval 0 180 --epsilon 1 -o reports.csv
    dither perturb survey.csv --campaign survey.toml --person id -o reports.jsonl
    """
    if len(columns) > 1:
        raise click.UsageError("--column names one column; for several questions use --campaign FILE.toml")
    asked = _asked(next(iter(columns), None), domain, epsilon, mechanism, campaign)
    with rows_done(f"perturbing {file.name}") as progress:
        counts = perturb_file(
            file,
            out,
            asked,
            keep=keep,
            person=person,
            missing=Missing(missing),
            force=force,
            progress=progress,
        )
    if as_json:
        print_json({**asdict(counts), "guarantee": str(asked.guarantee)})
        return
    left = [
        f"{counts.missing} unanswered" if counts.missing else "",
        f"{counts.repeated} repeated" if counts.repeated else "",
    ]
    note = ", ".join(part for part in left if part)
    click.echo(f"{counts.written} reports in {out}" + (f"; left out: {note}" if note else ""))
    click.echo(f"each person is promised {asked.guarantee}")


def _asked(
    column: str | None,
    domain: Domain | None,
    epsilon: float | None,
    mechanism: str | None,
    campaign: Path | None,
) -> Campaign:
    if campaign is not None:
        if any(option is not None for option in (column, domain, epsilon, mechanism)):
            raise click.UsageError(
                "--campaign holds the questions; leave out --column, --mechanism, the domain and --epsilon"
            )
        return Campaign.read(campaign)
    if column is not None and mechanism is not None and mechanism.endswith(".json"):
        return Campaign({column: build(mechanism, domain, epsilon)})
    if column is None or domain is None or epsilon is None:
        raise click.UsageError("give --column, a domain and --epsilon, or --campaign FILE")
    name = default_mechanism(domain, epsilon).__name__ if mechanism is None else mechanism
    return Campaign({column: build(name, domain, epsilon)})
