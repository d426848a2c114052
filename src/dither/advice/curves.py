"""The picture of a comparison: two panels of curves. matplotlib is imported at the first call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import cycle
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dither.advice.catalogue import Candidate
from dither.errors import DitherError, Infeasible
from dither.foundation.arrays import Floats
from dither.foundation.losses import Power
from dither.foundation.plotting import COLOURS, as_budgets, dress_axes, panels_or_new
from dither.mechanisms.mechanism import Mechanism
from dither.mechanisms.optimal import store
from dither.mechanisms.optimal.mechanism import Optimal

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Curve = tuple[str, tuple[Floats, Floats]]  # a label, x and y

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
    right.set(xlabel="ε", ylabel=f"worst {labels[1]}", yscale="log")
    as_budgets(right)
    left.legend(frameon=False, fontsize="small")
    dress_axes(left, title=f"{labels[1].capitalize()} by {labels[0]}")
    dress_axes(right, title=f"Worst {labels[1]} by budget")
    return ax


def _dash(colour: str) -> str:
    """Return the style of a line: every second one is dashed, so that equal curves do not hide each other."""
    return "-" if COLOURS.index(colour) % 2 == 0 else "--"


def error_curve(candidate: Candidate, loss: Power) -> tuple[Floats, Floats]:
    """Return values of a line, and the error of a mechanism at each."""
    line = candidate.mechanism.line
    x = np.linspace(line.low, line.high, 201)
    return x, np.asarray(candidate.mechanism.error(loss.loss, x))


def frequency_curve(candidate: Candidate) -> tuple[Floats, Floats]:
    """Return frequencies, and the variance of one report at each."""
    f = np.linspace(0.0, 1.0, 51)
    return f, np.array([candidate.mechanism.question.variance(float(share)) for share in f])


def along_budgets(candidate: Candidate, measure: Callable[[Any], float]) -> tuple[Floats, Floats]:
    """Return the ε of the picture, and a measure of the same mechanism at each; NaN if it is undefined."""
    values = []
    for budget in BUDGETS:
        try:
            values.append(measure(_at(candidate.mechanism, budget)))
        except DitherError:  # a budget that this mechanism does not take
            values.append(np.nan)
    return np.array(BUDGETS), np.array(values)


def _at(mechanism: Mechanism[Any], epsilon: float) -> object:
    """Return the mechanism with another budget; raise Infeasible if that would need a design to be solved."""
    if isinstance(mechanism, Optimal) and not store.ready(replace(mechanism.problem, epsilon=epsilon)):
        raise Infeasible(f"expected an ε of a stored design, got {epsilon:g}; use a value of curves.BUDGETS")
    return mechanism.at(epsilon)
