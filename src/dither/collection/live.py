"""Counts of reports in memory, by campaign, question, day and label, and the rule that publishes them.

Public counts grow in steps. The reports to a question with a label form a sequence. The reports at its end
wait until there are `people` of them; then all are shown together, on the day of the last one. At any time,
the difference of two public numbers is therefore a sum of steps of at least `people` reports.

The steps depend only on the store. Every report has a tick there, the number of a group of reports that were
stored before the reports of the next group; a step ends with a tick. Every process that counts a store, also
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

TEST_LABEL: Final = "test"  # the label of developers' test reports: counted, never shown with others
_BLOCK: Final = 1 << 16  # bytes of reports that are counted at once
_SLOW_BLOCK: Final = 1 << 13  # reports that are counted at once if each one is expensive


class Slot(NamedTuple):
    """The key of a separate count: campaign, question, day and label of the reports of this collector."""

    campaign: str
    question: str
    day: datetime.date
    label: str


class Step(NamedTuple):
    """The end of the shown reports: the last tick, of which only reports up to a day are shown, and that day.

    Later steps of the same day replace an earlier one, so this may represent several.
    """

    tick: int
    day: datetime.date


class FoldedCounts(NamedTuple):
    """Counts of reports that are no longer kept one by one; `shown` is False while they wait.

    With a `tick` the counts are negative: reports that were withdrawn in that tick and are still shown.
    """

    slot: Slot
    counts: Integers
    n: int
    shown: bool
    tick: int | None = None


class Added(NamedTuple):
    """Reports of a slot that are not yet counted, each with its tick. Ticks ascend, and each is complete."""

    slot: Slot
    ticks: Sequence[int]
    parts: Sequence[bytes]


class Withdrawn(NamedTuple):
    """Reports of a slot, stored in the tick `stored`, that were withdrawn in a tick."""

    slot: Slot
    tick: int
    stored: int
    data: bytes
    day: datetime.date  # the day of the withdrawal


News = Iterable[Added | Withdrawn]  # in the order of ticks; withdrawals come after the reports of their tick


@dataclass(frozen=True)
class Fates:
    """The fate of a campaign's stored reports when they are folded up to a day.

    `steps` are the folded steps, by question and label. Reports after them wait, unless there are further
    steps (`later`): then these reports stay unchanged until those steps are folded.
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
        """Return the day on which a report is shown; None if these steps do not contain it."""
        steps = self.steps.get((slot.question, slot.label), ())
        index = bisect_left(steps, (tick, slot.day))
        return steps[index].day if index < len(steps) else None

    def is_taken_away(self, slot: Slot, tick: int) -> bool:
        """Return whether reports withdrawn in a tick left the counts with one of these steps."""
        steps = self.steps.get((slot.question, slot.label), ())
        return bool(steps) and tick < steps[-1].tick

    def stays(self, slot: Slot) -> bool:
        """Return whether the reports of a slot outside of these steps are kept unchanged."""
        return slot.day > self.day or (slot.question, slot.label) in self.later


class LiveCounts:
    """Counts of reports in memory. Adding is cheap: bytes are kept, and counted in blocks or on request.

    The writer's thread adds reports; any thread may read. Shown reports are counted in the reading thread,
    without the lock of the writer, so that a slow question does not delay the intake. Without `shown`, all
    stored reports are counted: this is only for the operator.
    """

    def __init__(self) -> None:
        self._contracts: dict[str, Campaign] = {}
        self._sequences: dict[tuple[str, str, str], _Sequence] = {}  # keys: campaign, question and label
        self._lock = threading.Lock()
        self._tick = 0  # the last tick
        self.revision = 0  # increases with every addition, so that readers can wait for changes
        self.removals = (
            0  # increases when withdrawn reports leave the public counts, or all reports are recounted
        )

    def know(self, contract: Campaign) -> None:
        """Add a contract; reports of its campaign may be added afterwards."""
        self._contracts[contract.id] = contract

    def add(self, slot: Slot, reports: bytes) -> None:
        """Add reports that were checked and stored, as the bytes that devices sent, in a new tick."""
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
        """Return whether no shown count contains withdrawn reports, so that their bytes are not needed."""
        if self.keeps(withdrawn.slot, withdrawn.day):
            return False
        name = (withdrawn.slot.campaign, withdrawn.slot.question, withdrawn.slot.label)
        sequence = self._sequences.get(name)
        return sequence is not None and sequence.is_settled(withdrawn)

    def keeps(self, slot: Slot, withdrawn: datetime.date) -> bool:
        """Return whether reports of a slot stay in the counts if they are withdrawn on a day."""
        return stays_counted(self._contracts[slot.campaign], slot.day, withdrawn)

    def shrink(self) -> None:
        """Store the counts of slots without recent additions in as few bytes as possible."""
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

        It equals the `Counts` of the same reports. It may take long: call it in a thread.
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
        """Return the number of answers to a question. This is fast: nothing is counted."""
        return sum(sequence.n(day, shown) for _, sequence in self._found(campaign, question, label))

    def waiting(self, campaign: str, question: str, *, shown: bool = False) -> int:
        """Return how many answers to a question wait until they are shown.

        With `shown`, the number contains withdrawn answers until the others are shown or their day is folded,
        so that a withdrawal does not change it.
        """
        found = self._found(campaign, question)
        return sum(sequence.all_waiting if shown else sequence.waiting for _, sequence in found)

    def days(
        self, campaign: str, question: str, label: str | None = None, *, shown: bool = False
    ) -> list[datetime.date]:
        """Return the days, in order, on which reports to a question with a label arrived or were shown."""
        there = self._found(campaign, question, label)
        return sorted(set(chain(*(sequence.days(shown) for _, sequence in there))))

    def labels(self, campaign: str, question: str, *, shown: bool = False) -> list[str]:
        """Return the labels of the reports of a question, in order; "" means no label."""
        return sorted(label for label, sequence in self._found(campaign, question) if sequence.days(shown))

    def interval_counts(
        self, campaign: str, question: str, *, shown: bool = False
    ) -> dict[str, tuple[int, int]]:
        """Return the numbers of reports 0 and 1 about a kept change, by the name of each stored interval.

        All days count, and all labels except tests.
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
        """Return all slots."""
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
        """Return the labels and sequences of a question, for one label or for all except tests."""
        self.question_of(campaign, question)
        intervals = question + SEPARATOR  # the beginning of the names of its intervals
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
    """The reports to a question with a label: shown reports by day, and waiting reports."""

    def __init__(self, question: Question, people: int) -> None:
        self._question, self._people, self._size = question, people, question.report_bytes
        self._shown: dict[datetime.date, _SlotCounts] = {}
        self._waiting: dict[datetime.date, bytearray] = {}  # waiting reports, keyed by the day of arrival
        self._folded: dict[datetime.date, tuple[Integers, int]] = {}  # waiting folded counts
        self._removals: list[_Removal] = []  # removals that wait for the next step
        self.waiting = 0  # number of waiting reports
        self.steps: list[Step] = []  # steps whose reports are kept one by one
        self._lock = threading.RLock()  # guards all fields, except the contents of a slot's counts

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
        """The number of waiting reports, including reports withdrawn since the last step."""
        with self._lock:
            return self.waiting + sum(removal.n for removal in self._removals if not removal.shown)

    def remove(self, withdrawn: Withdrawn) -> None:
        """Remove reports: waiting reports at once, shown reports with the next step."""
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
        """Show the waiting reports together with the last ones, atomically: a part of a step is never seen.

        Reports that were withdrawn before this tick leave the counts at the same time. Return whether any
        did.
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
        """Return the shown counts of a day, or of all days."""
        shown = self._shown
        return shown.values() if day is None else (shown[day],) if day in shown else ()

    def _slot(self, day: datetime.date) -> _SlotCounts:
        if day not in self._shown:
            # Other threads iterate over the old mapping.
            self._shown = {**self._shown, day: _SlotCounts(self._question)}
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
        """Add the counts of a day, or of all days, to a vector; return their number of answers."""
        if shown:
            return sum(slot.add_to(total) for slot in self._slots(day))
        with self._lock:  # no waiting report becomes public during this
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
    """n withdrawn reports, with the day on which they were shown, or of their arrival if they waited."""

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
    """The counts of a slot: a vector, as soon as it saves memory, and bytes that are not counted yet."""

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
        """Add reports, and optionally counts of n further reports, atomically."""
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
        """Store the counts in the smallest integer type, if nothing was added since the last call."""
        with self._folding:
            counts = self._counts  # negative if withdrawn reports are not counted yet
            rests = self._shrunk_at == self.n and counts is not None and counts.dtype == np.int64
            if rests and counts is not None and counts.min(initial=0) >= 0:
                self._counts = counts.astype(np.min_scalar_type(int(counts.max(initial=0))))
            self._shrunk_at = self.n

    def add_to(self, total: Integers) -> int:
        """Add these counts to a vector; return their number of answers."""
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
    """Return the bytes of reports as an array of integers."""
    layout = question.layout
    flat = np.frombuffer(b"".join(reports), layout.base.newbyteorder("<")).astype(layout.base, copy=False)
    return flat.reshape(-1, *layout.shape)


def count_sorted(question: Question, counts: Integers, reports: Sequence[bytes]) -> None:
    """Add the counts of reports to a vector, in place, where each part lists its reports by their bytes.

    Two-byte numbers begin with the lower byte: neighbours in such a list are 256 entries apart in the vector,
    and counting them takes four times as long as counting neighbours in memory. If there are many, they are
    therefore counted with their bytes swapped.
    """
    if question.counting != EachReport(1 << 16) or sum(map(len, reports)) < 1 << 18:
        question.counting.count_into(counts, as_cells(question, reports))
        return
    exchanged = np.bincount(np.frombuffer(b"".join(reports), ">u2"), minlength=1 << 16)
    counts.reshape(256, 256)[...] += exchanged.reshape(256, 256).T


class Total:
    """Counts of reports that are added in pieces; with `taken` they are negative, of withdrawn reports."""

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
