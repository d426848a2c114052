"""Maps of where a classifier's answer stays, with boxes in it. matplotlib is loaded when called."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from dither.classifiers.case import Case
from dither.classifiers.proofs.box import FeatureBox
from dither.domains import Line
from dither.errors import InvalidParameter
from dither.plotting import BLUE, COLOURS, axes_or_new, styled

_POINTS: Final = 160  # along each side of the map


def draw_boundary(
    case: Case,
    lines: tuple[Line, Line],
    boxes: Mapping[str, FeatureBox],
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
    ax.contourf(*sides, kept.T.astype(float), levels=(0.5, 1.5), colors=[BLUE], alpha=0.25)
    for number, (name, box) in enumerate(boxes.items()):
        low, high = box.corners
        across, up = [low[0], high[0], high[0], low[0], low[0]], [low[1], low[1], high[1], high[1], low[1]]
        ax.plot(across, up, color=COLOURS[1 + number % (len(COLOURS) - 1)], linewidth=1.6, label=name)
    ax.plot(*case.values, "k+", markersize=10, label="the record")
    ax.fill_between([], [], color=BLUE, alpha=0.25, linewidth=0, label="same answer as for the record")
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=9)
    ax.set(xlim=(lines[0].low, lines[0].high), ylim=(lines[1].low, lines[1].high))
    return styled(ax, title="Where the classifier answers as for the record", x=labels[0], y=labels[1])


def svg(ax: Any) -> str:
    """Return the figure that axes are on as SVG, to be put into a page."""
    stream = io.StringIO()
    ax.figure.savefig(stream, format="svg")
    text = stream.getvalue()
    return text[text.index("<svg") :]
