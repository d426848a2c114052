"""Newton's method, plain and inside a bracket."""

from __future__ import annotations

from collections.abc import Callable

ValueAndSlope = Callable[[float], tuple[float, float]]


def newton(function: ValueAndSlope, start: float, *, tolerance: float = 1e-16, steps: int = 50) -> float:
    """Return the root that Newton's steps from `start` reach; the function returns value and slope.

    They end when one is at most `tolerance` times the root. There is no bracket: use it where convergence
    from this start is proven, as for a convex increasing function from any point right of its root.
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
