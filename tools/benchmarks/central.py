"""The trusted curator's mean: speed against `np.sum`, and squared error against what others release.

`python -m tools.benchmarks.central > tools/benchmarks/central.md` writes the table. The peers are needed for
nothing else, and best kept in an environment of their own: `pip install --group peers -e .`.
"""

from __future__ import annotations

import importlib
import math
import platform
import time
from collections.abc import Callable

import numpy as np

import dither as dt
from dither.foundation.tables import as_markdown
from tools.benchmarks.timing import minima

COUNT = 10**7
RECORDS = 10_000
RUNS = 10_000
UNIT = dt.Interval(0, 1)

Release = Callable[[np.ndarray], Callable[[], float]]


def main() -> None:
    print(f"numpy {np.__version__}, Python {platform.python_version()}, one thread.\n")
    speed()
    error()


def speed() -> None:
    """Values to a released mean, and a tally to a released mean."""
    values = np.random.default_rng(1).random(COUNT)
    ages = 18 + 82 * values
    best = minima(
        {
            "np.sum": lambda: np.sum(values),
            "mean on [0, 1]": lambda: dt.central.mean(values, UNIT, epsilon=1),
            "mean on [18, 100]": lambda: dt.central.mean(ages, dt.Interval(18, 100), epsilon=1),
            "sum on [18, 100]": lambda: dt.central.sum(ages, dt.Interval(18, 100), epsilon=1),
            "mean, bounds learned": lambda: dt.central.mean(ages, dt.central.LearnedBounds(), epsilon=1),
        }
    )
    floor = best.pop("np.sum")
    print(f"{COUNT:.0e} float64 values to a release; `np.sum` takes {floor * 1e3:.1f} ms.\n")
    rows = []
    for name, seconds in best.items():
        goal = 12 if name.startswith("mean on") else None
        verdict = "" if goal is None else f"{goal}{'' if seconds <= goal * floor else ', missed'}"
        rows.append((name, f"{seconds / floor:.1f}", verdict))
    print(as_markdown(["release", "÷ np.sum", "goal"], rows))
    tally = dt.central.Tally.of(values, UNIT)
    print("\nOne release from a tally, milliseconds (goal at ε ≤ 6: 2).\n")
    budgets = (0.1, 1, 6, 20)
    times = [
        (type(noise).__name__, *(f"{_milliseconds(tally, noise, epsilon):.2f}" for epsilon in budgets))
        for noise in ("hourglass", "staircase", "laplace")
    ]
    print(as_markdown(["noise", *(f"ε = {epsilon:g}" for epsilon in budgets)], times))


def _milliseconds(tally: dt.central.Tally, noise: str, epsilon: float) -> float:
    """Give the mean over many releases: how long one takes is random."""
    begin, runs = time.process_time(), 1_000
    for _ in range(runs):
        dt.central.mean(tally, epsilon=epsilon, noise=noise)
    return (time.process_time() - begin) / runs * 1e3


def error() -> None:
    """Squared error at ε = 1 on [0, 1], with a standard error; who is a neighbour of whom is stated."""
    print(f"\nn²·MSE at ε = 1 on [0, 1], n = {RECORDS}, ± one standard error.\n")
    head = ["library", "protects at ε = 1", "mean 0.01", "mean 0.5", "runs", "µs a release"]
    rows: list[tuple[object, ...]] = []
    found: dict[str, tuple[float, ...]] = {}
    for name, relation, runs, release in (
        ("dither, hourglass", "one record added or removed", RUNS, _dither),
        ("pydp BoundedMean", "one record added or removed", RUNS, _pydp),
        ("OpenDP, sum and count with ε/2 each", "one record added or removed", RUNS // 5, _opendp_two),
        ("dither, swap_mean", "one record changed; n is public", RUNS, _dither_swap),
        ("OpenDP, mean of known size", "one record changed; n is public", RUNS // 5, _opendp),
        ("diffprivlib mean", "one record changed; n is public", RUNS // 2, _diffprivlib),
    ):
        try:
            cells = [_squared_error(release, mean, runs) for mean in (0.01, 0.5)]
        except ImportError:
            rows.append((name, relation, "not installed", "", "", ""))
            continue
        found[name] = tuple(cell[0] for cell in cells)
        shown = (f"{mse:.3f} ± {error:.3f}" for mse, error, _ in cells)
        rows.append((name, relation, *shown, runs, f"{cells[0][2]:.0f}"))
    print(as_markdown(head, rows))
    if "pydp BoundedMean" in found:
        ratios = [ours / theirs for ours, theirs in zip(*list(found.values())[:2], strict=True)]
        print(f"\ndither ÷ pydp: {ratios[0]:.3f} at mean 0.01, {ratios[1]:.3f} at mean 0.5 (goal 0.55).")
    versions = [f"{name} {_version(name)}" for name in ("diffprivlib", "opendp", "python-dp")]
    print(f"\nVersions: {', '.join(versions)}.")


def _squared_error(release: Release, mean: float, runs: int) -> tuple[float, float, float]:
    values = np.random.default_rng(2).random(RECORDS) * 2 * mean
    once = release(values)
    begin = time.process_time()
    squares = np.array([(once() - values.mean()) ** 2 for _ in range(runs)]) * RECORDS**2
    microseconds = (time.process_time() - begin) / runs * 1e6
    return float(squares.mean()), float(squares.std() / math.sqrt(runs)), microseconds


def _dither(values: np.ndarray) -> Callable[[], float]:
    return lambda: float(dt.central.mean(values, UNIT, epsilon=1))


def _dither_swap(values: np.ndarray) -> Callable[[], float]:
    return lambda: float(dt.central.swap_mean(values, UNIT, epsilon=1))


def _pydp(values: np.ndarray) -> Callable[[], float]:
    laplacian = importlib.import_module("pydp.algorithms.laplacian")
    numbers = values.tolist()

    def release() -> float:
        mean = laplacian.BoundedMean(epsilon=1.0, lower_bound=0.0, upper_bound=1.0, dtype="float")
        return float(mean.quick_result(numbers))

    return release


def _opendp(values: np.ndarray) -> Callable[[], float]:
    dp = importlib.import_module("opendp.prelude")
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(bounds=(0.0, 1.0)), size=RECORDS)
    mean = (domain, dp.symmetric_distance()) >> dp.t.then_mean()
    noisy = mean >> dp.m.then_laplace(scale=1.0001 / RECORDS)
    assert noisy.map(d_in=2) <= 1  # a changed record is one removed and one added
    return lambda: float(noisy(values))


def _opendp_two(values: np.ndarray) -> Callable[[], float]:
    dp = importlib.import_module("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    total = space >> dp.t.then_clamp((0.0, 1.0)) >> dp.t.then_sum() >> dp.m.then_laplace(scale=2.0001)
    count = space >> dp.t.then_count() >> dp.m.then_laplace(scale=2.0)
    assert total.map(d_in=1) + count.map(d_in=1) <= 1
    return lambda: float(np.clip(total(values) / max(count(values), 1), 0, 1))


def _diffprivlib(values: np.ndarray) -> Callable[[], float]:
    tools = importlib.import_module("diffprivlib.tools")
    return lambda: float(tools.mean(values, epsilon=1, bounds=(0, 1)))


def _version(name: str) -> str:
    try:
        return importlib.import_module("importlib.metadata").version(name)
    except ImportError:
        return "not installed"


if __name__ == "__main__":
    print("# The trusted curator, as measured\n")
    main()
