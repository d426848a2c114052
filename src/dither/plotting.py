"""Plots of the distribution of reports for a few inputs. matplotlib is imported when a plot is drawn.

Every function that draws takes `ax`, matplotlib axes to draw on, and returns them. Without `ax` it makes new
axes. A plot of several panels takes and returns a sequence of axes.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
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
