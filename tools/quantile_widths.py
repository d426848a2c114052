"""How wide intervals of quantiles are, relative to what is needed, on smooth and on hard shapes.

python -m tools.quantile_widths          measures what is not recorded, and makes the table of
                                         docs/coverage_few.md
python -m tools.quantile_widths page     makes the table from the record alone

The needed width of a cell is that of ± 1.96 root mean square errors of the estimate over its runs. Quantiles
between two points of a population, where any value of the gap is right, are left out.
"""

from __future__ import annotations

import json
import math
import sys
from typing import Any, Final

import numpy as np

import dither as dt
from dither.advice.simulation import population
from dither.estimation.distribution_methods import cautious
from tests.support.repository import ROOT
from tools.coverage import write

RECORDED: Final = ROOT / "tools" / "recorded" / "quantile_widths.json"
RUNS: Final = 12
SETTINGS: Final = ((10_000, 1.0), (3000, 2.0), (3000, 4.0))
SHARES: Final = (0.1, 0.5, 0.9)
METHODS: Final = ("the default", "empirical bayes", "likelihood")
Cell = dict[str, list[float]]  # for each method the share of intervals that held, and the relative width


def shapes() -> dict[str, np.ndarray]:
    """Return cdfs: the twelve shapes of predictions, and ten others."""
    found = {f"shape {number}": population(number) for number in range(12)}
    size = found["shape 0"].size - 1
    x = (np.arange(size) + 0.5) / size

    def at(place: float) -> int:
        return min(int(place * size), size - 1)

    def normal(middle: float, width: float) -> np.ndarray:
        density = np.exp(-(((x - middle) / width) ** 2) / 2.0)
        return np.asarray(density / density.sum())

    def points(masses: dict[float, float], rest: np.ndarray) -> np.ndarray:
        density = rest * (1.0 - sum(masses.values())) / max(float(rest.sum()), 1e-300)
        for place, mass in masses.items():
            density[at(place)] += mass
        return density

    even = np.ones(size)
    beta = x * (1.0 - x) ** 2
    heaped = {k / 10: 0.8 * beta[at(k / 10)] / sum(beta[at(j / 10)] for j in range(11)) for k in range(11)}
    others = {
        "two peaks with a gap": normal(0.2, 0.05) + normal(0.8, 0.05),
        "heaps": points(heaped, beta),
        "half at 0": points({0.0: 0.5}, even),
        "U": 1.0 / np.sqrt(x * (1.0 - x)),
        "five points": points({0.1: 0.2, 0.3: 0.3, 0.5: 0.2, 0.7: 0.2, 0.9: 0.1}, 0.0 * even),
        "spike": points({0.62: 0.4}, even),
        "triangle": 1.0 - np.abs(2.0 * x - 1.0),
        "sawtooth": (4.0 * x) % 1.0,
        "three normals": normal(0.2, 0.05) + normal(0.5, 0.05) + normal(0.8, 0.05),
        "thin tail": 0.97 * normal(0.3, 0.02) + 0.03 / size,
    }
    for name, density in others.items():
        found[name] = np.concatenate([[0.0], np.cumsum(density) / density.sum()])
    return found


def measure(cdf: np.ndarray, n: int, epsilon: float, seeds: list[int]) -> dict[float, Cell]:
    """Return for each share what every method held, and its median width relative to the needed one."""
    places, asked = np.linspace(0.0, 1.0, cdf.size), dt.SW(dt.Interval(0, 1), epsilon=epsilon)
    seen: dict[float, list[list[Any]]] = {share: [] for share in SHARES}
    for seed in seeds:
        random = np.random.default_rng([seed, n])
        values = np.interp(random.random(n), cdf, places)
        told = asked.perturb(values, source=dt.Seeded(int(random.integers(1 << 30))))
        smooth = dt.distribution(told)
        for share, estimates in seen.items():
            each, likely = smooth.quantile(share), dt.quantile(told, share, method="likelihood")
            # `dt.quantile(told, share)`, without fitting everything again
            default = cautious(each, likely) if each.condition else each
            estimates.append([float(default.value), *(found.interval() for found in (default, each, likely))])
        if seed == seeds[0]:
            assert dt.quantile(told, 0.5).interval() == seen[0.5][0][1]
    found: dict[float, Cell] = {}
    for share, estimates in seen.items():
        ends = [float(places[np.searchsorted(cdf, share + step)]) for step in (-1e-9, 1e-9)]
        if ends[1] - ends[0] > 0.01:
            continue
        truth, times = float(np.interp(share, cdf, places)), len(seeds)
        gaps = [each[0] - truth for each in estimates]
        # The root of a mean of few squares is too small on average.
        few = math.sqrt(2 / times) * math.gamma((times + 1) / 2) / math.gamma(times / 2)
        needed = 2.0 * 1.96 * math.sqrt(float(np.mean(np.square(gaps)))) / few
        found[share] = {}
        for index, method in enumerate(METHODS):
            low, high = np.array([each[1 + index] for each in estimates]).T
            held = float(np.mean((low <= truth) & (truth <= high)))
            found[share][method] = [held, round(float(np.median(high - low)) / needed, 3)]
    return found


def recorded() -> dict[str, Cell]:
    """Return what was measured: a cell for each shape, number of people, budget and share."""
    return dict(json.loads(RECORDED.read_text(encoding="utf-8"))) if RECORDED.exists() else {}


def record() -> None:
    """Measure the cells that are not recorded, and write them as they come."""
    for number, (name, cdf) in enumerate(shapes().items()):
        for n, epsilon in SETTINGS:
            kept = recorded()
            if any(key.startswith(f"{name}, n = {n}, ε = {epsilon:g}, ") for key in kept):
                continue
            found = measure(cdf, n, epsilon, [1000 * number + run for run in range(RUNS)])
            kept |= {
                f"{name}, n = {n}, ε = {epsilon:g}, share {share:g}": cell for share, cell in found.items()
            }
            lines = (
                f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(cell)}" for key, cell in kept.items()
            )
            RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
            print(name, n, epsilon, found, flush=True)


def overall(method: str, cells: list[Cell]) -> tuple[float, float]:
    """Return how often a method held over some cells, and its median relative width."""
    held, widths = np.array([cell[method] for cell in cells]).T
    return float(held.mean()), float(np.median(widths))


def page() -> None:
    """Make the table of docs/coverage_few.md from the record."""
    kept = recorded()
    of: dict[str, list[Cell]] = {}
    for key, cell in kept.items():
        of.setdefault(key.split(", n = ")[0], []).append(cell)
    twelve = [cell for name, cells in of.items() if name.startswith("shape ") for cell in cells]
    rows = {"the twelve shapes of predictions": twelve}
    rows |= {name: cells for name, cells in of.items() if not name.startswith("shape ")}
    rows["all 22 shapes"] = list(kept.values())
    lines = [
        f"| quantiles of | {' | '.join(METHODS)} | intervals |",
        f"|---{'|---' * len(METHODS)}|---|",
    ]
    for name, cells in rows.items():
        each = [overall(method, cells) for method in METHODS]
        shown = " | ".join(f"{100 * held:.1f} %, {width:.2f} times" for held, width in each)
        lines.append(f"| {name} | {shown} | {RUNS * len(cells)} |")
    write(ROOT / "docs" / "coverage_few.md", "\n".join(lines), "widths of quantiles")
    print("\n".join(lines))


if __name__ == "__main__":
    if sys.argv[1:] != ["page"]:
        record()
    page()
