"""`dither audit`: recompute the ε of a mechanism."""

from __future__ import annotations

import click

from dither.audits.exact import audit
from dither.cli.options import build, domain_options, mechanism_names
from dither.cli.output import JSON_OPTION, print_json, verdict
from dither.domains import Domain


@click.command()
@click.argument("mechanism", shell_complete=mechanism_names)
@domain_options
@click.option("--epsilon", type=float, help="The budget ε.")
@click.option(
    "--assume",
    multiple=True,
    help="An assumption that you accept, in the words that the audit prints; may be repeated.",
)
@JSON_OPTION
def command(
    mechanism: str, domain: Domain | None, epsilon: float | None, assume: tuple[str, ...], as_json: bool
) -> None:
    """Recompute the ε of MECHANISM from its integers and its draw code; exit code 1 if it does not hold.

    The exit code is also 1 if the guarantee has an assumption that --assume does not name.

    \b
    dither audit podium --interval 18 100 --epsilon 1
    dither audit design.json
    """
    finding = audit(build(mechanism, domain, epsilon), assume=assume)
    if as_json:
        answer = {
            "mechanism": finding.mechanism,
            "claimed": finding.claimed,
            "realised": finding.realised,
            "delta": finding.realised_delta,
            "ok": finding.ok,
            "how": finding.how,
            "assumptions": list(finding.assumptions),
            "problems": list(finding.problems),
        }
        print_json(answer)
    else:
        click.echo(verdict(str(finding), finding.ok))
    raise SystemExit(0 if finding.ok else 1)
