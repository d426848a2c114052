"""The command line: processor time of help and of small files, against an interpreter that imports numpy."""

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
# Goals in imports of numpy, which read files and run Python as an import of dither does. Against a bare
# interpreter the same commands took 22 to 37 times as long, and numpy alone 7 to 12 times, as machines and
# their load differ; against numpy they stayed at 3.0 to 3.5.
TASKS: dict[str, tuple[list[str], float | None]] = {
    "bare interpreter": (["-c", "pass"], None),
    "dither --help": (["-m", "dither", "--help"], 1),
    "dither estimate --help": (["-m", "dither", "estimate", "--help"], 1),
    "dither serve --help": (["-m", "dither", "serve", "--help"], 1),
    "dither estimate, 1 000 rows": (["-m", "dither", "estimate", "reports.csv"], 3.5),
    "dither perturb, 1 000 rows": (["-m", "dither", "perturb", "in.csv", *ASKED, "-o", "-"], 3.5),
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
        best = dict.fromkeys(["numpy", *TASKS], float("inf"))
        for _ in range(REPETITIONS):
            for name, (words, _goal) in {"numpy": (["-c", "import numpy"], None), **TASKS}.items():
                best[name] = min(best[name], spent(words, folder))
    unit = best["numpy"]
    print(table([(name, best[name] / unit, goal) for name, (_, goal) in TASKS.items()], "import numpy"))
    print(f"\nAn import of numpy takes {1000 * unit:.0f} ms of processor time.")


if __name__ == "__main__":
    main()
