"""Means of a trusted curator in the add-remove model: Figures 1 to 5, as printed and corrected."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

import numpy as np

from dither.core.domains import Interval
from dither.extensions.central.integer_noise import DiscreteStaircase
from dither.extensions.central.pairs import (
    INDEPENDENT,
    SHIFTED,
    TRANSFORMED,
    Hourglass,
    HourglassLattice,
    LaplacePair,
    MeanMethod,
    PairNoise,
    StaircasePair,
)
from dither.extensions.central.tally import RecordGrid
from dither.foundation.arrays import Floats
from dither.foundation.randomness import Seeded
from dither_papers.drawing import PUBLISHED, RIGHT, Lines, Panels, Picture, Rows, styles_of
from dither_papers.figure import Figure, Setting, expected

GRID: Final = RecordGrid(Interval(0, 1))
RECORDS: Final = 10_000

FIRST: Final = "Algorithm 1"
SECOND: Final = "Algorithm 2"
LAPLACE: Final = "Algorithm 3, Laplace"
RINGS: Final = "Algorithm 3, 2-D staircase"
HOURGLASS: Final = "Algorithm 3, hourglass"
BOUND: Final = "lower bound"
SWAP: Final = "swap model, clipped staircase"

KINDS: Final[dict[str, tuple[MeanMethod, PairNoise]]] = {
    FIRST: (INDEPENDENT, LaplacePair()),
    SECOND: (SHIFTED, LaplacePair()),
    LAPLACE: (TRANSFORMED, LaplacePair()),
    RINGS: (TRANSFORMED, StaircasePair()),
    HOURGLASS: (TRANSFORMED, Hourglass()),
}
HIGH_PRIVACY: Final = (FIRST, SECOND, LAPLACE, HOURGLASS)
LOW_PRIVACY: Final = (LAPLACE, RINGS, HOURGLASS)
_LOW: Final = (0.0, 1e-4, 3e-4, 1e-3, 0.003, 0.01, 0.05, 0.1, 0.25)
MEANS: Final = (*_LOW, 0.5, *(1.0 - mean for mean in reversed(_LOW)))


def runs(setting: Setting) -> int:
    """Return the number of draws of the noise."""
    return setting.runs(100_000, 10_000)


@lru_cache(maxsize=128)
def noise_of(kind: str, epsilon: float, runs: int, seed: int) -> Floats:
    """Draw the noise of the sum and of the count, in units of one record; it does not depend on the data."""
    method, noise = KINDS[kind]
    law, source = noise.law(method, GRID, Fraction(epsilon)), Seeded(seed)
    # `solve` is linear, so it can be applied to only the noise; in Fractions, to keep integer counts exact.
    drawn = [method.solve(*law.draw(source), GRID) for _ in range(runs)]
    return np.array([[float(total), float(count)] for total, count in drawn]).T


def _printed(noise: Floats) -> Floats:
    """Return hourglass noise as printed in eq. (10): with a ceiling, so one line too far at z₁ ≥ 0."""
    return np.array([noise[0], noise[1] + (noise[0] >= 0.0)])


def literal(total: Floats, count: Floats) -> Floats:
    """Return clipped quotients, as `central.mean` does with the convention LITERAL, for arrays."""
    safe = np.where(count == 0.0, 1.0, count)
    return np.where(count == 0.0, (np.sign(total) + 1.0) / 2.0, np.clip(total / safe, 0.0, 1.0))


def midpoint(total: Floats, count: Floats) -> Floats:
    """Return quotients as `central.mean` does by default: one half where the count is not positive."""
    return np.where(count <= 0.0, 0.5, literal(total, count))


def error_of(
    noise: Floats, mean: float, records: int, convention: Callable[[Floats, Floats], Floats] = literal
) -> float:
    """Return the mean squared error for records of this mean."""
    share = convention(mean * records + noise[0], records + noise[1])
    return float(np.mean((share - mean) ** 2))


def _leading(kind: str, epsilon: float, mean: float) -> float:
    """Return n²·MSE for large n, from the exact moments of the law."""
    method, noise = KINDS[kind]
    law = noise.law(method, GRID, Fraction(epsilon))
    return law.deviation(method.weights(mean, GRID)) ** 2


def bound(epsilon: float) -> float:
    """Return σ²(ε), the least worst case of all means as n grows [Thm 4]."""
    return DiscreteStaircase.best(GRID.cells, Fraction(epsilon)).variance


def swapped(epsilon: float, mean: float, records: int) -> float:
    """Return the squared error of a mean in the swap model: the best staircase, clipped to [0, 1].

    One record moves the mean by at most 1/n there, so the error is E[clip(Z, −μn, (1 − μ)n)²]/n² with the
    noise Z of the least variance. E[min(Z⁺, c)²] is the integral of 2z·P(Z > z) up to c. Between the edges of
    steps P is linear in z, so Simpson's rule is exact.
    """
    law = DiscreteStaircase.best(GRID.cells, Fraction(epsilon))
    step = law.sensitivity

    def inside(point: float) -> float:
        return point * law.tail(round(point * step))  # the two tails are equal

    def half(end: float) -> float:
        edges = [0.0, *(law.radius / step + k for k in range(math.ceil(end)) if law.radius / step + k < end)]
        return math.fsum(
            (right - left) / 6.0 * (inside(left) + 4.0 * inside((left + right) / 2.0) + inside(right))
            for left, right in pairwise([*edges, end])
        )

    return (half(mean * records) + half((1.0 - mean) * records)) / records**2


def large(setting: Setting, kinds: tuple[str, ...], epsilon: float, mean: float, panel: str) -> Rows:
    """Return the errors of some algorithms on 10 000 records, times n²ε²/2 as the paper scales them."""
    scale = epsilon**2 / 2.0
    row = {"panel": panel, "ε": epsilon, "μ": mean}
    rows: Rows = []
    for kind in kinds:
        noise = noise_of(kind, epsilon, runs(setting), setting.seed)
        found = {
            "error": scale * RECORDS**2 * error_of(noise, mean, RECORDS),
            "for large n": scale * _leading(kind, epsilon, mean),
        }
        rows.append({"version": RIGHT, **row, "algorithm": kind, **found})
        if kind == HOURGLASS:
            wrong = scale * RECORDS**2 * error_of(_printed(noise), mean, RECORDS)
            rows.append({"version": PUBLISHED, **row, "algorithm": f"{kind}, eq. (10)", "error": wrong})
    least = scale * bound(epsilon)
    rows.append({"version": RIGHT, **row, "algorithm": BOUND, "error": least, "for large n": least})
    return rows


def figure_1(setting: Setting) -> Rows:
    """Return the changes that one record can make, and the unit ball of each algorithm's noise."""
    moves = {FIRST: "sum and count", SECOND: "the numbers of Algorithm 2", LAPLACE: "those of Algorithm 3"}
    rows: Rows = []
    for kind, own in moves.items():
        method = KINDS[kind][0]
        size = method.sensitivity(GRID)
        corners = [(size, 0), (0, size), (-size, 0), (0, -size), (size, 0)]
        plain = [tuple(map(float, method.solve(*corner, GRID))) for corner in corners]
        (a, b), (c, d) = plain[:2]
        row = {"version": RIGHT, "shape": f"noise of {kind.split(',')[0]}", "area": 2.0 * abs(a * d - b * c)}
        rows += [{**row, "panel": "sum and count", "first": x, "second": y} for x, y in plain]
        if kind != FIRST:
            unit = [(x / size, y / size) for x, y in corners]
            rows += [{**row, "panel": own, "first": x, "second": y, "area": 2.0} for x, y in unit]
        for sign, name in ((1, "one record more"), (-1, "one record less")):
            for position in (0, GRID.cells):
                first, second = (sign * number for number in method.query(position, 1, GRID))
                scale = GRID.cells if kind == FIRST else size
                point = {"first": first / scale, "second": second / scale}
                rows.append({"version": RIGHT, "panel": own, "shape": name, **point})
    return rows


def figure_2(setting: Setting) -> Rows:
    """Return the exponents j of the hourglass at γ = 0.4, and the largest privacy loss in units of ε."""
    law = HourglassLattice(DiscreteStaircase(100, 40, Fraction(1)))
    step = law.staircase.sensitivity
    rows: Rows = []
    for version, exponent in ((RIGHT, law.exponent), (PUBLISHED, _ceiling(law))):
        for line in range(-4, 5):
            for first in range(-400, 401, 5):
                second = line * step - first
                if abs(second) <= 400:
                    point = {"x": first / step, "line": line, "y": second / step}
                    rows.append({"version": version, **point, "exponent": exponent(first, second)})
    coarse = HourglassLattice(DiscreteStaircase(20, 8, Fraction(1)))
    for version, exponent in ((RIGHT, coarse.exponent), (PUBLISHED, _ceiling(coarse))):
        rows.append({"version": version, "claim": "loss of one record, in ε", "loss": _loss(exponent)})
    return rows


Exponent = Callable[[int, int], Any]


def _ceiling(law: HourglassLattice) -> Exponent:
    """Return the exponent of eq. (10) as printed, except at single points: one line farther at z₁ ≥ 0."""

    def exponent(first: int, second: int) -> int:
        line = (first + second) // law.staircase.sensitivity
        level = law.staircase.level(first)
        return abs(level) + abs(line - level - (first >= 0))

    return exponent


def _loss(exponent: Exponent, step: int = 20) -> float:
    """Return the largest change of an exponent by one record, over all points within three steps."""
    return float(
        max(
            abs(
                exponent(first, line * step - first)
                - exponent(first + index, (line + 1) * step - first - index)
            )
            for first in range(-3 * step, 3 * step + 1)
            for line in range(-3, 4)
            for index in range(step + 1)
        )
    )


def _balls(panels: Panels, rows: Rows) -> None:
    """Draw the unit balls of noise as closed shapes, and the changes by one record as bold segments."""
    names = list(dict.fromkeys(row["panel"] for row in rows))
    shapes = list(dict.fromkeys(row["shape"] for row in rows))
    styles = styles_of([shape for shape in shapes if shape.startswith("noise")])
    for axes, panel in zip(panels.in_order(len(names), square=True), names, strict=True):
        for shape in shapes:
            points = [
                (row["first"], row["second"])
                for row in rows
                if (row["panel"], row["shape"]) == (panel, shape)
            ]
            if not points:
                continue
            if shape in styles:
                axes.fill(*zip(*points, strict=True), facecolor="none", edgecolor=styles[shape].colour)
                axes.plot([], [], color=styles[shape].colour, label=shape)
            else:
                dash = "-" if shape.endswith("more") else "--"
                axes.plot(*zip(*points, strict=True), dash, color="#222222", linewidth=3, label=shape)
        axes.set_title(panel, fontsize=9)
        axes.set_aspect("equal")
        axes.set_xlabel("first number", fontsize=8)
        axes.set_ylabel("second number", fontsize=8)


def _segments(panels: Panels, rows: Rows) -> None:
    """Draw the lines x + y = k that carry the hourglass's mass, dark where it is likely."""
    points = [row for row in rows if row.get("exponent") is not None]
    versions = list(dict.fromkeys(row["version"] for row in points))
    for axes, version in zip(panels.in_order(len(versions), square=True), versions, strict=True):
        inner = [row for row in points if row["version"] == version]
        shown = axes.scatter(
            [row["x"] for row in inner],
            [row["y"] for row in inner],
            s=3,
            c=[row["exponent"] for row in inner],
            cmap="cividis",
        )
        loss = next(row["loss"] for row in rows if row.get("loss") is not None and row["version"] == version)
        axes.set_title(f"{version}: loses {loss:g} ε", fontsize=9)
        axes.set_aspect("equal")
        axes.set_xlabel("noise of the first number x", fontsize=8)
        axes.set_ylabel("noise of the second number y", fontsize=8)
    panels.canvas.colorbar(shown, ax=panels.axes, label="j, in the density c·e^(−jε)", shrink=0.8)


_SCALED: Final = {"error": "squared error · n²ε²/2"}
_RATIO: Final = {"ratio": "ratio of squared errors"}


def figure_3a(setting: Setting) -> Rows:
    """Return the errors of Algorithms 1 to 3 against ε, for the mean of Appendix H and two others."""
    budgets = (0.1, 0.5, 1.0, 2.0) if setting.quick else (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0)
    return [
        row
        for mean in (0.01, 0.1, 0.5)
        for epsilon in budgets
        for row in large(setting, HIGH_PRIVACY, epsilon, mean, f"μ = {mean:g}")
    ]


def figure_3b(setting: Setting) -> Rows:
    """Return the errors against the mean, ε = 1."""
    return [row for mean in MEANS for row in large(setting, HIGH_PRIVACY, 1.0, mean, "ε = 1")]


def figure_3c(setting: Setting) -> Rows:
    """Return the errors of three kinds of noise against large ε, for the mean of Appendix H and another."""
    budgets = (1.0, 2.0, 4.0, 6.0, 10.0) if setting.quick else (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
    return [
        row
        for mean in (0.01, 0.1)
        for epsilon in budgets
        for row in large(setting, LOW_PRIVACY, epsilon, mean, f"μ = {mean:g}")
    ]


def figure_4(setting: Setting) -> Rows:
    """Return the errors of three kinds of noise against the mean, ε = 4."""
    return [row for mean in MEANS for row in large(setting, LOW_PRIVACY, 4.0, mean, "ε = 4")]


FEW: Final = (1, 2, 4, 8, 16, 32, 64, 256)  # the paper ends at 64; at 256 the curves have met
FEW_MEAN: Final = 0.01


def few(setting: Setting, epsilon: float, kinds: tuple[str, ...]) -> Rows:
    """Return MSE·ε²/2 on few records of mean 0.01, by the paper's quotient and by our default.

    The rows also contain the line of Appendix H: the mean of the swap model with the best staircase, clipped.
    The column `share` is an error divided by that line.
    """
    rows: Rows = []
    scale = epsilon**2 / 2.0
    for records in FEW:
        least = swapped(epsilon, FEW_MEAN, records)
        for version, convention in ((PUBLISHED, literal), (RIGHT, midpoint)):
            row = {"version": version, "panel": f"ε = {epsilon:g}", "n": records}
            for kind in kinds:
                noise = noise_of(kind, epsilon, runs(setting), setting.seed)
                error = error_of(noise, FEW_MEAN, records, convention)
                rows.append({**row, "algorithm": kind, "error": scale * error, "share": error / least})
            rows.append({**row, "algorithm": SWAP, "error": scale * least, "share": 1.0})
    return rows


def figure_5a(setting: Setting) -> Rows:
    """Return the errors of Algorithms 1 to 3 on few records, ε = 1."""
    return few(setting, 1.0, HIGH_PRIVACY)


def figure_5b(setting: Setting) -> Rows:
    """Return the errors of Algorithms 1 and 2 relative to Algorithm 3's with Laplace noise, ε = 1."""
    return _ratios(figure_5a(setting), LAPLACE)


def figure_5c(setting: Setting) -> Rows:
    """Return the errors of three kinds of noise on few records, ε = 4."""
    return few(setting, 4.0, LOW_PRIVACY)


def figure_5d(setting: Setting) -> Rows:
    """Return the errors of other noise relative to the hourglass's, ε = 4."""
    return _ratios(figure_5c(setting), HOURGLASS)


def _ratios(rows: Rows, best: str) -> Rows:
    least = {(row["version"], row["n"]): row["error"] for row in rows if row["algorithm"] == best}
    return [
        {**row, "ratio": row["error"] / least[row["version"], row["n"]]}
        for row in rows
        if row["algorithm"] not in (best, SWAP)
    ]


_NOTE_DATA: Final = (
    "Records have exactly the mean μ; the paper draws them at random and does not say from what."
)
_NOTE_BOUND: Final = (
    "The line is a minimax bound: no algorithm is below it at every mean. At μ = 0.01 Algorithm 3 with "
    "Laplace noise has 0.98, 0.99 and 1.02 times as much at ε = 0.1, 0.5 and 1."
)
_NOTE_PRINTED: Final = (
    "The sampler of Lemma 4 as printed, equation (10), has a ceiling for a floor: it loses 2ε. At small ε "
    "its squared error does not show this; at ε = 4 it does: 0.82, 2.04, 3.12 and 3.89 instead of 0.26, "
    "0.32, "
    "0.43 and 0.51 at μ = 0.5, 0.75, 0.9 and 0.99. The paper's curves, symmetric in μ, cannot come from it."
)

_NOTE_SWAP: Final = (
    "The line is the mean of the swap model with the best staircase, clipped to [0, 1] like the others. It "
    "is not a lower bound at this mean: with few records Algorithm 3 is below it."
)
_NOTE_QUOTIENT: Final = (
    "As published is the clipped quotient, whose sign flips with the count's; right is the midpoint."
)
_FEW: Final = Lines(
    "n", "error", "algorithm", together=False, log="xy", labels={"error": "squared error · ε²/2"}
)

FIGURES: Final = (
    Figure(
        "add_remove",
        "figure 1",
        "What a record moves, and the noise around it",
        figure_1,
        Picture(
            _balls,
            "Three planes. In that of sum and count the two segments that one record can move by lie inside "
            "the diamonds of noise of Algorithms 1, 2 and 3; Algorithm 3's is the smallest. In the "
            "transformed planes of Algorithms 2 and 3 the noise is a unit diamond.",
        ),
        expected("add_remove", "figure 1"),
    ),
    Figure(
        "add_remove",
        "figure 2",
        "The hourglass, γ = 0.4",
        figure_2,
        Picture(
            _segments,
            "Diagonal lines in the plane of the two noises, coloured by the exponent of the density. Right: "
            "symmetric about the diagonal, and one record changes the exponent by one. As printed in "
            "equation (10) the half x ≥ 0 is moved by one line, and one record changes it by two.",
        ),
        expected("add_remove", "figure 2"),
        notes=(
            "The sampler of Lemma 4 as printed has a ceiling for a floor: it loses 2ε. Figures 3 and 4 show "
            "what this does to the squared error: little at ε ≤ 1, up to eight times as much at ε = 4.",
        ),
    ),
    Figure(
        "add_remove",
        "figure 3a",
        "Error against ε, 10 000 records",
        figure_3a,
        Lines("ε", "error", "algorithm", log="xy", labels=_SCALED),
        expected("add_remove", "figure 3a"),
        notes=(_NOTE_DATA, _NOTE_BOUND, _NOTE_PRINTED),
    ),
    Figure(
        "add_remove",
        "figure 3b",
        "Error against the mean, ε = 1",
        figure_3b,
        Lines("μ", "error", "algorithm", log="y", logit=True, labels=_SCALED),
        expected("add_remove", "figure 3b"),
        notes=(_NOTE_DATA, "At the very ends clipping halves the error of every algorithm."),
    ),
    Figure(
        "add_remove",
        "figure 3c",
        "Three kinds of noise against ε, 10 000 records",
        figure_3c,
        Lines("ε", "error", "algorithm", log="xy", labels=_SCALED),
        expected("add_remove", "figure 3c"),
        notes=(
            _NOTE_DATA,
            "The bound is a minimax one, of the worst mean: the hourglass has 0.98 times as much at μ = 0.01 "
            "and 0.82 times at μ = 0.1, for every ε.",
        ),
    ),
    Figure(
        "add_remove",
        "figure 4",
        "Three kinds of noise against the mean, ε = 4",
        figure_4,
        Lines("μ", "error", "algorithm", log="y", logit=True, labels=_SCALED),
        expected("add_remove", "figure 4"),
        notes=(_NOTE_DATA, _NOTE_PRINTED),
    ),
    Figure(
        "add_remove",
        "figure 5a",
        "Few records, μ = 0.01, ε = 1",
        figure_5a,
        _FEW,
        expected("add_remove", "figure 5a"),
        notes=(
            _NOTE_SWAP,
            _NOTE_QUOTIENT,
            "Algorithm 3 with Laplace noise has 0.76, 0.87, 0.95 and 1.02 times the line's error at n = 16, "
            "32, 64 and 256: only it comes to the line, as the paper says.",
            "At n = 1 Algorithm 1 beats Algorithm 3 with Laplace noise, against the text.",
        ),
    ),
    Figure(
        "add_remove",
        "figure 5b",
        "Few records, μ = 0.01, ε = 1: relative to Algorithm 3",
        figure_5b,
        Lines("n", "ratio", "algorithm", together=False, log="x", labels=_RATIO),
        expected("add_remove", "figure 5b"),
        notes=("Algorithm 2 comes to twice the error from 16 records on, as the paper says.",),
    ),
    Figure(
        "add_remove",
        "figure 5c",
        "Few records, μ = 0.01, ε = 4",
        figure_5c,
        _FEW,
        expected("add_remove", "figure 5c"),
        notes=(_NOTE_SWAP, _NOTE_QUOTIENT),
    ),
    Figure(
        "add_remove",
        "figure 5d",
        "Few records, μ = 0.01, ε = 4: relative to the hourglass",
        figure_5d,
        Lines("n", "ratio", "algorithm", together=False, log="x", labels=_RATIO),
        expected("add_remove", "figure 5d"),
    ),
)
