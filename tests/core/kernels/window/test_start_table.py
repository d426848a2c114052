"""Starts of a table at the end of the domain: the last knot is reached."""

from __future__ import annotations

import numpy as np
import pytest

from dither.core.kernels.window.start_table import COIN, KnotStart


def test_the_last_knot_is_reached() -> None:
    """Three knots over [0, 1]: a value just below the end is at the last one nearly always."""
    rule = KnotStart(0.0, float(2 << COIN), np.array([0, 10 << 16, 40 << 16], dtype=np.uint32))
    assert rule.last == (2 << COIN) - 1
    lower, upper, chance = rule.beside(np.array([0.25, 0.75, 1.0]))
    assert upper.tolist() == [10 << 16, 40 << 16, 40 << 16]
    assert lower.tolist() == [0, 10 << 16, 10 << 16]
    assert chance.tolist() == pytest.approx([0.5, 0.5, 1.0], abs=1e-4)
