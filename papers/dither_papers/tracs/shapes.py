"""Chapter 6's pictures of distributions: Figures 6.2, D.1, D.2, D.4, D.6 and D.8."""

from __future__ import annotations

import math
from typing import Final, cast

import numpy as np

from dither.core.domains import Circle, Disk
from dither.core.kernels.window.kernel import SectorKernel, SlidingKernel
from dither.mechanisms.numeric.ogpm import OGPM
from dither.mechanisms.places.base import grid
from dither.mechanisms.places.rivals import NGram, Sectors
from dither.mechanisms.places.tracs import TraCSC, TraCSD
from dither_papers.drawing import PUBLISHED, RIGHT, Panels, Picture, Rows, drawn, styles_of
from dither_papers.figure import ExpectedNumber, Figure, Setting
from dither_papers.tracs.measuring import PAPER, SQUARE, city, files, sources


def two_panels(panels: Panels, rows: Rows) -> None:
    """Draw the size and the probability of the likelier sector against ε."""
    styles = styles_of(list(dict.fromkeys(row["mechanism"] for row in rows)))
    for axes, column in zip(panels.in_order(2), ("degrees", "probability"), strict=True):
        for name, style in styles.items():
            points = [(row["epsilon"], row[column]) for row in rows if row["mechanism"] == name]
            axes.plot(*zip(*points, strict=True), label=name, **drawn(style, len(points)))
        axes.set_xlabel("privacy budget ε of the direction", fontsize=8)
        axes.set_ylabel(f"{column} of the likelier sector", fontsize=8)


def sectors(panels: Panels, rows: Rows) -> None:
    """Draw the likelier sector of each mechanism on a circle, the true direction upwards and to the right."""
    right = [row for row in rows if row["version"] == RIGHT]
    around = np.linspace(0.0, 2.0 * math.pi, 400)
    for axes, row in zip(panels.in_order(len(right), most=2, square=True), right, strict=True):
        style = styles_of([row["mechanism"]])[row["mechanism"]]
        half = math.radians(row["degrees"]) / 2.0
        middle = math.radians(40.0)
        # The strawman's sectors are fixed; TraCS-D's is centred at the direction.
        begin = 0.0 if row["mechanism"] == "strawman" else middle - half
        arc = np.linspace(begin, begin + 2.0 * half, 100)
        axes.plot(np.cos(around), np.sin(around), color="#bbbbbb")
        axes.fill([0.0, *np.cos(arc), 0.0], [0.0, *np.sin(arc), 0.0], color=style.colour, alpha=0.35)
        axes.plot([0.0, math.cos(middle)], [0.0, math.sin(middle)], color="#222222", linewidth=1.2)
        axes.set_title(
            f"{row['mechanism']}, ε = {row['epsilon']:g}: {row['degrees']:.0f}°, {row['probability']:.3f}",
            fontsize=9,
        )
        axes.set_aspect("equal")
        axes.set_axis_off()


def places_drawn(panels: Panels, rows: Rows) -> None:
    """Draw the locations of each city; degrees of longitude are shortened to their length on the ground."""
    names = list(dict.fromkeys(row["panel"] for row in rows))
    for axes, name in zip(panels.in_order(len(names), square=True), names, strict=True):
        east, north = (
            np.array([row[key] for row in rows if row["panel"] == name]) for key in ("longitude", "latitude")
        )
        axes.scatter(east, north, s=2, color="#0072b2", linewidths=0)
        axes.set_title(name, fontsize=9)
        axes.set_aspect(1.0 / math.cos(math.radians(float(north.mean()))))
        axes.set_xlabel("longitude, in degrees", fontsize=8)
        axes.set_ylabel("latitude, in degrees", fontsize=8)
        axes.tick_params(labelsize=8)


def points_drawn(panels: Panels, rows: Rows) -> None:
    """Draw points of the plane, coloured by probability."""
    points = [row for row in rows if row.get("x") is not None]
    names = list(dict.fromkeys(row.get("panel", "") for row in points))
    for axes, name in zip(panels.in_order(len(names), square=True), names, strict=True):
        inner = [row for row in points if row.get("panel", "") == name]
        shown = axes.scatter(
            [row["x"] for row in inner],
            [row["y"] for row in inner],
            s=30 if len(inner) < 300 else 22,
            c=[row["probability"] for row in inner],
            cmap="cividis_r",
            linewidths=0,
            marker="s" if len(inner) > 300 else "o",
        )
        axes.figure.colorbar(shown, ax=axes, label="probability or density", shrink=0.8)
        axes.set_title(name, fontsize=9)
        axes.set_aspect("equal")
        axes.set_xlabel("x", fontsize=8)
        axes.set_ylabel("y", fontsize=8)


def disk_drawn(panels: Panels, rows: Rows) -> None:
    """Draw the disk as a circle, the reports in it, the likelier part of a ring, and the true place."""
    (axes,) = panels.in_order(1, square=True)
    points = [row for row in rows if row.get("x") is not None]
    axes.scatter(
        [row["x"] for row in points],
        [row["y"] for row in points],
        s=2,
        color="#0072b2",
        linewidths=0,
        label="reports",
    )
    around = np.linspace(0.0, 2.0 * math.pi, 400)
    axes.plot(np.cos(around), np.sin(around), color="#777777", label="the disk")
    area = next(row for row in rows if row.get("mechanism") == "likelier area")
    arc = np.linspace(area["from_direction"], area["to_direction"], 100) * math.pi
    near, far = area["from_distance"], area["to_distance"]
    outline = [(near, angle) for angle in arc] + [(far, angle) for angle in arc[::-1]] + [(near, arc[0])]
    axes.plot(
        [size * math.cos(angle) for size, angle in outline],
        [size * math.sin(angle) for size, angle in outline],
        color="#d55e00",
        label="likelier area",
    )
    axes.plot([-0.5], [0.0], "o", color="#009e73", label="the true place")
    axes.set_aspect("equal")
    axes.set_axis_off()


_CIRCLE: Final = Circle(360.0)


def _sector(epsilon: float, sectors: int | None) -> dict[str, float]:
    """Return the size and the probability of the likelier sector: TraCS-D's, or k-RR's."""
    if sectors is None:
        made = OGPM(_CIRCLE, epsilon=epsilon).question
        kernel = cast(SlidingKernel, made.kernel).window
        return {"degrees": 360.0 * kernel.share, "probability": kernel.width * kernel.inside / kernel.total}
    blocks = cast(SectorKernel, Sectors(_CIRCLE, epsilon=epsilon, sectors=sectors).question.kernel).window
    return {"degrees": 360.0 / sectors, "probability": blocks.width * blocks.inside / blocks.total}


def _dominant(setting: Setting) -> Rows:
    printed = {"TraCS-D": (17.0, 0.95), "strawman": (60.0, 0.98)}  # Example 10
    found: Rows = [
        {"version": PUBLISHED, "epsilon": 6.0, "mechanism": name, "degrees": size, "probability": chance}
        for name, (size, chance) in printed.items()
    ]
    for epsilon in (4.0, 6.0):
        for name, count in (("TraCS-D", None), ("strawman", 6)):
            found.append({"version": RIGHT, "epsilon": epsilon, "mechanism": name, **_sector(epsilon, count)})
    return found


def _tradeoff(setting: Setting) -> Rows:
    return [
        {
            "version": RIGHT,
            "epsilon": round(float(epsilon), 2),
            "mechanism": name,
            **_sector(float(epsilon), k),
        }
        for name, k in (("TraCS-D", None), ("3-RR", 3), ("6-RR", 6), ("12-RR", 12))
        for epsilon in np.linspace(0.5, 10.0, 39)
    ]


def _exponential(setting: Setting) -> Rows:
    """Return the probabilities of points for the corner, ε = 4, on two grids [Fig. D.1]."""
    found: Rows = []
    for side in (4, 11):
        mechanism = NGram(SQUARE, grid(SQUARE, side), epsilon=4.0)
        weights = mechanism.weights_of((0.0, 0.0))
        found += [
            {
                "version": RIGHT,
                "panel": f"{side} × {side}",
                "x": x,
                "y": y,
                "probability": weight / weights.sum(),
            }
            for (x, y), weight in zip(mechanism.points, weights, strict=True)
        ]
    return found


def _density(setting: Setting) -> Rows:
    """Return the density of TraCS-C's reports for the corner, ε = 4, on a grid [Fig. D.2]."""
    parts = TraCSC(SQUARE, epsilon=4.0).parts
    middles = (np.arange(48) + 0.5) / 48
    x, y = (np.asarray(part.pdf(middles, 0.0)) for part in parts)
    return [
        {"version": RIGHT, "x": a, "y": b, "probability": float(x[i] * y[j])}
        for i, a in enumerate(middles.tolist())
        for j, b in enumerate(middles.tolist())
    ]


def _disk(setting: Setting) -> Rows:
    """Draw reports for (π, 0.5) on the unit disk, ε = 5 [Fig. D.6]."""
    mechanism = TraCSD(Disk(1.0), epsilon=5.0)
    truth = np.full((setting.runs(5000, 500), 1, 2), (-0.5, 0.0))
    locations = mechanism.perturb(truth, source=sources(setting, 1)[0]).values.reshape(-1, 2)
    found: Rows = [{"version": RIGHT, "x": x, "y": y} for x, y in locations.tolist()]
    direction, distance = (part.question.kernel.window_share for part in mechanism.parts)
    angle, radius = np.arctan2(locations[:, 1], locations[:, 0]) % (2 * math.pi), np.hypot(*locations.T)
    inside = (np.abs(angle / math.pi - 1.0) <= direction) & (np.abs(radius - 0.5) <= distance / 2)
    found.append(
        {
            "version": RIGHT,
            "mechanism": "likelier area",
            "from_direction": 1.0 - direction,  # in units of π
            "to_direction": 1.0 + direction,
            "from_distance": 0.5 - distance / 2,
            "to_distance": 0.5 + distance / 2,
            "inside": float(inside.mean()),
        }
    )
    return found


def _places(setting: Setting) -> Rows:
    """Return every location of the two cities, in degrees [Fig. D.8]."""
    found: Rows = []
    for name in ("tky", "chi"):
        town = city(setting, name)
        for latitude, longitude in (town.corner + town.points * town.degrees).tolist():
            found.append({"version": RIGHT, "panel": town.name, "longitude": longitude, "latitude": latitude})
    return found


FIGURES: Final = [
    Figure(
        PAPER,
        "Figure 6.2",
        "the likelier sector of a direction",
        _dominant,
        Picture(
            sectors,
            "Four circles, for ε = 4 and 6. TraCS-D's likelier sector is narrow and centred at the "
            "direction; the strawman's is the fixed sector of 60 degrees in which the direction lies.",
        ),
        [
            ExpectedNumber(
                {"version": RIGHT, "epsilon": 6.0, "mechanism": "TraCS-D"},
                "degrees",
                17.07,
                0.01,
                "Example 10",
            ),
            ExpectedNumber(
                {"version": RIGHT, "epsilon": 6.0, "mechanism": "TraCS-D"},
                "probability",
                0.953,
                0.005,
                "Example 10",
            ),
            ExpectedNumber(
                {"version": RIGHT, "epsilon": 6.0, "mechanism": "strawman"},
                "probability",
                0.988,
                0.005,
                "Example 10",
            ),
        ],
    ),
    Figure(
        PAPER,
        "Figure D.1",
        "the exponential mechanism depends on the grid",
        _exponential,
        Picture(
            points_drawn,
            "Grids of 4 × 4 and of 11 × 11 points, coloured by probability: it falls with the distance from "
            "the corner, and slower on the finer grid.",
        ),
    ),
    Figure(
        PAPER,
        "Figure D.2",
        "TraCS-C has a density",
        _density,
        Picture(
            points_drawn,
            "The unit square coloured by density: a square at the corner is likely, two strips along the "
            "axes less, the rest least.",
        ),
    ),
    Figure(
        PAPER,
        "Figure D.4",
        "size and probability of the likelier sector",
        _tradeoff,
        Picture(
            two_panels,
            "Size and probability of the likelier sector against ε. TraCS-D's sector shrinks with ε; those "
            "of 3-, 6- and 12-RR stay at 120, 60 and 30 degrees.",
        ),
    ),
    Figure(
        PAPER,
        "Figure D.6",
        "TraCS-D on a disk",
        _disk,
        Picture(
            disk_drawn,
            "A disk with reports about the true place, most of them in the likelier sector of a ring.",
        ),
        [
            ExpectedNumber({"mechanism": "likelier area"}, column, value, 1e-3, "Figure D.6", absolute=True)
            for column, value in (
                ("from_direction", 0.869),
                ("to_direction", 1.131),
                ("from_distance", 0.323),
                ("to_distance", 0.677),
            )
        ],
        notes=("The likelier ring is [0.323, 0.677]: the printed 0.67 is rounded down.",),
    ),
    Figure(
        PAPER,
        "Figure D.8",
        "the places of Tokyo and Chicago",
        _places,
        Picture(
            places_drawn,
            "Maps of the places in Tokyo and Chicago, in degrees: dense centres and wide empty areas inside "
            "the rectangle on which TraCS works.",
        ),
        needs=tuple(file for name in ("tky", "chi") for file in files(name)),
    ),
    Figure(PAPER, "Figure 6.1", "two ways to give coordinates", why_not="a drawing without numbers"),
    Figure(PAPER, "Figure 6.3", "two cases of the longest distance", why_not="a drawing without numbers"),
    Figure(PAPER, "Table 6.1", "comparison with existing methods", why_not="a list without numbers"),
]
