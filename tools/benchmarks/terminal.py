"""The command line: processor time of help and of small files, against an interpreter that does nothing."""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.benchmarks.timing import table

ROWS = 1000
REPETITIONS = int(os.environ.get("REPETITIONS", "15"))
ASKED = ("--column", "minutes", "--interval", "0", "180", "--epsilon", "1")
# Goals on the machine of this page, where a bare interpreter takes 12 ms: 100 ms for help, 300 ms for a file.
TASKS: dict[str, tuple[list[str], float | None]] = {
    "import numpy": (["-c", "import numpy"], None),
    "dither --help": (["-m", "dither", "--help"], 8),
    "dither estimate --help": (["-m", "dither", "estimate", "--help"], 8),
    "dither serve --help": (["-m", "dither", "serve", "--help"], 8),
    "dither estimate, 1 000 rows": (["-m", "dither", "estimate", "reports.csv"], 25),
    "dither perturb, 1 000 rows": (["-m", "dither", "perturb", "in.csv", *ASKED, "-o", "-"], 25),
}


def spent(words: list[str], folder: str) -> float:
    """Return the processor seconds of an interpreter, its children's included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    with TemporaryDirectory() as folder:
        draw = random.Random(1)
        cells = "\n".join(f"{draw.uniform(0, 180):.3f}" for _ in range(ROWS))
        (Path(folder) / "in.csv").write_text(f"minutes\n{cells}\n", encoding="utf-8")
        spent(["-m", "dither", "perturb", "in.csv", *ASKED, "-o", "reports.csv"], folder)
        best = dict.fromkeys(["bare", *TASKS], float("inf"))
        for _ in range(REPETITIONS):
            for name, (words, _goal) in {"bare": (["-c", "pass"], None), **TASKS}.items():
                best[name] = min(best[name], spent(words, folder))
    bare = best["bare"]
    print(table([(name, best[name] / bare, goal) for name, (_, goal) in TASKS.items()], "bare interpreter"))
    print(f"\nA bare interpreter takes {1000 * bare:.0f} ms of processor time.")


if __name__ == "__main__":
    main()
