"""Means, shares and quantiles of a binned distribution, by maximum likelihood or from a histogram."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Self

import numpy as np

from dither.arrays import Floats, Integers
from dither.domains import Line
from dither.estimation.estimate import Estimate
from dither.estimation.likelihood import interval as profile
from dither.estimation.likelihood.interval import (
    EnclosingInterval,
    ProfileInterval,
    Quantity,
    Relaxed,
    profile_estimate,
)
from dither.estimation.method import numerical
from dither.estimation.summary import Summary
from dither.kernels.transition import Operator
from dither.privacy import Guarantee
from dither.question import NumberQuestion

FINE: Final = 128  # the least number of bins of a fit that is shown
INFERRED: Final = 512  # and of one that intervals are computed from
POINTS: Final = 512  # the least number of inputs that represent a fit's bins
OVERLAP, MOST_POINTS = 16, 1 << 16  # inputs in the width of one window; the most inputs in all


def grid(mechanism: NumberQuestion, bins: int) -> Operator:
    """Return the transition from equal bins of the domain, with values uniform inside each bin."""
    rows = 2 * bins * -(-POINTS // bins)
    # Enough inputs that windows overlap evenly, however narrow they are.
    inputs = min(max(POINTS, OVERLAP / mechanism.window_share), MOST_POINTS)
    times = math.ceil(inputs / bins)
    points = mechanism.line.from_unit((np.arange(bins * times) + 0.5) / (bins * times))
    return mechanism.likelihood(points, rows).spread(times)


def edges(line: Line, bins: int) -> Floats:
    """Return the ends of equal bins of a domain."""
    return line.from_unit(np.arange(bins + 1) / bins)


class Inference(ABC):
    """Estimates from a distribution over equal bins between `edges`."""

    shares: Floats
    edges: Floats
    n: int
    guarantee: Guarantee

    @abstractmethod
    def answer(self, value: float, quantity: Quantity, unclear: float) -> Estimate:
        """Return a value with its error."""

    @property
    @abstractmethod
    def groups(self) -> Integers:
        """A number for each bin; neighbours whose reports have the same law share one."""

    def mean(self) -> Estimate:
        """Estimate the mean."""
        return self._average(self._middles, float(self.edges[0]), float(self.edges[-1]))

    def variance(self) -> Estimate:
        """Estimate the variance, about the estimated mean."""
        width = float(self.edges[1] - self.edges[0])
        squares = (self._middles - float(self._middles @ self.shares)) ** 2 + width**2 / 12.0
        return self._average(squares, 0.0, float(squares.max()))

    def share(self, x: float) -> Estimate:
        """Estimate the share of values of at most x."""
        return self.between(float(self.edges[0]), x)

    def between(self, first: float, last: float) -> Estimate:
        """Estimate the share of values from first to last; on a circle, forward from first to last."""
        blur = self.blur
        value, least, most = (
            self._average(self._parts(first + inward, last - inward), 0.0, 1.0)
            for inward in (0.0, blur, -blur)
        )
        if not blur > 0.0:
            return value
        interval = EnclosingInterval(least, most, most.resolution)
        return profile_estimate(float(value), self.n, self.guarantee, interval)

    def each(self, edges: Floats) -> list[Estimate]:
        """Estimate the probability of each bin between edges."""
        return [self.between(float(a), float(b)) for a, b in pairwise(edges)]

    @property
    @abstractmethod
    def blur(self) -> float:
        """How far beside an edge a point mass may lie and still be counted on the other side."""

    def _parts(self, first: float, last: float) -> Floats:
        """Return the part of each bin between two places."""
        low, high = (
            np.clip((x - self.edges[:-1]) / np.diff(self.edges), 0.0, 1.0)
            for x in (first if first > self.edges[0] + self.blur else self.edges[0], last)
        )
        if last >= self.edges[-1] - self.blur:  # the domain's own ends are no edges
            high = np.ones_like(high)
        found = high - low
        return np.asarray(found + 1.0 if last < first - 2.0 * self.blur else np.maximum(found, 0.0))

    def quantile(self, share: float) -> Estimate:
        """Estimate the value below which a share of the people are."""
        sums = np.maximum.accumulate(np.concatenate([[0.0], np.cumsum(self.shares)]))
        first = int(np.searchsorted(sums, share, side="left"))
        last = int(np.searchsorted(sums, share, side="right"))
        if first < last:  # in an empty gap, its middle
            value = (self.edges[first] + self.edges[last - 1]) / 2.0
        else:
            cell = min(max(last, 1), self.shares.size)
            inner = (share - sums[cell - 1]) / max(sums[cell] - sums[cell - 1], 1e-300)
            value = self.edges[cell - 1] + min(inner, 1.0) * (self.edges[cell] - self.edges[cell - 1])
        # The shares of bins with the same law of reports are not separately identifiable.
        groups = self.groups
        alike = int((groups == groups[min(max(last - 1, 0), groups.size - 1)]).sum())
        unclear = alike * float(self.edges[1] - self.edges[0]) / 2.0 if alike > 1 else 0.0
        return self.answer(float(value), profile.quantile(self.edges, share), unclear)

    @property
    def _middles(self) -> Floats:
        return np.asarray((self.edges[:-1] + self.edges[1:]) / 2.0)

    def _average(self, numbers: Floats, low: float, high: float) -> Estimate:
        """Estimate the mean of a number per bin."""
        if numbers.max() == numbers.min():  # none of the bins, or all of them: known for certain
            return Estimate(float(numbers[0]), 0.0, self.n, self.guarantee)
        firsts = np.flatnonzero(np.diff(self.groups, prepend=-1))
        spans = np.maximum.reduceat(numbers, firsts) - np.minimum.reduceat(numbers, firsts)
        unclear = float(np.abs(np.bincount(self.groups, weights=self.shares)) @ spans) / 2.0
        value = min(max(float(numbers @ self.shares), low), high)
        return self.answer(value, profile.mean(numbers, low, high), unclear)


@dataclass(frozen=True, eq=False)
class Likeliest(Inference):
    """Estimates by likelihood, from a fit whose probabilities may be slightly negative."""

    relaxed: Relaxed
    shares: Floats
    edges: Floats
    n: int
    guarantee: Guarantee

    @classmethod
    def of(cls, summary: Summary, parts: int = 1) -> Self:
        """Fit a summary on a multiple of `parts` bins: at least 128, and 512 from a million reports on."""
        mechanism = numerical(summary)
        least = FINE * (1 + (summary.n >= 10**5) + 2 * (summary.n >= 10**6))
        bins = parts * -(-least // parts)
        operator = grid(mechanism, bins)
        relaxed = Relaxed.of(operator, operator.counts(summary.counts))
        ends = edges(mechanism.line, bins)
        return cls(relaxed, relaxed.probabilities, ends, summary.n, mechanism.guarantee)

    @property
    def blur(self) -> float:
        # People of a bin are spread evenly in it, so a point mass near an edge may be fitted across the edge.
        return float(self.edges[1] - self.edges[0])

    def answer(self, value: float, quantity: Quantity, unclear: float) -> Estimate:
        interval = ProfileInterval(value, self.relaxed, quantity, unclear)
        return profile_estimate(value, self.n, self.guarantee, interval)

    @property
    def groups(self) -> Integers:
        return self.relaxed.groups


@dataclass(frozen=True, eq=False)
class Histogram(Inference):
    """Estimates of the distribution of the reports themselves, with the errors of their histogram."""

    shares: Floats
    edges: Floats
    n: int
    guarantee: Guarantee

    @property
    def blur(self) -> float:
        return 0.0

    def answer(self, value: float, quantity: Quantity, unclear: float) -> Estimate:
        gaps = quantity.gaps(value)
        error = float(np.sqrt(self.shares @ gaps**2 / self.n))
        nudge = 1e-6 * (quantity.most - quantity.least)
        slope = abs(float(self.shares @ (quantity.gaps(value + nudge) - gaps))) / nudge
        return Estimate(value, error / slope if slope > 0.0 else np.inf, self.n, self.guarantee)

    @property
    def groups(self) -> Integers:
        return np.arange(self.shares.size)
