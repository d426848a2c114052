"""Figures for phones: as narrow as a column of text, with letters of the same size."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

WIDTH = 4.0  # inches


def make_narrow(figure: Any) -> None:
    """Make a figure narrow: two panels one below the other, titles in more lines, a legend below its plot."""
    axes = [part for part in figure.axes if part.get_subplotspec() is not None]
    columns = {part.get_subplotspec().get_gridspec().ncols for part in axes}
    width, height = figure.get_size_inches()
    if columns == {2} and len(axes) == 2:
        grid = figure.add_gridspec(2, 1)
        for number, part in enumerate(axes):
            part.set_subplotspec(grid[number])
        width, height = width / 2, 2 * height
    figure.set_size_inches(WIDTH, height * min(1.0, WIDTH / width) if height > width else height)
    for part in figure.axes:
        part.set_title(_folded(part.get_title()), fontsize=10)
        part.set_xlabel(_folded(part.get_xlabel()))
        if part.get_legend() is not None and len(axes) == 1:
            lines = part.get_xlabel().count("\n")
            part.get_legend().set_loc("upper center")
            part.get_legend().set_bbox_to_anchor((0.5, -0.2 - 0.08 * lines))


def _folded(title: str) -> str:
    """Return a title in lines of at most 40 letters."""
    return "\n".join(part for line in title.split("\n") for part in wrap(line, 40))
