"""Reports with the day on which each was sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from dither.arrays import Integers
from dither.errors import MalformedReport
from dither.reports import Reports

if TYPE_CHECKING:
    from dither.repetition.once import Once


@final
@dataclass(frozen=True, eq=False, repr=False)
class DatedReports:
    """Reports of `Once`, and the day of each: 0 for the first day. The order tells nothing: sorted by day."""

    once: Once
    reports: Reports
    days: Integers

    @staticmethod
    def of(once: Once, parts: list[Reports], days: Sequence[object]) -> DatedReports:
        """Return reports with their days; raise MalformedReport unless each has a day of the question."""
        try:
            every = [np.asarray(part) for part in days]
            if any(part.dtype.kind not in "iu" and part.size for part in every):
                raise ValueError("not whole numbers")
            day = np.concatenate([part.astype(np.int64) for part in every])
        except (TypeError, ValueError):
            raise MalformedReport("the days of reports are a list of whole numbers") from None
        together = Reports.concatenate(parts)
        if day.ndim != 1 or len(together) != day.size:
            raise MalformedReport(f"{len(together)} reports need as many days, one for each")
        if day.size and not (day.min() >= 0 and day.max() < once.days):
            raise MalformedReport(f"a day is a whole number from 0 to {once.days - 1}")
        order = np.argsort(day, kind="stable")
        day = day[order]
        day.setflags(write=False)
        return DatedReports(once, together[order], day)

    def between(self, first: int, end: int) -> Reports:
        """Return the reports from day `first` to the day before `end`."""
        low, high = np.searchsorted(self.days, (first, end))
        return self.reports[int(low) : int(high)]

    def __len__(self) -> int:
        return len(self.reports)

    def __repr__(self) -> str:
        return f"DatedReports({len(self):,} on {self.once.days} days)".replace(",", " ")
