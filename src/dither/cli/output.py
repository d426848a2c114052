"""How things are shown: progress on standard error, and only where somebody is looking.

Colours are written here and taken out again by `click.echo` where the output is not a terminal.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count

import click


@contextmanager
def rows_done(title: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Count rows as they are done, once it takes longer than two seconds; of a known total, with a bar."""
    if not sys.stderr.isatty():
        yield lambda rows: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    begin, done = time.monotonic(), 0
    bar = Progress(
        SpinnerColumn() if total is None else BarColumn(),
        TextColumn(title),
        TextColumn("{task.completed:,.0f} rows" + ("" if total is None else f" of {total:,}")),
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
    """Count steps of unequal length with a bar that names the one at work, where somebody is looking."""
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


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write columns of text: the first to the left, the others to the right."""
    widths = [max(len(line[place]) for line in (head, *rows)) for place in range(len(head))]

    def write(line: Sequence[str]) -> str:
        cells = [
            line[0].ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)),
        ]
        return "  " + "  ".join(cells).rstrip()

    return "\n".join([click.style(write(head), bold=True), *map(write, rows)])


def verdict(text: str, ok: bool) -> str:
    """Colour what was checked: green if it holds, red if it does not."""
    return click.style(text, fg="green" if ok else "red")
