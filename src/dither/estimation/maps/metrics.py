"""Distances between maps and between paths, and pictures of maps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from dither.core.domains import Circle, Paths, Rectangle, Sphere
from dither.core.question.paths import PathQuestion
from dither.core.reports import Reports
from dither.errors import InvalidParameter, Mismatch, found
from dither.estimation.estimate import thousands
from dither.foundation.arrays import Floats, Mask
from dither.foundation.plotting import BLUE, ORANGE, axes_or_new, dress_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dither.estimation.maps.density import DensityMap, Flows


AnyPaths = Any  # reports of a path mechanism, `Paths`, or what `Paths.of` takes


def average_error(true: AnyPaths, noisy: AnyPaths, *, sphere: Sphere | None = None) -> float:
    """Return the mean distance of noisy places to the true ones, averaged within paths, then over paths.

    With a `sphere`, places are longitudes and latitudes, and the error is in the sphere's unit: metres.
    [Thesis, Sec. 6.3.1]

    >>> average_error([(0, 0), (1, 1)], [(0, 3), (1, 5)])
    3.5
    """
    first, second = _alike(true, noisy)
    return _by_path(first, distances(first, second, sphere=sphere))


def distances(true: AnyPaths, noisy: AnyPaths, *, sphere: Sphere | None = None) -> Floats:
    """Return the distance of each noisy place to the true one."""
    first, second = _alike(true, noisy)
    if sphere is not None:
        return sphere.distance(first.points, second.points)
    gap = second.points - first.points
    return np.asarray(np.hypot(gap[:, 0], gap[:, 1]), dtype=np.float64)


def within_range(true: AnyPaths, noisy: AnyPaths, radius: float, *, sphere: Sphere | None = None) -> float:
    """Return the share of reported places within a radius of the truth: range-query preservation.

    [Thesis, Sec. 6.3.2, RQP]
    """
    if not radius >= 0.0:
        raise InvalidParameter(f"a radius is a number from 0 upwards, not {found(radius)}")
    first, second = _alike(true, noisy)
    return _by_path(first, (distances(first, second, sphere=sphere) <= radius).astype(np.float64))


def hotspots(places: AnyPaths, share: float = 0.2) -> Floats:
    """Return the most frequent of the different places: a share of them, at least one."""
    if not 0.0 < share <= 1.0:
        raise InvalidParameter(f"a share is a number above 0 and at most 1, not {found(share)}")
    different, counts = np.unique(_paths(places).points, axis=0, return_counts=True)
    kept = max(1, math.floor(share * len(different)))
    return np.asarray(different[np.argsort(-counts, kind="stable")[:kept]])


def hotspots_lost(true: AnyPaths, noisy: AnyPaths, spots: object) -> float:
    """Return how many visits to hotspots a path loses on average: those reported elsewhere than at a hotspot.

    [Thesis, Sec. 6.3.2, CD]: #{τ in H} − #{τ in H and τ′ in H}.
    """
    first, second = _alike(true, noisy)
    was, told = _among(first.points, spots), _among(second.points, spots)
    return float(np.mean(np.add.reduceat((was & ~told).astype(np.float64), first.offsets[:-1])))


def hotspots_miscounted(true: AnyPaths, noisy: AnyPaths, spots: object) -> float:
    """Return the absolute error of the number of visits to hotspots, averaged over paths: CD as coded.

    |#{τ′ in H} − #{τ in H}|: visits that are added and visits that are lost cancel.
    """
    first, second = _alike(true, noisy)
    gained = _among(second.points, spots).astype(np.int64) - _among(first.points, spots)
    return float(np.mean(np.abs(np.add.reduceat(gained, first.offsets[:-1]))))


def direction_error(true: object, noisy: object) -> float:
    """Return the mean angle between true and noisy directions, in radians, the short way round."""
    first, second = (np.asarray(angles, dtype=np.float64) for angles in (true, noisy))
    if first.shape != second.shape:
        raise Mismatch("there are as many noisy directions as true ones")
    return float(Circle().distance(first, second).mean())


def _among(places: Floats, spots: object) -> Mask:
    """Return whether each place equals one of the hotspots."""
    rows = np.ascontiguousarray(np.asarray(spots, dtype=np.float64).reshape(-1, 2)) + 0.0
    return np.isin(_whole(np.ascontiguousarray(places) + 0.0), _whole(rows))


def _whole(rows: Floats) -> NDArray[np.void]:
    return np.ascontiguousarray(rows).view([("", rows.dtype)] * 2).reshape(-1).view("V16")


def _by_path(paths: Paths, values: Floats) -> float:
    sums = np.add.reduceat(values, paths.offsets[:-1])
    return float(np.mean(sums / paths.lengths))


def _alike(true: AnyPaths, noisy: AnyPaths) -> tuple[Paths, Paths]:
    first, second = _paths(true), _paths(noisy)
    if len(first.points) != len(second.points):
        raise Mismatch(f"{len(second.points)} noisy places do not match {len(first.points)} true ones")
    if not len(first):
        raise InvalidParameter("there are no paths to compare")
    return first, first.like(second.points)


def _paths(places: AnyPaths) -> Paths:
    if isinstance(places, Reports):
        if not isinstance(places.question, PathQuestion):
            raise InvalidParameter(
                f"reports of a path mechanism were expected, not of {places.question.name}"
            )
        return places.question.paths(places)
    return Paths.of(places)


_MOST_DRAWN: Final = 30  # paths, so that they can be told apart


def draw_density(
    density: DensityMap, *, places: Mapping[str, tuple[float, float]], title: str, ax: Axes | None
) -> Axes:
    """Draw a map of probabilities with the names of some places on `ax`, and return the axes."""
    sides = (density.grid.x.low, density.grid.x.high), (density.grid.y.low, density.grid.y.high)
    head = f"{title}\n" * bool(title) + f"n = {thousands(density.n)} locations, {density.guarantee}"
    ax = draw_cells(density.probabilities, sides, "locations in a cell", ax=ax, aspect="equal")
    for name, (x, y) in places.items():
        ax.plot([x], [y], "o", color="white", markeredgecolor="black", markersize=6)
        told = ax.annotate(name, (x, y), xytext=(7, 0), textcoords="offset points", va="center", fontsize=9)
        told.set_bbox({"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 1.5})
    return dress_axes(ax, title=head, x=density.axes[0], y=density.axes[1])


Ends = tuple[float, float]


def draw_cells(
    shares: Floats, sides: tuple[Ends, Ends], what: str, *, aspect: Any = "auto", ax: Axes | None
) -> Axes:
    """Draw the shares of the cells of a grid as colours, with a bar that says which share is which colour."""
    ax = axes_or_new(ax)
    ends = (*sides[0], *sides[1])
    shown = ax.imshow(100.0 * shares.T, origin="lower", extent=ends, aspect=aspect, cmap="viridis", vmin=0.0)
    ax.figure.colorbar(shown, ax=ax, label=f"{what} (%)")
    return ax


_BEND: Final = 0.18  # of an arrow
_LEAST_FLOW: Final = 0.03  # that is drawn, relative to the largest


def draw_flows(flows: Flows, *, most: int, title: str, ax: Axes | None) -> Axes:
    """Draw the largest flows as arrows, the wider the larger; the cells' colour is what stays in them."""
    from dither.estimation.maps.density import centres

    x, y = flows.grid.x, flows.grid.y
    stay = np.diag(flows.counts).reshape(flows.columns, flows.rows) / flows.paths
    ax = draw_cells(
        stay, ((x.low, x.high), (y.low, y.high)), "paths that end where they begin", aspect="equal", ax=ax
    )
    going = flows.counts - np.diag(np.diag(flows.counts))
    places = centres(flows.grid, flows.columns, flows.rows)
    order = np.argsort(-going, axis=None, kind="stable")[:most]
    ends = [(int(a), int(b)) for a, b in zip(*np.unravel_index(order, going.shape), strict=True)]
    for a, b in ends:
        if going[a, b] < _LEAST_FLOW * going.max() or going[a, b] <= 0.0:
            continue
        wide = 1.0 + 5.0 * going[a, b] / going.max()
        form = {"arrowstyle": "-|>", "connectionstyle": f"arc3,rad={_BEND}", "shrinkA": 4, "shrinkB": 4}
        ax.annotate(
            "", places[b], places[a], arrowprops={**form, "linewidth": wide, "color": ORANGE, "alpha": 0.85}
        )
        across = places[b] - places[a]
        # A third of the way along the arc, where those of both directions and of crossing flows are apart.
        aside = (places[a] + places[b]) / 2.0 + _BEND * np.array([across[1], -across[0]])
        middle = 0.49 * places[a] + 0.42 * aside + 0.09 * places[b]
        told = f"{100.0 * going[a, b] / flows.paths:.2g} %"
        box = {"facecolor": "white", "alpha": 0.85, "edgecolor": "none", "pad": 1.0}
        ax.text(float(middle[0]), float(middle[1]), told, ha="center", va="center", fontsize=8, bbox=box)
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
