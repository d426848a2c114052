"""Answers of an account: processor time on the embedded store, beside a bare commit of SQLite.

`python -m tools.benchmarks.account`. The goal for an answer is 5 ms of processor time. The unit of the ratios
is one committed row of a bare SQLite file with the same settings, measured in the same run.
"""

from __future__ import annotations

import platform
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import dither as dt
from dither.foundation.tables import as_text

COUNT, REPEATS = 40, 5
GOAL = 5.0  # ms of processor time for an answer
SIZES = (0, 1000, 10_000)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        _measure(Path(folder))


def _measure(folder: Path) -> None:
    unit = _milliseconds(_bare(folder / "bare.sqlite"))
    print(f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}.")
    print(
        f"One committed row of a bare file: {unit:.2f} ms of processor time. Least of {REPEATS} × {COUNT}.\n"
    )
    podium = dt.Inquiry("number", dt.Podium(dt.Interval(0, 1), epsilon=0.001), asker="clinic.example")
    olh = dt.Inquiry("category", dt.OLH(dt.Categories(1000), epsilon=0.001), asker="clinic.example")
    same = dt.Inquiry("kept", podium.question, asker="clinic.example", repeat="same")
    rows = []
    for size in SIZES:
        path = folder / f"{size}.account"
        account = dt.Account.create(path, epsilon=10_000)
        account._store._connection.execute("PRAGMA synchronous = OFF")  # filling need not be durable
        for _ in range(size):
            account.answer(podium, 0.5)
        account.close()
        begin = time.process_time()
        account = dt.Account.open(path)
        opening = (time.process_time() - begin) * 1e3
        tasks = {
            "answer, Podium": lambda account=account: account.answer(podium, 0.5),
            "answer, OLH": lambda account=account: account.answer(olh, 7),
            "answer, permanent": lambda account=account: account.answer(same, 0.5),
            "dry run": lambda account=account: account.dry_run(podium),
            "what is left": lambda account=account: account.left,
        }
        for name, task in tasks.items():
            taken = _milliseconds(task)
            goal = (
                "" if not name.startswith("answer") else f"{GOAL:g}" + ("" if taken <= GOAL else "  MISSED")
            )
            rows.append((f"{size}", name, f"{taken:.2f}", f"{taken / unit:.1f}", goal))
        rows.append((f"{size}", "open and check the file", f"{opening:.1f}", f"{opening / unit:.0f}", ""))
    print(as_text(["answers before", "", "ms", "÷ bare row", "goal, ms"], rows, align="rlrrl"))


def _milliseconds(task: Callable[[], object]) -> float:
    """Return the processor milliseconds of one call, the least over several runs of many."""
    best = float("inf")
    for _ in range(REPEATS):
        begin = time.process_time()
        for _ in range(COUNT):
            task()
        best = min(best, time.process_time() - begin)
    return best / COUNT * 1e3


def _bare(path: Path) -> Callable[[], object]:
    connection = sqlite3.connect(path, isolation_level=None)
    for line in ("journal_mode = DELETE", "synchronous = EXTRA", "secure_delete = ON"):
        connection.execute(f"PRAGMA {line}")
    connection.execute("CREATE TABLE rows (number INTEGER PRIMARY KEY, data BLOB)")
    return lambda: connection.execute("INSERT INTO rows (data) VALUES (?)", (bytes(300),))


if __name__ == "__main__":
    main()
