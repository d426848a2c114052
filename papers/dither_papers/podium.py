"""The Podium paper: its figures and tables, and corrections of its printed numbers."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from dither.core.domains import Interval
from dither.foundation.randomness import Seeded
from dither.mechanisms.numeric.laplace import Laplace
from dither.mechanisms.numeric.podium import Podium, best_step
from dither.mechanisms.numeric.staircase import Staircase
from dither_papers.drawing import PUBLISHED, RIGHT, Lines, Panels, Picture, Rows, styles_of
from dither_papers.figure import Figure, Setting, expected

CENTRED: Final = Interval(-0.5, 0.5)  # Δ = 1, as everywhere in the paper
_TENTHS: Final = [round(0.1 * step, 1) for step in range(1, 51)]

# The wrong cells of Table I: ε, column, printed number.
_GARBLED: Final = (
    (0.8, "s", 0.201923385796446795793),
    (1.2, "w", 1.48458623385837261881),
    (1.2, "s", 0.3021972658541275372),
    (1.6, "d", 0.143825112827925887340),
    (1.6, "w", 1.0813324938482741839),
    (1.6, "s", 0.413825618319918530741),
    (2.0, "s", 0.525119726585739727671),
    (4.0, "s", 1.128740326343847420928),
    (4.4, "d", 0.03913669731262501225),
)
# Table II as printed where its formula broke down: ε, column, printed number.
_BROKEN: Final = (
    (40.0, "PM3/PM", 1.0500),
    (50.0, "PM3/PM", 1.0417),
    (50.0, "PM0/PM", 0.4977),
    (50.0, "PM0/SM", 0.3153),
    (50.0, "PM/SM", 0.6335),
)


def _noise(name: str, epsilon: float) -> float:
    """Return the noise variance of one of the paper's rivals, on a range of length one."""
    if name == "Laplace":
        return float(Laplace(CENTRED, epsilon=epsilon).variance(0.0))
    return float(Staircase(CENTRED, epsilon=epsilon, loss="squared").variance(0.0))


def figure_1(setting: Setting) -> Rows:
    """Return the densities of Laplace and staircase noise at ε = 0.5."""
    rows: Rows = []
    for kind in (Laplace(CENTRED, epsilon=0.5), Staircase(CENTRED, epsilon=0.5, loss="squared")):
        for y in np.linspace(-6.0, 6.0, 601):
            rows.append(
                {"version": RIGHT, "mechanism": type(kind).__name__, "noise": y, "density": kind.pdf(y, 0.0)}
            )
    return rows


def figure_2(setting: Setting) -> Rows:
    """Return Podium's density at ε = log 9 for several inputs."""
    podium = Podium(CENTRED, epsilon=math.log(9.0))
    low, high = podium.support
    return [
        {"version": RIGHT, "input": f"x = {x:g}", "report": y, "density": podium.pdf(y, x)}
        for x in (-0.5, -0.2, 0.1, 0.5)
        for y in (low + (high - low) * (np.arange(800) + 0.5) / 800).tolist()
    ]


def figure_3(setting: Setting) -> Rows:
    """Return Podium's extreme shape, for the input Δ/2, at ε = log 9: margin, width, heights."""
    podium = Podium(CENTRED, epsilon=math.log(9.0))
    low, high = podium.support
    rows: Rows = [{"version": RIGHT, **_shape(math.log(9.0))}]
    for y in (low + (high - low) * (np.arange(800) + 0.5) / 800).tolist():
        rows.append({"version": RIGHT, "input": "x = Δ/2", "report": y, "density": podium.pdf(y, 0.5)})
    return rows


def figure_4(setting: Setting) -> Rows:
    """Return s and its two approximations: ε/3 as published, and its limits at both ends."""
    rows: Rows = []
    for epsilon in np.linspace(0.05, 10.0, 200):
        rows.append({"version": RIGHT, "ε": epsilon, "curve": "s", "s": best_step(epsilon)})
        rows.append({"version": PUBLISHED, "ε": epsilon, "curve": "ε/3", "s": epsilon / 3.0})
        rows.append({"version": RIGHT, "ε": epsilon, "curve": "ε/4 (small ε)", "s": epsilon / 4.0})
    return rows


def figure_5(setting: Setting) -> Rows:
    """Return the variance against the input for four budgets."""
    rows: Rows = []
    for epsilon, shown in ((0.5, "0.5"), (math.log(3.0), "ln 3"), (5.0, "5"), (10.0, "10")):
        exact = Podium(CENTRED, epsilon=epsilon)
        third = Podium(CENTRED, epsilon=epsilon, approximate=True)
        inputs = np.linspace(-0.5, 0.5, 41)
        flat = np.ones_like(inputs)
        for name, values in (
            ("Podium", np.asarray(exact.variance(inputs))),
            ("Podium, s = ε/3", np.asarray(third.variance(inputs))),
            ("Staircase", flat * _noise("Staircase", epsilon)),
            ("Laplace", flat * _noise("Laplace", epsilon)),
        ):
            row = {"version": RIGHT, "panel": f"ε = {shown}", "mechanism": name}
            rows += [{**row, "x": x, "variance": value} for x, value in zip(inputs, values, strict=True)]
    return rows


def figure_6(setting: Setting) -> Rows:
    """Return the variance of the reports on Beta(2, 2) data: data plus noise."""
    people = setting.runs(1_000_000, 100_000)
    data = np.random.default_rng(setting.seed).beta(2.0, 2.0, people) - 0.5
    rows: Rows = []
    for epsilon in (1.0, 5.0):
        kinds = (
            Laplace(CENTRED, epsilon=epsilon),
            Staircase(CENTRED, epsilon=epsilon, loss="squared"),
            Podium(CENTRED, epsilon=epsilon),
        )
        for kind in kinds:
            values = kind.perturb(data, source=Seeded(setting.seed)).values
            row = {"version": RIGHT, "ε": epsilon, "mechanism": type(kind).__name__}
            rows.append({**row, "variance": float(np.var(values))})
            for x, y in zip(data[:1000].tolist(), values[:1000].tolist(), strict=True):
                rows.append({**row, "x": x, "report": y})
    return rows


def table_1(setting: Setting) -> Rows:
    """Return the shape of Podium for every ε of the table, and the printed cells that are wrong."""
    right: Rows = [{"version": RIGHT, **_shape(epsilon)} for epsilon in [*_TENTHS, 6.0, 7.0, 8.0, 9.0, 10.0]]
    return right + [
        {"version": PUBLISHED, "ε": epsilon, column: value} for epsilon, column, value in _GARBLED
    ]


def table_2(setting: Setting) -> Rows:
    """Return the relative efficiencies, worst case unless PM0 says centre."""
    rows: Rows = []
    tenths = [round(0.1 * step, 1) for step in range(1, 11)]
    for epsilon in [*tenths, math.log(3), math.log(16), math.log(32), 5.0, 10.0, 20.0, 30.0, 40.0, 50.0]:
        podium = Podium(CENTRED, epsilon=epsilon)
        worst, centre = podium.worst_error("squared"), float(podium.variance(0.0))
        third = Podium(CENTRED, epsilon=epsilon, approximate=True).worst_error("squared")
        laplace, staircase = _noise("Laplace", epsilon), _noise("Staircase", epsilon)
        rows.append(
            {
                "version": RIGHT,
                "ε": epsilon,
                "PM3/PM": third / worst,
                "PM0/PM": centre / worst,
                "PM/LM": worst / laplace,
                "SM/LM": staircase / laplace,
                "PM0/SM": centre / staircase,
                "PM/SM": worst / staircase,
            }
        )
    return rows + [{"version": PUBLISHED, "ε": epsilon, column: value} for epsilon, column, value in _BROKEN]


def _shape(epsilon: float) -> dict[str, float]:
    podium = Podium(CENTRED, epsilon=epsilon)
    low, high = podium.support
    margin = high - low
    return {
        "ε": epsilon,
        "s": best_step(epsilon),
        "m": margin,
        "w": margin * podium.shape().width,
        "d": float(podium.pdf(high - 1e-9 * margin, -0.5)),
    }


def _scatter(panels: Panels, rows: Rows) -> None:
    """Draw reports against true values, a panel for each mechanism and ε."""
    points = [row for row in rows if row.get("report") is not None]
    budgets, names = ([*dict.fromkeys(row[key] for row in points)] for key in ("ε", "mechanism"))
    grid = panels.grid(len(budgets), len(names))
    styles = styles_of(names)
    for line, epsilon in zip(grid, budgets, strict=True):
        for axes, name in zip(line, names, strict=True):
            inner = [row for row in points if (row["ε"], row["mechanism"]) == (epsilon, name)]
            variance = next(
                row["variance"]
                for row in rows
                if row.get("variance") and row["ε"] == epsilon and row["mechanism"] == name
            )
            at = [row["x"] for row in inner], [row["report"] for row in inner]
            axes.scatter(*at, s=4, alpha=0.5, color=styles[name].colour, linewidths=0)
            axes.axline((0.0, 0.0), slope=1.0, color="#222222", linewidth=0.8)
            axes.set_title(f"{name}, ε = {epsilon:g}: variance {variance:.3g}", fontsize=9)
            axes.set_xlabel("true value", fontsize=8)
            axes.set_ylabel("report", fontsize=8)
        top = max(abs(limit) for axes in line for limit in axes.get_ylim())
        for axes in line:
            axes.set_ylim(-top, top)


FIGURES: Final = (
    Figure(
        "podium",
        "figure 1",
        "Laplace and staircase noise, ε = 0.5",
        figure_1,
        Lines("noise", "density", "mechanism"),
    ),
    Figure(
        "podium",
        "figure 2",
        "Podium for four inputs, ε = log 9",
        figure_2,
        Lines("report", "density", "input", steps=True),
    ),
    Figure(
        "podium",
        "figure 3",
        "Podium's extreme shape, ε = log 9",
        figure_3,
        Lines("report", "density", "input", steps=True),
        expected("podium", "figure 3"),
    ),
    Figure(
        "podium",
        "figure 4",
        "s and its approximation ε/3",
        figure_4,
        Lines("ε", "s", "curve"),
        notes=("s/ε tends to 1/4 for small ε; s = ε/3 − (ln 2)/3 + o(1) for large ε.",),
    ),
    Figure(
        "podium",
        "figure 5",
        "Variance against the input",
        figure_5,
        Lines("x", "variance", "mechanism", log="y"),
    ),
    Figure(
        "podium",
        "figure 6",
        "Beta(2, 2) data, randomised",
        figure_6,
        Picture(
            _scatter,
            "Reports against true values for 1 000 people, three mechanisms in columns, ε = 1 above and ε = "
            "5 below. Laplace and staircase reports spread without a bound; Podium's stay in a fixed range.",
        ),
        expected("podium", "figure 6"),
        notes=(
            "The expected variance is 1/20 (the variance of Beta(2, 2)) plus the noise's averaged over the "
            "data.",
        ),
    ),
    Figure(
        "podium",
        "table I",
        "Podium's shape",
        table_1,
        expected=expected("podium", "table I"),
        notes=("Nine printed cells are garbled; with the printed d at ε = 1.6 privacy is lost near an end.",),
    ),
    Figure(
        "podium",
        "table II",
        "Relative efficiencies",
        table_2,
        expected=expected("podium", "table II"),
        notes=("The rows 40 and 50 are printed wrong: the closed form of s loses its digits there.",),
    ),
)
