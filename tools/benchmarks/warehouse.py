"""Counting window reports in DuckDB, on two threads: the query of `dither sql` against a plain GROUP BY.

ROWS=100000000 sets the number of reports, DAYS=1 that of days, UNIQUE=1 leaves out their batches.
Every task runs in a process of its own and says its memory.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.benchmarks.timing import table

ROWS = int(os.environ.get("ROWS", "10000000"))
REPETITIONS = int(os.environ.get("REPETITIONS", "3"))
MEMORY = os.environ.get("MEMORY", "350MB")  # DuckDB's limit; the process needs more
UNIQUE = bool(os.environ.get("UNIQUE"))  # without batches: a smaller table, and no duplicates to remove
DAYS = int(os.environ.get("DAYS", "10"))

_TASK = """
import json, sys, time
import duckdb
path, memory, folder, *queries = sys.argv[1:]
base = duckdb.connect(path, read_only=True)
base.execute("SET threads = 2")
base.execute("SET enable_progress_bar = false")
base.execute(f"SET memory_limit = '{memory}'")
base.execute(f"SET temp_directory = '{folder}'")
base.execute("SET preserve_insertion_order = false")
base.execute("SET enable_profiling = 'json'")
base.execute(f"SET profiling_output = '{folder}/profile.json'")
begin, spent, rows, spilled = time.perf_counter(), time.process_time(), 0, 0
for query in queries:
    for batch in base.sql(query).to_arrow_reader(100000):
        rows += batch.num_rows
    with open(f"{folder}/profile.json") as file:
        spilled = max(spilled, json.load(file).get("system", {}).get("peak_temp_dir_size", 0) / 1e6)
wall, spent = time.perf_counter() - begin, time.process_time() - spent
with open("/proc/self/status") as file:  # what getrusage says begins with the parent's memory
    peak = next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))
print(json.dumps([wall, spent, peak, rows, spilled]))
"""


def once(base: Path, queries: list[str]) -> tuple[float, ...]:
    """Return wall seconds, processor seconds, peak memory in MB, rows, and MB on disk of some queries."""
    words = [sys.executable, "-c", _TASK, str(base), MEMORY, str(base.parent), *queries]
    ended = subprocess.run(words, capture_output=True, text=True, check=True)
    return tuple(json.loads(ended.stdout.splitlines()[-1]))


def build(path: Path, fingerprint: str) -> None:
    """Write a table of window reports: of ten days, three labels, and a batch each."""
    import duckdb

    with duckdb.connect(str(path)) as base:
        base.execute("SET threads = 2")
        base.execute(f"SET memory_limit = '{MEMORY}'")
        base.execute("SET preserve_insertion_order = false")
        base.execute(
            f"""CREATE TABLE reports AS SELECT
            DATE '2026-11-01' + CAST(i * {DAYS} // {ROWS} AS INTEGER) AS day,
            ['eu', 'us', 'asia'][1 + CAST(hash(i, 1) % 3 AS INTEGER)] AS label,
            'minutes' AS question, '{fingerprint}' AS fingerprint,
            {"" if UNIQUE else "uuid() AS batch, 0 AS place,"} CAST(hash(i, 2) % 65536 AS USMALLINT) AS report
            FROM range({ROWS}) AS t (i)"""
        )


def main() -> None:
    try:
        import duckdb
    except ImportError:
        print("needs the extra `sql`")
        return
    from datetime import date, timedelta

    import dither as dt
    from dither.data import sql

    assert duckdb
    question = {"minutes": dt.Podium(dt.Interval(0, 180), epsilon=1)}
    whole = sql.ReportTable(report_hex=None)
    unique = whole.rename({"batch": None})
    alone = unique.rename({"day": None, "label": None})
    first = date(2026, 11, 1)
    tasks = {
        "plain, by report": ["SELECT report, COUNT(*) FROM reports GROUP BY report"],
        "plain, by day, label, report": [
            "SELECT day, label, report, COUNT(*) FROM reports GROUP BY day, label, report"
        ],
        "dither, all days and labels together": [sql.counting_query(question, "duckdb", alone)],
        "dither, by day and label": [sql.counting_query(question, "duckdb", unique)],
        "dither, duplicates removed day by day": [
            sql.counting_query(question, "duckdb", whole, day=first + timedelta(days=day), retries=0)
            for day in range(DAYS)
        ],
    }
    if UNIQUE:
        del tasks["dither, duplicates removed day by day"]
    with TemporaryDirectory(dir=os.environ.get("FOLDER")) as folder:
        base = Path(folder) / "reports.db"
        build(base, question["minutes"].fingerprint)
        best = dict.fromkeys(tasks, (float("inf"),) * 5)
        for _ in range(REPETITIONS):
            for name, queries in tasks.items():
                best[name] = tuple(map(min, best[name], once(base, queries)))
        size = base.stat().st_size / 1e6
    print(f"{ROWS} reports, {size:.0f} MB; load average {os.getloadavg()[0]:.1f}")
    for name, (wall, spent, memory, rows, spilled) in best.items():
        print(
            f"{name:38s} wall {wall:6.2f} s, processor {spent:6.2f} s, peak {memory:.0f} MB, "
            f"on disk {spilled:.0f} MB, {rows:.0f} rows"
        )
    pairs = [
        ("dither, all days and labels together", "plain, by report"),
        ("dither, by day and label", "plain, by day, label, report"),
    ]
    print(table([(ours, best[ours][1] / best[plain][1], 1.3) for ours, plain in pairs], "plain, processor"))


if __name__ == "__main__":
    main()
