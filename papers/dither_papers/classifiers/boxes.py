"""The boxes of chapter 7 and the region of appendix E.2.7, as published and repaired.

The dissertation accepts a box if few of its points change the answer when they are drawn uniformly, and
claims the probability of a report in the box as utility. Reports are not uniform: they are most likely near
the record, where the few points that change the answer may all be. So the claim is not a bound; it is kept
for comparison. The repaired box and the region are valid bounds. `dither.utility` has stronger ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final

import numpy as np

from dither.errors import InvalidParameter
from dither.extensions.classifiers.boxes import (
    FeatureBox,
    box_mass,
    boxes_by_radius,
    farthest,
    grow_box,
    sides_by_mass,
)
from dither.extensions.classifiers.concentration import side_mass
from dither.extensions.classifiers.feature_law import FeatureLaw, Marginal, marginals
from dither.extensions.classifiers.monte_carlo import UniformTest, bernstein, binomial_above, hoeffding_size
from dither.extensions.classifiers.result import Case, confidence_text, rounded_down, with_raw_release
from dither.extensions.classifiers.subject import Randomisation, Randomiser
from dither.extensions.classifiers.utility import QUERIES, check_confidence, check_queries
from dither.foundation.arrays import Floats, Integers
from dither.foundation.randomness import SYSTEM, Source

TAU: Final = 0.01  # the share of changed answers that the dissertation tolerates
_STRIDES: Final = (0.05, 0.0125)  # relative to the domain's length: steps of a side
_LOOKS: Final = 500  # points of each test during the search


class BoxMethod(Enum):
    """The method for the utility: two valid bounds, or the claim of the dissertation."""

    REPAIRED = "repaired box"
    REGION = "uniform region"
    PUBLISHED = "published box, not a bound"


@dataclass(frozen=True, repr=False)
class BoxUtility:
    """The probability that an answer stays, by a box or a region; see `dither.results.Utility`."""

    lower: float
    upper: float
    estimate: float
    method: BoxMethod
    confidence: float
    queries: int
    box: FeatureBox | None = None

    @property
    def is_bound(self) -> bool:
        """Whether `lower` is a lower bound: False for the published box."""
        return self.method is not BoxMethod.PUBLISHED

    def __float__(self) -> float:
        return self.lower

    def __repr__(self) -> str:
        if not self.is_bound:
            return f"{self.lower:.3f} ({self.method.value})"
        how = f"{self.method.value}{confidence_text(self.confidence)}"
        return f"stays with probability ≥ {rounded_down(self.lower)} ({how})"


def box_utility(
    predict: object,
    x: Any,
    mechanism: Randomiser,
    method: BoxMethod,
    *,
    confidence: float = 0.95,
    queries: int = QUERIES,
    names: Sequence[str] | None = None,
    source: Source | None = None,
) -> BoxUtility:
    """Return the utility by a method of the dissertation; other arguments are as for `utility`."""
    omega = check_confidence(confidence)
    check_queries(queries)
    if omega == 0.0:
        raise InvalidParameter("expected a confidence below 1 for a method that samples, got 1")
    randomisation = Randomisation.of(mechanism)
    case = Case.of(predict, x, randomisation.names, names)
    bound = {
        BoxMethod.REPAIRED: repaired_box,
        BoxMethod.REGION: uniform_region,
        BoxMethod.PUBLISHED: published_box,
    }[method]
    laws = randomisation.laws(case.features)
    said = bound(case, laws, omega, queries, SYSTEM if source is None else source)
    lower, upper, estimate = (
        with_raw_release(edge, randomisation.raw_share) for edge in (said.lower, said.upper, said.estimate)
    )
    return replace(said, lower=lower, upper=upper, estimate=estimate)


def list_marginals(laws: Sequence[FeatureLaw], values: Floats) -> tuple[Marginal, ...]:
    """Return the probabilities of all reports about each feature; raise if there are too many to list."""
    found = marginals(laws, values)
    if found is None:
        raise InvalidParameter(
            "expected a mechanism with fewer different reports to list; choose fewer cells"
        )
    return found


def draw_uniform_reports(choices: Sequence[Floats | Integers], count: int, source: Source) -> Floats:
    """Draw rows with one of the choices for each feature, all equally likely."""
    columns = [indices[source.integers(indices.size, count)] for indices in choices]
    return np.stack(columns, axis=-1).astype(np.float64)


def published_box(
    case: Case, laws: Sequence[FeatureLaw], omega: float, queries: int, source: Source, tau: float = TAU
) -> BoxUtility:
    """Return the claim Π(F(b) − F(a))·(1 − τ); it is not a bound [Thesis, Sec. 7.3.3].

    Each test draws n(ω, τ/2) points and accepts a share of τ/2; the end of the bisection that passed is kept,
    unlike in the authors' scripts. `queries` is not used.
    """
    size = hoeffding_size(omega, tau / 2.0)
    test = UniformTest(case, size, lambda changed: changed / size <= tau / 2.0, source)
    low, high = (np.array([getattr(law.line, end) for law in laws]) for end in ("low", "high"))
    box = _expand(case.values, low, high, test)
    sides = zip(laws, *box.corners, case.values, strict=True)
    claim = (1.0 - tau) * math.prod(float(side_mass(*side)) for side in sides)
    return BoxUtility(claim, 1.0, claim, BoxMethod.PUBLISHED, 1.0 - omega, test.queries, box=box)


def _expand(centre: Floats, low: Floats, high: Floats, passes: Callable[[FeatureBox], bool]) -> FeatureBox:
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


def _move_side(box: FeatureBox, side: int, stride: Floats, low: Floats, high: Floats) -> FeatureBox:
    begin, end = box.corners
    feature, upper = divmod(side, 2)
    if upper:
        end[feature] = min(end[feature] + stride[feature], high[feature])
    else:
        begin[feature] = max(begin[feature] - stride[feature], low[feature])
    return FeatureBox(begin, end)


def repaired_box(
    case: Case, laws: Sequence[FeatureLaw], omega: float, queries: int, source: Source
) -> BoxUtility:
    """Bound the utility by a box that is found by a search and then validated on fresh points.

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
        return BoxUtility(0.0, 1.0, 0.0, BoxMethod.REPAIRED, 1.0 - omega, test.queries, box=box)
    points = draw_uniform_reports([side.places for side in inside], queries, source)
    changed = int((~case.keeps(points)).sum())
    mass = box_mass(marginals, box)
    factor = float(np.prod([side.masses.max() * side.masses.size for side in inside]))
    return BoxUtility(
        max(0.0, mass - factor * binomial_above(changed, queries, omega)),
        1.0,
        max(0.0, mass - factor * changed / queries),
        BoxMethod.REPAIRED,
        1.0 - omega,
        test.queries + queries,
        box=box,
    )


def _restrict(marginal: Marginal, low: Floats, high: Floats) -> Marginal:
    """Return the reports from low to high; their masses do not add up to 1."""
    here = slice(*np.searchsorted(marginal.places, [low, np.nextafter(high, np.inf)]))
    return Marginal(marginal.places[here], marginal.masses[here])


def uniform_region(
    case: Case, laws: Sequence[FeatureLaw], omega: float, queries: int, source: Source
) -> BoxUtility:
    """Bound the utility by the mean of (number of reports)·P(report)·[answer stays] over uniform reports.

    The mean is unbiased; its bound is empirical Bernstein [Maurer09, Thm 4]. With many features or a large ε
    nearly all of the probability lies on reports that are not drawn, and the bound is then 0.
    """
    marginals = list_marginals(laws, case.values)
    indices = [np.arange(marginal.places.size) for marginal in marginals]
    drawn = draw_uniform_reports(indices, queries, source).astype(np.int64)
    points = np.stack([marginal.places[drawn[:, i]] for i, marginal in enumerate(marginals)], axis=-1)
    weights = np.prod(
        [marginal.masses[drawn[:, i]] * marginal.places.size for i, marginal in enumerate(marginals)], axis=0
    )
    most = float(np.prod([marginal.masses.max() * marginal.places.size for marginal in marginals]))
    terms = weights * case.keeps(points)
    mean = float(terms.mean())
    margin = bernstein(float(terms.var(ddof=1)), most, queries, omega / 2.0)
    lower, upper = max(0.0, mean - margin), min(1.0, mean + margin)
    return BoxUtility(lower, upper, min(1.0, mean), BoxMethod.REGION, 1.0 - omega, queries)
