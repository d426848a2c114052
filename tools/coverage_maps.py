"""How often 95 % intervals for the share of a part of an area hold the truth, by mechanism: measured.

python -m tools.coverage_maps        measures all cases and rewrites the table in docs/trajectories.md
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import dither as dt
from dither.mechanisms.places.base import grid
from tests.support.repository import ROOT

SQUARE = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
EPSILONS = (2.0, 6.0)
MECHANISMS: dict[str, Callable[..., Any]] = {
    "`TraCSC(inner=dt.SW)`": partial(dt.TraCSC, inner=dt.SW, cells=1 << 10),
    "`TraCSD`": partial(dt.TraCSD, cells=1 << 10),
    "`PlanarLaplace`": partial(dt.PlanarLaplace, cells=128),
    "`PlanarStaircase`": partial(dt.PlanarStaircase, cells=128),
    "`Gridding(side=4)`": partial(dt.rivals.Gridding, side=4),
    "`LSRR`, 16 points": lambda area, epsilon: dt.rivals.LSRR(area, grid(area, 4), epsilon=epsilon),
}
# People are normal about (0.3, 0.4): a quarter, a strip, and a corner where nearly nobody is.
PARTS = {
    "the lower left quarter": (0.0, 0.5, 0.0, 0.5),
    "the left quarter": (0.0, 0.25, 0.0, 1.0),
    "the upper right quarter": (0.5, 1.0, 0.5, 1.0),
}


def people(rng: np.random.Generator, n: int) -> Any:
    return np.clip(rng.normal((0.3, 0.4), 0.12, (n, 1, 2)), 0, 1)


def truth(part: tuple[float, float, float, float]) -> float:
    """Return the exact share of a part; who would be outside the square is at its border."""
    shares = []
    for centre, low, high in ((0.3, *part[:2]), (0.4, *part[2:])):
        law = stats.norm(centre, 0.12)
        shares.append((law.cdf(high) if high < 1 else 1.0) - (law.cdf(low) if low > 0 else 0.0))
    return float(np.prod(shares))


def measured(name: str, epsilon: float, n: int, repetitions: int) -> dict[str, float]:
    """Return how often the interval of each part holds its share."""
    mechanism, rng = MECHANISMS[name](SQUARE, epsilon=epsilon), np.random.default_rng(7)
    held: dict[str, list[bool]] = {what: [] for what in PARTS}
    for run in range(repetitions):
        found = dt.maps.density(mechanism.perturb(people(rng, n), source=dt.Seeded(run)), 4, 4)
        for what, (left, right, bottom, top) in PARTS.items():
            part = dt.Rectangle(dt.Interval(left, right), dt.Interval(bottom, top))
            held[what].append(bool(found.share(part).covers(truth(PARTS[what]))))
    return {what: float(np.mean(hits)) for what, hits in held.items()}


def table(repetitions: int, n: int) -> str:
    heads = " | ".join(f"{what}, ε = {epsilon:g}" for epsilon in EPSILONS for what in PARTS)
    lines = [f"| mechanism | {heads} |", "|---|" + "---|" * (len(EPSILONS) * len(PARTS))]
    for name in MECHANISMS:
        found = [measured(name, epsilon, n, repetitions) for epsilon in EPSILONS]
        cells = " | ".join(f"{100 * share:.0f} %" for row in found for share in row.values())
        lines.append(f"| {name} | {cells} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=60)
    parser.add_argument("--people", type=int, default=1000)
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "trajectories.md")
    options = parser.parse_args()
    begin, end = "<!-- shares: begin -->", "<!-- shares: end -->"
    text, old = table(options.repetitions, options.people), options.page.read_text(encoding="utf-8")
    head, rest = old.split(begin)
    options.page.write_text(f"{head}{begin}\n{text}\n{end}{rest.split(end)[1]}", encoding="utf-8")
