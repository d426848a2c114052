"""What operators are told is true: exact, the same from every process, and never falling."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
import urllib.error
import urllib.request
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from dither.collection.campaign import Campaign
from dither.collection.collector import Collector
from dither.collection.settings import Networks, Settings
from dither.collection.signals import Signals, label_text, shared_file
from dither.collection.store.sqlite import SqliteStore
from dither.collection.store.store import StoreUnavailable
from dither.collection.writer import Writer
from tests.collection.campaigns import published
from tests.collection.load import batches, send
from tests.collection.serving import OPEN, Process
from tests.collection.test_server_faults import limits
from tests.collection.test_server_kill import PATH
from tests.collection.test_store import arrived

CONTRACT = Campaign.from_toml(OPEN)


def scrape(text: str) -> dict[tuple[Any, ...], float]:
    """Return all samples as Prometheus' own parser reads them, by name and labels."""
    parser = pytest.importorskip("prometheus_client.parser")
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in parser.text_string_to_metric_families(text)
        for sample in family.samples
    }


def growing(samples: dict[tuple[Any, ...], float]) -> dict[tuple[Any, ...], float]:
    """Return the counters, and the parts of histograms."""
    ends = ("_total", "_bucket", "_count", "_sum")
    return {key: value for key, value in samples.items() if key[0].endswith(ends)}


def test_processes_add_up_and_one_that_ends_is_not_forgotten(tmp_path: Path) -> None:
    pytest.importorskip("prometheus_client")  # before anything is open
    memory = shared_file(2)
    one, two = Signals(memory, 0, 2), Signals(memory, 1, 2)
    one.add("repeated_total", 1_000_001)
    two.add("repeated_total", 10**15)
    two.add("refused_total", 3, label_text(reason="rate"))
    for size in (1, 1, 100, 5000, 2_000_000):
        two.observe("batch_reports", size)
    one.observe("answer_seconds", 1_500_000, 3)
    one.set("waiting", 5)
    two.set("waiting", 7)
    assert one.totals() == two.totals()
    assert one.totals()["repeated_total"] == 10**15 + 1_000_001
    again = Signals(memory, 1, 2)  # a process that takes the place of the second
    again.add("repeated_total")
    again.set("waiting", 0)
    store = SqliteStore(tmp_path / "store.sqlite")
    collector = Collector(store, Settings(), signals=one)
    collector.publish(published())
    text = one.exposition(collector)
    assert f"\ndither_repeated_total {10**15 + 1_000_002}\n" in text  # all digits
    assert "\ndither_answer_seconds_sum 4.500000\n" in text
    found = scrape(text)
    assert found["dither_waiting",] == 5
    assert found["dither_refused_total", ("reason", "rate")] == 3
    sizes = {key[1][1]: value for key, value in found.items() if key[0] == "dither_batch_reports_bucket"}
    assert sizes == {"1": 2, "10": 2, "100": 3, "1000": 3, "10000": 4, "100000": 4, "+Inf": 5}
    assert found["dither_batch_reports_count",] == 5
    assert found["dither_commits_total",] == 0
    store.close()
    os.close(memory)


def test_labels_are_escaped_and_a_full_memory_breaks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert label_text(question='a"b\\c\nd') == '{question="a\\"b\\\\c\\nd"}'
    monkeypatch.setattr("dither.collection.signals._PART", 256)
    signals = Signals()
    signals.add("repeated_total", 4)
    for number in range(100):
        signals.add("refused_total", labels=label_text(reason=str(number)))
    totals = signals.totals()
    assert totals["repeated_total"] == 4
    assert 1 < len(totals) < 100


def test_ready_is_whether_something_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SqliteStore(tmp_path / "store.sqlite")
    collector = Collector(store, Settings())
    collector.publish(published())
    writer = Writer(collector)
    append, probe = store.append, store.probe
    probes: list[int] = []

    def full(*_: object) -> Any:
        raise StoreUnavailable("database or disk is full")

    monkeypatch.setattr(store, "append", full)
    monkeypatch.setattr(store, "probe", lambda size: probes.append(size) or probe(size))
    batch = arrived(1, 2)
    with pytest.raises(StoreUnavailable):
        asyncio.run(writer.store(batch))
    assert not collector.health()["ready"]
    monkeypatch.setattr(store, "probe", full)
    assert not writer.able()
    assert collector.signals.totals()["failing"] == 1
    monkeypatch.setattr(store, "probe", lambda size: probes.append(size) or probe(size))
    assert writer.able()  # as much as could not be written is written now
    assert probes == [sum(len(data) for _, data in batch.parts)]
    assert collector.health()["ready"]
    assert writer.able()
    assert len(probes) == 1  # who asks often writes once a second at most
    monkeypatch.setattr(store, "append", append)
    asyncio.run(writer.store(batch))
    writer.close()
    store.close()


def test_networks() -> None:
    known = Networks(["10.0.0.0/8", "203.0.113.7", "2001:db8::/32", "unix"])
    for address in (
        "10.1.2.3",
        "203.0.113.7",
        "2001:db8:1::9",
        "unix",
        "::ffff:10.1.2.3",
        "2001:db8::1%eth0",
    ):
        assert address in known
    for address in ("11.0.0.1", "203.0.113.8", "2001:db9::1", "", "10.1.2.3:80", "not an address"):
        assert address not in known
    assert "unix" not in Networks([])


def _metrics(process: Process) -> dict[tuple[Any, ...], float]:
    return scrape(urllib.request.urlopen(process.address + "/metrics").read().decode())


def _workers(folder: Path) -> list[int]:
    """Return the processes that collect, once there are two."""
    for _ in range(300):
        lines = [json.loads(line) for line in (folder / "errors.jsonl").read_text().splitlines()]
        begun = [line["process"] for line in lines if line["event"] == "collecting"]
        alive = [process for process in begun if Path(f"/proc/{process}/stat").exists()]
        if len(alive) >= 2:
            return alive
        time.sleep(0.1)
    raise AssertionError("there are no two processes")


def check_workers(database: str, folder: Path, rounds: int, kills: int) -> None:
    """Send to two processes, kill some, and scrape: all counters are exact in the end, and none fell."""
    source = batches(CONTRACT, 21)
    with Process(folder, database, "--workers", "2", *limits(folder)) as process:
        before: dict[tuple[Any, ...], float] = {}
        new = 0
        for number in range(rounds):
            told = asyncio.run(send(process.port, PATH, islice(source, 40), connections=8))
            new += len(told.acknowledged)
            if number < kills:
                os.kill(_workers(folder)[-1], signal.SIGKILL)
                time.sleep(0.3)
            for _ in range(6):
                now = growing(_metrics(process))
                assert {key: value for key, value in before.items() if now.get(key, 0) < value} == {}
                before = now
        counted = sum(value for key, value in before.items() if key[0] == "dither_reports_total")
        assert before["dither_batch_reports_count",] == new
        assert before["dither_batch_reports_sum",] == counted
        assert before["dither_answer_seconds_count",] >= new
        process.stop()


@pytest.mark.slow
def test_all_processes_show_the_same_numbers_even_if_one_is_killed(database: str, tmp_path: Path) -> None:
    check_workers(database, tmp_path, rounds=4, kills=2)


@pytest.mark.slow
def test_a_process_that_cannot_reach_the_database_says_so_in_a_line(database: str, tmp_path: Path) -> None:
    from tests.collection.relay import Relay

    relay = Relay(database)
    with Process(tmp_path, relay.address, "--workers", "2") as process:
        last = _workers(tmp_path)[-1]
        relay.cut()
        os.kill(last, signal.SIGKILL)
        for _ in range(200):
            lines = [json.loads(line) for line in (tmp_path / "errors.jsonl").read_text().splitlines()]
            found = [line for line in lines if line["event"] == "the process cannot start"]
            if found:
                break
            time.sleep(0.1)
        assert "database cannot be used" in found[0]["error"]
        with pytest.raises(urllib.error.HTTPError, match="503"):
            urllib.request.urlopen(process.address + "/ready")
        process.stop()
