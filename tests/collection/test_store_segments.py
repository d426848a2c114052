"""Segments of a PostgreSQL store: a batch is recognised in each of them, and few of them are read."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from dither.collection.store import segments
from dither.collection.store.backup import backup, restore
from dither.collection.store.postgresql import PostgresqlStore
from dither.collection.store.segments import list_segments
from dither.collection.store.sqlite import SqliteStore
from dither.collection.store.store import Arrived, Stored, Withdrawal
from tests.collection.campaigns import DAY, published
from tests.collection.test_store import CAMPAIGN, NEXT, arrived, counts, expected


def look(store: PostgresqlStore) -> None:
    """Read what others stored, as a collector does every second."""
    store.reload()
    for _ in store.news():
        pass


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look begins another segment."""
    monkeypatch.setattr(segments, "_INDEXES", 1)


@pytest.mark.usefixtures("small")
def test_a_batch_is_recognised_in_every_segment_by_every_process(database: str) -> None:
    stores = [PostgresqlStore(database) for _ in range(2)]
    stores[0].publish(published())
    batches = [arrived(seed, 1 + seed % 2) for seed in range(12)]
    for number in range(0, 12, 3):
        store, other = stores[number % 2], stores[1 - number % 2]
        assert store.append(batches[number : number + 3]) == [Stored.NEW] * 3
        look(store)  # the other one has not read these identities, and the segment is closed
        assert other.append(batches[number : number + 3]) == [Stored.REPEATED] * 3
        if number % 2:
            look(other)
    assert len(list_segments(stores[0]._connection())) > 4
    stores.append(PostgresqlStore(database))
    for store in stores:  # the last one has read nothing
        assert set(store.append(batches)) == {Stored.REPEATED}
        look(store)
        assert set(store.append(batches)) == {Stored.REPEATED}
    gone = arrived(50)
    stores[0].withdraw([Withdrawal(batches[0].id, CAMPAIGN.id, DAY), Withdrawal(gone.id, CAMPAIGN.id, DAY)])
    look(stores[1])
    assert stores[1].append([batches[0], gone]) == [Stored.REPEATED] * 2
    for store in stores:
        store.close()


@pytest.mark.usefixtures("small")
def test_segments_that_are_over_are_not_read(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cost of a batch does not grow with their number."""
    store = PostgresqlStore(database)
    store.publish(published())
    for seed in range(5):
        store.append([arrived(seed)])
        look(store)
    texts: list[str] = []
    execute = store._psycopg.Connection.execute

    def watched(self: Any, query: Any, *given: Any, **more: Any) -> Any:
        texts.append(str(query))
        return execute(self, query, *given, **more)

    monkeypatch.setattr(store._psycopg.Connection, "execute", watched)

    def reads() -> list[str]:
        found = [text for text in texts if "segment = " in text or "dither_segments" in text]
        texts.clear()
        return found

    assert store.append([arrived(seed) for seed in range(20, 30)]) == [Stored.NEW] * 10
    assert reads() == []
    assert store.append([arrived(3), arrived(31)]) == [Stored.REPEATED, Stored.NEW]
    assert len(reads()) == 1
    store.close()


@pytest.mark.usefixtures("small")
def test_processes_that_store_the_same_batches_while_segments_begin_store_each_once(database: str) -> None:
    stores = [PostgresqlStore(database) for _ in range(3)]
    stores[0].publish(published())
    batches = [arrived(seed, day=(DAY, NEXT)[seed % 20 > 18]) for seed in range(40)]

    def run(store: PostgresqlStore) -> int:
        new = 0
        for number in range(0, 40, 4):
            new += store.append(batches[number : number + 4]).count(Stored.NEW)
            if number % 3 == stores.index(store):
                look(store)
        return new

    with ThreadPoolExecutor(3) as pool:
        assert sum(pool.map(run, stores)) == 40
    other = PostgresqlStore(database)
    assert counts(other) == expected(batches)
    other.close()
    for store in stores:
        store.close()


@pytest.mark.parametrize("closed", [False, True])
def test_identities_of_a_segment_that_was_opened_again_are_known_after_it_closes(
    database: str, monkeypatch: pytest.MonkeyPatch, closed: bool
) -> None:
    """A look skips a segment that is the present one, or that closed in a tick that is not over."""
    store, other = PostgresqlStore(database), PostgresqlStore(database)
    store.publish(published())
    store.append([arrived(1)])
    store.append([arrived(2, day=NEXT)])
    look(store)
    store.append([arrived(3, day=NEXT)])
    look(store)  # the filter has the first segment
    last_tick = store.last_tick

    def late() -> int:
        over = last_tick()
        other.append([arrived(8)])
        other.append([arrived(9, day=NEXT)])
        return over

    store.append([arrived(4)])
    if closed:
        store.append([arrived(5, day=NEXT)])
        monkeypatch.setattr(store, "last_tick", late)
    look(store)
    monkeypatch.undo()
    store.append([arrived(6)])
    store.append([arrived(7, day=NEXT)])
    look(store)
    copies = [Arrived(arrived(seed).id, arrived(seed, day=NEXT).parts) for seed in (1, 4, 6)]
    results = store.append(copies)
    for one in (store, other):
        one.close()
    assert results == [Stored.REPEATED] * 3


def test_identities_of_a_restored_backup_are_looked_up(database: str, tmp_path: Path) -> None:
    """A process that had read later ticks of the same database does not know them."""
    batches = [arrived(seed, day=(DAY, NEXT)[seed > 3]) for seed in range(5)]
    file = SqliteStore(tmp_path / "store.sqlite", synchronous="OFF")
    file.publish(published())
    file.append(batches)
    file.close()
    backup(str(tmp_path / "store.sqlite"), tmp_path / "copy")
    store = PostgresqlStore(database)
    for seed in range(10, 20):
        store.append([arrived(seed, day=NEXT)])
        look(store)
    store.delete(CAMPAIGN.id)
    look(store)
    restore(tmp_path / "copy", database)
    copies = [Arrived(batch.id, arrived(seed, day=NEXT).parts) for seed, batch in enumerate(batches)]
    assert store.append(copies) == [Stored.REPEATED] * 5
    store.close()


def test_a_backup_is_restored_where_a_segment_was_the_present_one(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = SqliteStore(tmp_path / "store.sqlite", synchronous="OFF")
    file.publish(published())
    file.append([arrived(1)])
    file.close()
    backup(str(tmp_path / "store.sqlite"), tmp_path / "copy")
    store = PostgresqlStore(database)
    store.append([arrived(2, day=NEXT)])
    monkeypatch.setattr(segments, "_INDEXES", 1)
    look(store)  # begins a segment, which never closes
    monkeypatch.undo()
    store.delete(CAMPAIGN.id)
    restore(tmp_path / "copy", database)
    store.append([arrived(3)])
    store.append([arrived(4)])
    look(store)
    other = PostgresqlStore(database)
    assert counts(other) == expected([arrived(seed) for seed in (1, 3, 4)])
    for one in (store, other):
        one.close()


def test_a_segment_begins_when_the_indexes_of_the_present_one_are_large(database: str) -> None:
    store = PostgresqlStore(database)
    store.publish(published())
    assert store.append([arrived(1)]) == [Stored.NEW]
    present = DAY.toordinal() << segments.DAY
    with store._transaction() as sql:
        (number,) = sql.execute("SELECT number FROM dither_slots").fetchone() or (0,)
        sql.execute(
            "INSERT INTO dither_reports SELECT uuid_send(gen_random_uuid()), 0, %s, 1, '', %s "
            "FROM generate_series(1, 3000)",
            (number, present),
        )
    look(store)
    assert list(list_segments(store._connection())) == [present]  # 64 MB are many more
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "_INDEXES", 100_000)
        look(store)
        look(store)
    assert list(list_segments(store._connection())) == [present, present + 1]
    store.close()
