"""`dither card`: a machine-readable card of a deployment."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import click

from dither.cli.options import DAY, FORCE_OPTION, JSON_OPTION
from dither.cli.output import print_json
from dither.cli.questions import Found, find_questions
from dither.foundation.atomic import refuse_to_overwrite, whole


@click.command()
@click.argument("file", required=False)
@click.option("--asker", help="The name of the collector.")
@click.option("--contact", help="Where people can ask questions, such as an e-mail address.")
@click.option("--purpose", default="", help="The purpose of the answers.")
@click.option("--people", type=int, help="The expected number of people.")
@click.option("--begins", type=DAY, help="The first day.")
@click.option("--ends", type=DAY, help="The last day.")
@click.option(
    "-o", "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write the card to a file."
)
@click.option("--schema", "only_schema", is_flag=True, help="Print the JSON schema of cards, and stop.")
@FORCE_OPTION
@JSON_OPTION
def command(
    file: str | None,
    asker: str | None,
    contact: str | None,
    purpose: str,
    people: int | None,
    begins: date | None,
    ends: date | None,
    out: Path | None,
    only_schema: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Write the card of FILE, a campaign or a specification: the collector, the questions, the promise.

    The card of a signed campaign, a file or an address, is the one that was signed with it.

    \b
    dither card https://city.example/v1/campaigns/4014…
    dither card survey.toml --asker "City of X" --contact data@x.example --people 5000 -o card.json
    dither card --schema
    """
    from dither.advice.card import card, schema

    if only_schema:
        click.echo(json.dumps(schema(), indent=2, ensure_ascii=False))
        return
    if file is None:
        raise click.UsageError(
            "expected FILE, --asker and --contact; give them, or print the schema of cards with --schema"
        )
    found = find_questions(file)
    stated = (asker, contact, purpose, people, begins, ends)
    if found.published is not None:
        made = _signed_card(found, stated)
    else:
        contract = found.contract
        if contract is not None:  # options replace its facts
            asker, contact = asker or contract.asker, contact or contract.contact
            purpose, begins, ends = (
                purpose or contract.purpose,
                begins or contract.begins,
                ends or contract.ends,
            )
        if asker is None or contact is None:
            lacking = [name for name, text in (("--asker", asker), ("--contact", contact)) if text is None]
            raise click.UsageError(
                f"expected {' and '.join(lacking)}; give them, or state them in a table [campaign] of FILE"
            )
        made = card(
            found.asked,
            asker=asker,
            contact=contact,
            purpose=purpose,
            people=people,
            begins=None if begins is None else begins.isoformat(),
            ends=None if ends is None else ends.isoformat(),
            **({} if contract is None else contract.spoken),
        )
    if out is None:
        print_json(made) if as_json else click.echo(json.dumps(made, indent=2, ensure_ascii=False))
        return
    refuse_to_overwrite(out, Path(file), force=force)
    with whole(out) as stream:
        stream.write(json.dumps(made, indent=2, ensure_ascii=False) + "\n")
    print_json({"file": str(out)}) if as_json else click.echo(f"the card is in {out}")


def _signed_card(found: Found, stated: tuple[object, ...]) -> dict[str, Any]:
    """Return the card that was signed with a campaign; compute it for an older campaign."""
    if any(stated):
        raise click.UsageError(
            "expected no options about the collector or the days with a signed campaign because it states "
            "them; leave the options out"
        )
    published: Any = found.published
    signed = published.card is not None
    click.echo("the card is signed" if signed else "the card is not signed: it is computed", err=True)
    made: dict[str, Any] = json.loads(
        published.contract.card if published.card is None else published.card[0]
    )
    return made
