"""The interface of stores and their common parts."""

from __future__ import annotations

import datetime
import hashlib
import zlib
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain, groupby
from typing import Final, NamedTuple

import numpy as np

from dither.collection.live import Added, Fates, FoldedCounts, LiveCounts, News, Slot, Total, Withdrawn
from dither.collection.published import Published
from dither.collection.refusals import Reason
from dither.errors import DitherError, Mismatch
from dither.foundation.arrays import Integers

Row = tuple[int, int, bytes]  # the tick of a part of a batch, the number of its slot, its reports
FoldedRow = tuple[int, int, bytes, int | None, int | None]  # and the tick and day of a withdrawal, if any
TakenRow = tuple[int, int, int, int, bytes]  # tick and day of a withdrawal; the part's tick, slot, reports
HOLDS: Final = "(counts IS NULL OR length(counts) > 0)"  # False for withdrawn unknown identities


class StoreUnavailable(Exception):
    """The store cannot be written now, for example because the disk is full. Nothing was changed."""


class StoreUnusable(DitherError):
    """The store cannot be opened: it is in use, damaged, or of another program."""


@dataclass(frozen=True)
class Arrived:
    """A batch that passed the checks: the digest of its identity, its reports by slot in the body's order."""

    id: bytes
    parts: tuple[tuple[Slot, bytes], ...]


class Withdrawal(NamedTuple):
    """A batch that its device takes back, by the digest of its identity; `day` is the present one."""

    id: bytes
    campaign: str
    day: datetime.date


class Stored(Enum):
    """The result of storing a batch."""

    NEW = "new"
    REPEATED = "repeated"  # the same bytes were stored before
    CONFLICT = "conflict"  # other bytes were stored before


class RefusedKey(NamedTuple):
    """The key of the counts of refusals. The campaign is "" if it was not recognised."""

    campaign: str
    day: datetime.date
    reason: Reason


class Kept(NamedTuple):
    """A part of a batch as a store holds it; for a folded day only the digest of the reports."""

    slot: Slot
    folded: bool
    data: bytes


class CollectorStore(ABC):
    """Batches, counts of past days, published campaigns and counts of refusals, all durable.

    Only one thread calls the methods. A method that writes either returns after the change is on disk, or
    raises StoreUnavailable and changes nothing.

    Every batch has a tick: a number that is on disk with it and never changes. A tick is over once all its
    batches are stored; public counts depend only on ticks that are over, so they are the same in every
    process that counts the store, at any time.
    """

    shared = False  # True if several processes write at once

    @abstractmethod
    def publish(self, published: Published) -> None:
        """Keep a campaign; raise Mismatch if another text has its name and version."""

    @abstractmethod
    def campaigns(self) -> list[Published]:
        """Return all campaigns that were published here, in order of publication."""

    @abstractmethod
    def append(self, batches: Sequence[Arrived]) -> list[Stored]:
        """Store batches in one transaction; return the result for each. They are on disk when it returns."""

    @abstractmethod
    def withdraw(self, withdrawals: Sequence[Withdrawal]) -> None:
        """Take batches back, known or not, in one transaction. The change is on disk when it returns.

        From this tick on they are not counted, and a later batch with such an identity is not stored.
        """

    @abstractmethod
    def erase(self, live: LiveCounts) -> int:
        """Overwrite withdrawn reports after they left the public counts; return the number of parts."""

    @abstractmethod
    def reload(self) -> bool:
        """Return whether counts must be built anew, from `counted` and `news`; True at first."""

    @abstractmethod
    def folded_counts(self) -> Iterator[FoldedCounts]:
        """Yield the counts of reports that were folded."""

    @abstractmethod
    def news(self) -> News:
        """Yield reports that are in no count yet and whose tick is over, in the order of ticks."""

    @abstractmethod
    def refuse(self, counts: Mapping[RefusedKey, int]) -> None:
        """Add to the counts of refusals."""

    @abstractmethod
    def refusals(self) -> dict[RefusedKey, int]:
        """Return the counts of refusals."""

    @abstractmethod
    def days(self) -> list[tuple[str, datetime.date]]:
        """Return the campaigns and days whose reports are kept one by one."""

    @abstractmethod
    def fold(
        self,
        campaign: str,
        day: datetime.date,
        live: LiveCounts,
        forgotten: datetime.date = datetime.date.min,
    ) -> int:
        """Replace the reports up to a day by their counts, and return the number of parts of batches.

        `live` counts this store, and has the day on which each report was shown. Reports that were shown on a
        later day stay. Identities and digests of batches stay until `forget`; for days before `forgotten`,
        whose identities are removed next, digests need not be written.
        """

    @abstractmethod
    def forget(self, before: Mapping[str, datetime.date]) -> int:
        """Remove the identities of batches of folded days before a day, by campaign; return their number.

        Identities that cannot be removed now, because they are being read, are removed by the next call.
        """

    @abstractmethod
    def delete(self, campaign: str) -> None:
        """Remove all reports, counts and identities of a campaign. The campaign itself stays known."""

    @abstractmethod
    def probe(self, size: int) -> None:
        """Write `size` bytes, and remove them; raise StoreUnavailable if that cannot be done."""

    @abstractmethod
    def exported_files(self, campaign: str) -> list[str]:
        """Return the files that reports of a campaign were exported to."""

    @abstractmethod
    def close(self) -> None:
        """Close the store. Nothing waits to be written."""


def part_digest(data: bytes) -> bytes:
    """Return the digest that is kept of a folded part's reports, to recognise them."""
    return hashlib.sha256(data).digest()[:16]


def compare_batches(batch: Arrived, kept: Sequence[Kept]) -> Stored:
    """Return whether the batch stored under an identity equals this one, except for the day."""
    if len(batch.parts) != len(kept):
        return Stored.CONFLICT
    for (slot, data), stored in zip(batch.parts, kept, strict=True):
        same = slot._replace(day=stored.slot.day) == stored.slot
        if not same or (part_digest(data) if stored.folded else data) != stored.data:
            return Stored.CONFLICT
    return Stored.REPEATED


def whole_ticks(blocks: Iterable[list[Row]]) -> Iterator[list[Row]]:
    """Return blocks of rows in the order of ticks, each with complete ticks."""
    rest: list[Row] = []
    for block in blocks:
        rows = [*rest, *block]
        end = len(rows)
        while end and rows[end - 1][0] == rows[-1][0]:
            end -= 1
        if end:
            yield rows[:end]
        rest = rows[end:]
    if rest:
        yield rest


def with_withdrawals(
    blocks: Iterable[list[Row]], taken: Sequence[TakenRow], named: Callable[[int], Slot | None]
) -> News:
    """Yield the news of blocks of rows, and each withdrawal after the reports of its tick; all by ticks."""
    done = 0
    for rows in chain(whole_ticks(blocks), [[]]):
        at = 0
        while done < len(taken) and (not rows or taken[done][0] <= rows[-1][0]):
            tick, day, stored, number, data = taken[done]
            end = bisect_right(rows, tick, lo=at, key=lambda row: row[0])
            yield from in_order(rows[at:end], named)
            slot = named(number)
            if slot is not None:
                yield Withdrawn(slot, tick, stored, data, datetime.date.fromordinal(day))
            at, done = end, done + 1
        yield from in_order(rows[at:], named)


def in_order(rows: Sequence[Row], named: Callable[[int], Slot | None]) -> News:
    """Yield rows of complete ticks by their slots; within a tick an earlier day comes first.

    `named` gives the slot of a number, and None if its reports are folded: such rows are left out.
    """
    slots = {number: slot for number in {number for _, number, _ in rows} if (slot := named(number))}
    if len({slot.day for slot in slots.values()}) > 1:
        rows = sorted((row for row in rows if row[1] in slots), key=lambda row: (row[0], slots[row[1]].day))
        runs = [list(run) for _, run in groupby(rows, key=lambda row: slots[row[1]].day)]
    else:
        runs = [list(rows)]
    for run in runs:
        found: dict[int, tuple[list[int], list[bytes]]] = {number: ([], []) for number in slots}
        for tick, number, data in run:
            if number in found:
                ticks, parts = found[number]
                ticks.append(tick)
                parts.append(data)
        for number, (ticks, parts) in found.items():
            if parts:
                yield Added(slots[number], ticks, parts)


class Folding:
    """Replaces rows by counts.

    `make` makes a slot of counts, of a slot, of the day on which they are shown (None if they wait) and of
    the tick of a withdrawal (None if they are not negative), and returns its number. `totals` are the counts
    by that number.
    """

    def __init__(
        self,
        fates: Fates,
        slots: Mapping[int, Slot],
        live: LiveCounts,
        make: Callable[[Slot, datetime.date | None, int | None], int],
    ) -> None:
        self._fates, self._slots, self._live, self._make = fates, slots, live, make
        self._targets: dict[tuple[int, datetime.date | None, int | None], int] = {}
        self.totals: dict[int, Total] = {}
        self.left: set[int] = set()  # numbers of slots that rows were taken from
        self.parts = 0

    def take(self, rows: Sequence[FoldedRow]) -> list[int | None]:
        """Count rows; return for each the number of the slot of counts that it is in, None if it stays.

        Reports that were withdrawn are not counted. If they are still public, they count, and the same number
        of negative ones waits with the withdrawal.
        """
        indices = [self._target(tick, number) for tick, number, *_ in rows]
        found: dict[int, list[bytes]] = {}
        for index, (tick, number, data, withdrawn, day) in zip(indices, rows, strict=True):
            if index is None:
                continue
            self.left.add(number)
            self.parts += 1
            slot = self._slots[number]
            if withdrawn is None or day is None or self._live.keeps(slot, datetime.date.fromordinal(day)):
                found.setdefault(index, []).append(data)
                continue
            shown = self._fates.day_shown(slot, tick)
            if shown is not None and not self._fates.is_taken_away(slot, withdrawn):
                found.setdefault(index, []).append(data)
                found.setdefault(self._place(number, shown, withdrawn), []).append(data)
        for index, parts in found.items():
            self.totals[index].add(parts)
        return indices

    def _target(self, tick: int, number: int) -> int | None:
        slot = self._slots[number]
        shown = self._fates.day_shown(slot, tick)
        if shown is None and self._fates.stays(slot):
            return None
        return self._place(number, shown, None)

    def _place(self, number: int, shown: datetime.date | None, withdrawn: int | None) -> int:
        key = (number, shown, withdrawn)
        if key not in self._targets:
            slot = self._slots[number]
            if withdrawn is None or shown is None:
                made = self._make(slot, shown, None)
            else:
                made = self._make(slot._replace(day=shown), None, withdrawn)
            question = self._live.question_of(slot.campaign, slot.question)
            self._targets[key] = made
            self.totals[made] = Total(question, taken=withdrawn is not None)
        return self._targets[key]


def another_text(published: Published) -> Mismatch:
    """Return the error for a campaign whose name and version belong to another text."""
    terms = published.contract
    return Mismatch(
        f"campaign {terms.name!r} version {terms.version} was published with other terms; "
        f"a change is a new version: write version = {terms.version + 1}"
    )


def pack_counts(counts: Integers) -> bytes:
    """Return the stored bytes of counts."""
    return zlib.compress(counts.astype("<i8").tobytes(), 1)


def unpack_counts(packed: bytes) -> Integers:
    """Return the counts that `pack_counts` wrote."""
    return np.frombuffer(zlib.decompress(packed), dtype="<i8").astype(np.int64)
