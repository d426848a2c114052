"""What verbs print: tables, numbers, JSON, pictures, and how far they are."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@contextmanager
def rows_done(title: str, total: int | None = None, *, unit: str = "rows") -> Iterator[Callable[[int], None]]:
    """Show how many rows or other units are done, from the third second on; a bar if there is a total."""
    if not sys.stderr.isatty():
        yield lambda rows: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    begin, done = time.monotonic(), 0
    bar = Progress(
        SpinnerColumn() if total is None else BarColumn(),
        TextColumn(title),
        TextColumn(f"{{task.completed:,.0f}} {unit}" + ("" if total is None else f" of {total:,}")),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(title, total=total)

    def advance(rows: int) -> None:
        nonlocal done
        done += rows
        if not bar.live.is_started and time.monotonic() - begin > 2.0:
            bar.start()
        bar.update(task, completed=done)

    try:
        yield advance
    finally:
        bar.stop()


@contextmanager
def steps(title: str, total: int) -> Iterator[Callable[[str], None]]:
    """Show a bar that counts steps and names the current one."""
    if not sys.stderr.isatty():
        yield lambda name: None
        return
    from rich import progress
    from rich.console import Console

    columns = (
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("{task.description}"),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        begun = count()

        def step(name: str) -> None:
            bar.update(task, completed=next(begun), description=name)

        yield step


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return an indented table with its head in bold type."""
    from dither.foundation.tables import as_text

    return as_text(head, rows, indent="  ", emphasis=lambda line: click.style(line, bold=True))


def verdict(text: str, ok: bool) -> str:
    """Return text in green if `ok`, in red otherwise."""
    return click.style(text, fg="green" if ok else "red")


def print_json(value: object, *, err: bool = False) -> None:
    """Print a value as one line of JSON; letters such as ε are not escaped."""
    click.echo(json.dumps(value, ensure_ascii=False), err=err)


def number_of(count: int, noun: str) -> str:
    """Return a number with its noun: "1 report", "2 reports"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def save_picture(ax: Axes, file: Path, **more: Any) -> None:
    """Write the figure of some axes to a file, in the format of its ending."""
    ax.figure.canvas.print_figure(file, **more)


def number(value: float, digits: int = 4) -> str:
    """Return a number as text with `digits` significant digits."""
    return f"{value:.{digits}g}"


def probability(share: float) -> str:
    """Return a probability with four decimals, so that those of a column can be compared."""
    return f"{share:.4f}"


def metres(distance: float) -> str:
    """Return a distance in whole metres."""
    return f"{distance:,.0f} m"
