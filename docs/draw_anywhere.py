"""Draw points and their window on a city: `python docs/draw_anywhere.py` writes pictures/anywhere.png."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from narrow import save_with_portrait

import dither as dt
from dither.foundation.plotting import BLUE, GREY, ORANGE, dress_axes

PICTURE = Path(__file__).with_name("pictures") / "anywhere.png"
CITY = dt.Rectangle(dt.Interval(0, 20), dt.Interval(0, 15))  # kilometres
PLACE = (13.0, 5.5)
EPSILON = 4

matplotlib.rcParams.update({"font.size": 8})


def residents(count: int = 6_000) -> np.ndarray:
    """Return a made-up public map: two banks of a river, which nobody lives on, and hills of people."""
    rng = np.random.default_rng(5)
    hills = np.array([[6, 9], [9, 11], [13, 5], [15, 8], [4, 4]])
    widths = np.array([1.2, 2.0, 1.4, 2.2, 0.8])
    chosen = rng.choice(5, 4 * count, p=[0.3, 0.25, 0.2, 0.15, 0.1])
    places = hills[chosen] + widths[chosen, None] * rng.normal(size=(4 * count, 2))
    river = 3.0 + 0.45 * places[:, 0] + 1.2 * np.sin(places[:, 0] / 2.5)
    kept = (
        (np.abs(places[:, 1] - river) > 0.5)
        & (places > 0.2).all(axis=1)
        & (places < [19.8, 14.8]).all(axis=1)
    )
    return places[kept][:count]


def draw() -> None:
    """Draw a uniform grid, points fitted to a public map, and where each number is read."""
    public = residents()
    figure = Figure(figsize=(9, 3.9), layout="constrained")
    designs = {
        "people anywhere: a grid for places and maps": dt.Optimal(CITY, epsilon=EPSILON),
        "fitted to a public map": dt.Optimal(
            CITY, epsilon=EPSILON, purpose="places", prior=(public, "a made-up census")
        ),
    }
    for axes, (title, design) in zip(figure.subplots(1, 2), designs.items(), strict=True):
        points, window = design.question.kernel.selector.places(), design.question.kernel.window
        near = design.question.kernel.numbers(np.array([PLACE]))[0][0]
        axes.scatter(*public.T, s=1, color="#d8dee4", zorder=0)
        axes.scatter(*points.T, s=10, color=BLUE, label="points")
        axes.scatter(*points[near].T, s=24, color=ORANGE, label="likelier, e^ε times each")
        axes.scatter(*PLACE, marker="x", s=60, color="black", label="the true place")
        axes.set(xlim=(0, 20), ylim=(0, 15), aspect="equal")
        error = float(design.error([PLACE])[0])
        said = f"{title}\n{window.cells} points, {window.width} likelier; error here {error:.1f} km"
        dress_axes(axes, title=said, x="kilometres east", y="kilometres north")
    axes.legend(loc="upper right", fontsize=7)
    figure.text(0.5, -0.02, "grey: where people live", ha="center", color=GREY)
    save_with_portrait(figure, PICTURE, dpi=130, bbox_inches="tight")


if __name__ == "__main__":
    draw()
