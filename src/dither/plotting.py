"""Plots of the distribution of reports for a few inputs. matplotlib is imported when a plot is drawn.

Every function that draws takes `ax`, matplotlib axes to draw on, and returns them. Without `ax` it makes new
axes. A plot of several panels takes and returns a sequence of axes.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dither.errors import InvalidParameter, MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dither.mechanisms.base import Analysis


# The house style: estimates are blue, point masses and kernels orange, further curves in this order.
BLUE: Final = "#1f4e79"
ORANGE: Final = "#e07a3f"
GREY: Final = "#6b7580"
COLOURS: Final = (BLUE, ORANGE, "#3c8d5a", "#8a4fa3", "#c2a13b", "#4fa6b8", "#b8485f", GREY)


def dress_axes(ax: Axes, *, title: str = "", x: str = "", y: str = "") -> Axes:
    """Put the title and the names of the axes on a plot, in the house style, and return the axes."""
    for side in ("top", "right"):
        if side in ax.spines:
            ax.spines[side].set_visible(False)
    if title:
        ax.set_title(title, fontsize=10, color="#22303c")  # in the place of matplotlib's own titles
    if x:
        ax.set_xlabel(x)
    if y:
        ax.set_ylabel(y)
    return ax


def as_per_cent(ax: Axes, axis: str) -> None:
    """Write the ticks of an axis of shares in per cent."""
    from matplotlib.ticker import PercentFormatter

    getattr(ax, f"{axis}axis").set_major_formatter(PercentFormatter(1.0, decimals=None, symbol=" %"))


_ROWS: Final = 60  # of a picture


def draw_rows(
    rows: Sequence[Mapping[str, Any]],
    *,
    title: str = "",
    x: str = "",
    zero: bool = False,
    limits: tuple[float, float] = (-math.inf, math.inf),
    ax: Axes | None = None,
) -> Axes:
    """Draw values with their intervals, one below the other, each named by its other columns.

    Rows with an `error` alone are bars. Intervals end at the limits, with an arrow where they are cut.
    """
    shown = [row for row in rows if np.isfinite(row.get("value", row.get("error", math.nan)))][:_ROWS]
    if not shown:
        raise InvalidParameter("there is no finite number to draw")
    ax = axes_or_new(ax)
    apart = ("value", "low", "high", "n", "p", "error", "why")
    names = [" · ".join(str(row[key]) for key in row if key not in apart) or "estimate" for row in shown]
    places = np.arange(len(shown))[::-1]
    figure: Any = ax.figure
    if len(shown) > 8 and hasattr(figure, "set_figheight"):
        figure.set_figheight(max(float(figure.get_figheight()), 0.28 * len(shown) + 1.0))
    if "value" not in shown[0]:
        ax.barh(places, [float(row["error"]) for row in shown], color=BLUE, alpha=0.75)
    else:
        draw_intervals(ax, places, shown, limits, upright=False)
    if zero:
        ax.axvline(0.0, color=GREY, linewidth=0.8)
    ax.set_yticks(places, names)
    ax.margins(y=0.08)
    return dress_axes(ax, title=title, x=x)


def draw_intervals(
    ax: Axes,
    places: Any,
    rows: Sequence[Mapping[str, Any]],
    limits: tuple[float, float],
    *,
    upright: bool,
    colour: str = BLUE,
    point: str = "o",
) -> None:
    """Draw points with intervals, upright or lying; an end that is cut at a limit has an arrow.

    Where an interval is infinite and no limit is known, it is as long as twice all others.
    """
    values = np.array([float(row["value"]) for row in rows])
    ends = np.array([[float(row["low"]), float(row["high"])] for row in rows]).T
    finite = np.concatenate([values, ends[np.isfinite(ends)]])
    room = max(float(finite.max() - finite.min()), 1e-12)
    bounds = [
        limits[0] if math.isfinite(limits[0]) else float(finite.min()) - room,
        limits[1] if math.isfinite(limits[1]) else float(finite.max()) + room,
    ]
    cut = ends[0] < bounds[0], ends[1] > bounds[1]
    low, high = np.maximum(ends[0], bounds[0]), np.minimum(ends[1], bounds[1])
    shown = np.clip(values, bounds[0], bounds[1])
    lengths = np.maximum([shown - low, high - shown], 0.0)
    bars: dict[str, Any] = {"yerr" if upright else "xerr": lengths}
    at = (places, shown) if upright else (shown, places)
    ax.errorbar(*at, fmt=point, color=colour, ecolor="black", capsize=3, linewidth=1.2, markersize=5, **bars)
    for side, end, mark in ((0, low, "v" if upright else "<"), (1, high, "^" if upright else ">")):
        if cut[side].any():
            where = np.asarray(places, dtype=np.float64)[cut[side]], end[cut[side]]
            ax.plot(*(where if upright else where[::-1]), mark, color="black", markersize=6, clip_on=False)


def axes_or_new(ax: Axes | None) -> Axes:
    """Return the axes to draw on: the given ones, or new ones on a new figure."""
    return ax if ax is not None else _new(1, (7.0, 3.6))[0]


def polar_axes(ax: Axes | None) -> Any:
    """Return polar axes: the given ones, or new ones on a new figure."""
    if ax is not None:
        return ax
    figure = _new(1, (4.6, 4.8))[0].figure
    figure.clf()
    return figure.add_subplot(projection="polar")


def panels_or_new(ax: Sequence[Axes] | None, count: int) -> Sequence[Axes]:
    """Return the axes of `count` panels: the given ones, or new ones side by side on a new figure."""
    if ax is None:
        return _new(count, (5.0 * count, 4.2))
    if np.size(np.asarray(ax, dtype=object)) != count:
        raise InvalidParameter(f"this plot needs {count} axes: ax=plt.subplots(1, {count})[1]")
    return ax


def _new(count: int, size: tuple[float, float]) -> list[Axes]:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("a picture", "plot") from None
    if hasattr(builtins, "__IPYTHON__"):  # a notebook shows pyplot's figures, and closes them after a cell
        from matplotlib import pyplot

        figure = pyplot.figure(figsize=size, layout="constrained")
    else:
        figure = Figure(figsize=size, layout="constrained")
    return [figure.add_subplot(1, count, place + 1) for place in range(count)]


def draw_law(questions: Analysis, inputs: object, *, ax: Axes | None = None) -> Axes:
    """Draw the density of the report for each input, with stems for atoms, and return the axes."""
    ax = axes_or_new(ax)
    low, high = questions.support
    # 2000 midpoints: more than the pixels of a plot, and none of them lies on the edge of a window.
    y = low + (high - low) * (np.arange(2000) + 0.5) / 2000
    for number, x in enumerate(np.atleast_1d(np.asarray(inputs, dtype=np.float64))):
        colour = COLOURS[number % len(COLOURS)]
        density = np.asarray(questions.pdf(y, x))
        if density.any():
            ax.plot(y, density, color=colour, label=f"x = {x:g}", drawstyle="steps-mid")
        places, masses = questions.atoms(x)
        if places.size:
            label = "" if density.any() else f"x = {x:g}"  # one legend entry for each input
            ax.vlines(places, 0, masses, color=colour, linewidth=3, alpha=0.7, label=label)
        ax.axvline(x, color=colour, linestyle=":", linewidth=1)
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)
    return dress_axes(ax, title="Reports of a few inputs", x="report", y="density (stems: probability)")
