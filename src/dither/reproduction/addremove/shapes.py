"""Paper 004, Figures 1 and 2: what a record moves, and the hourglass as printed and corrected."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from dither.central.pairs import HourglassLattice
from dither.central.staircase import DiscreteStaircase
from dither.reproduction.addremove.simulation import FIRST, GRID, KINDS, LAPLACE, SECOND
from dither.reproduction.drawing import Panels, Picture
from dither.reproduction.expectations import expected
from dither.reproduction.figure import Figure, Setting
from dither.reproduction.styles import styles_of
from dither.reproduction.version import PUBLISHED, RIGHT

Rows = list[dict[str, Any]]


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
            for place in (0, GRID.cells):
                first, second = (sign * number for number in method.query(place, 1, GRID))
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
    """Return the exponent of eq. (10) as printed, except at single points: the next line at z₁ ≥ 0."""

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
                - exponent(first + place, (line + 1) * step - first - place)
            )
            for first in range(-3 * step, 3 * step + 1)
            for line in range(-3, 4)
            for place in range(step + 1)
        )
    )


def _balls(panels: Panels, rows: Rows) -> None:
    """Draw the unit balls of noise as closed shapes, and what one record changes as bold segments."""
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


FIGURES: Final = (
    Figure(
        "004",
        "figure 1",
        "What a record moves, and the noise around it",
        figure_1,
        Picture(
            _balls,
            "Three planes. In that of sum and count the two segments that one record can move by lie inside "
            "the diamonds of noise of Algorithms 1, 2 and 3; Algorithm 3's is the smallest. In the "
            "transformed planes of Algorithms 2 and 3 the noise is a unit diamond.",
        ),
        expected("addremove", "figure 1"),
    ),
    Figure(
        "004",
        "figure 2",
        "The hourglass, γ = 0.4",
        figure_2,
        Picture(
            _segments,
            "Diagonal lines in the plane of the two noises, coloured by the exponent of the density. Right: "
            "symmetric about the diagonal, and one record changes the exponent by one. As printed in "
            "equation (10) the half x ≥ 0 is moved by one line, and one record changes it by two.",
        ),
        expected("addremove", "figure 2"),
        notes=(
            "The sampler of Lemma 4 as printed has a ceiling for a floor: it loses 2ε. Figures 3 and 4 show "
            "what this does to the squared error: little at ε ≤ 1, up to eight times as much at ε = 4.",
        ),
    ),
)
