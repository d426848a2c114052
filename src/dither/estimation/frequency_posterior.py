"""The posterior of many frequencies: better point estimates, and narrower intervals, if many are alike.

Often a few frequencies are large and many are near zero. The distribution of the frequencies is estimated
from all categories together, as a point mass at 0 and a smooth density [Robbins56]. It is the prior of each
category. The posterior mean has a smaller squared error, summed over the categories, than the unbiased
estimate. The intervals cover the truth in a share `level` of the categories on average, not for each
category. A category that differs from all others is covered less often.

The number of reports that support a category is binomial. With r(x, m) = ±√(2n·KL(x, m)), the signed root of
the deviance of a share x from its mean m, the likelihood of m is exp(−r²/2), and P(share ≤ x) is about
Φ(r + (1 − 2m)/(6√(n·m(1 − m)))) at half-integers of the count, also for few reports [Peizer68].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple, Self

import numpy as np

from dither.core.kernels.transition import Dense
from dither.estimation.density import DensityModel, Path, Posterior, Prior
from dither.foundation.arrays import Floats, Indices
from dither.foundation.numerics.distributions import check_level, erfc

_BINS: Final = 96  # bins of the density of frequencies
_ROWS: Final = 256  # rows in which supports are counted
_REACH: Final = 6.0  # standard errors; the grid extends this far beyond the smallest and largest
_NORMAL: Final = 5.0  # standard errors above 0; the likelihood of a larger frequency is normal
_FARTHEST: Final = 30.0  # limit of roots of deviances, so that their probabilities do not underflow
_FLAT: Final = 1e-3  # a root that changes less within a bin counts as constant


class Supports(NamedTuple):
    """Shares of supporting reports, their standard errors as frequencies, and the two rates."""

    share: Floats
    error: Floats
    other: float  # q: the probability that a report supports another category than its own
    gap: float  # p − q

    @property
    def value(self) -> Floats:
        """The unbiased frequencies."""
        return (self.share - self.other) / self.gap

    @property
    def n(self) -> Floats:
        """The effective number of independent reports of each share."""
        mean = np.clip(self.share, self.other, self.other + self.gap)
        return np.asarray(mean * (1.0 - mean) / np.maximum(self.error * self.gap, 1e-300) ** 2)

    def mean(self, frequency: Floats) -> Floats:
        """Return the expected share of supporting reports for each frequency."""
        return np.clip(self.other + self.gap * frequency, 1e-15, 1.0 - 1e-15)


@dataclass(frozen=True, eq=False)
class Narrowed:
    """The posterior of every category: the weights of the frequency 0 and of bins of frequencies."""

    edges: Floats
    weights: Floats  # a row for each distinct frequency; columns: 0, then each bin
    means: Floats  # the posterior mean of each different frequency
    rows: Indices  # the row of each category

    @classmethod
    def of(cls, supports: Supports) -> Self:
        """Estimate the distribution of the frequencies, and from it the posterior of each."""
        # Frequencies are functions of counts, so many categories have the same frequency.
        known, rows, often = np.unique(
            supports.share + 1j * supports.error, return_inverse=True, return_counts=True
        )
        different = supports._replace(share=known.real, error=known.imag)
        unit = float(np.median(supports.error))
        # Bins are as wide as half an error near 0, and wider for large frequencies.
        top = float(np.arcsinh(max(float(different.value.max()), unit) / unit + 3.0))
        edges = unit * np.sinh(top * np.arange(_BINS + 1) / _BINS)
        prior = _prior(different, often.astype(np.float64), edges)
        weights, sums = _posterior(different, prior, edges)
        total = np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
        means = np.maximum(sums.sum(axis=1), 0.0) / total[:, 0]
        return cls(edges, weights / total, means, rows.reshape(-1))

    @property
    def mean(self) -> Floats:
        """The posterior mean of every category."""
        return np.asarray(self.means[self.rows])

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Return the ends of the intervals: quantiles of the posteriors."""
        outside = (1.0 - check_level(level)) / 2.0
        sums = np.cumsum(self.weights, axis=1)  # cumulative weights: up to 0, then up to each edge
        low, high = (self._quantile(sums, share) for share in (outside, 1.0 - outside))
        return low[self.rows], high[self.rows]

    def _quantile(self, sums: Floats, share: float) -> Floats:
        at = np.minimum((sums < share).sum(axis=1), sums.shape[1] - 1)
        rows = np.arange(sums.shape[0])
        before = np.where(at > 0, sums[rows, at - 1], 0.0)
        inner = np.clip((share - before) / np.maximum(sums[rows, at] - before, 1e-300), 0.0, 1.0)
        left, right = self.edges[np.maximum(at - 1, 0)], self.edges[at]
        return np.where(at == 0, 0.0, left + inner * (right - left))


def _prior(supports: Supports, often: Floats, edges: Floats) -> Floats:
    """Return the estimated share of categories at 0, and in each bin of frequencies."""
    q, n = supports.other, float(np.median(supports.n))
    unit = np.sqrt(q * (1.0 - q) * n)
    counts = n * supports.share
    least = (counts.min() - n * q) / unit - _REACH
    most = (counts.max() - n * q + _REACH * np.sqrt(counts.max() + 1.0)) / unit
    rows = n * q + unit * np.sinh(np.linspace(np.arcsinh(least), np.arcsinh(most), _ROWS + 1))
    rows = np.unique(np.floor(rows)) + 0.5
    rows = rows[(rows > 0.0) & (rows < n)]
    mean = supports.mean(edges)
    roots = _root(rows[:, None] / n, mean, n) + (1.0 - 2.0 * mean) / (6.0 * np.sqrt(n * mean * (1.0 - mean)))
    ends = np.zeros((1, edges.size - 1))
    below = np.concatenate([ends, _average_below(roots), ends + 1.0])
    chances = np.maximum(np.diff(below, axis=0), 0.0)
    absent = np.maximum(np.diff(_below(roots[:, :1]), axis=0, prepend=0.0, append=1.0), 0.0)
    seen = np.histogram(counts, np.concatenate([[-1.0], rows, [n + 1.0]]), weights=often)[0]
    operator = Dense(chances, np.arange(len(chances)))
    model = DensityModel(operator, absent, seen.astype(np.float64), Prior.of(edges.size - 1, circular=False))
    shares = Posterior.over(model, [Path.down(model).refine(model)]).shares
    return np.concatenate([shares[-1:], shares[:-1]])


def _posterior(supports: Supports, prior: Floats, edges: Floats) -> tuple[Floats, Floats]:
    """Return the weights of 0 and of each bin, and the bins' integrals of the frequency.

    Within a bin the prior is even, and the root of the deviance is linear in the frequency: bins may be wider
    than a standard error. Both tend to the likelihood at the middle for narrow bins.
    """
    value, error = supports.value[:, None], supports.error[:, None]
    n = supports.n[:, None]
    # Bins are wide at exceptional frequencies, and the root is not linear across them.
    roots = np.where(
        value > _NORMAL * error,
        (edges - value) / np.maximum(error, 1e-300),
        -_root(supports.share[:, None], supports.mean(edges), n),
    )
    roots = np.clip(roots, -_FARTHEST, _FARTHEST)
    left, right = roots[:, :-1], roots[:, 1:]
    step = right - left
    narrow = step < _FLAT
    height = _density(roots)
    inside = np.where(left > 0.0, _below(-left) - _below(-right), _below(right) - _below(left))
    inside = np.where(narrow, _density((left + right) / 2.0) * step, inside)
    # ∫(z − left)·φ(z) over the bin.
    first = np.where(narrow, step * inside / 2.0, height[:, :-1] - height[:, 1:] - left * inside)
    scale = prior[1:] / np.maximum(step, 1e-12)
    weights = scale * inside
    sums = scale * (edges[:-1] * inside + np.diff(edges) / np.maximum(step, 1e-12) * first)
    return np.concatenate([prior[0] * height[:, :1], weights], axis=1), sums


def _root(share: Floats, mean: Floats, n: Floats | float) -> Floats:
    """Return the signed root of the deviance of a share of n reports from its mean."""
    share = np.clip(share, 0.0, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        above = np.where(share > 0.0, share * np.log(share / mean), 0.0)
        below = np.where(share < 1.0, (1.0 - share) * np.log((1.0 - share) / (1.0 - mean)), 0.0)
    near = np.abs(share - mean) < 1e-5 * mean * (1.0 - mean)  # the logarithms cancel near share = mean
    deviance = np.where(near, (share - mean) ** 2 / (2.0 * mean * (1.0 - mean)), above + below)
    return np.sign(share - mean) * np.sqrt(np.maximum(2.0 * n * deviance, 0.0))


def _below(z: Floats) -> Floats:
    return np.asarray(erfc(-z / np.sqrt(2.0)) / 2.0)


def _density(z: Floats) -> Floats:
    return np.asarray(np.exp(-(z**2) / 2.0) / np.sqrt(2.0 * np.pi))


def _average_below(roots: Floats) -> Floats:
    """Return the average of Φ(root) over each bin, with the root linear from edge to edge."""
    integral = roots * _below(roots) + _density(roots)
    step = roots[:, :-1] - roots[:, 1:]
    middle = _below((roots[:, :-1] + roots[:, 1:]) / 2.0)
    return np.where(step < _FLAT, middle, (integral[:, :-1] - integral[:, 1:]) / np.maximum(step, _FLAT))
