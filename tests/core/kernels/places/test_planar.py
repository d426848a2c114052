"""How far apart the lattice points of two places can be: never farther than the promise was computed for."""

from __future__ import annotations

import numpy as np
import pytest

import dither as dt
from dither.core.kernels.places.planar import steps_across

SQUARE = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))


@pytest.mark.some(every=3)
@pytest.mark.parametrize("spacing", [1 / 8, 0.1, 0.3, 1 / 64])
@pytest.mark.parametrize(
    "area", [SQUARE, dt.Disk(1.0), dt.maps.Parallelogram((0, 0), (1, 1), (0, 2))], ids=str
)
def test_no_two_places_are_farther_apart_than_the_steps_across(area: dt.Rectangle, spacing: float) -> None:
    """Places at the border, rounded to the nearest point of a lattice that is moved about."""
    turns = np.linspace(0, 2 * np.pi, 200)
    far = np.asarray(area.centre) + 10 * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    border = area.clip(far)
    for shift in np.random.default_rng(1).random((20, 2)):
        points = np.round(border / spacing + shift)
        apart = np.linalg.norm(points[:, None] - points[None], axis=-1).max()
        assert apart <= steps_across(area, spacing) <= area.diameter / spacing + 3
