"""Integrals, maxima and roots of functions on an interval, to nearly the last digit, without scipy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from dither.arrays import Floats

Function = Callable[[Floats], Floats]

_MOST_PANELS: Final = 1 << 12
_SECTIONS: Final = 46  # golden ones: from 1/256 of an interval to 10⁻¹² of it


@lru_cache(maxsize=1)
def _lobatto() -> tuple[Floats, Floats]:
    """Give 17 Gauss–Lobatto nodes on [0, 1] and their weights.

    They include both ends: a jump or a kink between an end and its neighbour does not go unseen.
    """
    last = np.polynomial.legendre.Legendre.basis(16)
    nodes = np.concatenate([[-1.0], np.sort(last.deriv().roots().real), [1.0]])
    return (nodes + 1.0) / 2.0, 1.0 / (17.0 * 16.0 * last(nodes) ** 2)


def integrate(
    function: Function, low: float, high: float, breaks: Sequence[float] = (), tolerance: float = 1e-12
) -> float:
    """Give ∫ of a vectorised function by Gauss–Lobatto panels, halved where halving changes the answer."""
    inner = sorted({point for point in breaks if low < point < high})
    edges = np.array([low, *inner, high])
    begins, ends = edges[:-1], edges[1:]
    total, coarse = 0.0, _panels(function, begins, ends)
    for _ in range(48):
        middles = (begins + ends) / 2.0
        left, right = _panels(function, begins, middles), _panels(function, middles, ends)
        change = np.abs(left + right - coarse)
        scale = abs(total) + float(np.abs(left + right).sum())
        open_ = change > tolerance * max(scale, 1e-300) * 0.1
        total += float((left + right)[~open_].sum())
        if not open_.any():
            break
        begins, ends = (
            np.concatenate([begins[open_], middles[open_]]),
            np.concatenate([middles[open_], ends[open_]]),
        )
        coarse = np.concatenate([left[open_], right[open_]])
        if begins.size > _MOST_PANELS:  # what still changes is rounding, not shape
            total += float(coarse.sum())
            break
    else:
        total += float(coarse.sum())
    return total


def _panels(function: Function, begins: Floats, ends: Floats) -> Floats:
    nodes, weights = _lobatto()
    lengths = ends - begins
    points = begins[:, None] + lengths[:, None] * nodes
    return np.asarray((function(points.reshape(-1)).reshape(points.shape) @ weights) * lengths)


def between(function: Function, edges: Floats) -> Floats:
    """Give ∫ of a vectorised function over the panels between edges (last axis); any shape in front."""
    shape = edges.shape[:-1]
    begins, ends = edges[..., :-1].reshape(-1), edges[..., 1:].reshape(-1)
    return np.asarray(_panels(function, begins, ends).reshape((*shape, -1)).sum(axis=-1))


def total(function: Function, count: int, run: int) -> float:
    """Give the sum of a function over 0 … count − 1, the later terms by runs over which it is smooth.

    A run of many whole numbers is summed by the 16 values that fix its interpolating polynomial.
    """
    direct = min(count, max(1 << 12, run))
    answer = float(function(np.arange(direct, dtype=np.float64)).sum())
    runs = (count - direct) // run
    if runs:
        nodes, weights = np.polynomial.legendre.leggauss(16)
        places = (2.0 * np.arange(run) + 1.0) / run - 1.0
        orders = np.arange(16)
        sums = np.polynomial.legendre.legvander(places, 15).sum(axis=0) * (orders + 0.5)
        shares = weights * (np.polynomial.legendre.legvander(nodes, 15) @ sums)
        begins = direct + run * np.arange(runs)
        points = begins[:, None] + ((nodes + 1.0) * run - 1.0) / 2.0
        answer += float((function(points.reshape(-1)).reshape(points.shape) @ shares).sum())
    rest = np.arange(direct + runs * run, count, dtype=np.float64)
    return answer + float(function(rest).sum())


def maximise(
    function: Function, low: float, high: float, breaks: Sequence[float] = (), points: int = 513
) -> float:
    """Give the largest value of a vectorised function: a grid, then golden sections about its peaks."""
    inner = [point for point in breaks if low < point < high]
    grid = np.unique(np.concatenate([np.linspace(low, high, points), inner]))
    values = function(grid)
    padded = np.concatenate([[-np.inf], values, [-np.inf]])
    peaks = np.flatnonzero((values >= padded[:-2]) & (values >= padded[2:]))
    peaks = peaks[np.argsort(values[peaks])[::-1][:6]]
    begins, ends = grid[np.maximum(peaks - 1, 0)], grid[np.minimum(peaks + 1, grid.size - 1)]
    golden = (np.sqrt(5.0) - 1.0) / 2.0
    first, second = ends - golden * (ends - begins), begins + golden * (ends - begins)
    at_first, at_second = function(first), function(second)
    best = max(float(values.max()), float(at_first.max()), float(at_second.max()))
    for _ in range(_SECTIONS):
        rising = at_first < at_second
        begins, ends = np.where(rising, first, begins), np.where(rising, ends, second)
        step = golden * (ends - begins)
        fresh = np.where(rising, begins + step, ends - step)  # the other of the two is where one was
        value = function(fresh)
        best = max(best, float(value.max()))
        first, second = np.where(rising, second, fresh), np.where(rising, fresh, first)
        at_first, at_second = np.where(rising, at_second, value), np.where(rising, value, at_first)
    return best


def crossing(excess: Callable[[float], float], low: float, high: float) -> float:
    """Give where an increasing function goes through zero between low and high, to the last bit."""
    while True:
        middle = (low + high) / 2.0
        if middle in (low, high):
            return middle
        low, high = (middle, high) if excess(middle) < 0.0 else (low, middle)
