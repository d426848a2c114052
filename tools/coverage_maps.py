"""How often 95 % intervals for the share of a part of an area hold the truth, by mechanism: measured.

python -m tools.coverage_maps        measures all cases and rewrites the table in docs/trajectories_maps.md
python -m tools.coverage_maps paths  measures densities and flows of complete paths, for docs/paths.md
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
from dither.core.kernels.places.routes import RouteKernel
from dither.core.question import ask
from dither.estimation.rounding import thousands
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


ROUTES = dt.Routes(SQUARE, points=4)
_PATHS = 16  # public paths; Zipf shares of the people are next to them
# What is estimated: the share next to each public path, of places in the cells of a grid of 3 × 3, of people
# who pass a cell, and of people who go from one cell of 2 × 2 to another.
OF_PATHS = ("frequencies", "shares of places", "people who pass a cell", "flows")


def path_coverage(epsilon: float, n: int, runs: int, seed: int = 0) -> dict[str, float]:
    """Return how often intervals of complete paths hold, over the cells and flows in which somebody is."""
    random = np.random.default_rng(7 + seed)
    public = random.integers(0, 1 << 16, (_PATHS, ROUTES.points, 2))
    kernel = RouteKernel.largest(epsilon, ROUTES, public, 1)
    asked: Any = ask(ROUTES, kernel, epsilon=epsilon, name="Optimal", parameters={"epsilon": epsilon})
    shares = 1.0 / np.arange(1.0, _PATHS + 1.0)
    shares /= shares.sum()
    held: dict[str, list[Any]] = {what: [] for what in OF_PATHS}

    def look(what: str, interval: Any, true: Any) -> None:
        low, high = (np.reshape(end, -1) for end in interval)
        held[what].append(((low <= true) & (true <= high))[true > 0.0])

    for run in range(runs):
        people = public[random.choice(_PATHS, n, p=shares)]
        reports = asked.reports(asked.kernel.draw(people, dt.Seeded(1_000 * seed + run)))
        look("frequencies", dt.frequencies(reports).interval(), shares)
        found: Any = dt.maps.density(reports, 3, 3)
        look("shares of places", found.interval(), shares @ found._visits)
        look("people who pass a cell", found.passing.interval(), shares @ (found._visits > 0.0))
        cells = found.counts.cells(SQUARE, 2, 2)
        true = np.zeros((4, 4))
        np.add.at(true, (cells[:, 0], cells[:, -1]), n * shares)
        look("flows", dt.maps.flows(reports, 2, 2).interval(), true.reshape(-1))
    return {what: float(np.mean(np.concatenate(hits))) for what, hits in held.items()}


def path_table(repetitions: int) -> str:
    """Return the table of complete paths; with 10^5 people a quarter of the repetitions are made."""
    lines = [
        f"| people, ε of the path | {' | '.join(OF_PATHS)} | runs |",
        "|---|" + "---|" * (len(OF_PATHS) + 1),
    ]
    for n, runs in ((1_000, repetitions), (100_000, repetitions // 4)):
        for epsilon in (2.0, 8.0):
            found = path_coverage(epsilon, n, runs)
            cells = " | ".join(f"{100 * share:.1f} %" for share in found.values())
            lines.append(f"| {thousands(n)}, ε = {epsilon:g} | {cells} | {runs} |")
            print(lines[-1], flush=True)
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", choices=("parts", "paths"), default="parts")
    parser.add_argument("--repetitions", type=int)
    parser.add_argument("--people", type=int, default=1000)
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    of_paths = options.what == "paths"
    page = options.page or ROOT / "docs" / ("paths.md" if of_paths else "trajectories_maps.md")
    begin, end = "<!-- shares: begin -->", "<!-- shares: end -->"
    text = (
        path_table(options.repetitions or 400)
        if of_paths
        else table(options.repetitions or 60, options.people)
    )
    head, rest = page.read_text(encoding="utf-8").split(begin)
    page.write_text(f"{head}{begin}\n{text}\n{end}{rest.split(end)[1]}", encoding="utf-8")
