"""Time in an account: epochs that never go back, and clocks that are believed as far as they are proved."""

from __future__ import annotations

import datetime
import time
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

from dither.foundation.randomness import SYSTEM

DAY: Final = 86_400  # seconds
MOST_SECOND: Final = 253_402_300_799  # the last of the year 9999
MOST_EPOCHS: Final = 366  # that the data of one answer may touch


EpochName = Literal["day", "week", "year", "lifetime"]


class Epoch(Enum):
    """How long a budget lasts before it is new: a day, a week or a year of UTC, or a lifetime."""

    DAY = "day"
    WEEK = "week"
    YEAR = "year"
    LIFETIME = "lifetime"

    def index(self, second: int) -> int:
        """Return the number of the half-open epoch that contains a second since 1970-01-01 UTC.

        Weeks begin on Mondays; the number of a year is that of the calendar.

        >>> Epoch.DAY.index(86_399), Epoch.DAY.index(86_400)
        (0, 1)
        """
        day = second // DAY
        match self:
            case Epoch.DAY:
                return day
            case Epoch.WEEK:
                return (day + 3) // 7  # 1970-01-01 was a Thursday
            case Epoch.YEAR:
                return (datetime.date(1970, 1, 1) + datetime.timedelta(days=day)).year
        return 0

    @property
    def most_ahead(self) -> int | None:
        """Seconds by which a clock may be ahead of what is proved: one epoch; None where nothing refills."""
        days = {Epoch.DAY: 1, Epoch.WEEK: 7, Epoch.YEAR: 366}.get(self)
        return days and days * DAY

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
    """What the clocks of a device show: seconds since 1970, and seconds of a steady clock since its start."""

    wall: int
    boot: str
    elapsed: int

    @staticmethod
    def now() -> ClockReading:
        """Read the clocks of this machine; years before 1970 and after 9999 are not believed."""
        return ClockReading(min(max(int(time.time()), 0), MOST_SECOND), *_steady())

    def wire(self) -> dict[str, Any]:
        """Return the moment as plain data."""
        return {"boot": self.boot, "elapsed": self.elapsed, "wall": self.wall}


@lru_cache(maxsize=1)
def _boot() -> tuple[str, int | None]:
    """Return the name of this start of the machine, and the clock that counts from it.

    Where the system does not name it, it is named for this process: then nothing is proved across processes.
    """
    try:
        name = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return name, time.CLOCK_BOOTTIME  # counts while the machine sleeps, too
    except (OSError, ValueError, AttributeError):
        return f"process {SYSTEM.take(8).hex()}", None


def _steady() -> tuple[str, int]:
    name, clock = _boot()
    return name, int(time.monotonic() if clock is None else time.clock_gettime(clock))
