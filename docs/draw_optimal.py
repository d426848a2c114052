"""Draw solved mechanisms: `python docs/draw_optimal.py` writes pictures/optimal-*.png (extra: plot)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from narrow import save_with_portrait

import dither as dt
from dither.foundation.plotting import BLUE, COLOURS, GREY, ORANGE, dress_axes

PICTURES = Path(__file__).with_name("pictures")
UNIT, INPUT = dt.Interval(0, 1), 0.3
REST = "#9fb4c7"  # what a report has under every input
KINDS: dict[str, dict[str, Any]] = {
    "worst absolute error": {"loss": "absolute"},
    "worst squared error": {"loss": "squared"},
    "average absolute error": {"loss": "absolute", "criterion": "average"},
    "unbiased, worst variance": {"unbiased": True},
}
BUDGETS = (1.0, 2.0, 4.0)

matplotlib.rcParams.update({"font.size": 8})


def bars(axes: Any, mechanism: dt.Optimal) -> None:
    """Draw the probability of reports near each number: what every input shares, and the window's part."""
    low, high = mechanism.support
    edges = np.linspace(low - 1e-9, high + 1e-9, 61)
    places, masses = mechanism.atoms(INPUT)
    _, others = mechanism.atoms(UNIT.from_unit(np.linspace(0, 1, 201)))
    base = others.min(axis=0)  # what a report has under every input
    shared = np.histogram(places, edges, weights=base)[0]
    whole = np.histogram(places, edges, weights=masses)[0]
    step = edges[1] - edges[0]
    axes.stairs(whole, edges, fill=True, color=ORANGE)
    axes.stairs(shared, edges, fill=True, color=REST)
    axes.axvline(INPUT, color=GREY, linestyle=":", linewidth=1)
    axes.set_xlim(min(low, 0) - step, max(high, 1) + step)


def shapes(name: str, size: tuple[float, float], columns: int) -> None:
    """Draw each kind at each budget, in rows of `columns` panels."""
    figure = Figure(figsize=size, layout="constrained")
    cases = [(title, kind, epsilon) for title, kind in KINDS.items() for epsilon in BUDGETS]
    grid = figure.subplots(len(cases) // columns, columns)
    for axes, (title, kind, epsilon) in zip(grid.flat, cases, strict=True):
        mechanism = dt.Optimal(UNIT, epsilon=epsilon, **kind)
        bars(axes, mechanism)
        numbers = np.unique(mechanism.book.values).size
        different = "different " if columns > 2 else ""
        dress_axes(axes, title=f"{title}\nε = {epsilon:g}, {numbers} {different}reports")
    for axes in grid[-1]:
        axes.set_xlabel("report")
    for axes in grid[:, 0]:
        axes.set_ylabel("probability")
    head = f"Best possible reports of the value {INPUT} (dotted)", "grey: what every value shares"
    figure.suptitle(("; " if columns > 2 else "\n").join(head))
    figure.savefig(PICTURES / name, dpi=100, metadata={"Software": None})


def errors() -> None:
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    x = np.linspace(0, 1, 401)
    epsilon = 2
    for mechanism, name, colour in (
        (dt.Optimal(UNIT, epsilon=epsilon), "Optimal: best in the worst case", ORANGE),
        (dt.OGPM(UNIT, epsilon=epsilon), "OGPM", BLUE),
        (dt.SW(UNIT, epsilon=epsilon).truncated(), "SW, truncated", COLOURS[2]),
    ):
        left.plot(x, mechanism.error("absolute", x), color=colour, label=name)
    dress_axes(left, title="Error of one report, ε = 2", x="the person's value", y="expected absolute error")
    for mechanism, name, colour in (
        (
            dt.Optimal(UNIT, epsilon=epsilon, unbiased=True),
            "Optimal, unbiased: best in the worst case",
            ORANGE,
        ),
        (dt.Podium(UNIT, epsilon=epsilon), "Podium", BLUE),
        (dt.Hybrid(UNIT, epsilon=epsilon), "Hybrid", COLOURS[2]),
    ):
        right.plot(x, mechanism.variance(x), color=colour, label=name)
    dress_axes(right, title="Variance of one unbiased report, ε = 2", x="the person's value", y="variance")
    for axes in (left, right):
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False)
    save(figure, "optimal-errors.png")


def save(figure: Figure, name: str) -> None:
    save_with_portrait(figure, PICTURES / name, dpi=100, metadata={"Software": None})


if __name__ == "__main__":
    shapes("optimal-shapes.png", (9, 8), 3)
    shapes("optimal-shapes-portrait.png", (4.4, 10.5), 2)
    errors()
