"""The search for reports of sets with a larger shift: it finds the known one, and no better one."""

from __future__ import annotations

import numpy as np
import pytest

from tools.sets import gain_of_weights, shift_of_one, shift_of_weights


@pytest.mark.parametrize(("most", "share"), [pytest.param(2, 0.3, marks=pytest.mark.slow), (5, 0.4)])
def test_the_search_finds_the_report_about_one_item(most: int, share: float) -> None:
    part = 1.0 - (1.0 - share) ** (1.0 / most)
    of_one = (np.arange(1000) < round(1000 * part)).astype(np.float64)
    assert shift_of_weights(of_one, most, share) == pytest.approx(shift_of_one(most, share), rel=0.01)
    found = shift_of_weights(np.random.default_rng(1).standard_exponential(200), most, share)
    assert 0.97 < found / shift_of_one(most, share) < 1.001
    # The share of sets with the larger density is a half for the sign of a sum: 2/π for many small weights.
    assert shift_of_weights(np.linspace(-1.0, 1.0, 200), 60, 0.5) < 0.26 * 0.7


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_no_search_finds_a_better_report(epsilon: float) -> None:
    assert 0.9 < gain_of_weights(5, epsilon) < 1.0
