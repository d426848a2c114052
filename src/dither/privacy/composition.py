"""Composition of (ε, δ) curves: δ(ε) after several independent releases, rounded up.

A curve δ(ε) belongs to a pair of distributions. The privacy loss is the logarithm of their ratio, under the
first distribution. Straight lines in e^ε between points of the curve are an upper bound of the curve. The
loss of this bound takes its values only at these points [Doroshenko22]. Losses of independent releases add,
so their distributions are convolved. All terms are positive and are added directly, without a Fourier
transform: the error stays relative.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from dither.foundation.arrays import Floats

Failure = Callable[[float], float]

_LEAST: Final = 1e-18  # the losses of one release end where δ falls below this
_DROPPED: Final = 1e-17  # mass of one tail that each convolution cuts off; the upper tail is added to δ
_GUARD: Final = 1e-10  # a generous upper bound on the relative error of all sums and products


def repeat(failure: Failure, times: int, most: float, points: int) -> Failure:
    """Return δ(ε) of `times` independent releases whose single curve is at most `failure`.

    The curve is evaluated at `points` + 1 values of ε; more take longer and give a tighter bound. The pair
    must be symmetric: both directions have the same curve. δ is 0 at `most`, the pure bound of one release.
    """
    step, masses, lost = _losses(failure, most, points)
    total, offset, charged = _power(masses, times)
    gone = -math.expm1(times * math.log1p(-min(lost, 1.0 - 1e-12))) + charged
    losses = step * (np.arange(total.size) + offset - times * (masses.size // 2))

    def compose(epsilon: float) -> float:
        above = losses > epsilon
        return min(1.0, (float(total[above] @ -np.expm1(epsilon - losses[above])) + gone) * (1.0 + _GUARD))

    return compose


def _losses(failure: Failure, most: float, points: int) -> tuple[float, Floats, float]:
    """Return the spacing of the losses, their masses (symmetric about 0) and the mass of an infinite loss."""
    end = most
    while end > most * 1e-9 and failure(end / 2.0) < _LEAST:
        end /= 2.0
    step = end / points
    right = step * np.arange(points + 1)
    known = np.array([failure(float(epsilon)) for epsilon in right])
    # By symmetry δ(−ε) = 1 − e^−ε + e^−ε·δ(ε).
    left = -np.expm1(-right[:0:-1]) + np.exp(-right[:0:-1]) * known[:0:-1]
    deltas, positions = np.concatenate([left, known]), np.exp(np.concatenate([-right[:0:-1], right]))
    slopes = np.diff(deltas) / np.diff(positions)
    slopes = np.minimum.accumulate(np.minimum(slopes, 0.0)[::-1])[::-1]  # convex despite rounding
    ends = np.concatenate([[-1.0], slopes, [0.0]])  # below the first point the curve is 1 − e^ε
    masses = positions * np.maximum(np.diff(ends), 0.0)
    return step, masses, float(known[-1])


def _power(masses: Floats, times: int) -> tuple[Floats, int, float]:
    """Return the `times`-fold convolution without tails, the index of its first entry, and the mass for δ."""
    result, begin, charged = np.ones(1), 0, 0.0
    square, first, cost = masses, 0, 0.0
    left = times
    while left:
        if left & 1:
            result, begin, extra = trim(np.convolve(result, square), begin + first)
            charged += cost + extra
        left >>= 1
        if left:
            square, first, extra = trim(np.convolve(square, square), 2 * first)
            cost = 2.0 * cost + extra
    return result, begin, charged


def trim(masses: Floats, first: int, dropped: float = _DROPPED) -> tuple[Floats, int, float]:
    """Return the masses without their tails, the new first index and the mass of the upper tail, for δ.

    The lower tail is added to the first kept mass.
    """
    low = int(np.searchsorted(np.cumsum(masses), dropped))
    high = masses.size - int(np.searchsorted(np.cumsum(masses[::-1]), dropped))
    kept = masses[low:high].copy()
    kept[0] += masses[:low].sum()
    return kept, first + low, float(masses[high:].sum())
