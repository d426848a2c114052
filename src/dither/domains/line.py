"""Domains of one number: intervals and circles."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Self

import numpy as np

from dither.arrays import Floats
from dither.device_text import real
from dither.domains.domain import Line, extent, finite, numbers, shown
from dither.errors import InvalidParameter, OutsideDomain

MOST_POINTS: Final = 500  # of declared answers, less one


@dataclass(frozen=True, init=False)
class Interval(Line):
    """The numbers from low to high, both included.

    `step` declares that answers are low, low + step, low + 2·step and so on. It is used by `dt.distribution`
    alone: devices do not round. `unit`, such as "minutes", is shown on axes and in prints. Neither is in the
    device text or the fingerprint. Both travel in the head of a file of reports and in a published campaign.

    >>> Interval(18, 100).clip([17, 50])
    array([18., 50.])
    >>> Interval(0, 20, step=5).points
    array([ 0.,  5., 10., 15., 20.])
    """

    _low: float
    _top: float
    step: float | None
    unit: str = field(compare=False)

    kind: ClassVar[str] = "interval"
    outside: ClassVar[str] = "clip"

    def __init__(self, low: float, high: float, *, step: float | None = None, unit: str = "") -> None:
        lower, upper = finite("the lower bound", low), finite("the upper bound", high)
        if not lower < upper:
            raise InvalidParameter(
                f"the lower bound of an interval must be below its upper bound, not {lower:g} and {upper:g}"
            )
        extent("an interval", upper - lower, lower, upper)
        object.__setattr__(self, "_low", lower)
        object.__setattr__(self, "_top", upper)
        object.__setattr__(self, "step", check_step(step, upper - lower))
        object.__setattr__(self, "unit", check_unit(unit))

    def read_as(self, *, step: float | None = None, unit: str = "") -> Interval:
        return Interval(self._low, self._top, step=step, unit=unit)

    @property
    def points(self) -> Floats | None:
        if self.step is None:
            return None
        count = math.floor((self._top - self._low) / self.step * (1.0 + 1e-12))
        return np.asarray(np.minimum(self._low + self.step * np.arange(count + 1), self._top))

    @property
    def low(self) -> float:
        return self._low

    def _high(self) -> float:
        return self._top

    @property
    def length(self) -> float:
        return self._top - self._low

    def clip(self, values: object) -> Floats:
        """Return the values, those outside moved to the nearer end; raise `OutsideDomain` for NaN."""
        array = numbers(values).astype(np.float64)
        if np.isnan(array).any():
            raise OutsideDomain("a value is NaN and cannot be clipped; replace or drop missing values first")
        return np.clip(array, self._low, self._top)

    def device(self) -> dict[str, Any]:
        return {"kind": self.kind, "low": self._low, "high": self._top}

    @classmethod
    def from_device(cls, data: Mapping[str, Any]) -> Self:
        return cls(real(data["low"]), real(data["high"]))

    def __str__(self) -> str:
        return f"[{shown(self._low)}, {shown(self._top)}]"

    def __repr__(self) -> str:
        more = "" if self.step is None else f", step={shown(self.step)}"
        more += f", unit={self.unit!r}" if self.unit else ""
        return f"Interval({shown(self._low)}, {shown(self._top)}{more})"


@dataclass(frozen=True, init=False)
class Circle(Line):
    """The numbers from 0 to a period, with 0 and the period identified: angles, times of day.

    `step`, which divides the period, declares that answers are multiples of it; see `Interval`.

    >>> Circle(360).wrap([370, -10])
    array([ 10., 350.])
    """

    period: float
    step: float | None
    unit: str = field(compare=False)

    kind: ClassVar[str] = "circle"
    outside: ClassVar[str] = "wrap"

    def __init__(self, period: float = 2.0 * math.pi, *, step: float | None = None, unit: str = "") -> None:
        length = finite("the period", period)
        if not length > 0:
            raise InvalidParameter(f"the period of a circle must be positive, not {length:g}")
        extent("a circle", length)
        object.__setattr__(self, "period", length)
        width = check_step(step, length)
        if width is not None and abs(length / width - round(length / width)) > 1e-9:
            raise InvalidParameter("a circle's step divides its period")
        object.__setattr__(self, "step", width)
        object.__setattr__(self, "unit", check_unit(unit))

    def read_as(self, *, step: float | None = None, unit: str = "") -> Circle:
        return Circle(self.period, step=step, unit=unit)

    @property
    def points(self) -> Floats | None:
        if self.step is None:
            return None
        return np.asarray(self.step * np.arange(round(self.period / self.step)), dtype=np.float64)

    @property
    def low(self) -> float:
        return 0.0

    @property
    def length(self) -> float:
        return self.period

    def wrap(self, values: object) -> Floats:
        """Return finite numbers modulo the period, in [0, period)."""
        array = numbers(values).astype(np.float64)
        if not np.isfinite(array).all():
            raise OutsideDomain("a value is not a finite number")
        turned = np.mod(array, self.period)
        return np.where(turned >= self.period, 0.0, turned)  # −1e-20 modulo the period rounds to the period

    def clip(self, values: object) -> Floats:
        """Return the same angles in [0, period): on a circle clipping is wrapping."""
        return self.wrap(values)

    def difference(self, first: Floats, second: Floats) -> Floats:
        """Return first − second the short way round, in [−period/2, period/2]."""
        gap = np.asarray(first, dtype=np.float64) - second
        return np.asarray(gap - self.period * np.round(gap / self.period), dtype=np.float64)

    def distance(self, first: Floats, second: Floats) -> Floats:
        """Return the distance between angles, the short way round."""
        return np.abs(self.difference(first, second))

    def device(self) -> dict[str, Any]:
        return {"kind": self.kind, "period": self.period}

    @classmethod
    def from_device(cls, data: Mapping[str, Any]) -> Self:
        return cls(real(data["period"]))

    def __str__(self) -> str:
        return f"the circle [0, {shown(self.period)}]"

    def __repr__(self) -> str:
        more = "" if self.step is None else f", step={shown(self.step)}"
        more += f", unit={self.unit!r}" if self.unit else ""
        return f"Circle({shown(self.period)}{more})"


def check_unit(unit: object) -> str:
    """Return the name of a unit; raise InvalidParameter unless it is a short text on one line."""
    if not isinstance(unit, str) or len(unit) > 40 or not unit.isprintable():
        raise InvalidParameter("a unit is a text of at most 40 characters on one line, such as 'minutes'")
    return unit


def check_step(step: object, length: float) -> float | None:
    """Return the distance of neighbouring answers, or None; raise InvalidParameter if it is impossible."""
    if step is None:
        return None
    width = finite("a step", step)
    if not 0.0 < width <= length * (1.0 + 1e-12):
        raise InvalidParameter("a step is positive and at most the length of the domain")
    if length / width > MOST_POINTS:
        raise InvalidParameter(f"a step declares at most {MOST_POINTS + 1} answers; leave it out for more")
    return width
