"""Drawings of chapter 6: sectors on circles, points of the plane, reports in a disk."""

from __future__ import annotations

import math

import numpy as np

from dither.reproduction.drawing import Panels
from dither.reproduction.styles import drawn, styles_of
from dither.reproduction.tracs.measuring import Rows
from dither.reproduction.version import RIGHT


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


def points_drawn(panels: Panels, rows: Rows) -> None:
    """Draw points of the plane, coloured by probability where they have one."""
    points = [row for row in rows if row.get("x") is not None]
    names = list(dict.fromkeys(row.get("panel", "") for row in points))
    for axes, name in zip(panels.in_order(len(names), square=True), names, strict=True):
        inner = [row for row in points if row.get("panel", "") == name]
        weights = [row.get("probability") for row in inner]
        weighed = all(weight is not None for weight in weights)
        x, y = [row["x"] for row in inner], [row["y"] for row in inner]
        size = 30 if len(inner) < 300 else 22
        shown = axes.scatter(
            x,
            y,
            s=size if weighed else 2,
            c=weights if weighed else "#0072b2",
            cmap="cividis_r" if weighed else None,
            linewidths=0,
            marker="s" if len(inner) > 300 and weighed else "o",
        )
        if weighed:
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
    outline = [(near, one) for one in arc] + [(far, one) for one in arc[::-1]] + [(near, arc[0])]
    axes.plot(
        [size * math.cos(one) for size, one in outline],
        [size * math.sin(one) for size, one in outline],
        color="#d55e00",
        label="likelier area",
    )
    axes.plot([-0.5], [0.0], "o", color="#009e73", label="the true place")
    axes.set_aspect("equal")
    axes.set_axis_off()
