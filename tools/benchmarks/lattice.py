"""Lattice mechanisms: 10^7 values in, reports out; one thread, secure source, domain check.

F is the time of `numpy.random.default_rng().random(out=…)` for as many values.
"""

from __future__ import annotations

import time

import numpy as np

import dither as dt
from tools.benchmarks.timing import minima, table

COUNT = 10**7


def main() -> None:
    unit, circle = dt.Interval(0, 1), dt.Circle(1)
    values = np.random.default_rng(1).random(COUNT)
    floor = np.empty(COUNT)
    generator = np.random.default_rng()
    cases = {
        "Laplace": (dt.Laplace(unit, epsilon=1), 6.0),
        "Staircase": (dt.Staircase(unit, epsilon=1), 6.0),
        "Gaussian": (dt.Gaussian(unit, epsilon=1, delta=1e-6), 6.0),
        "Purkayastha": (dt.rivals.Purkayastha(circle, epsilon=1), 6.0),
        "BoundedLaplace": (dt.BoundedLaplace(unit, epsilon=1), 12.0),
        "BoundedLaplace, half the sensitivity": (dt.BoundedLaplace(unit, epsilon=1, sensitivity=0.5), 12.0),
        "Exponential, 101 points": (dt.Exponential(unit, np.linspace(0, 1, 101), epsilon=1), None),
    }
    for mechanism, _ in cases.values():
        mechanism.perturb(values[:100])  # tables are built when first used
    tasks = {"F": lambda: generator.random(out=floor)}
    for name, (mechanism, _) in cases.items():
        tasks[f"{name} → reports"] = lambda mechanism=mechanism: mechanism.perturb(values)
    best = minima(tasks, 5)
    rows = [
        (f"{name} → reports", best[f"{name} → reports"] / best["F"], goal)
        for name, (_, goal) in cases.items()
    ]
    print(f"{COUNT:.0e} values, F = {best['F'] / COUNT * 1e9:.2f} ns a value")
    print(table(rows, "F"))
    for name, new in (
        ("Laplace", lambda epsilon: dt.Laplace(unit, epsilon=epsilon)),
        ("Gaussian", lambda epsilon: dt.Gaussian(unit, epsilon=epsilon, delta=1e-6)),
        ("BoundedLaplace", lambda epsilon: dt.BoundedLaplace(unit, epsilon=epsilon)),
    ):
        begin = time.process_time()
        mechanism = new(1.0625)  # a budget that nothing has built yet
        built = time.process_time()
        mechanism.perturb(0.5)
        drawn = time.process_time()
        mechanism.perturb(0.5)
        again = time.process_time()
        print(
            f"{name}: made and certified in {built - begin:.3f} s, first report {drawn - built:.3f} s, "
            f"then {(again - drawn) * 1e6:.0f} µs"
        )


if __name__ == "__main__":
    main()
