"""Pictures of maps and paths. matplotlib is imported at the first call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dither.core.domains import Paths, Rectangle
from dither.estimation.rounding import thousands
from dither.foundation.arrays import Floats
from dither.foundation.plotting import BLUE, ORANGE, axes_or_new, dress_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dither.estimation.maps.density import DensityMap
    from dither.estimation.maps.flows import Flows
    from dither.estimation.maps.routes import PathDensity


Ends = tuple[float, float]

_MOST_DRAWN: Final = 30  # largest number of drawn paths, so that they can be distinguished


def draw_density(
    density: DensityMap | PathDensity,
    *,
    places: Mapping[str, tuple[float, float]],
    title: str,
    ax: Axes | None,
) -> Axes:
    """Draw a map of probabilities with the names of some places on `ax`, and return the axes."""
    sides = (density.grid.x.low, density.grid.x.high), (density.grid.y.low, density.grid.y.high)
    head = f"{title}\n" * bool(title) + f"n = {thousands(density.n)} {density.counted}, {density.guarantee}"
    ax = draw_cells(density.probabilities, sides, "locations in a cell", ax=ax, aspect="equal")
    for name, (x, y) in places.items():
        ax.plot([x], [y], "o", color="white", markeredgecolor="black", markersize=6)
        reported = ax.annotate(
            name, (x, y), xytext=(7, 0), textcoords="offset points", va="center", fontsize=9
        )
        reported.set_bbox({"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 1.5})
    return dress_axes(ax, title=head, x=density.axes[0], y=density.axes[1])


def draw_cells(
    shares: Floats, sides: tuple[Ends, Ends], what: str, *, aspect: Any = "auto", ax: Axes | None
) -> Axes:
    """Draw the shares of the cells of a grid as colours, with a bar that says which share is which colour."""
    ax = axes_or_new(ax)
    ends = (*sides[0], *sides[1])
    shown = ax.imshow(100.0 * shares.T, origin="lower", extent=ends, aspect=aspect, cmap="viridis", vmin=0.0)
    ax.figure.colorbar(shown, ax=ax, label=f"{what} (%)")
    return ax


_BEND: Final = 0.18  # bend of an arrow
_LEAST_FLOW: Final = 0.03  # smallest flow that is drawn, relative to the largest


def draw_flows(flows: Flows, *, most: int, title: str, ax: Axes | None) -> Axes:
    """Draw the largest flows as arrows with proportional widths; colours show paths that stay in a cell."""
    from dither.estimation.maps.routes import centres

    x, y = flows.grid.x, flows.grid.y
    stay = np.diag(flows.counts).reshape(flows.columns, flows.rows) / flows.paths
    ax = draw_cells(
        stay, ((x.low, x.high), (y.low, y.high)), "paths that end where they begin", aspect="equal", ax=ax
    )
    going = flows.counts - np.diag(np.diag(flows.counts))
    locations = centres(flows.grid, flows.columns, flows.rows)
    order = np.argsort(-going, axis=None, kind="stable")[:most]
    ends = [(int(a), int(b)) for a, b in zip(*np.unravel_index(order, going.shape), strict=True)]
    for a, b in ends:
        if going[a, b] < _LEAST_FLOW * going.max() or going[a, b] <= 0.0:
            continue
        wide = 1.0 + 5.0 * going[a, b] / going.max()
        form = {"arrowstyle": "-|>", "connectionstyle": f"arc3,rad={_BEND}", "shrinkA": 4, "shrinkB": 4}
        ax.annotate(
            "",
            locations[b],
            locations[a],
            arrowprops={**form, "linewidth": wide, "color": ORANGE, "alpha": 0.85},
        )
        across = locations[b] - locations[a]
        # A third of the way along the arc: labels of both directions and of crossing flows do not overlap
        # there.
        aside = (locations[a] + locations[b]) / 2.0 + _BEND * np.array([across[1], -across[0]])
        middle = 0.49 * locations[a] + 0.42 * aside + 0.09 * locations[b]
        text = f"{100.0 * going[a, b] / flows.paths:.2g} %"
        box = {"facecolor": "white", "alpha": 0.85, "edgecolor": "none", "pad": 1.0}
        ax.text(float(middle[0]), float(middle[1]), text, ha="center", va="center", fontsize=8, bbox=box)
    promise = f", {flows.guarantee}" if flows.guarantee is not None else ""
    head = f"{title}\n" * bool(title) + f"n = {thousands(flows.paths)} paths{promise}"
    few = "\narrows: the largest flows, in per cent of all paths"
    return dress_axes(ax, title=head + few, x=flows.axes[0], y=flows.axes[1])


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
    return dress_axes(ax)
