"""kill -9 of the collector and of the exporter together: the table has each acknowledged batch once."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from itertools import chain, islice
from pathlib import Path

import numpy as np
import pytest

from dither.collection.store.delta import export_to_delta
from dither.core.batch import BatchBody
from dither.data import sql
from tests.collection.load import Told, batches, send
from tests.collection.test_server_kill import CONTRACT, PATH, Forker, digest, recount

deltalake = pytest.importorskip("deltalake")
pytest.importorskip("duckdb")

EXPORTER = """
import os, sys
import pyarrow.dataset, pyarrow.fs, pyarrow.parquet
from dither.collection.store import delta
delta.load_delta()
for line in sys.stdin:
    child = os.fork()
    if child:
        print(os.waitpid(child, 0)[1], flush=True)
        continue
    print(os.getpid(), flush=True)
    delta.export_to_delta(sys.argv[1], sys.argv[2])
    os._exit(0)
"""


class Exporters:
    """Exports of a store, each in a process that is forked from one that has imported everything."""

    def __init__(self, store: str, table: str) -> None:
        command = [sys.executable, "-c", EXPORTER, store, table]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def _line(self) -> int:
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())

    def start(self) -> int:
        """Start an export; return its process."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        return self._line()

    def killed(self, process: int) -> bool:
        """Kill an export; return whether it had not ended."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        status = self._line()
        assert status in (0, signal.SIGKILL), status
        return status != 0

    def close(self) -> None:
        self._process.communicate()


async def _round(
    forker: Forker, exporters: Exporters, source: Iterable[tuple[str, bytes]], seconds: float
) -> tuple[Told, bool]:
    """Send, export, and kill both in the middle; return what was sent, and if the export was killed."""
    port, told = await asyncio.to_thread(forker.start), Told()
    sending = asyncio.create_task(send(port, PATH, source, connections=2, told=told))
    async with asyncio.timeout(120):
        while len(told.acknowledged) < 5:
            await asyncio.sleep(0.001)
    exporting = await asyncio.to_thread(exporters.start)
    await asyncio.sleep(seconds)
    cut = await asyncio.to_thread(exporters.killed, exporting)
    await asyncio.to_thread(forker.end)
    await sending
    return told, cut


def exported(folder: Path, address: str, rounds: int) -> int:
    """Return how many exports were killed before they ended."""
    table = str(folder / "table")
    random, forker, exporters = np.random.default_rng(3), Forker(folder, address), Exporters(address, table)
    fresh, killed = batches(CONTRACT, 23), 0
    acknowledged: dict[str, bytes] = {}
    doubtful: dict[str, bytes] = {}
    for _ in range(rounds):
        source = chain(list(doubtful.items()), islice(fresh, 60))
        told, cut = asyncio.run(_round(forker, exporters, source, float(random.uniform(0, 0.5))))
        assert set(told.statuses) <= {200}
        killed += cut
        acknowledged |= told.acknowledged
        doubtful = {
            name: body for name, body in (doubtful | told.doubtful).items() if name not in acknowledged
        }
    port = forker.start()
    last = asyncio.run(send(port, PATH, iter(list(doubtful.items()))))
    assert set(last.acknowledged) == set(doubtful)
    forker.end(signal.SIGTERM)
    forker.close()
    exporters.close()
    acknowledged |= last.acknowledged
    export_to_delta(address, table)
    rows = deltalake.DeltaTable(table).to_pyarrow_dataset().to_table(["batch"])["batch"]
    reports = sum(
        sum(map(len, BatchBody.from_bytes(body).reports.values())) for body in acknowledged.values()
    )
    assert len(rows) == reports  # without looking for copies
    assert set(rows.unique().to_pylist()) == {digest(name) for name in acknowledged}
    with sql.connect(Path(table).as_uri()) as engine:
        found = sql.summaries(CONTRACT.questions, engine.counts(CONTRACT.questions))
    assert found == {name: recount(acknowledged, name) for name in CONTRACT.questions}
    return killed


@pytest.mark.some("sqlite")
def test_5_kills_of_collector_and_exporter(address: str, tmp_path: Path) -> None:
    assert exported(tmp_path, address, 5) >= 1


@pytest.mark.slow
def test_200_kills_of_collector_and_exporter(address: str, tmp_path: Path) -> None:
    assert exported(tmp_path, address, 200) >= 50
