"""The likelihood of reports given the cell of a map, from which maps are estimated."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from dither.arrays import Array, Floats, Integers
from dither.domains import Paths
from dither.errors import InvalidParameter
from dither.question import PathQuestion
from dither.reports import Reports

_MOST: Final = 1 << 25  # likelihoods held at once
_BLOCK: Final = 1 << 17


class Part(NamedTuple):
    """Locations that share a mechanism, with the mechanism; paths are not divided."""

    mechanism: PathQuestion
    rows: Integers


def told(reports: Reports) -> tuple[PathQuestion, list[Part]]:
    """Return the path mechanism of reports and their parts, one for each length if ε is divided by length."""
    if not isinstance(reports, Reports) or not isinstance(reports.question, PathQuestion):
        made = reports.question.name if isinstance(reports, Reports) else type(reports).__name__
        raise InvalidParameter(
            f"reports of a path mechanism, such as dt.TraCSC, were expected, not of {made}"
        )
    mechanism = reports.question
    begins = flat(reports, mechanism)[:, 0] != 0
    if not begins.size:
        raise InvalidParameter("a map needs at least one report")
    every = np.arange(begins.size)
    paths = Paths.begun(np.zeros((begins.size, 2)), begins)
    return mechanism, [Part(one, every[rows]) for one, _, rows in mechanism.split(paths)]


def flat(reports: Reports, mechanism: PathQuestion) -> Array:
    """Return reports as rows, one a location."""
    return reports.cells.reshape(-1, 1 + mechanism.columns)


def likelihoods(reports: Reports, cells: Floats, wanted: Integers | None = None) -> Floats:
    """Return the probability of each report in each cell, up to a factor of its own: a row for each report.

    A cell is represented by a few places of equal weight. `wanted` selects locations, by default all.
    """
    mechanism, parts = told(reports)
    every = flat(reports, mechanism)
    chosen = np.arange(len(every)) if wanted is None else wanted
    if chosen.size * len(cells) > _MOST:
        raise InvalidParameter(
            f"{chosen.size} reports of {mechanism.name} are too many for this grid: at most "
            f"{_MOST // len(cells)}; use a coarser grid (maps of TraCSC on a rectangle take any number)"
        )
    found = np.empty((chosen.size, len(cells)))
    size = max(1, _BLOCK // (cells.size // 2))
    for single, rows in parts:
        likelihood = single.likelihood(cells).of(every[rows])
        kept, inner = np.flatnonzero(np.isin(chosen, rows)), np.searchsorted(rows, chosen)
        for begin in range(0, kept.size, size):
            to = kept[begin : begin + size]
            found[to] = likelihood(inner[to])
    return found
