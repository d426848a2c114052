"""kill -9 while batches come in: nothing acknowledged is lost, nothing is stored in part or twice."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from dither.collection.campaign import Campaign
from dither.collection.collector import Collector
from dither.collection.settings import Settings
from dither.collection.store.opening import open_store
from dither.core.batch import BatchBody
from dither.core.counts import Counts
from tests.collection.load import Told, batches, send
from tests.collection.serving import OPEN

CONTRACT = Campaign.from_toml(OPEN)
PATH = f"/v1/campaigns/{CONTRACT.id}/batches"


class Forker:
    """Collectors that are forked from a process that has imported everything."""

    def __init__(self, folder: Path, store: str) -> None:
        (folder / "campaign.toml").write_text(OPEN, encoding="utf-8")
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


async def _round(forker: Forker, source: Iterator[tuple[str, bytes]], most: int) -> Told:
    """Send until `most` batches are acknowledged, and kill the collector at once."""
    port = await asyncio.to_thread(forker.start)
    told = Told()
    sending = asyncio.create_task(send(port, PATH, source, told=told))
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
    assert set(acknowledged) <= set(kept), "an acknowledged batch is lost"
    for name, parts in kept.items():
        body = acknowledged.get(name) or doubtful[name]
        assert parts == expected_parts(body), "a batch is there in part, or changed"


@cache
def expected_parts(body: bytes) -> list[bytes]:
    return [b"".join(some) for _, some in sorted(BatchBody.from_bytes(body).reports.items())]


def stored(store: str) -> dict[str, list[bytes]]:
    """Return what a store holds, read by other means than the collector's."""
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
    assert set(stored(address)) == set(acknowledged)
    return len(acknowledged)


@pytest.mark.slow
def test_kill_minus_9(address: str, tmp_path: Path) -> None:
    assert held(tmp_path, address, rounds=10, most=20) >= 200


@pytest.mark.slow
def test_kill_minus_9_200_times(address: str, tmp_path: Path) -> None:
    assert held(tmp_path, address, rounds=200, most=250) >= 50_000
