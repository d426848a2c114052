"""`dither card`: a machine-readable card of a deployment."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dither.atomic import refuse_to_overwrite, whole
from dither.cli.output import FORCE_OPTION, JSON_OPTION, print_json, questions_in


@click.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--asker", help="Who asks.")
@click.option("--contact", help="Where people can ask back.")
@click.option("--purpose", default="", help="What the answers are for.")
@click.option("--people", type=int, help="How many people are asked.")
@click.option("--begins", metavar="DAY", help="The first day, such as 2026-05-01.")
@click.option("--ends", metavar="DAY", help="The last day.")
@click.option(
    "-o", "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write the card to a file."
)
@click.option("--schema", "only_schema", is_flag=True, help="Print the JSON schema of cards, and stop.")
@FORCE_OPTION
@JSON_OPTION
def command(
    file: Path | None,
    asker: str | None,
    contact: str | None,
    purpose: str,
    people: int | None,
    begins: str | None,
    ends: str | None,
    out: Path | None,
    only_schema: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Write the card of FILE, a campaign or a specification: who asks, what, with which promise.

    \b
    dither card survey.toml --asker "City of X" --contact data@x.example --people 5000 -o card.json
    dither card --schema
    """
    from dither.advice.explain import card, schema

    if only_schema:
        click.echo(json.dumps(schema(), indent=2, ensure_ascii=False))
        return
    if file is None or asker is None or contact is None:
        raise click.UsageError("give FILE, --asker and --contact; --schema prints the schema of cards")
    made = card(
        questions_in(file),
        asker=asker,
        contact=contact,
        purpose=purpose,
        people=people,
        begins=begins,
        ends=ends,
    )
    if out is None:
        print_json(made) if as_json else click.echo(json.dumps(made, indent=2, ensure_ascii=False))
        return
    refuse_to_overwrite(out, file, force=force)
    with whole(out) as stream:
        stream.write(json.dumps(made, indent=2, ensure_ascii=False) + "\n")
    print_json({"file": str(out)}) if as_json else click.echo(f"the card is in {out}")
