"""Randomized response on a few numbers, placed by Lloyd's algorithm: the optimum for an average error.

With probability (e^ε − 1)/(e^ε − 1 + k) the report is the nearest of k numbers, otherwise any of the k.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Final

import numpy as np

from dither.arrays import Floats, Mask
from dither.kernels.window.codebook import Runs
from dither.losses import absolute, squared
from dither.numerics.bisection import bisect_arrays
from dither.numerics.quadrature import between
from dither.optimal.problem import Problem
from dither.optimal.solver.cells import CELLS, codebook

_ROUNDS: Final = 400
_MOST: Final = 96


def points(problem: Problem, count: int) -> Floats:
    """Return the best places of `count` numbers by Lloyd's algorithm."""
    places = np.asarray((np.arange(count) + 0.5) / count - 0.5, dtype=np.float64)
    for _ in range(_ROUNDS):
        moved = _best_places(problem, _cuts(places))
        moved = (moved - moved[::-1]) / 2.0
        change = float(np.abs(moved - places).max())
        places = moved
        if change < 1e-12:
            break
    return places


def _cuts(places: Floats) -> Floats:
    return np.concatenate([[-0.5], (places[1:] + places[:-1]) / 2.0, [0.5]])


def _best_places(problem: Problem, cuts: Floats) -> Floats:
    """Return the best number for the inputs between each two cuts.

    It is reported for those inputs with weight e^ε − 1 and for all inputs with weight 1. The derivative of
    the error in y is (e^ε−1)(ℓ(y − a) − ℓ(b − y)) + ℓ(y + ½) − ℓ(½ − y), which does not decrease;
    a and b are the two cuts.
    """
    low, high = cuts[:-1], cuts[1:]
    if problem.loss == absolute:
        return problem.lift * (low + high) / (2.0 * (problem.lift + 1.0))
    if problem.loss == squared:
        return problem.lift * (high**2 - low**2) / (2.0 * (problem.lift * (high - low) + 1.0))

    def rises(y: Floats) -> Mask:
        own = problem.loss(y - cuts[:-1]) - problem.loss(cuts[1:] - y)
        every = problem.loss(y + 0.5) - problem.loss(0.5 - y)
        return np.asarray(problem.lift * own + every >= 0.0)

    low, high = bisect_arrays(rises, low, high, 40)
    return (low + high) / 2.0


def mean_error(problem: Problem, places: Floats) -> float:
    """Return the average error of randomized response on these numbers."""
    cuts = _cuts(places)
    own = sum(map(partial(_mass, problem), places, cuts[:-1], cuts[1:]))
    every = sum(_mass(problem, place, -0.5, 0.5) for place in places)
    return (problem.lift * own + every) / (problem.lift + places.size)


def _mass(problem: Problem, place: float, low: float, high: float) -> float:
    edges = np.unique(np.clip(np.concatenate([np.linspace(low, high, 9), [place]]), low, high))
    return float(between(lambda x: problem.loss(x - place), edges))


@lru_cache(maxsize=32)
def best(problem: Problem) -> Floats:
    """Return the places with the smallest error over all counts; it falls, then rises, with the count."""
    chosen, least = points(problem, 1), np.inf
    for count in range(2, _MOST):
        places = points(problem, count)
        error = mean_error(problem, places)
        if error >= least:
            break
        chosen, least = places, error
    return chosen


def as_cells(places: Floats, cells: int = CELLS) -> tuple[Runs, int]:
    """Return a codebook with nearly as many cells for each number, and a width of one number's cells."""
    return codebook(places, np.ones(places.size), cells), round(cells / places.size)
