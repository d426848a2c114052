"""`dither central`: a mean, a sum or a count of raw values, released by a trusted curator."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from dither import central
from dither.cli.output import JSON_OPTION, print_json, rows_done
from dither.domains import Interval
from dither.files.registry import table_format


@click.group()
def command() -> None:
    """Release a mean, a sum or a count from raw values that a trusted curator holds.

    \b
    dither central mean salaries.csv --column salary --interval 0 300000 --epsilon 1
    """


def _release(name: str) -> None:
    told = (
        f"Release the {name} of a column: pure ε for one row added or removed.\n\n\b\n"
        f"dither central {name} salaries.csv --column salary --interval 0 300000 --epsilon 1"
    )

    @command.command(name, help=told)
    @click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
    @click.option("--column", required=True, help="The column with one value per person.")
    @click.option(
        "--interval", nargs=2, type=float, required=True, metavar="LOW HIGH", help="The public bounds."
    )
    @click.option("--epsilon", type=float, required=True, help="The budget ε of this release.")
    @JSON_OPTION
    def release(
        file: Path, column: str, interval: tuple[float, float], epsilon: float, as_json: bool
    ) -> None:
        domain = Interval(*interval)
        tallied = None
        with rows_done(f"reading {file.name}") as progress:
            for values in _columns(file, column):
                part = central.tally(values, domain)
                tallied = part if tallied is None else tallied + part
                progress(len(values))
        tally: Any = central.tally([], domain) if tallied is None else tallied
        answer = getattr(central, name)(tally, epsilon=epsilon)
        if as_json:
            low, high = answer.interval()
            shown = {"value": answer.value, "low": low, "high": high, "guarantee": str(answer.guarantee)}
            print_json(shown)
        else:
            click.echo(f"{name} of {column}: {answer}")
            click.echo(f"promised: {answer.guarantee}")


def _columns(file: Path, column: str) -> Iterator[list[Any]]:
    """Yield the column in chunks; a cell that is not a number is None, which `central.tally` handles."""
    for chunk in table_format(file).read(file, [column]):
        yield [_number(cell) for cell in chunk.cells(column)]


def _number(cell: Any) -> float | None:
    try:
        return None if cell is None else float(cell)
    except (TypeError, ValueError):
        return None


for _name in ("mean", "sum", "count"):
    _release(_name)
