"""`dither reproduce`: the papers' figures and tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from dither.cli.options import JSON_OPTION
from dither.cli.output import emphasise, print_json, steps

if TYPE_CHECKING:
    from dither_papers import Figure, Outcome


@click.command()
@click.argument("names", metavar="[PAPER] [ITEM]...", nargs=-1)
@click.option("--quick", is_flag=True, help="Use fewer repetitions: minutes instead of an hour.")
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with the papers' data sets; figures that need a missing file are skipped.",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reproduction"),
    show_default=True,
    help="The folder for tables, pictures and report.html; existing files are kept.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["png", "pdf", "svg"]),
    default="png",
    show_default=True,
    help="Format of the pictures; PDF and SVG keep text and come in addition to the PNG of 300 dpi.",
)
@click.option(
    "--style",
    type=click.Choice(["screen", "paper"]),
    default="screen",
    show_default=True,
    help="`paper`: as wide as a column, 8-point type, no title.",
)
@click.option("--list", "only_list", is_flag=True, help="List the figures and tables, and stop.")
@JSON_OPTION
def command(
    names: tuple[str, ...],
    quick: bool,
    data: Path | None,
    out: Path,
    form: Literal["png", "pdf", "svg"],
    style: Literal["screen", "paper"],
    only_list: bool,
    as_json: bool,
) -> None:
    """Reproduce the figures and tables of PAPER, or of all papers.

    PAPER is ogpm, podium, jrr, tracs, classifiers or add_remove. An ITEM is a figure or a table by its number
    in the paper or in the dissertation, with or without PAPER.

    Each item becomes a tidy CSV and a picture, or a table in LaTeX, with up to three versions: as published,
    as computed by the authors' code, and corrected. The exit code is 1 if a number is not within its
    tolerance.

    \b
    dither reproduce --list
    dither reproduce podium --quick -o out
    dither reproduce ogpm "figure 8" "figure 12" --data data
    dither reproduce "figure 5.8" --format pdf --style paper
    """
    from dither.foundation.tables import as_text
    from dither_papers import PAPERS, Setting, figures, run

    chosen = figures(*names)
    if only_list and as_json:
        rows = [
            {
                "paper": figure.paper,
                "name": figure.name,
                "title": figure.title,
                "why not": figure.why_not or None,
            }
            for figure in chosen
        ]
        print_json(rows)
        return
    if only_list:
        for paper in dict.fromkeys(figure.paper for figure in chosen):
            click.echo(emphasise(f"{paper}  {PAPERS[paper]}", "bold"))
            lines = [
                (f"  {figure.name}", figure.title + (f" [{figure.why_not}]" if figure.why_not else ""))
                for figure in chosen
                if figure.paper == paper
            ]
            click.echo(as_text((), lines, align="ll"))
        return

    with steps(len(chosen)) as step:

        def tell(figure: Figure, outcome: Outcome | None) -> None:
            if outcome is None:
                step(f"{figure.paper} {figure.name}")
            elif not as_json:
                click.echo(f"{figure.paper:11} {figure.name:14} {_verdict(outcome)}")

        outcomes = run(chosen, out, Setting(quick=quick, data=data, form=form, style=style), tell)
    if as_json:
        found = [
            {
                "paper": outcome.figure.paper,
                "name": outcome.figure.name,
                "skipped": outcome.skipped or None,
                "met": sum(ok for ok, _ in outcome.checks),
                "missed": [words for ok, words in outcome.checks if not ok],
                "not computed": outcome.unchecked or None,
            }
            for outcome in outcomes
        ]
        print_json(found)
    else:
        click.echo(f"report: {out / 'report.html'}")
    raise SystemExit(0 if all(outcome.ok for outcome in outcomes) else 1)


def _verdict(outcome: Outcome) -> str:
    if outcome.skipped:
        return f"skipped: {outcome.skipped}"
    missed = [words for ok, words in outcome.checks if not ok]
    total = len(outcome.checks)
    count = f"{len(outcome.rows)} rows, {total - len(missed)} of {total} numbers as expected"
    if not total:
        count = f"{len(outcome.rows)} rows, {'tabulated' if outcome.figure.draw is None else 'drawn'}"
    if outcome.unchecked:
        count += f"; {outcome.unchecked}"
    return count + "".join(f"\n       MISSED {words}" for words in missed)
