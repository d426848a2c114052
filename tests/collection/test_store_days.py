"""Days of a PostgreSQL store: a batch is recognised on another day, and a day that is over is dropped."""

from __future__ import annotations

import datetime
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest

from dither.collection.collector import Collector
from dither.collection.settings import Settings
from dither.collection.store.postgresql import PostgresqlStore
from dither.collection.store.segments import DAY as BITS
from dither.collection.store.segments import list_segments
from dither.collection.store.store import Arrived, Stored, Withdrawal
from tests.collection.campaigns import DAY, published
from tests.collection.test_store import CAMPAIGN, NEXT, arrived, counts, expected

LATER = DAY + datetime.timedelta(20)


def on(batch: Arrived, day: datetime.date, campaign: str = CAMPAIGN.id) -> Arrived:
    """Return a batch with another day, or for another campaign."""
    parts = ((slot._replace(day=day, campaign=campaign), data) for slot, data in batch.parts)
    return Arrived(batch.id, tuple(parts))


def partitions(store: PostgresqlStore) -> set[datetime.date]:
    with store._transaction() as sql:
        return {datetime.date.fromordinal(segment >> BITS) for segment in list_segments(sql)}


@pytest.mark.parametrize("isolation", ["read committed", "repeatable read"])
def test_a_batch_that_comes_to_two_processes_on_two_days_at_once_is_stored_once(
    database: str, monkeypatch: pytest.MonkeyPatch, isolation: str
) -> None:
    """Around midnight, or by a wrong clock: no index has both days. `isolation` is the database's default."""
    default = isolation.replace(" ", "\\ ")
    monkeypatch.setenv("PGOPTIONS", f"-c default_transaction_isolation={default}")
    stores = [PostgresqlStore(database) for _ in range(2)]
    stores[0].publish(published())
    stores[0].append([arrived(90), on(arrived(91), NEXT)])
    both, insert = threading.Barrier(2), PostgresqlStore._insert

    def slowly(self: PostgresqlStore, *given: Any, more: bool = False) -> set[bytes]:
        found = insert(self, *given, more=more)
        with suppress(threading.BrokenBarrierError):  # the other one waits for this one's transaction
            both.wait(0.5)
        return found

    monkeypatch.setattr(PostgresqlStore, "_insert", slowly)
    batch = arrived(1, parts=2)
    with ThreadPoolExecutor(2) as pool:
        pairs = zip(stores, (batch, on(batch, NEXT)), strict=True)
        done = [outcome for (outcome,) in pool.map(lambda pair: pair[0].append([pair[1]]), pairs)]
    monkeypatch.undo()
    assert sorted(done, key=lambda outcome: outcome.name) == [Stored.NEW, Stored.REPEATED]
    assert counts(stores[0]) == expected([batch, arrived(90), arrived(91)])
    for day in (DAY, LATER):  # also long after, and of a clock that is late
        assert stores[1].append([on(batch, day), on(arrived(90), day)]) == [Stored.REPEATED] * 2
    gone = arrived(5)
    stores[0].withdraw([Withdrawal(gone.id, CAMPAIGN.id, DAY)])
    assert stores[1].append([on(gone, NEXT)]) == [Stored.REPEATED]
    for store in stores:
        store.close()


def test_a_day_that_is_over_is_dropped(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = PostgresqlStore(database)
    store.publish(published())
    batches = [on(arrived(seed, 2), DAY if seed < 30 else LATER) for seed in range(40)]
    store.append(batches)
    collector = Collector(store, Settings(), lambda: LATER)
    written: list[str] = []
    execute = store._psycopg.Cursor.executemany

    def watched(self: Any, query: Any, rows: Any, **given: Any) -> Any:
        rows = list(rows)
        written.extend(str(query) for _ in rows)
        return execute(self, query, rows, **given)

    monkeypatch.setattr(store._psycopg.Cursor, "executemany", watched)
    collector.tidy()
    assert not any("UPDATE dither_reports" in query for query in written)  # nothing is written twice
    assert partitions(store) == {LATER}
    with store._transaction() as sql:
        assert (sql.execute("SELECT count(*) FROM dither_reports").fetchone() or ())[0] == 20
    other = PostgresqlStore(database)
    assert counts(other) == expected(batches)
    other.close()
    assert store.append([batches[0], batches[35]]) == [Stored.NEW, Stored.REPEATED]  # of a clock that is late
    assert partitions(store) == {DAY, LATER}
    store.close()


def test_a_day_that_is_read_is_dropped_later(database: str) -> None:
    """An export that began before sees all of it, and the collector goes on."""
    store, other = PostgresqlStore(database), PostgresqlStore(database)
    store.publish(published())
    batches = [arrived(seed) for seed in range(30)]
    store.append([*batches, on(arrived(30), LATER)])
    collector = Collector(store, Settings(), lambda: LATER)
    store.fold(CAMPAIGN.id, DAY, collector.live, NEXT)
    with other.snapshot() as sql:
        assert store.forget({CAMPAIGN.id: NEXT}) == 0
        assert store.append([on(arrived(31), LATER)]) == [Stored.NEW]
        assert store.append([batches[0]]) == [Stored.REPEATED]  # folded, and not forgotten yet
        assert (sql.execute("SELECT count(*) FROM dither_reports").fetchone() or ())[0] == 32
    store.fold(CAMPAIGN.id, DAY, collector.live, NEXT)  # that batch made a slot
    assert store.forget({CAMPAIGN.id: NEXT}) == 30
    assert partitions(store) == {LATER}
    assert counts(other) == expected([*batches, arrived(30), arrived(31)])
    other.close()
    store.close()


def test_a_day_that_another_campaign_needs_stays(database: str) -> None:
    store, long = PostgresqlStore(database), published(name="other", retry=20)
    for one in (published(), long):
        store.publish(one)
    batches = [arrived(seed) for seed in range(30)]
    kept = [on(arrived(seed), DAY, long.id) for seed in range(50, 60)]
    store.append([*batches, *kept])
    collector = Collector(store, Settings(), lambda: LATER)
    collector.fold(CAMPAIGN.id, DAY)
    assert store.forget({CAMPAIGN.id: NEXT, long.id: DAY}) == 30
    assert partitions(store) == {DAY}
    assert store.append(kept) == [Stored.REPEATED] * 10
    assert store.append(batches[:1]) == [Stored.NEW]
    collector.fold(CAMPAIGN.id, DAY)
    collector.fold(long.id, DAY)
    assert store.append(kept) == [Stored.REPEATED] * 10
    collector.catch_up()
    store.fold(long.id, DAY, collector.live, NEXT)
    assert store.forget({CAMPAIGN.id: NEXT, long.id: NEXT}) == 11
    assert partitions(store) == set()
    assert store.append(kept[:1]) == [Stored.NEW]
    store.close()
