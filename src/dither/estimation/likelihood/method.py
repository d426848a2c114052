"""The method `dt.likelihood`: estimates from the maximum-likelihood distribution of the values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from dither.errors import InvalidParameter, found
from dither.estimation.bins import Bins, edges_of
from dither.estimation.estimate import Estimate
from dither.estimation.likelihood.binned import FINE, Likeliest, grid
from dither.estimation.likelihood.distribution import EstimatedDistribution
from dither.estimation.likelihood.em import average_on_circle, average_on_line, climb, smooth
from dither.estimation.method import Method, numerical, on_circle
from dither.estimation.summary import Summary


@dataclass(frozen=True)
class Likelihood(Method):
    """Estimate from the maximum-likelihood distribution, found by EM, with profile likelihood intervals.

    It works for every mechanism, states the resolution of what is not identifiable, and is not unbiased.
    `smoothing` averages neighbouring bins after each step (EMS), so the likelihood is no longer maximal.
    `tolerance` is the gain in log-likelihood, in nats, below which EM stops.
    """

    smoothing: bool = False
    tolerance: float = 1e-2

    def __post_init__(self) -> None:
        if not self.tolerance > 0.0:
            raise InvalidParameter(f"the tolerance is a positive number of nats, not {found(self.tolerance)}")

    def mean(self, summary: Summary) -> Estimate:
        """Estimate the mean."""
        return _likeliest_on_line(summary).mean()

    def variance(self, summary: Summary) -> Estimate:
        """Estimate the variance."""
        return _likeliest_on_line(summary).variance()

    def quantile(self, summary: Summary, share: float) -> Estimate:
        """Estimate the value below which a share of the people are."""
        return _likeliest_on_line(summary).quantile(share)

    def distribution(self, summary: Summary, bins: Bins = None) -> EstimatedDistribution:
        """Estimate the distribution over bins: how many equal ones, or their edges."""
        mechanism = numerical(summary)
        ends = edges_of(mechanism.line, bins)
        unit = mechanism.line.to_unit(ends)
        equal = np.allclose(np.diff(unit), 1.0 / (ends.size - 1), rtol=1e-9)
        count = (ends.size - 1) * -(-FINE // (ends.size - 1)) if equal else FINE
        operator = grid(mechanism, count)
        counts = operator.counts(summary.counts)
        start = np.full(count, 1.0 / count)
        if self.smoothing:
            kernel = average_on_circle if on_circle(mechanism) else average_on_line
            fit = smooth(operator, counts, start, kernel, tolerance=self.tolerance)
        else:
            fit = climb(operator, counts, start, tolerance=self.tolerance)
        sums = np.concatenate([[0.0], np.cumsum(fit.probabilities)])
        shown = np.diff(np.interp(unit * count, np.arange(count + 1.0), sums))
        return EstimatedDistribution(shown, ends, summary, self, fit)

    def __repr__(self) -> str:
        return "dt.smoothed" if self.smoothing else "dt.likelihood"


def _likeliest_on_line(summary: Summary) -> Likeliest:
    if on_circle(numerical(summary)):
        raise InvalidParameter(
            "dt.likelihood does not estimate this on a circle; leave `method` out of dt.mean and dt.resultant"
        )
    return Likeliest.of(summary)


likelihood: Final = Likelihood()
smoothed: Final = Likelihood(smoothing=True)
