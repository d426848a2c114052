"""Profile likelihood intervals of means, shares and quantiles.

The interval of a quantity holds each value for which the best distribution with this value has a
log-likelihood at most half a χ² quantile below the maximum [Wilks38]. It needs no density estimate, and is
wide where the quantity is not identifiable.

Wilks' theorem fails where probabilities are zero: the noise of empty bins can then only raise their
probabilities, which biases every quantity. So pseudo-counts are added to the counts, those of a uniform
distribution of values, and subtracted from the result. A probability may then be negative by about two
standard errors of the share of an empty stretch of bins. Noise of both signs is possible, and cancels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final, Self

import numpy as np

from dither.arrays import Floats, Integers
from dither.estimation.estimate import Estimate, show
from dither.estimation.intervals import ConfidenceInterval
from dither.estimation.likelihood.em import Fit, climb, tilt
from dither.kernels.transition import Operator
from dither.numerics.false_position import proportional_root
from dither.numerics.quantiles import student_t_quantile
from dither.privacy import Guarantee

DIP: Final = 2.0  # standard errors by which the share of an empty stretch may be negative
_CLOSE: Final = 0.02  # standard errors by which an end of an interval may be off
_MIXED: Final = 1e-3  # share of the uniform law in a warm start, since EM never leaves zero


@dataclass(frozen=True, eq=False)
class Relaxed:
    """The maximum-likelihood distribution over equal bins, whose probabilities may be slightly negative.

    `phantoms` is the share of pseudo-counts in all counts.
    """

    fit: Fit
    phantoms: float

    @classmethod
    def of(cls, operator: Operator, counts: Floats) -> Self:
        """Fit counts of reports."""
        bins, n = operator.shape[1], float(counts.sum())
        even = np.full(bins, 1.0 / bins)
        expected = operator.forward(even)
        added = min(DIP * math.sqrt(n) * _mistakes(operator, expected), n)
        fit = climb(operator, counts + added * expected, even)
        return cls(fit, added / (n + added))

    @property
    def probabilities(self) -> Floats:
        """The probabilities of the bins, without the pseudo-counts; some may be slightly negative."""
        shares = self.fit.probabilities
        return np.asarray((shares - self.phantoms / shares.size) / (1.0 - self.phantoms))

    def under(self, gaps: Floats, warm: Floats) -> Fit:
        """Return the likeliest fit among those in which the mean of `gaps` over people is zero."""
        shifted = gaps - self.phantoms * gaps.mean()  # pseudo-counts have the mean over uniform bins
        start = (1.0 - _MIXED) * warm + _MIXED / gaps.size
        return climb(self.fit.operator, self.fit.counts, start, finish=partial(tilt, gaps=shifted))

    def allows(self, gaps: Floats) -> bool:
        """Return whether any distribution over the bins has a mean gap of zero."""
        shifted = gaps - self.phantoms * gaps.mean()
        return bool(shifted.min() < 0.0 < shifted.max())

    @cached_property
    def groups(self) -> Integers:
        """A number for each bin; neighbours whose reports have the same law share one.

        The shares of such bins are not separately identifiable.
        """
        return np.concatenate([[0], np.cumsum(~self.fit.operator.twins())])


def _mistakes(operator: Operator, expected: Floats) -> float:
    """Return √n times the share that noise alone can produce, over all identifiable stretches.

    One bin's share has the standard error 1/√(n·J), J being its χ² distance from the average; the number K of
    identifiable stretches is the effective rank of the distances.
    """
    weights = 1.0 / np.maximum(expected, 1e-300)
    every = np.eye(operator.shape[1])
    return mistakes_of(
        np.stack([operator.backward(operator.forward(unit) * weights) for unit in every]) - 1.0
    )


def mistakes_of(distances: Floats) -> float:
    """Return the same from the χ² distances of all pairs of bins, relative to the average law."""
    whole = float(np.trace(distances))
    if not whole > 0.0:
        return math.inf
    return whole**2 / float(np.square(distances).sum()) / math.sqrt(whole / len(distances))


@dataclass(frozen=True, eq=False)
class Quantity:
    """A quantity of a distribution over bins, as the constraint that a value of it puts on the distribution.

    `gaps(answer)` is a number for each bin whose mean is zero for exactly the distributions with this value,
    which can be from `least` to `most`. If the reports only identify the bin of a value, `edges` are those of
    the bins. Possible values lie between `low` and `high`.
    """

    gaps: Callable[[float], Floats]
    least: float
    most: float
    low: float
    high: float
    edges: Floats | None = None

    def easiest(self, answer: float, value: float) -> float:
        """Return the value nearest to `value` that is in the same identifiable bin as this one."""
        inside = min(max(answer, self.least), self.most)
        if self.edges is None:
            return inside
        cell = min(max(int(np.searchsorted(self.edges, inside, side="right")), 1), self.edges.size - 1)
        return min(max(value, float(self.edges[cell - 1])), float(self.edges[cell]))

    def outward(self, end: float, side: float) -> float:
        """Return the farthest value that is in the same identifiable bin as an end of an interval."""
        if side < 0.0:
            if end <= self.least:
                return self.low
            return end if self.edges is None else float(self.edges[self.edges <= end].max())
        if end >= self.most:
            return self.high
        return end if self.edges is None else float(self.edges[self.edges >= end].min())


def mean(values: Floats, low: float, high: float) -> Quantity:
    """Return the mean of a number per bin as a quantity, which lies between low and high."""
    return Quantity(partial(np.subtract, values), float(values.min()), float(values.max()), low, high)


def quantile(edges: Floats, share: float) -> Quantity:
    """Return the quantile of a share as a quantity."""
    low, high = float(edges[0]), float(edges[-1])
    return Quantity(partial(_below, edges, share), low, high, low, high, edges)


def _below(edges: Floats, share: float, answer: float) -> Floats:
    """Return the part of each bin below an answer, less the share."""
    return np.asarray(np.clip((answer - edges[:-1]) / np.diff(edges), 0.0, 1.0) - share)


@dataclass(frozen=True, eq=False)
class ProfileInterval(ConfidenceInterval):
    """The profile likelihood interval of a quantity; it takes several fits, made when it is used."""

    value: float
    relaxed: Relaxed
    quantity: Quantity
    resolution: float

    def interval(self, level: float) -> tuple[float, float]:
        return self._usual if level == 0.95 else self._ends(level)

    @cached_property
    def _usual(self) -> tuple[float, float]:
        return self._ends(0.95)

    def covers(self, value: float, level: float) -> bool:
        """Return whether the interval contains a value. It takes one fit."""
        reach = student_t_quantile(level) + _CLOSE  # as exact as the ends are
        if not self.quantity.low <= value <= self.quantity.high:
            return False
        nearest = self.quantity.easiest(value, self._middle)
        return nearest == self._middle or self._loss(nearest, self.relaxed.fit)[0] <= reach

    @property
    def _middle(self) -> float:
        return min(max(self.value, self.quantity.least), self.quantity.most)

    def _ends(self, level: float) -> tuple[float, float]:
        return self.end(level, -1.0), self.end(level, 1.0)

    def end(self, level: float, side: float) -> float:
        """Return the lower end (side −1) or the upper end (side 1) of the interval at `level`."""
        limit = self.quantity.least if side < 0.0 else self.quantity.most
        return self.quantity.outward(self._end(student_t_quantile(level), limit), side)

    def _end(self, reach: float, limit: float) -> float:
        """Return the value between the estimate and `limit` whose `_loss` is `reach`."""
        warm = self.relaxed.fit

        def loss(answer: float) -> float:
            nonlocal warm
            value, fit = self._loss(answer, warm)
            if value <= reach:
                warm = fit
            return value

        resolution = 1e-4 * (self.quantity.most - self.quantity.least)
        return proportional_root(loss, self._middle, limit, reach, close=_CLOSE, resolution=resolution)

    def _loss(self, answer: float, warm: Fit) -> tuple[float, Fit]:
        """Return √(2·decrease of the log-likelihood) under the constraint of a value, and that fit."""
        gaps = self.quantity.gaps(answer)
        if not self.relaxed.allows(gaps):
            return math.inf, warm
        fit = self.relaxed.under(gaps, warm.probabilities)
        return math.sqrt(2.0 * max(self.relaxed.fit.log_likelihood - fit.log_likelihood, 0.0)), fit


@dataclass(frozen=True, eq=False)
class EnclosingInterval(ConfidenceInterval):
    """The interval of a share between two others: from the lower end of one to the upper of the other."""

    lower: Estimate
    upper: Estimate
    resolution: float

    def interval(self, level: float) -> tuple[float, float]:
        return _end(self.lower, level, -1.0), _end(self.upper, level, 1.0)

    def covers(self, value: float, level: float) -> bool:
        """Return whether the interval contains a value. It takes at most two fits."""
        above = value >= float(self.lower) or bool(self.lower.covers(value, level))
        return above and (value <= float(self.upper) or bool(self.upper.covers(value, level)))


def _end(estimate: Estimate, level: float, side: float) -> float:
    """Return an end of the interval of a share by likelihood, or the share itself if it is certain."""
    interval = estimate.confidence
    return interval.end(level, side) if isinstance(interval, ProfileInterval) else float(estimate)


def profile_estimate(
    value: float, n: int, guarantee: Guarantee, interval: ProfileInterval | EnclosingInterval
) -> Estimate:
    """Return an estimate by likelihood, which prints its resolution if it is limited."""
    size = interval.resolution
    remark = f", resolution {show(size, size / 2.0).split(' ')[0]}" if size > 0.0 else ""
    return Estimate(value, None, n, guarantee, confidence=interval, remark=remark)
