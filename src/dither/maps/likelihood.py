"""The likelihood of reports at given places, from which maps are estimated."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from dither.arrays import Array, Floats, Integers
from dither.domains import Paths
from dither.errors import InvalidParameter, NotIdentifiable
from dither.mechanisms.base import Mechanism
from dither.mechanisms.places.gridding import WITHIN, Gridding
from dither.mechanisms.places.lsrr import LSRR
from dither.mechanisms.places.ngram import NGram
from dither.mechanisms.places.path import PathMechanism
from dither.mechanisms.places.planar_laplace import PlanarLaplace
from dither.mechanisms.places.strawman import Sectors
from dither.mechanisms.places.tracs_c import TraCSC
from dither.mechanisms.places.walk import WalkMechanism
from dither.mechanisms.window import WindowMechanism
from dither.reports import Reports

_MOST: Final = 1 << 25  # probabilities held in memory at once
_BLOCK: Final = 1 << 17


class Part(NamedTuple):
    """Locations that share a mechanism, with the mechanism; paths are not divided."""

    mechanism: PathMechanism
    rows: Integers


def told(reports: Reports) -> tuple[PathMechanism, list[Part]]:
    """Return the path mechanism of reports and, where ε is divided among locations, those of each length."""
    if not isinstance(reports, Reports) or not isinstance(reports.mechanism, PathMechanism):
        raise InvalidParameter("reports of a path mechanism, such as dt.TraCSC, were expected")
    mechanism = reports.mechanism.read(None)
    begins = flat(reports, mechanism)[:, 0] != 0
    if not begins.size:
        raise InvalidParameter("a map needs at least one report")
    every = np.arange(begins.size)
    paths = Paths.begun(np.zeros((begins.size, 2)), begins)
    return mechanism, [Part(one, every[rows]) for one, _, rows in mechanism._divided(paths)]


def flat(reports: Reports, mechanism: PathMechanism) -> Array:
    """Return reports as rows, one a location."""
    return reports.cells.reshape(-1, 1 + mechanism.columns)


def chances(reports: Reports, cells: Floats, wanted: Integers | None = None) -> Floats:
    """Return the probability of each report in each cell, up to a factor of its own: a row for each report.

    A cell is a few places, all alike. `wanted` picks locations, all by default.
    """
    mechanism, parts = told(reports)
    all_ = flat(reports, mechanism)
    chosen = np.arange(len(all_)) if wanted is None else wanted
    if chosen.size * len(cells) > _MOST:
        raise InvalidParameter(
            f"for so fine a grid at most {_MOST // len(cells)} reports of {type(mechanism).__name__} are "
            f"read; give fewer, or a coarser grid (maps of TraCSC on a rectangle take any number)"
        )
    found = np.empty((chosen.size, len(cells)))
    places = cells.reshape(-1, 2)
    size = max(1, _BLOCK // len(places))
    for single, rows in parts:
        own = all_[rows]
        references = _references(single, own) if isinstance(single, WalkMechanism) else None
        kept, inner = np.flatnonzero(np.isin(chosen, rows)), np.searchsorted(rows, chosen)
        if isinstance(single, NGram | LSRR | Gridding):
            found[kept] = _table(single, cells)[_points(single, own[inner[kept], 1:])]
            continue
        for begin in range(0, kept.size, size):
            to = kept[begin : begin + size]
            block = inner[to]
            at = None if references is None else references[block]
            chance = _chances(single, own[block, 1:], at, places)
            found[to] = chance.reshape(block.size, *cells.shape[:2]).mean(axis=2)
    return found


def _references(mechanism: WalkMechanism, rows: Array) -> Floats:
    """Return the reference place of each location: the report before it, or the start."""
    here = np.roll(mechanism.decode(rows), 1, axis=0)
    here[rows[:, 0] != 0] = mechanism.origin
    return here


def _chances(mechanism: PathMechanism, cells: Array, references: Floats | None, places: Floats) -> Floats:
    """Return the probability of each report at each place, up to a factor of each report."""
    if isinstance(mechanism, WalkMechanism) and references is not None:
        at = np.repeat(references, len(places), axis=0)
        seen = mechanism.seen(at, np.tile(places, (len(cells), 1)))
        return _both(mechanism.parts, cells, [number.reshape(len(cells), -1) for number in seen])
    if isinstance(mechanism, TraCSC):
        axes = mechanism.crossed.to_axes(places)
        return _both(mechanism.parts, cells, [axes[None, :, axis] for axis in (0, 1)])
    if isinstance(mechanism, PlanarLaplace):
        low = np.array([mechanism.region.box.x.low, mechanism.region.box.y.low])
        gap = cells[:, None, :] - np.rint((places - low) / mechanism.spacing)[None]
        steps = np.floor(np.hypot(gap[..., 0], gap[..., 1]))
        steps -= steps.min(axis=1, keepdims=True)  # a factor of each report
        return np.asarray(np.exp(-float(mechanism.kernel.exponent(1)) * steps))
    raise NotIdentifiable(
        f"a report of {type(mechanism).__name__} says something about several locations at once; "
        f"maps are made from reports of TraCSC, TraCSD, PlanarLaplace, NGram, LSRR and Gridding"
    )


def _points(mechanism: NGram | LSRR | Gridding, cells: Array) -> Integers:
    """Return the number of the point, or of the cell of the mechanism's grid, that each report names."""
    if isinstance(mechanism, Gridding):
        column, row = (cells // WITHIN).astype(np.int64).T
        return np.asarray(column * mechanism.side + row)
    return np.asarray(cells[:, 0].astype(np.int64))


def _table(mechanism: NGram | LSRR | Gridding, cells: Floats) -> Floats:
    """Return the probability of each point in each cell: a row for each point."""
    nearest = mechanism.cells_of if isinstance(mechanism, Gridding) else mechanism.nearest
    columns = []
    for places in cells:
        weights = mechanism._weights(nearest(places)).astype(np.float64)
        columns.append((weights / weights.sum(axis=1, keepdims=True)).mean(axis=0))
    return np.stack(columns, axis=1)


def _both(parts: tuple[Mechanism, Mechanism], cells: Array, numbers: list[Floats]) -> Floats:
    first, second = (_one(part, cells[:, i, None], numbers[i]) for i, part in enumerate(parts))
    return np.asarray(first * second)


def _one(part: Mechanism, cells: Array, values: Floats) -> Floats:
    """Return the probability of one part's cells for values, of one shape after broadcasting."""
    told = cells.astype(np.int64)
    if isinstance(part, Sectors):
        kernel = part.kernel
        inside = told // kernel.width == part._aim(values) // kernel.width
        return np.asarray(np.where(inside, kernel.inside / kernel.total, kernel.outside / kernel.total))
    if isinstance(part, WindowMechanism):
        window, fraction = part.kernel, part.track.fraction
        aims = part.track.aim(values)
        starts, up = aims >> fraction, (aims & ((1 << fraction) - 1)) / (1 << fraction)  # rounded at random
        inside = (1.0 - up) * ((told - starts) % window.cells < window.width)
        inside += up * ((told - starts - 1) % window.cells < window.width)
        low, high = window.outside / window.total, window.inside / window.total
        return np.asarray(low + (high - low) * inside)
    raise NotIdentifiable("maps need parts that are windows, such as dt.OGPM and dt.SW")
