"""How close estimated distributions come: EM, EMS and empirical Bayes, on twelve shapes and heaped answers.

python -m tools.benchmarks.distributions [repetitions]

Errors are W1, the area between the true and the estimated cdf in lengths of the domain, and L1 over 32 bins.
The stand-ins for real columns are generated. Times are processor seconds on one core.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import dither as dt
from dither import results

EPSILONS, SIZES = (0.5, 1.0, 2.0, 4.0), (20_000, 400_000)
METHODS = {"EM": "likelihood", "EMS": "smoothed", "EB": "empirical bayes"}
GRID = np.linspace(0.0, 1.0, 2049)
ENDS = np.arange(64, 2049, 64)  # of 32 bins, in places of the grid; a value at an end counts below it
LARGE = 2_000_000  # people in a population
Draw = Callable[[np.random.Generator, int], Any]

ONE_CORE = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}


def mixed(*parts: tuple[float, Draw]) -> Draw:
    """Return people from several groups, clipped to [0, 1]."""
    shares = np.array([share for share, _ in parts])

    def draw(rng: np.random.Generator, n: int) -> Any:
        which = rng.choice(len(parts), n, p=shares / shares.sum())
        values = np.empty(n)
        for number, (_, part) in enumerate(parts):
            here = which == number
            values[here] = part(rng, int(here.sum()))
        return np.clip(values, 0.0, 1.0)

    return draw


def normal(centre: float, width: float) -> Draw:
    return lambda rng, n: rng.normal(centre, width, n)


def at(place: float) -> Draw:
    return lambda rng, n: np.full(n, place)


def uniform(low: float, high: float) -> Draw:
    return lambda rng, n: rng.uniform(low, high, n)


def beta(a: float, b: float) -> Draw:
    return lambda rng, n: rng.beta(a, b, n)


SHAPES: dict[str, Draw] = {
    "uniform": uniform(0, 1),
    "Beta(2, 5)": beta(2, 5),
    "two modes": mixed((0.5, normal(0.3, 0.07)), (0.5, normal(0.7, 0.07))),
    "narrow": mixed((1.0, normal(0.5, 0.02))),
    "step": mixed((0.8, uniform(0, 0.5)), (0.2, uniform(0.5, 1))),
    "spike": mixed((0.3, at(0.3)), (0.7, uniform(0, 1))),
    "exponential": mixed((1.0, lambda rng, n: rng.exponential(0.1, n))),
    "income, capped": mixed((1.0, lambda rng, n: rng.lognormal(-1.6, 0.7, n))),
    "time of day": mixed((0.35, normal(0.35, 0.05)), (0.4, normal(0.74, 0.07)), (0.25, uniform(0.2, 1))),
    "ages": mixed((0.3, uniform(0, 0.25)), (0.5, uniform(0.2, 0.65)), (0.2, normal(0.65, 0.12))),
    "hours worked": mixed((0.45, at(0.4)), (0.2, uniform(0, 0.4)), (0.35, normal(0.48, 0.1))),
    "contributions": mixed((0.4, at(0.0)), (0.6, lambda rng, n: rng.lognormal(-2.2, 0.8, n))),
}


def rounded(parts: int) -> Draw:
    return lambda rng, n: np.round(parts * rng.beta(2, 5, n)) / parts


def teeth(rng: np.random.Generator, n: int) -> Any:
    return (rng.integers(0, 4, n) + np.sqrt(rng.random(n))) / 4


HEAPED: dict[str, tuple[Draw, float | None]] = {
    "rounded to 5 of 180": (rounded(36), 1 / 36),
    "rounded to 15 of 180": (rounded(12), 1 / 12),
    "five-point scale": (
        lambda rng, n: rng.choice(5, n, p=[0.1, 0.15, 0.3, 0.3, 0.15]) / 4,
        0.25,
    ),
    "60 % zeros": (mixed((0.6, at(0.0)), (0.4, beta(2, 5))), None),
    "saw-tooth": (teeth, None),
}


def truth_of(draw: Draw) -> tuple[Any, Any]:
    people = np.sort(draw(np.random.default_rng(99), LARGE))
    cdf = np.searchsorted(people, GRID, side="right") / LARGE
    return cdf, np.diff(np.concatenate([[0.0], cdf[ENDS]]))


def errors(shape: results.EstimatedDistribution, truth: tuple[Any, Any]) -> tuple[float, float]:
    cdf, bins = truth
    if shape.curve is not None:
        found = shape.curve.below(GRID) @ shape.curve.shares
    else:
        found = np.interp(GRID, shape.edges, np.concatenate([[0.0], np.cumsum(shape.probabilities)]))
    shares = np.diff(np.concatenate([[0.0], found[ENDS]]))
    return float(np.abs(found - cdf).mean()), float(np.abs(shares - bins).sum())


def cell(draw: Draw, epsilon: float, n: int, repetitions: int, step: float | None = None) -> dict[str, Any]:
    """Return the mean errors, the least seconds and the mean number of atoms of each method."""
    question = dt.SW(dt.Interval(0, 1), epsilon=epsilon)
    declared = dt.SW(dt.Interval(0, 1, step=step), epsilon=epsilon)
    truth = truth_of(draw)
    found: dict[str, list[Any]] = {name: [] for name in (*METHODS, *(["declared"] if step else []))}
    for seed in range(repetitions):
        reports = question.perturb(draw(np.random.default_rng(seed), n), source=dt.Seeded(seed))
        for name, rows in found.items():
            summary = dt.Counts.of(reports)
            if name == "declared":
                summary = summary.read_by(declared)
            begin = time.process_time()
            shape = dt.distribution(summary, 128, method=METHODS.get(name, "empirical bayes"))
            spent = time.process_time() - begin
            rows.append((*errors(shape, truth), spent, len(shape.atoms)))
    means = {name: np.mean(rows, axis=0) for name, rows in found.items()}
    for name, rows in found.items():
        means[name][2] = min(row[2] for row in rows)  # what else the machine did is not counted
    return means


def _ratio(first: list[float], second: list[float]) -> float:
    return float(np.exp(np.mean(np.log(np.array(first) / np.array(second)))))


def measure(repetitions: int) -> None:
    print(f"SW, {repetitions} repetitions of each cell, means.\n")
    print("| shape | n | ε | W1 EM | EMS | EB | L1 EM | EMS | EB | EB's time / EM's |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    cells = []
    for name, draw in SHAPES.items():
        for n in SIZES:
            for epsilon in EPSILONS:
                row = cell(draw, epsilon, n, repetitions)
                cells.append(row)
                one, two = (
                    " | ".join(f"{row[method][at_]:.{digits}f}" for method in METHODS)
                    for at_, digits in ((0, 4), (1, 3))
                )
                slower = row["EB"][2] / row["EM"][2]
                print(f"| {name} | {n} | {epsilon:g} | {one} | {two} | {slower:.1f} |", flush=True)
    w, l = ({m: [row[m][at_] for row in cells] for m in METHODS} for at_ in (0, 1))  # noqa: E741
    worst = max(e / min(a, b) for e, a, b in zip(w["EB"], w["EM"], w["EMS"], strict=True))
    slow = float(np.median([row["EB"][2] / row["EM"][2] for row in cells]))
    print("\n| over all cells | measured | goal |\n|---|---|---|")
    print(f"| W1, EB / EM, geometric mean | {_ratio(w['EB'], w['EM']):.2f} | 0.55 |")
    print(f"| L1, EB / EM, geometric mean | {_ratio(l['EB'], l['EM']):.2f} | 0.25 |")
    print(f"| W1, EB / EMS, geometric mean | {_ratio(w['EB'], w['EMS']):.2f} | 0.45 |")
    print(f"| L1, EB / EMS, geometric mean | {_ratio(l['EB'], l['EMS']):.2f} | |")
    print(f"| W1, EB / the better of the two, worst cell | {worst:.2f} | 1.35 |")
    print(f"| time, EB / EM, median | {slow:.1f} | 5 |")
    print("\nAnswers as people give them. `declared`: the question has `step=`.\n")
    print("| answers | n | ε | W1 EM | EMS | EB | declared | L1 EM | EMS | EB | declared | atoms found |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for name, (draw, step) in HEAPED.items():
        for n in SIZES:
            for epsilon in EPSILONS:
                row = cell(draw, epsilon, n, repetitions, step)
                one, two = (
                    " | ".join(
                        f"{row[method][at_]:.{digits}f}" if method in row else ""
                        for method in (*METHODS, "declared")
                    )
                    for at_, digits in ((0, 4), (1, 3))
                )
                print(f"| {name} | {n} | {epsilon:g} | {one} | {two} | {row['EB'][3]:.1f} |", flush=True)


def main(repetitions: int = 4) -> None:
    arguments = [sys.executable, "-m", "tools.benchmarks.distributions", str(repetitions)]
    subprocess.run(arguments, env=os.environ | ONE_CORE, check=True)


if __name__ == "__main__":
    measure(int(sys.argv[1]) if len(sys.argv) > 1 else 4)
