"""One table: every mechanism of places and paths. Every law of paths runs over it.

A new mechanism is one line here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import dither as dt
from dither.mechanisms.places.base import grid

UNIT = dt.Interval(0, 1)
SQUARE = dt.Rectangle(UNIT, UNIT)
POINTS = grid(SQUARE, 3)

PATHS: dict[str, Callable[..., Any]] = {
    "ATP": partial(dt.rivals.ATP, SQUARE, POINTS),
    "Exponential": partial(dt.Exponential, SQUARE, POINTS),
    "Gridding": partial(dt.rivals.Gridding, SQUARE, side=4),
    "LSRR": partial(dt.rivals.LSRR, SQUARE, POINTS),
    "NGram": partial(dt.rivals.NGram, SQUARE, POINTS),
    "PlanarLaplace": partial(dt.PlanarLaplace, SQUARE, cells=64),
    "PlanarStaircase": partial(dt.PlanarStaircase, SQUARE, cells=64),
    "Strawman": partial(dt.rivals.Strawman, SQUARE, cells=32),
    "TraCSC": partial(dt.TraCSC, SQUARE, cells=32),
    "TraCSC, sphere": partial(dt.TraCSC, dt.Sphere(), cells=32),
    "TraCSC, square waves": partial(dt.TraCSC, SQUARE, cells=32, inner=dt.SW),
    "TraCSD": partial(dt.TraCSD, SQUARE, cells=32),
    "TraCSD, disk": partial(dt.TraCSD, dt.Disk(0.5, (0.5, 0.5)), cells=32),
    "TraCSD, parallelogram": partial(
        dt.TraCSD, dt.maps.Parallelogram((0.0, 0.0), (1.0, 0.2), (0.1, 1.0)), cells=32
    ),
}
