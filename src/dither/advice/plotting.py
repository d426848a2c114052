"""The picture of a comparison: two panels of curves. matplotlib is loaded when called."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Final

from dither.arrays import Floats
from dither.plotting import COLOURS, panels_or_new, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Curve = tuple[str, tuple[Floats, Floats]]  # a label, x and y

MARKS: Final = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)  # labels of the ε axis
BUDGETS: Final = (0.25, 0.375, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0)  # on the ε axis


def draw_curves(
    here: Sequence[Curve],
    there: Sequence[Curve],
    labels: tuple[str, str],
    *,
    ax: Sequence[Axes] | None = None,
) -> Sequence[Axes]:
    """Draw curves against the input in the left panel and against ε in the right; return both axes."""
    ax = panels_or_new(ax, 2)
    left, right = ax
    for (name, (x, y)), colour in zip(here, cycle(COLOURS), strict=False):
        left.plot(x, y, color=colour, linestyle=_dash(colour), label=name)
    for (name, (x, y)), colour in zip(there, cycle(COLOURS), strict=False):
        right.plot(x, y, color=colour, linestyle=_dash(colour), label=name)
    left.set(xlabel=labels[0], ylabel=labels[1], ylim=(0, None))
    right.set(xlabel="ε", ylabel=f"worst {labels[1]}", xscale="log", yscale="log")
    right.set_xticks(MARKS, [f"{mark:g}" for mark in MARKS])
    right.set_xticks([], minor=True)
    left.legend(frameon=False, fontsize="small")
    styled(left, title=f"{labels[1].capitalize()} by {labels[0]}")
    styled(right, title=f"Worst {labels[1]} by budget")
    return ax


def _dash(colour: str) -> str:
    """Return the style of a line: every second one is dashed, so that equal curves do not hide each other."""
    return "-" if COLOURS.index(colour) % 2 == 0 else "--"
