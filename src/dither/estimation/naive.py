"""The method `dt.as_reported`: reports as if they were the values, as the papers plot them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from dither.estimation import circular
from dither.estimation.bins import Bins, edges_of
from dither.estimation.estimate import Estimate
from dither.estimation.likelihood.distribution import EstimatedDistribution
from dither.estimation.linear import average
from dither.estimation.method import Method, numerical, on_circle
from dither.estimation.summary import Summary


@dataclass(frozen=True)
class AsReported(Method):
    """Treat every decoded report as if it were the value. Errors are those of the reports' own average.

    It is biased unless the mechanism's codebook is unbiased: intervals cover the limit for many reports, not
    the quantity of the values.
    """

    def mean(self, summary: Summary) -> Estimate:
        """Estimate the mean."""
        mechanism = numerical(summary)
        if on_circle(mechanism):
            return circular.direction(summary)
        return Estimate.of(average(summary, mechanism.decoded()), mechanism.guarantee)

    def variance(self, summary: Summary) -> Estimate:
        """Estimate the variance."""
        mechanism = numerical(summary)
        if on_circle(mechanism):
            return circular.length(summary, variance=True, as_reported=True)
        values = mechanism.decoded()
        spread = average(summary, (values - average(summary, values).value) ** 2)
        value = spread.value * summary.n / max(summary.n - 1, 1)
        return Estimate.of(replace(spread, value=value), mechanism.guarantee)

    def resultant(self, summary: Summary) -> Estimate:
        """Estimate the length of the mean direction."""
        return circular.length(summary, as_reported=True)

    def quantile(self, summary: Summary, share: float) -> Estimate:
        """Estimate the value below which a share of the people are."""
        return self.distribution(summary, 1024).quantile(share)

    def distribution(self, summary: Summary, bins: Bins = None) -> EstimatedDistribution:
        """Estimate the distribution over bins: how many equal ones, or their edges."""
        # Reports beyond the domain are counted in the bin at its nearer end.
        mechanism = numerical(summary)
        values = mechanism.decoded()
        ends = edges_of(mechanism.line, bins)
        place = np.clip(np.searchsorted(ends, values, side="right") - 1, 0, ends.size - 2)
        counts = np.bincount(place, weights=summary.counts[: values.size], minlength=ends.size - 1)
        return EstimatedDistribution(counts / summary.n, ends, summary, self)

    def __repr__(self) -> str:
        return "dt.as_reported"


as_reported: Final = AsReported()
