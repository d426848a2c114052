"""Time in an account: epochs that never go back, and the clocks of a device."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

from dither_device.account import Moment
from dither_device.state import epoch_of

EpochName = Literal["day", "week", "year", "lifetime"]


class Epoch(Enum):
    """The time after which a budget is renewed: a day, a week or a year of UTC, or a lifetime."""

    DAY = "day"
    WEEK = "week"
    YEAR = "year"
    LIFETIME = "lifetime"

    def index(self, second: int) -> int:
        """Return the number of the half-open epoch that contains a second since 1970-01-01 UTC.

        Weeks begin on Mondays; the number of a year is the calendar's.

        >>> Epoch.DAY.index(86_399), Epoch.DAY.index(86_400)
        (0, 1)
        """
        return epoch_of(self.value, second)

    def name_of(self, index: int) -> str:
        """Return an epoch's name for people.

        >>> Epoch.WEEK.name_of(1)
        'the week from 1970-01-05'
        """
        first = datetime.date(1970, 1, 1)
        match self:
            case Epoch.DAY:
                return str(first + datetime.timedelta(days=index))
            case Epoch.WEEK:
                return f"the week from {first + datetime.timedelta(days=7 * index - 3)}"
            case Epoch.YEAR:
                return str(index)
        return "all time"


@dataclass(frozen=True)
class ClockReading:
    """The times of a device's clocks: seconds since 1970, and seconds of a steady clock since its start."""

    wall: int
    boot: str
    elapsed: int

    @staticmethod
    def now() -> ClockReading:
        """Read the clocks of this machine; years before 1970 and after 9999 count as errors of the clock."""
        return ClockReading(**Moment.now())

    def wire(self) -> dict[str, Any]:
        """Return the moment as plain data."""
        return {"boot": self.boot, "elapsed": self.elapsed, "wall": self.wall}
