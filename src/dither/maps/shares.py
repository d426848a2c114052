"""The share of locations in a part of an area, with intervals that hold near 0 and 1."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dither.arrays import Floats
from dither.estimation.estimate import Estimate
from dither.estimation.likelihood.em import climb
from dither.estimation.likelihood.interval import (
    DIP,
    ProfileInterval,
    Relaxed,
    mean,
    mistakes_of,
    profile_estimate,
)
from dither.kernels.transition import Dense

if TYPE_CHECKING:
    from dither.maps.density import Sample


def profiled_share(sample: Sample, weight: Floats, shares: Floats) -> Estimate:
    """Return the share of a part with a profile likelihood interval; `weight` is each cell's part in it.

    The likelihood treats locations as independent. Those of one path are not: the counts are divided by the
    factor by which paths, rather than locations, make the score of the share vary.
    """
    counts = sample.counted(np.ones(sample.whose.size)) / clustering(sample, weight, shares)
    if sample.spare is None:
        relaxed = Relaxed.of(sample.law, counts)
    else:
        inside = sample.law.backward(np.ones(counts.size)) > 0.0  # a map covers more than a disk
        weight = weight[inside]
        relaxed = relaxed_by(sample.law.dense()[:, inside], counts, sample.spare[:, inside])
    value = min(max(float(weight @ relaxed.probabilities), 0.0), 1.0)
    interval = ProfileInterval(value, relaxed, mean(weight, 0.0, 1.0), 0.0)
    return profile_estimate(value, sample.whose.size, sample.guarantee, interval)


def relaxed_by(laws: Floats, counts: Floats, spare: Floats) -> Relaxed:
    """Fit counts of reports that each have a law of their own, with pseudo-counts of people spread evenly.

    The pseudo-counts are shared by the reports of such people, whose likelihoods are the rows of `spare`.
    The χ² distances of the cells are averages over them: E[r_i·r_j] − 1, r being a likelihood relative to the
    mean over the cells.
    """
    ratio = spare / spare.mean(axis=1, keepdims=True)
    distances = ratio.T @ ratio / len(ratio) - 1.0
    n, cells = float(counts.sum()), laws.shape[1]
    added = min(DIP * math.sqrt(n) * mistakes_of(distances), n)
    every = np.concatenate([laws, spare])
    weights = np.concatenate([counts, np.full(len(spare), added / len(spare))])
    fit = climb(Dense(every, np.arange(len(every))), weights, np.full(cells, 1.0 / cells))
    return Relaxed(fit, added / (n + added))


def clustering(sample: Sample, weight: Floats, shares: Floats) -> float:
    """Return the variance of the score over paths relative to that of independent locations, at least 1."""
    change = shares * (weight - weight @ shares)
    score = (sample.law.forward(change) / np.maximum(sample.law.forward(shares), 1e-300))[sample.rows]
    score = score - score.mean()
    alone = float(score @ score)
    together = float(np.square(np.bincount(sample.whose, score)).sum())
    return max(together / alone, 1.0) if alone > 0.0 else 1.0
