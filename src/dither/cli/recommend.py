"""`dither recommend`: which mechanism, how good it will be, and how many people it takes."""

from __future__ import annotations

import json
from typing import Any

import click

from dither.cli.asked import domain_options, needed
from dither.domains import Domain
from dither.optimal import epsilon_for, goals, people_for, recommend


@click.command()
@domain_options
@click.option(
    "--goal",
    type=click.Choice(["mean", "distribution", "frequencies", "values"]),
    required=True,
    help="What the reports are for.",
)
@click.option("--people", type=int, help="How many people will answer.")
@click.option("--epsilon", type=float, help="The budget ε; left out, it is found for --error.")
@click.option("--error", type=float, help="The error that may remain: finds --people or --epsilon.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    domain: Domain | None,
    goal: str,
    people: int | None,
    epsilon: float | None,
    error: float | None,
    as_json: bool,
) -> None:
    """Rank the mechanisms for a goal, with the error to expect and why; or find ε or the number of people.

    \b
    dither recommend --interval 0 180 --goal mean --people 10000 --epsilon 1
    dither recommend --interval 0 180 --goal mean --epsilon 1 --error 0.5
    dither recommend --interval 0 180 --goal mean --people 10000 --error 0.5
    """
    asked = needed(domain)
    if epsilon is not None and error is None:
        table = recommend(asked, _goal(goal, people), epsilon=epsilon)
        click.echo(json.dumps([dict(row) for row in table], ensure_ascii=False) if as_json else repr(table))
        return
    if error is None:
        raise click.UsageError("give --epsilon for a ranking, or --error with --epsilon or --people")
    found: dict[str, Any]
    if epsilon is not None:
        found = {"people": people_for(asked, _goal(goal, None), error, epsilon=epsilon)}
    else:
        found = {"epsilon": epsilon_for(asked, _goal(goal, people), error)}
    ((name, value),) = found.items()
    click.echo(json.dumps(found) if as_json else f"{name}: {value:.6g}")


def _goal(name: str, people: int | None) -> goals.Goal:
    if name == "values":
        return goals.SingleValues()
    kind: type[goals.Goal] = getattr(goals, name.capitalize())
    return kind(n=people)  # type: ignore[call-arg]
