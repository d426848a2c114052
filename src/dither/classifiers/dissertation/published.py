"""The dissertation's own box, as published and repaired; and its region of Appendix E.2.7, with its limits.

As published, a box is accepted when few of its points, spread evenly, change the answer; the probability of a
report in the box is claimed as utility. Reports are not spread evenly: they crowd about the record, where the
few bad points may all be. So the claim is not a bound, and is kept for comparison only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from dither.arrays import Floats, Integers
from dither.classifiers.case import Case
from dither.classifiers.concentration import concentration
from dither.classifiers.feature_law import Marginal, as_designed, marginals
from dither.classifiers.proofs.box import Box
from dither.classifiers.proofs.box_search import by_mass, farthest, grown
from dither.classifiers.proofs.confidence import bernstein, binomial_above, hoeffding_size
from dither.classifiers.proofs.monte_carlo import uniform
from dither.classifiers.result import Method, Utility
from dither.errors import InvalidParameter
from dither.mechanisms.base import Answering
from dither.randomness import Source

TAU: Final = 0.01  # the share of changed answers that the dissertation tolerates
_STRIDES: Final = (0.05, 0.0125)  # of the domain, by which a side is moved
_LOOKS: Final = 500  # points of each look at a box, while it is searched for


def published(
    case: Case, parts: Sequence[Answering], omega: float, queries: int, source: Source, tau: float = TAU
) -> Utility:
    """Give the claim of [Thesis, Sec. 7.3.3 and 7.4.1], which is not a bound: Π(F(b) − F(a))·(1 − τ).

    Each test asks n(ω, τ/2) times and accepts τ/2; the passing end of the bisection is kept, unlike in the
    authors' scripts. `queries` plays no part.
    """
    low, high = _ends(parts)
    size = hoeffding_size(omega, tau / 2.0)
    asked = 0

    def passes(box: Box) -> bool:
        nonlocal asked
        asked += size
        return float((~case.keeps(uniform(*box.corners, size, source))).mean()) <= tau / 2.0

    box = _expanded(case.values, low, high, passes)
    claim = (1.0 - tau) * _inside(parts, box, case.values)
    return Utility(claim, 1.0, claim, Method.PUBLISHED, 1.0 - omega, asked, box=box)


def repaired(case: Case, parts: Sequence[Answering], omega: float, queries: int, source: Source) -> Utility:
    """Bound the utility by a box that was searched for anyhow and validated once, on fresh points.

    The points are spread evenly over the reports in the box. With R the largest probability of a report times
    how many there are, P(in the box, answer lost) ≤ R·(share of points lost); so the utility is at least
    P(in the box) − R·(an upper bound of that share).
    """
    laws = _listed(parts, case.values)
    asked = 0

    def passes(box: Box) -> bool:
        nonlocal asked
        asked += _LOOKS
        return bool(case.keeps(uniform(*box.corners, _LOOKS, source)).all())

    def worth(box: Box) -> float:
        return float(np.prod([mass for mass, _, _ in _sides(laws, box)]))

    box = grown(by_mass(case.values, laws), len(parts), passes, worth, first_only=True)
    sides = _sides(laws, box)
    if any(not places.size for _, _, places in sides):
        return Utility(0.0, 1.0, 0.0, Method.REPAIRED, 1.0 - omega, asked, box=box)
    points = _evenly([places for _, _, places in sides], queries, source)
    lost = int((~case.keeps(points)).sum())
    mass, factor = worth(box), float(np.prod([factor for _, factor, _ in sides]))
    lower = mass - factor * binomial_above(lost, queries, omega)
    estimate = mass - factor * lost / queries
    return Utility(
        max(0.0, lower), 1.0, max(0.0, estimate), Method.REPAIRED, 1.0 - omega, asked + queries, box=box
    )


def region(case: Case, parts: Sequence[Answering], omega: float, queries: int, source: Source) -> Utility:
    """Estimate the utility from points spread evenly over all reports [Thesis, App. E.2.7], with a bound.

    The estimate is the mean of (number of reports)·P(report)·[answer stays]. With many features or large ε
    nearly all of the probability lies where no point falls; the bound (empirical Bernstein) then says 0.
    """
    laws = _listed(parts, case.values)
    places = [np.arange(law.places.size) for law in laws]
    picked = _evenly(places, queries, source).astype(np.int64)
    points = np.stack([law.places[picked[:, i]] for i, law in enumerate(laws)], axis=-1)
    weights = np.prod([law.masses[picked[:, i]] * law.places.size for i, law in enumerate(laws)], axis=0)
    most = float(np.prod([law.masses.max() * law.places.size for law in laws]))
    terms = weights * case.keeps(points)
    mean = float(terms.mean())
    margin = bernstein(float(terms.var(ddof=1)), most, queries, omega / 2.0)
    return Utility(
        max(0.0, mean - margin), min(1.0, mean + margin), min(1.0, mean), Method.REGION, 1.0 - omega, queries
    )


def _expanded(centre: Floats, low: Floats, high: Floats, passes: Callable[[Box], bool]) -> Box:
    """Give the box of [Thesis, Sec. 7.4.1]: the radius, then every side in turn a step on while it passes."""
    length = high - low

    def about(distance: float) -> Box:
        return Box(np.maximum(centre - distance * length, low), np.minimum(centre + distance * length, high))

    box = about(farthest(lambda distance: passes(about(distance))))
    for step in _STRIDES:
        moved = True
        while moved:
            moved = False
            for side in range(2 * centre.size):
                wider = _moved(box, side, step * length, low, high)
                if wider != box and passes(wider):
                    box, moved = wider, True
    return box


def _moved(box: Box, side: int, step: Floats, low: Floats, high: Floats) -> Box:
    begin, end = box.corners
    feature, upper = divmod(side, 2)
    if upper:
        end[feature] = min(end[feature] + step[feature], high[feature])
    else:
        begin[feature] = max(begin[feature] - step[feature], low[feature])
    return Box(begin, end)


def _ends(parts: Sequence[Answering]) -> tuple[Floats, Floats]:
    lines = [as_designed(part).line for part in parts]
    return np.array([line.low for line in lines]), np.array([line.high for line in lines])


def _inside(parts: Sequence[Answering], box: Box, values: Floats) -> float:
    sides = zip(parts, box.low, box.high, values, strict=True)
    return math.prod(float(concentration(part, (low, high), value)) for part, low, high, value in sides)


def _listed(parts: Sequence[Answering], values: Floats) -> tuple[Marginal, ...]:
    laws = marginals(parts, values)
    if laws is None:
        raise InvalidParameter("a mechanism has too many different reports to list; choose fewer cells")
    return laws


def _sides(laws: Sequence[Marginal], box: Box) -> list[tuple[float, float, Floats]]:
    """Give for each feature the probability of the box's side, its density factor, and its reports."""
    sides = []
    for law, low, high in zip(laws, box.low, box.high, strict=True):
        here = slice(*np.searchsorted(law.places, [low, np.nextafter(high, np.inf)]))
        masses, places = law.masses[here], law.places[here]
        sides.append((float(masses.sum()), float(masses.max(initial=0.0) * masses.size), places))
    return sides


def _evenly(choices: Sequence[Floats | Integers], count: int, source: Source) -> Floats:
    return np.stack([places[source.integers(places.size, count)] for places in choices], axis=-1).astype(
        np.float64
    )
