"""Stores of earlier releases are brought forward, with a copy before, and two releases use one store."""

from __future__ import annotations

import datetime
import gzip
import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dither.collection.collector import Collector
from dither.collection.live import Slot
from dither.collection.settings import Settings
from dither.collection.store import versions
from dither.collection.store.backup import backup, migrate, restore
from dither.collection.store.opening import is_postgresql, open_store
from dither.collection.store.sqlite import APPLICATION
from dither.collection.store.store import (
    Arrived,
    CollectorStore,
    Stored,
    StoreUnavailable,
    StoreUnusable,
)
from dither.collection.store.versions import MIGRATIONS, Migration, present_version
from dither.core.batch import identity_digest
from tests.collection.campaigns import published
from tests.collection.conftest import MakeStore
from tests.collection.test_store import arrived, counts, expected
from tests.support.repository import TESTS
from tests.support.terminal import run

FILES = TESTS / "golden" / "files"
GOLDEN = json.loads((FILES / "store-2.json").read_text(encoding="utf-8"))
ADDED = Migration(9, oldest=4, statements="CREATE TABLE {0}more (x INTEGER);")  # of a release to come
CHANGED = Migration(10, oldest=10, statements="ALTER TABLE {0}reports ADD COLUMN more INTEGER DEFAULT 0;")


def golden(folder: Path) -> Path:
    """Return the store that the release with version 2 left, in a folder."""
    place = folder / "store.sqlite"
    place.write_bytes(gzip.decompress((FILES / "store-2.sqlite.gz").read_bytes()))
    return place


def old_database(folder: Path, database: str) -> None:
    """Make a database as the release with version 2 left it."""
    import psycopg

    restore(golden(folder), database)
    with psycopg.connect(database) as sql:
        sql.execute(
            "DROP TABLE dither_versions, dither_exports, dither_notes, dither_withdrawn, dither_segments"
        )
        sql.execute("ALTER TABLE dither_slots DROP COLUMN tick")
        sql.execute("ALTER TABLE dither_meta DROP COLUMN segment, DROP COLUMN closed")
        sql.execute("ALTER TABLE dither_reports RENAME TO days")
        columns = "id BYTEA NOT NULL, part INTEGER NOT NULL, slot INTEGER NOT NULL, tick BIGINT NOT NULL"
        sql.execute(f"CREATE TABLE dither_reports ({columns}, data BYTEA NOT NULL, PRIMARY KEY (id, part))")
        sql.execute("INSERT INTO dither_reports SELECT id, part, slot, tick, data FROM days")
        sql.execute("DROP TABLE days")
        sql.execute("CREATE INDEX dither_news ON dither_reports (tick)")
        sql.execute("UPDATE dither_meta SET version = 2")
        with closing(sqlite3.connect(folder / "store.sqlite")) as file, sql.cursor() as cursor:
            ids = [identity for (identity,) in file.execute("SELECT DISTINCT id FROM reports").fetchall()]
            rows = [(identity, identity_digest(identity)) for identity in ids]
            cursor.executemany("UPDATE dither_reports SET id = %s WHERE id = %s", rows)


def check_golden(store: CollectorStore) -> None:
    """Check the counts, what is shown and what waits, the refusals, and that batches are recognised."""
    live = Collector(store, Settings()).live
    for name, known in GOLDEN["questions"].items():
        summary = live.summary(GOLDEN["campaign"], name)
        assert summary.n == known["n"]
        assert live.n(GOLDEN["campaign"], name, shown=True) == known["shown"]
        assert live.waiting(GOLDEN["campaign"], name) == known["waiting"]
        assert hashlib.sha256(summary.counts.astype("<i8").tobytes()).hexdigest() == known["counts"]
    assert sum(store.refusals().values()) == GOLDEN["refused"]
    again = [
        Arrived(
            identity_digest(bytes.fromhex(batch["id"])),
            tuple(
                (Slot(campaign, question, datetime.date.fromisoformat(day), label), bytes.fromhex(data))
                for campaign, question, day, label, data in batch["parts"]
            ),
        )
        for batch in GOLDEN["batches"]
    ]
    assert store.append(again) == [Stored.REPEATED] * len(again)


def test_a_file_of_an_earlier_release_is_brought_forward_after_a_copy(tmp_path: Path) -> None:
    place = golden(tmp_path)
    before = gzip.decompress((FILES / "store-2.sqlite.gz").read_bytes())
    for _ in range(2):  # the second time there is nothing to do
        store = open_store(str(place))
        check_golden(store)
        store.probe(0)
        store.close()
    kept = tmp_path / "store.sqlite.before-4"
    assert kept.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(kept)) as one, closing(sqlite3.connect(":memory:")) as two:
        two.deserialize(before)
        assert list(one.iterdump()) == list(two.iterdump())
        assert one.execute("PRAGMA user_version").fetchone() == (2,)
    restored = tmp_path / "restored.sqlite"
    assert restore(kept, str(restored)) == 80  # the way back, for the release before
    with closing(sqlite3.connect(restored)) as sql:
        assert sql.execute("SELECT count(*) FROM reports").fetchone()[0] > 80


def test_a_migration_that_is_interrupted_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = golden(tmp_path)
    broken = MIGRATIONS[0]._replace(statements=MIGRATIONS[0].statements + "INSERT INTO {0}none VALUES (1);")
    monkeypatch.setattr(versions, "MIGRATIONS", [broken])
    with pytest.raises(StoreUnusable, match="none"):
        open_store(str(place))
    monkeypatch.undo()
    store = open_store(str(place))
    check_golden(store)
    store.close()


def test_a_database_waits_for_the_verb_and_then_goes_on(database: str, tmp_path: Path) -> None:
    old_database(tmp_path, database)
    with pytest.raises(StoreUnusable, match=r"version 2.*`dither collector migrate") as refusal:
        open_store(database)
    assert database not in str(refusal.value)  # an address may hold a password
    copy = tmp_path / "before.backup"
    told = run("collector", "migrate", database, "--backup", copy).output
    assert told == f"the store has version 4; {copy} is as it was before\n"
    assert "exists" in run("collector", "migrate", database, "--backup", copy).output
    assert json.loads(
        run("collector", "migrate", database, "--backup", copy, "--force", "--json").output
    ) == {"version": 4, "backup": str(copy)}
    for address in (database, str(tmp_path / "other.sqlite")):
        if not is_postgresql(address):
            restore(copy, address)
        store = open_store(address)
        check_golden(store)
        store.close()


def test_the_copy_before_a_migration_of_a_database_is_of_the_version_before(
    database: str, tmp_path: Path
) -> None:
    old_database(tmp_path, database)
    copy = tmp_path / "before.backup"
    migrate(database, copy)
    with sqlite3.connect(copy) as sql:
        assert sql.execute("SELECT count(*) FROM sqlite_master WHERE name = 'versions'").fetchone() == (0,)
    sql.close()


def test_two_releases_write_side_by_side(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rolling upgrade: the database is migrated below a running collector, which goes on."""
    before = open_store(database)
    before.publish(published())
    first = [arrived(seed, 2) for seed in range(10)]
    assert set(before.append(first)) == {Stored.NEW}
    with monkeypatch.context() as later:
        later.setattr(versions, "MIGRATIONS", [*MIGRATIONS, ADDED])
        later.setattr("dither.collection.store.postgresql.MIGRATIONS", [*MIGRATIONS, ADDED])
        assert migrate(database, tmp_path / "before.backup") == 9
        after = open_store(database)
    second, third = ([arrived(seed, 2) for seed in some] for some in (range(10, 20), range(20, 30)))
    assert set(before.append(second)) == {Stored.NEW}
    assert set(after.append([*third, *first])) == {Stored.NEW, Stored.REPEATED}
    assert before.append(third) == [Stored.REPEATED] * 10
    again = open_store(database)  # the release before may also be started again
    for store in (before, after, again):
        assert counts(store) == expected([*first, *second, *third])
        store.close()


def test_a_release_that_cannot_read_the_store_any_more_stops(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = open_store(database)
    before.publish(published())
    with monkeypatch.context() as later:
        later.setattr(versions, "MIGRATIONS", [*MIGRATIONS, CHANGED])
        later.setattr("dither.collection.store.postgresql.MIGRATIONS", [*MIGRATIONS, CHANGED])
        migrate(database, tmp_path / "before.backup")
    with pytest.raises(StoreUnavailable, match="later release"):
        before.append([arrived(1)])
    before.close()
    with pytest.raises(StoreUnusable, match="install a later one"):
        open_store(database)


@pytest.mark.parametrize(("version", "words"), [(1, "older than any"), (5, "install a later one")])
def test_files_of_other_versions_are_refused(version: int, words: str, tmp_path: Path) -> None:
    place = tmp_path / "store.sqlite"
    with sqlite3.connect(place) as sql:
        sql.execute(f"PRAGMA application_id = {APPLICATION}")
        sql.execute(f"PRAGMA user_version = {version}")
        sql.execute("CREATE TABLE x (y)")
    sql.close()
    for act in (lambda: open_store(str(place)), lambda: backup(str(place), tmp_path / "x.backup")):
        with pytest.raises(StoreUnusable, match=words):
            act()


def test_every_store_is_of_the_present_version(make_store: MakeStore, address: str) -> None:
    store: Any = make_store()
    if is_postgresql(address):
        assert store.version == present_version()
    store.probe(1000)
    store.probe(0)
    assert store.exported_files("none") == []
