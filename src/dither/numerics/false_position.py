"""False position: roots of functions that are expensive to evaluate and nearly linear, in few evaluations."""

from __future__ import annotations

from collections.abc import Callable

Function = Callable[[float], float]


def decreasing_root(
    function: Function, low: float, high: float, *, close: float, start: float = 0.0, step: float = 1.0
) -> float | None:
    """Return a point at which a decreasing function lies between −close and 0; None if it stays higher.

    A bracket is searched from `start` in steps that double; within it the Illinois variant of false position
    aims at −close/2 [Dowell71]. If the function is lower already at `low`, the result is `low`. If it jumps,
    the result is the right end of a bracket of width 10⁻³·close, where the function is at most −close/2.
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
        again = value * before > 0.0  # twice on the same side: the other end counts half
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
    """Return where a function that grows about in proportion to the distance from `start` is `target`.

    It is searched between start, where the function is 0, and `limit` on either side of it, until the value
    is closer than `close` to the target. If the bracket shrinks to `resolution` before, the result is its end
    farther from start, which is `limit` if the target is not reached.
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

    The ratio behaves about as x^(−1/power), so that x·ratio^power is a better x. At most `steps` of them are
    tried; if the ratio returned is farther from 1 than `close`, the search has failed.
    """
    x, value = start, ratio(start)
    for _ in range(steps):
        if abs(value - 1.0) < close:
            break
        x = min(max(x * value**power, low), high)
        value = ratio(x)
    return x, value
