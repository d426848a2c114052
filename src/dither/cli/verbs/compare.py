"""`dither compare`: a table of every mechanism for a domain."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dither.cli.options import JSON_OPTION, LOSS_CHOICES, LOSSES, domain_options, need_domain, read_loss
from dither.cli.output import print_json, rows_done, save_picture

if TYPE_CHECKING:
    from dither.advice.compare import Comparison
    from dither.core.domains import Domain
    from dither.foundation.losses import Loss


@click.command()
@domain_options
@click.option("--epsilon", type=float, required=True, help="The budget ε.")
@click.option(
    "--loss",
    "judged",
    multiple=True,
    callback=read_loss,
    default=list(LOSSES),
    show_default=True,
    metavar="LOSS",
    help=f"The loss: {LOSS_CHOICES}; may be repeated. The rows are sorted by the first.",
)
@click.option(
    "--goal",
    type=click.Choice(["mean", "distribution", "quantile", "frequencies", "ranges", "values"]),
    help="Sort by the error of this goal.  [default: mean, or frequencies of categories]",
)
@click.option(
    "--people",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="For --goal: the number of people.",
)
@click.option(
    "--top", type=click.IntRange(1), default=12, show_default=True, help="The number of rows to print."
)
@click.option("--wide", is_flag=True, help="Print all rows and columns, wider than 80 characters.")
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Draw the errors.")
@JSON_OPTION
def command(
    domain: Domain | None,
    epsilon: float,
    judged: tuple[Loss, ...],
    goal: str | None,
    people: int,
    top: int,
    wide: bool,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Compare all mechanisms for a domain, the best for a goal first.

    The error is predicted for the mean of --people answers, or for frequencies. It is empty if the mean
    cannot be estimated without bias. --goal values sorts by the error of single values. --goal
    distribution shows W1, the area between the true and the estimated cdf, and KS, their largest gap
    (simulated once and stored). --goal quantile shows the error of a median, --goal ranges the error of
    cumulative shares. --wide shows worst and average errors, bias, variance and bytes. Each printed
    name can be given as --mechanism.

    \b
    dither compare --interval 0 1 --epsilon 1
    dither compare --interval 0 1 --epsilon 1 --goal distribution --people 10000
    dither compare --interval 0 1 --epsilon 1 --goal values --loss squared --plot errors.png
    dither compare --categories 100 --epsilon 2 --json
    """
    from dither.advice import goals
    from dither.advice.compare import compare

    on = need_domain(domain)
    goal = goal or ("mean" if on.listed is None else "frequencies")
    wanted: Any = None if goal == "values" else getattr(goals, goal.capitalize())
    with rows_done("simulating", unit="runs") as progress:
        chosen = None if wanted is None else wanted(n=people)
        table = compare(on, epsilon=epsilon, losses=judged, goal=chosen, progress=progress)
    if plot is not None:
        save_picture(table.plot()[0], plot)
    if as_json:
        print_json([dict(row) for row in table])
    else:
        shown = table if wide else table.narrow(_columns(table, goal), top)
        title, _, rest = repr(shown).partition("\n\n")
        click.echo(title if wide else click.wrap_text(title, 80))
        click.echo(f"\n{rest}")
        if shown.tie:
            click.echo(click.wrap_text(shown.tie, 80))
        left = len(table) - len(shown)
        if left:
            click.echo(f"and {left} more: --top {len(table)}")


def _columns(table: Comparison, goal: str) -> list[str]:
    """Return the columns that matter for a goal and fit a terminal of 80 characters."""
    if goal == "values":
        return table.columns[1:3]
    if goal in ("distribution", "quantile"):
        name, *more = ["W1", "KS"] if goal == "distribution" else ["error"]
        return [name, f"{name} from", f"{name} to", *more, "bytes"]
    if goal == "ranges":
        return ["error", "bytes"]
    return ["error", "average variance" if "average variance" in table.columns else "variance", "bytes"]
