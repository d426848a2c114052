"""Confidence intervals as objects: each computes its ends, at any level, from the numbers that it holds.

An `Estimate` has one. What an estimate can do beyond its interval depends on the evidence that this object
carries: `Sequential` and `Attackable` say what is needed for `at_any_time` and `if_lying`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dither.arrays import Floats
from dither.numerics.quantiles import student_t_quantile


class ConfidenceInterval(ABC):
    """A set of plausible values of a population's quantity, for each confidence level.

    The level is checked by the estimate. Ends are numbers, or arrays for an estimate of several numbers.
    """

    period: float = 0.0  # of a circle: an interval may pass its end, and the second end is then the smaller
    resolution: float = 0.0  # the largest error however many reports there are

    @abstractmethod
    def interval(self, level: float) -> tuple[Any, Any]:
        """Return the ends of the interval that covers with probability `level`."""

    def half_width(self, level: float) -> Any:
        """Return half the width of the interval."""
        low, high = self.interval(level)
        if self.period and high < low:
            return (high - low) % self.period / 2.0
        return (high - low) / 2.0

    def covers(self, value: float, level: float) -> Any:
        """Return whether the interval contains a value."""
        low, high = self.interval(level)
        if self.period:
            return high - low >= self.period or (value - low) % self.period <= (high - low) % self.period
        return (low <= value) & (value <= high)


class Divisible(Protocol):
    """An interval of several numbers at once."""

    def pick(self, at: Any) -> ConfidenceInterval:
        """Return the interval of one of the numbers, by its index."""


@runtime_checkable
class Sequential(Protocol):
    """An interval whose numbers are known to be bounded."""

    def at_any_time(self) -> ConfidenceInterval:
        """Return the interval that holds at all numbers of reports at once."""


@runtime_checkable
class Attackable(Protocol):
    """An interval for which the effect of liars has been derived."""

    def if_lying(self, share: float) -> ConfidenceInterval:
        """Return the interval that holds if at most this share of the reports are lies."""


@dataclass(frozen=True, eq=False)
class StudentInterval(ConfidenceInterval):
    """The interval of an average, by Student's t.

    Reports of people drawn from a population are independent, so the variance of the numbers contains both
    sampling and noise. `skew` is the third central moment over the second: the slope of the variance in the
    mean, along the least favourable family of laws. The interval is the set of means μ with
    (average − μ)² ≤ t²·variance(μ)/n; its coverage stays near the level for few and for skewed reports.
    """

    value: float | Floats
    error: float | Floats
    n: int
    skew: float | Floats = 0.0

    def interval(self, level: float) -> tuple[Any, Any]:
        reach = student_t_quantile(level, self.n - 1)
        one_number = np.ndim(self.value) == 0
        if math.isinf(reach):
            end = math.inf if one_number else np.full(np.shape(self.value), math.inf)
            return -end, end
        shift = reach**2 * self.skew / (2.0 * self.n)
        half: Any = (math.hypot if one_number else np.hypot)(shift, reach * self.error)
        return self.value + shift - half, self.value + shift + half

    def pick(self, at: Any) -> StudentInterval:
        """Return the interval of one of several averages."""
        skews = np.broadcast_to(self.skew, np.shape(self.value))
        value, error, skew = (float(np.asarray(part)[at]) for part in (self.value, self.error, skews))
        return StudentInterval(value, error, self.n, skew)


@dataclass(frozen=True, eq=False)
class ClippedInterval(ConfidenceInterval):
    """The normal interval of a share, clipped to 0 and 1."""

    value: float | Floats
    error: float | Floats

    def interval(self, level: float) -> tuple[Any, Any]:
        reach = student_t_quantile(level) * np.asarray(self.error)
        low, high = (np.clip(self.value + sign * reach, 0.0, 1.0) for sign in (-1.0, 1.0))
        return (float(low), float(high)) if np.ndim(self.value) == 0 else (low, high)
