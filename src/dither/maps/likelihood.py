"""How likely reports are in the cells of a map: what maps are estimated from."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from dither.arrays import Array, Floats, Integers
from dither.domains import Paths
from dither.errors import InvalidParameter
from dither.mechanisms.places.path import PathMechanism
from dither.reports import Reports

_MOST: Final = 1 << 25  # likelihoods held at once
_BLOCK: Final = 1 << 17


class Part(NamedTuple):
    """Locations that share a mechanism, with the mechanism; paths are not divided."""

    mechanism: PathMechanism[Any, Any]
    rows: Integers


def told(reports: Reports) -> tuple[PathMechanism[Any, Any], list[Part]]:
    """Return the path mechanism of reports and, where ε is divided among locations, those of each length."""
    if not isinstance(reports, Reports) or not isinstance(reports.mechanism, PathMechanism):
        raise InvalidParameter("reports of a path mechanism, such as dt.TraCSC, were expected")
    mechanism = reports.mechanism.read(None)
    begins = flat(reports, mechanism)[:, 0] != 0
    if not begins.size:
        raise InvalidParameter("a map needs at least one report")
    every = np.arange(begins.size)
    paths = Paths.begun(np.zeros((begins.size, 2)), begins)
    return mechanism, [Part(one, every[rows]) for one, _, rows in mechanism.divided(paths)]


def flat(reports: Reports, mechanism: PathMechanism[Any, Any]) -> Array:
    """Return reports as rows, one a location."""
    return reports.cells.reshape(-1, 1 + mechanism.columns)


def likelihoods(reports: Reports, cells: Floats, wanted: Integers | None = None) -> Floats:
    """Return the probability of each report in each cell, up to a factor of its own: a row for each report.

    A cell is a few places, all alike. `wanted` picks locations, all by default.
    """
    mechanism, parts = told(reports)
    every = flat(reports, mechanism)
    chosen = np.arange(len(every)) if wanted is None else wanted
    if chosen.size * len(cells) > _MOST:
        raise InvalidParameter(
            f"for so fine a grid at most {_MOST // len(cells)} reports of {type(mechanism).__name__} are "
            f"read; give fewer, or a coarser grid (maps of TraCSC on a rectangle take any number)"
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
