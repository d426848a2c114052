"""Roots and minima: bisection, false position, Newton's method, golden-section and grid search.

Bisection works on floats, integers and arrays; false position is for functions that are expensive to evaluate
and nearly linear. Golden-section search finds the minimum of a unimodal function and the maximum of a
function with several peaks; grid search works for functions of any shape.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import count
from typing import Final

import numpy as np

from dither.errors import InvalidParameter, found
from dither.foundation.arrays import Floats, Mask

Predicate = Callable[[float], bool]
IntegerPredicate = Callable[[int], bool]

_FLOAT_DOUBLINGS: Final = 1023  # up to 2^1022, whose double is finite
_INTEGER_DOUBLINGS: Final = 4096


def increasing_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of an increasing function between low and high, to the last bit.

    The root lies between two neighbouring floats; the one whose last bit is even is returned. If the function
    is positive everywhere, the result is `low` or its neighbour; if it is negative everywhere, `high` or its
    neighbour.
    """
    _check(low, high)
    while True:
        middle = (low + high) / 2.0
        if middle in (low, high):
            return middle
        value = function(middle)
        if math.isnan(value):
            raise InvalidParameter(
                "expected a function that is a number everywhere in the bracket, got NaN; shorten the bracket"
            )
        low, high = (middle, high) if value < 0.0 else (low, middle)


def smallest_float(
    holds: Predicate, low: float, high: float, *, steps: int | None = None, tolerance: float = 0.0
) -> float:
    """Return the smallest float above `low` at which a predicate becomes true; it stays true above that.

    Without `steps` and `tolerance` the float below the result does not satisfy the predicate. The search ends
    earlier after `steps` halvings, or when the bracket is at most `tolerance` times the result. `high` is not
    evaluated: it is returned if the predicate holds nowhere below it.
    """
    _check(low, high)
    return _inside(holds, high, low, steps, tolerance)


def largest_float(
    holds: Predicate, low: float, high: float, *, steps: int | None = None, tolerance: float = 0.0
) -> float:
    """Return the largest float below `high` at which a predicate is true; it is true for all smaller floats.

    This is `smallest_float` in the other direction: `low` is not evaluated and is returned if the predicate
    holds nowhere above it.
    """
    _check(low, high)
    return _inside(holds, low, high, steps, tolerance)


def smallest_positive_float(holds: Predicate) -> float:
    """Return the smallest positive float at which a predicate becomes true; it stays true for larger floats.

    A float that satisfies it is found by doubling, starting at 1.
    """
    for exponent in range(_FLOAT_DOUBLINGS):
        high = 2.0**exponent
        if holds(high):
            return smallest_float(holds, 0.0, high)
    raise InvalidParameter("no float satisfies the condition of this search; relax the condition")


def farthest_float(holds: Predicate, start: float, end: float, *, step: float, steps: int) -> float:
    """Return the number farthest from `start` towards `end` at which a predicate still holds.

    The predicate must hold at `start`. Steps double in length, beginning with `step`, until the predicate
    fails; the last step is then halved `steps` times. The result is `end` if the predicate holds there.
    """
    _check(*((start, end) if start < end else (end, start)))
    side = 1.0 if end > start else -1.0
    inside, outside = start, start + side * step
    while (end - outside) * side > 0.0 and holds(outside):
        step *= 2.0
        inside, outside = outside, outside + side * step
    if (end - outside) * side <= 0.0:
        if holds(end):
            return end
        outside = end
    return _inside(holds, inside, outside, steps, 0.0)


def smallest_integer(holds: IntegerPredicate, low: int, high: int) -> int:
    """Return the smallest integer above `low` at which a predicate becomes true; it stays true up to `high`.

    Neither end is evaluated: `high` is returned if the predicate holds nowhere between them.
    """
    _check(low, high)
    return _inside_integer(holds, high, low)


def largest_integer(holds: IntegerPredicate, low: int, high: int) -> int:
    """Return the largest integer below `high` at which a predicate is true; it is true down to `low`.

    Neither end is evaluated: `low` is returned if the predicate holds nowhere between them.
    """
    _check(low, high)
    return _inside_integer(holds, low, high)


def smallest_positive_integer(holds: IntegerPredicate) -> int:
    """Return the smallest positive integer at which a predicate becomes true; it stays true for larger ones.

    An integer that satisfies it is found by doubling, starting at 1.
    """
    for exponent in range(_INTEGER_DOUBLINGS):
        high = 1 << exponent
        if holds(high):
            return smallest_integer(holds, high // 2, high)
    raise InvalidParameter("no integer satisfies the condition of this search; relax the condition")


def bisect_arrays(
    reached: Callable[[Floats], Mask], low: Floats, high: Floats, steps: int
) -> tuple[Floats, Floats]:
    """Return the ends of many brackets, halved `steps` times: `reached` is False at `low` and True at `high`.

    `reached` takes an array with one number of each bracket and must be increasing in it. If it is True
    nowhere in a bracket, `high` stays as given; if it is True everywhere, `low` stays as given.
    """
    if not np.all(low <= high):
        raise InvalidParameter("expected finite ends with low ≤ high for a bisection; correct the bracket")
    for _ in range(steps):
        middle = (low + high) / 2.0
        there = reached(middle)
        low, high = np.where(there, low, middle), np.where(there, middle, high)
    return low, high


def _check(low: float, high: float) -> None:
    # Twice each end must be finite; otherwise the sum of two ends could overflow.
    finite = all(isinstance(end, int) or math.isfinite(2.0 * end) for end in (low, high))
    if not (finite and low <= high):
        raise InvalidParameter(
            f"expected finite ends with low ≤ high for a bisection, got {found(low)} and {found(high)}"
        )


def _inside(holds: Predicate, inside: float, outside: float, steps: int | None, tolerance: float) -> float:
    for _ in count() if steps is None else range(steps):
        middle = (inside + outside) / 2.0
        if middle in (inside, outside) or abs(outside - inside) <= tolerance * abs(inside):
            break
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside


def _inside_integer(holds: IntegerPredicate, inside: int, outside: int) -> int:
    while abs(outside - inside) > 1:
        middle = (inside + outside) // 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside


Function = Callable[[float], float]


def decreasing_root(
    function: Function, low: float, high: float, *, close: float, start: float = 0.0, step: float = 1.0
) -> float | None:
    """Return a point at which a decreasing function is between −close and 0; None if it stays above −close/2.

    A bracket is searched from `start` in doubling steps. Within it the Illinois variant of false position
    aims at −close/2 [Dowell71]. If the function is at most −close/2 at `low`, the result is `low`. If it
    jumps, the result is the right end of a bracket of width 10⁻³·close, where the function is at most
    −close/2.
    """

    def aim(x: float) -> float:
        return function(x) + close / 2.0

    left = right = start
    above = below = aim(start)
    while above <= 0.0:
        if left == low:
            return low
        right, below = left, above
        left = max(left - step, low)
        above, step = aim(left), 2.0 * step
    while below > 0.0:
        if right == high:
            return None
        left, above = right, below
        right = min(right + step, high)
        below, step = aim(right), 2.0 * step
    x, value, before = right, below, 0.0
    while abs(value) > close / 2.0 and right - left > 1e-3 * close:
        x = left + (right - left) * above / (above - below)
        value = aim(x)
        again = value * before > 0.0  # twice on the same side: halve the value at the other end
        if value > 0.0:
            left, above, below = x, value, below / 2.0 if again else below
        else:
            right, below, above = x, value, above / 2.0 if again else above
        before = value
    return x if abs(value) <= close / 2.0 else right


def proportional_root(
    function: Function,
    start: float,
    limit: float,
    target: float,
    *,
    close: float,
    resolution: float,
    steps: int = 20,
) -> float:
    """Return the point at which a function, roughly proportional to the distance from `start`, is `target`.

    The search is between `start`, where the function is 0, and `limit`, above or below it. It ends when the
    value is closer than `close` to the target. If the bracket shrinks to `resolution` first, the result is
    the bracket's end farther from `start`. The result is `limit` if the target is not reached.
    """
    side = 1.0 if limit > start else -1.0
    inner, outer, below = start, limit, 0.0
    trial = inner + (outer - inner) / 32.0
    for _ in range(steps):
        if abs(outer - inner) <= resolution:
            return outer
        value = function(trial)
        if abs(value - target) < close:
            return trial
        if value > target:
            outer = trial
            after = inner + (trial - inner) * (target - below) / (value - below)
        else:
            inner, below = trial, value
            after = start + (trial - start) * min(target / max(value, 1e-9), 3.0)
        trial = after if side * (after - outer) < 0.0 < side * (after - inner) else (inner + outer) / 2.0
    return trial


def power_law_root(
    ratio: Function, start: float, power: float, *, close: float, steps: int, low: float, high: float
) -> tuple[float, float]:
    """Return an x between low and high at which `ratio` is within `close` of 1, and the ratio there.

    The ratio is roughly proportional to x^(−1/power), so x·ratio^power is a better x. At most `steps` points
    are tried. If the returned ratio is farther from 1 than `close`, the search has failed.
    """
    x, value = start, ratio(start)
    for _ in range(steps):
        if abs(value - 1.0) < close:
            break
        x = min(max(x * value**power, low), high)
        value = ratio(x)
    return x, value


ValueAndSlope = Callable[[float], tuple[float, float]]


def newton(function: ValueAndSlope, start: float, *, tolerance: float = 1e-16, steps: int = 50) -> float:
    """Return the root that Newton's method reaches from `start`; the function returns its value and slope.

    The search ends when a step is at most `tolerance` times the root. It has no bracket: use it only if
    convergence from `start` is proven, as for a convex increasing function from any point right of its root.
    """
    x = start
    for _ in range(steps):
        value, slope = function(x)
        change = value / slope
        x -= change
        if abs(change) <= tolerance * abs(x):
            break
    return x


def bracketed_newton(
    function: ValueAndSlope,
    low: float,
    high: float,
    start: float,
    *,
    tolerance: float,
    absolute: float = 0.0,
    steps: int = 100,
) -> float:
    """Return the root of a decreasing function between low and high; the function returns value and slope.

    A Newton step that leaves the bracket is replaced by its midpoint. The search ends when a step is at most
    `tolerance` times the root plus `absolute`; the result is the last point that was evaluated.
    """
    x = start
    for _ in range(steps):
        value, slope = function(x)
        low, high = (x, high) if value > 0.0 else (low, x)
        after = x - value / slope
        if not low < after < high:
            after = (low + high) / 2.0
        if abs(after - x) <= tolerance * abs(x) + absolute:
            break
        x = after
    return x


_GOLDEN: Final = (math.sqrt(5.0) - 1.0) / 2.0
_SECTIONS: Final = 46  # from 1/256 of an interval to 10⁻¹² of it
_PEAKS: Final = 6  # highest peaks of the grid, which are refined


def argmin(function: Callable[[float], float], low: float, high: float, *, sections: int) -> float:
    """Return the minimiser of a unimodal function, to 0.618^sections of the distance from low to high.

    The result is the best of the sections + 2 evaluated points: the better of two inner points stays an inner
    point. The ends are not evaluated.
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
    """Return the maximiser of a unimodal function; see `argmin`."""
    return argmin(lambda x: -function(x), low, high, sections=sections)


def global_maximum(
    function: Callable[[Floats], Floats],
    low: float,
    high: float,
    breaks: Sequence[float] = (),
    points: int = 513,
) -> float:
    """Return the largest value of a vectorised function between low and high.

    The function is evaluated on a grid of `points` and at `breaks`, where its slope may jump. Its highest
    peaks are refined by golden-section search. A peak narrower than the grid may be missed.
    """
    inner = [point for point in breaks if low < point < high]
    grid = np.unique(np.concatenate([np.linspace(low, high, points), inner]))
    values = function(grid)
    padded = np.concatenate([[-np.inf], values, [-np.inf]])
    peaks = np.flatnonzero((values >= padded[:-2]) & (values >= padded[2:]))
    peaks = peaks[np.argsort(values[peaks])[::-1][:_PEAKS]]
    begins, ends = grid[np.maximum(peaks - 1, 0)], grid[np.minimum(peaks + 1, grid.size - 1)]
    return max(float(values.max()), _refine(function, begins, ends))


def _refine(function: Callable[[Floats], Floats], begins: Floats, ends: Floats) -> float:
    """Return the largest value that golden-section search finds in several intervals at once."""
    first, second = ends - _GOLDEN * (ends - begins), begins + _GOLDEN * (ends - begins)
    at_first, at_second = function(first), function(second)
    best = max(float(at_first.max()), float(at_second.max()))
    for _ in range(_SECTIONS):
        rising = at_first < at_second
        begins, ends = np.where(rising, first, begins), np.where(rising, ends, second)
        step = _GOLDEN * (ends - begins)
        # One of the two inner points was already evaluated; only the other is evaluated now.
        fresh = np.where(rising, begins + step, ends - step)
        value = function(fresh)
        best = max(best, float(value.max()))
        first, second = np.where(rising, second, fresh), np.where(rising, fresh, first)
        at_first, at_second = np.where(rising, at_second, value), np.where(rising, value, at_first)
    return best


def integer_argmin(
    function: Callable[[int], float], low: int, high: int, *, points: int = 64, rounds: int = 5
) -> int:
    """Return the integer from low to high at which a function is smallest, found by a grid search.

    Each round evaluates `points` + 1 integers and continues between the neighbours of the best one, so the
    range shrinks `points`/2-fold. Then every remaining integer is tried.
    """
    for _ in range(rounds):
        grid = sorted({low + (high - low) * i // points for i in range(points + 1)})
        best = min(range(len(grid)), key=lambda i: function(grid[i]))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    return min(range(low, high + 1), key=function)
