"""`dither explain`: the promise of a campaign, in plain words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dither.cli.options import JSON_OPTION
from dither.cli.output import emphasise, print_json
from dither.cli.protection import check_protection
from dither.cli.questions import find_questions

if TYPE_CHECKING:
    from dither.advice.explain import Randomiser


@click.command()
@click.argument("file", required=False)
@click.option("--person", "only", flag_value="person", help="Only the text for the person who answers.")
@click.option(
    "--officer",
    "only",
    flag_value="officer",
    help="Only the text for the officer; without FILE, a page that holds for every campaign.",
)
@click.option(
    "--dpia",
    "only",
    flag_value="dpia",
    help="A data protection impact assessment; entries that the campaign does not state are marked.",
)
@click.option(
    "-o",
    "--out",
    "output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="With --officer or --dpia: write the page, with the campaign's numbers, as .html to print, or .md.",
)
@click.option(
    "--account",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A person's account, whose earlier answers are added.",
)
@click.option(
    "--minimum-batch",
    type=int,
    metavar="N",
    help="Add the promise for reports that are mixed and read only in batches of at least N people.",
)
@click.option("--delta", type=float, default=1e-6, show_default=True, help="The δ of a mixed batch.")
@click.option(
    "--randomiser",
    type=click.Choice(["device", "holder"]),
    help="Who randomises: a person's device, or the holder of a raw file (as in a file of reports).",
)
@click.option(
    "--keep", multiple=True, metavar="COLUMN", help="A column that is not randomised; may be repeated."
)
@click.option("--weight", multiple=True, metavar="COLUMN", help="A column of weights; may be repeated.")
@click.option(
    "--rows",
    type=int,
    metavar="N",
    help="A person has up to N rows, such as waves of a panel, and the promise adds up.",
)
@click.option("--language", default="en", show_default=True, help="The language of the sentences.")
@JSON_OPTION
def command(
    file: str | None,
    only: str | None,
    output: Path | None,
    account: Path | None,
    minimum_batch: int | None,
    delta: float,
    randomiser: Randomiser | None,
    keep: tuple[str, ...],
    weight: tuple[str, ...],
    rows: int | None,
    language: str,
    as_json: bool,
) -> None:
    """Explain FILE, a campaign or a file of reports, for the person who answers and the officer.

    FILE may be the address of a campaign at a collector. Every number is computed from the mechanisms'
    integers. The text for the person has at most 120 words. A file of reports names its columns that were not
    randomised.

    \b
    dither explain survey.toml
    dither explain survey.toml --person --account me.account
    dither explain survey.toml --minimum-batch 1000
    dither explain --officer
    dither explain survey.toml --officer -o officer.html --language de
    dither explain campaign.json --dpia -o dpia.html
    dither explain survey.toml --randomiser holder --keep department --weight size
    dither explain https://city.example/v1/campaigns/4014…
    """
    from dither.advice.explain import explain, officer_page
    from dither.advice.sheet import assessment, officer_sheet
    from dither.collection.account import Account

    page = only in ("officer", "dpia")
    if output is not None and (not page or output.suffix.lower() not in (".html", ".md")):
        raise click.UsageError(
            "expected -o with --officer or --dpia, and a name that ends in .html or .md; change the options"
        )
    if file is None:
        if only != "officer":
            raise click.UsageError(
                "expected a campaign or a file of reports; name one, or give --officer for the page that "
                "holds for all"
            )
        _write(officer_page(language), output, language)
        return
    spent = None
    if account is not None:
        with Account.open(account) as opened:
            spent = opened.ledger.spent
    found = find_questions(file)
    rows = rows or found.rows
    who: Randomiser = randomiser or ("device" if found.kept is None else "holder")
    explanation = explain(
        found.asked,
        spent=spent,
        minimum_batch=minimum_batch,
        delta=delta,
        randomiser=who,
        keep=tuple(name for name in keep or found.kept or () if name not in weight),
        weights=weight,
        **({} if found.contract is None else found.contract.spoken),
        silent=found.gaps("missing"),
        beyond=found.gaps("outside"),
        rows=rows or 1,
        unit="row" if who == "holder" and rows is None else "person",
        language=language,
    )
    check_protection(found.guarantee)
    facts = None if found.contract is None else found.contract.facts(found.published)
    if only == "dpia":
        if facts is None:
            raise click.UsageError(
                "expected a campaign that states name, asker, contact, purpose, begins and ends in its "
                "table [campaign]; complete it, or write one with `dither init`"
            )
        page_text = assessment(facts, explanation, language)
        print_json({"dpia": page_text}) if as_json else _write(page_text, output, language)
        return
    if as_json:
        print_json({"person": explanation.person, "officer": explanation.officer.split("\n")})
        return
    if output is not None:
        name = file if "://" in file else Path(file).name
        _write(officer_sheet(facts, explanation, name, who, language), output, language)
        return
    for name, title in (("person", "For the person asked"), ("officer", "For the officer")):
        if only in (None, name):
            if only is None:
                click.echo(emphasise(title, "bold"))
            text = str(getattr(explanation, name))
            click.echo("\n".join(click.wrap_text(line, 80) for line in text.split("\n")))
            if only is None and name == "person":
                click.echo("")


def _write(page: str, output: Path | None, language: str) -> None:
    """Print a page, or write it to a file: as Markdown, or as HTML that fits on paper."""
    if output is None:
        click.echo(page.rstrip("\n"))
        return
    from dither.foundation.atomic import whole
    from dither.foundation.markup import page_of_markdown

    with whole(output) as stream:
        stream.write(page if output.suffix.lower() == ".md" else page_of_markdown(page, language))
    click.echo(f"wrote {output}", err=True)
