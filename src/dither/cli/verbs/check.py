"""`dither check`: which cells of a file fit their questions, before anything is randomised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from dither.cli.options import JSON_OPTION, Asked, dialect_options, question_options
from dither.cli.output import number_of, print_json, rows_done, table, verdict
from dither.cli.protection import bound_words, check_protection
from dither.data.dialect import Dialect
from dither.data.streams import shown_name

if TYPE_CHECKING:
    from dither.core.domains import Domain
    from dither.data.rows import ColumnFit


_MOST: Final = 1000  # different texts that --show lists
_LONGEST: Final = 36  # characters of a text


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path, allow_dash=True))
@question_options
@dialect_options
@click.option(
    "--show",
    is_flag=True,
    help="List the different texts of cells that do not fit, with their counts: people's values.",
)
@JSON_OPTION
def command(file: Path, asked: Asked, dialect: Dialect, show: bool, as_json: bool) -> None:
    """Count which cells of FILE fit their questions; exit code 1 if some do not.

    Nothing is drawn, written or spent. Counts are exact and derive from the values, so only the holder of
    FILE may see them, and the texts of --show. Rows are counted from 1, below the header.

    \b
    dither check survey.csv --campaign survey.toml
    dither check survey.xlsx --campaign survey.toml --sheet Data --na NA --show
    dither check trips.csv --column minutes --interval 0 180 --decimal , --na NA
    """
    from dither.data.files import check_file, misfit_cells

    domains = asked.domains()
    if show:
        if as_json:
            raise click.UsageError(
                "expected --show or --json, got both; use --json for counts and row numbers"
            )
        raise SystemExit(1 if _show_texts(misfit_cells(file, domains, dialect=dialect)) else 0)
    with rows_done(f"loading {shown_name(file)}") as progress:
        found = check_file(file, domains, dialect=dialect, progress=progress)
    ok = all(fit.fit == fit.cells for fit in found.values())
    if as_json:
        print_json({name: _data(fit) for name, fit in found.items()})
    else:
        rows = [(name, fit.fit, fit.missing, fit.text, fit.outside, fit.cells) for name, fit in found.items()]
        click.echo(table(("column", "fit", "missing", "not a number", "outside", "cells"), rows))
        for name, fit in found.items():
            for line in _lines(name, fit, domains[name]):
                click.echo(line)
        bad = sum(fit.cells - fit.fit for fit in found.values())
        words = "every cell fits" if ok else f"{number_of(bad, 'cell')} of {shown_name(file)} "
        click.echo(verdict(words if ok else words + ("does" if bad == 1 else "do") + " not fit", ok))
        if asked.file is not None or asked.epsilon is not None:
            total = asked.guarantee()
            click.echo(f"in total, a row is promised {bound_words(total)}")
            check_protection(total)
            _print_plan(asked, max((fit.fit for fit in found.values()), default=0))
    raise SystemExit(0 if ok else 1)


def _show_texts(cells: Iterator[tuple[int, str, str, object]]) -> int:
    """Print the distinct texts of cells that do not fit, by frequency, and return their number."""
    counts, rows = Counter[tuple[str, str, str]](), dict[tuple[str, str, str], int]()
    for row, name, kind, cell in cells:
        text = name, kind, "(empty)" if cell is None else repr(cell)
        counts[text] += 1
        rows.setdefault(text, row)
    listed = [
        (f"{name}, {kind}", text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…", count, rows[key])
        for key, count in counts.most_common(_MOST)
        for name, kind, text in [key]
    ]
    click.echo(table(("column", "text", "cells", "first row"), listed))
    if len(counts) > _MOST:
        click.echo(f"and {number_of(len(counts) - _MOST, 'other text')}")
    return len(counts)


def _print_plan(request: Asked, people: int) -> None:
    """Print the expected errors of a campaign if all of these rows answer."""
    from dither.advice.plan import plan

    campaign = request.campaign
    if people > 1:
        click.echo(f"\n{plan(campaign, people)}")


def _data(fit: ColumnFit) -> dict[str, object]:
    rows = {kind: list(first) for kind, first in fit.rows.items()}
    counts = {"missing": fit.missing, "not a number": fit.text, "outside": fit.outside}
    return {"cells": fit.cells, "fit": fit.fit, **counts, "rows": rows}


def _lines(name: str, fit: ColumnFit, domain: Domain) -> list[str]:
    lines = []
    for kind, rows in fit.rows.items():
        more = (
            ", …"
            if {"missing": fit.missing, "not a number": fit.text}.get(kind, fit.outside) > len(rows)
            else ""
        )
        what = f"outside of {domain}" if kind == "outside" else kind
        lines.append(f"{name}, {what}: rows {', '.join(map(str, rows))}{more}")
    if fit.thousands:
        lines.append(
            f"{name}: ambiguous: 3.500 and 3,500 may be 3.5 or 3 500; say --thousands . (or ,) or "
            "--decimal . (or ,)"
        )
    elif fit.decimal:
        lines.append(f"{name}: some cells are numbers with a decimal comma; read them with --decimal ,")
    elif fit.missing and domain.sets and not domain.empty_is_value:
        lines.append(
            f'{name}: if people with an empty cell ticked none, say empty = "none" (--empty none); else who '
            "did not answer is missing"
        )
    elif fit.text:
        lines.append(f"{name}: name words that mean no answer with --na WORD")
    return lines
