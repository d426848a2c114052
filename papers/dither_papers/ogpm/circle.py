"""OGPM on the circle: densities, expected errors, and the polar split."""

from __future__ import annotations

import math
from functools import partial
from typing import Final

import numpy as np

from dither.core.domains import Circle
from dither.foundation.losses import Power, absolute, squared
from dither.foundation.numerics.roots import argmin
from dither.mechanisms.numeric.ogpm import OGPM
from dither.mechanisms.numeric.purkayastha import Purkayastha
from dither_papers.drawing import CODED, PUBLISHED, RIGHT, Lines, Panels, Picture, Rows
from dither_papers.figure import Figure, Setting, expected
from dither_papers.ogpm.claims import BUDGETS, TURN, UNIT, WHOLE, circular_error, three, worst_circular
from dither_papers.ogpm.interval import density

_TOTAL: Final = 1.0 + 2.0 * math.pi
_POINTS: Final = ((0.3, 0.8), (0.7, 4.0))  # distance and direction of the two people of Figure 7


def _split_error(share: float, widths: Power) -> float:
    """Return the sum of the worst squared errors of distance and direction."""
    radial = OGPM(UNIT, epsilon=share, loss=widths.loss).worst_error(squared.loss)
    around = OGPM(Circle(), epsilon=_TOTAL - share, loss=widths.loss).error(squared.loss, 0.0)
    return radial + float(around)


def figure_6(setting: Setting) -> Rows:
    """Return the densities on the circle at x = 0 (Example 4.3) and 4, with the ends of the likelier arc."""
    mechanism = OGPM(Circle(), epsilon=1)
    rows: Rows = []
    for x in (0.0, 4.0):
        begin, end = _arc(mechanism, x)
        row = {"version": RIGHT, "input": f"x = {x:g}"}
        high, low = (float(mechanism.pdf(y % (2.0 * math.pi), x)) for y in (x, x + math.pi))
        ends = {"from, in π": begin / math.pi % 2.0, "to, in π": end / math.pi % 2.0}
        rows.append({**row, **ends, "density inside": high, "density outside": low})
    return rows + density(mechanism, (0.0, 4.0))(setting)


def figure_7(setting: Setting) -> Rows:
    """Return the split of ε = 1 + 2π between distance and direction, its error, and the likelier areas."""
    rows: Rows = []
    for name, widths in (("theorems' widths", absolute), ("best widths for squares", squared)):
        best = argmin(partial(_split_error, widths=widths), 0.1, _TOTAL - 0.1, sections=45)
        row = {"version": RIGHT, "widths": name}
        rows.append(
            {**row, "distance": best, "direction": _TOTAL - best, "error": _split_error(best, widths)}
        )
        for share in np.linspace(0.1, _TOTAL - 0.1, 60).tolist():
            rows.append({**row, "share": share, "total error": _split_error(share, widths)})
        for radius, angle in _POINTS:
            window = {
                **dict(
                    zip(
                        ("from r", "to r"),
                        _window(OGPM(UNIT, epsilon=best, loss=widths.loss), radius),
                        strict=True,
                    )
                ),
                **dict(
                    zip(
                        ("from φ", "to φ"),
                        _arc(OGPM(Circle(), epsilon=_TOTAL - best, loss=widths.loss), angle),
                        strict=True,
                    )
                ),
            }
            rows.append({**row, "r": radius, "φ": angle, **window})
    rows.append({"version": PUBLISHED, "widths": "theorems' widths", "distance": 1.32, "direction": 5.69})
    return rows


def _window(mechanism: OGPM, x: float) -> tuple[float, float]:
    width = mechanism.shape().width
    start = min(max(x - width / 2.0, 0.0), 1.0 - width)
    return start, start + width


def _arc(mechanism: OGPM, angle: float) -> tuple[float, float]:
    half = math.pi * mechanism.shape().width
    return angle - half, angle + half


def figure_10(setting: Setting) -> Rows:
    """Return the squared error on the circle, in radians: rivals scored by the linear distance, and right."""
    rows: Rows = []
    unit = 2.0 * math.pi  # the authors' inputs are shares of the turn
    for epsilon in (2.0, 4.0):
        ours = {
            name: np.full_like(WHOLE, OGPM(TURN, epsilon=epsilon, loss=loss.loss).error(squared.loss, 0.0))
            for loss, name in ((absolute, "OGPM"), (squared, "OGPM, best for squares"))
        }  # the same at every value
        rivals = {name: three(epsilon)[name] for name in ("PM-C", "SW-C")}
        for version, others in (
            (CODED, {name: kind.error(squared, WHOLE) for name, kind in rivals.items()}),
            (RIGHT, {name: circular_error(kind, squared, WHOLE) for name, kind in rivals.items()}),
        ):
            for name, errors in {**ours, **others}.items():
                row = {"version": version, "panel": f"ε = {epsilon:g}", "mechanism": name}
                for x, error in zip(WHOLE, errors, strict=True):
                    rows.append({**row, "x": unit * x, "error": unit**2 * error})
    return rows


def figure_11(setting: Setting) -> Rows:
    """Return the worst-case errors on the circle in radians, as coded (mixed distances) and right."""
    rows: Rows = []
    for epsilon in BUDGETS:
        for loss in (absolute, squared):
            row = {"panel": f"{loss!r}", "ε": epsilon}
            unit = (2.0 * math.pi) ** loss.exponent
            for own, name in ((absolute, "OGPM"), (squared, "OGPM, best for squares")):
                error = unit * OGPM(TURN, epsilon=epsilon, loss=own.loss).error(loss.loss, 0.0)
                rows += [
                    {"version": version, **row, "mechanism": name, "error": error}
                    for version in (CODED, RIGHT)
                ]
            for name in ("PM-C", "SW-C"):
                mechanism = three(epsilon)[name]
                rows.append(
                    {"version": CODED, **row, "mechanism": name, "error": unit * mechanism.worst_error(loss)}
                )
                worst = unit * worst_circular(mechanism, loss)
                rows.append({"version": RIGHT, **row, "mechanism": name, "error": worst})
    return rows


def figure_15(setting: Setting) -> Rows:
    """Compare with Purkayastha's mechanism on the circle, in radians."""
    return [
        {
            "version": RIGHT,
            "panel": f"{loss!r}",
            "ε": epsilon,
            "mechanism": name,
            "error": float(kind.error(loss.loss, 0.0)),
        }
        for loss in (absolute, squared)
        for epsilon in BUDGETS
        for name, kind in (
            ("OGPM", OGPM(Circle(), epsilon=epsilon, loss=loss.loss)),
            ("Purkayastha", Purkayastha(Circle(), epsilon=epsilon)),
        )
    ]


# --- drawing ------------------------------------------------------------------------------------------------


def _rings(panels: Panels, rows: Rows) -> None:
    """Draw densities on the circle: the likelier arc red, the value a dot, as the paper does."""
    rows = [row for row in rows if row.get("report") is not None]
    inputs = list(dict.fromkeys(row["input"] for row in rows))
    for axes, name in zip(panels.in_order(len(inputs), square=True), inputs, strict=True):
        inner = [row for row in rows if row["input"] == name]
        top = max(row["density"] for row in inner)
        angle = np.array([row["report"] for row in inner])
        likely = np.array([row["density"] > 0.99 * top for row in inner])
        value = float(name.split("=")[1])
        axes.plot(np.cos(angle), np.sin(angle), color="#bbbbbb", linewidth=2, label="less likely")
        arc = np.where(likely, angle, np.nan)
        axes.plot(np.cos(arc), np.sin(arc), color="#d55e00", linewidth=5, label="likelier arc")
        axes.plot([math.cos(value)], [math.sin(value)], "o", color="#009e73", label="the value x")
        axes.set_title(f"{name} (radians)", fontsize=9)
        axes.set_aspect("equal")
        axes.set_axis_off()


def _polar(panels: Panels, rows: Rows) -> None:
    """Draw the error against the split, and the likelier areas of two people in the disk."""
    curve, disk = panels.in_order(2, square=True)
    for name, colour in (("theorems' widths", "#0072b2"), ("best widths for squares", "#d55e00")):
        own = [row for row in rows if row.get("widths") == name and row["version"] == RIGHT]
        points = [(row["share"], row["total error"]) for row in own if "share" in row]
        curve.plot(*zip(*points, strict=True), color=colour, label=name)
        best = next(row for row in own if "distance" in row)
        curve.plot([best["distance"]], [best["error"]], "o", color=colour)
        for row in own:
            if "from r" in row:
                angles = np.linspace(row["from φ"], row["to φ"], 60)
                edge = [(row["from r"], angle) for angle in angles] + [
                    (row["to r"], angle) for angle in angles[::-1]
                ]
                x, y = ([size * turn(angle) for size, angle in edge] for turn in (math.cos, math.sin))
                disk.fill(x, y, color=colour, alpha=0.25)
                disk.plot(
                    [row["r"] * math.cos(row["φ"])],
                    [row["r"] * math.sin(row["φ"])],
                    "o",
                    color="#009e73",
                    label="true places",
                )
    curve.axvline(1.32, color="#222222", linestyle=":", label="printed: 1.32")
    curve.set_yscale("log")
    curve.set_xlabel("ε of the distance (the rest of 1 + 2π is the direction's)", fontsize=8)
    curve.set_ylabel("total squared error", fontsize=8)
    around = np.linspace(0.0, 2.0 * math.pi, 200)
    disk.plot(np.cos(around), np.sin(around), color="#bbbbbb")
    disk.set_title("likelier areas at the best splits", fontsize=9)
    disk.set_aspect("equal")
    disk.set_axis_off()


_NOTE_L2: Final = "The theorems' width is not the best for squares; both are shown."
_NOTE_CIRCLE: Final = (
    "As coded, PM-C and SW-C are scored by the linear distance and OGPM by the circular one; "
    "right, all are scored by the circular one."
)

FIGURES: Final = (
    Figure(
        "ogpm",
        "figure 6",
        "OGPM on the circle, ε = 1",
        figure_6,
        Picture(
            _rings,
            "Two circles, for x = 0 and x = 4 radians. A thick arc centred at the value marks the "
            "directions that are reported with the higher density; it is 2π/(1 + √e) = 2.37 radians long.",
        ),
        expected("ogpm", "figure 6"),
    ),
    Figure(
        "ogpm",
        "figure 7",
        "The polar split of ε = 1 + 2π",
        figure_7,
        Picture(
            _polar,
            "Left: the total squared error against the ε of the distance, with its minimum at 1.30 for the "
            "theorems' widths and at 1.53 for the best ones. Right: a disk with two places, each inside the "
            "sector of a ring from which its report is likelier.",
        ),
        expected=expected("ogpm", "figure 7"),
        notes=("The printed 1.32 and 5.69 do not add up to 1 + 2π.",),
    ),
    Figure(
        "ogpm",
        "figure 10",
        "Squared error on the circle",
        figure_10,
        Lines(
            "x",
            "error",
            "mechanism",
            together=False,
            labels={"x": "value, in radians", "error": "expected squared error, in radians²"},
        ),
        expected("ogpm", "figure 10"),
        notes=(_NOTE_L2, _NOTE_CIRCLE),
    ),
    Figure(
        "ogpm",
        "figure 11",
        "Worst-case errors on the circle",
        figure_11,
        Lines(
            "ε",
            "error",
            "mechanism",
            together=False,
            log="y",
            labels={
                "error": "worst-case error",
                "error of absolute": "worst-case error, in radians",
                "error of squared": "worst-case error, in radians²",
            },
        ),
        expected("ogpm", "figure 11"),
        notes=(_NOTE_L2, _NOTE_CIRCLE),
    ),
    Figure(
        "ogpm",
        "figure 15",
        "Purkayastha's mechanism",
        figure_15,
        Lines(
            "ε",
            "error",
            "mechanism",
            log="y",
            labels={
                "error of absolute": "expected error, in radians",
                "error of squared": "expected error, in radians²",
            },
        ),
        expected("ogpm", "figure 15"),
    ),
)
