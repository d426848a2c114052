"""`dither conformance`: test whether another implementation draws, refuses and counts like this one."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

import click

from dither.cli.options import JSON_OPTION
from dither.cli.output import print_json

_KINDS: Final = (
    "draws",
    "refused",
    "texts",
    "signatures",
    "bounds",
    "batches",
    "ohttp",
    "exchange",
    "withdrawals",
    "list",
    "values",
    "words",
    "open",
    "account",
    "permanent",
    "changes",
)
_SHOWN: Final = 5  # failures of a kind that are printed


@click.command()
@click.option(
    "--only", multiple=True, type=click.Choice(_KINDS), help="One kind of vectors; may be repeated."
)
@click.option("--seconds", type=float, default=300.0, show_default=True, help="The deadline of the command.")
@JSON_OPTION
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND …")
@click.pass_context
def command(
    ctx: click.Context, only: tuple[str, ...], seconds: float, as_json: bool, words: tuple[str, ...]
) -> None:
    """Drive COMMAND with the conformance vectors, by JSON lines over standard input and output.

    The exit code is 0 if no vector failed and at least one was met, otherwise 1. Vectors that the command
    does not know are counted separately, not as failures. The kinds of questions that it cannot answer in a
    campaign are printed. The first failures of each kind are shown; --json names all of them.

    \b
        dither conformance -- node clients/javascript/conformance.mjs
    """
    from dither.collection.conformance import run
    from dither.collection.kinds import kinds_without

    tallies = run(words, only or _KINDS, seconds)
    fine = not any(tally.failed for tally in tallies.values()) and any(
        tally.passed for tally in tallies.values()
    )
    cannot = kinds_without([draw for tally in tallies.values() for draw in tally.lacking])
    if as_json:
        counted = {kind: asdict(tally) for kind, tally in tallies.items()}
        print_json({"conforms": fine, "vectors": counted, "unanswered": cannot})
    else:
        for kind, tally in tallies.items():
            line = f"{kind}: {tally.passed} met"
            line += f", {tally.failed} failed" if tally.failed else ""
            line += f", {tally.unknown} not known to the command" if tally.unknown else ""
            line += f", {tally.research} for research left out" if tally.research else ""
            click.echo(line)
            for failure in tally.failures[:_SHOWN]:
                click.echo(f"  {failure}")
            if tally.failed > _SHOWN:
                click.echo(f"  … and {tally.failed - _SHOWN} more; --json names them")
        if "draws" in tallies:
            click.echo("questions of campaigns that are not answered: " + ("; ".join(cannot) or "none"))
        click.echo("It conforms." if fine else "It does not conform.")
    ctx.exit(0 if fine else 1)
