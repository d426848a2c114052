"""Full disks, databases out of reach, restarts, signals: nothing half done, and it goes on by itself."""

from __future__ import annotations

import asyncio
import resource
import signal
import sqlite3
import time
import urllib.error
import urllib.request
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import pytest

from dither.collection.campaign import Campaign
from dither.collection.collector import Collector
from dither.collection.settings import Settings
from dither.collection.store.opening import open_store
from dither.collection.store.sqlite import SqliteStore
from dither.collection.store.store import Arrived, CollectorStore, Stored, StoreUnavailable, StoreUnusable
from tests.collection.campaigns import published
from tests.collection.load import Told, batches, send
from tests.collection.relay import Relay
from tests.collection.serving import OPEN, Process
from tests.collection.test_server_kill import PATH, digest, recount, stored
from tests.collection.test_store import CAMPAIGN, arrived, counts, expected

CONTRACT = Campaign.from_toml(OPEN)


def limits(folder: Path) -> tuple[str, str]:
    (folder / "limits.toml").write_text("rate = 1000000.0\nburst = 1000000\n", encoding="utf-8")
    return "--settings", str(folder / "limits.toml")


def test_a_full_disk_refuses_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    """The limit of a file's size stands for a full disk: writing fails in the same way."""
    store = SqliteStore(tmp_path / "store.sqlite")
    store.publish(published())
    first = [arrived(seed, 2) for seed in range(50)]
    assert set(store.append(first)) == {Stored.NEW}
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    size = (tmp_path / "store.sqlite-wal").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20_000, before[1]))
    taken, lost = [], []
    try:
        for start in range(100, 2000, 50):
            group = [arrived(seed, 2) for seed in range(start, start + 50)]
            try:
                store.append(group)
                taken += group
            except StoreUnavailable:
                lost.append(group)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert lost
    assert set(store.append(lost[0])) == {Stored.NEW}  # there is room again
    store.close()
    again = SqliteStore(tmp_path / "store.sqlite")
    assert counts(again) == expected([*first, *taken, *lost[0]])
    again.close()


def test_a_collector_on_a_full_disk_answers_503_and_recovers(tmp_path: Path) -> None:
    def small() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))

    store = str(tmp_path / "store.sqlite")
    source = batches(CONTRACT, 3, 400)
    with Process(tmp_path, store, *limits(tmp_path), preexec_fn=small) as full:
        told = asyncio.run(send(full.port, PATH, islice(source, 400)))
        assert set(told.statuses) == {200, 503}
        assert urllib.request.urlopen(full.address + "/health").status == 200
        for _ in range(20):  # a write that succeeds again makes it ready: until the last one failed
            if status(full.address + "/ready") == 503:
                break
            more = asyncio.run(send(full.port, PATH, islice(source, 5)))
            told.acknowledged.update(more.acknowledged)
            told.doubtful.update(more.doubtful)
        assert status(full.address + "/ready") == 503
        resource.prlimit(full.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        time.sleep(1.1)  # it is asked once a second at most
        assert urllib.request.urlopen(full.address + "/ready").status == 200
        again = asyncio.run(send(full.port, PATH, iter(list(told.doubtful.items()))))
        assert set(again.statuses) == {200}
        full.stop()
    everything = told.acknowledged | again.acknowledged
    assert set(stored(store)) == {digest(name) for name in everything}
    check_counts(store, everything)


def status(address: str) -> int:
    try:
        return int(urllib.request.urlopen(address).status)
    except urllib.error.HTTPError as refused:
        return refused.code


def check_counts(address: str, sent: dict[str, bytes]) -> None:
    store = open_store(address)
    live = Collector(store, Settings()).live
    for name in CONTRACT.questions:
        assert live.summary(CONTRACT.id, name) == recount(sent, name)
    store.close()


def later(store: CollectorStore, batches: list[Arrived]) -> list[Stored]:
    """Append once the store answers again: a database that was out of reach is left alone for a moment."""
    for _ in range(100):
        try:
            return store.append(batches)
        except StoreUnavailable:
            time.sleep(0.1)
    raise AssertionError("the store did not come back")


def test_a_database_that_goes_away_and_comes_back(database: str) -> None:
    import psycopg

    relay = Relay(database)
    store = open_store(relay.address)
    store.publish(published())
    collector = Collector(store, Settings())
    batch, other = arrived(1, 2), arrived(2, 2)
    store.append([batch])
    with psycopg.connect(database, autocommit=True) as sql:
        sql.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
            "AND datname = current_database()"
        )
    with pytest.raises(StoreUnavailable):
        store.append([other])
    assert later(store, [other, batch]) == [Stored.NEW, Stored.REPEATED]
    # The end of a transaction is not heard of: it is stored, and counted when the collector looks again.
    third = arrived(3, 2)
    relay.lose(b"COMMIT")
    with pytest.raises(StoreUnavailable):
        store.append([third])
    assert later(store, [third]) == [Stored.REPEATED]
    collector.catch_up()
    collector.catch_up()
    assert collector.live.n(CAMPAIGN.id, "minutes") == 3 * 3
    store.close()
    relay.cut()
    with pytest.raises(StoreUnusable, match="database cannot be used"):
        open_store("postgresql://localhost:1/none")


def test_a_second_collector_on_one_file_is_refused(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.sqlite")
    with pytest.raises(StoreUnusable, match="in use"):
        SqliteStore(tmp_path / "store.sqlite")
    store.close()
    SqliteStore(tmp_path / "store.sqlite").close()
    other = sqlite3.connect(tmp_path / "other.sqlite")
    other.execute("CREATE TABLE x (y)")
    other.close()
    with pytest.raises(StoreUnusable, match="not a collector"):
        SqliteStore(tmp_path / "other.sqlite")
    with pytest.raises(StoreUnusable, match="folder not found"):
        SqliteStore(tmp_path / "none" / "store.sqlite")


@pytest.mark.slow
def test_sigterm_drains_and_sighup_reloads_under_load(address: str, tmp_path: Path) -> None:
    """What is sent before SIGTERM is answered; a campaign that is added while reports come in is served."""

    async def under_load(process: Process) -> Told:
        told = Told()
        sending = asyncio.create_task(send(process.port, PATH, batches(CONTRACT, 9), told=told))
        while len(told.acknowledged) < 100:
            await asyncio.sleep(0.005)
        process.file.write_text(OPEN.replace('name = "commute"', 'name = "second"'), encoding="utf-8")
        process.process.send_signal(signal.SIGHUP)
        for _ in range(400):
            listed = await asyncio.to_thread(urllib.request.urlopen, process.address + "/v1/campaigns")
            if listed.read().count(b'"id"') == 2:
                break
            await asyncio.sleep(0.05)
        else:
            raise AssertionError("the campaign was not reloaded")
        process.process.send_signal(signal.SIGTERM)
        await sending
        return told

    with Process(tmp_path, address, *limits(tmp_path)) as process:
        told = asyncio.run(under_load(process))
        process.process.wait(60)
    assert set(told.statuses) == {200}
    kept = stored(address)
    assert {digest(name) for name in told.acknowledged} <= set(kept)
    sent = told.acknowledged | told.doubtful
    check_counts(address, {name: body for name, body in sent.items() if digest(name) in kept})


def test_nothing_is_forgotten_if_the_clock_was_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What may be forgotten is looked for every hour, unless the clock was turned in that hour."""
    from dither.collection import writer as module

    now = {"wall": 1e9, "steady": 1e6}
    clock = SimpleNamespace(time=lambda: now["wall"], monotonic=lambda: now["steady"], sleep=time.sleep)
    monkeypatch.setattr(module, "time", clock)
    store = SqliteStore(tmp_path / "store.sqlite")
    collector = Collector(store, Settings())
    looked: list[float] = []
    monkeypatch.setattr(collector, "tidy", lambda: looked.append(now["steady"]))
    writer = module.Writer(collector)

    def later(wall: float, steady: float = 3601.0) -> bool:
        """Let time pass; return whether what may be forgotten was looked for."""
        looked.clear()
        now["wall"] += wall
        now["steady"] += steady
        for _ in range(2):  # it is looked for after a task: when the next one is done, that is over
            writer.call(lambda: None).result(timeout=30)
        return bool(looked)

    assert not later(10, 10)  # not yet an hour
    assert later(3601)
    assert not later(86_400 * 30)  # a month ahead within an hour
    assert later(3601)  # an hour later, the new date is believed
    assert not later(-86_400 * 30)
    writer.close()
    store.close()
