"""`Estimate`: a value with its standard error and its confidence interval."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Protocol, Self, cast

import numpy as np

from dither.arrays import Array, Floats
from dither.errors import InvalidParameter, NotIdentifiable, unknown_name
from dither.estimation.bounds.any_time import LooksInterval
from dither.estimation.bounds.lying import LyingInterval, check_share
from dither.estimation.intervals import (
    Attackable,
    ConfidenceInterval,
    Divisible,
    Sequential,
    StudentInterval,
)
from dither.numerics.quantiles import check_level, student_t_quantile
from dither.privacy import Guarantee
from dither.table import ResultTable, Row, percent

MOST_ROWS: Final = 50  # of an estimate in a notebook

_EVEN: Final = 0.1  # sides of an interval that differ by less are written as ±


class ValuedInterval(Protocol):
    """A confidence interval about a value with a standard error, such as that of an average."""

    @property
    def value(self) -> float | Floats:
        """The estimated value."""

    @property
    def error(self) -> float | Floats:
        """Its standard error."""

    @property
    def n(self) -> int:
        """The number of reports."""

    def interval(self, level: float) -> tuple[Any, Any]:
        """Return the ends of the interval that covers with probability `level`."""


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """A value, its standard error, the number of reports, and their guarantee.

    `value` is a number or an array; `labels` name the numbers of an array, if they have names. An interval
    covers the population's value: it accounts for sampling as well as for the noise. `confidence` computes
    it; by default it is Student's. If `error` is None, the standard error follows from the interval.

    >>> from dither.privacy import Pure
    >>> Estimate(43.1234, 0.41, 40_000, Guarantee(Pure(1.0)))
    43.1 ± 0.8 (95 %, n = 40 000)
    """

    value: float | Floats
    error: float | Floats | None
    n: int
    guarantee: Guarantee
    confidence: ConfidenceInterval | None = field(default=None, kw_only=True)
    labels: Sequence[Hashable] = field(default=(), kw_only=True)
    # What the estimates of the same reports share: they are not independent of each other.
    origin: object = field(default=None, kw_only=True)
    unit: str = field(default="", kw_only=True)  # of the value, as it is printed
    remark: str = field(default="", kw_only=True)  # printed after the number of reports

    __array_priority__ = 100.0  # numpy's numbers leave arithmetic to this class

    @classmethod
    def of(
        cls, valued: ValuedInterval, guarantee: Guarantee, *, origin: object = None, unit: str = ""
    ) -> Self:
        """Return the estimate of an interval that knows its value, standard error and number of reports."""
        interval = cast("ConfidenceInterval", valued)
        return cls(
            valued.value, valued.error, valued.n, guarantee, confidence=interval, origin=origin, unit=unit
        )

    @cached_property
    def _confidence(self) -> ConfidenceInterval:
        if self.confidence is not None:
            return self.confidence
        return StudentInterval(self.value, self.standard_error, self.n)

    @cached_property
    def standard_error(self) -> float | Floats:
        """The standard error; if none was given, that of a normal estimate with the same 95 % interval."""
        if self.error is not None:
            return self.error
        return float(self.half_width()) / student_t_quantile(0.95)

    @property
    def circular(self) -> bool:
        """Whether the value is a direction."""
        return self._confidence.period > 0.0

    @property
    def resolution(self) -> float:
        """The largest error that is left however many reports there are; 0 if the value is identifiable."""
        return self._confidence.resolution

    @property
    def liars(self) -> int:
        """The number of reports that may be lies; 0 but for the result of `if_lying`."""
        return self._confidence.liars if isinstance(self._confidence, LyingInterval) else 0

    @property
    def moved(self) -> tuple[Any, Any]:
        """How far the liars may have moved the estimate: down (negative), and up."""
        if not isinstance(self._confidence, LyingInterval):
            return 0.0, 0.0
        least, greatest = self._confidence.honest()
        return self.value - greatest, self.value - least

    def interval(self, level: float = 0.95) -> tuple[Any, Any]:
        """Return the ends of an interval that covers the population's value with probability `level`.

        On a circle it runs from its first end to its second in the direction of increasing angles; if it
        contains the end of the period, the second number is the smaller one.
        """
        return self._confidence.interval(check_level(level))

    def half_width(self, level: float = 0.95) -> Any:
        """Return half the width of the interval at `level`."""
        return self._confidence.half_width(check_level(level))

    def covers(self, value: float, level: float = 0.95) -> Any:
        """Return whether the interval at `level` contains a value."""
        return self._confidence.covers(value, check_level(level))

    def p_value(self, null: float = 0.0) -> float:
        """Return the p-value of the hypothesis that the population's value is `null`, in both directions.

        It is one minus the largest level whose interval excludes `null`; a smaller one than 1e-15 is 1e-15.
        """
        from dither.estimation.comparison.arithmetic import p_value

        if np.ndim(self.value):
            raise InvalidParameter("a p-value is of one number; take one category, as in (a - b)['yes']")
        return p_value(self, null)

    def if_lying(self, share: float) -> Estimate:
        """Return the estimate if at most this share of the reports are lies, for means and frequencies.

        A liar sends any report, and may know all others. The value is that of all reports, and `moved` says
        how far below and above the honest estimate it may be. Intervals cover the value of the population
        that the honest people come from, whatever the liars know and send.
        """
        if not isinstance(self._confidence, Attackable):
            raise NotIdentifiable(
                "what liars can do is derived for means (dt.linear) and frequencies, not for this "
                f"{type(self).__name__}; take dt.mean(reports).if_lying(share) or dt.frequencies(reports)"
                ".if_lying(share)"
            )
        wide = self._confidence.if_lying(share)
        return self._with(wide, f", if {percent(check_share(share))} lie")

    def at_any_time(self) -> Estimate:
        """Return the estimate with intervals that hold at all numbers of reports at once.

        For means, frequencies and answers of queries. They are for who looks every day and stops when it
        pleases. With probability `level` no interval of the whole collection misses the population's value.
        It assumes independent people from one population; no number of looks is fixed.
        """
        if not isinstance(self._confidence, Sequential):
            raise NotIdentifiable(
                "intervals for any time are known for means (dt.linear) and frequencies, not for this "
                f"{type(self).__name__}; estimate.over_looks(100) holds at 100 looks together"
            )
        return self._with(self._confidence.at_any_time(), ", at any time")

    def over_looks(self, looks: int) -> Estimate:
        """Return the estimate with intervals that hold together if it is looked at so many times."""
        wide = LooksInterval.of(self._confidence, looks)
        return self._with(wide, f", {thousands(wide.looks)} looks")

    def _with(self, confidence: ConfidenceInterval, remark: str) -> Estimate:
        """Return the same value with another interval."""
        kind = LabelledEstimate if self.labels else Estimate
        return kind(
            self.value,
            self.standard_error,
            self.n,
            self.guarantee,
            confidence=confidence,
            labels=self.labels,
            origin=self.origin,
            unit=self.unit,
            remark=remark,
        )

    def __getitem__(self, label: Any) -> Estimate:
        """Return the estimate of one category."""
        if not self.labels:
            raise InvalidParameter("this estimate has no categories")
        try:
            at = self.labels.index(label)
        except ValueError:
            raise unknown_name("category", label, map(str, self.labels)) from None
        return Estimate(
            float(np.asarray(self.value)[at]),
            float(np.asarray(self.standard_error)[at]),
            self.n,
            self.guarantee,
            confidence=cast("Divisible", self._confidence).pick(at),
            origin=self if self.origin is None else self.origin,
            unit=self.unit,
            remark=self.remark,
        )

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
        low, high = (np.asarray(end, dtype=np.float64) for end in self._ends_in_order())
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
        return f"{shown}{self._in_unit()} (95 %, n = {thousands(self.n)}{self.remark})"

    def _ends_in_order(self) -> tuple[Any, Any]:
        """Return the ends of the 95 % interval in order, if need be beyond the end of the period."""
        low, high = self.interval()
        period = self._confidence.period
        if not period:
            return low, high
        value = float(self)
        if high - low >= period:
            return value - period / 2.0, value + period / 2.0
        return value - (value - low) % period, value + (high - value) % period

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
        if len(self.labels) == np.size(self.value):
            return [{"answer": label} for label in self.labels]
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
        title = f"95 % intervals, n = {thousands(self.n)}{self.remark}{unit}; {self.guarantee}"
        return ResultTable(title, tuple(rows[:MOST_ROWS]))._repr_html_()


@dataclass(frozen=True, eq=False, repr=False)
class LabelledEstimate(Estimate):
    """Estimates of several categories, by label: `estimate["yes"]` is that of one of them."""

    def items(self) -> Iterator[tuple[Hashable, Estimate]]:
        """Return the categories with their estimates."""
        return ((label, self[label]) for label in self.labels)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.labels)


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
    value, low, high = (round(float(number), places) + 0.0 for number in (value, low, high))
    return f"{value:.{digits}f} ({low:.{digits}f} – {high:.{digits}f})"


def _places(width: float) -> int:
    """Return how many decimals show one digit of a width, two if it begins with 1."""
    exponent = math.floor(math.log10(width))
    return -exponent + (1 if width / 10.0**exponent < 2.0 else 0)


def thousands(count: int) -> str:
    """Return a whole number as text in groups of three digits, as in 40 000."""
    return f"{count:,}".replace(",", " ")
