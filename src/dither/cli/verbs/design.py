"""`dither design`: solve for the mechanism with the smallest error, with a certified bound."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dither.cli.options import CRITERION, JSON_OPTION, LOSS_CHOICES, domain_options, need_domain, read_loss
from dither.cli.output import number, print_json, save_picture
from dither.foundation.atomic import rename_after

if TYPE_CHECKING:
    from dither.core.domains import Domain
    from dither.foundation.losses import Criterion, Loss


@click.command()
@domain_options
@click.option("--epsilon", type=float, required=True, help="The budget ε, from 0.05 to 8.")
@click.option("--loss", callback=read_loss, metavar="LOSS", help=f"{LOSS_CHOICES}.")
@click.option(
    "--criterion",
    type=CRITERION,
    default="worst",
    show_default=True,
    help="The largest error, or the mean over uniform values.",
)
@click.option("--unbiased", is_flag=True, help="For a mean: the expected report is the value.")
@click.option("--outputs", type=int, metavar="N", help="At most N different reports, an even number.")
@click.option("--fresh", is_flag=True, help="Solve now, even if there is a stored design (extra: optimal).")
@click.option("-o", "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write it as JSON.")
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Draw its shape.")
@JSON_OPTION
def command(
    domain: Domain | None,
    epsilon: float,
    loss: Loss | None,
    criterion: Criterion,
    unbiased: bool,
    outputs: int | None,
    fresh: bool,
    out: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Solve for the mechanism with the smallest error; print its error and a lower bound for every mechanism.

    --out writes the complete specification: `perturb --mechanism FILE.json`, `describe FILE.json` and
    `audit FILE.json` read it.

    \b
    dither design --interval 0 180 --epsilon 1 --unbiased -o minutes.json
    dither design --interval 0 1 --epsilon 2 --loss squared --criterion average --plot shape.png
    dither design --circle 360 --epsilon 1 --loss 1.5 --json
    """
    from dither.core.domains import Line
    from dither.foundation.losses import as_power
    from dither.foundation.tables import as_text, percent
    from dither.mechanisms.optimal import store
    from dither.mechanisms.optimal.mechanism import Optimal
    from dither.mechanisms.optimal.problem import Problem

    on = need_domain(domain)
    if not isinstance(on, Line):
        raise click.UsageError(
            f"expected an interval or a circle, got {on}; give --interval LOW HIGH or --circle PERIOD"
        )
    if out is not None and out.suffix != ".json":
        raise click.UsageError(
            f"expected --out to end in .json, so that other verbs can read it, got {out.name}; rename it"
        )
    judged = ("squared" if unbiased else "absolute") if loss is None else loss
    problem = Problem(epsilon, as_power(judged), criterion, unbiased)
    origin = "in closed form" if on.circular else store.whence(problem, fresh=fresh)
    judged_by: dict[str, Any] = {"loss": judged, "criterion": problem.criterion, "unbiased": unbiased}
    solved = Optimal(on, epsilon=epsilon, **judged_by, fresh=fresh, outputs=outputs)
    certificate = solved.certificate
    if plot is not None:
        line = solved.line
        save_picture(solved.plot([line.low + share * line.length for share in (0.1, 0.7)]), plot)
    if out is not None:
        with rename_after(out) as part:
            part.write_text(solved.to_json() + "\n", encoding="utf-8")
    if as_json:
        answer = {"error": certificate.error, "bound": certificate.bound, "gap": certificate.gap}
        print_json({**answer, "design": origin, "bytes": solved.report_bytes})
        return
    what = "variance" if unbiased else f"{as_power(judged)!r} error"
    lines = {
        f"{criterion} {what}": number(certificate.error, 6),
        "no mechanism has less than": number(certificate.bound, 6),
        "gap": percent(certificate.gap),
        "design": origin,
        "report": f"{number(solved.report_bytes)} byte" + ("" if solved.report_bytes == 1 else "s"),
        "promise": str(solved.guarantee),
    }
    click.echo(as_text((), list(lines.items()), align="ll"))
