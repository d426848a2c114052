"""Broken twins of noise and choices on the plane. Tests must reject them."""

from __future__ import annotations

from typing import Any

import numpy as np


def on_squares(fall: float, size: int) -> Any:
    """Draw offsets that fall off with the larger coordinate: planar noise whose last step is left out.

    Three geometric variables are added, and a point of the box of that size is kept without a look at its
    distance.
    """
    rng = np.random.default_rng(3)
    radius = rng.geometric(1 - np.exp(-fall), (3, size)).sum(axis=0) - 3
    right = rng.integers(0, 2 * radius + 2) - (radius + 1)
    up = rng.integers(0, 2 * radius + 4) - (radius + 2)
    return np.stack([right, up], axis=1)
