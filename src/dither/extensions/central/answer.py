"""The curator's answer, with its error, its interval and its guarantee."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Protocol

from dither.core.domains import Interval
from dither.estimation.estimate import Estimate
from dither.estimation.intervals import ConfidenceInterval
from dither.estimation.rounding import show
from dither.extensions.central.pairs import MeanMethod, Pair
from dither.extensions.central.tally import RecordGrid
from dither.foundation.numerics.roots import farthest_float, smallest_positive_integer
from dither.privacy import Guarantee, Pure

PUBLIC_COUNT: Final = "the number of records is public"
LARGEST: Final = sys.float_info.max
_HALVINGS: Final = 10  # halvings of the step in which a share first fails its test


@dataclass(frozen=True, eq=False, repr=False)
class Answer(Estimate):
    """A released number. Its error is only the noise around the value of the *data*, not of a population.

    `n` is the released count, or 0 if no count was released; `domain` has the given or learned bounds. The
    interval is computed from the distribution of the noise. For a mean it stays inside the domain.
    """

    domain: Interval | None = None

    @property
    def swap_guarantee(self) -> Guarantee:
        """The guarantee if one record changes: 2ε, because a change is a removal and an addition."""
        return self.guarantee if PUBLIC_COUNT in self.guarantee.assumes else self.guarantee.repeated(2)

    def __repr__(self) -> str:
        if self.n or not isinstance(self.confidence, Symmetric):
            return super().__repr__()
        return f"{show(self.confidence.centre, self.half_width())} (95 %)"  # no count was released


def to_float(number: Fraction | int) -> float:
    """Return the nearest float, or an infinity beyond all floats: an error would depend on the data."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


class Tail(Protocol):
    """A distribution of one integer with a known tail probability."""

    def tail(self, size: int) -> float:
        """Return P(|z| ≥ size)."""


@dataclass(frozen=True)
class Symmetric(ConfidenceInterval):
    """The interval around one noisy multiple of a unit, inside a domain if one is given."""

    centre: float
    unit: Fraction
    law: Tail
    domain: Interval | None = None

    def half_width(self, level: float) -> float:
        """Return the distance from the released value to the farther end."""
        size = smallest_positive_integer(lambda size: self.law.tail(size) <= 1.0 - level)
        half = to_float(self.unit * (size - 1))  # |z| ≤ size − 1 with probability ≥ level
        if self.domain is None:
            return half
        return min(half, max(self.centre - self.domain.low, self.domain.high - self.centre))

    def interval(self, level: float) -> tuple[float, float]:
        half = self.half_width(level)
        # A centre that is infinite as a float is at least LARGEST, which gives the nearer end.
        low, high = min(self.centre, LARGEST) - half, max(self.centre, -LARGEST) + half
        if self.domain is None:
            return low, high
        return max(low, self.domain.low), min(high, self.domain.high)


@dataclass(frozen=True)
class Shares(ConfidenceInterval):
    """The interval of a mean: all shares of the domain that a test of the noise does not reject.

    For the true share a, ŝ − a·n̂ is noise with a known distribution, for any count. So the set of shares
    that pass the test at a level covers the true share with that probability, for every n.
    """

    share: float
    error: float  # the standard error of the share
    first: int
    second: int
    method: MeanMethod
    law: Pair
    grid: RecordGrid

    def interval(self, level: float) -> tuple[float, float]:
        _, count = self.method.solve(self.first, self.second, self.grid)
        if count <= 0:
            return self.grid.domain.low, self.grid.domain.high
        # Each side is at least one standard error wide: a clipped value can lie outside the set.
        passes = self._passes(level)
        step = max(self.error, 2.0**-50)
        low, high = (
            farthest_float(passes, self.share, end, step=step, steps=_HALVINGS) for end in (0.0, 1.0)
        )
        low = min(low, max(self.share - self.error, 0.0))
        high = max(high, min(self.share + self.error, 1.0))
        return self.grid.at(Fraction(low)), self.grid.at(Fraction(high))

    def half_width(self, level: float) -> float:
        """Return the distance from the released value to the farther end."""
        low, high = self.interval(level)
        value = self.grid.at(Fraction(self.share))
        return max(value - low, high - value)

    def _passes(self, level: float) -> Callable[[float], bool]:
        numerator, count = self.method.solve(self.first, self.second, self.grid)

        def passes(share: float) -> bool:
            distance = abs(float(numerator - count * Fraction(share)))
            return self.law.tail(self.method.weights(share, self.grid), distance) >= 1.0 - level

        return passes


def record_guarantee(epsilon: Fraction, *assumes: str) -> Guarantee:
    """Return the guarantee for one record; ε is the exact rational total that was spent."""
    return Guarantee(Pure(float(epsilon)), "record", assumes)
