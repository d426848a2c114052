"""Write tables of docs/limits.md: of one value, of one place and of a mean.

python -m tools.limits          computes those of values and means, and measures places that are not recorded
python -m tools.limits places   makes the tables of places from the record alone

tests/docs/test_limits.py computes the table of frequencies again, and compares those of distributions, of
ranges and of tables with the runs that tools/benchmarks/ and docs/frequencies.md record.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import dither as dt
from dither.estimation.reading import least_variance_reading
from dither.mechanisms.places.planning import best_split
from tools.coverage import write

RECORDED = Path(__file__).parent / "recorded" / "places.json"
SQUARE = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
PLACE_BUDGETS = (1, 2, 4, 8)
SPOTS = np.array([[0.0, 0.0], [0.5, 0.0], [0.5, 0.5]])  # a corner, the middle of an edge, the centre


def _with_best_share(design: dt.TraCSD) -> dt.TraCSD:
    return replace(design, split=best_split(design))


BEST, SOLVED, BOTH = "best possible", '`Optimal`, `purpose="places"`', "`Optimal`, for places and maps"
EVEN, SHARED = '`Optimal`, `purpose="worst"`', "`TraCSD`, the best share"
OTHERS: dict[str, Any] = {
    "`TraCSC`": lambda epsilon: dt.TraCSC(SQUARE, epsilon=epsilon),
    "`TraCSC`, read at medians": lambda epsilon: dt.TraCSC(SQUARE, epsilon=epsilon).read("median"),
    "`TraCSD`": lambda epsilon: dt.TraCSD(SQUARE, epsilon=epsilon),
    SHARED: lambda epsilon: _with_best_share(dt.TraCSD(SQUARE, epsilon=epsilon)),
    "`PlanarStaircase`": lambda epsilon: dt.PlanarStaircase(SQUARE, epsilon=epsilon),
    "`PlanarLaplace`": lambda epsilon: dt.PlanarLaplace(SQUARE, epsilon=epsilon),
    "`Gridding`": lambda epsilon: dt.rivals.Gridding(SQUARE, epsilon=epsilon),
}
PAGE = Path(__file__).parents[1] / "docs" / "limits.md"
UNIT = dt.Interval(0, 1)
BUDGETS = (0.5, 1, 2, 4)


def value_row(epsilon: float) -> list[float]:
    """Return ε, the bound, and the worst expected distance of one report of each mechanism."""
    solved = dt.Optimal(UNIT, epsilon=epsilon, loss="absolute").certificate
    made: list[Any] = [dt.OGPM(UNIT, epsilon=epsilon)]
    made += [kind(UNIT, epsilon=epsilon).truncated() for kind in (dt.SW, dt.PM, dt.Laplace)]
    return [
        epsilon,
        solved.bound,
        solved.error,
        *(float(mechanism.worst_error("absolute")) for mechanism in made),
    ]


def mean_row(epsilon: float) -> list[float]:
    """Return ε, the bound, and the worst variance of what `dt.mean` averages, for each mechanism."""
    solved = dt.Optimal(UNIT, epsilon=epsilon, unbiased=True).certificate
    kinds = (dt.Hybrid, dt.Podium, dt.PM, dt.SW, dt.Duchi, dt.Laplace)
    return [epsilon, solved.bound, solved.error, *(worst(kind(UNIT, epsilon=epsilon)) for kind in kinds)]


def worst(mechanism: Any) -> float:
    """Return the largest variance of the number by which `dt.mean` reads a report."""
    question, inputs = mechanism.question, np.linspace(0.0, 1.0, 129)
    operator = question.likelihood(inputs, question.outcomes)
    reading = least_variance_reading(question)
    assert reading is not None
    gaps = reading.values - 0.5
    return float((operator.backward(gaps**2) - (inputs - 0.5) ** 2).max())


def place_errors(name: str, epsilon: float) -> list[float]:
    """Return the mean error of people spread evenly, and those of the three spots."""
    if name == "the centre, without asking":
        return [(2**0.5 + np.log(1.0 + 2**0.5)) / 6.0]
    if name in (BEST, SOLVED, BOTH, EVEN):
        purpose: Any = {SOLVED: "places", EVEN: "worst", BEST: "places"}.get(name, "both")
        solver: Any = dt.Optimal
        made = solver(SQUARE, epsilon=epsilon, purpose=purpose)
        return [made.bound] if name == BEST else [made.average_error(), *made.error(SPOTS)]
    rng, source = np.random.default_rng(1), dt.Seeded(1)
    mechanism = OTHERS[name](epsilon)
    found = []
    for places in (rng.random((20_000, 2)), *(np.repeat(spot[None], 4000, axis=0) for spot in SPOTS)):
        told = mechanism.perturb(places[:, None, :], source=source).values[:, 0]  # paths of one location
        found.append(float(np.linalg.norm(told - places, axis=1).mean()))
    return found


def places() -> dict[str, list[float]]:
    """Return what was computed and measured for each mechanism and ε."""
    return dict(json.loads(RECORDED.read_text(encoding="utf-8"))) if RECORDED.exists() else {}


def record_places() -> None:
    """Compute and measure what is not recorded."""
    kept = places()
    for name in (BEST, SOLVED, BOTH, EVEN, *OTHERS, "the centre, without asking"):
        for epsilon in PLACE_BUDGETS:
            key = f"{name}, ε = {epsilon}"
            if key not in kept:
                kept[key] = [float(f"{error:.5g}") for error in place_errors(name, epsilon)]
                print(key, kept[key], flush=True)
                lines = (
                    f"{json.dumps(cell, ensure_ascii=False)}: {json.dumps(row)}" for cell, row in kept.items()
                )
                RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def place_tables() -> tuple[str, str]:
    """Return the two tables of places, from the record."""
    kept = places()
    head = ["| ε | 1 | 2 | 4 | 8 |", "|---|---|---|---|---|"]
    means, spots = head.copy(), head.copy()
    for name in (BEST, SOLVED, BOTH, *OTHERS, "the centre, without asking"):
        digits = ".4f" if name in (BEST, SOLVED, BOTH) else ".3f"
        cells = (format(kept[f"{name}, ε = {epsilon}"][0], digits) for epsilon in PLACE_BUDGETS)
        means.append(f"| {name} | {' | '.join(cells)} |")
    for name in (SOLVED, EVEN, "`TraCSC`", SHARED, "`PlanarStaircase`"):
        rows = (kept[f"{name}, ε = {epsilon}"][1:] for epsilon in PLACE_BUDGETS)
        spots.append(f"| {name} | {' | '.join(', '.join(f'{e:.2f}' for e in row) for row in rows)} |")
    return "\n".join(means), "\n".join(spots)


def with_rows(page: str, name: str, rows: list[list[float]], digits: str) -> str:
    """Return the page with other numbers in the table between the marks of a name."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, rest = page.split(begin)
    table, after = rest.split(end)
    lines = [
        "| " + " | ".join([f"{row[0]:g}", *(format(cell, digits) for cell in row[1:])]) + " |" for row in rows
    ]
    head, _, tail = re.split(r"((?:^\| [0-9].*\n)+)", table, maxsplit=1, flags=re.M)
    return before + begin + head + "\n".join(lines) + "\n" + tail + end + after


if __name__ == "__main__":
    if sys.argv[1:] != ["places"]:
        record_places()
    for table, mark in zip(place_tables(), ("places", "who pays"), strict=True):
        write(PAGE, table, mark)
    if sys.argv[1:] == ["places"]:
        sys.exit()
    text = PAGE.read_text(encoding="utf-8")
    text = with_rows(text, "values", [value_row(epsilon) for epsilon in BUDGETS], ".4f")
    text = with_rows(text, "means", [mean_row(epsilon) for epsilon in BUDGETS], "#.4g")
    PAGE.write_text(text, encoding="utf-8")
