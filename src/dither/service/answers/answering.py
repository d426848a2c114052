"""Answers of a collector: computed in threads, kept until the number of reports has changed."""

from __future__ import annotations

import asyncio
import datetime
import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final, final

from dither.service.answers.query import By, Query, What, usual_quantity
from dither.service.answers.rows import (
    FEW,
    MANY_BINS,
    MANY_LOOKS,
    PlainRow,
    ReportsPart,
    look_of,
    rows,
    without_answer,
)
from dither.service.collector import Collector

_THREADS: Final = 2
_KEPT: Final = 4096  # answers that are remembered
_WAITING: Final = 64  # that may wait; beyond, the collector says that it is busy

Key = tuple[str, Query]


class TooBusy(Exception):
    """More answers are asked for than can be computed soon."""


@final
class Answers:
    """What a collector says about its campaigns. Nothing is computed on the event loop.

    An answer is computed once for each number of reports. The intervals of quantiles and distributions are
    renewed when that number has grown by a factor of 1.2, so that 100 looks last from the minimum crowd to 80
    million times as many; between these looks the interval of the last one is shown, with its number of
    reports.
    """

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="dither-answers")
        self._kept: OrderedDict[Key, tuple[int, list[PlainRow]]] = OrderedDict()
        self._looks: OrderedDict[Key, tuple[int, list[PlainRow]]] = OrderedDict()
        self._lock = threading.Lock()
        self._waiting = 0

    async def of(self, campaign: str, queries: list[Query]) -> list[PlainRow]:
        """Return the rows of all queries; raise TooBusy if too many answers are being computed."""
        known = self._known(campaign, queries)
        if known is not None:
            return known
        if self._waiting >= _WAITING:
            raise TooBusy
        self._waiting += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._pool, self.compute, campaign, queries)
        finally:
            self._waiting -= 1

    def compute(self, campaign: str, queries: list[Query]) -> list[PlainRow]:
        """Return the rows of all queries, in the thread that asks."""
        return [row for query in queries for row in self._answer(campaign, query)]

    def _known(self, campaign: str, queries: list[Query]) -> list[PlainRow] | None:
        """Return the rows if all are up to date: then nothing has to be computed."""
        found: list[PlainRow] = []
        for query in queries:
            if query.by is not None:
                return None
            n = self._collector.live.n(campaign, query.question, query.day, query.label, shown=True)
            with self._lock:
                kept = self._kept.get((campaign, query))
            if kept is None or kept[0] != n:
                return None
            found += kept[1]
        return found

    def _answer(self, campaign: str, query: Query) -> list[PlainRow]:
        live = self._collector.live
        if query.by is By.DAY:
            days = live.days(campaign, query.question, shown=True)
            return [row for day in days for row in self._answer(campaign, replace(query, by=None, day=day))]
        if query.by is By.LABEL:
            labels = live.labels(campaign, query.question, shown=True)
            parts = [replace(query, by=None, label=label) for label in labels]
            return [row for part in parts for row in self._answer(campaign, part)]
        return self._part(campaign, query)

    def _part(self, campaign: str, query: Query) -> list[PlainRow]:
        live = self._collector.live
        key, n = (campaign, query), live.n(campaign, query.question, query.day, query.label, shown=True)
        with self._lock:
            kept = self._kept.get(key)
        if kept is not None and kept[0] == n:
            return kept[1]
        people = self._collector.campaigns[campaign].contract.people
        part = ReportsPart(_iso(query.day), query.label)
        whole = query.day is None and query.label is None
        waiting = live.waiting(campaign, query.question) if whole else 0  # of a part nobody is told
        if not n and (waiting or not whole):
            mechanism = live.mechanism(campaign, query.question)
            name = usual_quantity(mechanism) if query.what is What.USUAL else query.quantity
            reason = f"answers are shown from {people} reports on"
            return [without_answer(query, part, waiting, FEW, reason, name)]
        summary = live.summary(campaign, query.question, query.day, query.label, shown=True)
        made = self._with_interval_of_look(key, rows(query, part, summary), look_of(summary.n, people))
        if summary.n:
            self._keep(self._kept, key, (summary.n, made))
        return made

    def _with_interval_of_look(self, key: Key, made: list[PlainRow], look: int) -> list[PlainRow]:
        """Return the rows with the intervals of the present look, which may be of fewer reports."""
        if made[0]["interval"] not in (MANY_LOOKS, MANY_BINS):
            return made
        with self._lock:
            before = self._looks.get(key)
        same = before is not None and before[0] == look and len(before[1]) == len(made)
        if before is None or not same:
            self._keep(self._looks, key, (look, made))
            return made
        kept = ("low", "high", "n of interval")
        pairs = zip(made, before[1], strict=True)
        return [{**row, **{name: old[name] for name in kept}} for row, old in pairs]

    def _keep(
        self, where: OrderedDict[Key, tuple[int, list[PlainRow]]], key: Key, value: tuple[int, list[PlainRow]]
    ) -> None:
        with self._lock:
            where[key] = value
            where.move_to_end(key)
            while len(where) > _KEPT:
                where.popitem(last=False)

    def close(self) -> None:
        """Stop the threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _iso(day: datetime.date | None) -> str | None:
    return None if day is None else day.isoformat()
