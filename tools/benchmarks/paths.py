"""Path mechanisms: 10^6 locations in, reports or places out; one thread, secure source, domain check.

F is the time of `numpy.random.default_rng().random(out=…)` for two values a location.
"""

from __future__ import annotations

from functools import partial

import numpy as np

import dither as dt
from dither.estimation import maps
from tools.benchmarks.timing import minima, table

COUNT = 10**6
SQUARE = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
DISK = dt.Disk(1.0)


def main(repetitions: int = 5) -> None:
    random = np.random.default_rng(1)
    places = random.random((COUNT, 2))
    many = dt.Paths(places, np.arange(0, COUNT + 1, 100))
    ragged = dt.Paths(places, _offsets(random))
    floor, generator = np.empty(2 * COUNT), np.random.default_rng()
    across, along = dt.TraCSC(SQUARE, epsilon=2), dt.TraCSD(SQUARE, epsilon=2)
    round_ = dt.TraCSD(DISK, epsilon=2)
    inside = dt.Paths(places - 0.5, many.offsets)
    tasks = {
        "F": lambda: generator.random(out=floor),
        "TraCS-C → reports": lambda: across.perturb(many),
        "TraCS-C → places": lambda: across.perturb(many).values,
        "TraCS-D, 10^4 paths of 100 → reports": lambda: along.perturb(many),
        "TraCS-D, 10^4 paths of 100 → places": lambda: along.perturb(many).values,
        "TraCS-D, paths of 1 to 200 → reports": lambda: along.perturb(ragged),
        "TraCS-D on a disk → reports": lambda: round_.perturb(inside),
        "planar Laplace → reports": partial(dt.PlanarLaplace(SQUARE, epsilon=2).perturb, many),
    }
    best = minima(tasks, repetitions)
    goals = {"TraCS-C → reports": 6.0, "TraCS-D, 10^4 paths of 100 → reports": 60.0}
    print(f"{COUNT:.0e} locations, F = {best['F'] / COUNT * 1e9:.2f} ns a location")
    print(table([(name, best[name] / best["F"], goals.get(name)) for name in tasks if name != "F"], "F"))

    long = places[:20_000]
    near = dt.maps.Rounded(random.random((10_000, 2)).tolist())
    grid = dt.maps.Snapped(SQUARE, 100, 100)
    told = dt.TraCSC(SQUARE, epsilon=2, inner=dt.SW).perturb(many)
    near(places[:10])  # the tree is built at the first use
    more = minima(
        {
            "one path of 2·10^4 locations, TraCS-D": lambda: along.perturb(long),
            "the same, read": lambda: along.perturb(long).values,
            "10^6 locations to 10^4 points": lambda: near(places),
            "10^6 locations to a grid": lambda: grid(places),
            "a map of 32 × 32 cells from 10^6 reports of TraCS-C": lambda: maps.density(told),
        },
        repetitions,
    )
    single, read, points, cells, map_ = more.values()
    print(f"one path of 2·10^4 locations, TraCS-D: {single / len(long) * 1e6:.1f} µs a location (goal 20)")
    print(f"the same, and read as places: {read / len(long) * 1e6:.1f} µs a location")
    print(f"10^6 locations rounded to 10^4 points: {points:.2f} s (goal 1)")
    print(f"10^6 locations rounded to a grid: {cells:.3f} s")
    print(f"a map of 32 × 32 cells from 10^6 reports of TraCS-C: {map_:.2f} s")


def _offsets(random: np.random.Generator) -> np.ndarray:
    """Give where paths of 1 to 200 locations begin and end."""
    ends = np.cumsum(random.integers(1, 201, COUNT // 50))
    return np.concatenate([[0], ends[ends < COUNT], [COUNT]])


if __name__ == "__main__":
    main()
