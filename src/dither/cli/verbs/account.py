"""`dither account`: what a person has given, for the person or an officer."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from dither.cli.options import JSON_OPTION
from dither.cli.output import emphasise, print_json, table, verdict
from dither.errors import AccountUnusable
from dither.foundation import atomic

if TYPE_CHECKING:
    from dither.collection.account.budget import Data

_FILE: Final = click.argument("file", type=click.Path(path_type=Path))
NOT_A_GUARANTEE: Final = (
    "The amount of each asker is not a guarantee: askers may share. The guarantee is the one above."
)


@click.group()
def command() -> None:
    """Show, check or export an account: its answers and the remaining budget.

    \b
    dither account show me.account
    dither account check me.account
    dither account export me.account -o me.json
    """


@command.command()
@_FILE
@JSON_OPTION
def show(file: Path, as_json: bool) -> None:
    """Print the promise, the remaining budget, the answers by asker, and the unsent reports.

    \b
    dither account show me.account
    """
    from dither.collection.account import Account

    with Account.open(file) as account:
        state, left, guarantee, promise = account.wire(), account.left, account.guarantee, account.promise
    if as_json:
        facts = {"promise": promise, "left": str(left), "epsilon": left.epsilon, "assumes": guarantee.assumes}
        print_json({**facts, "answers": len(state["entries"]), "waiting": len(state["queue"])})
        return
    click.echo(emphasise(promise, "bold"))
    click.echo(f"Now {left}.")
    for line in guarantee.assumes:
        click.echo(f"This assumes that {line}.")
    click.echo(f"Reports that wait to be sent: {len(state['queue'])}.")
    if state["entries"]:
        click.echo("")
        click.echo(table(("asker", "question", "answers", "ε taken"), _answers_taken(state)))
        click.echo(NOT_A_GUARANTEE)


def _answers_taken(state: Data) -> list[tuple[str, str, int, str]]:
    from dither.collection.account.budget import show_amount
    from dither.foundation.markup import printable
    from dither_device.state import EPSILON

    units: Counter[tuple[str, str]] = Counter()
    answers: Counter[tuple[str, str]] = Counter()
    for entry in state["entries"]:
        key = entry["asker"], entry["question"]
        units[key] += int(entry["epsilon"], 16)
        answers[key] += 1
    return [
        (
            printable(asker) or "(no name)",
            printable(name),
            answers[asker, name],
            show_amount(taken, EPSILON),
        )
        for (asker, name), taken in sorted(units.items())
    ]


@command.command()
@_FILE
@click.option("--mark", "expect", help="A mark that an earlier check printed; an older file is refused.")
@JSON_OPTION
def check(file: Path, expect: str | None, as_json: bool) -> None:
    """Read the complete FILE and check every link of it; exit code 1 if it is damaged or was rolled back.

    \b
    dither account check me.account
    dither account check me.account --mark "12 5feb0cb1…"
    """
    from dither.collection.account import Account

    try:
        with Account.open(file, expect=expect) as account:
            mark, entries = account.mark, len(account.wire()["entries"])
            over = account.overspent
    except AccountUnusable as error:
        if as_json:
            print_json({"ok": False, "problem": str(error)})
        else:
            click.echo(verdict(str(error), False))
        sys.exit(1)
    words = f"{file} is complete: {entries} answers. Its mark is {mark}"
    if over:
        words = f"{file} is complete, but devices exceeded their parts and spent more than the budget"
    if as_json:
        print_json({"ok": not over, "answers": entries, "mark": mark})
    else:
        click.echo(verdict(words, not over))
    sys.exit(1 if over else 0)


@command.command()
@_FILE
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file; standard output without it.",
)
@JSON_OPTION
def export(file: Path, out: Path | None, as_json: bool) -> None:
    """Write the data that another device of the person, or an officer, may have, as JSON.

    The file has charges, permanent answers and drawn days, but no key and no unsent reports.

    \b
    dither account export me.account -o me.json
    """
    from dither.collection.account import Account

    with Account.open(file) as account:
        text = account.export()
    if out is None:
        click.echo(text)
        return
    with atomic.whole(out, 0o600) as stream:  # only the person may read permanent answers
        stream.write(text + "\n")
    if as_json:  # without a file, the export itself is JSON
        print_json({"file": str(out), "bytes": len(text.encode()) + 1})
