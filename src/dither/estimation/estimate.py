"""`Estimate`: a value with its standard error and its confidence interval."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from dither.arrays import Array, Floats
from dither.errors import InvalidParameter
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
    # What the estimates of the same reports share: they are not independent of each other.
    origin: object = field(default=None, kw_only=True, repr=False)

    __array_priority__ = 100.0  # numpy's numbers leave arithmetic to this class
    circular: ClassVar[bool] = False  # whether the value is a direction

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

    def p_value(self, null: float = 0.0) -> float:
        """Return the p-value of the hypothesis that the population's value is `null`, in both directions.

        It is one minus the largest level whose interval excludes `null`; a smaller one than 1e-15 is 1e-15.
        """
        from dither.estimation.comparison.arithmetic import p_value

        if np.ndim(self.value):
            raise InvalidParameter("a p-value is of one number; take one category, as in (a - b)['yes']")
        return p_value(self, null)

    def __add__(self, other: object) -> Estimate:
        """Return the sum with a number, or with an estimate of other people."""
        from dither.estimation.comparison.arithmetic import plus

        return plus(self, other, 1.0)

    __radd__ = __add__

    def __sub__(self, other: object) -> Estimate:
        """Return the difference to a number, or to an estimate of other people."""
        from dither.estimation.comparison.arithmetic import plus

        return plus(self, other, -1.0)

    def __rsub__(self, other: object) -> Estimate:
        return -self + other

    def __mul__(self, factor: object) -> Estimate:
        """Return the estimate times a number."""
        from dither.estimation.comparison.arithmetic import times

        return times(self, factor)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Estimate:
        """Return the ratio to a number, or to an estimate of other people."""
        from dither.estimation.comparison.arithmetic import over

        return over(self, other)

    def __neg__(self) -> Estimate:
        return self * -1.0

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
