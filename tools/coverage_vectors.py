"""How often intervals of a mean of vectors hold the population's value: measured.

python -m tools.coverage_vectors          measures the settings that are not recorded, and makes the table
python -m tools.coverage_vectors again    measures with three times new runs where a share was outside
python -m tools.coverage_vectors page     makes the table of docs/coverage_few.md from the record alone

Drawing is the slow part: the directions of each seed. So seeds and people are drawn once, as a pool, with the
numbers of the K nearest directions of each vector. A run takes n of the pool without repetition and draws
their reports by the window of the mechanism. Its reports have the distribution of `perturb`. Two runs with
half of the pool in common have correlated errors, by less than 0.1, and the shares of intervals that hold are
correlated by the square of this, below the Monte Carlo error that is stated.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

import dither as dt
from dither.core.kernels.directions import NUMBER_BITS
from tests.support.repository import ROOT
from tools.coverage import write

RECORDED: Final = ROOT / "tools" / "recorded" / "coverage_vectors.json"
PAGE: Final = ROOT / "docs" / "coverage_few.md"
QUANTITIES: Final = ("coordinates", "projection", "length", "cosine")
EPSILONS: Final = (1.0, 4.0)
RUNS: Final = {1_000: 400, 100_000: 200}
LEAST, MOST = 0.93, 0.97
_POOL: Final = 200_000
_BLOCK: Final = 10_000
Rng = np.random.Generator


class People(NamedTuple):
    """A population of vectors: whether all have length 1, how to draw them, and their exact mean."""

    exact: bool
    draw: Callable[[Rng, int, int], Any]
    mean: Callable[[int], Any]


def _topic(d: int) -> Any:
    topic = np.random.default_rng(d).standard_normal(d)
    return topic / np.linalg.norm(topic)


def _about_a_topic(rng: Rng, n: int, d: int) -> Any:
    """Return unit vectors with the product √0.3 with the topic, uniform otherwise."""
    topic = _topic(d)
    across = rng.standard_normal((n, d))
    across -= np.outer(across @ topic, topic)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    return math.sqrt(0.3) * topic + math.sqrt(0.7) * across


def _shares(d: int) -> Any:
    shares = 1.0 / np.arange(1, d + 1)
    return shares / shares.sum()


def _single(rng: Rng, n: int, d: int) -> Any:
    """Return vectors with one number from 0 to 1 that is not 0; its index has the shares of Zipf's law."""
    vectors = np.zeros((n, d))
    vectors[np.arange(n), rng.choice(d, n, p=_shares(d))] = rng.random(n)
    return vectors


PEOPLE: Final = {
    "unit vectors about a topic": People(True, _about_a_topic, lambda d: math.sqrt(0.3) * _topic(d)),
    "vectors with one number": People(False, _single, lambda d: 0.5 * _shares(d)),
}
DIMENSIONS: Final = {
    "unit vectors about a topic": (10, 100, 384, 1_000),
    "vectors with one number": (10, 384),
}


class Pool(NamedTuple):
    """People of a population with their seeds, and for each ε the numbers of their nearest directions."""

    seeds: Any
    near: dict[float, Any]


def question(people: str, d: int, epsilon: float) -> Any:
    """Return the question of a setting."""
    return dt.Optimal(dt.Vectors(d, exact=PEOPLE[people].exact), epsilon=epsilon).question


def pool(people: str, d: int, seed: int, size: int = _POOL) -> Pool:
    """Draw people and seeds, and find the nearest directions of each person."""
    rng = np.random.default_rng(seed)
    seeds = rng.integers(1 << 32, size=size, dtype=np.uint64)
    kernels = {epsilon: question(people, d, epsilon).kernel for epsilon in EPSILONS}
    near = {
        epsilon: np.empty((size, kernel.window.width), dtype=np.uint16) for epsilon, kernel in kernels.items()
    }
    for begin in range(0, size, _BLOCK):
        block = slice(begin, min(begin + _BLOCK, size))
        vectors = PEOPLE[people].draw(rng, block.stop - begin, d)
        for epsilon, kernel in kernels.items():
            near[epsilon][block] = kernel.directions.nearest(
                kernel.lift(vectors), seeds[block], kernel.window.width
            )
    return Pool(seeds, near)


_last_pool = lru_cache(maxsize=1)(pool)


@dataclass(frozen=True)
class Setting:
    """A population of vectors of d numbers, ε, and the number of people."""

    people: str
    d: int
    n: int
    epsilon: float

    @property
    def name(self) -> str:
        return f"{self.people}, d = {self.d}, n = {self.n}, ε = {self.epsilon:g}"

    @cached_property
    def mean(self) -> Any:
        """The mean of the population."""
        return PEOPLE[self.people].mean(self.d)

    def reports(self, people: Pool, rng: Rng, source: dt.Seeded) -> dt.Reports:
        """Draw the reports of n people of the pool."""
        asked = question(self.people, self.d, self.epsilon)
        chosen = rng.choice(len(people.seeds), self.n, replace=False)
        numbers = asked.kernel.window.draw(people.near[self.epsilon], chosen, source)
        return dt.Reports(asked, people.seeds[chosen] << np.uint64(NUMBER_BITS) | numbers.astype(np.uint64))

    def held(self, reports: dt.Reports, along: Any) -> list[float]:
        """Return the share of coordinates whose interval holds, and whether the other intervals hold."""
        found: Any = dt.mean(reports)
        length = float(np.linalg.norm(self.mean))
        cosine = float(found.value @ self.mean) / float(np.linalg.norm(found.value)) / length
        return [
            float(np.mean(found.covers(self.mean))),
            float((found @ along).covers(float(self.mean @ along))),
            float(found.length().covers(length)),
            float(found.cosine().covers(cosine)),
        ]

    def measure(self, runs: int, seed: int = 1) -> list[list[float]]:
        """Return for each quantity the share that held and its standard error."""
        people = _last_pool(self.people, self.d, seed)
        rng, source = np.random.default_rng(seed), dt.Seeded(seed)
        held = np.empty((runs, len(QUANTITIES)))
        for run in range(runs):  # projections on the mean and on a random vector in turn
            along = rng.standard_normal(self.d) if run % 2 else self.mean
            held[run] = self.held(self.reports(people, rng, source), along)
        spread = np.sqrt(held.var(axis=0) / runs)
        spread[1:] = np.maximum(spread[1:], math.sqrt(LEAST * (1.0 - LEAST) / runs))
        return [
            [round(float(share), 4), round(float(error), 4)]
            for share, error in zip(held.mean(axis=0), spread, strict=True)
        ]


def settings() -> list[Setting]:
    """Return every setting; those of one pool follow each other."""
    return [
        Setting(people, d, n, epsilon)
        for people, dimensions in DIMENSIONS.items()
        for d in dimensions
        for n in RUNS
        for epsilon in EPSILONS
    ]


def recorded() -> dict[str, Any]:
    """Return for each setting the number of runs, and the share and error of each quantity."""
    return dict(json.loads(RECORDED.read_text(encoding="utf-8"))) if RECORDED.exists() else {}


def outside(kept: dict[str, Any]) -> bool:
    """Return whether a share is not as required."""
    return not all(LEAST <= share <= MOST for share, _ in kept["held"])


def record(*, again: bool = False) -> None:
    """Measure settings and write them as they come."""
    for setting in settings():
        old = recorded().get(setting.name)
        if old is not None and not (again and outside(old) and old["runs"] == RUNS[setting.n]):
            continue
        runs, seed = (3 * RUNS[setting.n], 2) if again else (RUNS[setting.n], 1)
        held = setting.measure(runs, seed)
        kept = {**recorded(), setting.name: {"runs": runs, "held": held}}
        lines = (f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(one)}" for name, one in kept.items())
        RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        print(setting.name, kept[setting.name], flush=True)


def table() -> str:
    """Return the table of the page from the record."""
    kept = recorded()
    lines = [f"| people | ε | {' | '.join(QUANTITIES)} | runs |", "|---" * 7 + "|"]
    for setting in settings():
        if setting.name in kept:
            held = (f"{100 * share:.1f} ± {100 * error:.1f} %" for share, error in kept[setting.name]["held"])
            people = f"{setting.n} {setting.people}, d = {setting.d}"
            lines.append(
                f"| {people} | {setting.epsilon:g} | {' | '.join(held)} | {kept[setting.name]['runs']} |"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1:] != ["page"]:
        record(again=sys.argv[1:] == ["again"])
    write(PAGE, table(), "vectors")
