"""Frequencies of categories: one estimator for every pure protocol."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self, final

import numpy as np

from dither.arrays import Floats, Integers
from dither.errors import InvalidParameter, MalformedReport, NotIdentifiable, found, unknown_name
from dither.estimation.bounds.any_time import AtAnyTime, BoundedNumbers
from dither.estimation.bounds.lying import IfLying, if_lying, shares_without
from dither.estimation.estimate import Estimate, show, thousands
from dither.estimation.narrowing import CLEAR, LEAST, Narrowed
from dither.estimation.projection import simplex
from dither.estimation.summary import Summary, summarise
from dither.kernels.codes import SupportKernel
from dither.numerics.quantiles import student_t_quantile
from dither.privacy import Guarantee
from dither.question import CategoryQuestion
from dither.reports import Reports

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Projection = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False, repr=False)
class Frequency(Estimate):
    """The frequency of a category: an affine function of the share of reports that support it.

    Reports of people drawn from a population are independent, so the number of supporting ones is binomial:
    its variance contains both sampling and noise. The interval is the score interval of that share
    [Wilson27], transformed in the same way. It keeps its level with few reports, and is not quite symmetric
    about the value.
    """

    share: float | Floats
    other: float
    gap: float
    possible: bool = False  # whether intervals are clipped to 0 and 1
    shared: tuple[float, float, float] = (0.0, 0.0, 0.0)  # a protocol's `shared`
    narrowed: Narrowed | None = None  # of projected frequencies, if there are enough categories
    number: int | None = None  # which of the narrowed ones this is; None for all

    def interval(self, level: float = 0.95) -> tuple[Any, Any]:
        """Return the ends of an interval that covers the population's frequency with probability `level`."""
        means = _score(np.asarray(self.share), self.n, student_t_quantile(level), self.shared)
        ends = [(end - self.other) / self.gap for end in means]
        if self.possible:
            ends = [np.clip(end, 0.0, 1.0) for end in ends]
        if self.narrowed is not None:
            # A category that is clearly there has an interval of its own.
            faint = (np.asarray(self.share) - self.other) / self.gap < CLEAR * np.asarray(self.standard_error)
            narrow = [
                np.clip(end if self.number is None else end[self.number], 0.0, 1.0)
                for end in self.narrowed.interval(level)
            ]
            ends = [np.where(faint, one, two)[()] for one, two in zip(narrow, ends, strict=True)]
        return ends[0], ends[1]

    def half_width(self, level: float = 0.95) -> Any:
        """Return half the width of the interval at `level`."""
        low, high = self.interval(level)
        return (high - low) / 2.0

    def at_any_time(self) -> AtAnyTime:
        if any(self.shared):
            raise NotIdentifiable(
                "intervals for any time need independent reports, and pairs share noise here (JRR); "
                "estimate.over_looks(100) holds at 100 looks together"
            )
        share = np.asarray(self.share, dtype=np.float64)
        return AtAnyTime(
            self.value,
            self.standard_error,
            self.n,
            self.guarantee,
            origin=self.origin,
            numbers=BoundedNumbers(share, self.n * share * (1.0 - share), self.n, 0.0, 1.0),
            scale=(self.other, self.gap),
            possible=self.possible,
            labels=getattr(self, "labels", ()),
        )

    def if_lying(self, share: float) -> IfLying:
        if any(self.shared):
            raise NotIdentifiable(
                "what liars can do is not derived for reports whose noise pairs of people share (JRR); "
                "with KRR or OLH it is"
            )
        return if_lying(self, share)

    def honest(self, liars: int) -> tuple[Any, Any]:
        """Return the least and the greatest frequency that is left when so many reports are removed."""
        shares = shares_without(np.asarray(self.share), self.n, liars)
        least, greatest = (((one - self.other) / self.gap)[()] for one in shares)
        return least, greatest

    def interval_if_lying(self, liars: int, level: float) -> tuple[Any, Any]:
        """Return the ends of an interval that covers whichever reports so many liars sent."""
        left, reach = max(self.n - liars, 1), student_t_quantile(level)
        low, high = shares_without(np.asarray(self.share), self.n, liars)
        means = _score(low, left, reach, self.shared)[0], _score(high, left, reach, self.shared)[1]
        ends = [(end - self.other) / self.gap for end in means]
        if self.possible:
            ends = [np.clip(end, 0.0, 1.0) for end in ends]
        return ends[0][()], ends[1][()]


@final
@dataclass(frozen=True, eq=False, repr=False)
class EstimatedFrequencies(Frequency):
    """The frequency of every category, by label. Unbiased: some may be negative, see `projected`.

    >>> import dither as dt
    >>> browser = dt.KRR(dt.Categories(["firefox", "chrome", "other"]), epsilon=8)
    >>> reports = browser.reports([0] * 200 + [1] * 600 + [2] * 200)
    >>> dt.frequencies(reports)["chrome"]
    0.60 ± 0.03 (95 %, n = 1 000)
    """

    labels: Sequence[Hashable] = ()

    def __post_init__(self) -> None:
        if np.shape(self.value) != (len(self.labels),):
            raise InvalidParameter(f"{len(self.labels)} labels need as many frequencies, one for each")

    def __getitem__(self, label: Hashable) -> Frequency:
        try:
            at = self.labels.index(label)
        except ValueError:
            raise unknown_name("category", label, map(str, self.labels)) from None
        value, error, share = (
            float(np.asarray(part)[at]) for part in (self.value, self.standard_error, self.share)
        )
        return Frequency(
            value,
            error,
            self.n,
            self.guarantee,
            share,
            self.other,
            self.gap,
            possible=self.possible,
            shared=self.shared,
            origin=self,
            narrowed=self.narrowed,
            number=None if self.narrowed is None else at,
        )

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.labels)

    def items(self) -> Iterator[tuple[Hashable, Frequency]]:
        """Return the categories with their frequencies."""
        return ((label, self[label]) for label in self.labels)

    def plot(self, *, level: float = 0.95, most: int = 20, ax: Axes | None = None) -> Axes:
        """Draw a bar with its interval for each category, at most the `most` most frequent ones."""
        from dither.estimation.plotting import draw_frequencies

        return draw_frequencies(self, level=level, most=most, ax=ax)

    def largest(self, count: int = 10) -> list[tuple[Hashable, Frequency]]:
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
        narrowed = None
        if values.size >= LEAST and not self.possible:
            narrowed = Narrowed.of(values, np.asarray(self.standard_error, dtype=np.float64))
        return replace(self, value=method(values), possible=True, narrowed=narrowed or self.narrowed)

    def __repr__(self) -> str:
        halves, values = np.asarray(self.half_width()), np.asarray(self.value)
        shown = [
            f"{label}: {show(float(value), float(half))}"
            for label, value, half in zip(self.labels[:8], values, halves, strict=False)
        ]
        more = ", …" if len(self) > 8 else ""
        step = ", projected" if self.possible else ""
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
    value = (share - q) / gap
    return EstimatedFrequencies(value, error, n, guarantee, share, q, gap, labels=labels, shared=shared)


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
