"""The dissertation's box as published [Thesis, Sec. 7.3.3 and 7.4.1]. Its claim is not a bound.

A box is accepted if few of its points change the answer when they are drawn uniformly; the probability of a
report in the box is claimed as utility. Reports are not uniform: they are most likely near the record, where
the few points that change the answer may all be. The claim is kept for comparison only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from dither.arrays import Floats
from dither.classifiers.case import Case
from dither.classifiers.concentration import side_mass
from dither.classifiers.feature_law import FeatureLaw
from dither.classifiers.proofs.box import Box
from dither.classifiers.proofs.box_search import boxes_by_radius, farthest
from dither.classifiers.proofs.confidence import hoeffding_size
from dither.classifiers.proofs.uniform_points import UniformTest
from dither.classifiers.result import Utility, UtilityMethod
from dither.randomness import Source

TAU: Final = 0.01  # the share of changed answers that the dissertation tolerates
_STRIDES: Final = (0.05, 0.0125)  # of the domain's length, by which a side is moved


def published_box(
    case: Case, laws: Sequence[FeatureLaw], omega: float, queries: int, source: Source, tau: float = TAU
) -> Utility:
    """Return the claim Π(F(b) − F(a))·(1 − τ), which is not a bound [Thesis, Sec. 7.3.3].

    Each test asks n(ω, τ/2) times and accepts a share of τ/2; the end of the bisection that passed is kept,
    unlike in the authors' scripts. `queries` is not used.
    """
    size = hoeffding_size(omega, tau / 2.0)
    test = UniformTest(case, size, lambda changed: changed / size <= tau / 2.0, source)
    low, high = (np.array([getattr(law.line, end) for law in laws]) for end in ("low", "high"))
    box = _expand(case.values, low, high, test)
    sides = zip(laws, *box.corners, case.values, strict=True)
    claim = (1.0 - tau) * math.prod(float(side_mass(*side)) for side in sides)
    return Utility(claim, 1.0, claim, UtilityMethod.PUBLISHED, 1.0 - omega, test.queries, box=box)


def _expand(centre: Floats, low: Floats, high: Floats, passes: Callable[[Box], bool]) -> Box:
    """Return the box of [Thesis, Sec. 7.4.1]: the radius, then every side in turn moved while it passes."""
    about = boxes_by_radius(centre, low, high)
    box = about(farthest(lambda distance: passes(about(distance))))
    for stride in _STRIDES:
        moved = True
        while moved:
            moved = False
            for side in range(2 * centre.size):
                wider = _move_side(box, side, stride * (high - low), low, high)
                if wider != box and passes(wider):
                    box, moved = wider, True
    return box


def _move_side(box: Box, side: int, stride: Floats, low: Floats, high: Floats) -> Box:
    begin, end = box.corners
    feature, upper = divmod(side, 2)
    if upper:
        end[feature] = min(end[feature] + stride[feature], high[feature])
    else:
        begin[feature] = max(begin[feature] - stride[feature], low[feature])
    return Box(begin, end)
