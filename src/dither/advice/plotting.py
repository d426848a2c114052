"""The picture of a comparison: two panels of curves. matplotlib is loaded when called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from dither.arrays import Floats
from dither.errors import InvalidParameter, MissingExtra

Curve = tuple[str, tuple[Floats, Floats]]  # a name, places and heights

MARKS: Final = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)  # along ε
BUDGETS: Final = (0.25, 0.375, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0)  # what is drawn


def draw_curves(
    here: Sequence[Curve], there: Sequence[Curve], labels: tuple[str, str], axes: Any = None
) -> Any:
    """Draw curves against the input on the left and, against ε, on the right; give both axes back."""
    if axes is None:
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise MissingExtra("a picture", "plot") from None
        axes = Figure(figsize=(10.0, 4.2), layout="constrained").subplots(1, 2)
    if np.size(axes) != 2:
        raise InvalidParameter("a comparison is drawn on two axes: plt.subplots(1, 2)[1]")
    left, right = axes
    for name, (places, heights) in here:
        left.plot(places, heights, label=name)
    for name, (places, heights) in there:
        right.plot(places, heights, label=name)
    left.set(xlabel=labels[0], ylabel=labels[1], ylim=(0, None))
    right.set(xlabel="ε", ylabel=f"worst {labels[1]}", xscale="log", yscale="log")
    right.set_xticks(MARKS, [f"{mark:g}" for mark in MARKS])
    right.set_xticks([], minor=True)
    left.legend(frameon=False, fontsize="small")
    return axes
