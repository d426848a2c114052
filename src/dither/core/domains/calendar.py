"""Dates and times of the day as numbers: days since 1970 on an interval, minutes since midnight on a circle.

A `Calendar` defines how values are read and shown. Devices draw from the numbers and do not use it.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np

from dither.errors import InvalidParameter, OutsideDomain, found
from dither.foundation.arrays import Array, Floats, is_nothing

MINUTES: Final = 1440
_DAYS, _MINUTES_OF_DAY, _IN = "days since 1970-01-01", "minutes since midnight", " in "
_EPOCH: Final = datetime.date(1970, 1, 1).toordinal()
_NANOSECONDS: Final = 60 * 10**9
_ENDS: Final = ("value", "low", "high")  # columns of estimates
_STARTS: Final = ("day", "week", "month", "year")


class Calendar(str):
    """The unit of dates or times on a line, such as "days since 1970-01-01 in Europe/Berlin".

    It defines how numbers are read and shown. It is a text, so that programs that do not know dates can show
    it. Without a zone, time stamps are taken as written.
    """

    __slots__ = ()

    @staticmethod
    def of(unit: object) -> Calendar | None:
        """Return the calendar of a unit; None if the unit is not one of dates or times."""
        if isinstance(unit, Calendar) or not isinstance(unit, str):
            return unit if isinstance(unit, Calendar) else None
        start, _, zone = unit.partition(_IN)
        if start not in (_DAYS, _MINUTES_OF_DAY):
            return None
        return Calendar.make(dates=start == _DAYS, zone=zone or None)

    @staticmethod
    def make(*, dates: bool, zone: str | None = None) -> Calendar:
        """Return the calendar of dates, or of times of the day, with time stamps in a zone."""
        if zone is not None:
            _zone(zone)
        return Calendar((_DAYS if dates else _MINUTES_OF_DAY) + (f"{_IN}{zone}" if zone is not None else ""))

    @property
    def is_date(self) -> bool:
        """Whether numbers are days since 1970, not minutes since midnight."""
        return self.startswith(_DAYS)

    @property
    def zone(self) -> str:
        """The time zone to which time stamps are converted; empty if they are taken as written."""
        return self.partition(_IN)[2]

    @property
    def in_zone(self) -> str:
        """The zone as an argument in a repr."""
        return f", zone={self.zone!r}" if self.zone else ""

    @property
    def span(self) -> str:
        """The unit of differences: days or minutes."""
        return "days" if self.is_date else "minutes"

    def numbers(self, array: Array) -> Array:
        """Return an array of values as numbers; numbers and missing answers are unchanged."""
        if array.dtype.kind in "fiub":
            return array
        if array.dtype.kind == "M" and not np.isnat(array).any():
            return self._of_stamps(array)
        made = np.empty(array.shape, dtype=object)
        made.reshape(-1)[:] = self._of_cells(list(array.reshape(-1)))
        missing = any(number is None for number in made.flat)
        return made if missing else made.astype(np.float64)

    def number(self, value: object) -> float:
        """Return one value as a number; raise OutsideDomain if it is not a date or time."""
        (number,) = self._of_cells([value])
        if number is None:
            raise OutsideDomain(f"{self._expected}; it is missing")
        return number

    def cells(self, values: Iterable[object], column: str) -> Floats:
        """Return the cells of a column as numbers, NaN where a cell is not a date or time."""
        made, zones = [], set[str]()
        for value in values:
            try:
                number, zone = self._read(value)
            except (OutsideDomain, ValueError):
                number, zone = math.nan, ""
            else:
                zones.add(zone)
            made.append(number)
        if len(zones) > 1:
            raise InvalidParameter(f"column {column!r}: {self._mixed}")
        return np.array(made, dtype=np.float64)

    def text(self, number: float) -> str:
        """Return a number as a date, 2026-05-03, or a time of the day, 08:15."""
        if not math.isfinite(number):
            return "?"
        if not self.is_date:
            minute = round(number) % MINUTES
            return f"{minute // 60:02}:{minute % 60:02}"
        day = min(max(round(number) + _EPOCH, 1), datetime.date.max.toordinal())
        return datetime.date.fromordinal(day).isoformat()

    def show(self, value: float, low: float, high: float) -> str:
        """Return a value with its interval: 2026-05-03 ± 4 days, or both ends if its sides differ."""
        below, above = value - low, high - value
        half = (high - low) / 2.0
        if not math.isfinite(half) or abs(below - above) > 0.1 * max(below, above):
            return f"{self.text(value)} ({self.text(low)} – {self.text(high)})"
        return (
            f"{self.text(value)} ± {half:.2g} {self.span}"
            if half < 10
            else (f"{self.text(value)} ± {half:.0f} {self.span}")
        )

    def rows(self, rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Return rows of a table with value, low and high as dates or times, and None for NaN."""
        return [
            {key: self._cell(cell) if key in _ENDS else cell for key, cell in row.items()} for row in rows
        ]

    def _cell(self, cell: float | None) -> str | None:
        return None if cell is None or math.isnan(cell) else self.text(cell)

    def edges(self, low: float, high: float, every: str) -> Floats:
        """Return the ends of bins by "day", "week", "month" or "year", or by "hour"."""
        if not self.is_date:
            if every != "hour":
                raise InvalidParameter(f'expected bins of times by "hour", got {found(every)}')
            return np.linspace(0.0, MINUTES, 25)
        if every not in _STARTS:
            raise InvalidParameter(f"expected bins of dates by {', '.join(_STARTS)}, got {found(every)}")
        first, last = math.ceil(low), math.floor(high)
        days = [datetime.date.fromordinal(day + _EPOCH) for day in range(first, last + 1)]
        # A day d covers the numbers from d − ½ to d + ½, so all dates of a bin are in its middle.
        starts = [
            number - 0.5
            for number, day in enumerate(days, first)
            if every == "day"
            or (every == "week" and day.weekday() == 0)
            or (every == "month" and day.day == 1)
            or (every == "year" and (day.month, day.day) == (1, 1))
        ]
        return np.array([low, *(start for start in starts if low < start < high), high])

    def bins(self, edges: list[float]) -> list[tuple[object, object]]:
        """Return the first and the last date of each bin, or the times at which it begins and ends."""
        if not self.is_date:
            return [(self.text(first), self.text(last)) for first, last in pairwise(edges)]
        first = [math.ceil(edges[0]), *(math.floor(edge) + 1 for edge in edges[1:-1])]
        return [(self.text(a), self.text(math.floor(b))) for a, b in zip(first, edges[1:], strict=True)]

    @property
    def _expected(self) -> str:
        what = "a date such as 2026-05-03" if self.is_date else "a time of the day such as 08:15"
        return f"expected {what}, or a time stamp"

    @property
    def _mixed(self) -> str:
        if self.zone:
            return (
                f"expected time stamps that all have a time zone, to be read in {self.zone}; some have none"
            )
        kind = "Dates" if self.is_date else "Times"
        return (
            "expected time stamps of one time zone, got several or missing ones; convert them to one zone, "
            f'or name the zone to take them in: zone="Europe/Berlin" of dt.{kind}'
        )

    def _of_stamps(self, array: Array) -> Floats:
        if self.is_date:
            return np.floor(array.astype("datetime64[s]").astype(np.int64) / 86_400.0)
        since = (array - array.astype("datetime64[D]")).astype("timedelta64[ns]").astype(np.int64)
        return np.asarray(since / _NANOSECONDS, dtype=np.float64)

    def _of_cells(self, values: list[object]) -> list[float | None]:
        made: list[float | None] = []
        zones = set[str]()
        for value in values:
            if is_nothing(value) or (isinstance(value, np.datetime64) and np.isnat(value)):
                made.append(None)
                continue
            try:
                number, zone = self._read(value)
            except ValueError:
                raise OutsideDomain(f"{self._expected}; a value is something else") from None
            made.append(number)
            zones.add(zone)
        if len(zones) > 1:
            raise OutsideDomain(self._mixed)
        return made

    def _read(self, value: object) -> tuple[float, str]:
        """Return a value as a number, and its time zone; raise ValueError or OutsideDomain for others."""
        if isinstance(value, bool):
            raise OutsideDomain(self._expected)
        if isinstance(value, int | float | np.integer | np.floating):
            return float(value), ""
        if isinstance(value, np.datetime64):
            value = value.astype("datetime64[us]").item()
        if isinstance(value, str):
            value = _parse(value.strip(), dates=self.is_date)
        if isinstance(value, datetime.datetime):
            zone = "" if value.tzinfo is None else str(value.utcoffset())
            name = self.zone
            if name and value.tzinfo is not None:
                value, zone = value.astimezone(_zone(name)), name
            value = value.date() if self.is_date else value.time()
        else:
            zone = ""
        if self.is_date and isinstance(value, datetime.date):
            return float(value.toordinal() - _EPOCH), zone
        if not self.is_date and isinstance(value, datetime.time):
            return value.hour * 60.0 + value.minute + (value.second + value.microsecond * 1e-6) / 60.0, zone
        raise OutsideDomain(self._expected)


def _parse(text: str, *, dates: bool) -> datetime.date | datetime.datetime | datetime.time:
    """Return the date or time of an ISO text; raise ValueError for other texts."""
    if len(text) <= 10 and dates:
        return datetime.date.fromisoformat(text)
    if not dates and ":" in text[:3]:
        return datetime.time.fromisoformat(text if text[1] != ":" else f"0{text}")
    return datetime.datetime.fromisoformat(text)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise InvalidParameter(
            f"expected the name of a time zone, such as Europe/Berlin, got {found(name)}"
        ) from None
