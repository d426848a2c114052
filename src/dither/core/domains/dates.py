"""`dt.Dates` and `dt.Times`: an interval of days, and the circle of the minutes of a day."""

from __future__ import annotations

from dither.core.domains.calendar import MINUTES, Calendar
from dither.core.domains.domain import Circle, Interval
from dither.errors import InvalidParameter


def Dates(first: object, last: object, *, zone: str | None = None, clipped_from: object = None) -> Interval:
    """Return the days from `first` to `last`, both included: an `Interval` of days since 1970.

    Values are dates, ISO texts or time stamps. The day of a time stamp is taken as written, or in `zone`.
    Answers are printed as dates, and `dt.distribution(reports, "month")` has a bin for each month. See
    `Interval` for `clipped_from`.

    >>> Dates("2026-01-01", "2026-12-31")
    Dates('2026-01-01', '2026-12-31')
    >>> Dates("2026-01-01", "2026-12-31").check(["2026-05-03"])
    array([20576.])
    """
    unit = Calendar.make(dates=True, zone=zone)
    low, high = (unit.number(end) for end in (first, last))
    if not low < high:
        raise InvalidParameter(
            'expected a first day and a later last day: dt.Dates("2026-01-01", "2026-12-31")'
        )
    return Interval(low, high, unit=unit, clipped_from=clipped_from)


def Times(*, zone: str | None = None) -> Circle:
    """Return the times of the day, a `Circle` of 1 440 minutes: 23:59 is next to 00:00.

    Values are times, ISO texts such as "08:15", or time stamps. The time of a time stamp is taken as
    written, or in `zone`. Answers are printed as times, and `dt.distribution(reports, "hour")` has a bin for
    each hour.

    >>> Times()
    Times()
    >>> Times().check(["08:15", "23:59:30"])
    array([ 495. , 1439.5])
    """
    return Circle(MINUTES, unit=Calendar.make(dates=False, zone=zone))
