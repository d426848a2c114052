"""The optimal mechanism on a circle, known in closed form: a window about the value, uniform elsewhere.

Rotating the input by a random angle and the report back keeps ε and raises neither the worst error nor the
average. The resulting mechanism has a uniform base measure, so the best place for the remaining mass is a
window about the value, and only its width is unknown. The circle has circumference 1 here.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from dither.kernels.window.integers import Sliding
from dither.losses import Power
from dither.mechanisms.numeric import ogpm
from dither.numerics.bisection import increasing_root
from dither.numerics.quadrature import between
from dither.optimal.problem import Problem

_STEPS: Final = 1 << 14
_TINY: Final = 2.0**-40


def best_width(problem: Problem) -> float:
    """Return the share of the circle at whose edge the loss is the mean loss of all reports.

    Widening the window helps as long as the loss at its edge is below the mean; the error then is ℓ(s/2).
    """
    if isinstance(problem.loss, Power):
        return ogpm.best_width(problem.epsilon, problem.loss)

    def excess(width: float) -> float:
        edge = float(problem.loss(np.asarray(width / 2.0)))
        return edge * (1.0 + problem.lift * width) - everything - problem.lift * _mass(problem, width)

    everything = _mass(problem, 1.0)
    return increasing_root(excess, 0.0, 1.0)


def _mass(problem: Problem, width: float) -> float:
    return 2.0 * float(between(problem.loss, np.linspace(0.0, width / 2.0, 65)))


def error(problem: Problem, window: Sliding) -> float:
    """Return the largest error of the cells that are sampled, rounded up.

    An input is up to half a cell away from the middle of its window; that range is cut finely, and the loss
    is taken at the farther end of each part.
    """
    parts = 16
    away = (np.arange(parts) + 0.5) / parts - 0.5
    middles = np.arange(window.cells) - (window.width - 1) / 2.0
    worst = 0.0
    for offset in away:
        turned = (middles - offset) / window.cells
        distance = np.minimum(np.abs(turned - np.round(turned)) + 0.5 / (parts * window.cells), 0.5)
        loss = problem.loss(distance)
        inside = loss[: window.width].mean()
        worst = max(worst, window.rest * loss.mean() + window.contrast * inside)
    return float(worst) * (1.0 + _TINY)


def bound(problem: Problem) -> float:
    """Return a lower bound on the error of every ε-LDP mechanism, worst or average.

    With a uniform base one price is enough: μ + min(0, D), D = ∫ φ(ℓ(δ) − μ) dδ, φ(c) = min(c, E·c).
    It is best where D = 0, which is at the loss at the edge of the best window.
    """
    if isinstance(problem.loss, Power):
        return float(problem.loss(np.asarray(best_width(problem) / 2.0))) * (1.0 - _TINY)
    least = problem.loss(np.arange(_STEPS) / (2.0 * _STEPS))  # at the end of each step that is nearer to 0

    def deficit(price: float) -> float:
        cost = least - price
        return -float(np.where(cost < 0.0, problem.ratio * cost, cost).mean())

    price = increasing_root(deficit, 0.0, float(problem.loss(np.asarray(0.5))))
    return price - max(deficit(price), 0.0) - _TINY * price
