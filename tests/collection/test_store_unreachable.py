"""A database that is cut off, or does not answer: 503, nothing half done, and it goes on by itself."""

from __future__ import annotations

import asyncio
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from dither.collection.campaign import Campaign
from tests.collection.load import Told, batches, send
from tests.collection.relay import Relay
from tests.collection.serving import OPEN, Process
from tests.collection.test_server_faults import check_counts
from tests.collection.test_server_kill import PATH, digest, stored

CONTRACT = Campaign.from_toml(OPEN)


@pytest.fixture
def relay(database: str) -> Iterator[Relay]:
    made = Relay(database)
    yield made
    made.cut()


def status(address: str) -> int:
    try:
        with urllib.request.urlopen(address) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


def again(process: Process, doubtful: dict[str, bytes]) -> Told:
    """Send batches until all are acknowledged, as a device does."""
    told = Told()
    for _ in range(200):
        waiting = [one for one in doubtful.items() if one[0] not in told.acknowledged]
        if not waiting:
            return told
        asyncio.run(send(process.port, PATH, iter(waiting), told=told))
        time.sleep(0.1)
    raise AssertionError("the collector did not go on by itself")


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["cut", "hang"])
def test_a_database_out_of_reach_is_503_and_then_goes_on(
    fault: str, relay: Relay, database: str, tmp_path: Path
) -> None:
    (tmp_path / "limits.toml").write_text("rate = 1000000.0\nburst = 1000000\npatience = 1.0\n")
    source = batches(CONTRACT, 11)
    with Process(tmp_path, relay.address, "--settings", str(tmp_path / "limits.toml")) as process:
        before = asyncio.run(send(process.port, PATH, islice(source, 200)))
        assert set(before.statuses) == {200}
        getattr(relay, fault)()
        during = asyncio.run(send(process.port, PATH, islice(source, 32)))
        assert set(during.statuses) == {503}
        assert status(process.address + "/health") == 200
        assert status(process.address + "/ready") == 503
        relay.restore()
        later = again(process, during.doubtful)
        assert set(later.acknowledged) == set(during.doubtful)
        assert status(process.address + "/ready") == 200
        process.stop()
    everything = before.acknowledged | later.acknowledged
    assert set(stored(database)) == set(map(digest, everything))  # each once, and no others
    check_counts(database, everything)
