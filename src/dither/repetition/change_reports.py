"""Reports of `KeptChange`, each with its group and its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from dither.arrays import Array, Integers
from dither.errors import MalformedReport
from dither.reports import Reports

if TYPE_CHECKING:
    from dither.repetition.kept_change import KeptChange


@final
@dataclass(frozen=True, eq=False, repr=False)
class ChangeReports:
    """Reports of `KeptChange`, each with the group of the person and its interval; sorted by these two."""

    change: KeptChange
    groups: Array
    intervals: Array
    reports: Reports

    @staticmethod
    def of_group(change: KeptChange, group: int, due: range, cells: Array) -> ChangeReports:
        """Return reports of one group: a row of cells for a person, a column for each interval."""
        intervals = np.repeat(np.arange(due.start, due.stop, dtype=np.uint32), len(cells))
        groups = np.full(intervals.size, group, dtype=np.uint8)
        return ChangeReports(change, groups, intervals, Reports(change.question, cells.T.reshape(-1)))

    @staticmethod
    def joined(change: KeptChange, parts: list[ChangeReports]) -> ChangeReports:
        """Return the reports of all groups together, which are given in the order of the groups."""
        groups, intervals = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("groups", "intervals")
        )
        return ChangeReports(change, groups, intervals, Reports.concatenate([part.reports for part in parts]))

    @staticmethod
    def of(change: KeptChange, raw: object) -> ChangeReports:
        """Return rows of group, interval and report; raise MalformedReport if no device could send one."""
        try:
            table = np.asarray(raw)
            whole = table.dtype.kind in "iu" or not table.size
        except (TypeError, ValueError):
            whole, table = False, np.empty(0)
        if not whole or table.ndim != 2 or table.shape[1] != 3:
            raise MalformedReport(
                "reports about changes are rows of three whole numbers: group, interval, report"
            )
        table = table.astype(np.int64)
        groups, intervals, cells = table.T
        if table.size and not (groups.min() >= 0 and groups.max() < change.groups):
            raise MalformedReport(f"a group is a whole number from 0 to {change.groups - 1}")
        counts = np.array([change.intervals(group) for group in range(change.groups)])
        if ((intervals < 0) | (intervals >= counts[groups])).any():
            raise MalformedReport("an interval is a whole number below the number of intervals of its group")
        reports = change.question.reports(cells)
        order = np.lexsort((intervals, groups))
        return ChangeReports(
            change, groups[order].astype(np.uint8), intervals[order].astype(np.uint32), reports[order]
        )

    @property
    def cells(self) -> Integers:
        """The reports as rows of three whole numbers: group, interval, report."""
        return np.stack([self.groups, self.intervals, self.reports.cells], axis=1).astype(np.int64)

    @property
    def values(self) -> Array:
        """The decoded reports: one of the two answers each, about a change or about a coin."""
        return self.reports.values

    def counted(self, group: int) -> tuple[Integers, Integers]:
        """Return the number of reports of each interval of a group, and how many of them are 1."""
        low, high = np.searchsorted(self.groups, (group, group + 1))
        intervals, size = self.intervals[low:high].astype(np.int64), self.change.intervals(group)
        ones = intervals[self.reports.cells[low:high] == 1]
        return np.bincount(intervals, minlength=size), np.bincount(ones, minlength=size)

    def __len__(self) -> int:
        return len(self.reports)

    def __repr__(self) -> str:
        return f"ChangeReports({len(self):,} about {self.change.days} days)".replace(",", " ")
