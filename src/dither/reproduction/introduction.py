"""Paper 002, chapters 1 to 3: two mechanisms in pictures; the rest are drawings without numbers."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from dither.domains import Interval
from dither.mechanisms.numeric.laplace import Laplace
from dither.mechanisms.numeric.ogpm import OGPM
from dither.mechanisms.numeric.pm import PM
from dither.mechanisms.numeric.sw import SW
from dither.reproduction.drawing import Lines, Panels, Picture
from dither.reproduction.expectations import expected
from dither.reproduction.figure import Figure, Setting
from dither.reproduction.styles import styles_of
from dither.reproduction.version import RIGHT

Rows = list[dict[str, Any]]

UNIT: Final = Interval(0, 1)


def figure_2_1(setting: Setting) -> Rows:
    """Return the probabilities of randomized response and the density of Laplace noise, ε = 1."""
    truth = 1.0 / (1.0 + math.exp(-1.0))
    rows: Rows = [
        {"version": RIGHT, "claim": "probability of the truth, RR at ε = 1", "value": truth},
        {"version": RIGHT, "claim": "probability of a lie, RR at ε = 1", "value": 1.0 - truth},
    ]
    laplace = Laplace(UNIT, epsilon=1)
    for x in (0.0, 1.0):
        for y in np.linspace(-4.0, 5.0, 361).tolist():
            rows.append({"version": RIGHT, "input": f"x = {x:g}", "report": y, "density": laplace.pdf(y, x)})
    return rows


def figure_3_2(setting: Setting) -> Rows:
    """Return the densities of three piecewise mechanisms at x = 0.5, ε = 1."""
    kinds = {"OGPM": OGPM(UNIT, epsilon=1), "PM": PM(UNIT, epsilon=1), "SW": SW(UNIT, epsilon=1)}
    rows: Rows = []
    for name, mechanism in kinds.items():
        low, high = mechanism.support
        for y in (low + (high - low) * (np.arange(800) + 0.5) / 800).tolist():
            rows.append({"version": RIGHT, "mechanism": name, "report": y, "density": mechanism.pdf(y, 0.5)})
    return rows


def _two_mechanisms(panels: Panels, rows: Rows) -> None:
    """Draw the bars of randomized response beside the curves of Laplace noise."""
    bars, curves = panels.in_order(2)
    truth, lie = (row["value"] for row in rows if row.get("claim") is not None)
    styles = styles_of(["x = 0", "x = 1"])
    for place, (name, heights) in enumerate((("x = 0", (truth, lie)), ("x = 1", (lie, truth)))):
        at = [report + 0.36 * (place - 0.5) for report in (0, 1)]
        bars.bar(at, heights, width=0.34, color=styles[name].colour, label=name)
        points = [(row["report"], row["density"]) for row in rows if row.get("input") == name]
        curves.plot(*zip(*points, strict=True), color=styles[name].colour, label=name)
    bars.set_xticks([0, 1], ["report 0", "report 1"])
    bars.set_ylabel("probability", fontsize=8)
    bars.set_title("randomized response", fontsize=9)
    curves.set_xlabel("report", fontsize=8)
    curves.set_ylabel("density", fontsize=8)
    curves.set_ylim(bottom=0)
    curves.set_title("Laplace noise", fontsize=9)


_DRAWING: Final = "a drawing without numbers"

FIGURES: Final = (
    Figure("002-1", "figure 1.1", "The model of local privacy", why_not=_DRAWING),
    Figure("002-1", "table 1.1", "Privacy-enhancing techniques", why_not="a list without numbers"),
    Figure("002-1", "figure 1.2", "Privacy and utility", why_not="a sketch of a curve, without numbers"),
    Figure(
        "002-1",
        "figure 2.1",
        "Randomized response and Laplace noise, ε = 1",
        figure_2_1,
        Picture(
            _two_mechanisms,
            "Left: randomized response at ε = 1 tells the truth with probability 0.731 and lies with 0.269, "
            "for either bit. Right: the densities of Laplace noise of scale 1 about x = 0 and x = 1.",
        ),
        expected("introduction", "figure 2.1"),
    ),
    Figure("002-1", "figure 3.1", "Correlated perturbation", why_not=_DRAWING),
    Figure(
        "002-1",
        "figure 3.2",
        "Piecewise densities at x = 0.5, ε = 1",
        figure_3_2,
        Lines("report", "density", "mechanism", steps=True),
    ),
    Figure("002-1", "figure 3.3", "From trying to proving", why_not=_DRAWING),
)
