"""Draw the pictures of trajectories.md, seeded: `python docs/draw_trajectories.py` writes pictures/*.png."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from narrow import save_with_portrait

import dither as dt
from dither.estimation import maps
from dither.foundation.plotting import BLUE, ORANGE, dress_axes

SQUARE = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
FOLDER = Path(__file__).with_name("pictures")


def main() -> None:
    """Write the three pictures."""
    _laws()
    _trips()
    _maps()


def _panels(titles: list[str]) -> tuple[Any, Any]:
    figure, panels = plt.subplots(
        1, len(titles), figsize=(3.1 * len(titles), 4.1), sharey=True, layout="constrained"
    )
    for axes, title in zip(panels, titles, strict=True):
        dress_axes(axes, title=title, x="kilometres east")
        axes.set_aspect("equal")
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        axes.tick_params(labelsize=8)
    panels[0].set_ylabel("kilometres north")
    return figure, panels


def _save(figure: Any, name: str) -> None:
    save_with_portrait(figure, FOLDER / name, dpi=100)
    plt.close(figure)


def _laws() -> None:
    truth = (0.75, 0.6)
    kinds = {
        "TraCS-C, ε = 4": dt.TraCSC,
        "TraCS-D, ε = 4": dt.TraCSD,
        "planar Laplace, ε = 4": dt.PlanarLaplace,
    }
    figure, panels = _panels(list(kinds))
    for axes, kind in zip(panels, kinds.values(), strict=True):
        told = kind(SQUARE, epsilon=4).perturb(np.full((1500, 1, 2), truth), source=dt.Seeded(1)).values
        axes.plot(
            *told.reshape(-1, 2).T, ".", markersize=2, color=ORANGE, clip_on=False, label="1\u202f500 reports"
        )
        axes.plot(*truth, "o", color=BLUE, label="the place")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    _save(figure, "laws.png")


def _trips() -> None:
    time = np.linspace(0, 1, 12)
    trip = np.stack([0.15 + 0.7 * time, 0.3 + 0.35 * np.sin(3 * time)], axis=1)
    figure, panels = _panels(["TraCS-C, ε = 8 a location", "TraCS-D, ε = 8 a location"])
    for axes, kind in zip(panels, (dt.TraCSC, dt.TraCSD), strict=True):
        maps.draw_before_and_after(
            trip, kind(SQUARE, epsilon=8).perturb(trip, source=dt.Seeded(3)).values, ax=axes
        )
    _save(figure, "trips.png")


def _maps() -> None:
    random = np.random.default_rng(1)
    towns = np.where(random.random((40_000, 1)) < 0.6, (0.3, 0.7), (0.75, 0.3))
    places = (towns + random.normal(0, 0.08, (40_000, 2))).clip(0, 1).reshape(-1, 8, 2)
    reports = dt.TraCSC(SQUARE, epsilon=3, inner=dt.SW).perturb(places, source=dt.Seeded(2))
    counted = [
        np.histogram2d(*points.reshape(-1, 2).T, 16, [[0, 1], [0, 1]])[0]
        for points in (places, reports.values)
    ]
    shown = [counted[0] / 40_000, counted[1] / 40_000, maps.density(reports, 16, 16).probabilities]
    figure, panels = _panels(["where people are", "where reports say", "estimated from reports"])
    for axes, shares in zip(panels, shown, strict=True):
        image = axes.imshow(shares.T, origin="lower", extent=(0, 1, 0, 1), vmin=0, vmax=shown[0].max())
    figure.colorbar(image, ax=panels, shrink=0.8, label="share of the places in a cell")
    _save(figure, "density.png")


if __name__ == "__main__":
    main()
