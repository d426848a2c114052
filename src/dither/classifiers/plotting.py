"""Maps of where a classifier's answer stays, with boxes in it. matplotlib is loaded when called."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from dither.classifiers.case import Case
from dither.classifiers.proofs.box import Box
from dither.domains import Line
from dither.errors import InvalidParameter
from dither.mechanisms.plotting import axes_or_new

_POINTS: Final = 160  # along each side of the map


def draw_boundary(
    case: Case,
    lines: tuple[Line, Line],
    boxes: Mapping[str, Box],
    labels: tuple[str, str] = ("first", "second"),
    *,
    ax: Any = None,
) -> Any:
    """Draw where the answer stays as two features move over their domains, with boxes and the record.

    Draws on `ax`, or on new axes, and returns them; needs the extra `plot`.
    """
    if case.features != 2:
        raise InvalidParameter("a map shows two randomised features")
    ax = axes_or_new(ax)
    sides = [np.linspace(line.low, line.high, _POINTS) for line in lines]
    points = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, 2)
    kept = case.keeps(points).reshape(_POINTS, _POINTS)
    ax.pcolormesh(*sides, kept.T, cmap="Blues", vmin=-0.3, vmax=1.8, shading="nearest", rasterized=True)
    for number, (name, box) in enumerate(boxes.items()):
        low, high = box.corners
        across, up = [low[0], high[0], high[0], low[0], low[0]], [low[1], low[1], high[1], high[1], low[1]]
        ax.plot(across, up, f"C{number + 1}", linewidth=1.6, label=name)
    ax.plot(*case.values, "k+", markersize=10, label="the record")
    ax.set_xlabel(labels[0])
    ax.set_ylabel(labels[1])
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax


def svg(ax: Any) -> str:
    """Return the figure that axes are on as SVG, to be put into a page."""
    stream = io.StringIO()
    ax.figure.savefig(stream, format="svg")
    text = stream.getvalue()
    return text[text.index("<svg") :]
