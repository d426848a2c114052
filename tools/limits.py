"""Write the computed tables of docs/limits.md, of one value and of a mean: `python -m tools.limits`.

tests/docs/test_limits.py computes the table of frequencies again, and compares those of distributions, of
ranges and of tables with the runs that benchmarks/ and docs/frequencies.md record. The tables of places are
those of docs/anywhere.md and of simulations that are not recorded.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

import dither as dt

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
    gaps = question.unbiased_reading().values - 0.5
    return float((operator.backward(gaps**2) - (inputs - 0.5) ** 2).max())


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
    text = PAGE.read_text(encoding="utf-8")
    text = with_rows(text, "values", [value_row(epsilon) for epsilon in BUDGETS], ".4f")
    text = with_rows(text, "means", [mean_row(epsilon) for epsilon in BUDGETS], "#.4g")
    PAGE.write_text(text, encoding="utf-8")
