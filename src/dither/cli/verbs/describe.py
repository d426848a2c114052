"""`dither describe`: describe a mechanism in words."""

from __future__ import annotations

import json

import click

from dither.cli.options import build, domain_options, mechanism_names
from dither.domains import Domain
from dither.wire.codec import to_json


@click.command()
@click.argument("mechanism", shell_complete=mechanism_names)
@domain_options
@click.option("--epsilon", type=float, help="The budget ε.")
@click.option("--json", "as_json", is_flag=True, help="Print the specification as JSON.")
def command(mechanism: str, domain: Domain | None, epsilon: float | None, as_json: bool) -> None:
    """Describe in words what MECHANISM does and guarantees.

    \b
    dither describe podium --interval 18 100 --epsilon 1
    dither describe ogpm --circle 360 --epsilon 2 --json
    dither describe design.json
    """
    built = build(mechanism, domain, epsilon)
    click.echo(json.dumps(json.loads(to_json(built)), indent=2) if as_json else built.describe())
