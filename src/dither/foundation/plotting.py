"""Plots of the distribution of reports for a few inputs. matplotlib is imported when a plot is drawn.

Every function that draws takes `ax`, matplotlib axes to draw on, and returns them. Without `ax` it makes new
axes. A plot of several panels takes and returns a sequence of axes.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dither.errors import InvalidParameter, MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dither.mechanisms.analysis.analysis import Analysis


# The house style: estimates are blue, point masses and kernels orange, further curves in this order. They
# are the colours of Okabe and Ito, distinguishable with any colour vision. Each has its own marker.
BLUE: Final = "#0072b2"
ORANGE: Final = "#d55e00"
GREY: Final = "#6b7580"
COLOURS: Final = (BLUE, ORANGE, "#009e73", "#000000", "#56b4e9", "#e69f00", "#cc79a7", "#f0e442")
MARKS: Final = "os^DvPX*"


def dress_axes(ax: Axes, *, title: str = "", x: str = "", y: str = "") -> Axes:
    """Set the title and the axis labels of a plot in the house style, and return the axes."""
    for side in ("top", "right"):
        if side in ax.spines:
            ax.spines[side].set_visible(False)
    if title:
        wide = _letters(ax)
        lines = [part for line in title.split("\n") for part in wrap(line, wide) or [""]]
        ax.set_title("\n".join(lines), fontsize=10, color="#22303c")  # replaces matplotlib's own
    if x:
        ax.set_xlabel(x)
    if y:
        ax.set_ylabel(y)
    return ax


def _letters(ax: Axes) -> int:
    """Return the number of letters of a title that fit above the axes, right of the tick labels."""
    across: Any = getattr(ax.get_subplotspec(), "get_gridspec", lambda: None)()
    panel = float(ax.figure.get_figwidth()) / (1 if across is None else across.ncols)  # type: ignore[union-attr]
    names = (line for label in ax.get_yticklabels() for line in label.get_text().split("\n"))
    return max(int((panel - 0.6) / 0.083) - max(map(len, names), default=0), 30)


def as_budgets(ax: Axes) -> None:
    """Set a logarithmic scale for the horizontal axis of ε, with ticks that are not written as powers."""
    low, high = ax.dataLim.intervalx
    ax.set_xscale("log")
    ax.set_xticks(_BUDGETS, [f"{mark:g}" for mark in _BUDGETS])
    ax.set_xticks([], minor=True)
    ax.set_xlim(0.95 * max(low, _BUDGETS[0]), 1.05 * high)


_BUDGETS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)


def start_at_zero(ax: Axes) -> None:
    """Let the vertical axis begin at 0 and still grow with later curves."""
    for drawn in [*ax.lines, *ax.collections, *ax.patches][:1]:
        drawn.sticky_edges.y.append(0.0)  # no margin below it
    ax.update_datalim([(0.0, 0.0)], updatex=False)
    ax.autoscale_view(scalex=False)


def set_height(ax: Axes, inches: float) -> None:
    """Set the height of a figure in inches, if the axes are its only axes."""
    figure: Any = ax.figure
    if hasattr(figure, "set_figheight") and len(figure.axes) == 1:
        figure.set_figheight(inches)


def as_per_cent(ax: Axes, axis: str) -> None:
    """Write the ticks of an axis of shares in per cent."""
    from matplotlib.ticker import FuncFormatter

    formatter = FuncFormatter(lambda share, _: f"{round(100.0 * share, 6):g} %")
    getattr(ax, f"{axis}axis").set_major_formatter(formatter)


_ROWS: Final = 60  # the most rows of a picture


def draw_rows(
    rows: Sequence[Mapping[str, Any]],
    *,
    title: str = "",
    x: str = "",
    zero: bool = False,
    limits: tuple[float, float] = (-math.inf, math.inf),
    bars: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw values with their intervals, one below the other, each named by the columns before its value.

    `bars` is the column of numbers without intervals; each is a bar labelled by the first column. Intervals
    end at the limits, with an arrow where they are cut.
    """
    column = bars or "value"
    shown = [row for row in rows if row.get(column) is not None and math.isfinite(row[column])][:_ROWS]
    if not shown:
        raise InvalidParameter("expected at least one finite number to draw, got none; leave out the picture")
    new, ax = ax is None, axes_or_new(ax)
    named = 1 if bars else list(shown[0]).index("value")
    names = [" · ".join(str(cell) for cell in list(row.values())[:named]) or "estimate" for row in shown]
    positions = np.arange(len(shown))[::-1]
    if new or len(shown) > 8:
        lines = sum(1 + name.count("\n") for name in names)
        set_height(ax, max(0.28 * lines + 1.2, 1.7))
    if bars:
        drawn = ax.barh(positions, [float(row[bars]) for row in shown], color=BLUE, alpha=0.75)
        ax.bar_label(drawn, [f"{row[bars]:.3g}" for row in shown], padding=3, fontsize=8)
        ax.margins(x=0.12)  # space for the numbers right of the bars
    else:
        draw_intervals(ax, positions, shown, limits, upright=False)
    if zero:
        ax.axvline(0.0, color=GREY, linewidth=0.8)
    ax.set_yticks(positions, names)
    ax.set_ylim(-0.6, len(shown) - 0.4)
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
    """Draw points with vertical or horizontal intervals; an end that is cut at a limit has an arrow.

    An infinite interval without a limit is cut outside the range of all values, at a distance of that range.
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
    """Return the given axes, or axes on a new figure."""
    return ax if ax is not None else _new(1, (7.0, 3.6))[0]


def polar_axes(ax: Axes | None) -> Any:
    """Return the given axes, or polar axes on a new figure."""
    if ax is not None:
        return ax
    figure = _new(1, (4.6, 4.8))[0].figure
    figure.clf()
    return figure.add_subplot(projection="polar")


def panels_or_new(ax: Sequence[Axes] | None, count: int) -> Sequence[Axes]:
    """Return the given axes of `count` panels, or axes side by side on a new figure."""
    if ax is None:
        return _new(count, (5.0 * count, 4.2))
    if np.size(np.asarray(ax, dtype=object)) != count:
        raise InvalidParameter(f"expected {count} axes for this plot; pass ax=plt.subplots(1, {count})[1]")
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
    return [figure.add_subplot(1, count, index + 1) for index in range(count)]


def draw_law(questions: Analysis, inputs: object, *, ax: Axes | None = None) -> Axes:
    """Draw the density of the report for each input, with bars for atoms, and return the axes."""
    ax = axes_or_new(ax)
    low, high = questions.support
    # 2000 midpoints: more than the pixels of a plot, and none of them lies on the edge of a window.
    y = low + (high - low) * (np.arange(2000) + 0.5) / 2000
    for number, x in enumerate(np.atleast_1d(np.asarray(inputs, dtype=np.float64))):
        colour = COLOURS[number % len(COLOURS)]
        density = np.asarray(questions.pdf(y, x))
        if density.any():
            ax.plot(y, density, color=colour, label=f"x = {x:g}", drawstyle="steps-mid")
        positions, masses = questions.atoms(x)
        if positions.size:
            label = "" if density.any() else f"x = {x:g}"  # one legend entry for each input
            ax.vlines(positions, 0, masses, color=colour, linewidth=3, alpha=0.7, label=label)
        ax.axvline(x, color=colour, linestyle=":", linewidth=1)
    start_at_zero(ax)
    ax.legend(frameon=False)
    return dress_axes(ax, title="Reports of a few inputs", x="report", y="density (bars: probability)")
