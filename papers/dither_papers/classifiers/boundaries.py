"""Figures 7.1 to 7.4 and E.2: distances, radii and boxes in which an answer stays."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np

from dither.core.domains import Categories
from dither.extensions.classifiers import Network, concentration, hyperrectangle, radius
from dither.foundation.numerics.roots import smallest_float
from dither.mechanisms.frequency.krr import KRR
from dither.mechanisms.numeric.laplace import Laplace
from dither_papers.classifiers.data import (
    GRID,
    KINDS,
    NOTE_MODELS,
    NOTE_SPENT,
    TABLES,
    UNIT,
    Person,
    figure,
    trained,
)
from dither_papers.drawing import LINES, PUBLISHED, RIGHT, Lines, Panels, Picture, Rows, drawn, styles_of
from dither_papers.figure import Figure, Setting

_FFNN: Final = "qcu_ffnn2d_weights.npz"
_CENTRE: Final = (0.5, 0.5)
# Example 15, as printed; the network of Figure 7.2 is another one.
_PRINTED: Final = Network.dense(
    [([[-1.86, -2.09], [0.12, -0.46]], [3.71, -0.08]), ([[-3.05, 0.40], [4.02, -0.22]], [0.94, -0.58])]
)


_FAR: Final = (0.2, 0.8)  # points with the answer 1 of the classifier of Section 7.2


def figure_7_1(setting: Setting) -> Rows:
    """Return Laplace noise around 0.5 at ε = 2 (a), the probability of moves ≤ 0.3 (b), and claims."""
    rows: Rows = []
    laplace = Laplace(UNIT, epsilon=2.0)
    for report in np.linspace(-1.0, 2.0, 301).tolist():
        rows.append({"version": RIGHT, "report": report, "density": float(laplace.pdf(report, 0.5))})
    for epsilon in np.linspace(0.5, 8.0, 16):
        inside = concentration(Laplace(UNIT, epsilon=float(epsilon)), _FAR, 0.5)
        rows.append({"version": RIGHT, "ε": epsilon, "mechanism": "Laplace", "utility": inside})

    def enough(epsilon: float) -> bool:
        return bool(concentration(Laplace(UNIT, epsilon=epsilon), _FAR, 0.5) >= 0.8)

    least = smallest_float(enough, 1.0, 8.0, steps=33)  # to 10⁻⁹
    rows.append({"version": RIGHT, "claim": "ε for a utility of 0.8", "value": least})
    rows.append({"version": PUBLISHED, "claim": "ε for a utility of 0.8", "value": 5.2})
    return [*rows, {"version": PUBLISHED, "claim": "utility at ε = 2", "value": 0.46}]


def _small(setting: Setting) -> Network:
    with np.load(setting.needed(_FFNN)) as arrays:
        weights, shift, last_weights, last_shift = (array.astype(np.float64) for array in arrays.values())
    return Network.dense([(weights, shift), (last_weights, last_shift)])


def figure_7_2(setting: Setting) -> Rows:
    """Return the radius in which a network keeps its answer at (0.5, 0.5), and its answers on a grid."""
    small = _small(setting)
    rows: Rows = []
    for name, network in (("of the figure", small), ("of Example 15", _PRINTED)):
        found = radius(network, _CENTRE, UNIT)
        row = {"version": RIGHT, "network": name}
        rows.append({**row, "radius": found.radius})
        rows += [{**row, **answer} for answer in _answers(network)]
    return [*rows, {"version": PUBLISHED, "network": "of the figure", "radius": 0.2}]


def _answers(ask: Any, side: int = 61) -> Rows:
    """Return the answer at each point of a grid on the unit square."""
    grid = np.linspace(0.0, 1.0, side)
    points = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2)
    return [
        {"x": x, "y": y, "answer": int(answer)}
        for (x, y), answer in zip(points.tolist(), np.asarray(ask(points)), strict=True)
    ]


def figure_7_3(setting: Setting) -> Rows:
    """Return the probability that a report of 0.5 is within θ of it, for six mechanisms."""
    rows: Rows = []
    kinds: dict[str, Any] = {**KINDS, "k-RR": partial(KRR, Categories(GRID))}
    for epsilon in (2.0, 4.0, 6.0):
        for name, kind in kinds.items():
            mechanism = kind(epsilon=epsilon)
            for percent in range(10, 51, 5):
                # Quotients, because 0.5 − 0.35 is more than 0.15 in floats and would omit that point of the
                # grid.
                box = ((50 - percent) / 100, (50 + percent) / 100)
                row = {"version": RIGHT, "panel": f"ε = {epsilon:g}", "mechanism": name}
                rows.append({**row, "θ": percent / 100, "utility": concentration(mechanism, box, 0.5)})
    return rows


def figure_7_4(setting: Setting) -> Rows:
    """Return a box about (0.5, 0.5) in which the network certainly keeps its answer, and the square."""
    network = _small(setting)
    rows: Rows = [{"version": RIGHT, **answer} for answer in _answers(network)]
    for name, found in (
        ("box", hyperrectangle(network, _CENTRE, UNIT)),
        ("square", radius(network, _CENTRE, UNIT)),
    ):
        (left, down), (right, up) = found.box.corners
        sides = {"left": left, "right": right, "low": down, "high": up}
        rows.append({"version": RIGHT, "shape": name, **sides, "area": (right - left) * (up - down)})
    return rows


def figure_e_2(setting: Setting) -> Rows:
    """Return where the two classifiers of the stroke data change their answer, for Figure 7.5's person."""
    models = trained(setting, "stroke")
    rows: Rows = []
    for name, own in (("logistic regression", models.linear), ("forest", models.forest)):
        record = own.row(4, Person.STROKE.values)

        def ask(points: Any, own: Any = own, record: Any = record) -> Any:
            return np.asarray(own.model.predict(own.rows(record, points)))

        rows += [{"version": RIGHT, "panel": name, **answer} for answer in _answers(ask)]
    return rows


# --- drawing ------------------------------------------------------------------------------------------------


def _map(axes: Any, rows: Rows, x: str, y: str, mark: tuple[float, float]) -> None:
    """Draw the answers over the unit square as two colours, with the boundary between them and a point."""
    inner = [row for row in rows if row.get("answer") is not None]
    side = round(len(inner) ** 0.5)
    answers = np.array([row["answer"] for row in inner]).reshape(side, side).T
    grid = np.linspace(0.0, 1.0, side)
    axes.pcolormesh(grid, grid, answers, cmap="Pastel1", shading="nearest")
    if np.ptp(answers):
        axes.contour(grid, grid, answers, levels=[0.5], colors="#222222", linewidths=1.2, linestyles="--")
    axes.plot(*mark, "o", color="#d55e00", label="the record")
    axes.plot([], [], "--", color="#222222", label="where the answer changes")
    axes.set_aspect("equal")
    axes.set_xlabel(x, fontsize=8)
    axes.set_ylabel(y, fontsize=8)


def _outline(axes: Any, sides: tuple[float, float, float, float], colour: str, label: str) -> None:
    left, right, low, high = sides
    axes.plot([left, right, right, left, left], [low, low, high, high, low], color=colour, label=label)


def _moved(panels: Panels, rows: Rows) -> None:
    """Draw the density of reports of 0.5 with the part inside [0.2, 0.8], and its mass against ε."""
    density, mass = panels.in_order(2)
    points = [(row["report"], row["density"]) for row in rows if row.get("report") is not None]
    style = styles_of(["Laplace"])["Laplace"]
    density.plot(*zip(*points, strict=True), color=style.colour)
    inside = [(x, y) for x, y in points if _FAR[0] - 1e-9 <= x <= _FAR[1] + 1e-9]
    density.fill_between(*zip(*inside, strict=True), color=style.colour, alpha=0.3)
    share = next(row["utility"] for row in rows if row.get("ε") == 2.0)
    density.set_title(f"(a) ε = 2: {share:.3f} of the reports of 0.5 are in [0.2, 0.8]", fontsize=9)
    density.set_xlabel("report before it is clamped", fontsize=8)
    density.set_ylabel("density", fontsize=8)
    density.set_ylim(bottom=0)
    curve = [(row["ε"], row["utility"]) for row in rows if row.get("utility") is not None]
    mass.plot(*zip(*curve, strict=True), label="Laplace", **drawn(style, len(curve)))
    for row in rows:
        if row.get("claim") == "ε for a utility of 0.8":
            words = f"0.8 at ε = {row['value']:.3g}, {row['version']}"
            mass.axvline(row["value"], color="#222222", linestyle=LINES[row["version"]], label=words)
    mass.axhline(0.8, color="#bbbbbb", linewidth=1)
    mass.set_title("(b) the share in [0.2, 0.8]", fontsize=9)
    mass.set_xlabel("privacy budget ε", fontsize=8)
    mass.set_ylabel("probability that the answer stays", fontsize=8)
    mass.set_ylim(bottom=0)


def _radii(panels: Panels, rows: Rows) -> None:
    names = list(dict.fromkeys(row["network"] for row in rows))
    for axes, name in zip(panels.in_order(len(names), square=True), names, strict=True):
        inner = [row for row in rows if row["network"] == name]
        _map(axes, inner, "first feature", "second feature", _CENTRE)
        for version, colour in ((RIGHT, "#009e73"), (PUBLISHED, "#777777")):
            for row in inner:
                if row["version"] == version and row.get("radius") is not None:
                    size = row["radius"]
                    _outline(axes, (0.5 - size, 0.5 + size) * 2, colour, f"radius, {version}")
        axes.set_title(f"network {name}", fontsize=9)


def _boxes(panels: Panels, rows: Rows) -> None:
    (axes,) = panels.in_order(1, square=True)
    _map(axes, rows, "first feature", "second feature", _CENTRE)
    for row in rows:
        if row.get("shape") is not None:
            sides = (row["left"], row["right"], row["low"], row["high"])
            _outline(axes, sides, "#009e73" if row["shape"] == "box" else "#777777", f"proven {row['shape']}")


def _regions(panels: Panels, rows: Rows) -> None:
    names = list(dict.fromkeys(row["panel"] for row in rows))
    for axes, name in zip(panels.in_order(len(names), square=True), names, strict=True):
        _map(
            axes,
            [row for row in rows if row["panel"] == name],
            "age / 100",
            "body mass / 50",
            Person.STROKE.values,
        )
        axes.set_title(name, fontsize=9)


FIGURES: Final = (
    figure(
        "figure 7.1",
        "Laplace noise about 0.5",
        figure_7_1,
        Picture(
            _moved,
            "Left: the density of Laplace noise about 0.5 at ε = 2, with the share 0.451 inside [0.2, 0.8] "
            "shaded. Right: this share grows with ε. It is 0.8 at ε = 5.36; the dissertation prints 5.2.",
        ),
    ),
    figure(
        "figure 7.2",
        "A radius in which a network keeps its answer",
        figure_7_2,
        Picture(
            _radii,
            "The unit square in two colours, the answers of a network, with the boundary between them. About "
            "the point (0.5, 0.5) are two squares: the proven one, of radius 0.187, touches the boundary, "
            "and "
            "the printed one, of radius 0.2, crosses it.  The printed weights have another boundary.",
        ),
        (_FFNN,),
        ("The printed 0.20 was tested, not proven; and the printed weights are another network's.",),
    ),
    figure(
        "figure 7.3",
        "How likely a report lies within θ",
        figure_7_3,
        Lines("θ", "utility", "mechanism"),
        notes=(
            NOTE_SPENT,
            "k-RR and the exponential mechanism report one of 101 points. At θ = 0.5 the whole domain is "
            "near, and every clamped mechanism is certain: hence the jump at the end.",
        ),
    ),
    figure(
        "figure 7.4",
        "A box in place of a square",
        figure_7_4,
        Picture(
            _boxes,
            "The answers of the network over the unit square, the proven square about (0.5, 0.5), and the "
            "larger proven box that holds it and touches the boundary.",
        ),
        (_FFNN,),
        ("The square of radius 0.2 is [0.3, 0.7]²; Example 13 prints [0.4, 0.6]².",),
    ),
    figure(
        "figure E.2",
        "Decision boundaries on the stroke data",
        figure_e_2,
        Picture(
            _regions,
            "Age against body mass, in two colours by answer. The regression's boundary is a nearly vertical "
            "line at an age of 63; the forest's is made of many rectangles.",
        ),
        TABLES["stroke"],
        (NOTE_MODELS,),
    ),
    Figure("classifiers", "table 7.1", "Mechanisms, classifiers and data", why_not="a list without numbers"),
    Figure(
        "classifiers",
        "table 7.2",
        "Times",
        why_not="running times of one machine, in Python loops: without loops 860 ms become 1 ms",
    ),
)
