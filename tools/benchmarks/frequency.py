"""Frequency mechanisms: 10^6 people, 128 categories unless said; one thread, secure source, domain check.

F is the time of `numpy.random.default_rng().random(n)` for as many people.
"""

from __future__ import annotations

import time

import numpy as np

import dither as dt
from tools.benchmarks.timing import minima, table

PEOPLE = 10**6
RANDOMISE = {"KRR": 1.4, "OUE": 40.0}
AGGREGATE = {"OUE": 10.0, "HadamardResponse": 5.0}
KINDS = (
    dt.KRR,
    dt.rivals.SUE,
    dt.OUE,
    dt.OLH,
    dt.rivals.BLH,
    dt.SubsetSelection,
    dt.HadamardResponse,
    dt.ProjectiveResponse,
)
PROJECTIVE = {1024: (5.0, 1.0), 16_384: (5.0, 5.0)}  # goals of randomising and of aggregating, by categories


def main() -> None:
    rng = np.random.default_rng(1)
    answers, many = rng.integers(0, 128, PEOPLE), rng.integers(0, 1024, PEOPLE)
    tasks = {"F": lambda: rng.random(PEOPLE)}
    goals: dict[str, float | None] = {}
    for kind in KINDS:
        mechanism = kind(dt.Categories(128), epsilon=1)
        reports = mechanism.perturb(answers)
        name = kind.__name__
        tasks[f"{name}, randomise"] = lambda mechanism=mechanism: mechanism.perturb(answers)
        tasks[f"{name}, aggregate"] = lambda reports=reports: dt.frequencies(reports)
        goals[f"{name}, randomise"], goals[f"{name}, aggregate"] = RANDOMISE.get(name), AGGREGATE.get(name)
    for count, (randomise, aggregate) in PROJECTIVE.items():
        choices = rng.integers(0, count, PEOPLE)
        for epsilon in (1, 4):
            mechanism = dt.ProjectiveResponse(dt.Categories(count), epsilon=epsilon)
            reports = mechanism.perturb(choices)
            name = f"ProjectiveResponse, {count} categories, ε = {epsilon}"
            tasks[f"{name}, randomise"] = lambda mechanism=mechanism, choices=choices: mechanism.perturb(
                choices
            )
            tasks[f"{name}, aggregate"] = lambda reports=reports: dt.frequencies(reports)
            goals[f"{name}, randomise"], goals[f"{name}, aggregate"] = randomise, aggregate
    hashed = dt.OLH(dt.Categories(1024), epsilon=1).perturb(many)
    tasks["OLH, aggregate, 1 024 categories"] = lambda: dt.frequencies(hashed)
    goals["OLH, aggregate, 1 024 categories"] = 150.0
    words = ["".join(word) for word in rng.choice(list("abcdefghijklmnopqrstuvwxyz"), (300, 9))]
    texts = dt.PEM(dt.Text(12), epsilon=4).perturb(rng.choice(words, PEOPLE).tolist())
    tasks["PEM, heavy hitters"] = lambda: dt.heavy_hitters(texts)
    goals["PEM, heavy hitters"] = None
    best = minima(tasks)
    print(f"{PEOPLE:.0e} people, F = {best['F'] / PEOPLE * 1e9:.2f} ns a person")
    print(table([(name, best[name] / best["F"], goal) for name, goal in goals.items()], "F"))
    singles = [(kind.__name__, _single(kind(dt.Categories(128), epsilon=1))) for kind in KINDS]
    print("one single answer: " + ", ".join(f"{name} {micro:.0f} µs" for name, micro in singles))


def _single(mechanism: dt.KRR) -> float:
    best = float("inf")
    for _ in range(20):
        begin = time.process_time()
        for _ in range(50):
            mechanism.perturb(3)
        best = min(best, (time.process_time() - begin) / 50)
    return best * 1e6


if __name__ == "__main__":
    main()
