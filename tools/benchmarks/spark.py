"""Spark on one machine: perturb and write against a plain copy of the same Parquet files, warm."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import dither as dt
from tools.benchmarks.timing import table

ROWS = 10**7
PARTS = 4
REPETITIONS = 5
CORES = min(2, os.cpu_count() or 1)


def main() -> None:
    try:
        import pyarrow
        import pyspark  # noqa: F401
        from pyarrow import parquet
    except ImportError:
        print("needs the extra `spark`")
        return
    with TemporaryDirectory() as name:
        folder = Path(name)
        given = folder / "values"
        given.mkdir()
        rng = np.random.default_rng(1)
        for part in range(PARTS):
            ids = np.arange(part * ROWS // PARTS, (part + 1) * ROWS // PARTS)
            columns = {"id": ids, "minutes": rng.gamma(4, 10, ids.size).clip(0, 180)}
            parquet.write_table(pyarrow.table(columns), given / f"{part}.parquet")
        spark = dt.data.spark.session(f"local[{CORES}]", {"spark.driver.memory": "3g"})
        frame, out = spark.read.parquet(str(given)), folder / "out"
        minutes = {"minutes": dt.Podium(dt.Interval(0, 180), epsilon=1)}
        least = wall_minima(
            {
                "plain copy": lambda: frame.write.parquet(str(out)),
                "perturb": lambda: dt.data.spark.perturb(frame, minutes, out),
            },
            lambda: shutil.rmtree(out, ignore_errors=True),
        )
        copy = least["plain copy"]
        print(f"{ROWS:,} rows on {CORES} cores; the copy takes {copy:.2f} s".replace(",", " "))
        print(table([("perturb and write", least["perturb"] / copy, 2.5)], "copy"))
        noisy = dt.data.spark.perturb(frame, minutes, folder / "reports")
        counted = wall_minima(
            {
                "Spark's GROUP BY": lambda: noisy.groupBy("minutes").count().collect(),
                "summarise": lambda: dt.data.spark.summarise(noisy),
            },
            lambda: None,
        )
        ratio = counted["summarise"] / counted["Spark's GROUP BY"]
        print(table([("summarise", ratio, None)], "GROUP BY"))
        spark.stop()


def wall_minima(tasks: dict[str, Callable[[], object]], between: Callable[[], object]) -> dict[str, float]:
    """Return the least wall time of each task after a first, uncounted run; the tasks take turns.

    Processor time would leave out the Java process, which does most of the work.
    """
    best = dict.fromkeys(tasks, float("inf"))
    for repetition in range(REPETITIONS + 1):
        for name, task in tasks.items():
            between()
            begin = time.perf_counter()
            task()
            if repetition:
                best[name] = min(best[name], time.perf_counter() - begin)
    return best


if __name__ == "__main__":
    main()
