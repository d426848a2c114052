"""kill -9 while batches come in: nothing acknowledged is lost, nothing is stored in part or twice."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import chain, islice, repeat
from pathlib import Path

import numpy as np
import pytest

from dither.collection.campaign import Campaign
from dither.collection.collector import Collector
from dither.collection.settings import Settings
from dither.collection.store.opening import open_store
from dither.core.batch import JSON, BatchBody
from dither.core.counts import Counts
from tests.collection.load import Told, batches, send
from tests.collection.serving import OPEN

CONTRACT = Campaign.from_toml(OPEN)
PATH = f"/v1/campaigns/{CONTRACT.id}/batches"


class Forker:
    """Collectors that are forked from a process that has imported everything."""

    def __init__(self, folder: Path, store: str, toml: str = OPEN) -> None:
        (folder / "campaign.toml").write_text(toml, encoding="utf-8")
        self._plan = {
            "campaigns": [str(folder / "campaign.toml")],
            "store": store,
            "port": 0,
            "key": str(folder / "asker.key"),
            "new_key": True,
            "settings": {"rate": 1e6, "burst": 10**6},
        }
        self._errors = (folder / "errors.jsonl").open("ab")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.collection.forker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )
        self._child = 0

    def _line(self) -> str:
        stream = self._process.stdout
        return stream.readline().strip() if stream is not None else ""

    def start(self) -> int:
        """Start a collector; return its port."""
        stream = self._process.stdin
        if stream is not None:
            print(json.dumps(self._plan), file=stream, flush=True)
        self._child = int(self._line())
        return int(self._line().rstrip("/").rpartition(":")[2])

    def end(self, number: int = signal.SIGKILL) -> None:
        """Kill the collector, or stop it, and wait until it is gone."""
        os.kill(self._child, number)
        assert self._line() == "ended"

    def close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._process.wait(30)
        self._errors.close()


async def _round(forker: Forker, source: Iterator[tuple[str, bytes]], most: int, path: str = PATH) -> Told:
    """Send until `most` batches are acknowledged, and kill the collector at once."""
    port = await asyncio.to_thread(forker.start)
    told = Told()
    sending = asyncio.create_task(send(port, path, source, told=told))
    async with asyncio.timeout(120):
        while len(told.acknowledged) < most:
            await asyncio.sleep(0.001)
    await asyncio.to_thread(forker.end)
    return await sending


def killed(folder: Path, store: str, rounds: int, most: int) -> tuple[dict[str, bytes], Forker]:
    """Return all batches that were acknowledged over rounds of sending and killing."""
    random = np.random.default_rng(5)
    forker = Forker(folder, store)
    fresh = batches(CONTRACT, 11)
    acknowledged: dict[str, bytes] = {}
    doubtful: dict[str, bytes] = {}
    for number in range(rounds):
        again = list(doubtful.items())  # in doubt: the same bytes are sent again, first
        told = asyncio.run(_round(forker, chain(again, fresh), int(random.integers(most, 2 * most))))
        assert set(told.statuses) <= {200}
        acknowledged |= told.acknowledged
        doubtful = {
            name: body for name, body in (doubtful | told.doubtful).items() if name not in acknowledged
        }
        if number % 10 == 9 or number < 10:  # reading all of the store takes longer than a round
            check(store, acknowledged, doubtful)
    port = forker.start()
    last = asyncio.run(send(port, PATH, iter(list(doubtful.items()))))
    assert set(last.acknowledged) == set(doubtful)
    forker.end(signal.SIGTERM)
    return acknowledged | last.acknowledged, forker


def check(store: str, acknowledged: dict[str, bytes], doubtful: dict[str, bytes]) -> None:
    """Check the store after a kill: what was acknowledged is there, whole, and nothing else than was sent."""
    kept = stored(store)
    sent = {digest(name): body for name, body in (doubtful | acknowledged).items()}
    assert {digest(name) for name in acknowledged} <= set(kept), "an acknowledged batch is lost"
    for name, parts in kept.items():
        body = sent[name]
        assert parts == expected_parts(body), "a batch is there in part, or changed"


@cache
def expected_parts(body: bytes) -> list[bytes]:
    return [b"".join(some) for _, some in sorted(BatchBody.from_bytes(body).reports.items())]


def digest(name: str) -> str:
    """Return what a store keeps of the identity of a batch."""
    return hashlib.sha256(bytes.fromhex(name)).hexdigest()[:32]


def stored(store: str) -> dict[str, list[bytes]]:
    """Return what a store holds by the digests of batches, read by other means than the collector's."""
    query = "SELECT id, data FROM {}reports ORDER BY id, part"
    if store.startswith("postgresql"):
        import psycopg

        with psycopg.connect(store) as sql:
            rows = sql.execute(query.format("dither_")).fetchall()
    else:
        import sqlite3

        link = sqlite3.connect(store)
        rows = link.execute(query.format("")).fetchall()
        link.close()
    found: dict[str, list[bytes]] = {}
    for name, data in rows:
        found.setdefault(bytes(name).hex(), []).append(bytes(data))
    return found


def recount(bodies: dict[str, bytes], question: str) -> Counts:
    mechanism = CONTRACT.questions[question]
    read = [BatchBody.from_bytes(body).reports.get(mechanism.fingerprint, ()) for body in bodies.values()]
    data = b"".join(chain.from_iterable(read))
    return Counts.of(mechanism.reports(np.frombuffer(data, mechanism.layout)))


def held(folder: Path, address: str, rounds: int, most: int) -> int:
    acknowledged, forker = killed(folder, address, rounds, most)
    forker.close()
    store = open_store(address)
    try:
        live = Collector(store, Settings()).live
        for name in CONTRACT.questions:
            assert live.summary(CONTRACT.id, name) == recount(acknowledged, name)
    finally:
        store.close()
    assert set(stored(address)) == {digest(name) for name in acknowledged}
    return len(acknowledged)


@pytest.mark.slow
def test_kill_minus_9(address: str, tmp_path: Path) -> None:
    assert held(tmp_path, address, rounds=10, most=20) >= 200


@pytest.mark.slow
def test_kill_minus_9_200_times(address: str, tmp_path: Path) -> None:
    assert held(tmp_path, address, rounds=200, most=250) >= 50_000


PRESENCE = """
[campaign]
name = "presence"
asker = "city.example"
contact = "data@city.example"
purpose = "How many come back."
begins = 2020-01-01
ends = 2120-01-01
people = 2
repeat = "present"
every = "week"
expects = 1000
labels = ["1.0"]
"""


@pytest.mark.slow
def test_actives_are_exact_under_24_kills_with_retries(address: str, tmp_path: Path) -> None:
    contract = Campaign.from_toml(PRESENCE)
    path = f"/v1/campaigns/{contract.id}/batches"
    random, forker = np.random.default_rng(7), Forker(tmp_path, address, PRESENCE)
    names = (random.bytes(16).hex() for _ in repeat(None))
    fresh = ((name, BatchBody.of(name, [], ("", "1.0")[int(name[0], 16) % 2]).to_bytes()) for name in names)
    acknowledged: dict[str, bytes] = {}
    doubtful: dict[str, bytes] = {}
    for _ in range(24):
        source = chain(list(acknowledged.items())[-5:], list(doubtful.items()), fresh)  # retries first
        told = asyncio.run(_round(forker, source, int(random.integers(20, 60)), path))
        assert set(told.statuses) <= {200}
        acknowledged |= told.acknowledged
        doubtful = {
            name: body for name, body in (doubtful | told.doubtful).items() if name not in acknowledged
        }
    port = forker.start()
    last = asyncio.run(send(port, path, iter(list(doubtful.items()))))
    forker.end(signal.SIGTERM)
    forker.close()
    acknowledged |= last.acknowledged
    assert set(last.acknowledged) == set(doubtful)
    store = open_store(address)
    try:
        live = Collector(store, Settings()).live
        marked = sum(BatchBody.from_bytes(body).label == "1.0" for body in acknowledged.values())
        assert live.n(contract.id, "") == len(acknowledged) >= 400
        assert live.n(contract.id, "", label="1.0") == marked
    finally:
        store.close()


# --- kill -9 while batches are taken back

WITHDRAWALS = f"/v1/campaigns/{CONTRACT.id}/withdrawals"


async def _take_back(port: int, names: Iterator[str], told: Told) -> None:
    bodies = ((name, f'{{"dither":2,"withdraw":"{name}"}}'.encode()) for name in names)
    await send(port, WITHDRAWALS, bodies, connections=4, told=told, form=JSON)


async def _round_of_both(forker: Forker, source: Iterator[tuple[str, bytes]], again: list[str]) -> list[Told]:
    """Send batches, and take every third one back, some before they are sent; kill in the middle."""
    port = await asyncio.to_thread(forker.start)
    told, gone = Told(), Told()
    some = list(islice(source, 90))
    chosen = [name for name, _ in some[::3]]
    tasks = [
        asyncio.create_task(send(port, PATH, iter(some), told=told)),
        asyncio.create_task(_take_back(port, iter([*again, *chosen]), gone)),
    ]
    async with asyncio.timeout(60):
        while len(gone.acknowledged) < 12 or len(told.acknowledged) < 30:
            await asyncio.sleep(0.001)
    await asyncio.to_thread(forker.end)
    await asyncio.gather(*tasks)
    told.doubtful |= {name: body for name, body in some if name not in told.acknowledged}
    gone.doubtful |= {name: b"" for name in (*again, *chosen) if name not in gone.acknowledged}
    return [told, gone]


def taken_back(folder: Path, address: str, rounds: int) -> int:
    """Check that a batch is withdrawn or not, never in part, however often the collector is killed."""
    forker, source = Forker(folder, address), batches(CONTRACT, 17)
    sent: dict[str, bytes] = {}
    gone: set[str] = set()
    doubtful: dict[str, bytes] = {}
    again: list[str] = []
    for _ in range(rounds):
        told, back = asyncio.run(_round_of_both(forker, chain(list(doubtful.items()), source), again))
        assert set(told.statuses) | set(back.statuses) <= {200}
        sent |= told.acknowledged
        doubtful = {name: body for name, body in told.doubtful.items() if name not in sent}
        gone |= set(back.acknowledged)
        again = [name for name in back.doubtful if name not in gone]
        check_withdrawn(address, sent, gone, {*doubtful, *again})
    port = forker.start()
    asyncio.run(send(port, PATH, iter(list(doubtful.items()))))
    asyncio.run(_take_back(port, iter(again), told := Told()))
    assert set(told.acknowledged) == set(again)
    forker.end(signal.SIGTERM)
    forker.close()
    check_withdrawn(address, sent | doubtful, gone | set(again), set())
    return len(gone)


def check_withdrawn(address: str, sent: dict[str, bytes], gone: set[str], unclear: set[str]) -> None:
    """Check the counts: of what was sent and not taken back, and maybe of what is unclear."""
    store = open_store(address)
    try:
        live = Collector(store, Settings()).live
        clear = {name: body for name, body in sent.items() if name not in gone | unclear}
        found = [live.summary(CONTRACT.id, name) for name in CONTRACT.questions]
        least = [recount(clear, name) for name in CONTRACT.questions]
        for one, other in zip(found, least, strict=True):
            assert (one.counts >= other.counts).all()
            assert unclear or one == other
    finally:
        store.close()


@pytest.mark.some("sqlite")
def test_kill_minus_9_while_batches_are_taken_back(address: str, tmp_path: Path) -> None:
    assert taken_back(tmp_path, address, 2) >= 24


@pytest.mark.slow
def test_24_kills_while_batches_are_taken_back(address: str, tmp_path: Path) -> None:
    assert taken_back(tmp_path, address, 24) >= 288
