"""Run by a test: perturb on a cluster, kill -9 an executor in the middle, and print what is there afterwards.

python killed_executor.py FOLDER
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import dither as dt
from tests.data.across.spark.cluster import package_environment, standalone

ROWS, PARTITIONS, SECONDS = 240_000, 12, 1.5
QUESTIONS = {
    "minutes": dt.Podium(dt.Interval(0, 180), epsilon=1),
    "shop": dt.OLH(dt.Categories(["x", "y", "z"]), epsilon=1),
}


def slowly(batches: Iterator[Any], *, log: str) -> Iterator[Any]:
    """Pass batches on after a while, and note which attempt of which partition was run."""
    from pyspark import TaskContext

    context: Any = TaskContext.get()
    line = f"{context.partitionId()} {context.attemptNumber()}\n"
    with Path(log).open("a") as notes:
        notes.write(line)
    for batch in batches:
        time.sleep(SECONDS / 2)
        yield batch
        time.sleep(SECONDS / 2)


def visible(path: Path) -> list[str]:
    """Return the files that readers of a folder see."""
    if not path.exists():
        return []
    return sorted(one.name for one in path.iterdir() if not one.name.startswith(("_", ".")))


def main(folder: Path) -> None:
    environment = package_environment()
    os.environ.update(environment)
    log, path = folder / "attempts", folder / "reports"
    with standalone(folder, environment) as cluster:
        settings = {
            "spark.executor.memory": "512m",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
        }
        spark = dt.data.spark.session(cluster.url, settings)
        values = spark.range(0, ROWS, 1, PARTITIONS).selectExpr(
            "id",
            "CAST(60 AS double) AS minutes",
            "element_at(array('x', 'y'), CAST(id % 2 + 1 AS int)) AS shop",
        )
        slow = values.mapInArrow(partial(slowly, log=str(log)), values.schema)
        killed: list[int] = []
        early: set[str] = set()

        def begun() -> int:
            return len({line.split()[0] for line in log.read_text().splitlines()}) if log.exists() else 0

        def watch() -> None:
            """Kill an executor once tasks have written something; note what readers see while tasks run."""
            while not done.is_set():
                there = visible(path)
                tasks = begun()
                if tasks < PARTITIONS:
                    early.update(there)
                if tasks >= PARTITIONS // 3 and not killed:
                    for executor in cluster.executors()[:1]:
                        os.kill(executor, signal.SIGKILL)
                        killed.append(executor)
                time.sleep(0.01)

        done = threading.Event()
        watching = threading.Thread(target=watch, daemon=True)
        watching.start()
        reports = dt.data.spark.perturb(slow, QUESTIONS, path, keep=["id"])
        done.set()
        watching.join()
        attempts = log.read_text().splitlines()

        def digest() -> str:
            rows = sorted(map(tuple, reports.collect()))
            return hashlib.sha256(repr(rows).encode()).hexdigest()

        def bytes_of() -> dict[str, str]:
            return {one: hashlib.sha256((path / one).read_bytes()).hexdigest() for one in visible(path)}

        files, first, second = bytes_of(), digest(), digest()
        lowest, highest = reports.selectExpr("min(minutes)", "max(minutes)").first()
        counts = dt.data.spark.summarise(reports)
        found = {
            "killed": len(killed),
            "attempts": len(attempts),
            "repeated": sum(not line.endswith(" 0") for line in attempts),
            "rows": reports.count(),
            "distinct": reports.select("id").distinct().count(),
            "lowest": lowest,
            "highest": highest,
            "seeds": reports.selectExpr("shop DIV 65536").distinct().count(),
            "same rows": first == second,
            "same files": files == bytes_of(),
            "files": len(files),
            "left": sorted(one.name for one in path.iterdir() if one.name.startswith("_")),
            "mode": oct(path.stat().st_mode & 0o777),
            "seen early": sorted(early),
            "n": {name: one.n for name, one in counts.items()},
            "mean": float(dt.mean(counts["minutes"])),
            "error": dt.mean(counts["minutes"]).standard_error,
            "attempts after reading": len(log.read_text().splitlines()),
        }
        spark.stop()
    print("FOUND " + json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
