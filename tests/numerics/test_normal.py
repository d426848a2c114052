"""The normal distribution, against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from dither.numerics import normal


def test_error_functions_of_arrays() -> None:
    x = np.linspace(-6.0, 26.0, 4_001).reshape(1, -1)
    assert normal.erf(x) == pytest.approx(special.erf(x), rel=1e-14, abs=1e-300)
    assert normal.erfc(x) == pytest.approx(special.erfc(x), rel=1e-13, abs=1e-300)
    assert normal.erfc(x).dtype == np.float64
    assert normal.erf(np.asarray(0.5)).shape == ()


def test_tails_and_their_inverse() -> None:
    for z in np.linspace(-8.0, 37.0, 91).tolist():
        assert normal.survival(z) == pytest.approx(stats.norm.sf(z), rel=1e-12)
    for probability in (1e-300, 1e-20, 1e-6, 0.025, 0.3, 0.5, 0.9, 1 - 1e-12):
        exact = stats.norm.isf(probability)
        assert normal.inverse_survival(probability) == pytest.approx(exact, rel=1e-13, abs=1e-15)
