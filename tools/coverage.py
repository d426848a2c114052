"""How often intervals hold the population's value: measured, case by case.

python -m tools.coverage        measures what is not recorded, and makes the table of docs/coverage.md
python -m tools.coverage page   makes the table from the record alone
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import dither as dt
from tests.support.repository import ROOT

EPSILONS = (0.5, 1.0, 4.0)
RECORDED = ROOT / "tools" / "recorded" / "coverage.json"
PAGE = ROOT / "docs" / "coverage.md"
UNIT, TURN = dt.Interval(0, 1), dt.Circle(2 * math.pi)


@dataclass(frozen=True)
class Population:
    """Where people come from, and what is true of them."""

    name: str
    draw: Callable[[np.random.Generator, int], Any]
    truth: dict[str, float]


SKEWED = Population(
    "Beta(2, 5)",
    lambda rng, n: rng.beta(2, 5, n),
    {"mean": 2 / 7, "variance": 10 / 392, "0.5": 0.26444998329566005, "0.9": 0.5103163066158122},
)
NARROW = Population("Beta(2, 40)", lambda rng, n: rng.beta(2, 40, n), {"mean": 2 / 42})
SPOT = Population("all at 0.3", lambda rng, n: np.full(n, 0.3), {"0.5": 0.3})
LOWEST = Population("all lowest", lambda rng, n: np.zeros(n), {"mean": 0.0, "variance": 0.0})
RARE = Population("5 % highest", lambda rng, n: (rng.random(n) < 0.05) * 1.0, {"mean": 0.05})
POINTED = Population(
    "von Mises(1, 2)",
    lambda rng, n: rng.vonmises(1, 2, n) % TURN.period,
    {"mean": 1.0, "resultant": 0.697774657964008},
)
SPREAD = Population(
    "von Mises(1, 0.1)",
    lambda rng, n: rng.vonmises(1, 0.1, n) % TURN.period,
    {"mean": 1.0, "resultant": 0.04993758},
)


@dataclass(frozen=True)
class Case:
    """A question asked of reports of one mechanism about one population."""

    kind: Any
    population: Population
    question: str
    method: Any = "linear"
    sizes: tuple[int, ...] = (10_000,)

    @property
    def name(self) -> str:
        question = self.question if self.question.isalpha() else f"quantile {self.question}"
        return f"{self.kind.__name__}, {question}, {self.population.name}, {self.method}"

    @property
    def repetitions(self) -> int:
        """How often it is repeated: fits take longer than averages."""
        if self.method == "linear":
            return 2000
        return 400 if self.kind is dt.Duchi else 200 if self.question == "mean" else 60

    def mechanism(self, epsilon: float) -> Any:
        cells = {} if self.kind is dt.Duchi else {"cells": 1 << 12}  # enough, and faster than 2^16
        return self.kind(TURN if self.population in (POINTED, SPREAD) else UNIT, epsilon=epsilon, **cells)

    def estimate(self, reports: Any) -> Any:
        if self.question in ("mean", "variance", "resultant"):
            return getattr(dt, self.question)(reports, method=self.method)
        return dt.quantile(reports, float(self.question), method=self.method)

    def covered(self, epsilon: float, n: int, repetitions: int, seed: int) -> float:
        """Give the share of repetitions in which the 95 % interval holds the truth."""
        mechanism, rng, source = self.mechanism(epsilon), np.random.default_rng(seed), dt.Seeded(seed)
        truth = self.population.truth[self.question]
        hits = sum(
            bool(self.estimate(mechanism.perturb(self.population.draw(rng, n), source=source)).covers(truth))
            for _ in range(repetitions)
        )
        return hits / repetitions


SMALL = (100, 1000)
LINEAR = [
    *(
        Case(kind, population, "mean", sizes=SMALL)
        for kind in (dt.Podium, dt.Hybrid, dt.Duchi, dt.SW, dt.Laplace)
        for population in (SKEWED, LOWEST, RARE)
    ),
    Case(dt.Podium, SKEWED, "variance", sizes=(1000,)),
    *(Case(kind, LOWEST, "variance", sizes=(300,)) for kind in (dt.SW, dt.Laplace)),
    Case(dt.OGPM, POINTED, "mean", sizes=SMALL),
]
LIKELIHOOD = [
    Case(dt.SW, SKEWED, "mean", "likelihood"),
    Case(dt.SW, NARROW, "mean", "likelihood"),
    Case(dt.OGPM, SKEWED, "mean", "likelihood"),
    Case(dt.Duchi, SKEWED, "mean", "likelihood"),
    Case(dt.SW, SKEWED, "variance", "likelihood"),
    Case(dt.SW, SKEWED, "0.5", "likelihood"),
    Case(dt.SW, SKEWED, "0.9", "likelihood"),
    Case(dt.SW, SPOT, "0.5", "likelihood"),
    Case(dt.OGPM, SKEWED, "0.5", "likelihood"),
    Case(dt.Podium, SKEWED, "0.5", "likelihood"),
    Case(dt.SW, SKEWED, "0.5", "empirical bayes"),
    Case(dt.SW, SKEWED, "0.9", "empirical bayes"),
    Case(dt.SW, SPOT, "0.5", "empirical bayes"),
    Case(dt.Podium, SKEWED, "0.5", "empirical bayes"),
    Case(dt.OGPM, POINTED, "resultant"),
    Case(dt.OGPM, SPREAD, "resultant"),
    Case(dt.SW, POINTED, "resultant"),
]


def lowest(level: float, repetitions: int) -> int:
    """Return the number of hits below which a coverage of `level` falls less than once in a million times."""
    hits, below = 0, 0.0
    chance = repetitions * math.log1p(-level)  # as a logarithm: 0.05^300 is not a float
    while (below := below + math.exp(chance)) < 1e-6:
        chance += math.log((repetitions - hits) / (hits + 1) * level / (1 - level))
        hits += 1
    return hits


def recorded() -> dict[str, tuple[float, int]]:
    """Return the share that held and how often it was repeated, for each case, number of people and ε."""
    if not RECORDED.exists():
        return {}
    return {key: (share, many) for key, (share, many) in json.loads(RECORDED.read_text("utf-8")).items()}


def record() -> None:
    """Measure the cells that are not recorded, and write them as they come."""
    kept = recorded()
    for case, n, epsilon in cells():
        key = f"{case.name}, n = {n}, ε = {epsilon:g}"
        if key not in kept:
            many = case.repetitions
            kept[key] = case.covered(epsilon, n, many, seed=1), many
            print(key, *kept[key], flush=True)
            lines = (
                f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(row)}" for name, row in kept.items()
            )
            RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def cells() -> list[tuple[Case, int, float]]:
    """Return the cases with each number of people and ε."""
    return [(case, n, e) for case in (*LINEAR, *LIKELIHOOD) for n in case.sizes for e in EPSILONS]


def table() -> str:
    """Return the table in Markdown, from the record."""
    kept, lines = (
        recorded(),
        ["| case | n | repetitions | ε = 0.5 | ε = 1 | ε = 4 |", "|---|---|---|---|---|---|"],
    )
    for case in (*LINEAR, *LIKELIHOOD):
        for n in case.sizes:
            found = [kept[f"{case.name}, n = {n}, ε = {epsilon:g}"] for epsilon in EPSILONS]
            shares = " | ".join(f"{100 * share:.1f} %" for share, _ in found)
            many = min(times for _, times in found)
            lines.append(f"| {case.name} | {n} | {many} | {shares} |")
    return "\n".join(lines)


def write(page: Path, text: str, mark: str = "coverage") -> None:
    """Put the table between the two marks of a page."""
    begin, end = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
    old = page.read_text(encoding="utf-8")
    head, rest = old.split(begin)
    tail = rest.split(end)[1]
    page.write_text(f"{head}{begin}\n{text}\n{end}{tail}", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] != ["page"]:
        record()
    write(PAGE, table())
