"""One set of points for many budgets: weights average to one, and none is above its bound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.classifiers.feature_law import feature_law
from dither.classifiers.proofs.densities import Densities
from dither.classifiers.proofs.importance import draw_mixture
from tests.support.cases.numbers import EVERY, NUMERIC, Case, names

BUDGETS = (0.7, 2.0, 5.0)
COUNT = 4000


def weighted(case: Case, unit: float) -> tuple[Any, Any, Any]:
    """Give weights by the mixture for each budget, their bounds, and weights as if atoms were no matter."""
    mechanisms = [case(epsilon) for epsilon in BUDGETS]
    laws = [mechanism.law for mechanism in mechanisms]
    places = draw_mixture([[feature_law(one)] for one in mechanisms], [unit], COUNT, dt.Seeded(4))[:, 0]
    densities = Densities.of(laws, unit)
    right = np.exp(densities.logarithms(places))
    naive = right + np.array([law.density(places, np.asarray(unit)) for law in laws]) * (right == 0.0)
    with np.errstate(invalid="ignore"):
        weights, wrong = (some / some.mean(axis=0) for some in (right, naive))
    return weights, 1.0 / np.exp(densities.least_ratios()).mean(axis=1), wrong


def apart(weights: Any) -> float:
    """How many standard errors the mean weights are from one."""
    error = weights.std(axis=1) / np.sqrt(COUNT) + 1e-9
    return float((np.abs(weights.mean(axis=1) - 1.0) / error).max())


@pytest.mark.parametrize("case", EVERY, ids=names(EVERY))
def test_weights_average_to_one_and_stay_below_their_bound(case: Case) -> None:
    for unit in (0.0, 0.37):
        weights, most, _ = weighted(case, unit)
        assert apart(weights) < 5.3
        assert (weights.max(axis=1) <= most * (1.0 + 1e-9)).all()
        assert (most <= len(BUDGETS) * (1.0 + 1e-9)).all()


def test_an_atom_under_another_law_s_density_would_be_noticed() -> None:
    """The broken twin: Hybrid's two atoms move with ε, and lie where other budgets have a density."""
    hybrid = next(case for case in NUMERIC if case.name.startswith("Hybrid"))
    weights, _, wrong = weighted(hybrid, 0.37)
    assert apart(weights) < 5.3 < apart(wrong)


def test_anchors_far_from_the_budgets_say_nothing() -> None:
    """No bound comes out of points that were drawn elsewhere; neither does a NaN."""
    unit = dt.Interval(0, 1)
    curve = dt.utility_curve(
        lambda rows: rows[:, 0] > 0.5,
        np.full(60, 0.8),
        dt.OGPM(unit, epsilon=1),
        [20.0],
        anchors=[0.1],
        queries=100,
        source=dt.Seeded(1),
    )
    assert (curve.lower[0], curve.upper[0]) == (0.0, 1.0)
