"""How wide intervals of quantiles are, relative to what is needed, on smooth and on hard shapes.

python -m tools.quantile_widths 4        prints coverage and width of each method, over four runs of each cell

The needed width of a cell is that of ± 1.96 root mean square errors of the estimate over its runs. Quantiles
between two points of a population, where any value of the gap is right, are left out.
"""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from typing import Any, Final

import numpy as np

import dither as dt
from dither.advice.simulation import population

SETTINGS: Final = ((10_000, 1.0), (3000, 2.0), (3000, 4.0))
SHARES: Final = (0.1, 0.5, 0.9)
METHODS: Final[dict[str, Any]] = {
    "default": None,
    "empirical bayes": "empirical bayes",
    "likelihood": "likelihood",
}


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


def run(times: int) -> None:
    """Print how often intervals held, and how wide they are in the median over the cells."""
    held: dict[str, list[bool]] = defaultdict(list)
    widths: dict[str, list[float]] = defaultdict(list)
    for name, cdf in shapes().items():
        places = np.linspace(0.0, 1.0, cdf.size)
        for n, epsilon in SETTINGS:
            asked = dt.SW(dt.Interval(0, 1), epsilon=epsilon)
            seen: dict[float, list[dict[str, Any]]] = defaultdict(list)
            for time in range(times):
                random = np.random.default_rng([time, n, sum(map(ord, name))])
                values = np.interp(random.random(n), cdf, places)
                told = asked.perturb(values, source=dt.Seeded(int(random.integers(1 << 30))))
                for share in SHARES:
                    seen[share].append(
                        {key: dt.quantile(told, share, method=how) for key, how in METHODS.items()}
                    )
            for share, estimates in seen.items():
                ends = [float(places[np.searchsorted(cdf, share + step)]) for step in (-1e-9, 1e-9)]
                if ends[1] - ends[0] > 0.01:
                    continue
                truth = float(np.interp(share, cdf, places))
                gaps = [float(found["default"].value) - truth for found in estimates]
                # The root of a mean of few squares is too small on average.
                few = math.sqrt(2 / times) * math.gamma((times + 1) / 2) / math.gamma(times / 2)
                needed = 2.0 * 1.96 * math.sqrt(float(np.mean(np.square(gaps)))) / few
                for key in METHODS:
                    held[key] += [bool(found[key].covers(truth)) for found in estimates]
                    widths[key].append(
                        float(np.median([2 * f[key].half_width() for f in estimates])) / needed
                    )
        print(name, {key: round(float(np.mean(part)), 3) for key, part in held.items()}, flush=True)
    for key in METHODS:
        share, width = float(np.mean(held[key])), float(np.median(widths[key]))
        print(f"{key}: {100 * share:.1f} % of {len(held[key])} intervals, {width:.2f} times the needed width")


if __name__ == "__main__":
    run(int(sys.argv[1]) if sys.argv[1:] else 4)
