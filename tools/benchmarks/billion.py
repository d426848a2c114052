"""10^9 reports, counted once by the query of `dither sql` in DuckDB, on two cores.

`ROWS=1e9 FOLDER=/data python -m tools.benchmarks.billion`: ten Parquet files, one for each day, with the
columns of an export but batch and place (2.2 GB in FOLDER, which are removed). The reports are drawn by the
mechanism; the counts of all of them are compared with those that numpy made of each block while it was
written. `TABLE=delta` writes ten days of a Delta table instead, by the code of the exporter, in batches of
100 reports, and counts its active files.
"""

from __future__ import annotations

import os
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import date, timedelta
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import dither as dt
from dither.collection.live import Slot
from dither.collection.store.delta import _commit, _open_or_create, _TableFiles
from dither.collection.store.export import report_columns
from dither.data import sql
from dither.data.sql.delta import active_files, load_delta

ROWS = int(float(os.environ.get("ROWS", "1e7")))
DAYS, BLOCK, BATCH = 10, 1 << 20, 100
FIRST = date(2026, 11, 2)
QUESTION = dt.Podium(dt.Interval(0, 180), epsilon=1)


def write(folder: Path) -> np.ndarray:
    """Write the files; return how often each report is in them."""
    import pyarrow as pa
    from pyarrow import parquet

    total = np.zeros(QUESTION.question.counting.size, dtype=np.int64)
    values = np.random.default_rng(1).gamma(4, 10, BLOCK).clip(0, 180)
    for day in range(DAYS):
        left, writer = ROWS // DAYS, None
        while left:
            n = min(BLOCK, left)
            cells = QUESTION.perturb(values[:n]).cells
            total += np.bincount(cells, minlength=total.size)
            same = pa.array(np.zeros(n, dtype=np.int8))
            columns = {
                "day": pa.DictionaryArray.from_arrays(same, pa.array([FIRST + timedelta(days=day)])),
                "label": pa.DictionaryArray.from_arrays(same, pa.array(["1.0"])),
                "question": pa.DictionaryArray.from_arrays(same, pa.array(["minutes"])),
                "fingerprint": pa.DictionaryArray.from_arrays(same, pa.array([QUESTION.fingerprint])),
                "report": pa.array(cells),
            }
            table = pa.table(columns)
            if writer is None:
                writer = parquet.ParquetWriter(
                    folder / f"day-{day}.parquet",
                    table.schema,
                    compression="none",
                    use_dictionary=["day", "label", "question", "fingerprint", "report"],
                )
            writer.write_table(table)
            left -= n
        if writer is not None:
            writer.close()
    return total


def write_day(folder: Path, number: int) -> tuple[list[Any], np.ndarray, float]:
    """Write the files of a day of a Delta table; return their actions, counts and processor seconds."""
    begin, random = time.process_time(), np.random.default_rng(number)
    total = np.zeros(QUESTION.question.counting.size, dtype=np.int64)
    values = random.gamma(4, 10, BLOCK).clip(0, 180)
    slot = Slot("billion", "minutes", FIRST + timedelta(days=number), "1.0")
    files, left = _TableFiles(_open_or_create(str(folder))), ROWS // DAYS
    while left:
        n = min(BLOCK, left)
        cells = QUESTION.perturb(values[:n]).cells
        total += np.bincount(cells, minlength=total.size)
        data, names = cells.astype("<u2").tobytes(), random.bytes(16 * -(-n // BATCH))
        parts = [data[at : at + 2 * BATCH] for at in range(0, len(data), 2 * BATCH)]
        ids = [names[at : at + 16] for at in range(0, len(names), 16)]
        files.write(slot.campaign, slot.day, report_columns(slot, QUESTION.question, ids, parts))
        left -= n
    files.close()
    return files.added, total, time.process_time() - begin


def write_table(folder: Path) -> tuple[np.ndarray, float, list[str]]:
    """Write a Delta table; return how often each report is in it, the processor seconds, and its files."""
    made = _open_or_create(str(folder))
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:  # a fork does not reach the store
        days = list(pool.map(partial(write_day, folder), range(DAYS)))
    added = [action for actions, _, _ in days for action in actions]
    assert _commit(load_delta(), made, added, "dither store billion", 1)
    total = np.sum([counts for _, counts, _ in days], axis=0)
    return total, sum(seconds for _, _, seconds in days), active_files(folder.as_uri())[0]


def main() -> None:
    import duckdb

    with TemporaryDirectory(dir=os.environ.get("FOLDER")) as name:
        folder = Path(name)
        begin = time.process_time()
        if os.environ.get("TABLE") == "delta":
            total, made, files = write_table(folder)
        else:
            total, files = write(folder), [str(path) for path in sorted(folder.iterdir())]
            made = time.process_time() - begin
        size = sum(Path(path).stat().st_size for path in files)
        unique = sql.ReportTable().rename({"batch": None})
        query = sql.counting_query({"minutes": QUESTION}, "duckdb", unique)
        with duckdb.connect() as base:
            base.execute("SET threads = 2")
            base.execute("SET memory_limit = '1GB'")
            base.execute(f"CREATE VIEW reports AS SELECT * FROM read_parquet({files})")
            begin, wall = time.process_time(), time.perf_counter()
            counts = base.sql(query).to_arrow_table()
            spent, wall = time.process_time() - begin, time.perf_counter() - wall
        begin = time.process_time()
        summary = dt.Counts.from_counts(QUESTION, counts)
        read = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    equal = bool((summary.counts == total).all())
    print(
        f"{ROWS} reports, {size / 1e9:.2f} GB of Parquet, {size / ROWS:.2f} bytes each; drawn and written in "
        f"{made:.0f} processor seconds"
    )
    print(
        f"counted by day and label on two cores: {spent:.1f} processor seconds, {wall:.1f} s, "
        f"peak {peak:.0f} MB; load average {os.getloadavg()[0]:.1f}"
    )
    print(f"{len(counts)} rows of counts, read back in {read:.1f} s; equal to numpy's: {equal}")
    print(f"mean: {dt.mean(summary)}")


if __name__ == "__main__":
    main()
