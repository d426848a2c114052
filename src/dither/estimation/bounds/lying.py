"""Estimates if a share of the reports are lies: what they can have moved, and intervals that allow for it.

A liar sends any report. Reports that liars sent are among those that were counted, so the honest ones are
what is left after removing some: the farthest that an honest average can be is found by removing the most
extreme (docs/theory.md, "What liars can do").
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, final

import numpy as np

from dither.arrays import Floats, Integers
from dither.errors import InvalidParameter, NotIdentifiable, found
from dither.estimation.estimate import Estimate
from dither.kernels.line import UnbiasedReading
from dither.question import CategoryQuestion, NumberQuestion, as_question
from dither.table import percent


@final
@dataclass(frozen=True, eq=False)
class CountedNumbers:
    """The number that each report counts for in an average, and how often each was sent."""

    reading: UnbiasedReading
    counts: Integers

    def sum_of_lowest(self, liars: int) -> float:
        """Return a lower bound of the sum of any `liars` of the numbers."""
        return self._extreme(liars, 1)

    def sum_of_highest(self, liars: int) -> float:
        """Return an upper bound of the sum of any `liars` of the numbers."""
        return self._extreme(liars, -1)

    def _extreme(self, liars: int, sign: int) -> float:
        values = self.reading.values
        order = np.argsort(sign * values, kind="stable")
        before = np.cumsum(self.counts[order]) - self.counts[order]
        taken = np.clip(liars - before, 0, self.counts[order])
        # If only leading bits of cells are counted, a number may be farther out than that of its group.
        return float((taken * values[order]).sum()) - sign * liars * self.reading.slack


class Attackable(Protocol):
    """An estimate for which the effect of liars has been derived."""

    def honest(self, liars: int) -> tuple[Any, Any]:
        """Return the least and the greatest estimate that the reports can give without so many liars."""

    def interval_if_lying(self, liars: int, level: float) -> tuple[Any, Any]:
        """Return the ends of an interval that covers whichever reports so many liars sent."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class IfLying(Estimate):
    """An estimate of the honest people's value, if at most a share of the reports were made up.

    The value is that of all reports. `moved` says how far below and above the honest estimate it may be.
    Intervals cover the value of the population that the honest people come from, whatever the liars know and
    send.
    """

    plain: Attackable = field(kw_only=True)
    share: float = field(kw_only=True)
    labels: Sequence[Hashable] = field(default=(), kw_only=True)

    @property
    def liars(self) -> int:
        """The number of reports that may be lies."""
        return liars_among(self.n, self.share)

    @property
    def moved(self) -> tuple[Any, Any]:
        """How far the liars may have moved the estimate: down (negative), and up."""
        least, greatest = self.plain.honest(self.liars)
        return self.value - greatest, self.value - least

    def interval(self, level: float = 0.95) -> tuple[Any, Any]:
        """Return the ends of an interval that covers with probability `level`, whatever the liars sent."""
        return self.plain.interval_if_lying(self.liars, level)

    def __getitem__(self, label: Hashable) -> IfLying:
        if not self.labels:
            raise InvalidParameter("a mean has no categories")
        one: IfLying = self.plain[label].if_lying(self.share)  # type: ignore[index]
        return one

    def _remark(self) -> str:
        return f", if {percent(self.share)} lie"


def if_lying(estimate: Any, share: float) -> IfLying:
    """Return an estimate that allows for a share of lies."""
    share = check_share(share)
    return IfLying(
        estimate.value,
        estimate.standard_error,
        estimate.n,
        estimate.guarantee,
        origin=estimate.origin,
        unit=estimate.unit,
        plain=estimate,
        share=share,
        labels=getattr(estimate, "labels", ()),
    )


def check_share(share: object) -> float:
    """Return the share of liars as a float; raise InvalidParameter unless it is from 0 to below 1."""
    number = isinstance(share, int | float | np.floating) and not isinstance(share, bool)
    if not number or not 0.0 <= float(share) < 1.0:  # type: ignore[arg-type]
        raise InvalidParameter(
            f"the share of lies is a number from 0 to below 1, such as 0.01, not {found(share)}"
        )
    return float(share)  # type: ignore[arg-type]


def liars_among(n: int, share: float) -> int:
    """Return the number of lies among n reports: share·n, rounded up, after rounding errors are removed."""
    return min(math.ceil(round(share * n, 6)), n)


def refused(estimate: Estimate) -> NotIdentifiable:
    """Return the error for an estimate whose worst case has not been derived."""
    return NotIdentifiable(
        f"what liars can do is derived for means (dt.linear) and frequencies, not for this "
        f"{type(estimate).__name__}; take dt.mean(reports).if_lying(share) or dt.frequencies(reports)"
        ".if_lying(share)"
    )


def reach_of_one(asked: Any) -> float | None:
    """Return n times the most that one of n reports can move a mean or a frequency; None if not bounded so.

    It is the distance between the least and the greatest number that a report can stand for: for a mean that
    of its unbiased reading, for a frequency 1/(p − q).
    """
    question = as_question(asked)
    if isinstance(question, CategoryQuestion):
        return 1.0 / question.gap
    if isinstance(question, NumberQuestion):
        reading = question.unbiased_reading()
        if reading is not None:
            low, high = reading.span
            return high - low
    return None


def mean_error_without(error: float, n: int, liars: int) -> float:
    """Return an upper bound of the standard error of the honest reports' average.

    Their squared deviations sum to no more than those of all reports.
    """
    left = n - liars
    if left < 2:
        return math.inf
    return error * math.sqrt(n * (n - 1) / (left * (left - 1)))


def shares_without(share: Floats, n: int, liars: int) -> tuple[Floats, Floats]:
    """Return the least and greatest share of supporting reports once so many reports are removed."""
    supports, left = np.asarray(share) * n, max(n - liars, 1)
    low = np.maximum(supports - liars, 0.0) / left
    high = np.minimum(supports / left, 1.0)
    return low, high
