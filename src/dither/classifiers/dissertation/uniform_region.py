"""The region of [Thesis, App. E.2.7]: utility from points that are uniform over all reports, with a bound."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dither.classifiers.case import Case
from dither.classifiers.dissertation.uniform_reports import draw_uniform_reports, list_marginals
from dither.classifiers.feature_law import FeatureLaw
from dither.classifiers.proofs.confidence import bernstein
from dither.classifiers.result import Utility, UtilityMethod
from dither.randomness import Source


def uniform_region(
    case: Case, laws: Sequence[FeatureLaw], omega: float, queries: int, source: Source
) -> Utility:
    """Bound the utility by the mean of (number of reports)·P(report)·[answer stays] over uniform reports.

    The mean is unbiased; its bound is empirical Bernstein [Maurer09, Thm 4]. With many features or a large ε
    nearly all of the probability lies on reports that are not drawn, and the bound is then 0.
    """
    marginals = list_marginals(laws, case.values)
    indices = [np.arange(marginal.places.size) for marginal in marginals]
    drawn = draw_uniform_reports(indices, queries, source).astype(np.int64)
    points = np.stack([one.places[drawn[:, i]] for i, one in enumerate(marginals)], axis=-1)
    weights = np.prod([one.masses[drawn[:, i]] * one.places.size for i, one in enumerate(marginals)], axis=0)
    most = float(np.prod([one.masses.max() * one.places.size for one in marginals]))
    terms = weights * case.keeps(points)
    mean = float(terms.mean())
    margin = bernstein(float(terms.var(ddof=1)), most, queries, omega / 2.0)
    lower, upper = max(0.0, mean - margin), min(1.0, mean + margin)
    return Utility(lower, upper, min(1.0, mean), UtilityMethod.REGION, 1.0 - omega, queries)
