"""Grid search on integers: the minimum of a function that need not be unimodal."""

from __future__ import annotations

from collections.abc import Callable


def integer_argmin(
    function: Callable[[int], float], low: int, high: int, *, points: int = 64, rounds: int = 5
) -> int:
    """Return the integer from low to high at which a function is smallest, as far as grids show it.

    Each round evaluates `points` + 1 integers and goes on between the neighbours of the best of them, which
    narrows the range `points`/2-fold; then every integer that is left is tried.
    """
    for _ in range(rounds):
        grid = sorted({low + (high - low) * i // points for i in range(points + 1)})
        best = min(range(len(grid)), key=lambda i: function(grid[i]))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    return min(range(low, high + 1), key=function)
