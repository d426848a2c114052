"""Clients against hostile answers: a batch is acknowledged by its name alone, and nothing hangs or throws.

`tests/conformance/test_java.py` asks the Java client the same.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import dither as dt
import dither_device
from dither.collection import Client
from tests.collection.hostile import (
    SIGNED,
    Fates,
    Hostile,
    check_endless,
    check_hostile,
    check_redirects,
)
from tests.conformance.test_javascript import CLIENT, node


def _new(folder: Path) -> Path:
    return folder / f"{len(list(folder.iterdir()))}.account"


def _fate(sent: int, waiting: int) -> str:
    return "acknowledged" if sent else "kept" if waiting else "dropped"


def _by_parts(some: Callable[[Hostile, range, float], list[str]]) -> Fates:
    """Return a client that takes a new account after 200 requests: one with thousands of answers is slow."""

    def fates(server: Hostile, many: int, seconds: float) -> list[str]:
        parts = [range(begin, min(begin + 200, many)) for begin in range(0, many, 200)]
        return [fate for numbers in parts for fate in some(server, numbers, seconds)]

    return fates


def in_python(folder: Path) -> Fates:
    """`dither.collection.Client`."""

    def some(server: Hostile, numbers: range, seconds: float) -> list[str]:
        policy = dt.privacy.Policy(epsilon=2)
        with dt.Account.create(_new(folder), epsilon=100_000, policy=policy) as account:
            client = Client(f"{server.address}/v1/campaigns/{SIGNED.id}", account, timeout=seconds)
            found = []
            for number in numbers:
                if not account.queue:
                    client.answer("minutes", 42)
                client._address = client._address._replace(path=f"/{number}")
                found.append(_fate(client.send().reports, len(account.queue)))
            return found

    return _by_parts(some)


def in_device(folder: Path) -> Fates:
    """`dither_device.send`."""

    def some(server: Hostile, numbers: range, seconds: float) -> list[str]:
        campaign = dither_device.Campaign(SIGNED.to_json())
        account = dither_device.Account.create(_new(folder), epsilon=100_000)
        found = []
        for number in numbers:
            if not account.queue:
                account.answer(campaign.asking("minutes"), 42)
            done = dither_device.send(account, campaign, f"{server.address}/{number}", timeout=seconds)
            found.append(_fate(done.sent, done.waiting))
        return found

    return _by_parts(some)


def in_javascript(folder: Path) -> Fates:
    """The JavaScript client, in Node."""

    def fates(server: Hostile, many: int, seconds: float) -> list[str]:
        words = [node(), "test/hostile.mjs", server.address, str(many), str(seconds)]
        done = subprocess.run(words, cwd=CLIENT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return fates


CLIENTS = {"python": in_python, "device": in_device, "javascript": in_javascript}


@pytest.fixture(params=CLIENTS, scope="module")
def fates(request: pytest.FixtureRequest) -> Iterator[Fates]:
    """Return what a client makes of the answers with some numbers."""
    memory = Path("/dev/shm")  # where there is one, nobody waits for a disk
    folder = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
    yield CLIENTS[request.param](folder)
    shutil.rmtree(folder)


@pytest.mark.parametrize("many", [60, pytest.param(10_000, marks=pytest.mark.slow)])
def test_hostile_answers(fates: Fates, many: int) -> None:
    check_hostile(fates, many)


def test_answers_without_an_end(fates: Fates) -> None:
    check_endless(fates)


def test_redirects_go_nowhere(fates: Fates) -> None:
    check_redirects(fates)
