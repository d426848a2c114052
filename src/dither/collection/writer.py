"""The writer: one thread that stores batches, many per transaction, and then acknowledges them."""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

from dither.collection.collector import Collector
from dither.collection.live import as_cells
from dither.collection.log import log
from dither.collection.published import Published
from dither.collection.refusals import BatchRefused, Reason
from dither.collection.signals import label_text
from dither.collection.store.store import Arrived, Stored, StoreUnavailable, Withdrawal
from dither.errors import MalformedReport

_GATHER: Final = 0.002  # seconds to wait for more batches,
_FEW: Final = 64  # if fewer than this number wait
_TICK: Final = 1.0  # seconds between reads of other processes' batches
_TIDY: Final = 3600.0  # seconds between checks for days to fold and forget
_TURNED: Final = 60.0  # seconds of a jump that makes a clock unsteady
_BYTES: Final = 1 << 23  # approximate bytes of reports in one transaction

Result = TypeVar("Result")


class _Waiting(NamedTuple):
    batch: Arrived | Withdrawal
    loop: asyncio.AbstractEventLoop
    done: asyncio.Future[None]

    @property
    def size(self) -> int:
        """The bytes of reports."""
        return sum(len(data) for _, data in self.batch.parts) if isinstance(self.batch, Arrived) else 0


class _Task(NamedTuple):
    run: Callable[[], Any]
    done: Future[Any]


class Writer:
    """Everything that touches the store runs in this thread, so that there is one writer.

    Batches that arrive while a transaction is written are written together in the next one.
    """

    def __init__(self, collector: Collector, reload: Callable[[], list[Published]] = list) -> None:
        """Start the thread. `reload` returns the present campaigns."""
        self.collector = collector
        self._signals = collector.signals
        self._questions: dict[tuple[str, str], tuple[int, str]] = {}
        self._written = time.monotonic()  # time of the last write
        self._most = 0  # largest recent write that failed, in bytes
        for name in ("waiting", "failing"):
            self._signals.set(name, 0)
        self._queue: queue.SimpleQueue[_Waiting | _Task | None] = queue.SimpleQueue()
        self._next = time.monotonic() + _TICK
        self._reload = reload
        self._tidied = time.monotonic()
        self._offset = time.time() - time.monotonic()
        self._closing = False
        self._deadlines: dict[asyncio.AbstractEventLoop, _Deadlines] = {}
        self._thread = threading.Thread(target=self._run, name="dither-writer", daemon=True)
        self._thread.start()

    async def store(self, batch: Arrived | Withdrawal) -> None:
        """Return when a batch or a withdrawal is on disk; raise BatchRefused or StoreUnavailable.

        A store that does not answer counts as unavailable after `patience`. The batch may still be stored; a
        repeated request is then acknowledged.
        """
        if self._closing or self._queue.qsize() >= self.collector.settings.queue:
            raise StoreUnavailable("the collector is busy, or stops")
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self._queue.put(_Waiting(batch, loop, done))
        deadlines = self._deadlines.get(loop)
        if deadlines is None:
            deadlines = self._deadlines[loop] = _Deadlines(loop, self.collector.settings.patience)
        deadlines.add(done)
        await done

    def call(self, run: Callable[[], Result]) -> Future[Result]:
        """Run a function in the thread of the writer, between two transactions."""
        done: Future[Result] = Future()
        if self._closing:
            done.set_exception(StoreUnavailable("the collector stops"))
        else:
            self._queue.put(_Task(run, done))
        return done

    @property
    def waiting(self) -> int:
        """The approximate number of batches that wait to be stored."""
        return self._queue.qsize()

    def able(self) -> bool:
        """Return whether the store can be written. This waits for the writer's queue."""
        try:
            self.call(self._probe).result(timeout=5)
        except (StoreUnavailable, TimeoutError):
            return False
        return not self._closing

    def reload(self) -> list[str]:
        """Publish the present campaigns; return the identities of all."""
        for published in self._reload():
            self.call(partial(self.collector.publish, published)).result()
        log("reloaded", campaigns=len(self.collector.campaigns))
        return list(self.collector.campaigns)

    def close(self) -> None:
        """Write waiting batches and the counts of refusals, then stop."""
        self._closing = True
        self._queue.put(None)
        self._thread.join()

    # --- in the thread

    def _run(self) -> None:
        stopping = False
        while not stopping or not self._queue.empty():
            group: list[_Waiting] = []
            size = 0
            try:
                waiting = self._queue.get(timeout=max(0.0, self._next - time.monotonic()))
                if self._queue.qsize() < _FEW:
                    time.sleep(_GATHER)  # a commit is expensive: wait for more batches
                while True:
                    if waiting is None:
                        stopping = True
                    elif isinstance(waiting, _Task):
                        self._write(group)
                        group, size = [], 0
                        self._perform(waiting)
                    else:
                        group.append(waiting)
                        size += waiting.size
                    if len(group) >= self.collector.settings.group or size >= _BYTES:
                        break
                    waiting = self._queue.get_nowait()
            except queue.Empty:
                pass
            self._write(group)
            if time.monotonic() >= self._next or stopping:
                self._look()

    def _write(self, group: list[_Waiting]) -> None:
        if not group:
            return
        results: list[BaseException | None]
        try:
            results = self._store([waiting.batch for waiting in group])
        except StoreUnavailable as error:
            self._note_failure(group)
            log("the store is not available", level=logging.WARNING, error=str(error))
            results = [error] * len(group)
        except Exception as error:
            self._note_failure(group)
            logging.getLogger("dither.collection").exception("writing failed")
            results = [StoreUnavailable(type(error).__name__)] * len(group)
        by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[None], BaseException | None]]] = {}
        for waiting, result in zip(group, results, strict=True):
            by_loop.setdefault(waiting.loop, []).append((waiting.done, result))
        for loop, finished in by_loop.items():
            try:
                loop.call_soon_threadsafe(_finish, finished)
            except RuntimeError:  # the loop is closed, so nobody waits
                continue

    def _store(self, group: list[Arrived | Withdrawal]) -> list[BaseException | None]:
        """Store batches and withdrawals; return None or the refusal for each."""
        batches = [item for item in group if isinstance(item, Arrived)]
        if len(batches) == len(group):
            return self._store_batches(batches)
        results = iter(self._store_batches(batches))
        self.collector.store.withdraw([item for item in group if isinstance(item, Withdrawal)])
        self._signals.add("withdrawals_total", len(group) - len(batches))
        self._wrote()
        if not self.collector.store.shared:
            self._do(self.collector.catch_up)
        return [next(results) if isinstance(item, Arrived) else None for item in group]

    def _store_batches(self, batches: list[Arrived]) -> list[BaseException | None]:
        results: list[BaseException | None] = [None] * len(batches)
        for index in self._impossible(batches):
            results[index] = BatchRefused(Reason.REPORT)
        good = [index for index, result in enumerate(results) if result is None]
        if not good:
            return results
        began = time.perf_counter_ns()
        outcomes = self.collector.store.append([batches[index] for index in good])
        self._signals.observe("commit_seconds", (time.perf_counter_ns() - began) // 1000)
        self._wrote()
        for index, outcome in zip(good, outcomes, strict=True):
            if outcome is Stored.CONFLICT:
                results[index] = BatchRefused(Reason.CONFLICT)
        self._count([batches[index] for index in good], outcomes)
        if not self.collector.store.shared:
            self._do(self.collector.catch_up)  # every process of a shared store counts at its next check
        return results

    def _count(self, batches: list[Arrived], outcomes: list[Stored]) -> None:
        """Add the stored batches to the signals."""
        signals = self._signals
        signals.add("commits_total")
        signals.set("waiting", self.waiting)
        if Stored.REPEATED in outcomes:
            signals.add("repeated_total", outcomes.count(Stored.REPEATED))
        reports: dict[tuple[str, str], int] = {}
        sizes: dict[int, int] = {}
        for batch, outcome in zip(batches, outcomes, strict=True):
            if outcome is Stored.NEW:
                size = 0
                for slot, data in batch.parts:
                    n = len(data) // self._question(slot[:2])[0]
                    reports[slot[:2]] = reports.get(slot[:2], 0) + n
                    size += n
                sizes[size] = sizes.get(size, 0) + 1
        for names, n in reports.items():
            signals.add("reports_total", n, self._question(names)[1])
        for size, count in sizes.items():
            signals.observe("batch_reports", size, count)

    def _question(self, names: tuple[str, str]) -> tuple[int, str]:
        """Return the size of a report to a question in bytes, and the labels of its counter."""
        found = self._questions.get(names)
        if found is None:
            size = self.collector.live.question_of(*names).report_bytes
            found = self._questions[names] = size, label_text(campaign=names[0][:16], question=names[1])
        return found

    def _note_failure(self, group: list[_Waiting]) -> None:
        """Record a failed transaction: the collector is not ready until one succeeds."""
        self._signals.add("unavailable_total")
        self._most = min(_BYTES, sum(waiting.size for waiting in group))
        self._note(failing=True)

    def _wrote(self) -> None:
        self._written, self._most = time.monotonic(), 0
        self._note(failing=False)

    def _note(self, *, failing: bool) -> None:
        if failing != self.collector.failing:
            self.collector.failing = failing
            self._signals.set("failing", int(failing))

    def _probe(self) -> None:
        """Try to write as many bytes as last failed, unless something was just written."""
        if self.collector.failing or time.monotonic() - self._written >= _TICK:
            try:
                self.collector.store.probe(self._most)
            except StoreUnavailable:
                self._note(failing=True)
                raise
            self._wrote()

    def _impossible(self, batches: list[Arrived]) -> set[int]:
        """Return the indices of batches with a report that no device could have sent."""
        groups: dict[tuple[str, str], list[tuple[int, bytes]]] = {}
        for index, batch in enumerate(batches):
            for slot, data in batch.parts:
                groups.setdefault(slot[:2], []).append((index, data))
        wrong: set[int] = set()
        for names, parts in groups.items():
            if not self._possible(names, [data for _, data in parts]):
                wrong |= {index for index, data in parts if not self._possible(names, [data])}
        return wrong

    def _possible(self, names: tuple[str, str], data: list[bytes]) -> bool:
        question = self.collector.live.question_of(*names)
        try:
            question.reports(as_cells(question, data))
        except MalformedReport:
            return False
        return True

    def _steady(self) -> bool:
        """Return whether an hour has passed since the last call, by a clock that was not set meanwhile.

        Identities are removed by date. A clock that jumps ahead must not remove them early.
        """
        now, offset = time.monotonic(), time.time() - time.monotonic()
        if now - self._tidied < _TIDY:
            return False
        turned = abs(offset - self._offset) > _TURNED
        self._tidied, self._offset = now, offset
        if turned:
            log("the clock was turned; nothing is forgotten for an hour", level=logging.WARNING)
        return not turned

    def _perform(self, task: _Task) -> None:
        try:
            task.done.set_result(task.run())
        except BaseException as error:
            task.done.set_exception(error)

    def _look(self) -> None:
        """Store the counts of refusals, and count the reports that other processes stored."""
        self._next = time.monotonic() + _TICK
        self._signals.set("waiting", self.waiting)
        if self.collector.failing:
            self._do(self._probe)
        self._do(self.collector.keep_refusals)
        self._do(self.collector.catch_up)
        if self._steady():
            self._do(self.collector.tidy)

    def _do(self, act: Callable[[], None]) -> None:
        """Run a task that may fail now and is repeated later."""
        try:
            act()
        except StoreUnavailable as error:
            self._note(failing=True)
            log("the store is not available", level=logging.WARNING, error=str(error))
        except Exception:
            logging.getLogger("dither.collection").exception("looking at the store failed")


class _Deadlines:
    """The batches of a loop that wait for the store, for at most `patience` seconds.

    A timer for each batch would take 2 µs; one for all looks at the oldest ones every second.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, patience: float) -> None:
        self._time, self._call_later, self._patience = loop.time, loop.call_later, patience
        self._waiting: deque[tuple[float, asyncio.Future[None]]] = deque()
        self._looks = False  # True while the timer runs

    def add(self, done: asyncio.Future[None]) -> None:
        """Stop waiting for a batch after its deadline."""
        self._waiting.append((self._time() + self._patience, done))
        if not self._looks:
            self._looks = True
            self._call_later(min(self._patience, _TICK), self._look)

    def _look(self) -> None:
        now, waiting = self._time(), self._waiting
        while waiting and (waiting[0][1].done() or waiting[0][0] <= now):
            _, done = waiting.popleft()
            if not done.done():
                done.set_exception(StoreUnavailable("the store does not answer"))
        self._looks = bool(waiting)
        if waiting:
            self._call_later(min(waiting[0][0] - now, _TICK), self._look)


def _finish(finished: list[tuple[asyncio.Future[None], BaseException | None]]) -> None:
    for done, result in finished:
        if done.done():
            continue  # the client went away; this does not change the fate of the batch
        if result is None:
            done.set_result(None)
        else:
            done.set_exception(result)
