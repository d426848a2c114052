"""Vectors of 1 024 numbers: means of a million reports, and draws, over as many doubles of numpy in one run.

F is the time of a double. A report of d numbers is compared with d doubles when it is averaged, and with the
d·N doubles of N = 1 024 random directions when it is drawn. Seconds have goals of their own.
"""

from __future__ import annotations

import shutil
import subprocess

import numpy as np

import dither as dt
from tools.benchmarks.devices import CORE
from tools.benchmarks.timing import minima, table

DIMENSION = 1_024
PEOPLE = 1_000_000
DRAWN = 2_000
SECONDS, MILLISECONDS = 4.0, 1.0  # goals: a mean of PEOPLE reports, and one draw in JavaScript
CODE = """
const { draws, readQuestion, systemSource } = await import(process.argv[1]);
draws.directions = (await import(new URL("vectors.js", process.argv[1]))).directions;
let text = "";
for await (const part of process.stdin) text += part;
const question = readQuestion(text);
const source = systemSource();
const value = Array(%d).fill(0);
value[3] = 1;
let best = Infinity;
for (let round = 0; round < 10; round++) {
  const begin = process.cpuUsage().user;
  for (let i = 0; i < 100; i++) question.report(value, source);
  best = Math.min(best, process.cpuUsage().user - begin);
}
console.log(best / 100 / 1e3);
"""


def main() -> None:
    """Print the ratios, the seconds of a mean, and the milliseconds of a draw in JavaScript."""
    rng = np.random.default_rng(1)
    rows: list[tuple[str, float, float | None]] = []
    for size in (10, 100, 384, DIMENSION):
        design = dt.Optimal(dt.Vectors(size, exact=True), epsilon=2)
        vectors = rng.standard_normal((DRAWN // 10 if size == 100 else DRAWN, size))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        many = PEOPLE if size == DIMENSION else PEOPLE // 10
        numbers, seeds = rng.integers(1_024, size=many), rng.integers(1 << 32, size=many)
        reports = design.question.reports(seeds << 16 | numbers)
        doubles = np.empty(1_000_000)

        def draw(design: dt.Optimal = design, vectors: np.ndarray = vectors) -> None:
            design.perturb(vectors)

        def average(reports: dt.Reports = reports) -> None:
            dt.mean(reports)

        best = minima(
            {"doubles": lambda doubles=doubles: rng.random(out=doubles), "draw": draw, "mean": average}, 3
        )
        double = best["doubles"] / doubles.size
        rows += [
            (f"mean, d = {size}", best["mean"] / many / size / double, None),
            (f"draw, d = {size}", best["draw"] / len(vectors) / size / 1_024 / double, None),
        ]
    print(table(rows, "F"))
    print(f"mean of {PEOPLE} reports, d = {DIMENSION}: {best['mean']:.2f} s (goal {SECONDS:g} s)")
    node = shutil.which("node")
    if node is not None:
        done = subprocess.run(
            [node, "--input-type=module", "-e", CODE % DIMENSION, CORE.as_uri()],
            input=design.to_json(), capture_output=True, text=True, check=True,
        )  # fmt: skip
        print(
            f"one draw in JavaScript, d = {DIMENSION}: {float(done.stdout):.2f} ms (goal {MILLISECONDS:g} ms)"
        )


if __name__ == "__main__":
    main()
