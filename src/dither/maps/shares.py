"""The share of locations in a part of an area, with intervals that hold near 0 and 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dither.arrays import Floats
from dither.estimation.estimate import Estimate
from dither.estimation.likelihood.interval import Profiled, Relaxed, mean
from dither.numerics.quantiles import student_t_quantile

if TYPE_CHECKING:
    from dither.maps.density import Sample


@final
@dataclass(frozen=True, eq=False, repr=False)
class ResampledShare(Estimate):
    """A share whose standard error is that of a few resamples: an interval by Student's t, in [0, 1]."""

    freedom: int

    def interval(self, level: float = 0.95) -> tuple[Any, Any]:
        """Return the ends of an interval that covers the population's share with probability `level`."""
        reach = student_t_quantile(level, self.freedom) * float(self.standard_error)
        value = float(self.value)
        return max(value - reach, 0.0), min(value + reach, 1.0)


def profiled_share(sample: Sample, weight: Floats, shares: Floats) -> Profiled:
    """Return the share of a part with a profile likelihood interval; `weight` is each cell's part in it.

    The likelihood treats locations as independent. Those of one path are not: the counts are divided by the
    factor by which paths, rather than locations, make the score of the share vary.
    """
    counts = sample.counted(np.ones(sample.whose.size)) / clustering(sample, weight, shares)
    relaxed = Relaxed.of(sample.law, counts)
    value = min(max(float(weight @ relaxed.probabilities), 0.0), 1.0)
    return Profiled(value, sample.whose.size, sample.guarantee, relaxed, mean(weight, 0.0, 1.0), 0.0)


def clustering(sample: Sample, weight: Floats, shares: Floats) -> float:
    """Return the variance of the score over paths relative to that of independent locations, at least 1."""
    change = shares * (weight - weight @ shares)
    score = (sample.law.forward(change) / np.maximum(sample.law.forward(shares), 1e-300))[sample.rows]
    score = score - score.mean()
    alone = float(score @ score)
    together = float(np.square(np.bincount(sample.whose, score)).sum())
    return max(together / alone, 1.0) if alone > 0.0 else 1.0
