"""Figures for phones: as narrow as a column of text, with letters of the same size."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import Any

WIDTH, TALLEST = 4.0, 3.4  # inches: of a figure, and of one of its panels


def make_narrow(figure: Any) -> None:
    """Make a figure narrow: a row of panels becomes a column, titles have more lines, a legend is below."""
    axes = [part for part in figure.axes if part.get_subplotspec() is not None]
    grids = {part.get_subplotspec().get_gridspec().get_geometry() for part in axes}
    width, height = figure.get_size_inches()
    count = len(axes)
    if count > 1 and grids == {(1, count)}:
        grid = figure.add_gridspec(count, 1)
        for number, part in enumerate(axes):
            part.set_subplotspec(grid[number])
            part.tick_params(labelleft=bool(part.get_yticks().size))
        width, height = width / count, count * height
        height = min(height, count * TALLEST * width / WIDTH)
    figure.set_size_inches(WIDTH, height * min(1.0, WIDTH / width) if height > width else height)
    for part in figure.axes:
        part.set_title(_folded(part.get_title()), fontsize=10)
        part.set_xlabel(_folded(part.get_xlabel()))
        if part.get_legend() is not None and len(axes) == 1:
            lines = part.get_xlabel().count("\n")
            part.get_legend().set_loc("upper center")
            part.get_legend().set_bbox_to_anchor((0.5, -0.2 - 0.08 * lines))


def save_with_portrait(figure: Any, picture: Path, **options: Any) -> None:
    """Write a figure into a file, and its narrow form into another one, NAME-portrait."""
    figure.savefig(picture, **options)
    make_narrow(figure)
    figure.savefig(picture.with_stem(f"{picture.stem}-portrait"), **options)


def _folded(title: str) -> str:
    """Return a title in lines of at most 40 letters."""
    return "\n".join(part for line in title.split("\n") for part in wrap(line, 40))
