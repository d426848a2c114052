"""`Estimate`: a value with its standard error and its confidence interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from dither.arrays import Array, Floats
from dither.errors import InvalidParameter
from dither.numerics.quantiles import student_t_quantile
from dither.privacy import Guarantee
from dither.table import ResultTable, Row

if TYPE_CHECKING:
    from dither.estimation.bounds.any_time import AtAnyTime, OverLooks
    from dither.estimation.bounds.lying import IfLying

MOST_ROWS: Final = 50  # of an estimate in a notebook

_EVEN: Final = 0.1  # sides of an interval that differ by less are written as ±


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
    unit: str = field(default="", kw_only=True)  # of the value, as it is printed

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

    def if_lying(self, share: float) -> IfLying:
        """Return the estimate if at most this share of the reports are lies, for means and frequencies.

        A liar sends any report, and may know all others. The intervals cover the value of the honest people.
        """
        from dither.estimation.bounds.lying import refused

        raise refused(self)

    def at_any_time(self) -> AtAnyTime:
        """Return the estimate with intervals that hold at all numbers of reports at once.

        For means, frequencies and answers of queries. They are for who looks every day and stops when it
        pleases.
        """
        from dither.estimation.bounds.any_time import refused

        raise refused(self)

    def over_looks(self, looks: int) -> OverLooks:
        """Return the estimate with intervals that hold together if it is looked at so many times."""
        from dither.estimation.bounds.any_time import over_looks

        return over_looks(self, looks)

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
        value = np.asarray(self.value)
        # The interval of a direction may pass the end of the period, so its ends are not in order.
        half = np.asarray(self.half_width()) if self.circular else 0.0
        ends = (value - half, value + half) if self.circular else self.interval()
        low, high = (np.asarray(end, dtype=np.float64) for end in ends)
        shown = ", ".join(
            show_interval(*triple)
            for triple in zip(
                value.reshape(-1)[:8].tolist(),
                np.broadcast_to(low, value.shape).reshape(-1)[:8].tolist(),
                np.broadcast_to(high, value.shape).reshape(-1)[:8].tolist(),
                strict=True,
            )
        )
        if value.ndim:
            shown = f"[{shown}{', …' if value.size > 8 else ''}]"
        return f"{shown}{self._in_unit()} (95 %, n = {thousands(self.n)}{self._remark()})"

    def _remark(self) -> str:
        return ""

    def _in_unit(self) -> str:
        return f" {self.unit}" if self.unit else ""

    def __format__(self, form: str) -> str:
        """Return value ± half-width, both in the given format, as in f"{estimate:.2f}"; without one, repr."""
        if not form:
            return repr(self)
        value, half = np.asarray(self.value).reshape(-1), np.asarray(self.half_width()).reshape(-1)
        shown = ", ".join(
            f"{v:{form}} ± {h:{form}}" for v, h in zip(value.tolist(), half.tolist(), strict=True)
        )
        return (f"[{shown}]" if np.ndim(self.value) else shown) + self._in_unit()

    def records(self) -> list[Row]:
        """Return the estimate as rows of a table: value, low, high and n."""
        low, high = (np.asarray(end).reshape(-1).tolist() for end in self.interval())
        values = np.asarray(self.value).reshape(-1).tolist()
        return [
            {**names, "value": value, "low": least, "high": most, "n": self.n}
            for names, value, least, most in zip(self._names(), values, low, high, strict=True)
        ]

    def _names(self) -> Sequence[Row]:
        """Return what names each number of the value, as the first columns of its row."""
        labels = getattr(self, "labels", ())
        if len(labels) == np.size(self.value):
            return [{"answer": label} for label in labels]
        return (
            [{}] if not np.ndim(self.value) else [{"number": place} for place in range(np.size(self.value))]
        )

    def to_frame(self) -> Any:
        """Return the estimate as a pandas data frame, a row for each number; needs the extra `frames`."""
        return ResultTable("", tuple(self.records())).to_frame()

    def _repr_html_(self) -> str:
        """Return the estimate as notebooks show it: a table with its 95 % intervals."""
        rows = self.records()
        unit = f", in {self.unit}" if self.unit else ""
        title = f"95 % intervals, n = {thousands(self.n)}{self._remark()}{unit}; {self.guarantee}"
        return ResultTable(title, tuple(rows[:MOST_ROWS]))._repr_html_()


def show(value: float, half: float) -> str:
    """Return a value as text, rounded to one digit of its half-width, two if that begins with 1."""
    if not (math.isfinite(value) and math.isfinite(half)) or half <= 0:
        return f"{value:g} ± {half:g}"
    places = _places(half)
    if places > 12 or places < -12:
        return f"{value:.3g} ± {half:.1g}"
    digits = max(places, 0)
    rounded = round(float(value), places) + 0.0  # never −0.00
    return f"{rounded:.{digits}f} ± {round(float(half), places):.{digits}f}"


def show_interval(value: float, low: float, high: float) -> str:
    """Return a value with its interval: 63 ± 15, or 63 (59 – 89) if the sides differ by more than 10 %."""
    below, above = value - low, high - value
    half = (high - low) / 2.0
    even = abs(below - above) <= _EVEN * max(abs(below), abs(above))
    if even or not all(map(math.isfinite, (value, low, high))) or half <= 0:
        return show(value, half)
    places = _places(max(min(below, above), half / 5.0))  # of the shorter side
    if places > 12 or places < -12:
        return f"{value:.3g} ({low:.3g} – {high:.3g})"
    digits = max(places, 0)
    value, low, high = (round(float(one), places) + 0.0 for one in (value, low, high))
    return f"{value:.{digits}f} ({low:.{digits}f} – {high:.{digits}f})"


def _places(width: float) -> int:
    """Return how many decimals show one digit of a width, two if it begins with 1."""
    exponent = math.floor(math.log10(width))
    return -exponent + (1 if width / 10.0**exponent < 2.0 else 0)


def thousands(count: int) -> str:
    """Return a whole number as text in groups of three digits, as in 40 000."""
    return f"{count:,}".replace(",", " ")
