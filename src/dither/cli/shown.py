"""How things are shown: progress on standard error, and only where somebody is looking."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def rows_done(title: str) -> Iterator[Callable[[int], None]]:
    """Count rows as they are done, with a progress line once it takes longer than two seconds."""
    if not sys.stderr.isatty():
        yield lambda rows: None
        return
    from rich.console import Console  # noqa: PLC0415  (only where it is shown)
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    begin, done = time.monotonic(), 0
    bar = Progress(
        SpinnerColumn(),
        TextColumn(title),
        TextColumn("{task.completed:,.0f} rows"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(title, total=None)

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
