"""The dissertation's box, repaired: a box found by any search, then validated once on fresh points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from dither.arrays import Floats
from dither.classifiers.case import Case
from dither.classifiers.dissertation.uniform_reports import draw_uniform_reports, list_marginals
from dither.classifiers.feature_law import FeatureLaw, Marginal
from dither.classifiers.proofs.box_search import box_mass, grow_box, sides_by_mass
from dither.classifiers.proofs.confidence import binomial_above
from dither.classifiers.proofs.uniform_points import UniformTest
from dither.classifiers.result import Utility, UtilityMethod
from dither.randomness import Source

_LOOKS: Final = 500  # points of each test during the search


def repaired_box(
    case: Case, laws: Sequence[FeatureLaw], omega: float, queries: int, source: Source
) -> Utility:
    """Bound the utility by a box that was searched for and then validated on fresh points.

    The points are uniform over the reports in the box. With R the largest probability of a report in the box
    times the number of reports in it, P(in the box, answer changed) ≤ R·(share of reports that change the
    answer). So the utility is at least P(in the box) − R·(upper confidence bound of that share).
    """
    marginals = list_marginals(laws, case.values)
    test = UniformTest(case, _LOOKS, lambda changed: changed == 0, source)
    box = grow_box(
        sides_by_mass(case.values, marginals),
        len(laws),
        test,
        lambda box: box_mass(marginals, box),
        first_only=True,
    )
    inside = [_restrict(*side) for side in zip(marginals, *box.corners, strict=True)]
    if not all(side.places.size for side in inside):
        return Utility(0.0, 1.0, 0.0, UtilityMethod.REPAIRED, 1.0 - omega, test.queries, box=box)
    points = draw_uniform_reports([side.places for side in inside], queries, source)
    changed = int((~case.keeps(points)).sum())
    mass = box_mass(marginals, box)
    factor = float(np.prod([side.masses.max() * side.masses.size for side in inside]))
    return Utility(
        max(0.0, mass - factor * binomial_above(changed, queries, omega)),
        1.0,
        max(0.0, mass - factor * changed / queries),
        UtilityMethod.REPAIRED,
        1.0 - omega,
        test.queries + queries,
        box=box,
    )


def _restrict(marginal: Marginal, low: Floats, high: Floats) -> Marginal:
    """Return the reports from low to high; their masses do not add up to 1."""
    here = slice(*np.searchsorted(marginal.places, [low, np.nextafter(high, np.inf)]))
    return Marginal(marginal.places[here], marginal.masses[here])
