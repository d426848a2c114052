"""The picture of a mechanism: what reports look like for a few inputs. matplotlib is loaded when called."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import numpy as np

from dither.errors import MissingExtra

if TYPE_CHECKING:
    from dither.mechanisms.analysis import Questions


def axes_or_new(axes: Any) -> Any:
    """Give the axes to draw on: the caller's, or new ones on a figure of their own."""
    if axes is not None:
        return axes
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("a picture", "plot") from None
    if hasattr(builtins, "__IPYTHON__"):  # a notebook shows pyplot's figures, and closes them after a cell
        from matplotlib import pyplot

        return pyplot.subplots(figsize=(7.0, 3.6), layout="constrained")[1]
    return Figure(figsize=(7.0, 3.6), layout="constrained").subplots()


def draw_law(questions: Questions, inputs: object, axes: Any = None) -> Any:
    """Draw the density of the report for each input, atoms as stems, and give the axes back."""
    axes = axes_or_new(axes)
    low, high = questions.support
    # One point more than the eye can tell, and none on an edge.
    y = low + (high - low) * (np.arange(2000) + 0.5) / 2000
    for number, x in enumerate(np.atleast_1d(np.asarray(inputs, dtype=np.float64))):
        colour = f"C{number}"
        density = np.asarray(questions.pdf(y, x))
        if density.any():
            axes.plot(y, density, colour, label=f"x = {x:g}", drawstyle="steps-mid")
        places, masses = questions.atoms(x)
        if places.size:
            label = None if density.any() else f"x = {x:g}"
            axes.vlines(places, 0, masses, colour, linewidth=3, alpha=0.7, label=label)
        axes.axvline(x, color=colour, linestyle=":", linewidth=1)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("report")
    axes.set_ylabel("density (stems: probability)")
    axes.legend(frameon=False)
    return axes
