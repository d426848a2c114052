"""`serve` without what it needs.

Several processes on one database: they share a socket, count each other's batches and are replaced.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
import urllib.request
from itertools import islice
from pathlib import Path

import pytest

from dither.collection.campaign import Campaign
from dither.collection.server import ServerPlan, serve
from dither.errors import MissingExtra
from tests.collection.campaigns import TOML
from tests.collection.load import batches, send
from tests.collection.serving import OPEN, Process
from tests.collection.test_server_faults import check_counts, limits
from tests.collection.test_server_kill import PATH, digest, stored


@pytest.mark.parametrize("package", ["httptools", "starlette", "uvicorn", "psycopg"])
def test_without_its_packages_a_collector_names_the_extra_and_makes_no_file(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = tmp_path / "campaign.toml"
    campaign.write_text(TOML, encoding="utf-8")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"\.\[service\]"):
        serve(ServerPlan((str(campaign),), str(tmp_path / "store.sqlite"), port=0, new_key=True), print)
    assert list(tmp_path.iterdir()) == [campaign]


CONTRACT = Campaign.from_toml(OPEN)


def processes(folder: Path) -> list[int]:
    """Return the numbers of the processes that said that they collect."""
    lines = (folder / "errors.jsonl").read_text(encoding="utf-8").splitlines()
    told = [json.loads(line) for line in lines if line.startswith("{")]
    return [line["process"] for line in told if line["event"] == "collecting"]


def waited(folder: Path, count: int) -> list[int]:
    """Wait until so many processes collect, or have."""
    for _ in range(600):
        if len(processes(folder)) >= count:
            break
        time.sleep(0.1)
    return processes(folder)


def reports(collector: Process) -> int:
    with urllib.request.urlopen(collector.address + "/health") as told:
        return int(json.loads(told.read())["reports"])


@pytest.mark.slow
def test_two_processes_count_everything_and_one_that_dies_is_replaced(database: str, tmp_path: Path) -> None:
    source = batches(CONTRACT, 4)
    with Process(tmp_path, database, "--workers", "2", *limits(tmp_path)) as process:
        first, _ = waited(tmp_path, 2)
        told = asyncio.run(send(process.port, PATH, islice(source, 300)))
        assert set(told.statuses) == {200}
        os.kill(first, signal.SIGKILL)
        assert len(waited(tmp_path, 3)) == 3
        more = asyncio.run(send(process.port, PATH, islice(source, 200)))
        sent = told.acknowledged | more.acknowledged
        total = reports(process)
        for _ in range(100):  # whichever process answers, it counts what all have stored
            seen = {reports(process) for _ in range(8)}
            total = max(seen)
            if len(seen) == 1 and total >= len(sent):
                break
            time.sleep(0.1)
        assert len(seen) == 1
        process.stop()
    kept = stored(database)
    assert {digest(name) for name in sent} <= set(kept)
    everything = sent | told.doubtful | more.doubtful
    check_counts(database, {name: body for name, body in everything.items() if digest(name) in kept})
    assert total == sum(
        len(data) // (2 if part == 0 else 1) for parts in kept.values() for part, data in order(parts)
    )


def order(parts: list[bytes]) -> list[tuple[int, bytes]]:
    """Return the parts of a batch with 0 for minutes (two bytes a report) and 1 for browsers (one byte)."""
    minutes, browser = (CONTRACT.questions[name].fingerprint for name in ("minutes", "browser"))
    if len(parts) == 1:
        return [(0, parts[0])]
    return list(enumerate(parts)) if minutes < browser else [(1, parts[0]), (0, parts[1])]
