"""The OGPM paper's framework: programs solved for four and five pieces, at random budgets, by regression."""

from __future__ import annotations

import math
import time
from typing import Any, Final

import numpy as np

from dither.errors import DitherError
from dither.foundation.arrays import Floats
from dither.foundation.losses import Power, absolute, squared
from dither.mechanisms.numeric.ogpm import OGPM, best_width
from dither_papers.drawing import PUBLISHED, RIGHT, Lines, Rows
from dither_papers.figure import Figure, Setting, expected
from dither_papers.ogpm import programs
from dither_papers.ogpm.claims import UNIT

_SECONDS: Final = 10.0  # the most time for one program
_GAP: Final = 1e-5  # the relative gap at which the solver may stop


def _solved(epsilon: float, x: float, loss: Power, pieces: int) -> tuple[programs.Pieces, programs.Pieces]:
    """Return the result of both steps: levels found at an end of the domain, then their best edges for x."""
    levels = programs.solve(epsilon, loss, pieces=pieces, gap=_GAP, seconds=_SECONDS)
    falling = tuple(sorted(set(levels.levels), reverse=True))
    return levels, programs.place(falling, loss, at=x, gap=_GAP, seconds=_SECONDS)


def figure_2(setting: Setting) -> Rows:
    """Return the densities that the solver finds with four and five pieces at x = 0.3, ε = 1, merged."""
    rows: Rows = []
    for pieces in (4, 5):
        levels, placed = _solved(1.0, 0.3, absolute, pieces)
        merged = placed.merged()
        row = {"version": RIGHT, "solved": f"m = {pieces}"}
        rows.append(
            {
                **row,
                "pieces left": len(merged.levels),
                "p": merged.top,
                "left": merged.edges[1],
                "right": merged.edges[2],
                "error": placed.error,
                "gap": max(levels.gap, placed.gap),
            }
        )
        for y in ((np.arange(800) + 0.5) / 800).tolist():
            index = int(np.searchsorted(merged.edges, y)) - 1
            rows.append({**row, "report": y, "density": merged.levels[index]})
    return rows


def _compare(row: dict[str, Any], loss: Power) -> None:
    """Add to a row the gain of the fourth piece and the worst error by the closed form."""
    row["gain of a fourth piece"] = 1.0 - row["worst error, m = 4"] / row["worst error, m = 3"]
    row["closed form"] = best_width(row["epsilon"], loss) ** loss.exponent


def monte_carlo(setting: Setting) -> Rows:
    """Return, for random ε and x, the errors of three and of four pieces, the gaps proven and the time.

    [OGPM25, Sec. 3.2.2] rests m = 3 on 10⁴ such pairs. By the bathtub argument (docs/theory.md) three pieces
    suffice for all pairs, so this only tests the solver.
    """
    count = setting.runs(40, 3)
    draw = np.random.default_rng(setting.seed)
    pairs = list(
        zip(draw.uniform(0.05, 10.0, count).tolist(), draw.uniform(0.0, 1.0, count).tolist(), strict=True)
    )
    rows: Rows = []
    for loss in (absolute, squared):
        found: Rows = []
        for epsilon, x in pairs:
            row: dict[str, Any] = {"version": RIGHT, "loss": f"{loss!r}", "epsilon": epsilon, "x": x}
            for pieces in (3, 4):
                begin = time.monotonic()
                try:
                    levels, placed = _solved(epsilon, x, loss, pieces)
                except DitherError:  # the solver gave up
                    break
                row[f"worst error, m = {pieces}"] = levels.error
                row[f"error at x, m = {pieces}"] = placed.error
                row[f"gap, m = {pieces}"] = max(levels.gap, placed.gap)
                row[f"seconds, m = {pieces}"] = time.monotonic() - begin
            else:
                _compare(row, loss)
                found.append(row)
                continue
            rows.append({**row, "not solved": 1})
        rows += found
        gaps = np.array([max(row["gap, m = 3"], row["gap, m = 4"]) for row in found])
        proven = [row for row, gap in zip(found, gaps, strict=True) if gap <= _GAP]
        rows.append(
            {
                "version": RIGHT,
                "loss": f"{loss!r}",
                "claim": "all pairs",
                "pairs": count,
                "not solved": count - len(found),
                "closed to 1e-5": int((gaps <= _GAP).sum()),
                "closed to 1e-3": int((gaps <= 1e-3).sum()),
                "largest gain": max(abs(row["gain of a fourth piece"]) for row in proven),
                "farthest from the closed form": max(
                    abs(row["worst error, m = 4"] / row["closed form"] - 1.0) for row in proven
                ),
                "seconds for one program, at most": _SECONDS,
            }
        )
    return rows


def example_3_5(setting: Setting) -> Rows:
    """Return the levels of solved three-piece programs, and the closed form that regression finds in them."""
    budgets = np.linspace(1.0, 10.0, setting.runs(50, 7))
    levels = np.array([programs.solve(float(epsilon), absolute, pieces=3).top for epsilon in budgets])
    rate, offset = programs.fit(budgets.tolist(), levels.tolist()).parameters
    fitted = programs.exponential(budgets, rate, offset)
    shown: list[tuple[str, str, Floats, dict[str, float]]] = [
        (RIGHT, "solved", levels, {}),
        (RIGHT, "e^(ε/2)", np.exp(budgets / 2.0), {}),
        (RIGHT, "regression", fitted, {"rate": rate, "offset": offset}),
        (PUBLISHED, "regression", np.exp(budgets / 2.0) - 0.07, {"rate": 0.5, "offset": -0.07}),
    ]
    return [
        {"version": version, "fit": name, "epsilon": epsilon, "p": p, **said}
        for version, name, curve, said in shown
        for epsilon, p in zip(budgets.tolist(), curve.tolist(), strict=True)
    ]


def example_6_1(setting: Setting) -> Rows:
    """Return the best width for a public value x₀ = 0.2 at ε = 1, and its gain."""
    domain = UNIT
    own = float(OGPM(domain, epsilon=1.0).error(absolute.loss, 0.2))

    def error(width: float) -> float:
        lift = math.expm1(1.0) * width
        high = math.exp(1.0) / (1.0 + lift)
        low = high / math.e
        start = min(max(0.2 - width / 2.0, 0.0), 1.0 - width)
        inside = _absolute(start, start + width, 0.2)
        return high * inside + low * (_absolute(0.0, 1.0, 0.2) - inside)

    widths = np.linspace(0.3, 0.6, 300_001)
    best = min(widths, key=error)
    level = math.e / (1.0 + math.expm1(1.0) * best)
    return [
        {"version": RIGHT, "x0": 0.2, "p": level, "error": error(float(best)), "OGPM's error": own},
        {"version": PUBLISHED, "x0": 0.2, "p": 1.54, "error": 0.241, "OGPM's error": 0.243},
    ]


def _absolute(low: float, high: float, x: float) -> float:
    def primitive(y: float) -> float:
        return math.copysign((y - x) ** 2 / 2.0, y - x)

    return primitive(high) - primitive(low)


FIGURES: Final = (
    Figure(
        "ogpm",
        "figure 2",
        "Four and five pieces, solved, at x = 0.3, ε = 1",
        figure_2,
        Lines("report", "density", "solved", steps=True),
        expected("ogpm", "figure 2"),
        notes=(
            "Both programs are solved: levels at an end of the domain first, then their places for x. After "
            "equal neighbours are merged, three pieces remain; docs/theory.md proves that three suffice.",
        ),
    ),
    Figure(
        "ogpm",
        "monte carlo",
        "Three pieces against four, at random ε and x",
        monte_carlo,
        Lines(
            "epsilon",
            "gain of a fourth piece",
            "loss",
            labels={"gain of a fourth piece": "relative gain of a fourth piece"},
            points=True,
        ),
        expected("ogpm", "monte carlo"),
        notes=(
            "The paper has 10⁴ pairs, here are 40 a loss: it is the proof that settles m = 3, not the "
            "number of pairs. A program may take 10 seconds; the last row of each loss says how many were "
            "closed to which gap, and how many the solver gave up. Gains are those of the closed ones. The "
            "squared loss is solved too, thanks to the inequalities (h·r^(i+1))·(h·r^(i−1)) ≥ (h·r^i)²; it "
            "takes up to some seconds, so a busy machine closes fewer.",
        ),
    ),
    Figure(
        "ogpm",
        "example 3.5",
        "The level p by regression on solved programs",
        example_3_5,
        Lines("epsilon", "p", "fit", log="y"),
        expected("ogpm", "example 3.5"),
        notes=(
            "The form e^(β₁ε) + β₂ is fitted to solved three-piece programs. The law behind them is "
            "p = e^(ε/2); the authors' budgets are equally spaced from 1 to 10, not random.",
        ),
    ),
    Figure(
        "ogpm",
        "example 6.1",
        "The error at a public value",
        example_6_1,
        expected=expected("ogpm", "example 6.1"),
    ),
)
