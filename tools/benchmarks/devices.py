"""One draw of a number: the JavaScript client in Node, over `perturb` of one value in Python, in one run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import dither as dt
from tools.benchmarks.timing import minima, table

GOAL = 0.1
CALLS = 20_000
CORE = Path(__file__).parents[2] / "clients" / "javascript" / "dist" / "core.js"
CODE = """
const { readQuestion, systemSource } = await import(process.argv[1]);
let text = "";
for await (const part of process.stdin) text += part;
const question = readQuestion(text);
const source = systemSource();
let best = Infinity;
for (let round = 0; round < 10; round++) {
  const begin = process.cpuUsage().user;
  for (let i = 0; i < %d; i++) question.report(i %% 180, source);
  best = Math.min(best, process.cpuUsage().user - begin);
}
console.log(best / 1e6);
"""


def main() -> None:
    """Print the ratios."""
    node = shutil.which("node")
    if node is None:
        print("there is no Node on this machine")
        return
    rows: list[tuple[str, float, float | None]] = []
    for mechanism in (dt.Podium(dt.Interval(0, 180), epsilon=1), dt.OGPM(dt.Interval(0, 180), epsilon=1)):
        command = [node, "--input-type=module", "-e", CODE % CALLS, CORE.as_uri()]
        done = subprocess.run(command, input=mechanism.to_json(), capture_output=True, text=True, check=True)
        values = [[float(one % 180)] for one in range(2_000)]

        def alone(mechanism: dt.Podium | dt.OGPM = mechanism, values: list[list[float]] = values) -> None:
            for value in values:
                mechanism.perturb(value)

        python = minima({"one": alone})["one"] / len(values)
        rows.append((type(mechanism).__name__, float(done.stdout) / CALLS / python, GOAL))
    print(table(rows, "Python's single value"))


if __name__ == "__main__":
    main()
