"""Counts of reports in memory, by campaign, question, day and label; they equal a recount of the store."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, final

import numpy as np

from dither.arrays import Array, Integers
from dither.errors import unknown_name
from dither.estimation.summary import Summary
from dither.question import Question
from dither.service.contract import Contract

_BLOCK: Final = 1 << 16  # bytes of reports that are counted at once
_SLOW_BLOCK: Final = 1 << 13  # reports that are counted at once where one costs as much as many


class Slot(NamedTuple):
    """What is counted together: the reports of a question with a label, of a day, at this collector."""

    campaign: str
    question: str
    day: datetime.date
    label: str


Reported = Iterable[tuple[Slot, list[bytes]]]


@final
class LiveCounts:
    """Live counts. Adding is cheap: bytes are kept, and counted in blocks or when they are asked for.

    The writer's thread adds; any thread asks. Counting runs in the thread that asks, without the lock of the
    writer, so that a slow question does not delay the intake.
    """

    def __init__(self) -> None:
        self._contracts: dict[str, Contract] = {}
        self._slots: dict[Slot, _SlotCounts] = {}
        self._lock = threading.Lock()
        self.revision = 0  # grows whenever something is added: for whoever waits for news

    def know(self, contract: Contract) -> None:
        """Take in a contract, whose reports may then be added."""
        self._contracts[contract.id] = contract

    def add(self, slot: Slot, reports: bytes) -> None:
        """Add reports, checked and stored before, as the bytes that devices sent."""
        self._tally(slot).add(reports)
        self.revision += 1

    def add_counts(self, slot: Slot, counts: Integers, n: int) -> None:
        """Add counts of reports that are kept as counts alone."""
        self._tally(slot).add_counts(counts, n)
        self.revision += 1

    def rebuild(self, counted: Iterable[tuple[Slot, Integers, int]], news: Reported) -> None:
        """Replace all counts by those of a store, at once."""
        fresh = LiveCounts()
        fresh._contracts = self._contracts
        for slot, counts, n in counted:
            fresh.add_counts(slot, counts, n)
        fresh.add_all(news)
        with self._lock:
            self._slots = fresh._slots
        self.revision += 1

    def add_all(self, news: Reported) -> None:
        """Add reports that are already grouped by slot."""
        for slot, reports in news:
            self.add(slot, b"".join(reports))

    def shrink(self) -> None:
        """Hold the counts of slots that were not added to of late in as few bytes as they need."""
        with self._lock:
            there = list(self._slots.values())
        for one in there:
            one.shrink()

    def clear(self, campaign: str | None = None) -> None:
        """Forget the counts of a campaign, or all."""
        with self._lock:
            gone = [slot for slot in self._slots if campaign in (None, slot.campaign)]
            for slot in gone:
                del self._slots[slot]
        self.revision += 1

    def summary(
        self, campaign: str, question: str, day: datetime.date | None = None, label: str | None = None
    ) -> Summary:
        """Return the summary of a question: of all days and labels, or of one day, or of one label.

        It is the `Summary` of the same reports, count for count. May take a while: call it in a thread.
        """
        mechanism = self.mechanism(campaign, question)
        counts, n = np.zeros(mechanism.counting.size, dtype=np.int64), 0
        for slot, tally in self._found(campaign, question):
            if day in (None, slot.day) and label in (None, slot.label):
                n += tally.add_to(counts)
        return Summary(mechanism, counts, n)

    def n(
        self, campaign: str, question: str, day: datetime.date | None = None, label: str | None = None
    ) -> int:
        """Return the number of answers to a question. Quick: nothing is counted."""
        return sum(
            tally.n
            for slot, tally in self._found(campaign, question)
            if day in (None, slot.day) and label in (None, slot.label)
        )

    def days(self, campaign: str, question: str) -> list[datetime.date]:
        """Return the days on which reports of a question arrived, in order."""
        return sorted({slot.day for slot, _ in self._found(campaign, question)})

    def labels(self, campaign: str, question: str) -> list[str]:
        """Return the labels with which reports of a question came, in order; "" is none."""
        return sorted({slot.label for slot, _ in self._found(campaign, question)})

    def slots(self) -> list[Slot]:
        """Return everything that is counted separately."""
        with self._lock:
            return sorted(self._slots)

    def mechanism(self, campaign: str, question: str) -> Question:
        """Return the mechanism of a question; raise InvalidParameter if there is none."""
        if campaign not in self._contracts:
            raise unknown_name("campaign", campaign, list(self._contracts))
        questions = self._contracts[campaign].questions
        if question not in questions:
            raise unknown_name("question", question, list(questions))
        return questions[question]

    def _tally(self, slot: Slot) -> _SlotCounts:
        tally = self._slots.get(slot)
        if tally is None:
            with self._lock:
                tally = self._slots.setdefault(
                    slot, _SlotCounts(self.mechanism(slot.campaign, slot.question))
                )
        return tally

    def _found(self, campaign: str, question: str) -> Iterator[tuple[Slot, _SlotCounts]]:
        self.mechanism(campaign, question)
        with self._lock:
            there = list(self._slots.items())
        return (one for one in there if one[0].campaign == campaign and one[0].question == question)


@final
class _SlotCounts:
    """The counts of a slot: a vector once it pays, and bytes that are not counted yet."""

    def __init__(self, mechanism: Question) -> None:
        self._mechanism = mechanism
        self._counting = mechanism.counting
        self._size = mechanism.report_bytes
        per_count = 8 * self._counting.size
        self._block = _SLOW_BLOCK * self._size if self._counting.by_block else max(_BLOCK, per_count // 2)
        self._counts: Integers | None = None
        self._waiting: list[bytes] = []
        self._bytes = 0  # of those that wait
        self.n = 0
        self._shrunk_at = -1  # the number of answers at the last call of `shrink`
        self._lock = threading.Lock()  # of the list and the numbers
        self._folding = threading.RLock()  # of the vector

    def add(self, reports: bytes) -> None:
        cells = len(reports) // self._size
        answers = cells if self._mechanism.layout.shape == () else self._answers(reports)
        with self._lock:
            self._waiting.append(reports)
            self._bytes += len(reports)
            self.n += answers
            full = self._bytes >= self._block
        if full and not self._counting.by_block:
            self._fold()

    def add_counts(self, counts: Integers, n: int) -> None:
        with self._folding, self._lock:
            self._counts = np.array(counts, dtype=np.int64) if self._counts is None else self._counts + counts
            self.n += n

    def shrink(self) -> None:
        """Hold the counts in the smallest type of numbers, if nothing came since the last call."""
        with self._folding:
            if self._shrunk_at == self.n and self._counts is not None and self._counts.dtype == np.int64:
                self._counts = self._counts.astype(np.min_scalar_type(int(self._counts.max(initial=0))))
            self._shrunk_at = self.n

    def add_to(self, total: Integers) -> int:
        """Add these counts to a vector; return the number of answers in them."""
        with self._folding:
            if self._counting.by_block or self._bytes >= self._block:
                self._fold()
            with self._lock:
                waiting, n = list(self._waiting), self.n
            if self._counts is not None:
                total += self._counts
            if waiting:
                self._counting.count_into(total, as_cells(self._mechanism, waiting))
            return n

    def _fold(self) -> None:
        with self._folding:
            with self._lock:
                waiting, self._waiting, self._bytes = self._waiting, [], 0
            if not waiting:
                return
            if self._counts is None:
                self._counts = np.zeros(self._counting.size, dtype=np.int64)
            self._counts = self._counts.astype(np.int64, copy=False)
            for block in _blocks(waiting, self._block):
                self._counting.count_into(self._counts, as_cells(self._mechanism, block))

    def _answers(self, reports: bytes) -> int:
        return self._counting.answers(as_cells(self._mechanism, [reports]))


def as_cells(mechanism: Question, reports: Iterable[bytes]) -> Array:
    """Return the bytes of reports as the array of whole numbers that they are."""
    layout = mechanism.layout
    flat = np.frombuffer(b"".join(reports), layout.base.newbyteorder("<")).astype(layout.base, copy=False)
    return flat.reshape(-1, *layout.shape)


@final
class Total:
    """Counts of reports that come in pieces."""

    def __init__(self, mechanism: Question) -> None:
        self._mechanism = mechanism
        self.counts: Integers = np.zeros(mechanism.counting.size, dtype=np.int64)
        self.n = 0

    def add(self, reports: list[bytes]) -> None:
        """Count reports."""
        cells = as_cells(self._mechanism, reports)
        self._mechanism.counting.count_into(self.counts, cells)
        self.n += self._mechanism.counting.answers(cells)


def _blocks(parts: list[bytes], most: int) -> Iterator[list[bytes]]:
    block: list[bytes] = []
    size = 0
    for part in parts:
        block.append(part)
        size += len(part)
        if size >= most:
            yield block
            block, size = [], 0
    if block:
        yield block
