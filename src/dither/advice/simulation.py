"""The error of an estimated distribution, for which there is no formula, found by simulation.

Simulated values are uniform on the domain. Of the distributions tried (one peak, two peaks, decreasing, a
point mass) that is about the hardest: only a peak between two bins, at large ε, had a clearly larger error.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any, Final

import numpy as np

from dither.arrays import Floats
from dither.domains import Circle, Line
from dither.errors import InvalidParameter
from dither.estimation.api import distribution
from dither.mechanisms.number import NumberMechanism
from dither.numerics.false_position import power_law_root
from dither.randomness import Seeded

FINAL: Final = range(128)  # seeds of a prediction: its standard error is one or two per cent
FIRST: Final = range(
    1000, 1016
)  # separate seeds for the first ranking, so that it does not bias the errors of the best
_CLOSE: Final = 0.02  # how near to the target error a number of people must come, relative to it
_LIMIT: Final = 1e12
_MOST: Final = 1 << 20  # people simulated; for more, the rate at which the error falls is extrapolated


def tells_apart(mechanism: Any, bins: int) -> bool:
    """Return whether the first two bins, and the last two, have different laws of their reports."""
    if not isinstance(mechanism, NumberMechanism) or mechanism.outcomes < bins:
        return False  # reports with two values identify a mean, not a distribution
    if isinstance(mechanism.domain, Circle):
        return True
    support = np.linspace(*mechanism.law.support, 513)
    for first, second in ((0.0, 1.0 / bins), (1.0 - 1.0 / bins, 1.0)):
        laws = [mechanism.law.cumulative(support, np.full_like(support, x)) for x in (first, second)]
        if float(np.abs(laws[0] - laws[1]).max()) < 1e-9:
            return False
    return True


def distance(mechanism: Any, n: int, bins: int, runs: range = FINAL) -> float:
    """Return the mean area between the true and the estimated cdf over the runs, in the domain's units."""
    if n <= _MOST:
        return _simulated(mechanism, n, bins, runs)
    near, far = (_simulated(mechanism, count, bins, runs[: len(FIRST)]) for count in (_MOST // 8, _MOST))
    fall = math.log(near / far) / math.log(8.0)
    return far * float((n / _MOST) ** -fall)


def people_for_distance(mechanism: Any, target: float, bins: int) -> int | None:
    """Return the number of people that brings the distance to a target, to a few per cent, or None."""

    def ratio(n: float) -> float:
        return distance(mechanism, round(n), bins) / target

    # Errors fall as n^(−1/2) or a little slower, so that the search approaches the answer from one side.
    n, left = power_law_root(ratio, 10_000.0, 2.0, close=_CLOSE, steps=11, low=1.0, high=_LIMIT)
    return None if left >= 1.0 + _CLOSE else math.ceil(n)


@lru_cache(maxsize=256)
def _simulated(mechanism: Any, n: int, bins: int, runs: range) -> float:
    line: Line = mechanism.line
    values = line.from_unit((np.arange(n) + 0.5) / n)
    truth = np.full(bins, 1.0 / bins)
    twin = _coarser(mechanism, bins)
    reports = (twin.perturb(values, source=Seeded(run)) for run in runs)
    return float(np.mean([apart(line, distribution(one, bins).probabilities, truth) for one in reports]))


def _coarser(mechanism: Any, bins: int) -> Any:
    """Return the same mechanism on fewer cells where possible: as accurate, and faster to decode."""
    cells = 1 << max(10, (16 * bins - 1).bit_length())
    given = next((field for field in fields(mechanism) if field.name == "cells"), None)
    if given is None or not given.init or mechanism.cells <= cells:
        return mechanism
    try:
        return replace(mechanism, cells=cells)
    except InvalidParameter:  # too few for this budget
        return mechanism


def apart(line: Line, first: Floats, second: Floats) -> float:
    """Return the area between two cdfs over equal bins; on a circle, the least over all starting points."""
    gaps = np.cumsum(np.asarray(first) - second)
    if isinstance(line, Circle):
        gaps = gaps - np.median(gaps)
    return float(np.abs(gaps).mean() * line.length)
