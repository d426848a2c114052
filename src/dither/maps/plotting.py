"""Pictures of maps and paths. matplotlib is loaded when called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from dither.domains import Paths, Rectangle
from dither.plotting import BLUE, ORANGE, axes_or_new, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dither.maps.density import DensityMap

_MOST_DRAWN: Final = 30  # paths, so that they can be told apart


def draw_density(density: DensityMap, *, ax: Axes | None = None) -> Axes:
    """Draw a map of probabilities on `ax`, and return the axes."""
    ax = axes_or_new(ax)
    x, y = density.grid.x, density.grid.y
    shown = ax.imshow(
        100.0 * density.probabilities.T,
        origin="lower",
        extent=(x.low, x.high, y.low, y.high),
        aspect="equal",
        cmap="viridis",
    )
    ax.figure.colorbar(shown, ax=ax, label="% of locations in a cell")
    return ax


def draw_before_and_after(
    true: object, noisy: object, area: Rectangle | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw true paths and their reports on `ax`, joined place by place, and return the axes.

    The picture shows the true places: draw your own paths only. At most 30 paths are drawn.
    """
    ax = axes_or_new(ax)
    first = Paths.of(true)
    second = first.like(np.asarray(Paths.of(noisy).points))
    for index in range(min(len(first), _MOST_DRAWN)):
        before, after = first[index], second[index]
        ax.plot(*np.stack([before, after], axis=1).transpose(2, 1, 0), color="0.85", linewidth=0.6, zorder=1)
        once = ("before", "after") if index == 0 else (None, None)
        ax.plot(*after.T, "-o", color=ORANGE, markersize=2.5, linewidth=0.8, alpha=0.7, label=once[1])
        ax.plot(*before.T, "-o", color=BLUE, markersize=3, linewidth=1.6, label=once[0])
    if area is not None:
        ax.set_xlim(area.x.low, area.x.high)
        ax.set_ylim(area.y.low, area.y.high)
    ax.legend(frameon=False)
    return styled(ax)
