"""Bisection on floats, integers and arrays: roots of monotone functions, limits of monotone predicates.

A search with a predicate keeps two ends: `inside`, where the predicate holds, and `outside`, where it does
not. It returns the inside end, which the caller vouched for or the predicate has confirmed. The outside end
is never returned. Privacy depends on this direction: the noise that is returned is certainly enough, the
ratio that is returned is certainly allowed. A comparison with NaN is False, so a formula that is undefined
at some number counts as not holding there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import count
from typing import Final

import numpy as np

from dither.arrays import Floats, Mask
from dither.errors import InvalidParameter, found

Predicate = Callable[[float], bool]
IntegerPredicate = Callable[[int], bool]

_FLOAT_DOUBLINGS: Final = 1023  # up to 2^1022, whose double is finite
_INTEGER_DOUBLINGS: Final = 4096


def increasing_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of an increasing function between low and high, to the last bit.

    The root lies between two neighbouring floats; the one whose last bit is even is returned. If the function
    is positive everywhere the result is `low` or its neighbour, if negative everywhere `high` or its.
    """
    _check(low, high)
    while True:
        middle = (low + high) / 2.0
        if middle in (low, high):
            return middle
        value = function(middle)
        if math.isnan(value):
            raise InvalidParameter(
                "bisection needs a function that is a number on the whole bracket; it is NaN inside"
            )
        low, high = (middle, high) if value < 0.0 else (low, middle)


def smallest_float(
    holds: Predicate, low: float, high: float, *, steps: int | None = None, tolerance: float = 0.0
) -> float:
    """Return the smallest float above `low` for which a predicate holds that holds at `high` and beyond.

    Without `steps` and `tolerance` the float below the result does not satisfy the predicate. The search ends
    earlier after `steps` halvings, or when the bracket is at most `tolerance` times the result. `high` is not
    evaluated: it is returned if the predicate holds nowhere below it.
    """
    _check(low, high)
    return _inside(holds, high, low, steps, tolerance)


def largest_float(
    holds: Predicate, low: float, high: float, *, steps: int | None = None, tolerance: float = 0.0
) -> float:
    """Return the largest float below `high` for which a predicate holds that holds at `low` and below.

    As `smallest_float`, in the other direction: `low` is not evaluated and is returned if the predicate holds
    nowhere above it.
    """
    _check(low, high)
    return _inside(holds, low, high, steps, tolerance)


def smallest_positive_float(holds: Predicate) -> float:
    """Return the smallest positive float for which a predicate holds that holds for all larger ones.

    A float for which it holds is found by doubling, from 1 on.
    """
    for exponent in range(_FLOAT_DOUBLINGS):
        high = 2.0**exponent
        if holds(high):
            return smallest_float(holds, 0.0, high)
    raise InvalidParameter("the condition of this search is not satisfied by any float")


def farthest_float(holds: Predicate, start: float, end: float, *, step: float, steps: int) -> float:
    """Return the number farthest from `start` towards `end` for which a predicate holds that holds at start.

    Steps of double length, the first of length `step`, are made until one fails; then the last of them is
    halved `steps` times. `end` is the result if the predicate holds there.
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
    """Return the smallest integer above `low` for which a predicate holds that holds at `high` and beyond.

    Neither end is evaluated: `high` is returned if the predicate holds nowhere between them.
    """
    _check(low, high)
    return _inside_integer(holds, high, low)


def largest_integer(holds: IntegerPredicate, low: int, high: int) -> int:
    """Return the largest integer below `high` for which a predicate holds that holds at `low` and below.

    Neither end is evaluated: `low` is returned if the predicate holds nowhere between them.
    """
    _check(low, high)
    return _inside_integer(holds, low, high)


def smallest_positive_integer(holds: IntegerPredicate) -> int:
    """Return the smallest positive integer for which a predicate holds that holds for all larger ones.

    An integer for which it holds is found by doubling, from 1 on.
    """
    for exponent in range(_INTEGER_DOUBLINGS):
        high = 1 << exponent
        if holds(high):
            return smallest_integer(holds, high // 2, high)
    raise InvalidParameter("the condition of this search is not satisfied by any integer")


def bisect_arrays(
    reached: Callable[[Floats], Mask], low: Floats, high: Floats, steps: int
) -> tuple[Floats, Floats]:
    """Return the ends of many brackets, halved `steps` times: not reached at `low`, reached at `high`.

    `reached` takes one number of each bracket and is increasing in it. Where it holds nowhere or everywhere,
    the other end of the bracket stays as it was given.
    """
    if not np.all(low <= high):
        raise InvalidParameter("bisection needs finite ends with low ≤ high")
    for _ in range(steps):
        middle = (low + high) / 2.0
        there = reached(middle)
        low, high = np.where(there, low, middle), np.where(there, middle, high)
    return low, high


def _check(low: float, high: float) -> None:
    # Twice a float must be finite too, or the sum of two of them would overflow.
    finite = all(isinstance(end, int) or math.isfinite(2.0 * end) for end in (low, high))
    if not (finite and low <= high):
        raise InvalidParameter(
            f"bisection needs finite ends with low ≤ high, not {found(low)} and {found(high)}"
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
