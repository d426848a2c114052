"""From reports to a distribution: one step of EM, and the whole way, against the dense matrix product.

Processor seconds on one core each, minima over turns; so the table is measured in a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

import dither as dt
from dither.estimation.likelihood import Fit, grid, step

COUNT = 10**6
MOST_STEPS = 500_000

ONE_CORE = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}


def main() -> None:
    subprocess.run(
        [sys.executable, "-m", "tools.benchmarks.estimation"], env=os.environ | ONE_CORE, check=True
    )


def measure() -> None:
    mechanism = dt.SW(dt.Interval(0, 1), epsilon=1)
    values = np.random.default_rng(1).beta(2, 5, COUNT)
    reports = mechanism.perturb(values, source=dt.Seeded(1))
    summary = dt.Counts.of(reports)
    dense = {}
    rows = []
    for bins, goal in ((1024, 15), (4096, 150)):
        operator = grid(mechanism.question, bins)
        shares = operator.counts(summary.counts) / COUNT
        even = np.full(bins, 1.0 / bins)
        matrix = operator.dense()

        def product(matrix=matrix, shares=shares, even=even):
            return even * ((shares / (matrix @ even)) @ matrix)

        def window(operator=operator, shares=shares, even=even):
            return step(operator, shares, even, operator.forward(even))

        assert np.allclose(product(), window(), rtol=1e-9)
        dense[bins], fast = minima(product, window, turns=20 * 1024 // bins, times=10)
        size = f"{bins} bins, {operator.shape[0]} rows"
        print(f"{size}: dense {dense[bins] * 1e6:.0f} µs, window {fast * 1e6:.0f} µs")
        rows.append((f"a step at {bins} bins", fast / dense[bins], 1 / goal))

    (whole,) = minima(lambda: dt.distribution(reports, 1024, method="likelihood"), turns=7)
    fit = dt.distribution(reports, 1024, method="likelihood").fit
    steps = plain(fit)
    print(
        f"n = 10^6, 1024 bins: {whole * 1e3:.0f} ms, {fit.steps} steps; plain EM needs {steps} to get there"
    )
    rows.append(("reports → distribution, 1024 bins", whole / (steps * dense[1024]), 1 / 200))
    for name, ratio, goal in rows:
        print(
            f"{name}: {1 / ratio:.0f} × faster than dense (goal {1 / goal:.0f} ×){' MISSED' * (ratio > goal)}"
        )


def plain(fit: Fit) -> int:
    """Count the plain steps of EM that reach a fit's likelihood: the same with either matrix."""
    operator, counts = fit.operator, fit.counts
    shares = counts / counts.sum()
    now = np.full(fit.probabilities.size, 1.0 / fit.probabilities.size)
    for steps in range(MOST_STEPS):
        expected = operator.forward(now)
        if steps % 500 == 0 and float(counts @ np.log(expected)) >= fit.log_likelihood:
            return steps
        now = step(operator, shares, now, expected)
    return MOST_STEPS


def minima(*tasks: Callable[[], object], turns: int, times: int = 1) -> list[float]:
    """Give the least processor time of each task; the tasks take turns, several times in a row as EM does."""
    best = [float("inf")] * len(tasks)
    for _ in range(turns):
        for place, task in enumerate(tasks):
            for _ in range(times):
                begin = time.process_time()
                task()
                best[place] = min(best[place], time.process_time() - begin)
    return best


if __name__ == "__main__":
    measure() if os.environ.items() >= ONE_CORE.items() else main()
