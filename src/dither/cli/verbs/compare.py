"""`dither compare`: a table of every mechanism for a domain."""

from __future__ import annotations

from pathlib import Path

import click

from dither import losses
from dither.advice.compare import compare
from dither.cli.options import domain_options, needed, read_loss
from dither.cli.output import JSON_OPTION, print_json, save_picture
from dither.domains import Domain
from dither.losses import Power


@click.command()
@domain_options
@click.option("--epsilon", type=float, required=True, help="The budget ε.")
@click.option(
    "--loss",
    "judged",
    multiple=True,
    callback=read_loss,
    default=list(losses.LOSSES),
    show_default=True,
    metavar="LOSS",
    help=f"The loss: {losses.LOSS_CHOICES}; may be repeated. The rows are sorted by the first.",
)
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Draw the errors.")
@JSON_OPTION
def command(
    domain: Domain | None, epsilon: float, judged: tuple[Power, ...], plot: Path | None, as_json: bool
) -> None:
    """Compare all mechanisms for a domain: worst and average error, bias, variance, bytes of a report.

    \b
    dither compare --interval 0 1 --epsilon 1
    dither compare --interval 0 1 --epsilon 1 --loss squared --plot errors.png
    dither compare --categories 100 --epsilon 2 --json
    """
    table = compare(needed(domain), epsilon=epsilon, losses=judged)
    if plot is not None:
        save_picture(table.plot()[0], plot)
    if as_json:
        print_json([dict(row) for row in table])
    else:
        click.echo(repr(table))
