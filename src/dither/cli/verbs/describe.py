"""`dither describe`: describe a mechanism in words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from dither.cli.options import build, domain_options, mechanism_names
from dither.cli.output import print_json
from dither.cli.questions import find_questions, holds_questions

if TYPE_CHECKING:
    from dither.core.domains import Domain


@click.command()
@click.argument("mechanism", shell_complete=mechanism_names)
@domain_options
@click.option("--epsilon", type=float, help="The budget ε.")
@click.option("--json", "as_json", is_flag=True, help="Print the specification as JSON.")
def command(mechanism: str, domain: Domain | None, epsilon: float | None, as_json: bool) -> None:
    """Describe in words what MECHANISM, or each question of a file, does and guarantees.

    \b
    dither describe podium --interval 18 100 --epsilon 1
    dither describe ogpm --circle 360 --epsilon 2 --json
    dither describe design.json
    dither describe survey.toml
    dither describe reports.csv
    dither describe https://city.example/v1/campaigns/4014…
    """

    if holds_questions(mechanism):
        if domain is not None or epsilon is not None:
            raise click.UsageError(
                "expected no domain and no --epsilon with a file because it states its own; leave them out"
            )
        found = find_questions(mechanism).campaign.questions
        if as_json:
            print_json({name: json.loads(question.to_json()) for name, question in found.items()})
        else:
            click.echo("\n\n".join(f"{name}: {question.describe()}" for name, question in found.items()))
        return
    built = build(mechanism, domain, epsilon)
    click.echo(json.dumps(json.loads(built.to_json()), indent=2) if as_json else built.describe())
