"""Processor seconds as minima over interleaved repetitions: machines are noisy, ratios less so."""

from __future__ import annotations

import time
from collections.abc import Callable

from dither.foundation.tables import as_text


def minima(tasks: dict[str, Callable[[], object]], repetitions: int = 7) -> dict[str, float]:
    """Give the least processor time of each task; the tasks take turns."""
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(repetitions):
        for name, task in tasks.items():
            begin = time.process_time()
            task()
            best[name] = min(best[name], time.process_time() - begin)
    return best


def table(rows: list[tuple[str, float, float | None]], unit: str) -> str:
    """Return name, ratio and goal in columns; a missed goal is marked."""
    lines = [
        (name, f"{ratio:.2f}", "" if goal is None else f"{goal:g}" + ("" if ratio <= goal else "  MISSED"))
        for name, ratio, goal in rows
    ]
    return as_text(["", f"÷ {unit}", "goal"], lines, align="lrl")
