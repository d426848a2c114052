"""Frequencies of categories: one estimator for every pure protocol."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dither.arrays import Floats, Integers
from dither.errors import InvalidParameter, MalformedReport, NotIdentifiable, found
from dither.estimation.bounds.any_time import AnyTimeInterval, BoundedNumbers
from dither.estimation.bounds.lying import LyingInterval, shares_without
from dither.estimation.estimate import Estimate, LabelledEstimate, show, thousands
from dither.estimation.intervals import ConfidenceInterval
from dither.estimation.narrowing import CLEAR, LEAST, Narrowed
from dither.estimation.summary import Summary, summarise
from dither.kernels.codes import SupportKernel
from dither.numerics.quantiles import student_t_quantile
from dither.privacy import Guarantee
from dither.question import CategoryQuestion
from dither.reports import Reports

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Projection = Callable[[Floats], Floats]


def simplex(values: Floats) -> Floats:
    """Return the Euclidean projection on the probability simplex, by one sort [Duchi08, Fig. 1].

    >>> simplex(np.array([0.75, 0.5, -0.25]))
    array([0.625, 0.375, 0.   ])
    """
    values = _check_frequencies(values)
    largest = np.sort(values)[::-1]
    shifts = (1.0 - np.cumsum(largest)) / np.arange(1, values.size + 1)
    kept = int(np.flatnonzero(largest + shifts > 0.0)[-1])
    return np.asarray(np.maximum(values + shifts[kept], 0.0), dtype=np.float64)


def norm_sub(values: Floats) -> Floats:
    """Return frequencies with negative ones set to 0 and the others shifted to sum to 1 [Wang20, Sec. 4].

    The result is that of `simplex`: both are least-squares projections.

    >>> norm_sub(np.array([0.75, 0.5, -0.25]))
    array([0.625, 0.375, 0.   ])
    """
    values = _check_frequencies(values)
    kept = np.ones(values.size, dtype=np.bool_)
    while True:
        shift = (1.0 - values[kept].sum()) / kept.sum()
        negative = kept & (values + shift < 0.0)
        if not negative.any():
            return np.where(kept, values + shift, 0.0)
        kept &= ~negative


def _check_frequencies(values: Floats) -> Floats:
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or not values.size or not np.isfinite(values).all():
        raise InvalidParameter("frequencies are a non-empty vector of finite numbers")
    return values


@dataclass(frozen=True, eq=False)
class ScoreInterval(ConfidenceInterval):
    """The interval of a frequency: an affine function of the share of reports that support the category.

    Reports of people drawn from a population are independent, so the number of supporting ones is binomial:
    its variance contains both sampling and noise. The interval is the score interval of that share
    [Wilson27], transformed in the same way. It keeps its level with few reports, and is not quite symmetric
    about the value.
    """

    share: float | Floats
    other: float  # q: the probability that a report supports another category than its own
    gap: float  # p − q
    n: int
    error: float | Floats  # of the frequency
    possible: bool = False  # whether intervals are clipped to 0 and 1
    shared: tuple[float, float, float] = (0.0, 0.0, 0.0)  # a protocol's `shared`
    narrowed: Narrowed | None = None  # of projected frequencies, if there are enough categories
    number: int | None = None  # which of the narrowed ones this is; None for all

    def interval(self, level: float) -> tuple[Any, Any]:
        means = _score(np.asarray(self.share), self.n, student_t_quantile(level), self.shared)
        low, high = self._frequencies(*means)
        if self.narrowed is None:
            return low, high
        # A category that is clearly there has an interval of its own.
        faint = (np.asarray(self.share) - self.other) / self.gap < CLEAR * np.asarray(self.error)
        narrow = [
            np.clip(end if self.number is None else end[self.number], 0.0, 1.0)
            for end in self.narrowed.interval(level)
        ]
        return np.where(faint, narrow[0], low)[()], np.where(faint, narrow[1], high)[()]

    def _frequencies(self, *shares: Floats) -> list[Any]:
        """Return the frequencies for which shares of reports are expected, clipped if they are projected."""
        found = [(share - self.other) / self.gap for share in shares]
        return [np.clip(frequency, 0.0, 1.0) for frequency in found] if self.possible else found

    def pick(self, at: Any) -> ScoreInterval:
        """Return the interval of one of several categories."""
        share, error = (float(np.asarray(part)[at]) for part in (self.share, self.error))
        return replace(self, share=share, error=error, number=None if self.narrowed is None else at)

    def at_any_time(self) -> AnyTimeInterval:
        """Return the interval that holds at all numbers of reports at once."""
        if any(self.shared):
            raise NotIdentifiable(
                "intervals for any time need independent reports, and pairs share noise here (JRR); "
                "estimate.over_looks(100) holds at 100 looks together"
            )
        share = np.asarray(self.share, dtype=np.float64)
        numbers = BoundedNumbers(share, self.n * share * (1.0 - share), self.n, 0.0, 1.0)
        return AnyTimeInterval(numbers, (self.other, self.gap), self.possible)

    def if_lying(self, share: float) -> LyingInterval:
        """Return the interval that holds if at most this share of the reports are lies."""
        if any(self.shared):
            raise NotIdentifiable(
                "what liars can do is not derived for reports whose noise pairs of people share (JRR); "
                "with KRR or OLH it is"
            )
        return LyingInterval.of(self, share)

    def honest_range(self, liars: int) -> tuple[Any, Any]:
        """Return the least and the greatest frequency that is left when so many reports are removed."""
        shares = shares_without(np.asarray(self.share), self.n, liars)
        least, greatest = (((share - self.other) / self.gap)[()] for share in shares)
        return least, greatest

    def interval_if_lying(self, liars: int, level: float) -> tuple[Any, Any]:
        """Return the ends of an interval that covers whichever reports so many liars sent."""
        left, reach = max(self.n - liars, 1), student_t_quantile(level)
        low, high = shares_without(np.asarray(self.share), self.n, liars)
        least, most = self._frequencies(
            _score(low, left, reach, self.shared)[0], _score(high, left, reach, self.shared)[1]
        )
        return least[()], most[()]


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedFrequencies(LabelledEstimate):
    """The frequency of every category, by label. Unbiased: some may be negative, see `projected`.

    >>> import dither as dt
    >>> browser = dt.KRR(dt.Categories(["firefox", "chrome", "other"]), epsilon=8)
    >>> reports = browser.reports([0] * 200 + [1] * 600 + [2] * 200)
    >>> dt.frequencies(reports)["chrome"]
    0.60 ± 0.03 (95 %, n = 1 000)
    """

    confidence: ScoreInterval = field(kw_only=True)

    def __post_init__(self) -> None:
        if np.shape(self.value) != (len(self.labels),):
            raise InvalidParameter(f"{len(self.labels)} labels need as many frequencies, one for each")

    def plot(self, *, level: float = 0.95, most: int = 20, ax: Axes | None = None) -> Axes:
        """Draw a bar with its interval for each category, at most the `most` most frequent ones."""
        from dither.estimation.plotting import draw_frequencies

        return draw_frequencies(self, level=level, most=most, ax=ax)

    def largest(self, count: int = 10) -> list[tuple[Hashable, Estimate]]:
        """Return the most frequent categories and their frequencies, the largest first."""
        order = np.argsort(-np.asarray(self.value), kind="stable")[:count]
        return [(self.labels[int(at)], self[self.labels[int(at)]]) for at in order]

    def projected(self, method: Projection = simplex) -> Self:
        """Return frequencies that are not negative and sum to one, by dt.simplex or dt.norm_sub.

        The projection biases rare categories and never increases the sum of squared errors. Standard errors
        are those of the unbiased frequencies. From 32 categories on, the intervals of those below three
        standard errors use that most categories are alike: they hold in 95 % of the categories on average,
        and are several times narrower if most frequencies are near 0. Others are the unbiased ones, clipped.
        """
        if not callable(method):
            raise InvalidParameter(f"a projection is dt.simplex or dt.norm_sub, not {found(method)}")
        values = np.asarray(self.value, dtype=np.float64)
        narrowed = self.confidence.narrowed
        if values.size >= LEAST and not self.confidence.possible:
            narrowed = Narrowed.of(values, np.asarray(self.standard_error, dtype=np.float64))
        interval = replace(self.confidence, possible=True, narrowed=narrowed)
        return replace(self, value=method(values), confidence=interval)

    def __repr__(self) -> str:
        halves, values = np.asarray(self.half_width()), np.asarray(self.value)
        shown = [
            f"{label}: {show(float(value), float(half))}"
            for label, value, half in zip(self.labels[:8], values, halves, strict=False)
        ]
        more = ", …" if len(self) > 8 else ""
        step = ", projected" if self.confidence.possible else ""
        return f"{{{', '.join(shown)}{more}}} (95 %, n = {thousands(self.n)}{step})"


def frequencies(reports: Reports | Summary) -> EstimatedFrequencies:
    """Estimate how frequent every category is in the population, without bias.

    f = (share − q)/(p − q), where share is the part of the reports that support the category. The error has
    the variance m(1 − m)/n/(p − q)² with m = f·p + (1 − f)·q [Wang17, Thm 2], from sampling and from noise.
    """
    summary = summarise(reports)
    question = summary.question
    if not isinstance(question, CategoryQuestion):
        raise InvalidParameter(
            f"frequencies are estimated from reports on categories, such as KRR's or OLH's, not from "
            f"{question.name}'s; dt.distribution is for numbers"
        )
    supports = question.supports(summary.counts)
    return read(supports, summary.n, question.kernel, question.categories.labels, question.guarantee)


def read(
    supports: Integers,
    n: int,
    kernel: SupportKernel,
    labels: Sequence[Hashable],
    guarantee: Guarantee,
) -> EstimatedFrequencies:
    """Return the frequencies for the numbers of supporting reports among n."""
    if n == 0:
        raise NotIdentifiable("there are no reports, so frequencies cannot be estimated")
    if supports.size and not (supports.min() >= 0 and supports.max() <= n):
        raise MalformedReport("a category is supported by more reports than there are")
    own, other = kernel.rates
    p, q, gap = float(own), float(other), float(own - other)
    share = supports / n
    shared = kernel.shared(n)
    mean = share
    if any(shared):  # the error depends strongly on the frequency: take the middle of the score interval
        mean = np.add(*_score(share, n, 2.0, shared)) / 2.0
    # The share's mean lies between q and p whatever the truth is, so no error is 0 by chance.
    mean = np.clip(mean, q, p)
    error = np.sqrt((mean * (1.0 - mean) + np.polyval(shared[::-1], mean)) / n) / gap
    interval = ScoreInterval(share, q, gap, n, error, shared=shared)
    return EstimatedFrequencies((share - q) / gap, error, n, guarantee, labels=labels, confidence=interval)


def _score(share: Floats, n: int, z: float, shared: tuple[float, float, float]) -> tuple[Floats, Floats]:
    """Return the means m from which a share lies at most z standard errors: (share − m)² ≤ z²·V(m)/n.

    With V(m) = m(1 − m) + a + b·m + c·m², c ≤ 0, that is between the roots of a quadratic.
    """
    constant, linear, square = shared
    unit = z**2 / n
    lead = 1.0 + unit * (1.0 - square)
    shift = unit * (1.0 + linear) / 2.0
    spread = share * (1.0 - share) + constant * lead + linear * share + square * share**2
    centre, half = share + shift, np.sqrt(np.maximum(unit * spread + shift**2, 0.0))
    return (centre - half) / lead, (centre + half) / lead
