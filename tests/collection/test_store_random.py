"""Random operations of several processes on one PostgreSQL store: a stored batch is counted exactly once."""

from __future__ import annotations

import datetime
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from dither.collection.collector import Collector
from dither.collection.settings import Settings
from dither.collection.store import postgresql, segments
from dither.collection.store.backup import backup, restore
from dither.collection.store.postgresql import PostgresqlStore
from dither.collection.store.store import Arrived, Stored, StoreUnavailable, StoreUnusable, Withdrawal
from tests.collection.campaigns import DAY, published
from tests.collection.test_store import CAMPAIGN, arrived, counts, expected
from tests.collection.test_store_days import on

DAYS = [DAY + datetime.timedelta(number) for number in range(4)]
LATER = DAY + datetime.timedelta(30)
FAULT = "a fault of this test"
PROCESSES, PHASES, STEPS, BATCHES = 3, 4, 24, 120


class Model:
    """The acknowledged batches. `lost` may be stored: their process got an error instead of an answer."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.stored: dict[bytes, Arrived] = {}
        self.lost: dict[bytes, Arrived] = {}
        self.gone: list[Arrived] = []  # withdrawn before they came
        self.forgotten: dict[bytes, Arrived] = {}

    def note(self, batches: list[Arrived], results: list[Stored]) -> None:
        with self.lock:
            for batch, result in zip(batches, results, strict=True):
                if result is Stored.NEW:
                    assert batch.id not in self.stored, "a batch was stored twice"
                    assert all(batch.id != other.id for other in self.gone), "a withdrawn batch was stored"
                    self.stored[batch.id] = batch
                else:
                    assert result is Stored.REPEATED


class Process:
    """A collector that does random operations."""

    def __init__(self, address: str, model: Model, seed: str, faults: bool) -> None:
        self.address, self.model, self.faults = address, model, faults
        self.random = random.Random(seed)
        self.looks = self.random.random() < 0.8  # otherwise it reads seldom what others stored
        self.start()

    def start(self) -> None:
        store = PostgresqlStore(self.address)
        collector = Collector(store, Settings(), lambda: LATER)
        insert = store._insert

        def slowly(*given: Any, **more: Any) -> set[bytes]:
            """Pause after the present segment was read, and after the batches were inserted; or fail."""
            time.sleep(self.random.choice([0, 0, 0.001, 0.03]))
            found = insert(*given, **more)
            time.sleep(self.random.choice([0, 0, 0.001, 0.03]))
            if self.faults and self.random.random() < 0.05:
                raise store._psycopg.OperationalError(FAULT)
            return found

        store._insert = slowly  # type: ignore[method-assign]
        self.store, self.collector = store, collector

    def run(self, days: list[datetime.date], numbers: range) -> None:
        for _ in range(STEPS):
            (step,) = self.random.choices(
                [self.append, self.look, self.withdraw, self.fold, self.stop, self.restart, self.kill],
                [12, 6 if self.looks else 0.5, 1, 0.5, 0.5, 0.3, 0.7 if self.faults else 0],
            )
            try:
                step(days, numbers)
            except StoreUnavailable as error:
                if not self.faults and "another process folded" not in str(error) and FAULT not in str(error):
                    raise

    def append(self, days: list[datetime.date], numbers: range) -> None:
        day = self.random.choice(days[-2:])
        some = [self.batch(self.random.choice(numbers), day) for _ in range(self.random.randint(1, 6))]
        with self.model.lock:
            known = [*self.model.stored.values(), *self.model.gone]
        some += [on(one, day) for one in self.random.sample(known, min(len(known), 3))]
        if self.random.random() < 0.1:  # around midnight one group has two days
            some.append(self.batch(self.random.choice(numbers), self.random.choice(days)))
        self.random.shuffle(some)
        try:
            self.model.note(some, self.store.append(some))
        except StoreUnavailable:
            with self.model.lock:
                self.model.lost |= {batch.id: batch for batch in some}
            raise

    def batch(self, number: int, day: datetime.date) -> Arrived:
        return on(arrived(number, 1 + number % 2), day)

    def look(self, *_: object) -> None:
        self.collector.catch_up()

    def withdraw(self, days: list[datetime.date], _: range) -> None:
        gone = arrived(self.random.randrange(10**6, 10**9))
        self.store.withdraw([Withdrawal(gone.id, CAMPAIGN.id, days[-1])])
        with self.model.lock:
            self.model.gone.append(gone)

    def fold(self, days: list[datetime.date], _: range) -> None:
        self.collector.fold(CAMPAIGN.id, self.random.choice(days))

    def stop(self, *_: object) -> None:
        """Lose the database while the news are read."""
        news, count = self.store.news, self.random.randrange(3)

        def broken() -> Iterator[Any]:
            with closing(news()) as items:  # type: ignore[type-var]
                yield from islice(items, count)
                raise StoreUnavailable(FAULT)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(self.store, "news", broken)
            self.collector.catch_up()

    def restart(self, *_: object) -> None:
        self.store.close()
        retried(self.start)

    def kill(self, *_: object) -> None:
        """End all connections, of this process and of the others."""
        self.store._connection().execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid() AND random() < 0.7"
        )


def retried(action: Callable[[], Any]) -> Any:
    """Repeat an operation whose connection was ended before."""
    for _ in range(5):
        try:
            return action()
        except (StoreUnavailable, StoreUnusable):
            pass
    return action()


def between(processes: list[Process], model: Model, days: list[datetime.date], folder: Path) -> None:
    """Do one of the operations that change what is known, while no process stores."""
    one = processes[0]
    kind = one.random.choice(["nothing", "forget", "delete", "restore"])
    if kind == "forget":

        def forget() -> None:
            one.collector.catch_up()
            one.store.fold(CAMPAIGN.id, days[0], one.collector.live, days[1])
            one.store.forget({CAMPAIGN.id: days[1]})

        retried(forget)
        gone = {name: batch for name, batch in model.stored.items() if batch.parts[0][0].day == days[0]}
        model.forgotten |= gone
        model.stored = {name: batch for name, batch in model.stored.items() if name not in gone}
        model.gone = []
    if kind in ("delete", "restore"):
        copy = folder / str(len(list(folder.iterdir())))
        if kind == "restore":
            backup(one.address, copy)
        retried(lambda: one.collector.delete(CAMPAIGN.id))
        if kind == "restore":
            tables = "dither_campaigns, dither_withdrawn, dither_refused, dither_exports, dither_slots"
            retried(lambda: one.store._connection().execute(f"TRUNCATE {tables}"))
            restore(copy, one.address)
        else:
            model.stored, model.gone, model.forgotten = {}, [], {}


def attacked(database: str, folder: Path, seed: int) -> int:
    """Run random operations; return the number of batches that were stored."""
    chosen, model, faults = random.Random(seed), Model(), seed % 2 == 1
    with pytest.MonkeyPatch.context() as patch, closing(PostgresqlStore(database)) as first:
        patch.setattr(segments, "_INDEXES", chosen.choice([1, 1, 50_000]))
        patch.setattr(segments, "PATIENCE", chosen.choice(["5ms", "1s"]))
        patch.setattr(postgresql, "_PAUSE", 0)
        first.publish(published())
        processes = [Process(database, model, f"{seed} {number}", faults) for number in range(PROCESSES)]
        for phase in range(PHASES):
            days, numbers = DAYS[: 2 + phase % 3], range(phase * 1000, phase * 1000 + BATCHES)
            with ThreadPoolExecutor(PROCESSES) as pool:
                list(pool.map(lambda one, days=days, numbers=numbers: one.run(days, numbers), processes))
            for batch in list(model.lost.values()):  # the devices try again
                if batch.id not in model.stored:
                    result = retried(lambda batch=batch: processes[-1].store.append([batch]))
                    assert result in ([Stored.NEW], [Stored.REPEATED])
                    if all(batch.id != other.id for other in model.gone):
                        model.stored[batch.id] = batch
            model.lost = {}
            agree(database, model, processes)
            if phase < PHASES - 1:
                between(processes, model, days, folder)
                agree(database, model, processes)
        for one in processes:
            one.store.close()
    return len(model.stored) + len(model.forgotten)


def agree(database: str, model: Model, processes: list[Process]) -> None:
    """Every process, and one that starts now, has counted exactly the stored batches."""
    right = expected([*model.stored.values(), *model.forgotten.values()])
    with closing(PostgresqlStore(database)) as fresh:
        assert counts(fresh) == right
    for one in processes:
        retried(one.look)
        retried(one.look)
        live = one.collector.live
        assert {name: live.summary(CAMPAIGN.id, name) for name in CAMPAIGN.questions} == right


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_every_batch_is_counted_once_whatever_processes_do(database: str, tmp_path: Path, seed: int) -> None:
    assert attacked(database, tmp_path, seed) > 50
