"""Invariant 1 with processes that are really killed: at every statement, and at random moments."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import dither as dt

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")]

# One process imports everything, and forks a worker for each line that it reads: the statement at which the
# worker kills itself, or 0. The worker answers without end, and writes what it sends.
NURSERY = """
import json, os, signal, sqlite3, sys
import dither as dt
made, connect = [], sqlite3.connect
def noted(*args, **more):
    made.append(connect(*args, **more))
    return made[-1]
sqlite3.connect = noted
mechanism = dt.OLH(dt.Categories(1000), epsilon=1e-3)
question = dt.Inquiry("place", mechanism, asker="clinic")
kept = dt.Inquiry("home", mechanism, asker="clinic", repeat="same")
for line in sys.stdin:
    worker = os.fork()
    if worker:
        print(json.dumps({"worker": worker}), flush=True)
        os.waitpid(worker, 0)
        print(json.dumps({"dead": worker}), flush=True)
        continue
    account = dt.Account.open(sys.argv[1])
    left = int(line)
    def count(statement):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    made[-1].set_trace_callback(count)
    while True:
        for asked in (question, kept):
            identity = os.urandom(16).hex()
            report = account.answer(asked, 7, identity=identity)
            sent = {"id": identity, "question": asked.name, "bytes": asked.to_bytes(report).hex()}
            os.write(1, (json.dumps(sent) + chr(10)).encode())
        batch = account.batch("clinic", most=3)
        account.acknowledge(batch.id)
        os.write(1, (json.dumps({"acknowledged": [one.id for one in batch.reports]}) + chr(10)).encode())
"""


class Nursery:
    """Workers that share one import, and what they wrote."""

    def __init__(self, path: Path) -> None:
        command = [sys.executable, "-c", NURSERY, str(path)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.sent: dict[str, tuple[str, str]] = {}
        self.acknowledged: set[str] = set()

    def round(self, statement: int, seconds: float) -> None:
        """Start a worker, let it work, and wait until it is dead."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{statement}\n")
        self.process.stdin.flush()
        worker = json.loads(self.process.stdout.readline())["worker"]
        if not statement:
            time.sleep(seconds)
            os.kill(worker, signal.SIGKILL)
        for line in iter(self.process.stdout.readline, ""):
            data = json.loads(line)
            if "dead" in data:
                return
            if "id" in data:
                self.sent[data["id"]] = data["question"], data["bytes"]
            self.acknowledged.update(data.get("acknowledged", ()))


@pytest.fixture
def nursery(tmp_path: Path) -> Iterator[tuple[Nursery, Path]]:
    path = tmp_path / "me.account"
    dt.Account.create(path, epsilon=1000).close()
    made = Nursery(path)
    yield made, path
    made.process.kill()
    made.process.communicate()


def _check(nursery: Nursery, path: Path) -> int:
    """Check that everything sent is recorded, with its bytes, and return how many answers are recorded."""
    with dt.Account.open(path) as account:
        state = account.wire()
    entries = {entry["id"] for entry in state["entries"]}
    waiting = {item["id"]: item["report"] for item in state["queue"]}
    permanent = {answer["question"]: answer["report"] for answer in state["answers"]}
    for identity, (name, data) in nursery.sent.items():
        if name == "home":
            assert data == permanent["home"]  # drawn once in the life of the account
        else:
            assert identity in entries
        # What waits has the bytes that were sent; what does not was acknowledged, or is in the last batch.
        assert waiting.get(identity, data) == data
    assert not nursery.acknowledged & set(waiting)
    return len(entries)


def test_1_processes_killed_at_every_statement_lose_nothing(nursery: tuple[Nursery, Path]) -> None:
    workers, path = nursery
    for statement in range(1, 45):
        workers.round(statement, 0)
        _check(workers, path)
    assert len(workers.sent) > 44


def test_1_processes_killed_at_random_moments_lose_nothing(nursery: tuple[Nursery, Path]) -> None:
    workers, path = nursery
    draw = random.Random(1)
    answers = []
    for _ in range(80):
        workers.round(0, draw.uniform(0.0, 0.5))
        answers.append(_check(workers, path))
    assert answers == sorted(answers)
    assert len(workers.sent) > 100
