"""What a classifier keeps: a curve over 50 budgets from one set of queries, and closed forms for many boxes.

`python -m tools.benchmarks.classifiers`. The queries are those of a forest of 100 trees, asked outright.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import dither as dt
from dither import results
from tools.benchmarks.timing import minima, table

QUERIES, BUDGETS, BOXES, SUMS = 20_000, 50, 10**5, 50


def main() -> None:
    from sklearn.ensemble import RandomForestClassifier

    generator = np.random.default_rng(1)
    people = generator.random((2_000, 6))
    noisy = people[:, 0] + people[:, 1] ** 2 + 0.2 * generator.normal(size=2_000)
    forest = RandomForestClassifier(100, random_state=0).fit(people, noisy > 0.8)
    names, asked = ["age", "bmi", "a", "b", "c", "d"], generator.random((QUERIES, 6))
    unit, x = dt.Interval(0, 1), people[0]
    budgets = np.geomspace(0.2, 20, BUDGETS).tolist()
    kinds = {
        "OGPM": dt.OGPM(unit, epsilon=1),
        "PM": dt.PM(unit, epsilon=1),
        "Laplace, clamped": dt.Laplace(unit, epsilon=1).truncated(),
        "exponential, 101 points": dt.Exponential(unit, np.linspace(0, 1, 101), epsilon=1),
    }
    tasks = {"queries": lambda: forest.predict(asked)}
    for name, kind in kinds.items():
        tasks[name] = lambda kind=kind: _curve(forest, x, kind, budgets, names)
    best = minima(tasks, 5)
    print(f"{QUERIES:.0e} queries of a forest of 100 trees: {1e3 * best['queries']:.0f} ms\n")
    rows = [
        (f"curve over {BUDGETS} ε, {name}", best[name] / best["queries"], 2.0 if name == "OGPM" else None)
        for name in kinds
    ]
    print(table(rows, "queries"))

    values = generator.random(BOXES)
    low, high = np.sort(generator.random((2, BOXES)), axis=0)
    corners = np.stack([low, low], axis=-1), np.stack([high, high], axis=-1)
    both = {name: dt.Each(age=kind, bmi=kind) for name, kind in kinds.items()}
    tasks = {
        "sum": lambda: [np.sum(values) for _ in range(SUMS)],
        "sum of two": lambda: [np.sum(corners[0]) for _ in range(SUMS)],
    }
    for name, kind in kinds.items():
        tasks[name] = lambda kind=kind: dt.classifiers.concentration(kind, (low, high), 0.4)
        tasks[f"{name}, two features"] = lambda pair=both[name]: dt.classifiers.concentration(
            pair, corners, [0.4, 0.7]
        )
    best = minima(tasks, 15)
    one, two = best.pop("sum") / SUMS, best.pop("sum of two") / SUMS
    print(f"\nnp.sum over {BOXES:.0e} values: {1e6 * one:.0f} µs; over {2 * BOXES:.0e}: {1e6 * two:.0f} µs\n")
    rows = [
        (f"{BOXES:.0e} boxes, {name}", time / (two if name.endswith("features") else one), 200.0)
        for name, time in best.items()
    ]
    print(table(rows, "np.sum"))


def _curve(
    forest: Any, x: np.ndarray, kind: dt.OGPM, budgets: list[float], names: list[str]
) -> results.Curve:
    return dt.classifiers.utility_curve(
        forest.predict,
        x,
        dt.Each(age=kind, bmi=kind),
        budgets,
        queries=QUERIES,
        method="importance sampling",
        names=names,
    )


if __name__ == "__main__":
    main()
