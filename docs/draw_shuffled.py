"""Draws pictures/shuffled.png: the promise of a person whose report is one of n, and how it lasts over days.

Run it with `python docs/draw_shuffled.py`; it takes ten seconds. Every number is `dt.shuffled`'s.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from narrow import save_with_portrait

import dither as dt
from dither.foundation.plotting import BLUE, GREY, ORANGE, dress_axes
from dither.foundation.plotting import COLOURS as HOUSE

DELTA, PEOPLE = 1e-6, 1_000_000
COLOURS = {4.0: HOUSE[2], 2.0: ORANGE, 1.0: BLUE}


def draw(target: Path) -> None:
    """Draw the central ε against the number of people, and against the number of days."""
    figure = Figure(figsize=(11.0, 3.9), layout="constrained")
    left, right = figure.subplots(1, 2)
    people = np.logspace(2, 8, 25).astype(np.int64)
    for epsilon, colour in COLOURS.items():
        crowd = [dt.shuffled(epsilon, n=int(n), delta=DELTA).epsilon for n in people]
        left.loglog(people, crowd, color=colour, linewidth=2, label=f"ε = {epsilon:g} on the device")
        left.axhline(epsilon, color=colour, linestyle=":", linewidth=1)
    left.text(1e8, 4.9, "dotted: ε if the reports carry names", color=GREY, ha="right", fontsize=9)
    left.set(xlim=(1e2, 1e8), ylim=(1e-4, 10))
    dress_axes(
        left,
        title="One shuffled report each, δ = 10⁻⁶",
        x="people whose reports are shuffled",
        y="central ε",
    )
    left.legend(loc="lower left", frameon=False, fontsize=9)
    days = [1, 7, 30, 90, 180, 365]
    once = dt.shuffled(2.0, n=PEOPLE, delta=DELTA).epsilon
    together = [dt.shuffled(2.0, n=PEOPLE, delta=DELTA, times=day).epsilon for day in days]
    right.semilogy(
        days, together, "o-", color=COLOURS[2.0], linewidth=2, label="a new answer every day, not linked"
    )
    right.plot(
        days, np.full(len(days), once), color=COLOURS[1.0], linewidth=2, label="one answer a year (dt.Once)"
    )
    right.plot(
        days,
        2.0 * np.array(days),
        color=GREY,
        linestyle=":",
        label="if the reports carry names: ε = 2 per day",
    )
    right.set(ylim=(3e-3, 3e3), xlim=(0, 365))
    dress_axes(
        right,
        title="ε = 2 on the device, a million people, δ = 10⁻⁶",
        x="days of asking",
        y="central ε for all days together",
    )
    right.legend(loc="upper right", bbox_to_anchor=(1.0, 0.72), frameon=False, fontsize=9)
    save_with_portrait(figure, target, dpi=130)


if __name__ == "__main__":
    draw(Path(__file__).parent / "pictures" / "shuffled.png")
