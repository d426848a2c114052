"""How often the intervals that are read off an estimated shape hold the population's value: measured.

python -m tools.coverage_shapes    measures all shapes and rewrites the tables in docs/coverage.md

Populations have exact cdfs. A share that were itself an average over drawn people would need a slack, which
is as wide as a band where the reports are many, and every band would seem too wide.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import optimize, stats

import dither as dt
from tests.support.repository import ROOT

CELLS = tuple((n, epsilon) for n in (20_000, 400_000) for epsilon in (0.5, 1.0, 4.0))
PLACES, SHARES, EDGES = np.array([0.1, 0.31, 0.5, 0.75]), (0.1, 0.5, 0.9), np.linspace(0, 1, 33)
ROUNDING = 1e-9


@dataclass(frozen=True)
class Shape:
    """A mixture of distributions and point masses on [0, 1]; what falls outside is moved to the ends."""

    parts: tuple[tuple[float, Any], ...]
    smooth: bool = True

    def draw(self, rng: np.random.Generator, n: int) -> Any:
        which = rng.choice(len(self.parts), n, p=[share for share, _ in self.parts])
        values = np.empty(n)
        for number, (_, part) in enumerate(self.parts):
            here = which == number
            values[here] = part if isinstance(part, float) else part.rvs(here.sum(), random_state=rng)
        return np.clip(values, 0, 1)

    def cdf(self, x: Any) -> Any:
        x = np.asarray(x, dtype=np.float64)
        below = [
            share * ((x >= part) if isinstance(part, float) else part.cdf(x)) for share, part in self.parts
        ]
        return np.where(x >= 1, 1.0, np.sum(below, axis=0))

    def quantile(self, share: float) -> float:
        """Return the least value at or below which a share of the people are."""
        if self.cdf(0.0) >= share:
            return 0.0
        return float(optimize.bisect(lambda x: (self.cdf(x) >= share) - 0.5, 0.0, 1.0, xtol=1e-12))


def smooth(*parts: tuple[float, Any]) -> Shape:
    return Shape(parts)


SHAPES = {
    "Beta(2, 5)": smooth((1.0, stats.beta(2, 5))),
    "two modes": smooth((0.5, stats.norm(0.3, 0.07)), (0.5, stats.norm(0.7, 0.07))),
    "three modes": smooth(
        (0.3, stats.norm(0.2, 0.06)), (0.4, stats.norm(0.5, 0.05)), (0.3, stats.norm(0.8, 0.06))
    ),
    "log-normal": smooth((1.0, stats.lognorm(0.5, 0, math.exp(-1.5)))),
    "normal": smooth((1.0, stats.norm(0.5, 0.1))),
    "uniform": smooth((1.0, stats.uniform())),
    "60 % zeros, Beta(2, 5)": smooth((0.6, 0.0), (0.4, stats.beta(2, 5))),
    "30 % at 0.3, uniform": smooth((0.3, 0.3), (0.7, stats.uniform())),
    "a jump at 0.5": Shape(((0.8, stats.uniform(0, 0.5)), (0.2, stats.uniform(0.5, 0.5))), smooth=False),
}
MODES = {  # the likeliest value, where there is one
    "Beta(2, 5)": 0.2,
    "three modes": 0.5,
    "log-normal": math.exp(-1.75),
    "normal": 0.5,
    "60 % zeros, Beta(2, 5)": 0.0,
    "30 % at 0.3, uniform": 0.3,
}
BESIDE = Shape(((0.3, 0.31), (0.2, 0.3137), (0.5, stats.uniform())))  # an edge of 16 bins is between


def holds(ends: tuple[Any, Any], truth: Any) -> Any:
    low, high = ends
    return (low - ROUNDING <= truth) & (truth <= high + ROUNDING)


def measured(
    shape: Shape, epsilon: float, n: int, repetitions: int, seed: int = 5, narrowed: float = 1.0
) -> dict[str, float]:
    """Return how often bands, bands of all bins at once, cdfs, quantiles and modes hold the truth.

    With `narrowed` below 1, bands are that much narrower: the broken twin.
    """
    bins, cdfs = np.diff(np.concatenate([[0.0], shape.cdf(EDGES[1:])])), shape.cdf(PLACES)
    quantiles = [shape.quantile(share) for share in SHARES]
    question, rng = dt.SW(dt.Interval(0, 1), epsilon=epsilon), np.random.default_rng(seed)
    source = dt.Seeded(seed)
    held: dict[str, list[Any]] = {"bins": [], "all bins": [], "cdf": [], "quantile": []}
    mode = next((place for name, place in MODES.items() if SHAPES[name] is shape), None)
    if mode is not None:
        held["mode"] = []
    for _ in range(repetitions):
        found = dt.distribution(question.perturb(shape.draw(rng, n), source=source), 32)
        low, high = found.bands()
        middle, reach = (low + high) / 2, narrowed * (high - low) / 2
        held["bins"].append(np.mean(holds((middle - reach, middle + reach), bins)))
        held["all bins"].append(np.all(holds(found.bands(simultaneous=True), bins)))
        held["cdf"].append(np.mean([found.cdf(x).covers(f) for x, f in zip(PLACES, cdfs, strict=True)]))
        held["quantile"].append(
            np.mean([holds(found.quantile(s).interval(), q) for s, q in zip(SHARES, quantiles, strict=True)])
        )
        if mode is not None:
            held["mode"].append(holds(found.mode().interval(), mode))
    return {name: float(np.mean(hits)) for name, hits in held.items()}


def beside(method: Any, epsilon: float, n: int, repetitions: int) -> dict[str, float]:
    """Return how often shares and cdfs beside two point masses hold, one at each side of an edge."""
    question, rng, source = dt.SW(dt.Interval(0, 1), epsilon=epsilon), np.random.default_rng(6), dt.Seeded(6)
    asked = {"the bin below the edge": (0.25, 0.3125), "the bin above it": (0.3125, 0.375)}
    held: dict[str, list[Any]] = {name: [] for name in (*asked, "cdf between the masses", "cdf beside both")}
    for _ in range(repetitions):
        found = dt.distribution(question.perturb(BESIDE.draw(rng, n), source=source), 16, method=method)
        for name, (low, high) in asked.items():
            held[name].append(found.share(low, high).covers(float(BESIDE.cdf(high) - BESIDE.cdf(low))))
        held["cdf between the masses"].append(found.cdf(0.3125).covers(float(BESIDE.cdf(0.3125))))
        held["cdf beside both"].append(found.cdf(0.32).covers(float(BESIDE.cdf(0.32))))
    return {name: float(np.mean(hits)) for name, hits in held.items()}


def _lines(first: str, rows: dict[str, list[float]]) -> list[str]:
    return [
        f"| {first} | {what} | " + " | ".join(f"{100 * share:.1f} %" for share in cells) + " |"
        for what, cells in rows.items()
    ]


def _header(first: str) -> list[str]:
    cells = " | ".join(f"{n // 1000} 000, ε = {epsilon:g}" for n, epsilon in CELLS)
    return [f"| {first} | intervals | {cells} |", "|---|---|" + "---|" * len(CELLS)]


def table(repetitions: int) -> str:
    """Measure every shape and return the table in Markdown; lines are printed as they come."""
    lines = _header("shape")
    for name, shape in SHAPES.items():
        found = [measured(shape, epsilon, n, repetitions) for n, epsilon in CELLS]
        lines += _lines(name, {what: [cell[what] for cell in found] for what in found[0]})
        print("\n".join(lines[-len(found[0]) :]), flush=True)
    return "\n".join(lines)


def table_beside(repetitions: int) -> str:
    """Measure what is beside point masses, and return the table in Markdown."""
    lines = _header("method")
    for method in ("empirical bayes", "likelihood"):
        runs = repetitions if method == "empirical bayes" else max(repetitions // 4, 1)
        found = [beside(method, epsilon, n, runs) for n, epsilon in CELLS]
        lines += _lines(f"`{method!r}`", {what: [cell[what] for cell in found] for what in found[0]})
        print("\n".join(lines[-4:]), flush=True)
    return "\n".join(lines)


def write(page: Path, mark: str, text: str) -> None:
    """Put a table between the two marks of a page."""
    begin, end = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
    old = page.read_text(encoding="utf-8")
    head, rest = old.split(begin)
    page.write_text(f"{head}{begin}\n{text}\n{end}{rest.split(end)[1]}", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "coverage.md")
    options = parser.parse_args()
    write(options.page, "shapes", table(options.repetitions))
    write(options.page, "beside", table_beside(options.repetitions))
