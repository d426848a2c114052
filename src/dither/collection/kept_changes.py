"""Kept changes at a collector: a report is divided into its rows, and each is stored under its interval.

A report about a kept change consists of rows of group, interval and cell. A row is stored as a report of one
byte to a question of its own, named by the question, the group and the interval. Nobody sends two rows about
an interval, so the rules for reports apply to rows: published counts grow in steps of at least `people`
reports, each from another person. Retries, folding, backups and withdrawals work as for other reports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from dither.collection.campaign import Campaign
from dither.core.repetition import ChangeCounts, KeptChange
from dither.errors import InvalidParameter, MalformedReport, unknown_name

if TYPE_CHECKING:
    from dither.collection.live import LiveCounts

SEPARATOR: Final = "\x1f"  # separates question, group and interval; names do not contain it
ROW_BYTES: Final = 12  # a row is group, interval and cell, 32 bits each, little endian


def counts_changes(contract: Campaign) -> bool:
    """Return whether a campaign asks about kept changes."""
    return contract.repeat == "kept change"


def interval_name(question: str, group: int, interval: int) -> str:
    """Return the stored name of the reports about an interval."""
    return SEPARATOR.join((question, str(group), str(interval)))


def split_rows(contract: Campaign, question: str, report: bytes) -> list[tuple[str, bytes]]:
    """Return the rows of one report, each with its stored name.

    Raise MalformedReport unless all rows are of one group, in the order of its intervals.
    """
    change = contract.change(question)
    if not report or len(report) % ROW_BYTES:
        raise MalformedReport("expected a report about a kept change in rows of 12 bytes")
    groups, intervals, cells = np.frombuffer(report, "<u4").astype(np.int64).reshape(-1, 3).T
    group = int(groups[0])
    if (groups != group).any() or group >= change.groups or (cells > 1).any():
        raise MalformedReport("expected the rows of a report to be of one group, with cells 0 and 1")
    if (np.diff(intervals) != 1).any() or intervals[-1] >= change.intervals(group):
        raise MalformedReport("expected the intervals of a report to be consecutive")
    return [
        (interval_name(question, group, interval), bytes([cell]))
        for interval, cell in zip(intervals.tolist(), cells.tolist(), strict=True)
    ]


def join_rows(stored: str, cells: bytes) -> list[bytes]:
    """Return the rows of stored reports about an interval, as devices sent them."""
    _, group, interval = stored.split(SEPARATOR)
    head = int(group).to_bytes(4, "little") + int(interval).to_bytes(4, "little")
    return [head + bytes([cell, 0, 0, 0]) for cell in cells]


def change_of(contract: Campaign, stored: str) -> KeptChange | None:
    """Return the kept change of a stored interval; None in other campaigns."""
    return contract.change(stored.partition(SEPARATOR)[0]) if counts_changes(contract) else None


def place_of(change: KeptChange, stored: str) -> tuple[str, int]:
    """Return the question of a stored interval, and the index of the interval over all groups."""
    question, group, interval = stored.split(SEPARATOR)
    return question, sum(map(change.intervals, range(int(group)))) + int(interval)


def change_counts(contract: Campaign, live: LiveCounts, question: str, *, shown: bool = True) -> ChangeCounts:
    """Return the counts of the reports to a question by interval; `shown` omits waiting reports."""
    if not counts_changes(contract):
        raise InvalidParameter(
            f"expected a campaign with repeat = 'kept change', got {contract.name!r}; give another one"
        )
    if question not in contract.questions:
        raise unknown_name("question", question, list(contract.questions))
    change, parts = contract.change(question), live.interval_counts(contract.id, question, shown=shown)
    names = [
        interval_name(question, group, interval)
        for group in range(change.groups)
        for interval in range(change.intervals(group))
    ]
    rows = np.array([parts.get(name, (0, 0)) for name in names], dtype=np.int64)
    return ChangeCounts(change, rows.sum(axis=1), rows[:, 1], contract.begins, question)


def check_countable(contract: Campaign) -> None:
    """Raise InvalidParameter if a collector cannot count the kept changes of a campaign."""
    days = (contract.ends - contract.begins).days + 1
    if days > (contract.days or 0):
        raise InvalidParameter(
            f"expected days = {days} or more for the {days} days of the campaign, because reports about "
            "kept changes do not name their period; increase days"
        )
    if contract.reports_a_batch is not None:
        raise InvalidParameter(
            "expected no reports_a_batch with kept changes, whose reports have different lengths, so that "
            "a gateway cannot combine people; leave it out"
        )
