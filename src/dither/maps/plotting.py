"""Pictures of maps and paths. matplotlib is loaded when called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dither.domains import Paths, Rectangle
from dither.mechanisms.plotting import axes_or_new

if TYPE_CHECKING:
    from dither.maps.density import Density

_MOST_DRAWN: Final = 30  # paths, so that they can be told apart


def draw_density(density: Density, axes: Any = None) -> Any:
    """Draw a map of probabilities, and give the axes back."""
    axes = axes_or_new(axes)
    x, y = density.grid.x, density.grid.y
    shown = axes.imshow(
        100.0 * density.probabilities.T,
        origin="lower",
        extent=(x.low, x.high, y.low, y.high),
        aspect="equal",
        cmap="viridis",
    )
    axes.figure.colorbar(shown, ax=axes, label="% of locations in a cell")
    return axes


def draw_before_and_after(
    true: object, noisy: object, area: Rectangle | None = None, axes: Any = None
) -> Any:
    """Draw true paths and what is told instead, joined place by place: for your own paths only."""
    axes = axes_or_new(axes)
    first = Paths.of(true)
    second = first.like(np.asarray(Paths.of(noisy).points))
    for index in range(min(len(first), _MOST_DRAWN)):
        before, after = first[index], second[index]
        axes.plot(
            *np.stack([before, after], axis=1).transpose(2, 1, 0), color="0.85", linewidth=0.6, zorder=1
        )
        once = ("before", "after") if index == 0 else (None, None)
        axes.plot(*after.T, "-o", color="C1", markersize=2.5, linewidth=0.8, alpha=0.7, label=once[1])
        axes.plot(*before.T, "-o", color="C0", markersize=3, linewidth=1.6, label=once[0])
    if area is not None:
        axes.set_xlim(area.x.low, area.x.high)
        axes.set_ylim(area.y.low, area.y.high)
    axes.legend(frameon=False)
    return axes
