"""`Estimate`: a value with its standard error and its confidence interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dither.arrays import Array, Floats
from dither.numerics.quantiles import student_t_quantile
from dither.privacy import Guarantee


@dataclass(frozen=True, eq=False)
class Estimate:
    """A value, its standard error, the number of reports, and their guarantee.

    `value` is a number or an array. An interval covers the population's value: it accounts for sampling as
    well as for the noise.

    >>> from dither.privacy import Pure
    >>> Estimate(43.1234, 0.41, 40_000, Guarantee(Pure(1.0)))
    43.1 ± 0.8 (95 %, n = 40 000)
    """

    value: float | Floats
    standard_error: float | Floats
    n: int
    guarantee: Guarantee

    def interval(self, level: float = 0.95) -> tuple[Any, Any]:
        """Return the ends of an interval that covers the population's value with probability `level`."""
        reach = student_t_quantile(level, self.n - 1) * self.standard_error
        return self.value - reach, self.value + reach

    def half_width(self, level: float = 0.95) -> Any:
        """Return half the width of the interval at `level`."""
        low, high = self.interval(level)
        return (high - low) / 2.0

    def covers(self, value: float, level: float = 0.95) -> Any:
        """Return whether the interval at `level` contains a value."""
        low, high = self.interval(level)
        return (low <= value) & (value <= high)

    def __float__(self) -> float:
        return float(self.value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.value, dtype=dtype)

    def __repr__(self) -> str:
        half = np.asarray(self.half_width())
        value = np.asarray(self.value)
        shown = ", ".join(map(show, value.reshape(-1)[:8], half.reshape(-1)[:8]))
        if value.ndim:
            shown = f"[{shown}{', …' if value.size > 8 else ''}]"
        return f"{shown} (95 %, n = {thousands(self.n)}{self._remark()})"

    def _remark(self) -> str:
        return ""


def show(value: float, half: float) -> str:
    """Return a value as text, rounded to one digit of its half-width, two if that begins with 1."""
    if not (math.isfinite(value) and math.isfinite(half)) or half <= 0:
        return f"{value:g} ± {half:g}"
    exponent = math.floor(math.log10(half))
    places = -exponent + (1 if half / 10.0**exponent < 2.0 else 0)
    if places > 12 or places < -12:
        return f"{value:.3g} ± {half:.1g}"
    digits = max(places, 0)
    rounded = round(float(value), places) + 0.0  # never −0.00
    return f"{rounded:.{digits}f} ± {round(float(half), places):.{digits}f}"


def thousands(count: int) -> str:
    """Return a whole number as text in groups of three digits, as in 40 000."""
    return f"{count:,}".replace(",", " ")
