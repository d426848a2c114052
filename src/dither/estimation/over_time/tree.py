"""Sums of changes over days, from noisy sums over dyadic intervals: weighted least squares on a tree.

The sums of one level are noisy and independent, and the sum of an interval is that of its two halves, too.
The best linear unbiased estimate of any weighted sum of daily changes uses all levels. It is computed from
the leaves to the root, as in [Hay10, Section 4], for any variances.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from dither.arrays import Floats

UNKNOWN: Final = 1e12  # the variance of an interval without reports


@dataclass(frozen=True)
class NoisySums:
    """Estimated sums of the changes in the intervals of one level, and their variances."""

    values: Floats
    variances: Floats


@dataclass(frozen=True)
class _Node:
    """What is known of an interval from the levels up to its own.

    `sum` and `variance` are of its sum of changes x. Given x, the estimate for the days from `first` on is
    offset + slope·x, with variance `rest`. Before these days it is 0, after them x.
    """

    sum: float
    variance: float
    first: int
    offset: Floats
    slope: Floats
    rest: Floats

    def pad(self, first: int, end: int) -> tuple[Floats, Floats, Floats]:
        """Return offset, slope and rest for the days from `first` to the one before `end`."""
        around = self.first - first, end - self.first - self.slope.size
        return (
            np.pad(self.offset, around),
            np.pad(self.slope, around, constant_values=(0.0, 1.0)),
            np.pad(self.rest, around),
        )


def running_sums(levels: list[NoisySums], days: int, smoothing: int = 1) -> tuple[Floats, Floats]:
    """Return the sum of all changes up to each day, averaged over the days around it, and the variances.

    `levels[h]` has the intervals of 2^h days; the first of them begins on day 1, and day 0 has no change.
    `smoothing` is an odd number of days that are averaged, fewer at both ends.
    """
    half = smoothing // 2
    nodes = [
        _leaf(leaf, value, variance, days, half)
        for leaf, (value, variance) in enumerate(zip(levels[0].values, levels[0].variances, strict=True))
    ]
    height = 0
    while len(nodes) > 1:
        height += 1
        unknown = np.zeros(-(-len(nodes) // 2)), np.full(-(-len(nodes) // 2), UNKNOWN)
        own = levels[height] if height < len(levels) else NoisySums(*unknown)
        nodes = [
            _with_own(_together(nodes[place : place + 2]), own.values[place // 2], own.variances[place // 2])
            for place in range(0, len(nodes), 2)
        ]
    (root,) = nodes
    offset, slope, rest = root.pad(0, days)
    return offset + slope * root.sum, rest + slope**2 * root.variance


def _leaf(leaf: int, value: float, variance: float, days: int, half: int) -> _Node:
    """Return the node of the changes on day leaf + 1: a day counts them by its averaged days from then on."""
    day = np.arange(max(0, leaf + 1 - half), min(days, leaf + 1 + half))
    first, end = np.maximum(0, day - half), np.minimum(days, day + half + 1)
    slope = (end - (leaf + 1)) / (end - first)
    return _Node(value, variance, max(0, leaf + 1 - half), np.zeros(day.size), slope, np.zeros(day.size))


def _together(halves: list[_Node]) -> _Node:
    """Return the node of an interval from those of its halves; the last interval may have only one."""
    if len(halves) == 1:
        return halves[0]
    left, right = halves
    first, end = left.first, right.first + right.slope.size
    (offset_1, slope_1, rest_1), (offset_2, slope_2, rest_2) = (half.pad(first, end) for half in halves)
    total = left.variance + right.variance
    # Given the sum x of both, the left sum has mean a·left + (1 − a)(x − right) and variance a·left.variance.
    a = right.variance / total
    apart = slope_1 - slope_2
    return _Node(
        left.sum + right.sum,
        total,
        first,
        offset_1 + offset_2 + apart * (a * left.sum - (1.0 - a) * right.sum),
        slope_2 + apart * (1.0 - a),
        rest_1 + rest_2 + apart**2 * a * left.variance,
    )


def _with_own(node: _Node, value: float, variance: float) -> _Node:
    """Return a node whose sum is combined with an estimate of its own level, weighted by precision."""
    share = node.variance / (node.variance + variance)
    known = node.sum + share * (value - node.sum)
    return _Node(known, (1.0 - share) * node.variance, node.first, node.offset, node.slope, node.rest)
