"""How often the intervals that are read off an estimated shape hold the population's value: measured.

python -m tests.estimation.shape_coverage    measures all shapes and rewrites the table in docs/estimation.md
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import dither as dt
from tests.support.repository import ROOT

EPSILONS = (0.5, 1.0, 4.0)
PLACES, SHARES = (0.1, 0.31, 0.5, 0.75), (0.1, 0.5, 0.9)
LARGE = 2_000_000


def modes(rng: Any, n: int) -> Any:
    return np.clip(np.where(rng.random(n) < 0.5, rng.normal(0.3, 0.07, n), rng.normal(0.7, 0.07, n)), 0, 1)


def zeros(rng: Any, n: int) -> Any:
    return np.where(rng.random(n) < 0.6, 0.0, rng.beta(2, 5, n))


def spike(rng: Any, n: int) -> Any:
    return np.where(rng.random(n) < 0.3, 0.3, rng.random(n))


def jump(rng: Any, n: int) -> Any:
    return np.where(rng.random(n) < 0.8, 0.5 * rng.random(n), 0.5 + 0.5 * rng.random(n))


SHAPES: dict[str, Any] = {
    "Beta(2, 5)": lambda rng, n: rng.beta(2, 5, n),
    "two modes": modes,
    "60 % zeros": zeros,
    "30 % at 0.3": spike,
    "a jump at 0.5": jump,
}


def measured(draw: Any, epsilon: float, n: int, repetitions: int) -> dict[str, float]:
    """Return how often bands, bands of all bins at once, cdfs and quantiles hold the truth."""
    people = np.sort(draw(np.random.default_rng(99), LARGE))
    edges = np.searchsorted(people, np.linspace(0, 1, 33), side="right")
    bins = np.diff(np.concatenate([[0], edges[1:]])) / LARGE
    cdfs = np.searchsorted(people, PLACES, side="right") / LARGE
    quantiles = np.quantile(people, SHARES)
    question, rng, source = dt.SW(dt.Interval(0, 1), epsilon=epsilon), np.random.default_rng(5), dt.Seeded(5)
    slack = 1 / LARGE**0.5  # the error of the population's own shares
    held: dict[str, list[Any]] = {"bins": [], "all bins": [], "cdf": [], "quantile": []}
    for _ in range(repetitions):
        shape = dt.distribution(question.perturb(draw(rng, n), source=source), 32)
        low, high = shape.bands()
        held["bins"].append(np.mean((low - slack <= bins) & (bins <= high + slack)))
        low, high = shape.bands(simultaneous=True)
        held["all bins"].append(np.all((low - slack <= bins) & (bins <= high + slack)))
        held["cdf"].append(np.mean([shape.cdf(x).covers(f) for x, f in zip(PLACES, cdfs, strict=True)]))
        held["quantile"].append(
            np.mean([shape.quantile(s).covers(q) for s, q in zip(SHARES, quantiles, strict=True)])
        )
    return {name: float(np.mean(hits)) for name, hits in held.items()}


def table(repetitions: int, n: int) -> str:
    """Measure every shape and give the table in Markdown; lines are printed as they come."""
    lines = ["| shape | intervals | ε = 0.5 | ε = 1 | ε = 4 |", "|---|---|---|---|---|"]
    for name, draw in SHAPES.items():
        found = [measured(draw, epsilon, n, repetitions) for epsilon in EPSILONS]
        for what in found[0]:
            cells = " | ".join(f"{100 * one[what]:.1f} %" for one in found)
            lines.append(f"| {name} | {what} | {cells} |")
            print(lines[-1], flush=True)
    return "\n".join(lines)


def write(page: Path, text: str) -> None:
    """Put the table between the two marks of a page."""
    begin, end = "<!-- shapes: begin -->", "<!-- shapes: end -->"
    old = page.read_text(encoding="utf-8")
    head, rest = old.split(begin)
    page.write_text(f"{head}{begin}\n{text}\n{end}{rest.split(end)[1]}", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--people", type=int, default=20_000)
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "estimation.md")
    options = parser.parse_args()
    write(options.page, table(options.repetitions, options.people))
