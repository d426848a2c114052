"""Counts of reports in memory, by campaign, question, day and label, and the rule that publishes them.

What anybody may see grows in steps. The reports of a question with a label form a sequence; those at its end
wait until there are `people` of them, and then all are shown together, on the day of the last one. So any
difference of two public numbers is a sum of steps of at least `people` reports, at any time.

The steps follow only from the store. Every report has a tick there, the number of a group of reports that
were stored before any of the next one; a step ends with a tick. Whoever counts a store, in another process or
after a restart, finds the same steps.
"""

from __future__ import annotations

import datetime
import threading
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Final, NamedTuple

import numpy as np

from dither.collection.campaign import Campaign
from dither.collection.kept_changes import SEPARATOR
from dither.collection.presence import NEVER, counts_presence, stays_counted, stored_question
from dither.core.counts import Counts
from dither.core.kernels.counting import EachReport
from dither.core.question import Question
from dither.errors import unknown_name
from dither.foundation.arrays import Array, Integers

TEST_LABEL: Final = (
    "test"  # of reports that developers send to try a campaign: counted, never shown with others
)
_BLOCK: Final = 1 << 16  # bytes of reports that are counted at once
_SLOW_BLOCK: Final = 1 << 13  # reports that are counted at once if one costs as much as many


class Slot(NamedTuple):
    """What is counted together: the reports of a question with a label, of a day, at this collector."""

    campaign: str
    question: str
    day: datetime.date
    label: str


class Step(NamedTuple):
    """The end of what was shown: the last tick, and of that tick the reports up to a day, on which it was.

    Later steps of the same day replace an earlier one, so this may represent several.
    """

    tick: int
    day: datetime.date


class FoldedCounts(NamedTuple):
    """Counts of reports that are not kept one by one any more; `shown` says whether they do not wait.

    With a `tick` they are negative: of reports that were withdrawn in that tick, and are still shown.
    """

    slot: Slot
    counts: Integers
    n: int
    shown: bool
    tick: int | None = None


class Added(NamedTuple):
    """Reports of a slot that are in no count yet, each with its tick. Ticks ascend, and none is divided."""

    slot: Slot
    ticks: Sequence[int]
    parts: Sequence[bytes]


class Withdrawn(NamedTuple):
    """Reports of a slot, stored in the tick `stored`, that were withdrawn in a tick."""

    slot: Slot
    tick: int
    stored: int
    data: bytes
    day: datetime.date  # on which they were withdrawn


News = Iterable[Added | Withdrawn]  # in the order of ticks; withdrawals come after the reports of their tick


@dataclass(frozen=True)
class Fates:
    """What becomes of the reports of a campaign that are kept one by one, when they are folded up to a day.

    `steps` are those that are folded, by question and label. Reports after them wait, unless there are
    further steps (`later`): then they are left alone until these are folded.
    """

    campaign: str
    day: datetime.date
    steps: Mapping[tuple[str, str], Sequence[Step]]
    later: frozenset[tuple[str, str]]

    @property
    def last(self) -> int:
        """The last tick of a step, or -1."""
        return max((steps[-1].tick for steps in self.steps.values()), default=-1)

    def day_shown(self, slot: Slot, tick: int) -> datetime.date | None:
        """Return the day on which a report is shown; None if it is in none of these steps."""
        steps = self.steps.get((slot.question, slot.label), ())
        index = bisect_left(steps, (tick, slot.day))
        return steps[index].day if index < len(steps) else None

    def is_taken_away(self, slot: Slot, tick: int) -> bool:
        """Return whether reports that were withdrawn in a tick left the counts with one of these steps."""
        steps = self.steps.get((slot.question, slot.label), ())
        return bool(steps) and tick < steps[-1].tick

    def stays(self, slot: Slot) -> bool:
        """Return whether the reports of a slot outside of these steps are kept unchanged."""
        return slot.day > self.day or (slot.question, slot.label) in self.later


class LiveCounts:
    """Live counts. Adding is cheap: bytes are kept, and counted in blocks or on request.

    The writer's thread adds; any thread asks. Counting what is shown runs in the thread that asks, without
    the lock of the writer, so that a slow question does not delay the intake. Without
    `shown`, everything that is stored is counted: this is only for the operator.
    """

    def __init__(self) -> None:
        self._contracts: dict[str, Campaign] = {}
        self._sequences: dict[tuple[str, str, str], _Sequence] = {}  # keys: campaign, question and label
        self._lock = threading.Lock()
        self._tick = 0  # the last one
        self.revision = 0  # grows with every addition, so that readers can wait for news
        self.removals = 0  # grows when withdrawn reports leave the public counts, or all is counted anew

    def know(self, contract: Campaign) -> None:
        """Take in a contract, whose reports may then be added."""
        self._contracts[contract.id] = contract

    def add(self, slot: Slot, reports: bytes) -> None:
        """Add reports, checked and stored before, as the bytes that devices sent, in a tick of their own."""
        self.add_all([Added(slot, [self._tick + 1], [reports])])

    def add_counts(self, counted: FoldedCounts) -> None:
        """Add counts of reports that are kept only as counts."""
        self._sequence(counted.slot).add_counts(counted)
        self.revision += 1

    def rebuild(self, counted: Iterable[FoldedCounts], news: News) -> None:
        """Replace all counts by a store's counts, atomically."""
        fresh = LiveCounts()
        fresh._contracts = self._contracts
        for counts in counted:
            fresh.add_counts(counts)
        fresh.add_all(news)
        with self._lock:
            self._sequences, self._tick = fresh._sequences, fresh._tick
        self.revision += 1
        self.removals += 1

    def add_all(self, news: News) -> None:
        """Add reports that are already grouped by slot, in the order of their ticks."""
        for item in news:
            if isinstance(item, Withdrawn):
                self._tick = max(self._tick, item.tick)
                if not self.keeps(item.slot, item.day):
                    self._sequence(item.slot).remove(item)
            else:
                self._tick = max(self._tick, item.ticks[-1])
                taken = self._sequence(item.slot).add(item.slot.day, item.ticks, item.parts)
                self.removals += taken
            self.revision += 1

    def is_settled(self, withdrawn: Withdrawn) -> bool:
        """Return whether withdrawn reports are in no count that is shown: their bytes are not needed."""
        if self.keeps(withdrawn.slot, withdrawn.day):
            return False
        name = (withdrawn.slot.campaign, withdrawn.slot.question, withdrawn.slot.label)
        sequence = self._sequences.get(name)
        return sequence is not None and sequence.is_settled(withdrawn)

    def keeps(self, slot: Slot, withdrawn: datetime.date) -> bool:
        """Return whether reports of a slot that are withdrawn on a day stay in the counts."""
        return stays_counted(self._contracts[slot.campaign], slot.day, withdrawn)

    def shrink(self) -> None:
        """Hold the counts of slots that were not added to of late in as few bytes as they need."""
        with self._lock:
            there = list(self._sequences.values())
        for sequence in there:
            sequence.shrink()

    def clear(self, campaign: str) -> None:
        """Forget the counts of a campaign."""
        with self._lock:
            self._sequences = {
                name: sequence for name, sequence in self._sequences.items() if name[0] != campaign
            }
        self.revision += 1

    def fates(self, campaign: str, day: datetime.date) -> Fates:
        """Return the fate of the reports of a campaign when they are folded up to a day."""
        steps: dict[tuple[str, str], Sequence[Step]] = {}
        later: set[tuple[str, str]] = set()
        for (whose, *name), sequence in self._sequences.items():
            if whose == campaign:
                question, label = name
                count = max((at for at, step in enumerate(sequence.steps, 1) if step.day <= day), default=0)
                if count:
                    steps[question, label] = sequence.steps[:count]
                if count < len(sequence.steps):
                    later.add((question, label))
        return Fates(campaign, day, steps, frozenset(later))

    def forget_folded(self, fates: Fates) -> None:
        """Forget the steps that were folded: the order of their reports is not needed any more."""
        for name, steps in fates.steps.items():
            del self._sequences[(fates.campaign, *name)].steps[: len(steps)]

    def summary(
        self,
        campaign: str,
        question: str,
        day: datetime.date | None = None,
        label: str | None = None,
        *,
        shown: bool = False,
    ) -> Counts:
        """Return the summary of a question: of all days and labels, or of one day, or of one label.

        It is the `Counts` of the same reports, count for count. May take a while: call it in a thread.
        """
        request = self.question_of(campaign, question)
        counts, n = np.zeros(request.counting.size, dtype=np.int64), 0
        for _, sequence in self._found(campaign, question, label):
            n += sequence.add_to(counts, day, shown)
        return Counts(request, counts, n)

    def n(
        self,
        campaign: str,
        question: str,
        day: datetime.date | None = None,
        label: str | None = None,
        *,
        shown: bool = False,
    ) -> int:
        """Return the number of answers to a question. Quick: nothing is counted."""
        return sum(sequence.n(day, shown) for _, sequence in self._found(campaign, question, label))

    def waiting(self, campaign: str, question: str, *, shown: bool = False) -> int:
        """Return how many answers to a question wait until they are shown.

        A number that is `shown` contains those that were withdrawn, until the others are shown or their day
        is folded: it does not change because somebody withdraws.
        """
        found = self._found(campaign, question)
        return sum(sequence.all_waiting if shown else sequence.waiting for _, sequence in found)

    def days(
        self, campaign: str, question: str, label: str | None = None, *, shown: bool = False
    ) -> list[datetime.date]:
        """Return the days on which reports of a question, of a label, arrived or were shown, in order."""
        there = self._found(campaign, question, label)
        return sorted(set(chain(*(sequence.days(shown) for _, sequence in there))))

    def labels(self, campaign: str, question: str, *, shown: bool = False) -> list[str]:
        """Return the labels of the reports of a question, in order; "" means no label."""
        return sorted(label for label, sequence in self._found(campaign, question) if sequence.days(shown))

    def interval_counts(
        self, campaign: str, question: str, *, shown: bool = False
    ) -> dict[str, tuple[int, int]]:
        """Return how many reports about a kept change are 0 and 1, by the name of each stored interval.

        Of all days, and of all labels but tests.
        """
        found: dict[str, tuple[int, int]] = {}
        with self._lock:
            there = list(self._sequences.items())
        for (whose, name, label), sequence in there:
            if whose == campaign and name.partition(SEPARATOR)[0] == question and label != TEST_LABEL:
                counts = np.zeros(2, dtype=np.int64)
                sequence.add_to(counts, None, shown)
                zeros, ones = found.get(name, (0, 0))
                found[name] = (zeros + int(counts[0]), ones + int(counts[1]))
        return found

    def slots(self) -> list[Slot]:
        """Return everything that is counted separately."""
        with self._lock:
            there = list(self._sequences.items())
        return sorted(
            Slot(*name[:2], day, name[2]) for name, sequence in there for day in sequence.days(shown=False)
        )

    def question_of(self, campaign: str, name: str) -> Question:
        """Return the question of a name; raise InvalidParameter if it is unknown."""
        if campaign not in self._contracts:
            raise unknown_name("campaign", campaign, list(self._contracts))
        return stored_question(self._contracts[campaign], name)

    def _sequence(self, slot: Slot) -> _Sequence:
        name = (slot.campaign, slot.question, slot.label)
        found = self._sequences.get(name)
        if found is None:
            question = self.question_of(slot.campaign, slot.question)
            with self._lock:
                contract = self._contracts[slot.campaign]
                made = _Sequence(question, NEVER if counts_presence(contract) else contract.people)
                found = self._sequences.setdefault(name, made)
        return found

    def _found(
        self, campaign: str, question: str, label: str | None = None
    ) -> Iterator[tuple[str, _Sequence]]:
        """Return the sequences of a question, of one label or of all but tests, each with its label."""
        self.question_of(campaign, question)
        intervals = question + SEPARATOR  # of a question about kept changes
        with self._lock:
            there = list(self._sequences.items())
        return (
            (name[2], sequence)
            for name, sequence in there
            if name[0] == campaign
            and (name[1] == question or name[1].startswith(intervals))
            and (name[2] != TEST_LABEL if label is None else name[2] == label)
        )


class _Sequence:
    """The reports of a question with a label: those that are shown, by day, and those that wait."""

    def __init__(self, question: Question, people: int) -> None:
        self._question, self._people, self._size = question, people, question.report_bytes
        self._shown: dict[datetime.date, _SlotCounts] = {}
        self._waiting: dict[datetime.date, bytearray] = {}  # waiting reports, keyed by the day of arrival
        self._folded: dict[datetime.date, tuple[Integers, int]] = {}  # waiting folded counts
        self._removals: list[_Removal] = []  # removals that wait for the next step
        self.waiting = 0  # how many reports wait
        self.steps: list[Step] = []  # steps whose reports are kept one by one
        self._lock = threading.RLock()  # guards all fields, except the inside of a slot's counts

    def add(self, day: datetime.date, ticks: Sequence[int], parts: Sequence[bytes]) -> bool:
        """Add reports; return whether withdrawn ones left the public counts."""
        n, size, end = self.waiting, self._size, 0
        for index, (part, (tick, following)) in enumerate(zip(parts, pairwise((*ticks, -1)), strict=True), 1):
            n += len(part) // size
            if n >= self._people and tick != following:
                n, end = 0, index
        with self._lock:
            taken = bool(end) and self._show(day, b"".join(parts[:end]), ticks[end - 1])
            if end:
                if self.steps and self.steps[-1].day == day:
                    self.steps.pop()
                self.steps.append(Step(ticks[end - 1], day))
            if end < len(parts):
                self._waiting.setdefault(day, bytearray()).extend(b"".join(parts[end:]))
            self.waiting = n
        return taken

    @property
    def all_waiting(self) -> int:
        """How many reports wait, with those that were withdrawn since the last step."""
        with self._lock:
            return self.waiting + sum(removal.n for removal in self._removals if not removal.shown)

    def remove(self, withdrawn: Withdrawn) -> None:
        """Take reports away: those that wait at once, those that are shown with the next step."""
        n = len(withdrawn.data) // self._size
        with self._lock:
            shown = self._day_shown(withdrawn)
            if shown is None:
                self.waiting -= n
            day = shown or withdrawn.slot.day
            self._removals.append(_Removal(withdrawn.tick, day, shown is not None, n, withdrawn.data))

    def _day_shown(self, withdrawn: Withdrawn) -> datetime.date | None:
        index = bisect_left(self.steps, (withdrawn.stored, withdrawn.slot.day))
        return self.steps[index].day if index < len(self.steps) else None

    def is_settled(self, withdrawn: Withdrawn) -> bool:
        with self._lock:
            return self._day_shown(withdrawn) is None or withdrawn.tick < self.steps[-1].tick

    def add_counts(self, counted: FoldedCounts) -> None:
        day = counted.slot.day
        with self._lock:
            if counted.tick is not None and not counted.shown:
                removal = _Removal(counted.tick, day, True, -counted.n, b"", -counted.counts)
                self._removals.append(removal)
                return
            if counted.shown:
                self._slot(day).add(b"", counted.counts, counted.n)
                return
            counts, n = self._folded.get(day, (0, 0))
            self._folded[day] = (counted.counts + counts, counted.n + n)
            self.waiting += counted.n

    def _show(self, day: datetime.date, last: bytes, tick: int) -> bool:
        """Show what waits together with the last reports. At once: a part of a step is never seen.

        What was withdrawn before this tick leaves the counts in the same moment. Return whether any did.
        """
        reports = b"".join([*self._waiting.values(), last])
        folded = list(self._folded.values())
        counts = np.sum([part for part, _ in folded], axis=0) if folded else None
        n = sum(n for _, n in folded)
        leaving = [removal for removal in self._removals if removal.tick < tick]
        self._waiting, self._folded = {}, {}
        if not leaving:
            self._slot(day).add(reports, counts, n)
            return False
        self._removals = [removal for removal in self._removals if removal.tick >= tick]
        days = {day, *(removal.day for removal in leaving if removal.shown)}
        changed = {when: self._slot(when).copy() for when in days}
        changed[day].add(reports, counts, n)
        for removal in leaving:
            slot = changed[removal.day if removal.shown else day]
            slot.add(b"", -removal.counts_of(self._question), -removal.n)
        self._shown = {**self._shown, **changed}
        return True

    def _slots(self, day: datetime.date | None) -> Iterable[_SlotCounts]:
        """Return what is shown of a day, or of all."""
        shown = self._shown
        return shown.values() if day is None else (shown[day],) if day in shown else ()

    def _slot(self, day: datetime.date) -> _SlotCounts:
        if day not in self._shown:
            self._shown = {**self._shown, day: _SlotCounts(self._question)}  # others go through the old one
        return self._shown[day]

    def shrink(self) -> None:
        for slot in self._shown.values():
            slot.shrink()

    def days(self, shown: bool) -> set[datetime.date]:
        return set(self._shown) if shown else {*self._shown, *self._waiting, *self._folded}

    def n(self, day: datetime.date | None, shown: bool) -> int:
        with self._lock:
            n = sum(slot.n for slot in self._slots(day))
            if shown:
                return n
            if day is None:
                return n + self.waiting - sum(removal.n for removal in self._removals if removal.shown)
            n -= sum(removal.n for removal in self._removals if removal.day == day)
            return n + len(self._waiting.get(day, b"")) // self._size + self._folded.get(day, (0, 0))[1]

    def add_to(self, total: Integers, day: datetime.date | None, shown: bool) -> int:
        """Add the counts of a day, or of all, to a vector; return the number of answers in them."""
        if shown:
            return sum(slot.add_to(total) for slot in self._slots(day))
        with self._lock:  # meanwhile no waiting report becomes public
            n = self.add_to(total, day, shown=True)
            for when, reports in self._waiting.items():
                if day in (None, when):
                    self._question.counting.count_into(total, as_cells(self._question, [bytes(reports)]))
                    n += len(reports) // self._size
            for when, (counts, count) in self._folded.items():
                if day in (None, when):
                    total += counts
                    n += count
            for removal in self._removals:
                if day in (None, removal.day):
                    total -= removal.counts_of(self._question)
                    n -= removal.n
            return n


class _Removal(NamedTuple):
    """n withdrawn reports: of a day on which they were shown, or of the day of arrival if they waited."""

    tick: int
    day: datetime.date
    shown: bool
    n: int
    data: bytes
    counts: Integers | None = None

    def counts_of(self, question: Question) -> Integers:
        if self.counts is not None:
            return self.counts
        counts: Integers = np.zeros(question.counting.size, dtype=np.int64)
        question.counting.count_into(counts, as_cells(question, [self.data]))
        return counts


class _SlotCounts:
    """The counts of a slot: a vector once it pays, and bytes that are not counted yet."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._counting = question.counting
        self._size = question.report_bytes
        per_count = 8 * self._counting.size
        self._block = _SLOW_BLOCK * self._size if self._counting.by_block else max(_BLOCK, per_count // 2)
        self._counts: Integers | None = None
        self._waiting: list[bytes] = []
        self._bytes = 0  # bytes that wait to be counted
        self.n = 0
        self._shrunk_at = -1  # the number of answers at the last call of `shrink`
        self._lock = threading.Lock()  # guards the list and the numbers
        self._folding = threading.RLock()  # guards the vector

    def add(self, reports: bytes, counts: Integers | None = None, n: int = 0) -> None:
        """Add reports, and maybe counts of n further ones, at once."""
        if counts is None:
            self._add(reports, 0)
        else:
            with self._folding:
                counts = np.asarray(counts, dtype=np.int64)
                before = 0 if self._counts is None else self._counts.astype(np.int64, copy=False)
                self._counts = counts + before
                self._add(reports, n)
        if self._bytes >= self._block and not self._counting.by_block:
            self._fold()

    def copy(self) -> _SlotCounts:
        """Return an independent copy of the counts."""
        made = _SlotCounts(self._question)
        with self._folding, self._lock:
            made._counts = None if self._counts is None else self._counts.copy()
            made._waiting, made._bytes, made.n = list(self._waiting), self._bytes, self.n
        return made

    def _add(self, reports: bytes, n: int) -> None:
        with self._lock:
            if reports:
                self._waiting.append(reports)
            self._bytes += len(reports)
            self.n += len(reports) // self._size + n

    def shrink(self) -> None:
        """Hold the counts in the smallest type of numbers, if nothing came since the last call."""
        with self._folding:
            counts = self._counts  # below 0 if withdrawn reports are not counted yet
            rests = self._shrunk_at == self.n and counts is not None and counts.dtype == np.int64
            if rests and counts is not None and counts.min(initial=0) >= 0:
                self._counts = counts.astype(np.min_scalar_type(int(counts.max(initial=0))))
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
                self._counting.count_into(total, as_cells(self._question, waiting))
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
                count_sorted(self._question, self._counts, block)


def as_cells(question: Question, reports: Iterable[bytes]) -> Array:
    """Return the bytes of reports as the array of integers that they are."""
    layout = question.layout
    flat = np.frombuffer(b"".join(reports), layout.base.newbyteorder("<")).astype(layout.base, copy=False)
    return flat.reshape(-1, *layout.shape)


def count_sorted(question: Question, counts: Integers, reports: Sequence[bytes]) -> None:
    """Add the counts of reports to a vector, in place, where each part lists its reports by their bytes.

    The bytes of two-byte numbers begin with the lower one: neighbours of such a list are 256 entries apart
    in the vector, and that takes four times as long as neighbours in memory. So they are counted with their
    bytes exchanged, if there are many.
    """
    if question.counting != EachReport(1 << 16) or sum(map(len, reports)) < 1 << 18:
        question.counting.count_into(counts, as_cells(question, reports))
        return
    exchanged = np.bincount(np.frombuffer(b"".join(reports), ">u2"), minlength=1 << 16)
    counts.reshape(256, 256)[...] += exchanged.reshape(256, 256).T


class Total:
    """Counts of reports that come in pieces; with `taken` they are negative, of withdrawn reports."""

    def __init__(self, question: Question, *, taken: bool = False) -> None:
        self._question, self._sign = question, -1 if taken else 1
        self.counts: Integers = np.zeros(question.counting.size, dtype=np.int64)
        self.n = 0

    def add(self, reports: list[bytes]) -> None:
        """Count reports."""
        cells = as_cells(self._question, reports)
        counts: Integers = np.zeros_like(self.counts)
        self._question.counting.count_into(counts, cells)
        self.counts += self._sign * counts
        self.n += self._sign * self._question.counting.answers(cells)


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
