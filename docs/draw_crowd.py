"""Draws pictures/crowd.png: four million people stand where letters are, and say so in noise.

Run it with `python docs/draw_crowd.py`; it takes a minute. Nothing is painted: the places are drawn at random
inside the letters, the middle is what `TraCSC` reports, the right what `dt.maps.density` makes of it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath
from narrow import save_with_portrait
from numpy.typing import NDArray

import dither as dt

PEOPLE, SHOWN, EPSILON = 4_000_000, 20_000, 4
CITY = dt.Rectangle(dt.Interval(0, 2.8), dt.Interval(0, 1))
MARGIN = 0.13
INK, GREY = "#1f4e79", "#808080"


def crowd() -> NDArray[np.float64]:
    """Return places spread evenly inside the letters."""
    letters = TextPath((0, 0), "dither", prop=FontProperties(family="DejaVu Sans", weight="bold"))
    box, generator = letters.get_extents(), np.random.default_rng(1)
    tried = generator.uniform(box.min, box.max, (3 * PEOPLE, 2))
    inside = tried[letters.contains_points(tried)][:PEOPLE]
    assert len(inside) == PEOPLE
    room = np.array([CITY.x.length, CITY.y.length]) - 2 * MARGIN
    return MARGIN + (inside - box.min) / (box.max - box.min) * room


def draw(target: Path) -> None:
    """Ask everybody, and draw who stands where, what they say, and what all of them say together."""
    places = crowd()
    phone = dt.TraCSC(CITY, epsilon=EPSILON, inner=dt.SW)
    reports = phone.perturb(dt.Paths(places, np.arange(PEOPLE + 1)), source=dt.Seeded(2025))
    learned = dt.maps.density(reports, columns=112, rows=40, smoothing=0.004)

    figure = Figure(figsize=(11.0, 1.75), layout="constrained")
    panels = figure.subplots(1, 3)
    for axes, dots in zip(panels, (places, np.asarray(reports.values).reshape(-1, 2)), strict=False):
        axes.plot(*dots[:SHOWN].T, ",", color=INK, alpha=0.5, rasterized=True)
    extent = (0, CITY.x.length, 0, CITY.y.length)
    shown = learned.probabilities.T
    panels[2].imshow(
        shown,
        origin="lower",
        extent=extent,
        cmap="Blues",
        interpolation="bicubic",
        vmax=np.quantile(shown, 0.99),
    )
    titles = ("where people are", "what their phones send", "what the collector learns")
    for axes, title in zip(panels, titles, strict=True):
        axes.set(xlim=extent[:2], ylim=extent[2:], xticks=[], yticks=[], aspect="equal", facecolor="white")
        axes.spines[:].set_color("#c8cdd2")
        axes.set_title(title, color=GREY, fontsize=11)
    save_with_portrait(figure, target, dpi=150, transparent=False, facecolor="none")


if __name__ == "__main__":
    draw(Path(__file__).parent / "pictures" / "crowd.png")
