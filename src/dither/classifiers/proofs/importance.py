"""Importance sampling: one set of queries bounds the utility at all budgets of a curve.

Points are drawn from q, the mean of the laws f_ε of the curve, and the classifier is asked about each of them
once. For any ε of the curve the answer changes with probability E_q[w·changed], w = f_ε/q. Since q contains
f_ε itself, the weights are bounded; so an empirical Bernstein bound holds [Maurer09, Thm 4], by a union bound
for all ε at once.

The laws are those of the mechanisms as designed; devices round reports to cells, 2^−16 of the range apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from dither.arrays import Floats, Mask
from dither.classifiers.case import Case
from dither.classifiers.feature_law import FeatureLaw
from dither.classifiers.proofs.confidence import bernstein
from dither.classifiers.proofs.densities import Densities
from dither.classifiers.proofs.uniform_points import uniform_points
from dither.randomness import Source

RecordLaws = Sequence[FeatureLaw]  # one law for each randomised feature

_LARGEST: Final = 300.0  # the largest logarithm of a ratio of densities; larger ones count as this


@final
@dataclass(frozen=True, eq=False)
class Band:
    """Bounds on the utility at every budget of a curve, which all hold at once with the confidence 1 − ω."""

    lower: Floats
    upper: Floats
    estimate: Floats


def importance_band(
    case: Case,
    laws: Sequence[RecordLaws],
    anchors: Sequence[RecordLaws] | None,
    queries: int,
    omega: float,
    source: Source,
) -> Band:
    """Bound the utility under each of `laws` from points of the mixture of `anchors`, or else of `laws`."""
    proposals = laws if anchors is None else anchors
    units = [float(law.unit(value)) for law, value in zip(laws[0], case.values.tolist(), strict=True)]
    places = draw_mixture(proposals, units, queries, source)
    points = [law.line.from_unit(places[:, feature]) for feature, law in enumerate(laws[0])]
    changed = ~case.keeps(np.stack(points, axis=-1))
    both = laws if anchors is None else (*laws, *anchors)
    own, others = slice(len(laws)), slice(None if anchors is None else len(laws), None)
    logarithms, least = np.zeros((1, 1)), np.zeros((1, 1))
    for feature, unit in enumerate(units):
        densities = Densities.of([record[feature].law for record in both], unit)
        logarithms = logarithms + densities.logarithms(np.ascontiguousarray(places[:, feature]))
        least = least + densities.least_ratios(own, others)
    # Relative to the largest density of a proposal at each point, which is positive there. A law whose
    # density is far above all of them cannot be bounded from these points anyway.
    relative = np.exp(np.minimum(logarithms - logarithms[others].max(axis=0), _LARGEST))
    weights = relative[own] / relative[others].mean(axis=0)
    # Where each anchor has at least r_k times the density, weights are at most 1/mean(r).
    bound = (1.0 + 1e-9) / np.maximum(np.exp(least).mean(axis=1), 1e-300)
    return _band(weights, changed, np.maximum(bound, weights.max(axis=1)), omega / len(laws))


def draw_mixture(
    proposals: Sequence[RecordLaws], units: Sequence[float], queries: int, source: Source
) -> Floats:
    """Draw points from a mixture of laws with equal weights, one column a feature, in units of [0, 1]."""
    counts = np.bincount(source.integers(len(proposals), queries), minlength=len(proposals))
    parts = []
    for record, count in zip(proposals, counts.tolist(), strict=True):
        columns = [
            law.law.quantiles(unit, uniform_points(np.zeros(2), np.ones(2), count, source))
            for law, unit in zip(record, units, strict=True)
        ]
        parts.append(np.stack(columns, axis=-1))
    return np.concatenate(parts)


def _band(weights: Floats, changed: Mask, most: Floats, omega: float) -> Band:
    """Bound the probabilities of a changed and of the same answer on both sides, each with a quarter of ω."""
    (lost_low, lost_mean, lost_high), (kept_low, kept_mean, kept_high) = (
        _ends(weights[:, which], changed.size, most, omega / 4.0) for which in (changed, ~changed)
    )
    lower = np.maximum(np.maximum(1.0 - lost_high, kept_low), 0.0)
    upper = np.minimum(np.minimum(1.0 - lost_low, kept_high), 1.0)
    # 1 − E[w·changed] and E[w·same] both estimate the utility; the rarer event has the smaller variance.
    estimate = np.where(lost_mean < kept_mean, 1.0 - lost_mean, kept_mean)
    return Band(lower, upper, np.clip(estimate, 0.0, 1.0))


def _ends(terms: Floats, count: int, most: Floats, omega: float) -> tuple[Floats, Floats, Floats]:
    """Return lower bounds, means and upper bounds for each law; `count` terms less those given are 0."""
    mean = terms.sum(axis=1) / count
    squares = ((terms - mean[:, None]) ** 2).sum(axis=1) + (count - terms.shape[1]) * mean**2
    sizes = zip((squares / (count - 1)).tolist(), most.tolist(), strict=True)
    margin = np.array([bernstein(variance, top, count, omega) for variance, top in sizes])
    return mean - margin, mean, mean + margin
