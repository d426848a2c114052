"""How many standard errors an interval reaches: Student's t, and the length of a random arrow."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist
from typing import Final

import numpy as np

from dither.arrays import Floats
from dither.errors import InvalidParameter

_FAR: Final = 12.0  # standard errors from zero beyond which an arrow's length is as good as normal


def check_level(level: float) -> float:
    """Give a level back if it is one."""
    if not (isinstance(level, int | float | np.floating) and 0.0 < level < 1.0):
        raise InvalidParameter("a level is a probability strictly between 0 and 1")
    return float(level)


def critical(level: float, freedom: float = math.inf) -> float:
    """Give the t for which |T| ≤ t has probability `level`, by Hill's expansion to five digits [Hill70]."""
    outside = 1.0 - check_level(level)
    if freedom < 1:
        return math.inf
    if freedom == 1:
        return 1.0 / math.tan(outside * math.pi / 2.0)
    if freedom == 2:
        return math.sqrt(2.0 / (outside * (2.0 - outside)) - 2.0)
    normal = NormalDist().inv_cdf(outside / 2.0)
    if freedom > 1e9:
        return -normal
    a = 1.0 / (freedom - 0.5)
    b = 48.0 / (a * a)
    c = ((20700.0 * a / b - 98.0) * a - 16.0) * a + 96.36
    d = ((94.5 / (b + c) - 3.0) / b + 1.0) * math.sqrt(a * math.pi / 2.0) * freedom
    y = (d * outside) ** (2.0 / freedom)
    if y > 0.05 + a:
        if freedom < 5:
            c += 0.3 * (freedom - 4.5) * (normal + 0.6)
        c += (((0.05 * d * normal - 5.0) * normal - 7.0) * normal - 2.0) * normal + b
        y = normal * normal
        y = (((((0.4 * y + 6.3) * y + 36.0) * y + 94.5) / c - y - 3.0) / b + 1.0) * normal
        y = math.expm1(a * y * y)
    else:
        tail = 1.0 / (((freedom + 6.0) / (freedom * y) - 0.089 * d - 0.822) * (freedom + 2.0) * 3.0)
        y = ((tail + 0.5 / (freedom + 4.0)) * y - 1.0) * (freedom + 1.0) / (freedom + 2.0) + 1.0 / y
    return math.sqrt(freedom * y)


def arrow(length: float, level: float) -> tuple[float, float]:
    """Give the lengths ν of an arrow that may have been seen as `length` after unit noise in both directions.

    The length seen follows Rice's law; both ends of the interval leave (1 − level)/2 beyond them. A short
    arrow is seen too long, so the lower end is 0 where the noise alone explains what was seen; the upper end
    never is, however short the arrow looks.
    """
    outside = (1.0 - check_level(level)) / 2.0
    if length > _FAR:
        reach = critical(level)
        middle = math.sqrt(length**2 - 1.0)
        return middle - reach, middle + reach
    return _solve(length, 1.0 - outside), _solve(max(length, 1.0), outside)


def _solve(length: float, chance: float) -> float:
    """Give the ν for which a length of at most `length` is seen with this probability, or 0."""
    low, high = 0.0, length + 10.0
    if _rice(length, 0.0) <= chance:
        return 0.0
    for _ in range(30):
        middle = (low + high) / 2.0
        low, high = (middle, high) if _rice(length, middle) > chance else (low, middle)
    return (low + high) / 2.0


def _rice(length: float, true: float) -> float:
    """Give the probability that an arrow of length `true` is seen at most `length` long."""
    nodes, weights = _nodes()
    r = length * nodes
    density = r * np.exp(-((r - true) ** 2) / 2.0 - r * true) * np.i0(r * true)
    return length * float(density @ weights)


@cache
def _nodes() -> tuple[Floats, Floats]:
    # Enough for lengths up to _FAR: the density varies over one unit, and at most _FAR of them are covered.
    nodes, weights = np.polynomial.legendre.leggauss(64)
    return (nodes + 1.0) / 2.0, weights / 2.0
