"""Whether the range of a predicted error contains the errors of other shapes and populations: measured.

python -m tools.predicted_ranges          measures what is not recorded, and makes the table of
                                          docs/rankings.md
python -m tools.predicted_ranges page     makes the table from the record alone
python -m tools.predicted_ranges state    states the predictions of the record again, after a change of them

`dt.recommend` and `dt.compare` state the range of the twelve shapes of predictions. Here are shapes that are
not among them, and populations of the square unlike the city of the prediction. An error is the root mean
square (of quantiles) or the mean (of distributions and maps) over some runs.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from typing import Any, Final

import numpy as np

import dither as dt
from dither.advice import goals, simulation
from dither.advice.catalogue import Candidate
from tests.support.repository import ROOT
from tools.coverage import write
from tools.quantile_widths import shapes

RECORDED: Final = ROOT / "tools" / "recorded" / "predicted_ranges.json"
OTHERS: Final = (
    "two peaks with a gap", "heaps", "half at 0", "U", "five points", "spike", "triangle",
)  # fmt: skip
SETTINGS: Final = ((1000, 0.5), (10_000, 1.0), (100_000, 1.0), (3000, 2.0), (3000, 4.0), (1000, 8.0))
SQUARE_SETTINGS: Final = ((2000, 1.0, 6), (2000, 1.0, 16), (20_000, 2.0, 6), (20_000, 4.0, 16))
RUNS: Final = 16
SQUARE_RUNS: Final = 2
UNIT: Final = dt.Interval(0, 1)
SQUARE: Final = dt.Rectangle(UNIT, UNIT)
QUESTIONS: Final[dict[str, Any]] = {
    "quantile 0.1": lambda n: goals.Quantile(n=n, share=0.1),
    "quantile 0.5": lambda n: goals.Quantile(n=n, share=0.5),
    "quantile 0.9": lambda n: goals.Quantile(n=n, share=0.9),
    "W1": lambda n: goals.Distribution(n=n),
    "KS": lambda n: goals.Distribution(n=n, distance="ks"),
}
_MECHANISMS: Final[dict[str, Callable[[float], Any]]] = {
    "SW": lambda epsilon: dt.SW(UNIT, epsilon=epsilon),
    "PM": lambda epsilon: dt.PM(UNIT, epsilon=epsilon),
    "Cumulative": lambda epsilon: dt.optimal.Cumulative(UNIT, epsilon=epsilon),
}
_POINTS: Final = np.array([[0.12, 0.8], [0.33, 0.27], [0.5, 0.61], [0.77, 0.4], [0.9, 0.9]])
POPULATIONS: Final[dict[str, Callable[[np.random.Generator, int], Any]]] = {
    "two peaks with a gap": lambda rng, n: np.where(
        rng.random((n, 1)) < 0.4, rng.uniform(0.1, 0.25, (n, 2)), rng.uniform(0.6, 0.85, (n, 2))
    ),
    "heaps": lambda rng, n: np.round(10 * rng.normal(0.5, 0.2, (n, 2))) / 10,
    "half at 0": lambda rng, n: np.where(rng.random((n, 1)) < 0.5, 0.0, rng.beta(2, 2, (n, 2))),
    "U": lambda rng, n: rng.beta(0.5, 0.5, (n, 2)),
    "five points": lambda rng, n: _POINTS[rng.integers(0, 5, n)],
    "spike": lambda rng, n: np.full((n, 2), 0.61),
    "triangle": lambda rng, n: rng.triangular(0.0, 0.7, 1.0, (n, 2)),
}


def errors(cdf: Any, mechanism: Any, n: int, seeds: range) -> dict[str, float]:
    """Return the errors of the five questions for people of one shape."""
    places = np.linspace(0.0, 1.0, cdf.size)
    at = np.linspace(0.0, 1.0, 1025)
    true = np.interp(at, places, cdf)
    squares: dict[str, list[float]] = {name: [] for name in QUESTIONS}
    for seed in seeds:
        random = np.random.default_rng([seed, n])
        reports = mechanism.perturb(
            np.interp(random.random(n), cdf, places), source=dt.Seeded(int(random.integers(1 << 30)))
        )
        shape: Any = simulation.estimate(reports)
        for share in (0.1, 0.5, 0.9):
            reported = float(shape.quantile(share))
            ends = [float(places[np.searchsorted(cdf, share + step)]) for step in (-1e-9, 1e-9)]
            nearest = min(max(reported, ends[0]), ends[1])
            if ends[1] - ends[0] < 0.01:  # between two points of the grid
                nearest = float(np.interp(share, cdf, places))
            squares[f"quantile {share:g}"].append((reported - nearest) ** 2)
        gaps = np.abs(simulation._cdf(shape, UNIT, at) - true)
        squares["W1"].append(float(gaps.mean()) ** 2)
        squares["KS"].append(float(gaps.max()) ** 2)
    found = {name: math.sqrt(float(np.mean(each))) for name, each in squares.items()}
    return found | {name: float(np.mean(np.sqrt(squares[name]))) for name in ("W1", "KS")}


def ranges(mechanism: Any, n: int) -> dict[str, tuple[float, float, float]]:
    """Return for each question the predicted error and its range, as `dt.compare` states them."""
    found = {}
    for name, goal in QUESTIONS.items():
        _, (row,) = goal(n).columns([Candidate("", mechanism)])
        column = name if name in row else "error"
        found[name] = (row[column], row[f"{column} from"], row[f"{column} to"])
    return found


def square_errors(mechanism: Any, n: int, cells: int, draw: Any, seeds: range) -> float:
    """Return the mean total variation of a map of people of one population."""
    misses = []
    for seed in seeds:
        people = np.clip(draw(np.random.default_rng([seed, n]), n), 0.0, 1.0)
        found = dt.maps.density(mechanism.perturb(people[:, None], source=dt.Seeded(seed)), cells, cells)
        x, y = people.T
        truth = np.histogram2d(x, y, bins=cells, range=[[0.0, 1.0], [0.0, 1.0]])[0] / n
        misses.append(float(np.abs(found.probabilities - truth).sum()) / 2.0)
    return float(np.mean(misses))


def recorded() -> dict[str, list[float]]:
    """Return for each cell the predicted error, the ends of its range, and the measured error."""
    return dict(json.loads(RECORDED.read_text(encoding="utf-8"))) if RECORDED.exists() else {}


def measured(first: int = 0, runs: int = RUNS, square_runs: int = SQUARE_RUNS, settings: int = 9) -> Any:
    """Measure all cells that are not recorded, and return them as they come.

    With another first seed, all cells of the first few settings.
    """
    kept = set() if first else set(recorded())
    cdfs = shapes()
    for n, epsilon in SETTINGS[:settings]:
        for name, make in _MECHANISMS.items():
            todo = [
                other for other in OTHERS if f"W1 of {other}, {name}, n = {n}, ε = {epsilon:g}" not in kept
            ]
            if not todo:
                continue
            mechanism = make(epsilon)
            stated = ranges(mechanism, n)
            for other in todo:
                found = errors(cdfs[other], mechanism, n, range(first, first + runs))
                for what, error in found.items():
                    yield f"{what} of {other}, {name}, n = {n}, ε = {epsilon:g}", [*stated[what], error]
    for n, epsilon, cells in SQUARE_SETTINGS[:settings]:
        goal = goals.Maps(n=n, across=cells, along=cells)
        at = f"{cells} × {cells}, n = {n}, ε = {epsilon:g}"
        if all(f"map of {other}, TraCSC(…, inner=SW), {at}" in kept for other in POPULATIONS):
            continue
        for candidate in goal.candidates(SQUARE, epsilon):
            predicted = goal.error(candidate.mechanism)
            low, high = goal.span(candidate.mechanism, predicted) or (0.0, 0.0)
            for other, draw in POPULATIONS.items():
                error = square_errors(
                    candidate.mechanism, n, cells, draw, range(first + 1, first + 1 + square_runs)
                )
                yield f"map of {other}, {candidate.name}, {at}", [predicted, low, high, error]


def _write(kept: dict[str, list[float]]) -> None:
    cells = {name: [float(f"{number:.4g}") for number in cell] for name, cell in kept.items()}
    lines = (f"{json.dumps(name, ensure_ascii=False)}: {cell}" for name, cell in cells.items())
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def record() -> None:
    """Measure what is not recorded, and write it as it comes."""
    kept = recorded()
    for key, numbers in measured():
        kept[key] = numbers
        _write(kept)
        print(key, numbers, flush=True)


def state() -> None:
    """State the predictions of the record again; the errors stay as they were measured."""
    kept = recorded()
    for n, epsilon in SETTINGS:
        for name, make in _MECHANISMS.items():
            at = f"{name}, n = {n}, ε = {epsilon:g}"
            for what, stated in ranges(make(epsilon), n).items():
                for other in OTHERS:
                    kept[f"{what} of {other}, {at}"][:3] = stated
    for key, cell in kept.items():
        if key.startswith("map of "):
            cell[1:3] = goals.Maps(n=1).span(None, cell[0]) or cell[1:3]
    _write(kept)


def inside(cells: dict[str, list[float]]) -> dict[str, list[list[float]]]:
    """Return the cells of each question: predicted error, range, measured error."""
    found: dict[str, list[list[float]]] = {}
    for key, cell in cells.items():
        found.setdefault(key.split(" of ")[0], []).append(cell)
    return found


def held(cells: list[list[float]]) -> float:
    """Return the share of cells whose measured error is in the stated range."""
    return float(np.mean([low <= error <= high for _, low, high, error in cells]))


def page() -> None:
    """Make the table of docs/rankings.md from the record."""
    lines = [
        "| error of | cells | in the range | range, in predicted errors (median) | measured ÷ predicted |",
        "|---|---|---|---|---|",
    ]
    for what, cells in inside(recorded()).items():
        predicted, low, high, error = np.array(cells).T
        stated = f"{np.median(low / predicted):.2f} – {np.median(high / predicted):.2f}"
        least, largest = (error / predicted).min(), (error / predicted).max()
        lines.append(
            f"| {what} | {len(cells)} | {100 * held(cells):.0f} % | {stated} | {least:.2f} – {largest:.2f} |"
        )
    print("\n".join(lines))
    write(ROOT / "docs" / "rankings.md", "\n".join(lines), "ranges")


if __name__ == "__main__":
    if sys.argv[1:] == ["state"]:
        state()
    elif sys.argv[1:] != ["page"]:
        record()
    page()
