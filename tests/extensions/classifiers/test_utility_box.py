"""The utility of features that are told together: exact, as in simulations, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter, OutsideDomain

BOX = dt.Box({"age": dt.Interval(0, 1), "bmi": dt.Interval(0, 1)})
STEEP = dt.classifiers.LinearClassifier([[10.0, 1.0]], [-6.0])


def test_utility_is_that_of_reports() -> None:
    design = dt.Optimal(BOX, epsilon=3, purpose="places")
    found = dt.classifiers.utility(STEEP, {"age": 0.8, "bmi": 0.5}, design)
    assert found.method == "exact"
    assert found.guarantee is not None
    assert found.guarantee.epsilon <= 3
    told = np.asarray(design.perturb(np.tile([0.8, 0.5], (20_000, 1)), source=dt.Seeded(1)).values)
    kept = (10 * told[:, 0] + told[:, 1] > 6).mean()
    assert found.lower == found.upper == pytest.approx(kept, abs=0.02)
    assert 0.5 < kept < 0.99


def test_what_is_refused() -> None:
    design = dt.Optimal(BOX, epsilon=3, purpose="places")
    with pytest.raises(InvalidParameter, match="method"):
        dt.classifiers.utility(STEEP, [0.8, 0.5], design, method="Monte Carlo", names=["age", "bmi"])
    with pytest.raises(OutsideDomain):
        dt.classifiers.utility(STEEP, {"age": 1.8, "bmi": 0.5}, design)
