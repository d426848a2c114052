"""Presence in JavaScript, Java and Go, as an application says it: at a collector, and taken back."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.request
from pathlib import Path

import pytest

from dither.collection.collector import Collector
from dither.collection.presence import MESSAGES, counts_presence
from dither.collection.settings import Settings
from dither.collection.store.opening import open_store
from tests.collection.serving import Process
from tests.conformance.ports import checks
from tests.conformance.presence_terms import TOML
from tests.conformance.test_go import binary
from tests.conformance.test_java import java
from tests.conformance.test_javascript import CLIENT, failures, node

__all__ = ["binary", "java"]  # fixtures


def messages(store: Path) -> int:
    """Return the messages that a store counts: with the permanent label, and without."""
    opened = open_store(str(store))
    try:
        live = Collector(opened, Settings()).live
        (contract,) = [one.contract for one in opened.campaigns()]
        assert counts_presence(contract)
        return live.n(contract.id, MESSAGES) + live.n(contract.id, "since")
    finally:
        opened.close()


def key_of(address: str) -> str:
    with urllib.request.urlopen(address) as answer:
        return str(json.load(answer)["key"])


@pytest.mark.slow
def test_messages_of_three_clients_come_to_a_collector_and_are_taken_back(
    java: list[str], binary: list[str], tmp_path: Path
) -> None:
    """Eight devices each; three of each take their message back, within the period."""
    store = tmp_path / "presence.db"
    with Process(tmp_path, str(store), toml=TOML) as collector:
        address = collector.campaign
        key = key_of(address)
        for number in range(8):
            more = {"TAKE_BACK": "1"} if number < 3 else {}
            done = subprocess.run(
                [node(), "--test", "--test-reporter=tap", "test/presence.test.mjs"],
                cwd=CLIENT,
                env={**os.environ, "COLLECTOR": address, "KEY": key, **more},
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, failures(done)
            assert "# skipped 0" in done.stdout
            for client, command in (("java", [*java, "dither.Checks"]), ("go", [*binary, "-check"])):
                words = ("presence", str(tmp_path / f"{client}{number}.account"), address, key)
                told = checks(command, *words, *(["back"] if number < 3 else []))
                expected = ["used 1 0 []", "silent 0 0 []"]
                assert told == [*expected, *(["1", "1 0 []", "silent 0"] if number < 3 else [])]
        collector.stop()
    assert messages(store) == 3 * 5
