"""`dither explain`: what a campaign promises, in plain words."""

from __future__ import annotations

from pathlib import Path

import click

from dither.cli.output import JSON_OPTION, print_json, questions_in


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--person", "only", flag_value="person", help="Only the text for the person who is asked.")
@click.option("--officer", "only", flag_value="officer", help="Only the text for the officer.")
@click.option(
    "--account",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A person's account: what was given before is added.",
)
@click.option(
    "--minimum-batch",
    type=int,
    metavar="N",
    help="Reports are mixed and read only in batches of at least N people: add that promise.",
)
@click.option("--delta", type=float, default=1e-6, show_default=True, help="The δ of a mixed batch.")
@JSON_OPTION
def command(
    file: Path,
    only: str | None,
    account: Path | None,
    minimum_batch: int | None,
    delta: float,
    as_json: bool,
) -> None:
    """Explain FILE, a campaign, a specification or a file of reports, for the person asked and the officer.

    Every number is computed from the mechanisms' integers. The text for the person has at most 120 words.

    \b
    dither explain survey.toml
    dither explain survey.toml --person --account me.account
    dither explain survey.toml --minimum-batch 1000
    """
    from dither.account import Account
    from dither.advice.explain import explain

    spent = None
    if account is not None:
        with Account.open(account) as opened:
            spent = opened.ledger.spent
    told = explain(questions_in(file), spent=spent, minimum_batch=minimum_batch, delta=delta)
    if as_json:
        print_json({"person": told.person, "officer": told.officer.split("\n")})
        return
    for name, title in (("person", "For the person asked"), ("officer", "For the officer")):
        if only in (None, name):
            if only is None:
                click.echo(click.style(title, bold=True))
            text = str(getattr(told, name))
            click.echo("\n".join(click.wrap_text(line, 80) for line in text.split("\n")))
            if only is None and name == "person":
                click.echo("")
