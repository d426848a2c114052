"""Search for a large box about a record that passes a test, such as a proof that the answer stays in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from dither.arrays import Floats
from dither.classifiers.feature_law import Marginal
from dither.classifiers.proofs.box import FeatureBox
from dither.numerics.bisection import largest_float

Test = Callable[[FeatureBox], bool]
Shape = Callable[[Floats], FeatureBox]  # from how far each of 2d sides has moved, 0 … 1, to a box

STEPS: Final = 12  # halvings of each bisection
_ORDERS: Final = 2  # up to this many features, every side is tried as the first to move
_MANY, _COARSE = 8, 4  # with more features than _MANY, a single side is bisected only _COARSE times


def box_mass(marginals: Sequence[Marginal], box: FeatureBox) -> float:
    """Return the probability that all reports lie in a box, for independent reports."""
    sides = zip(marginals, *box.corners, strict=True)
    return float(np.prod([marginal.between(low, high) for marginal, low, high in sides]))


def sides_by_mass(centre: Floats, marginals: Sequence[Marginal]) -> Shape:
    """Return boxes about a centre; a side that moved by t has passed a share t of the reports beyond it."""
    own = [np.searchsorted(one.places, value) for one, value in zip(marginals, centre, strict=True)]

    def box(moved: Floats) -> FeatureBox:
        low, high = centre.copy(), centre.copy()
        for feature, (one, place) in enumerate(zip(marginals, own, strict=True)):
            under, over = moved[2 * feature : 2 * feature + 2]
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
        return FeatureBox(low, high)

    return box


def sides_by_length(centre: Floats, low: Floats, high: Floats) -> Shape:
    """Return boxes about a centre; a side that moved by t is a share t of the way to its domain's end."""

    def box(moved: Floats) -> FeatureBox:
        return FeatureBox(centre - moved[0::2] * (centre - low), centre + moved[1::2] * (high - centre))

    return box


def boxes_by_radius(centre: Floats, low: Floats, high: Floats) -> Callable[[float], FeatureBox]:
    """Return boxes about a centre: each side t lengths of its domain away, but not outside the domain."""
    length = high - low

    def box(radius: float) -> FeatureBox:
        return FeatureBox(
            np.maximum(centre - radius * length, low), np.minimum(centre + radius * length, high)
        )

    return box


def grow_box(
    shape: Shape,
    features: int,
    passes: Test,
    worth: Callable[[FeatureBox], float],
    *,
    first_only: bool = False,
) -> FeatureBox:
    """Return the box of most worth among those found by moving all sides at once, then each by itself.

    Only boxes that passed are returned: if the test is a proof, the result is proven. (The box of the centre
    alone counts as passed.) `first_only` tries one order of the sides, for tests that cost queries.
    """
    starts: list[int | None] = [None]
    if features <= _ORDERS and not first_only:
        starts += list(range(2 * features))
    return max((_grow(shape, features, passes, first) for first in starts), key=worth)


def _grow(shape: Shape, features: int, passes: Test, first: int | None) -> FeatureBox:
    moved = np.zeros(2 * features)
    order = list(range(2 * features))
    if first is None:
        moved += farthest(lambda t: passes(shape(np.full(2 * features, t))))
    else:
        order = order[first:] + order[:first]
    for side in order:
        moved[side] = _move_side(shape, passes, moved, side, STEPS if features <= _MANY else _COARSE)
    return shape(moved)


def _move_side(shape: Shape, passes: Test, moved: Floats, side: int, steps: int) -> float:
    begin = moved[side]

    def passes_at(t: float) -> bool:
        further = moved.copy()
        further[side] = begin + (1.0 - begin) * t
        return passes(shape(further))

    return float(begin + (1.0 - begin) * farthest(passes_at, steps))


def farthest(passes: Callable[[float], bool], steps: int = STEPS) -> float:
    """Return the largest share from 0 to 1 found to pass; it has passed itself, or is 0."""
    return 1.0 if passes(1.0) else largest_float(passes, 0.0, 1.0, steps=steps)
