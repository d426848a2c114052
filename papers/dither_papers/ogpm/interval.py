"""OGPM on intervals: errors of the piecewise mechanisms and of the Laplace family; chapters 1 to 3."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from dither.core.domains import Interval
from dither.foundation.losses import absolute, squared
from dither.mechanisms.numeric.laplace import BoundedLaplace, Laplace
from dither.mechanisms.numeric.ogpm import OGPM
from dither.mechanisms.numeric.pm import PM
from dither.mechanisms.numeric.staircase import Staircase
from dither.mechanisms.numeric.sw import SW
from dither_papers.drawing import PUBLISHED, RIGHT, Lines, Panels, Picture, Rows, styles_of
from dither_papers.figure import Figure, Setting, expected
from dither_papers.ogpm.claims import BUDGETS, GRID, UNIT, WHOLE, three


def density(mechanism: Any, inputs: tuple[float, ...]) -> Callable[[Setting], Rows]:
    """Return a figure that shows a mechanism's density for a few inputs, away from the support's ends."""

    def make(setting: Setting) -> Rows:
        low, high = mechanism.support
        points = low + (high - low) * (np.arange(800) + 0.5) / 800
        return [
            {"version": RIGHT, "input": f"x = {x:g}", "report": y, "density": mechanism.pdf(y, x)}
            for x in inputs
            for y in points.tolist()
        ]

    return make


def figure_8(setting: Setting) -> Rows:
    """Return the absolute error over the domain, ε = 2 and 4."""
    return _whole_domain((2.0, 4.0))


def figure_20(setting: Setting) -> Rows:
    """Return the absolute error over the domain, ε = 0.4 and 0.8, and the largest gain over each rival."""
    rows = _whole_domain((0.4, 0.8))
    for epsilon, stated in ((0.4, 0.008), (0.8, 0.015)):
        ours, *others = (
            (name, np.asarray(mechanism.error(absolute, GRID))) for name, mechanism in three(epsilon).items()
        )
        claim = {"claim": "largest gain", "ε": epsilon}
        for name, errors in others:
            rows.append({"version": RIGHT, **claim, "over": name, "gain": float((errors - ours[1]).max())})
            rows.append({"version": PUBLISHED, **claim, "over": name, "gain": stated})
    return rows


def _whole_domain(budgets: tuple[float, ...]) -> Rows:
    return [
        {"version": RIGHT, "panel": f"ε = {epsilon:g}", "x": x, "mechanism": name, "error": error}
        for epsilon in budgets
        for name, mechanism in three(epsilon).items()
        for x, error in zip(WHOLE, mechanism.error(absolute, WHOLE), strict=True)
    ]


def figure_9(setting: Setting) -> Rows:
    """Return the worst-case errors on an interval; for squares with the theorem's width and the best one."""
    rows: Rows = []
    for epsilon in BUDGETS:
        kinds = {**three(epsilon), "OGPM, best for squares": OGPM(UNIT, epsilon=epsilon, loss=squared.loss)}
        for name, mechanism in kinds.items():
            for loss in (absolute, squared):
                row = {"version": RIGHT, "panel": f"{loss!r}", "ε": epsilon, "mechanism": name}
                rows.append({**row, "error": mechanism.worst_error(loss)})
    return rows


def figure_12(setting: Setting) -> Rows:
    """Compare with PM on [−1, 1] and SW on [0, 1], plain and truncated, each on its own domain, ε = 2."""
    rows: Rows = []
    for panel, domain, kind in (("PM's domain", Interval(-1, 1), PM), ("SW's domain", UNIT, SW)):
        inputs = domain.from_unit(WHOLE)
        rival: Any = kind(domain, epsilon=2.0)
        own = kind.__name__
        kinds = {"OGPM": OGPM(domain, epsilon=2.0), own: rival, f"T-{own}": rival.truncated()}
        for loss in (squared, absolute):
            for name, mechanism in kinds.items():
                row = {"version": RIGHT, "panel": f"{panel}, {loss!r} error", "mechanism": name}
                for x, error in zip(inputs, np.asarray(mechanism.error(loss, inputs)), strict=True):
                    rows.append({**row, "x": x, "error": error})
    return rows


def _tails(epsilon: float) -> dict[str, Any]:
    return {
        "OGPM": OGPM(UNIT, epsilon=epsilon),
        "Staircase": Staircase(UNIT, epsilon=epsilon),
        "T-Laplace": Laplace(UNIT, epsilon=epsilon).truncated(),
        "B-Laplace": BoundedLaplace(UNIT, epsilon=epsilon),
    }


def figure_13(setting: Setting) -> Rows:
    """Compare with the Laplace family over the domain; the printed B-Laplace formula is not a density."""
    rows: Rows = []
    for epsilon in (1.0, 2.0, 4.0):
        panel = f"ε = {epsilon:g}"
        for name, mechanism in _tails(epsilon).items():
            for x, error in zip(WHOLE, mechanism.error(absolute, WHOLE), strict=True):
                rows.append({"version": RIGHT, "panel": panel, "x": x, "mechanism": name, "error": error})
        # [OGPM25, App. B.8] normalises over the input: the error is too large by that "density's" mass.
        mass = (2.0 - np.exp(-epsilon * WHOLE) - np.exp(-epsilon * (1.0 - WHOLE))) / -math.expm1(-epsilon)
        printed = mass * np.asarray(_tails(epsilon)["B-Laplace"].error(absolute, WHOLE))
        for x, error in zip(WHOLE, printed, strict=True):
            rows.append(
                {"version": PUBLISHED, "panel": panel, "x": x, "mechanism": "B-Laplace", "error": error}
            )
    return rows


def figure_14(setting: Setting) -> Rows:
    """Return the worst-case absolute errors of the Laplace family."""
    return [
        {"version": RIGHT, "ε": epsilon, "mechanism": name, "error": mechanism.worst_error(absolute)}
        for epsilon in np.linspace(1.0, 8.0, 15 if setting.quick else 29)
        for name, mechanism in _tails(float(epsilon)).items()
    ]


_ABSOLUTE: Final = Lines("x", "error", "mechanism", labels={"error": "expected absolute error"})
_NOTE_L2: Final = "The theorems' width is not the best for squares; both are shown."


def figure_1_2(setting: Setting) -> Rows:
    """Return the worst-case absolute errors of four mechanisms on [0, 1]."""
    return [
        {
            "version": RIGHT,
            "ε": epsilon,
            "mechanism": kind.__name__,
            "error": mechanism.worst_error("absolute"),
        }
        for epsilon in np.linspace(1.0, 8.0, 15 if setting.quick else 29).tolist()
        for kind in (OGPM, PM, SW, Laplace)
        for mechanism in (kind(UNIT, epsilon=epsilon),)
    ]


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
    """Draw the bars of randomized response next to the curves of Laplace noise."""
    bars, curves = panels.in_order(2)
    truth, lie = (row["value"] for row in rows if row.get("claim") is not None)
    styles = styles_of(["x = 0", "x = 1"])
    for index, (name, heights) in enumerate((("x = 0", (truth, lie)), ("x = 1", (lie, truth)))):
        at = [report + 0.36 * (index - 0.5) for report in (0, 1)]
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
    Figure(
        "ogpm",
        "figure 4",
        "OGPM at x = 0 and 0.5, ε = 1",
        density(OGPM(UNIT, epsilon=1), (0.0, 0.5)),
        Lines("report", "density", "input", steps=True),
    ),
    Figure("ogpm", "figure 8", "Absolute error over the domain", figure_8, _ABSOLUTE),
    Figure(
        "ogpm",
        "figure 9",
        "Worst-case errors on the interval",
        figure_9,
        Lines("ε", "error", "mechanism", log="y", labels={"error": "worst-case error"}),
        expected("ogpm", "figure 9"),
        notes=(_NOTE_L2, "At x = 0 OGPM and PM-C are one and the same density, so their curves coincide."),
    ),
    Figure(
        "ogpm",
        "figure 12",
        "PM and SW on their own domains, plain and truncated, ε = 2",
        figure_12,
        Lines("x", "error", "mechanism"),
        expected("ogpm", "figure 12"),
        notes=(
            "The paper draws the squared error: OGPM is lowest. It does not draw the worst absolute error: "
            "there "
            "T-PM and T-SW are below OGPM.",
        ),
    ),
    Figure(
        "ogpm",
        "figure 13",
        "The Laplace family over the domain",
        figure_13,
        Lines("x", "error", "mechanism", labels={"error": "expected absolute error"}),
        expected("ogpm", "figure 13"),
        notes=(
            "The printed B-Laplace formula is not a density. With the right one its error is largest at the "
            "ends for every ε.",
            "T-Laplace is below OGPM near the ends for ε < 3.858.",
        ),
    ),
    Figure(
        "ogpm",
        "figure 14",
        "The Laplace family, worst case",
        figure_14,
        Lines("ε", "error", "mechanism", log="y", labels={"error": "worst-case absolute error"}),
    ),
    Figure(
        "ogpm",
        "figure 20",
        "Absolute error at small ε",
        figure_20,
        _ABSOLUTE,
        expected("ogpm", "figure 20"),
        notes=("The largest gain over each rival is stated in Appendix B.7: 0.008 and 0.015.",),
    ),
    Figure("ogpm", "figure 1.1", "The model of local privacy", why_not=_DRAWING),
    Figure("ogpm", "table 1.1", "Privacy-enhancing techniques", why_not="a list without numbers"),
    Figure(
        "ogpm",
        "figure 1.2",
        "Worst-case absolute errors of four mechanisms",
        figure_1_2,
        Lines("ε", "error", "mechanism", log="y", labels={"error": "worst-case absolute error"}),
        expected("ogpm", "figure 1.2"),
        notes=("The dissertation draws four mechanisms and names only OGPM; these are the usual ones.",),
    ),
    Figure(
        "ogpm",
        "figure 2.1",
        "Randomized response and Laplace noise, ε = 1",
        figure_2_1,
        Picture(
            _two_mechanisms,
            "Left: randomized response at ε = 1 reports the truth with probability 0.731 and lies with "
            "0.269, "
            "for either bit. Right: the densities of Laplace noise of scale 1 about x = 0 and x = 1.",
        ),
        expected("ogpm", "figure 2.1"),
    ),
    Figure("ogpm", "figure 3.1", "Correlated perturbation", why_not=_DRAWING),
    Figure(
        "ogpm",
        "figure 3.2",
        "Piecewise densities at x = 0.5, ε = 1",
        figure_3_2,
        Lines("report", "density", "mechanism", steps=True),
    ),
    Figure("ogpm", "figure 3.3", "From trying to proving", why_not=_DRAWING),
)
