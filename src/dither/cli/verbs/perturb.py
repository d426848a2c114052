"""`dither perturb`: randomise columns of a file."""

from __future__ import annotations

from pathlib import Path

import click

from dither.cli.options import build, domain_options, mechanism_names
from dither.cli.output import JSON_OPTION, print_json, rows_done
from dither.domains import Domain
from dither.files.collect import Missing, perturb_file
from dither.wire.campaign import Campaign, default_mechanism


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--column", help="The column to randomise.")
@domain_options
@click.option("--epsilon", type=float, help="The budget ε of each person.")
@click.option(
    "--mechanism",
    shell_complete=mechanism_names,
    help="Its name, or a specification FILE.json; by default Hybrid, OGPM or OUE, by the domain.",
)
@click.option(
    "--campaign",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A TOML file with several questions, instead of --column, a domain and --epsilon.",
)
@click.option(
    "-o", "--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The reports."
)
@click.option("--keep", multiple=True, metavar="COLUMN", help="Copy a public column as it is.")
@click.option(
    "--person", metavar="COLUMN", help="The column of the person: only the first row of each counts."
)
@click.option(
    "--missing",
    type=click.Choice([choice.value for choice in Missing]),
    default=Missing.ERROR.value,
    show_default=True,
    help="What an empty cell means; 'skip' declares that who did not answer is public.",
)
@JSON_OPTION
def command(
    file: Path,
    column: str | None,
    domain: Domain | None,
    epsilon: float | None,
    mechanism: str | None,
    campaign: Path | None,
    out: Path,
    keep: tuple[str, ...],
    person: str | None,
    missing: str,
    as_json: bool,
) -> None:
    """Randomise columns of FILE into a file of reports.

    The files' endings say what they are: .csv, .jsonl, and with the extra `frames` .parquet and .arrow.
    The output holds the reports, the columns that --keep names, and the specification that `dither estimate`
    needs. Nothing else of FILE is copied.

    \b
    dither perturb trips.csv --column minutes --interval 0 180 --epsilon 1 -o reports.csv
    dither perturb survey.csv --campaign survey.toml --person id -o reports.jsonl
    """
    asked = _asked(column, domain, epsilon, mechanism, campaign)
    with rows_done(f"perturbing {file.name}") as progress:
        tally = perturb_file(
            file, out, asked, keep=keep, person=person, missing=Missing(missing), progress=progress
        )
    if as_json:
        counts = {"written": tally.written, "missing": tally.missing, "repeated": tally.repeated}
        print_json({**counts, "guarantee": str(asked.guarantee)})
        return
    left = [
        f"{tally.missing} unanswered" if tally.missing else "",
        f"{tally.repeated} repeated" if tally.repeated else "",
    ]
    note = ", ".join(part for part in left if part)
    click.echo(f"{tally.written} reports in {out}" + (f"; left out: {note}" if note else ""))
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
                "--campaign has its own questions; leave out --column, the domain and --epsilon"
            )
        return Campaign.read(campaign)
    if column is not None and mechanism is not None and mechanism.endswith(".json"):
        return Campaign({column: build(mechanism, domain, epsilon)})
    if column is None or domain is None or epsilon is None:
        raise click.UsageError("give --column, a domain and --epsilon, or --campaign FILE")
    name = default_mechanism(domain).__name__ if mechanism is None else mechanism
    return Campaign({column: build(name, domain, epsilon)})
