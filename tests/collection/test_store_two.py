"""Two collectors on one store: of SQLite the second is refused, under whatever name it asks for the file."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from dither.collection.live import Slot
from dither.collection.store.postgresql import PostgresqlStore
from dither.collection.store.sqlite import SqliteStore
from dither.collection.store.store import StoreUnusable
from tests.collection.campaigns import DAY, published
from tests.collection.test_store import arrived


def test_a_second_collector_is_refused_under_every_name(tmp_path: Path) -> None:
    """A lock beside the name that was given would be another one for a link."""
    place, folder = tmp_path / "store.sqlite", tmp_path / "link"
    store = SqliteStore(place, synchronous="OFF")
    folder.symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "other.sqlite").symlink_to(place)
    (tmp_path / "sub").mkdir()
    names = (
        place,
        folder / "store.sqlite",
        tmp_path / "other.sqlite",
        tmp_path / "sub" / ".." / "store.sqlite",
    )
    for name in names:
        with pytest.raises(StoreUnusable, match="in use"):
            SqliteStore(name)
    os.link(place, tmp_path / "hard.sqlite")
    with pytest.raises(StoreUnusable, match="hard link"):
        SqliteStore(tmp_path / "hard.sqlite")
    store.close()
    (tmp_path / "hard.sqlite").unlink()
    for name in names:
        SqliteStore(name).close()
    assert not (tmp_path / "other.sqlite.lock").exists()


@pytest.mark.parametrize("kind", ["slots", "identities"])
def test_two_processes_that_store_the_same_things_in_another_order_do_not_wait_for_each_other(
    kind: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database ends one of two such transactions ("deadlock detected"): 503 at the start of a day."""
    stores = [PostgresqlStore(database) for _ in range(2)]
    stores[0].publish(published())
    batches = [arrived(1, label="1.0"), arrived(2)]
    if kind == "identities":  # the slots are there; the first identity is inserted, and then the other
        stores[0].append([arrived(3, label="1.0"), arrived(4)])
    with stores[0]._transaction(begun=True) as sql:  # who begins a day is alone
        stores[0]._known_slots(sql, {DAY.toordinal()})
    both = threading.Barrier(2)

    def meet() -> None:
        with suppress(threading.BrokenBarrierError):  # one of them waits for the other in the database
            both.wait(0.5)

    slot, insert = PostgresqlStore._slot, PostgresqlStore._insert

    def slowly(self: PostgresqlStore, sql: Any, asked: Slot, made: dict[Slot, int]) -> int:
        number = slot(self, sql, asked, made)
        meet()
        return number

    def one_by_one(
        self: PostgresqlStore, sql: Any, tick: int, rows: list[Any], *, more: bool = False
    ) -> set[bytes]:
        found: set[bytes] = set()
        for row in rows:
            found |= insert(self, sql, tick, [row], more=more)
            meet()
        return found

    if kind == "slots":
        monkeypatch.setattr(PostgresqlStore, "_slot", slowly)
    else:
        monkeypatch.setattr(PostgresqlStore, "_insert", one_by_one)
    with ThreadPoolExecutor(2) as pool:
        done = list(
            pool.map(lambda pair: pair[0].append(pair[1]), zip(stores, (batches, batches[::-1]), strict=True))
        )
    assert sorted(outcome.name for outcomes in done for outcome in outcomes) == ["NEW"] * 2 + ["REPEATED"] * 2
    for store in stores:
        store.close()
