"""The output of verbs: tables, numbers, JSON, pictures, and progress."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class StatusLine:
    """A line at the terminal that shows progress; it is overwritten, and erased at the end."""

    def __init__(self, first: float = 0.0) -> None:
        """Show the line after `first` seconds."""
        self._begin, self._width = time.monotonic(), 0
        self._due = self._begin + first

    def show(self, text: str) -> None:
        """Show a text and the elapsed time, at most ten times a second."""
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + _EVERY
        minutes, seconds = divmod(int(now - self._begin), 60)
        shown = f"{text}  {minutes}:{seconds:02d}"
        room = shutil.get_terminal_size().columns - 1
        line = "".join(letter if letter.isprintable() else "?" for letter in shown)[:room]
        self._write(line.ljust(self._width))
        self._width = len(line)

    def erase(self) -> None:
        """Erase the line."""
        if self._width:
            self._write(" " * self._width + "\r")

    def _write(self, text: str) -> None:
        sys.stderr.write("\r" + text)
        sys.stderr.flush()


_EVERY: Final = 0.1  # seconds between two updates of a line
_BAR: Final = 30  # characters


def _bar(done: int, total: int) -> str:
    full = min(_BAR * done // max(total, 1), _BAR)
    return f"[{'#' * full}{'.' * (_BAR - full)}]"


@contextmanager
def rows_done(title: str, total: int | None = None, *, unit: str = "rows") -> Iterator[Callable[[int], None]]:
    """Show the number of finished rows or other units after three seconds, as a bar if the total is known."""
    if not sys.stderr.isatty():
        yield lambda rows: None
        return
    line, done = StatusLine(2.0), 0

    def advance(rows: int) -> None:
        nonlocal done
        done += rows
        text = f"{title}  {done:,} {unit}"
        line.show(text if total is None else f"{_bar(done, total)} {text} of {total:,}")

    try:
        yield advance
    finally:
        line.erase()


@contextmanager
def steps(total: int) -> Iterator[Callable[[str], None]]:
    """Show a bar that counts steps and names the current one."""
    if not sys.stderr.isatty():
        yield lambda name: None
        return
    line, begun = StatusLine(), count()

    def step(name: str) -> None:
        done = next(begun)
        line.show(f"{_bar(done, total)} {done}/{total}  {name}")

    try:
        yield step
    finally:
        line.erase()


# A random parameter of every style that dither prints, drawn once per process. A label from another person
# cannot contain it, so `dither.cli.main.without_controls` keeps only styles with this parameter.
STYLE_MARK: Final = str(int.from_bytes(os.urandom(5)))
_STYLES: Final = {"bold": 1, "red": 31, "green": 32, "yellow": 33}


def emphasise(text: str, *names: str) -> str:
    """Return text in bold type or in a colour if the terminal supports it."""
    codes = ";".join(str(_STYLES[name]) for name in names)
    return f"\x1b[{STYLE_MARK};{codes}m{text}\x1b[{STYLE_MARK};0m"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return an indented table with its head in bold type."""
    from dither.foundation.tables import as_text

    return as_text(head, rows, indent="  ", emphasis=lambda line: emphasise(line, "bold"))


def verdict(text: str, ok: bool) -> str:
    """Return text in green if `ok`, in red otherwise."""
    return emphasise(text, "green" if ok else "red")


def print_json(value: object, *, err: bool = False) -> None:
    """Print a value as one line of JSON; letters such as ε are not escaped."""
    click.echo(json.dumps(value, ensure_ascii=False), err=err)


def number_of(count: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: "1 report", "2 reports"."""
    return f"{count} {noun}" if count == 1 else f"{count} {plural or noun + 's'}"


def save_picture(ax: Axes, file: Path, **more: Any) -> None:
    """Write the figure of some axes to a file, in the format of its ending."""
    ax.figure.canvas.print_figure(file, **more)


def number(value: float, digits: int = 4) -> str:
    """Return a number as text with `digits` significant digits."""
    return f"{value:.{digits}g}"


def probability(share: float) -> str:
    """Return a probability with four decimals, so that a column is easy to compare."""
    return f"{share:.4f}"


def metres(distance: float) -> str:
    """Return a distance in metres, rounded."""
    return f"{distance:,.0f} m"
