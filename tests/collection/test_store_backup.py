"""Backup and restore: the same counts and the same recognised identities, from either kind into either."""

from __future__ import annotations

from pathlib import Path

import pytest

from dither.collection.collector import Collector
from dither.collection.refusals import Reason
from dither.collection.settings import Settings
from dither.collection.store.backup import backup, restore
from dither.collection.store.opening import open_store
from dither.collection.store.store import RefusedKey, Stored, StoreUnusable
from dither.errors import InvalidParameter
from tests.collection.campaigns import DAY, published
from tests.collection.conftest import MakeStore
from tests.collection.test_store import CAMPAIGN, NEXT, arrived, counts, expected
from tests.support.terminal import run


def test_a_backup_is_restored_into_either_kind(
    make_store: MakeStore, address: str, tmp_path: Path, database: str
) -> None:
    store = make_store()
    store.publish(published())
    batches = [arrived(seed, 1 + seed % 2, (DAY, NEXT)[seed % 2]) for seed in range(30)]
    store.append(batches)
    store.fold(CAMPAIGN.id, DAY, Collector(store, Settings()).live)
    store.refuse({RefusedKey("", DAY, Reason.RATE): 4})
    copy = tmp_path / "monday.backup"
    assert backup(address, copy) == 30  # while the collector runs
    assert copy.stat().st_mode & 0o777 == 0o600
    store.append([arrived(77)])
    with pytest.raises(InvalidParameter, match="exists"):
        backup(address, copy)
    targets = [str(tmp_path / "restored.sqlite")]
    if not address.startswith("postgresql"):
        targets.append(database)
    for target in targets:
        done = run("collector", "restore", copy, target)
        assert done.output == "30 batches restored\n"
        made = open_store(target)
        assert counts(made) == expected(batches)
        assert made.append([*batches, arrived(78)]) == [*[Stored.REPEATED] * 30, Stored.NEW]
        assert made.refusals() == store.refusals()
        made.close()
        with pytest.raises((InvalidParameter, StoreUnusable), match=r"exists|empty"):
            restore(copy, target)
    told = run("collector", "backup", address, tmp_path / "tuesday.backup").output
    assert told.startswith("31 batches in ")


def test_what_is_no_backup_is_refused(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.backup"
    wrong.write_bytes(b"hello" * 1000)
    with pytest.raises(StoreUnusable, match="not a collector"):
        restore(wrong, str(tmp_path / "store.sqlite"))
    with pytest.raises(StoreUnusable, match="file not found"):
        backup(str(tmp_path / "none.sqlite"), tmp_path / "none.backup")
    assert not (tmp_path / "store.sqlite").exists()
    assert not (tmp_path / "none.backup").exists()


def test_a_damaged_backup_is_refused(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "store.sqlite"))
    store.publish(published())
    store.append([arrived(seed) for seed in range(5000)])
    copy = tmp_path / "monday.backup"
    backup(str(tmp_path / "store.sqlite"), copy)
    store.close()
    data = bytearray(copy.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 4096] = bytes(4096)
    copy.write_bytes(data)
    with pytest.raises(StoreUnusable, match="damaged"):
        restore(copy, str(tmp_path / "restored.sqlite"))
    assert not (tmp_path / "restored.sqlite").exists()
