"""Golden-section search: the place of the minimum of a unimodal function, the maximum of one with peaks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from dither.arrays import Floats

_GOLDEN: Final = (math.sqrt(5.0) - 1.0) / 2.0
_SECTIONS: Final = 46  # from 1/256 of an interval to 10⁻¹² of it
_PEAKS: Final = 6  # the highest of the grid, that are refined


def argmin(function: Callable[[float], float], low: float, high: float, *, sections: int) -> float:
    """Return where a unimodal function is smallest, to 0.618^sections of the distance from low to high.

    The result is the best of the sections + 2 points that were evaluated: of two inner points the better one
    stays an inner point. The ends are not evaluated.
    """
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(sections):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = function(right)
    return left if at_left < at_right else right


def argmax(function: Callable[[float], float], low: float, high: float, *, sections: int) -> float:
    """Return where a unimodal function is largest; see `argmin`."""
    return argmin(lambda x: -function(x), low, high, sections=sections)


def global_maximum(
    function: Callable[[Floats], Floats],
    low: float,
    high: float,
    breaks: Sequence[float] = (),
    points: int = 513,
) -> float:
    """Return the largest value of a vectorised function between low and high.

    The function is evaluated on a grid of so many points and at `breaks`, where its slope may jump; its
    highest peaks are refined by golden sections. A peak narrower than the grid may be missed.
    """
    inner = [point for point in breaks if low < point < high]
    grid = np.unique(np.concatenate([np.linspace(low, high, points), inner]))
    values = function(grid)
    padded = np.concatenate([[-np.inf], values, [-np.inf]])
    peaks = np.flatnonzero((values >= padded[:-2]) & (values >= padded[2:]))
    peaks = peaks[np.argsort(values[peaks])[::-1][:_PEAKS]]
    begins, ends = grid[np.maximum(peaks - 1, 0)], grid[np.minimum(peaks + 1, grid.size - 1)]
    return max(float(values.max()), _refined(function, begins, ends))


def _refined(function: Callable[[Floats], Floats], begins: Floats, ends: Floats) -> float:
    """Return the largest value that golden sections find in several intervals at once."""
    first, second = ends - _GOLDEN * (ends - begins), begins + _GOLDEN * (ends - begins)
    at_first, at_second = function(first), function(second)
    best = max(float(at_first.max()), float(at_second.max()))
    for _ in range(_SECTIONS):
        rising = at_first < at_second
        begins, ends = np.where(rising, first, begins), np.where(rising, ends, second)
        step = _GOLDEN * (ends - begins)
        # One of the two new inner points is an old one; only the other is evaluated.
        fresh = np.where(rising, begins + step, ends - step)
        value = function(fresh)
        best = max(best, float(value.max()))
        first, second = np.where(rising, second, fresh), np.where(rising, fresh, first)
        at_first, at_second = np.where(rising, at_second, value), np.where(rising, value, at_first)
    return best
