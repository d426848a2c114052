"""Boxes in which the answer stays: grown about a record, side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from dither.arrays import Floats
from dither.classifiers.feature_law import Marginal
from dither.classifiers.proofs.box import Box
from dither.numerics.bisection import largest_float

Test = Callable[[Box], bool]
Shape = Callable[[Floats], Box]  # from how far each of 2d sides has gone, 0 … 1, to a box

STEPS: Final = 12  # halvings of each search
_ORDERS: Final = 2  # features up to which every side has its turn to grow first
_MANY, _COARSE = 8, 4  # from so many features on, each side's own search has few halvings


def by_mass(centre: Floats, marginals: Sequence[Marginal]) -> Shape:
    """Let each side go out over the reports beyond the centre, measured by their probability."""
    own = [np.searchsorted(one.places, value) for one, value in zip(marginals, centre, strict=True)]

    def box(gone: Floats) -> Box:
        low, high = centre.copy(), centre.copy()
        for feature, (one, place) in enumerate(zip(marginals, own, strict=True)):
            under, over = gone[2 * feature : 2 * feature + 2]
            before, whole = one.sums[place], one.sums[-1]
            first = int(np.searchsorted(one.sums, before * (1.0 - under), side="left"))
            if first < place:
                low[feature] = one.places[first]
            wanted = before + (whole - before) * over
            last = (
                one.places.size if over == 1.0 else int(np.searchsorted(one.sums, wanted, side="right")) - 1
            )
            if last > place:
                high[feature] = one.places[last - 1]
        return Box(low, high)

    return box


def by_length(centre: Floats, low: Floats, high: Floats) -> Shape:
    """Let each side go from the centre to the end of its domain, in equal steps."""

    def box(gone: Floats) -> Box:
        return Box(centre - gone[0::2] * (centre - low), centre + gone[1::2] * (high - centre))

    return box


def grown(
    shape: Shape,
    features: int,
    passes: Test,
    worth: Callable[[Box], float],
    *,
    first_only: bool = False,
) -> Box:
    """Give the best box found: all sides at once as far as they go, then each of them by itself.

    Only boxes that passed are given, so with a test that proves, the answer is proven.
    """
    starts: list[int | None] = [None]
    if features <= _ORDERS and not first_only:
        starts += list(range(2 * features))
    return max((_grown(shape, features, passes, first) for first in starts), key=worth)


def _grown(shape: Shape, features: int, passes: Test, first: int | None) -> Box:
    gone = np.zeros(2 * features)
    order = list(range(2 * features))
    if first is None:
        share = farthest(lambda t: passes(shape(np.full(2 * features, t))))
        gone += share
    else:
        order = order[first:] + order[:first]
    for side in order:
        gone[side] = _side(shape, passes, gone, side, STEPS if features <= _MANY else _COARSE)
    return shape(gone)


def _side(shape: Shape, passes: Test, gone: Floats, side: int, steps: int) -> float:
    begin = gone[side]

    def moved(t: float) -> bool:
        further = gone.copy()
        further[side] = begin + (1.0 - begin) * t
        return passes(shape(further))

    return float(begin + (1.0 - begin) * farthest(moved, steps))


def farthest(passes: Callable[[float], bool], steps: int = STEPS) -> float:
    """Return the largest share from 0 to 1 found to pass; it has passed itself, or is 0."""
    return 1.0 if passes(1.0) else largest_float(passes, 0.0, 1.0, steps=steps)
