"""Whether draws follow a law: one test of fit for all tests, with one false-alarm rate."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import stats

ALARM = 1e-6  # false alarms of one statistical test
COMMON = 10.0  # outcomes that are expected less often are counted together


def p_of_counts(counts: Any, expected: Any) -> float:
    """Return the p-value of counts, given how often each outcome is expected; 0 for an impossible outcome.

    Pearson's χ² test for the outcomes that are common, and the exact binomial test for all others together:
    a tail that is too heavy is seen even if nothing is expected there. The smaller p-value, doubled.
    """
    counts, expected = np.ravel(counts).astype(float), np.ravel(expected).astype(float)
    if counts.size != expected.size or counts[expected <= 0].any():
        return 0.0
    size, common = counts.sum(), expected >= COMMON
    rare, rarely = counts[~common].sum(), expected[~common].sum()
    seldom = stats.binomtest(int(rare), int(size), min(1.0, rarely / expected.sum())).pvalue
    counts, expected = counts[common], expected[common]
    if rarely >= COMMON:
        counts, expected = np.append(counts, rare), np.append(expected, rarely)
    if expected.size < 2:
        return float(seldom)
    pearson = stats.chi2.sf(((counts - expected) ** 2 / expected).sum(), expected.size - 1)
    return min(1.0, 2.0 * float(min(pearson, seldom)))


def p_value(cells: Any, law: Sequence[Any] | np.ndarray) -> float:
    """Return the p-value of drawn outcomes 0, 1, …, given the probability of each."""
    found, chances = np.ravel(cells).astype(np.int64), np.array([float(chance) for chance in law])
    if found.min() < 0 or found.max() >= chances.size:
        return 0.0
    return p_of_counts(np.bincount(found, minlength=chances.size), chances * found.size)


def fits(draws: Iterable[Hashable], masses: Mapping[Hashable, float]) -> bool:
    """Say whether draws could come from these (unnormalised) masses."""
    counts = Counter(draws)
    if any(masses.get(outcome, 0.0) <= 0.0 for outcome in counts):
        return False
    scale = sum(counts.values()) / math.fsum(masses.values())
    return p_of_counts([counts[one] for one in masses], [scale * mass for mass in masses.values()]) > ALARM


def consistent(sample: np.ndarray, mean: float, variance: float) -> bool:
    """Say whether a sample has this mean and this variance; wrong once in a million times."""
    far = abs(sample.mean() - mean) / math.sqrt(variance / sample.size)
    spread = abs(sample.var() / variance - 1) / math.sqrt(2 / sample.size)
    return bool(max(far, spread) < stats.norm.isf(ALARM / 4))
