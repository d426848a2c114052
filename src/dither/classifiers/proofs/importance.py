"""One set of queries for a whole range of budgets: importance sampling from the mixture of all of them.

Points are drawn from q, the mean of the laws f_ε of the curve, and the classifier is asked about each of them
once. For any ε of the curve the answer is lost with probability E_q[w·lost], w = f_ε/q. Since q contains f_ε
itself, the weights are bounded; so an empirical Bernstein bound holds, for all ε at once by a union bound.

The laws are those of the mechanisms as designed; devices round reports to cells, 2^−16 of the range apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from dither.arrays import Floats, Mask
from dither.classifiers.case import Case
from dither.classifiers.feature_law import as_designed
from dither.classifiers.proofs.confidence import bernstein
from dither.classifiers.proofs.levels import Levels
from dither.classifiers.proofs.monte_carlo import uniform
from dither.kernels.law import Law
from dither.kernels.window.law import WindowLaw
from dither.mechanisms.analysis import Questions
from dither.mechanisms.base import Answering
from dither.numerics.bisection import bisect_arrays
from dither.randomness import Source

_HALVINGS: Final = 54
_DENSEST: Final = 300.0  # the largest logarithm of a ratio of densities that is told apart


@final
@dataclass(frozen=True, eq=False)
class Band:
    """Bounds for every budget of a curve, all of them right at once with the stated confidence."""

    lower: Floats
    upper: Floats
    estimate: Floats


def one_time(
    case: Case,
    laws: Sequence[Sequence[Answering]],
    anchors: Sequence[Sequence[Answering]] | None,
    queries: int,
    omega: float,
    source: Source,
) -> Band:
    """Bound the utility under every law from points drawn from the mixture of the anchors, or of all laws."""
    asked = [[as_designed(part) for part in parts] for parts in laws]
    proposals = asked if anchors is None else [[as_designed(part) for part in parts] for parts in anchors]
    units = np.array([_unit(one, value) for one, value in zip(asked[0], case.values, strict=True)])
    places = _drawn(proposals, units, queries, source)
    points = [one.line.from_unit(places[:, feature]) for feature, one in enumerate(asked[0])]
    lost = ~case.keeps(np.stack(points, axis=-1))
    own, others = slice(len(asked)), slice(None if anchors is None else len(asked), None)
    logarithms, least = np.zeros((1, 1)), np.zeros((1, 1))
    for feature, unit in enumerate(units.tolist()):
        both = asked if anchors is None else (*asked, *proposals)
        levels = Levels.of([parts[feature].law for parts in both], unit)
        logarithms = logarithms + levels.logarithms(np.ascontiguousarray(places[:, feature]))
        least = least + levels.least_ratios(own, others)
    # In proportion to the densest proposal at each point, which is positive there; where a law is denser
    # by far than all of them, nothing is known about it anyway.
    densities = np.exp(np.minimum(logarithms - logarithms[others].max(axis=0), _DENSEST))
    weights = densities[own] / densities[others].mean(axis=0)
    # Where each anchor has at least r_k times the density, weights are at most 1/mean(r).
    bound = (1.0 + 1e-9) / np.maximum(np.exp(least).mean(axis=1), 1e-300)
    return _band(weights, lost, np.maximum(bound, weights.max(axis=1)), omega / len(asked))


def _band(weights: Floats, lost: Mask, most: Floats, omega: float) -> Band:
    """Bound what is lost and what is kept from both sides, a quarter of ω each; the better counts."""
    (lost_low, lost_mean, lost_high), (kept_low, kept_mean, kept_high) = (
        _ends(weights[:, which], lost.size, most, omega / 4.0) for which in (lost, ~lost)
    )
    lower = np.maximum(np.maximum(1.0 - lost_high, kept_low), 0.0)
    upper = np.minimum(np.minimum(1.0 - lost_low, kept_high), 1.0)
    # Both E[w·lost] and 1 − E[w·kept] estimate the loss; what is rare is known better.
    estimate = np.where(lost_mean < kept_mean, 1.0 - lost_mean, kept_mean)
    return Band(lower, upper, np.clip(estimate, 0.0, 1.0))


def _ends(terms: Floats, count: int, most: Floats, omega: float) -> tuple[Floats, Floats, Floats]:
    """Give sample means with their bounds, from the terms that are not zero: a row for each law."""
    mean = terms.sum(axis=1) / count
    squares = ((terms - mean[:, None]) ** 2).sum(axis=1) + (count - terms.shape[1]) * mean**2
    sizes = zip((squares / (count - 1)).tolist(), most.tolist(), strict=True)
    margin = np.array([bernstein(variance, top, count, omega) for variance, top in sizes])
    return mean - margin, mean, mean + margin


def _unit(questions: Questions, value: float) -> float:
    return float(questions.line.to_unit(questions.line.check(value).astype(np.float64)))


def _drawn(proposals: Sequence[Sequence[Questions]], units: Floats, queries: int, source: Source) -> Floats:
    """Draw from the mixture: an anchor for each point, then the point from the anchor's laws."""
    counts = np.bincount(source.integers(len(proposals), queries), minlength=len(proposals))
    parts = []
    for anchor, count in zip(proposals, counts.tolist(), strict=True):
        columns = [_sample(one.law, unit, count, source) for one, unit in zip(anchor, units, strict=True)]
        parts.append(np.stack(columns, axis=-1))
    return np.concatenate(parts)


def _sample(law: Law, unit: float, count: int, source: Source) -> Floats:
    """Draw from a law as designed: a window outright, anything else by its cdf."""
    shares = uniform(np.zeros(2), np.ones(2), count, source)
    if isinstance(law, WindowLaw):
        place = np.where(
            shares[:, 0] < law.contrast,
            float(law.start(np.asarray(unit))) + law.share * shares[:, 1],
            shares[:, 1],
        )
        return law.codebook(np.mod(place, 1.0) if law.circular else place)
    return _inverse(law, unit, shares[:, 0])


def _inverse(law: Law, unit: float, shares: Floats) -> Floats:
    """Return the quantiles of a law at the given probabilities; where it has atoms, exactly."""
    x = np.asarray(unit)
    low, high = (np.full(shares.size, end) for end in law.support)
    atoms, masses = law.atoms(x)
    if float(masses.sum()) < 1.0 - 1e-9:
        _, high = bisect_arrays(lambda y: law.cumulative(y, x) >= shares, low, high, _HALVINGS)
    if atoms.size:
        up_to = law.cumulative(atoms, x)
        which = np.minimum(np.searchsorted(up_to, shares), atoms.size - 1)
        on = (up_to[which] >= shares) & (up_to[which] - masses[which] < shares)
        high = np.where(on, atoms[which], high)
    return high
