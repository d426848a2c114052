"""Utility by drawing: plain and importance sampling, with exact confidence bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from dither.extensions.classifiers.boxes import FeatureBox
from dither.extensions.classifiers.feature_law import FeatureLaw
from dither.extensions.classifiers.result import Case
from dither.foundation.arrays import Floats, Mask
from dither.foundation.numerics.binomial import binomial_above, binomial_below
from dither.foundation.numerics.roots import largest_float
from dither.foundation.randomness import Source
from dither.mechanisms.analysis.law import Law

_BATCH: Final = 1 << 22  # numbers drawn at once


def draw_reports(laws: Sequence[FeatureLaw], values: Floats, source: Source) -> Floats:
    """Draw a randomised copy of values (last axis: features), as devices send it."""
    columns = [law.draw(values[..., index], source) for index, law in enumerate(laws)]
    return np.stack(columns, axis=-1)


def count_kept(case: Case, draw: Callable[[Floats], Floats], queries: int) -> int:
    """Return the number of trials in which the answer stays; `draw` returns a randomised copy of each row."""
    size = max(1, _BATCH // case.subject.row.size)
    total = 0
    for begin in range(0, queries, size):
        count = min(size, queries - begin)
        values = np.repeat(case.values[None], count, axis=0)
        total += int(case.keeps(draw(values)).sum())
    return total


__all__ = ["bernstein", "binomial_above", "binomial_below", "hoeffding_size", "mean_below"]

_SLACK: Final = 1e-9  # relative reduction of a bound: more than the rounding error of its formula


def mean_below(successes: int, trials: int, omega: float) -> float:
    """Return a lower bound on the mean of the success probabilities of trials that need not be alike.

    Independent trials that are not alike obey the binomial's Chernoff bound, not quite its exact tail
    [Hoeffding63, Thm 1]: the p at which n·kl(successes/n, p) = ln(1/ω).
    """
    share, wanted = successes / trials, math.log(1.0 / omega) / trials
    return largest_float(lambda p: _divergence(share, p) > wanted, 0.0, share) * (1.0 - _SLACK)


def bernstein(variance: float, bound: float, trials: int, omega: float) -> float:
    """Return an upper bound on mean − sample mean of numbers from 0 to `bound` [Maurer09, Thm 4].

    `variance` is the sample variance. The bound is wrong with probability at most ω.
    """
    log = math.log(2.0 / omega)
    return math.sqrt(2.0 * variance * log / trials) + 7.0 * bound * log / (3.0 * (trials - 1))


def hoeffding_size(omega: float, tau: float) -> int:
    """Return the trials after which a share is within τ of its mean with probability 1 − ω [Thesis, Thm 15].

    >>> hoeffding_size(0.05, 0.01)
    18445
    """
    return math.ceil(math.log(2.0 / omega) / (2.0 * tau**2))


def _divergence(share: float, p: float) -> float:
    """Return the relative entropy of two Bernoulli distributions, kl(share, p)."""
    if p <= 0.0:
        return math.inf if share > 0.0 else 0.0
    kept = share * math.log(share / p) if share > 0.0 else 0.0
    lost = (1.0 - share) * math.log((1.0 - share) / (1.0 - p)) if share < 1.0 else 0.0
    return kept + lost


@dataclass(frozen=True, eq=False)
class Densities:
    """The densities of one value's report under several laws, with respect to one common measure.

    The measure is length plus one point mass at each of `marked`, the points at which *some* law has an atom.
    There the density of a law is the probability of its own atom, or 0: `masses`, one row a law.
    """

    laws: tuple[Law, ...]
    unit: float
    marked: Floats
    masses: Floats

    @staticmethod
    def of(laws: Sequence[Law], unit: float) -> Densities:
        """Return the densities for a value, given in units in which its domain is [0, 1]."""
        x = np.asarray(unit)
        atoms = {id(law): law.atoms(x) for law in laws}
        marked = np.unique(np.concatenate([points for points, _ in atoms.values()]))
        masses = np.zeros((len(laws), marked.size))
        for row, law in enumerate(laws):
            points, chances = atoms[id(law)]
            np.add.at(masses[row], np.searchsorted(marked, points), chances)
        return Densities(tuple(laws), unit, marked, masses)

    def logarithms(self, places: Floats) -> Floats:
        """Return the logarithm of each law's density at points, one row a law."""
        x = np.asarray(self.unit)
        densities = np.empty((len(self.laws), places.size))
        at = np.minimum(np.searchsorted(self.marked, places), max(self.marked.size - 1, 0))
        on = self.marked[at] == places if self.marked.size else np.zeros(places.size, dtype=bool)
        some, all_ = bool(on.any()), bool(on.all())
        for row, law in enumerate(self.laws):
            if not all_:
                densities[row] = law.density(places, x)
            if some:
                densities[row, on] = self.masses[row, at[on]]
        with np.errstate(divide="ignore"):
            return np.log(densities, out=densities)

    def least_ratios(self, own: slice = slice(None), others: slice = slice(None)) -> Floats:
        """Return lower bounds of log(density under one of `others` / density under one of `own`).

        There is a row for each of `own` and a column for each of `others`. Where the extremes of a ratio are
        not known, the bound is 0 for a law and itself, and −∞ for any two others.
        """
        if not all(law.monotone_ratios for law in self.laws):
            rows = [
                [0.0 if law is other else -np.inf for other in self.laws[others]] for law in self.laws[own]
            ]
            return np.array(rows)
        above, rows = self._extremes[others], []
        for density in self._extremes[own]:
            here = np.isfinite(density)
            rows.append((above[:, here] - density[here]).min(axis=1))
        return np.array(rows)

    @cached_property
    def _extremes(self) -> Floats:
        """The logarithms where ratios can be extreme: at atoms, at the value, next to and between jumps."""
        found: dict[int, Floats] = {id(law): law.jumps(self.unit) for law in self.laws}
        steps = np.unique(np.concatenate([[self.unit], *found.values()]))
        beside = [np.nextafter(steps, -np.inf), steps, np.nextafter(steps, np.inf)]
        positions = np.unique(np.concatenate([*beside, (steps[1:] + steps[:-1]) / 2.0, self.marked]))
        return self.logarithms(positions)


def uniform_points(low: Floats, high: Floats, count: int, source: Source) -> Floats:
    """Draw points from the uniform distribution between two corners, one row each."""
    shares = (source.words(count * low.size) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.asarray(low + (high - low) * shares.reshape(count, low.size))


class UniformTest:
    """A test that accepts a box if few of its uniformly drawn points change the answer."""

    def __init__(self, case: Case, size: int, accepts: Callable[[int], bool], source: Source) -> None:
        self._case, self._size, self._accepts, self._source = case, size, accepts, source
        self.queries = 0  # queries so far

    def __call__(self, box: FeatureBox) -> bool:
        """Return whether the box is accepted."""
        self.queries += self._size
        points = uniform_points(*box.corners, self._size, self._source)
        return self._accepts(int((~self._case.keeps(points)).sum()))


RecordLaws = Sequence[FeatureLaw]  # one law for each randomised feature

_LARGEST: Final = 300.0  # the largest logarithm of a ratio of densities; larger ones count as this


@dataclass(frozen=True, eq=False)
class Band:
    """Bounds on the utility at every budget of a curve. They hold at once with the confidence 1 − ω."""

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
    positions = draw_mixture(proposals, units, queries, source)
    points = [law.line.from_unit(positions[:, feature]) for feature, law in enumerate(laws[0])]
    changed = ~case.keeps(np.stack(points, axis=-1))
    both = laws if anchors is None else (*laws, *anchors)
    own, others = slice(len(laws)), slice(None if anchors is None else len(laws), None)
    logarithms, least = np.zeros((1, 1)), np.zeros((1, 1))
    for feature, unit in enumerate(units):
        densities = Densities.of([record[feature].law for record in both], unit)
        logarithms = logarithms + densities.logarithms(np.ascontiguousarray(positions[:, feature]))
        least = least + densities.least_ratios(own, others)
    # Relative to the largest (positive) density of a proposal at each point. A law whose
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
