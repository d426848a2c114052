"""Ratios of two correlated averages, by Fieller [Fieller54]."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dither.estimation.intervals import ConfidenceInterval
from dither.foundation.numerics.distributions import student_t_quantile


@dataclass(frozen=True, eq=False)
class QuotientInterval(ConfidenceInterval):
    """Fieller's interval of a ratio of two correlated averages [Fieller54], or of several.

    It holds all r for which top − r·bottom is compatible with 0, and is infinite where the bottom may be 0.
    `spread` has the variance of the top, the covariance, and the variance of the bottom. `freedom` are the
    degrees of freedom, if they are fewer than n − 1.
    """

    top: Any
    bottom: Any
    spread: tuple[Any, Any, Any]
    n: int
    freedom: int | None = None

    @property
    def value(self) -> Any:
        """The ratio, or NaN where the bottom is not positive."""
        if np.ndim(self.top) == 0:
            return self.top / self.bottom if self.bottom else math.nan
        return np.divide(
            self.top, self.bottom, out=np.full(np.shape(self.top), np.nan), where=self.bottom > 0
        )

    @property
    def error(self) -> Any:
        """The standard error of the ratio."""
        value, (top, both, bottom) = self.value, self.spread
        square = np.maximum(top - 2 * value * both + value**2 * bottom, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.sqrt(square) / np.abs(self.bottom)
        return found if np.ndim(found) else float(found)

    def interval(self, level: float) -> tuple[Any, Any]:
        reach = student_t_quantile(level, self.n - 1 if self.freedom is None else self.freedom)
        return fieller(self.top, self.bottom, self.spread, reach)

    def pick(self, at: Any) -> QuotientInterval:
        """Return the interval of one of several ratios, or of a row of them."""
        top, bottom, *spread = (np.asarray(part)[at][()] for part in (self.top, self.bottom, *self.spread))
        return replace(self, top=top, bottom=bottom, spread=(spread[0], spread[1], spread[2]))

    def transpose(self) -> QuotientInterval:
        """Return the intervals of the transposed table."""
        turned = [np.transpose(part) for part in (self.top, self.bottom, *self.spread)]
        return replace(self, top=turned[0], bottom=turned[1], spread=(turned[2], turned[3], turned[4]))


def fieller(top: Any, bottom: Any, spread: tuple[Any, Any, Any], reach: float) -> tuple[Any, Any]:
    """Return the ends of {r : (top − r·bottom)² ≤ reach²·variance}; infinite if the bottom may be 0."""
    if not math.isfinite(reach):
        end = np.full(np.shape(top), math.inf)[()]
        return -end, end
    lead = np.square(bottom) - reach**2 * spread[2]
    middle = top * bottom - reach**2 * spread[1]
    rest = np.square(top) - reach**2 * spread[0]
    root = np.sqrt(np.maximum(np.square(middle) - lead * rest, 0.0))
    sure = (lead > 0.0) & (np.asarray(bottom) > 0.0)
    scale = np.where(sure, lead, 1.0)
    low = np.where(sure, (middle - root) / scale, -math.inf)
    high = np.where(sure, (middle + root) / scale, math.inf)
    return low[()], high[()]
