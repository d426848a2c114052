"""Counters and histograms of all processes of a collector, for its operator and Prometheus.

Every process adds to its own part of one piece of shared memory, and the process that answers adds all parts
up. Every process therefore gives the same answer. No counter decreases while the collector runs, even if one
of its processes is killed. The numbers of several collectors may be added.
"""

from __future__ import annotations

import mmap
import os
import tempfile
import threading
import time
from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from dither.collection.collector import Collector

_PART: Final = 1 << 22  # bytes of a process; pages that were never written take no memory
_WORD: Final = 8
_BEGIN: Final = 2  # words before the first part: the second of the start, and the number of parts


class _Metric(NamedTuple):
    kind: str
    words: str
    bounds: tuple[int, ...] = ()  # for a histogram: the greatest number of each bucket
    divisor: int = 1  # for a histogram: counted units per displayed unit (10**6: µs shown as s)


_TIMES: Final = tuple(step * 10**power for power in range(2, 7) for step in (1, 2, 5))  # in microseconds
_FAMILIES: Final = {
    "reports_total": _Metric("counter", "Reports that were stored, by campaign and question."),
    "refused_total": _Metric("counter", "Batches that were refused, by reason."),
    "repeated_total": _Metric("counter", "Batches that came again."),
    "withdrawals_total": _Metric("counter", "Batches that were taken back, known or not."),
    "opened_total": _Metric("counter", "Requests that came encrypted."),
    "commits_total": _Metric("counter", "Transactions that stored batches."),
    "unavailable_total": _Metric("counter", "Transactions that failed."),
    "batch_reports": _Metric(
        "histogram", "Reports of a batch that was stored.", tuple(10**power for power in range(6))
    ),
    "answer_seconds": _Metric(
        "histogram", "From the head of a request with a batch to its answer.", _TIMES, 10**6
    ),
    "commit_seconds": _Metric("histogram", "To store batches, a transaction.", _TIMES, 10**6),
    "waiting": _Metric("gauge", "Batches that wait to be stored."),
    "failing": _Metric("gauge", "Processes that cannot write to the store."),
}


class Signals:
    """Counters, histograms and gauges in memory shared by all workers; `place` is this process."""

    def __init__(self, handle: int = -1, place: int = 0, places: int = 1) -> None:
        """Open the memory of a file from `shared_file`; without a file, only this process uses it."""
        self._memory = mmap.mmap(handle, _size(places))
        self._words = memoryview(self._memory).cast("q")
        self._places, self._first = places, (_BEGIN * _WORD + place * _PART) // _WORD
        self._lock = threading.Lock()
        self._at = dict(self._records(place))  # the index of each number
        if not self._words[0]:
            self._words[0] = int(time.time())

    def add(self, name: str, count: int = 1, labels: str = "") -> None:
        """Add to a counter, or to the counter of its labels (as `label_text` writes them)."""
        with self._lock:
            self._words[self._find(name + labels)] += count

    def observe(self, name: str, number: int, count: int = 1) -> None:
        """Count a number, or `times` equal ones, in a histogram; times are in microseconds."""
        bucket = bisect_left(_FAMILIES[name].bounds, number)
        with self._lock:
            self._words[self._find(f"{name}/{bucket}")] += count
            self._words[self._find(f"{name}/sum")] += number * count

    def set(self, name: str, number: int) -> None:
        """Set a gauge of this process."""
        with self._lock:
            self._words[self._find(name)] = number

    def _find(self, name: str) -> int:
        """Return the index of a number; a new one gets a record: its name's length, its name, the number."""
        found = self._at.get(name)
        if found is not None:
            return found
        data = name.encode()
        size = -(-len(data) // _WORD)
        used = self._words[self._first]
        at = self._first + 1 + used
        if (used + size + 3) * _WORD > _PART:
            return self._first + _PART // _WORD - 1  # the part is full: return an unused word
        index = (at + 1) * _WORD
        self._memory[index : index + len(data)] = data
        self._words[at] = len(data)
        self._words[self._first] = used + size + 2  # now other processes see the record
        self._at[name] = at + 1 + size
        return self._at[name]

    def _records(self, index: int) -> Iterator[tuple[str, int]]:
        """Yield the names of a process with the indices of their numbers."""
        first = (_BEGIN * _WORD + index * _PART) // _WORD
        at, end = first + 1, first + 1 + self._words[first]
        while at < end:
            length = self._words[at]
            begin = (at + 1) * _WORD
            number = at + 1 - (-length // _WORD)
            yield self._memory[begin : begin + length].decode(), number
            at = number + 1

    def totals(self) -> dict[str, int]:
        """Return all numbers, each added up over all processes."""
        found: dict[str, int] = {}
        for index in range(self._places):
            for name, at in self._records(index):
                found[name] = found.get(name, 0) + self._words[at]
        return found

    def exposition(self, collector: Collector) -> str:
        """Return all metrics as Prometheus reads them. Counters are integers, written in full."""
        totals = self.totals()
        lines: list[str] = []

        def family(name: str, kind: str, words: str) -> None:
            lines.extend([f"# HELP dither_{name} {words}", f"# TYPE dither_{name} {kind}"])

        for name, known in _FAMILIES.items():
            family(name, known.kind, known.words)
            if known.kind == "histogram":
                lines.extend(_histogram(name, known, totals))
                continue
            samples = {key: number for key, number in totals.items() if key.partition("{")[0] == name}
            if not samples and name not in ("reports_total", "refused_total"):
                samples = {name: 0}
            lines.extend(f"dither_{key} {number}" for key, number in sorted(samples.items()))
        family("stored_reports", "gauge", "Reports in the store, by campaign and question; all collectors'.")
        for published in collector.campaigns.values():
            for question in published.contract.questions:
                labels = label_text(campaign=published.id[:16], question=question)
                lines.append(f"dither_stored_reports{labels} {collector.live.n(published.id, question)}")
        family("campaigns", "gauge", "Campaigns that are published.")
        lines.append(f"dither_campaigns {len(collector.campaigns)}")
        family("start_time_seconds", "gauge", "When the collector was started, in seconds since 1970.")
        lines.append(f"dither_start_time_seconds {self._words[0]}")
        return "\n".join(lines) + "\n"


def _histogram(name: str, known: _Metric, totals: dict[str, int]) -> Iterator[str]:
    count = 0
    for bucket, bound in enumerate((*known.bounds, None)):
        count += totals.get(f"{name}/{bucket}", 0)
        upper = "+Inf" if bound is None else _in_units(bound, known.divisor)
        yield f'dither_{name}_bucket{{le="{upper}"}} {count}'
    yield f"dither_{name}_sum {_in_units(totals.get(f'{name}/sum', 0), known.divisor)}"
    yield f"dither_{name}_count {count}"


def _in_units(number: int, divisor: int) -> str:
    """Return an integer divided by a power of ten, with all its digits."""
    if divisor == 1:
        return str(number)
    return f"{number // divisor}.{number % divisor:0{len(str(divisor)) - 1}d}"


def label_text(**labels: str) -> str:
    """Return labels as Prometheus writes them, with quotes, backslashes and line ends escaped."""
    texts = {
        name: text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        for name, text in labels.items()
    }
    return "{" + ",".join(f'{name}="{text}"' for name, text in texts.items()) + "}"


def _size(indices: int) -> int:
    return _BEGIN * _WORD + indices * _PART


def shared_file(places: int) -> int:
    """Return the handle of a file in memory, or of an unnamed temporary file, for signals of processes."""
    if hasattr(os, "memfd_create"):
        handle = os.memfd_create("dither-signals")
    else:
        with tempfile.TemporaryFile() as made:
            handle = os.dup(made.fileno())
    os.truncate(handle, _size(places))
    os.set_inheritable(handle, True)
    return handle
