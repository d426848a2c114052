"""All cores: Parquet to Parquet and frame to frame, against Polars' copy of the column, and against one core.

The tasks run in processes of their own, so that the number of cores is set from outside (`taskset`, or the
affinity of the process). Wall time is what this is about: the machine must be idle otherwise.
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
REPETITIONS = int(os.environ.get("REPETITIONS", "5"))

_TASK = """
import json, os, sys, time
task, source, out, cores = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
import numpy as np, polars, pyarrow, pyarrow.parquet
pyarrow.set_cpu_count(cores)
import dither as dt
question = {"x": dt.Podium(dt.Interval(0, 1), epsilon=1)}
frame = polars.DataFrame({"x": np.random.default_rng(1).random(10**7)}) if task == "frame" else None
tasks = {
    "copy": lambda: polars.scan_parquet(source).sink_parquet(out),
    "file": lambda: dt.data.perturb_file(source, out, question, force=True),
    "frame": lambda: dt.data.perturb(frame, question),
}
dt.data.perturb(polars.DataFrame({"x": [0.5]}), question)
begin, spent = time.perf_counter(), time.process_time()
tasks[task]()
wall, spent = time.perf_counter() - begin, time.process_time() - spent
with open("/proc/self/status") as file:  # what getrusage says begins with the parent's memory
    peak = next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))
print(json.dumps([wall, spent, peak]))
"""


def once(task: str, source: Path, out: Path, cores: int) -> tuple[float, float, float]:
    """Return the wall seconds, the processor seconds and the peak memory in MB of one task."""
    words = [sys.executable, "-c", _TASK, task, str(source), str(out), str(cores)]
    environment = {**os.environ, "POLARS_MAX_THREADS": str(cores)}
    ended = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
    wall, spent, memory = json.loads(ended.stdout)
    return wall, spent, memory


def main() -> None:
    try:
        import polars
    except ImportError:
        print("needs the extra `frames`")
        return
    import numpy as np
    import pyarrow
    from pyarrow import parquet

    with TemporaryDirectory() as folder:
        source, out = Path(folder) / "in.parquet", Path(folder) / "out.parquet"
        schema, rng = pyarrow.schema([("x", pyarrow.float64())]), np.random.default_rng(1)
        with parquet.ParquetWriter(source, schema) as writer:
            for begin in range(0, ROWS, 10**6):
                part = rng.random(min(10**6, ROWS - begin))
                writer.write_table(pyarrow.table({"x": part}), row_group_size=1 << 18)
        assert polars
        cases = [("copy", 2), ("file", 2), ("file", 1), ("frame", 2), ("frame", 1)]
        best = dict.fromkeys(cases, (float("inf"),) * 3)
        for _ in range(REPETITIONS):
            for case in cases:
                best[case] = tuple(map(min, best[case], once(case[0], source, out, case[1])))
    print(f"{ROWS} rows; load average {os.getloadavg()[0]:.1f}")
    for (task, cores), (wall, spent, memory) in best.items():
        print(f"{task:6s} {cores} cores: wall {wall:.2f} s, processor {spent:.2f} s, peak {memory:.0f} MB")
    print(table([("file, 2 cores, wall", best["file", 2][0] / best["copy", 2][0], 2.0)], "Polars' copy"))
    rows = [(task, best[task, 2][0] / best[task, 1][0], 0.6) for task in ("file", "frame")]
    print(table(rows, "one core, wall"))


if __name__ == "__main__":
    main()
