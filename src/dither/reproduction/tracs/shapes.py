"""Chapter 6's pictures of laws: Figures 6.2, D.1, D.2, D.4, D.6 and D.8."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from dither.domains import Circle, Disk
from dither.mechanisms.numeric.ogpm import OGPM
from dither.mechanisms.places.ngram import NGram
from dither.mechanisms.places.points import grid
from dither.mechanisms.places.sectors import Sectors
from dither.mechanisms.places.tracs_c import TraCSC
from dither.mechanisms.places.tracs_d import TraCSD
from dither.reproduction.figure import PUBLISHED, RIGHT, ExpectedNumber, Figure, Setting
from dither.reproduction.tracs.data import SQUARE, city, files, sources
from dither.reproduction.tracs.measuring import PAPER, Rows

Axes = Callable[..., Any]

_CIRCLE: Final = Circle(360.0)


def _sector(epsilon: float, sectors: int | None) -> dict[str, float]:
    """Return the size and the probability of the likelier sector: TraCS-D's, or that of k-RR."""
    if sectors is None:
        kernel = OGPM(_CIRCLE, epsilon=epsilon).kernel.window
        return {"degrees": 360.0 * kernel.share, "probability": kernel.width * kernel.inside / kernel.total}
    blocks = Sectors(_CIRCLE, epsilon=epsilon, sectors=sectors).kernel.window
    return {"degrees": 360.0 / sectors, "probability": blocks.width * blocks.inside / blocks.total}


def _dominant(setting: Setting) -> Rows:
    printed = {"TraCS-D": (17.0, 0.95), "strawman": (60.0, 0.98)}  # Example 10
    found: Rows = [
        {"version": PUBLISHED, "epsilon": 6.0, "mechanism": name, "degrees": size, "probability": chance}
        for name, (size, chance) in printed.items()
    ]
    for epsilon in (4.0, 6.0):
        for name, sectors in (("TraCS-D", None), ("strawman", 6)):
            found.append(
                {"version": RIGHT, "epsilon": epsilon, "mechanism": name, **_sector(epsilon, sectors)}
            )
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


def _two_panels(axes_of: Axes, rows: Rows) -> None:
    for place, column in enumerate(("degrees", "probability")):
        axes = axes_of(place, 2)
        for name in dict.fromkeys(row["mechanism"] for row in rows if row["version"] == RIGHT):
            points = [(row["epsilon"], row[column]) for row in rows if row["mechanism"] == name]
            axes.plot(*zip(*sorted(points), strict=True), label=name, marker="." if len(points) < 9 else None)
        axes.set_xlabel("epsilon")
        axes.set_ylabel(f"{column} of the likelier sector")
        axes.legend(frameon=False, fontsize=7)


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
    places = mechanism.perturb(truth, source=sources(setting, 1)[0]).values.reshape(-1, 2)
    found: Rows = [{"version": RIGHT, "x": x, "y": y} for x, y in places.tolist()]
    direction, distance = (part.window_share for part in mechanism.parts)
    angle, radius = np.arctan2(places[:, 1], places[:, 0]) % (2 * math.pi), np.hypot(*places.T)
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


def _points_drawn(axes_of: Axes, rows: Rows) -> None:
    panels = list(dict.fromkeys(row.get("panel", "") for row in rows if "x" in row))
    for place, panel in enumerate(panels):
        axes = axes_of(place, len(panels))
        inner = [row for row in rows if "x" in row and row.get("panel", "") == panel]
        weights = [row.get("probability") for row in inner]
        weighed = all(weight is not None for weight in weights)
        x, y = [row["x"] for row in inner], [row["y"] for row in inner]
        drawn = axes.scatter(x, y, s=30 if weighed else 3, c=weights if weighed else "C0")
        if weighed:
            axes.figure.colorbar(drawn, ax=axes, label="probability or density")
        axes.set_title(panel, fontsize=9)
        axes.set_aspect("equal")


def _places(setting: Setting) -> Rows:
    """Return every place of the two cities in degrees from the corner of its box [Fig. D.8]."""
    found: Rows = []
    for name in ("tky", "chi"):
        town = city(setting, name)
        for latitude, longitude in (town.points * town.degrees).tolist():
            found.append({"version": RIGHT, "panel": town.name, "x": longitude, "y": latitude})
    return found


FIGURES: Final = [
    Figure(
        PAPER,
        "Figure 6.2",
        "the likelier sector of a direction",
        _dominant,
        _two_panels,
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
    Figure(PAPER, "Figure D.1", "the exponential mechanism depends on the grid", _exponential, _points_drawn),
    Figure(PAPER, "Figure D.2", "TraCS-C has a density", _density, _points_drawn),
    Figure(PAPER, "Figure D.4", "size and probability of the likelier sector", _tradeoff, _two_panels),
    Figure(
        PAPER,
        "Figure D.6",
        "TraCS-D on a disk",
        _disk,
        _points_drawn,
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
        _points_drawn,
        needs=tuple(file for name in ("tky", "chi") for file in files(name)),
    ),
]
