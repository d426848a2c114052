"""`dither central`: a mean, a sum or a count of raw values, released by a trusted curator."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click

from dither.cli.options import JSON_OPTION, dialect_options
from dither.cli.output import print_json, rows_done
from dither.cli.protection import check_protection
from dither.data.dialect import Dialect

_MISSING: Final = {
    "middle": "cells that are not numbers count as the middle of the interval (--missing drop: not at all)",
    "drop": "cells that are not numbers are left out",
}


@click.group()
def command() -> None:
    """Release a mean, a sum or a count from raw values that a trusted curator holds.

    \b
    dither central mean salaries.csv --column salary --interval 0 300000 --epsilon 1
    """


def _release(name: str) -> None:
    text = (
        f"Release the {name} of a column: pure ε for one row added or removed.\n\n"
        "A number outside the interval counts as its nearer end. A cell that is not a number, or is empty, "
        "counts as the middle of the interval, or not at all with --missing drop. How many such cells there "
        "are is not printed, because it is private.\n\n\b\n"
        f"dither central {name} salaries.csv --column salary --interval 0 300000 --epsilon 1"
    )

    @command.command(name, help=text)
    @click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
    @click.option("--column", required=True, help="The column with one value per person.")
    @click.option(
        "--interval", nargs=2, type=float, required=True, metavar="LOW HIGH", help="The public bounds."
    )
    @click.option("--epsilon", type=float, required=True, help="The budget ε of this release.")
    @click.option(
        "--missing",
        type=click.Choice(list(_MISSING)),
        default="middle",
        show_default=True,
        help="A cell that is not a number counts as the middle of the interval, or is left out.",
    )
    @dialect_options
    @JSON_OPTION
    def release(
        file: Path,
        column: str,
        interval: tuple[float, float],
        epsilon: float,
        missing: str,
        dialect: Dialect,
        as_json: bool,
    ) -> None:
        from dither import privacy
        from dither.core.domains import Interval
        from dither.extensions import central

        domain = Interval(*interval)
        check_protection(privacy.Guarantee(privacy.Pure(epsilon)))
        tallied = None
        with rows_done(f"loading {file.name}") as progress:
            for values in _columns(file, column, dialect, drop=missing == "drop"):
                part = central.Tally.of(values, domain)
                tallied = part if tallied is None else tallied + part
                progress(len(values))
        tally: Any = central.Tally.of([], domain) if tallied is None else tallied
        answer = getattr(central, name)(tally, epsilon=epsilon)
        if as_json:
            low, high = answer.interval()
            shown = {"value": answer.value, "low": low, "high": high, "guarantee": str(answer.guarantee)}
            shown["missing"] = missing
            print_json(shown)
        else:
            click.echo(f"{name} of {column}: {answer}")
            click.echo(f"promised: {answer.guarantee}")
            click.echo(_MISSING[missing])


def _columns(file: Path, column: str, dialect: Dialect, *, drop: bool) -> Iterator[list[float]]:
    """Yield the column in chunks; a cell that is not a number is NaN, the middle for `central.tally`.

    Dropping a row depends only on that row, so one more row still changes one record.
    """
    from dither.data.formats.format import table_format

    for chunk in table_format(file).read(file, [column], dialect):
        absent = chunk.absent(column).tolist()
        numbers = [
            math.nan if gone else dialect.number(cell)
            for gone, cell in zip(absent, chunk.cells(column), strict=True)
        ]
        yield [number for number in numbers if not math.isnan(number)] if drop else numbers


for _name in ("mean", "sum", "count"):
    _release(_name)
