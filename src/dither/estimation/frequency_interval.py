"""The confidence interval of a frequency: Wilson's score interval of the share of supporting reports."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from dither.errors import NotIdentifiable
from dither.estimation.frequency_posterior import Narrowed
from dither.estimation.intervals import (
    AnyTimeInterval,
    BoundedNumbers,
    ConfidenceInterval,
    LyingInterval,
    StudentInterval,
    VarianceInterval,
    least_mean,
    shares_without,
)
from dither.foundation.arrays import Floats
from dither.foundation.numerics.distributions import student_t_quantile

CLEAR: Final = 3.0  # standard errors above 0; a category above this has its own interval
_WHOLE: Final = 100  # reports; below this, a share of correlated reports has visible steps
_STEP: Final = 0.3  # reports; the interval is wider by this


@dataclass(frozen=True, eq=False)
class ScoreInterval(ConfidenceInterval):
    """The interval of a frequency: an affine function of the share of reports that support the category.

    Reports of people drawn from a population are independent, so the number of supporting ones is binomial:
    its variance contains both sampling and noise. The interval is the score interval of that share
    [Wilson27], transformed in the same way. It keeps its level with few reports, and is not quite symmetric
    about the value.
    """

    share: float | Floats
    other: float  # q: the probability that a report supports a category that is not the person's
    gap: float  # p − q
    n: Any  # the number of reports; with weights, the effective number for each category
    error: float | Floats  # standard error of the frequency
    possible: bool = False  # True if intervals are clipped to 0 and 1
    shared: tuple[float, float, float] = (0.0, 0.0, 0.0)  # a protocol's `shared`
    narrowed: Narrowed | None = None  # for projected frequencies with enough categories
    claimed: bool = True  # False for posterior means: they have no confidence interval
    number: int | None = None  # the index in `narrowed`; None for all categories
    weighted: bool = False
    # The share of people who may have more items than they report, for items of sets. The share of an item is
    # a lower bound, and may be larger by this.
    beyond: ScoreInterval | None = None

    def interval(self, level: float) -> tuple[Any, Any]:
        self._refuse_posterior()
        least, most = self._means(np.asarray(self.share), self.n, level)
        low, high = self._frequencies(least, most)
        if self.beyond is not None:
            high = high + self.beyond.interval(level)[1]
            return low, np.clip(high, 0.0, 1.0) if self.possible else high
        if self.narrowed is None:
            return low, high
        # A category with a clearly positive share has its own interval.
        faint = (np.asarray(self.share) - self.other) / self.gap < CLEAR * np.asarray(self.error)
        narrow = [
            np.clip(end if self.number is None else end[self.number], 0.0, 1.0)
            for end in self.narrowed.interval(level)
        ]
        return np.where(faint, narrow[0], low)[()], np.where(faint, narrow[1], high)[()]

    def _means(self, share: Floats, n: Any, level: float) -> tuple[Floats, Floats]:
        """Return the least and the greatest mean of a share of n reports."""
        reach = student_t_quantile(level)
        least, most = score_means(share, n, reach, self.shared)
        if any(self.shared) and np.ndim(n) == 0 and n < _WHOLE:
            # Small counts have visible steps, so both ends are moved outwards by a fraction of a report.
            step = _STEP / n
            least = score_means(np.maximum(share - step, 0.0), n, reach, self.shared)[0]
            most = score_means(np.minimum(share + step, 1.0), n, reach, self.shared)[1]
        if not any(self.shared):  # few reports that support a category, or few that do not, are rare events
            least = np.minimum(least, least_mean(n * share, level, n) / n)
            most = np.maximum(most, 1.0 - least_mean(n * (1.0 - share), level, n) / n)
        return least, most

    def _frequencies(self, *shares: Floats) -> list[Any]:
        """Return the frequencies that correspond to expected shares of reports, clipped if projected."""
        found = [(share - self.other) / self.gap for share in shares]
        return [np.clip(frequency, 0.0, 1.0) for frequency in found] if self.possible else found

    def pick(self, at: Any) -> ScoreInterval:
        """Return the interval of one of several categories."""
        share, error = (float(np.asarray(part)[at]) for part in (self.share, self.error))
        n = self.n[at] if self.weighted else self.n
        return replace(self, share=share, error=error, n=n, number=None if self.narrowed is None else at)

    def at_any_time(self) -> AnyTimeInterval:
        """Return the interval that holds at all numbers of reports at once."""
        if any(self.shared):
            raise NotIdentifiable(
                "expected independent reports for intervals at any time, got pairs of people that share "
                "noise (JRR); use estimate.over_looks(100) for 100 looks together"
            )
        self._refuse_weights("intervals for any time")
        self._refuse_posterior()
        share = np.asarray(self.share, dtype=np.float64)
        numbers = BoundedNumbers(share, self.n * share * (1.0 - share), self.n, 0.0, 1.0)
        beyond = None if self.beyond is None else self.beyond.at_any_time()
        return AnyTimeInterval(numbers, (self.other, self.gap), self.possible, beyond)

    def if_lying(self, share: float) -> LyingInterval:
        """Return the interval that holds if at most this share of the reports are lies."""
        if any(self.shared):
            raise NotIdentifiable(
                "expected independent reports to bound the effect of lies, got pairs of people that share "
                "noise (JRR); use KRR or OLH"
            )
        self._refuse_weights("the effect of liars")
        self._refuse_posterior()
        return LyingInterval.of(self, share)

    def _refuse_weights(self, what: str) -> None:
        if self.weighted:
            raise NotIdentifiable(
                f"expected reports of equal weights, because {what} is derived only for these; leave out the "
                "weights"
            )

    def _refuse_posterior(self) -> None:
        if not self.claimed:
            raise NotIdentifiable(
                "expected frequencies with intervals, got posterior means without intervals; use the "
                'unprojected frequencies, or .projected("simplex")'
            )

    def honest_range(self, liars: int) -> tuple[Any, Any]:
        """Return the least and the greatest frequency after removing `liars` reports."""
        shares = shares_without(np.asarray(self.share), self.n, liars)
        least, greatest = (((share - self.other) / self.gap)[()] for share in shares)
        return least, greatest

    def interval_if_lying(self, liars: int, level: float) -> tuple[Any, Any]:
        """Return the ends of an interval that covers for any reports of `liars` liars."""
        left = max(self.n - liars, 1)
        low, high = shares_without(np.asarray(self.share), self.n, liars)
        least, most = self._frequencies(self._means(low, left, level)[0], self._means(high, left, level)[1])
        if self.beyond is not None:
            most = most + self.beyond.interval_if_lying(liars, level)[1]
        return least[()], most[()]


@dataclass(frozen=True, eq=False)
class ThinnedInterval(ConfidenceInterval):
    """The interval of a sum over items of sets that devices may have thinned.

    `thinned` is the share of people who may have more items than they report. The items that such a person
    leaves out add at most `up` to the person's sum, and take away at most `down`.
    """

    plain: StudentInterval | VarianceInterval
    thinned: ScoreInterval
    up: float
    down: float = 0.0

    @classmethod
    def of(
        cls, plain: StudentInterval | VarianceInterval, thinned: ScoreInterval, numbers: Floats, most: int
    ) -> ThinnedInterval:
        """Return the interval of Σ number·share, for people who report at most `most` of these items."""
        order, left_out = np.sort(numbers), numbers.size - most
        up, down = (float(np.maximum(side, 0.0)[:left_out].sum()) for side in (order[::-1], -order))
        return cls(plain, thinned, up, down)

    @property
    def value(self) -> float:
        """The sum over the items that people report."""
        return float(self.plain.value)

    @property
    def error(self) -> float:
        """The standard error of that sum."""
        return float(self.plain.error)

    @property
    def n(self) -> int:
        """The number of reports."""
        return self.plain.n

    @property
    def beyond(self) -> ScoreInterval | None:
        """The share of thinned sets if the sum is a lower bound; None if items may also reduce the sum."""
        return self.thinned if self.up > 0.0 and self.down == 0.0 else None

    def interval(self, level: float) -> tuple[float, float]:
        low, high = self.plain.interval(level)
        share = max(float(self.thinned.interval(level)[1]), 0.0)
        return float(low - self.down * share), float(high + self.up * share)


def score_means(share: Floats, n: int, z: float, shared: tuple[float, float, float]) -> tuple[Floats, Floats]:
    """Return the range of means m within z standard errors of a share: (share − m)² ≤ z²·V(m)/n.

    With V(m) = m(1 − m) + a + b·m + c·m², c ≤ 0, the range lies between the roots of a quadratic.
    """
    constant, linear, square = shared
    unit = z**2 / n
    lead = 1.0 + unit * (1.0 - square)
    shift = unit * (1.0 + linear) / 2.0
    spread = share * (1.0 - share) + constant * lead + linear * share + square * share**2
    centre, half = share + shift, np.sqrt(np.maximum(unit * spread + shift**2, 0.0))
    return (centre - half) / lead, (centre + half) / lead
