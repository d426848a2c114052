"""Many repetitions of a collection at once: honest reports, liars who send the most extreme one, and looks.

python -m tools.repetitions      prints the tables of docs/estimation.md; or lies, or looks
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

import dither as dt
from dither.core.question import CategoryQuestion
from dither.estimation.reading import least_variance_reading
from dither.mechanisms.frequency.base import CategoryMechanism

UNIT, FRUIT = dt.Interval(0, 1), dt.Categories(["apple", "pear", "plum", "quince"])
SHARES = np.array([0.55, 0.3, 0.1, 0.05])
MEAN = 2 / 7  # of Beta(2, 5)


def mechanism(kind: Any, epsilon: float) -> Any:
    if issubclass(kind, CategoryMechanism):
        return kind(FRUIT, epsilon=epsilon)
    return kind(UNIT, epsilon=epsilon, **({} if kind is dt.Duchi else {"cells": 1 << 10}))


def truth(design: Any) -> Any:
    return SHARES if isinstance(design, CategoryMechanism) else MEAN


def estimate(reports: Any) -> Any:
    return (
        dt.frequencies(reports)
        if isinstance(dt.Counts.of(reports).question, CategoryQuestion)
        else dt.mean(reports)
    )


def people(design: Any, rng: np.random.Generator, n: int) -> Any:
    if isinstance(design, CategoryMechanism):
        return np.asarray(FRUIT.labels)[rng.choice(SHARES.size, n, p=SHARES)]
    return rng.beta(2, 5, n)


def most_extreme(design: Any, upwards: bool, rng: np.random.Generator) -> Any:
    """Return the raw report with the greatest gain: for the mean, or for the share of apples."""
    if not isinstance(design, CategoryMechanism):
        reading = least_variance_reading(design.question)
        assert reading is not None
        return int(np.argmax(reading.values) if upwards else np.argmin(reading.values))
    # Tried out: of many reports of the best or the worst answer, the one that moves the estimate most.
    asked = design.perturb(["apple" if upwards else "quince"] * 64, source=dt.Seeded(3))
    gains = [float(dt.frequencies(asked[place : place + 1])["apple"].value) for place in range(64)]
    place = int(np.argmax(gains) if upwards else np.argmin(gains))
    return asked.cells[place]


def attacked(
    design: Any, *, n: int, share: float, upwards: bool, repetitions: int, seed: int
) -> Iterator[tuple[Any, Any]]:
    """Yield the estimate of n reports, a share of them the most extreme, and the truth about the others."""
    rng, source = np.random.default_rng(seed), dt.Seeded(seed)
    lie, liars = most_extreme(design, upwards, rng), round(share * n)
    for _ in range(repetitions):
        honest = design.perturb(people(design, rng, n - liars), source=source)
        lies = np.repeat(np.asarray(lie, dtype=honest.cells.dtype)[None], liars, axis=0)
        yield estimate(design.reports(np.concatenate([honest.cells, lies]))), truth(design)


def looked_at(
    design: Any, *, sizes: np.ndarray, repetitions: int, seed: int, ask: Callable[[Any], Any] | None = None
) -> Iterator[tuple[list[Any], Any]]:
    """Yield the estimates of one growing collection at every size, and the truth."""
    rng, source = np.random.default_rng(seed), dt.Seeded(seed)
    cuts = np.concatenate([[0], sizes])
    for _ in range(repetitions):
        reports = design.perturb(people(design, rng, int(sizes[-1])), source=source)
        parts = [dt.Counts.of(reports[a:b]) for a, b in pairwise(cuts)]
        whole, seen = dt.Counts.empty(design), []
        for part in parts:
            whole = whole + part
            if ask is not None:
                seen.append(ask(whole))
            else:
                seen.append(
                    dt.frequencies(whole) if isinstance(design, CategoryMechanism) else dt.mean(whole)
                )
        yield seen, truth(design)


def sizes_of_looks(first: int, last: int, looks: int = 100) -> np.ndarray:
    return np.unique(np.round(np.geomspace(first, last, looks)).astype(int))


def held(estimate: Any, value: Any, category: int = 0) -> bool:
    """Return whether the 95 % interval holds the truth; of frequencies, that of the first category."""
    low, high = (np.atleast_1d(end)[category] for end in estimate.interval())
    return bool(low <= np.atleast_1d(value)[category] <= high)


KINDS = (dt.Podium, dt.Duchi, dt.Hybrid, dt.Laplace, dt.KRR, dt.OUE, dt.OLH)


def lies() -> None:
    print("| mechanism | lies | plain intervals | `if_lying` |\n|---|---|---|---|")
    for kind in KINDS:
        for share in (0.01, 0.05):
            plain, wide, runs = 0, 0, 1000
            for upwards in (True, False):
                for found, value in attacked(
                    mechanism(kind, 1.0),
                    n=10_000,
                    share=share,
                    upwards=upwards,
                    repetitions=runs // 2,
                    seed=1,
                ):
                    plain, wide = plain + held(found, value), wide + held(found.if_lying(share), value)
            print(f"| {kind.__name__} | {share:.0%} | {plain / runs:.1%} | {wide / runs:.1%} |")


def looks() -> None:
    print("| mechanism | plain intervals | `over_looks(100)` | `at_any_time()` |\n|---|---|---|---|")
    for kind in KINDS:
        plain, fixed, wide, runs = 0, 0, 0, 200
        for seen, value in looked_at(
            mechanism(kind, 1.0), sizes=sizes_of_looks(100, 20_000), repetitions=runs, seed=2
        ):
            plain += all(held(estimate, value) for estimate in seen)
            fixed += all(held(estimate.over_looks(100), value) for estimate in seen)
            wide += all(held(estimate.at_any_time(), value) for estimate in seen)
        print(f"| {kind.__name__} | {plain / runs:.1%} | {fixed / runs:.1%} | {wide / runs:.1%} |")


if __name__ == "__main__":
    for table in sys.argv[1:] or ["lies", "looks"]:
        {"lies": lies, "looks": looks}[table]()
