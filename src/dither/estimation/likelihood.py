"""Maximum likelihood by EM, profile likelihood intervals, and the means, shares and quantiles of a fit.

EM is accelerated, and the likelihood never falls. One step multiplies each probability by the mean ratio of
observed to expected reports. Steps are extrapolated [Varadhan08, scheme S3]. An extrapolation that lowers the
likelihood is shortened, and finally replaced by the plain steps, because plain steps cannot lower it. Duality
bounds the final distance of the likelihood from its maximum.

The profile likelihood interval of a quantity holds each value for which the best distribution with this value
has a log-likelihood at most half a χ² quantile below the maximum [Wilks38]. It needs no density estimate, and
is wide where the quantity is not identifiable.

Wilks' theorem fails where probabilities are zero. There the noise of empty bins can only raise their
probabilities, so every quantity is biased. Therefore the pseudo-counts of a uniform distribution of values
are added to the counts, and subtracted from the result. A probability may then be negative, by up to about
two standard errors of the share of an empty stretch of bins. So noise of both signs is possible and cancels.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Final, Self

import numpy as np

from dither.core.counts import Counts
from dither.core.domains import Line
from dither.core.domains.calendar import Calendar
from dither.core.kernels.transition import Operator
from dither.core.question import NumberQuestion
from dither.errors import InvalidParameter, found
from dither.estimation.estimate import Estimate
from dither.estimation.intervals import ConfidenceInterval
from dither.estimation.method import number_question
from dither.estimation.profile import LikelihoodProfile
from dither.estimation.rounding import show
from dither.foundation.arrays import Floats, Integers
from dither.foundation.numerics.distributions import student_t_quantile
from dither.foundation.numerics.matrices import dot
from dither.foundation.numerics.roots import bracketed_newton, proportional_root
from dither.privacy import Guarantee

Bins = (
    int | Sequence[float] | Floats | str | None
)  # a number of equal bins, or their edges, or None for a choice by the error
Finish = Callable[[Floats], Floats]  # restores a constraint on the probabilities at the end of a step

_LOOK_BACK: Final = 5  # number of cycles over which the gain is measured
_LEAST: Final = 1e-3  # the least probability after an extrapolation, relative to the plain step
_PLAIN: Final = 1.25  # shorter extrapolations are not tried
_TINY: Final = 1e-300


@dataclass(frozen=True, eq=False)
class Fit:
    """The probabilities of the inputs, their log-likelihood, and the number of steps."""

    operator: Operator
    counts: Floats
    probabilities: Floats
    log_likelihood: float
    steps: int

    @property
    def shortfall(self) -> float:
        """An upper bound on the difference between the maximum of the log-likelihood and its value.

        By concavity ln L(best) − ln L(p) ≤ n·ln(max over inputs of the mean of 1/n·counts/expected).
        """
        ratio = self.counts / np.maximum(self.operator.forward(self.probabilities), _TINY)
        n = float(self.counts.sum())
        return n * math.log(max(float(self.operator.backward(ratio).max()) / n, 1.0))


def step(operator: Operator, shares: Floats, probabilities: Floats, expected: Floats) -> Floats:
    """Return the probabilities after one plain step of EM, from observed and expected shares of reports."""
    after = operator.backward(shares / expected)
    after *= probabilities
    return after


def climb(
    operator: Operator,
    counts: Floats,
    start: Floats,
    *,
    finish: Finish | None = None,
    tolerance: float = 1e-2,
    most: int = 20_000,
) -> Fit:
    """Return the maximum-likelihood probabilities; stop when the last cycles gain less than `tolerance` nats.

    `finish` restores a linear constraint at the end of each step.
    """
    complete: Finish = _same if finish is None else finish
    shares = counts / counts.sum()
    now = complete(start)
    expected, level = _look(operator, counts, now)
    history = [level]
    steps = 0
    while steps < most:
        first = complete(step(operator, shares, now, expected))
        middle = np.maximum(operator.forward(first), _TINY)
        second = complete(step(operator, shares, first, middle))
        steps += 2
        rise = first - now
        bend = second - first - rise
        curvature = math.sqrt(dot(bend, bend))
        length = math.sqrt(dot(rise, rise)) / curvature if curvature > 0.0 else 1.0
        while length > _PLAIN:
            ahead = now + 2.0 * length * rise + length**2 * bend
            ahead = np.maximum(ahead, _LEAST * second)
            ahead = complete(ahead / ahead.sum())
            seen, height = _look(operator, counts, ahead)
            if height >= level:
                break
            length = (length + 1.0) / 2.0
        else:
            ahead = second
            seen, height = _look(operator, counts, ahead)
            if height < level:  # only rounding lowers it, so the maximum is reached
                break
        now, expected, level = ahead, seen, height
        history.append(level)
        if len(history) > _LOOK_BACK and level - history[-1 - _LOOK_BACK] < tolerance:
            break
    return Fit(operator, counts, now, level, steps)


def smooth(operator: Operator, counts: Floats, start: Floats, kernel: Finish, *, tolerance: float) -> Fit:
    """Return the fixed point of EM with smoothing [SW20, Alg. 1, EMS]; its likelihood is not maximal."""
    now, shares = start, counts / counts.sum()
    expected, level = _look(operator, counts, now)
    steps = 0
    for steps in range(1, 10_001):  # noqa: B007
        now = kernel(step(operator, shares, now, expected))
        before = level
        expected, level = _look(operator, counts, now)
        if abs(level - before) < tolerance / 10.0:
            break
    return Fit(operator, counts, now, level, steps)


def average_on_line(probabilities: Floats) -> Floats:
    """Return averages with the neighbours, weights 1, 2, 1; at the ends 2, 1 [SW20, Sec. 5.5]."""
    out = 2.0 * probabilities
    out[1:] += probabilities[:-1]
    out[:-1] += probabilities[1:]
    out[[0, -1]] *= 4.0 / 3.0
    return np.asarray(out / out.sum())


def average_on_circle(probabilities: Floats) -> Floats:
    """Return averages with the neighbours on the circle, weights 1, 2, 1."""
    out = 2.0 * probabilities + np.roll(probabilities, 1) + np.roll(probabilities, -1)
    return np.asarray(out / out.sum())


def tilt(gaps: Floats) -> Finish:
    """Return the function from weights to the p with Σ p·gap = 0 that maximises Σ weight·ln p.

    It is weight/(1 + λ·gap), scaled to sum to one.
    λ is the root of the decreasing function Σ weight·gap/(1 + λ·gap) [Owen01]. If there are only two gaps, as
    for the share of some bins, the constraint determines the probability of each gap.
    """
    most, least = float(gaps.max()), float(gaps.min())
    inside = gaps == most
    two = bool(np.all(inside | (gaps == least)) and most > 0.0 > least)
    share, within = (-least / (most - least) if two else 0.0), inside.astype(np.float64)

    def excess(weights: Floats, multiplier: float) -> tuple[float, float]:
        scale = 1.0 + multiplier * gaps
        shares = weights / scale
        return float(shares @ gaps), -max(float((shares * gaps / scale) @ gaps), _TINY)

    def finish(weights: Floats) -> Floats:
        if two:
            own = dot(weights, within)
            rest = float(np.add.reduce(weights)) - own
            if own > 0.0 and rest > 0.0:
                return np.asarray(weights * np.where(inside, share / own, (1.0 - share) / rest))
        low, high = -1.0 / most, -1.0 / least
        slope = partial(excess, weights)
        multiplier = bracketed_newton(slope, low, high, 0.0, tolerance=1e-9, absolute=1e-15)
        shares = weights / (1.0 + multiplier * gaps)
        return np.asarray(shares / shares.sum())

    return finish


def _look(operator: Operator, counts: Floats, probabilities: Floats) -> tuple[Floats, float]:
    expected = np.maximum(operator.forward(probabilities), _TINY)
    return expected, dot(counts, np.log(expected))


def _same(probabilities: Floats) -> Floats:
    return probabilities


DIP: Final = 2.0  # standard errors by which the share of an empty stretch may be negative
_CLOSE: Final = 0.02  # standard errors by which an end of an interval may be off
_WORK: Final = 1e9  # multiplications for a Hessian; above this, as for maps, fits are quicker
_MIXED: Final = 1e-3  # share of the uniform distribution in a warm start, because EM never leaves zero


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
        """Return the likeliest fit in which the mean of `gaps` over people is zero."""
        shifted = gaps - self.phantoms * gaps.mean()  # the mean of pseudo-counts is the mean over the bins
        start = (1.0 - _MIXED) * warm + _MIXED / gaps.size
        return climb(self.fit.operator, self.fit.counts, start, finish=tilt(shifted))

    @cached_property
    def _profile(self) -> LikelihoodProfile | None:
        fit = self.fit
        rows, bins = fit.operator.shape
        if rows * bins**2 > _WORK:
            return None
        try:
            return LikelihoodProfile.of(fit.operator, fit.counts, fit.probabilities)
        except np.linalg.LinAlgError:  # hardly anything is identifiable
            return None

    def farthest(self, numbers: Floats, side: float, reach: float, limit: float) -> float | None:
        """Return the end of the interval of a mean of numbers, up to a limit, or None if it needs fits."""
        mean, share = self.phantoms * float(numbers.mean()), 1.0 - self.phantoms
        if self._profile is None:
            return None
        found = self._profile.end(numbers, side, reach, share * limit + mean, _CLOSE)
        return None if found is None else (found - mean) / share

    def allows(self, gaps: Floats) -> bool:
        """Return whether any distribution over the bins has a mean gap of zero."""
        shifted = gaps - self.phantoms * gaps.mean()
        return bool(shifted.min() < 0.0 < shifted.max())

    @cached_property
    def groups(self) -> Integers:
        """A number for each bin; neighbours whose reports have the same distribution have one number.

        The shares of such bins are not separately identifiable.
        """
        return np.concatenate([[0], np.cumsum(~self.fit.operator.twins())])


def _mistakes(operator: Operator, expected: Floats) -> float:
    """Return √n times the share that pure noise can produce, over all identifiable stretches.

    The standard error of a bin's share is 1/√(n·J), where J is its χ² distance from the average. The number K
    of identifiable stretches is the effective rank of the distances.
    """
    weights = 1.0 / np.maximum(expected, 1e-300)
    every = np.eye(operator.shape[1])
    return mistakes_of(
        np.stack([operator.backward(operator.forward(unit) * weights) for unit in every]) - 1.0
    )


def mistakes_of(distances: Floats) -> float:
    """Return `_mistakes` from the χ² distances of all pairs of bins, relative to the average distribution."""
    complete = float(np.trace(distances))
    if not complete > 0.0:
        return math.inf
    return complete**2 / float(np.square(distances).sum()) / math.sqrt(complete / len(distances))


@dataclass(frozen=True, eq=False)
class Quantity:
    """A quantity of a distribution over bins, as a constraint on the distribution for each value.

    `gaps(answer)` has a number for each bin. Its mean is zero for exactly the distributions with this value
    (from `least` to `most`). If the reports only identify the bin of a value, `edges` are the edges of the
    bins. Possible values lie between `low` and `high`. For a mean, `numbers` are the averaged numbers.
    """

    gaps: Callable[[float], Floats]
    least: float
    most: float
    low: float
    high: float
    edges: Floats | None = None
    numbers: Floats | None = None

    def easiest(self, answer: float, value: float) -> float:
        """Return the value nearest to `value` in the identifiable bin of `answer`."""
        inside = min(max(answer, self.least), self.most)
        if self.edges is None:
            return inside
        cell = min(max(int(np.searchsorted(self.edges, inside, side="right")), 1), self.edges.size - 1)
        return min(max(value, float(self.edges[cell - 1])), float(self.edges[cell]))

    def outward(self, end: float, side: float) -> float:
        """Return the outer edge of the identifiable bin that contains an end of an interval."""
        if side < 0.0:
            if end <= self.least:
                return self.low
            return end if self.edges is None else float(self.edges[self.edges <= end].max())
        if end >= self.most:
            return self.high
        return end if self.edges is None else float(self.edges[self.edges >= end].min())


def mean_quantity(values: Floats, low: float, high: float) -> Quantity:
    """Return the mean of a number per bin as a quantity between low and high."""
    ends = float(values.min()), float(values.max())
    return Quantity(partial(np.subtract, values), *ends, low, high, numbers=values)


def quantile_quantity(edges: Floats, share: float) -> Quantity:
    """Return the quantile of a share as a quantity."""
    low, high = float(edges[0]), float(edges[-1])
    return Quantity(partial(_below, edges, share), low, high, low, high, edges)


def _below(edges: Floats, share: float, answer: float) -> Floats:
    """Return the part of each bin below an answer, less the share."""
    return np.asarray(np.clip((answer - edges[:-1]) / np.diff(edges), 0.0, 1.0) - share)


@dataclass(frozen=True, eq=False)
class ProfileInterval(ConfidenceInterval):
    """The profile likelihood interval of a quantity, computed when it is used."""

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
        """Return whether the interval contains a value. For a quantile this takes one fit."""
        reach = student_t_quantile(level) + _CLOSE  # the tolerance is the precision of the ends
        if not self.quantity.low <= value <= self.quantity.high:
            return False
        known = level == 0.95 and "_usual" in vars(self)  # the printed interval decides
        if known or self.quantity.numbers is not None:
            low, high = self.interval(level)
            return low <= value <= high
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
        reach, numbers, found = student_t_quantile(level), self.quantity.numbers, None
        if numbers is not None:
            found = self.relaxed.farthest(numbers, side, reach, limit)
        if found is not None:  # the profile's maximum is more precise than the fit's
            found = side * max(side * found, side * self._middle)
        return self.quantity.outward(self._end(reach, limit) if found is None else found, side)

    def _end(self, reach: float, limit: float) -> float:
        """Return the value between the estimate and `limit` at which `_loss` is `reach`, by several fits."""
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
        """Return √(2·decrease of the log-likelihood) under the constraint of a value, and its fit."""
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
    """Return an estimate by likelihood, which prints a limited resolution."""
    size = interval.resolution
    remark = f", resolution {show(size, size / 2.0).split(' ')[0]}" if size > 0.0 else ""
    return Estimate(value, None, n, guarantee, confidence=interval, remark=remark)


FINE: Final = 128  # the least number of bins of a displayed fit
POINTS: Final = 512  # the least number of inputs that represent a fit's bins
OVERLAP, MOST_POINTS = 16, 1 << 16  # inputs in the width of one window; the largest total number of inputs


def grid(question: NumberQuestion, bins: int) -> Operator:
    """Return the transition from equal bins of the domain, with values uniform inside each bin."""
    rows = 2 * bins * -(-POINTS // bins)
    # Use enough inputs for even narrow windows to overlap evenly.
    inputs = min(max(POINTS, OVERLAP / question.window_share), MOST_POINTS)
    times = math.ceil(inputs / bins)
    points = question.line.from_unit((np.arange(bins * times) + 0.5) / (bins * times))
    return question.likelihood(points, rows).spread(times)


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
        """A number for each bin; neighbours whose reports have the same distribution have one number."""

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
        """The largest distance at which a point mass may be counted on the wrong side of an edge."""

    def _parts(self, first: float, last: float) -> Floats:
        """Return the part of each bin between two values."""
        low, high = (
            np.clip((x - self.edges[:-1]) / np.diff(self.edges), 0.0, 1.0)
            for x in (first if first > self.edges[0] + self.blur else self.edges[0], last)
        )
        if last >= self.edges[-1] - self.blur:  # the domain's own ends are not edges
            high = np.ones_like(high)
        found = high - low
        return np.asarray(found + 1.0 if last < first - 2.0 * self.blur else np.maximum(found, 0.0))

    def quantile(self, q: float) -> Estimate:
        """Estimate the value below which a share q of the people is."""
        sums = np.maximum.accumulate(np.concatenate([[0.0], np.cumsum(self.shares)]))
        first = int(np.searchsorted(sums, q, side="left"))
        last = int(np.searchsorted(sums, q, side="right"))
        if first < last:  # the middle of an empty gap
            value = (self.edges[first] + self.edges[last - 1]) / 2.0
        else:
            cell = min(max(last, 1), self.shares.size)
            inner = (q - sums[cell - 1]) / max(sums[cell] - sums[cell - 1], 1e-300)
            value = self.edges[cell - 1] + min(inner, 1.0) * (self.edges[cell] - self.edges[cell - 1])
        # The shares of bins with the same distribution of reports are not separately identifiable.
        groups = self.groups
        alike = int((groups == groups[min(max(last - 1, 0), groups.size - 1)]).sum())
        unclear = alike * float(self.edges[1] - self.edges[0]) / 2.0 if alike > 1 else 0.0
        return self.answer(float(value), quantile_quantity(self.edges, q), unclear)

    @property
    def _middles(self) -> Floats:
        return np.asarray((self.edges[:-1] + self.edges[1:]) / 2.0)

    def _average(self, numbers: Floats, low: float, high: float) -> Estimate:
        """Estimate the mean of a number per bin."""
        if numbers.max() == numbers.min():  # no bins, or all bins, so the share is certain
            return Estimate(float(numbers[0]), 0.0, self.n, self.guarantee)
        firsts = np.flatnonzero(np.diff(self.groups, prepend=-1))
        spans = np.maximum.reduceat(numbers, firsts) - np.minimum.reduceat(numbers, firsts)
        unclear = float(np.abs(np.bincount(self.groups, weights=self.shares)) @ spans) / 2.0
        value = min(max(float(numbers @ self.shares), low), high)
        return self.answer(value, mean_quantity(numbers, low, high), unclear)


@dataclass(frozen=True, eq=False)
class Likeliest(Inference):
    """Estimates by likelihood, from a fit whose probabilities may be slightly negative."""

    relaxed: Relaxed
    shares: Floats
    edges: Floats
    n: int
    guarantee: Guarantee

    @classmethod
    def of(cls, summary: Counts, parts: int = 1) -> Self:
        """Fit a summary on a multiple of `parts` bins: at least 128, and 512 from a million reports on."""
        question = number_question(summary)
        least = FINE * (1 + (summary.n >= 10**5) + 2 * (summary.n >= 10**6))
        bins = parts * -(-least // parts)
        operator = grid(question, bins)
        relaxed = Relaxed.of(operator, operator.counts(summary.counts))
        ends = edges(question.line, bins)
        return cls(relaxed, relaxed.probabilities, ends, summary.n, question.guarantee)

    @property
    def blur(self) -> float:
        # The fit spreads people evenly in a bin, so it may put a point mass near an edge on the other side.
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


GRID: Final = 128  # bins of a fit
_ROWS: Final = 8  # least number of groups of reports for each bin
_ACROSS: Final = 16  # least number of groups of reports in a window
_MOST_ROWS: Final = 1 << 16
_TIMES: Final = 4  # least number of values that represent a bin


def row_number(question: NumberQuestion, bins: int) -> int:
    """Return the number of groups in which reports are counted. Narrow windows need many groups."""
    across = 1 << math.ceil(math.log2(_ACROSS / question.window_share))
    return min(max(_ROWS * max(bins, GRID), across), _MOST_ROWS)


def spread_bins(question: NumberQuestion, rows: int) -> Operator:
    """Return the distributions of reports for equal bins, with values uniform inside each bin."""
    times = math.ceil(min(max(_TIMES * GRID, OVERLAP / question.window_share), MOST_POINTS) / GRID)
    positions = (np.arange(GRID * times) + 0.5) / (GRID * times)
    return question.likelihood(question.line.from_unit(positions), rows).spread(times)


MOST_BINS: Final = 1 << 16
DEFAULT: Final = 64  # bins for methods that do not choose their number


def edges_of(line: Line, bins: Bins) -> Floats:
    """Return the ends of bins; raise InvalidParameter unless they are increasing and span the domain."""
    if bins is None:
        bins = DEFAULT
    if isinstance(bins, str) and isinstance(line.unit, Calendar):
        return line.unit.edges(line.low, line.high, bins)
    if isinstance(bins, bool | str | bytes):
        raise _wrong_bins(bins)
    if isinstance(bins, int | np.integer):
        if not 1 <= bins <= MOST_BINS:
            raise _wrong_bins(bins)
        return line.from_unit(np.arange(int(bins) + 1) / int(bins))
    try:
        edges = np.array(bins, dtype=np.float64)
    except (TypeError, ValueError):
        raise _wrong_bins(bins) from None
    if edges.ndim != 1 or not 2 <= edges.size <= MOST_BINS + 1 or not np.all(np.diff(edges) > 0.0):
        raise _wrong_bins(bins)
    close = 1e-9 * line.length
    if abs(edges[0] - line.low) > close or abs(edges[-1] - line.high) > close:
        raise InvalidParameter(f"expected edges of bins that begin and end with the domain, {line}")
    edges[0], edges[-1] = line.low, line.high
    return edges


def _wrong_bins(bins: object) -> InvalidParameter:
    given = found(bins) if isinstance(bins, int | float | str) else type(bins).__name__
    return InvalidParameter(
        "expected bins to be an integer from 1 to 2^16, increasing edges from the lowest to the highest "
        f'value, or a period: "day", "week", "month" or "year" of dates, "hour" of times; got {given}'
    )
