"""The probability of a box: by the closed form, against sums over the very integers, and at its edges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither import results
from dither.errors import InvalidParameter
from dither.extensions.classifiers.feature_law import feature_law
from tests.support.cases.numbers import NUMERIC, Case, names
from tests.support.repository import reference

UNIT = dt.Interval(0, 1)
EXAMPLES = reference("qcu")["examples"]
GRID = dt.Categories([step / 100 for step in range(101)])


@pytest.mark.parametrize("case", NUMERIC, ids=names(NUMERIC))
def test_the_closed_form_agrees_with_the_integers_but_for_a_cell_at_each_edge(case: Case) -> None:
    mechanism = case(2.0)
    low, high = mechanism.support
    x = float(mechanism.line.from_unit(np.asarray(0.37)))
    marginal = feature_law(mechanism).marginal(x)
    assert marginal.masses.sum() == pytest.approx(1.0, abs=1e-9)
    edges = low + (high - low) * np.array([[0.0, 0.1, 0.3, 0.36, 0.9], [0.4, 0.1001, 0.7, 0.38, 1.0]])
    sums = marginal.between(edges[0], edges[1])
    sampled = dt.classifiers.concentration(mechanism.sampled, (edges[0], edges[1]), x)
    assert sampled == pytest.approx(sums, abs=1e-12)
    # With a few reports the closed form has the same atoms.
    slack = 1e-3 if marginal.places.size < 100 else 2 * marginal.masses.max() + 1e-6
    assert dt.classifiers.concentration(mechanism, (edges[0], edges[1]), x) == pytest.approx(sums, abs=slack)


def test_formulas_of_the_dissertation_and_their_errors() -> None:
    mechanism = dt.OGPM(UNIT, epsilon=2)
    middle = (0.2, 0.8)
    assert dt.classifiers.concentration(mechanism, middle, 0.5) == pytest.approx(
        EXAMPLES["pm_conc(eps2,theta.3,x.5)"], abs=5e-5
    )
    assert dt.classifiers.concentration(dt.Laplace(UNIT, epsilon=2), middle, 0.5) == pytest.approx(
        EXAMPLES["laplace_p(2,.3)"], abs=5e-5
    )
    assert dt.classifiers.concentration(dt.KRR(GRID, epsilon=2), middle, 0.5) == pytest.approx(
        EXAMPLES["krr_conc_101pts"], abs=5e-5
    )
    # The printed formula holds only if the window lies in the box and the box in the domain: .669 and .853.
    assert dt.classifiers.concentration(mechanism, (-0.05, 0.05), 0.0) == pytest.approx(0.1359, abs=5e-5)
    assert dt.classifiers.concentration(mechanism, (-0.25, 0.35), 0.05) == pytest.approx(0.7609, abs=5e-5)


def test_atoms_belong_to_closed_boxes() -> None:
    domain = dt.Interval(0.1, 0.3)  # whose ends are not exact in floats
    clamped = dt.Laplace(domain, epsilon=1).truncated()
    whole = dt.classifiers.concentration(clamped, (0.1, 0.3), 0.17)
    assert whole == pytest.approx(1.0, abs=1e-12)
    inner = dt.classifiers.concentration(clamped, (math.nextafter(0.1, 1), math.nextafter(0.3, 0)), 0.17)
    below, above = math.exp(-0.35) / 2, math.exp(-0.65) / 2
    assert inner == pytest.approx(1.0 - below - above, abs=1e-9)
    assert dt.classifiers.concentration(clamped, (0.3, 0.3), 0.17) == pytest.approx(above, abs=1e-12)
    assert dt.classifiers.concentration(clamped, (-5, 0.1), 0.17) == pytest.approx(below, abs=1e-12)
    assert dt.classifiers.concentration(clamped, (0.31, 7), 0.17) == 0.0


def test_many_boxes_and_many_records_at_once() -> None:
    mechanism = dt.PM(UNIT, epsilon=1).truncated()
    low, high, x = np.meshgrid([0.0, 0.2], [0.5, 1.0], [0.1, 0.6, 1.0], indexing="ij")
    together = dt.classifiers.concentration(mechanism, (low, high), x)
    for place in np.ndindex(low.shape):
        alone = dt.classifiers.concentration(mechanism, (low[place], high[place]), x[place])
        assert together[place] == pytest.approx(alone, abs=1e-15)


@pytest.mark.some(every=2)
@pytest.mark.parametrize(
    "points",
    [np.linspace(0, 1, 21), np.linspace(-3, 7, 100), np.array([0.0, 0.1, 0.5, 1.0]), np.array([0.4, 0.6])],
)
def test_listed_reports_are_added_up(points: np.ndarray) -> None:
    """On even points and others, between points and on them, and beyond the ends."""
    domain = dt.Interval(points[0], points[-1])
    mechanism = dt.Exponential(domain, points, epsilon=3)
    x = float(points[1])
    chances = feature_law(mechanism).marginal(x)
    beside = [np.nextafter(points, -9), np.nextafter(points, 9)]
    spots = np.concatenate([points, *beside, [-np.inf, np.inf, 0.33]])
    low, high = np.meshgrid(spots, spots)
    low, high = np.minimum(low, high).ravel(), np.maximum(low, high).ravel()
    found = dt.classifiers.concentration(mechanism, (low, high), x)
    inside = (chances.places >= low[:, None]) & (chances.places <= high[:, None])
    assert found == pytest.approx(inside @ chances.masses, abs=1e-8)


def test_arcs_through_zero() -> None:
    mechanism = dt.OGPM(dt.Circle(360), epsilon=2)
    inside = dt.classifiers.concentration(mechanism, (350, 10), 3)
    outside = dt.classifiers.concentration(mechanism, (10, 350), 3)
    assert inside + outside == pytest.approx(1.0, abs=1e-12)
    assert inside > 20 / 360 > 1 - outside - inside


def test_several_features_multiply() -> None:
    age, bmi = dt.OGPM(dt.Interval(18, 100), epsilon=1), dt.SW(dt.Interval(10, 60), epsilon=2).redesigned()
    each = dt.Each(age=age, bmi=bmi)
    box = results.FeatureBox([40, 10], [100, 30])
    alone = dt.classifiers.concentration(age, (40, 100), 55), dt.classifiers.concentration(bmi, (10, 30), 25)
    assert dt.classifiers.concentration(each, box, {"bmi": 25, "age": 55}) == pytest.approx(math.prod(alone))
    assert dt.classifiers.concentration(each, box, [55, 25]) == pytest.approx(math.prod(alone))
    square = results.FeatureBox([0.1, 0.3], [0.5, 0.6])
    single = dt.OGPM(UNIT, epsilon=1)
    sides = dt.classifiers.concentration(single, ([0.1, 0.3], [0.5, 0.6]), [0.2, 0.4])
    assert dt.classifiers.concentration(single, square, [0.2, 0.4]) == pytest.approx(float(np.prod(sides)))


def test_a_value_off_the_grid_is_moved_to_its_nearest_point_first() -> None:
    mechanism = dt.KRR(GRID, epsilon=3)
    assert dt.classifiers.concentration(mechanism, (0.42, 0.42), 0.4151) == dt.classifiers.concentration(
        mechanism, (0.42, 0.42), 0.42
    )
    exponential = dt.Exponential(UNIT, GRID.labels, epsilon=3)
    assert dt.classifiers.concentration(exponential, (0.42, 0.42), 0.4249) == dt.classifiers.concentration(
        exponential, (0.42, 0.42), 0.42
    )


@pytest.mark.parametrize(
    ("mechanism", "box", "x"),
    [
        (dt.OGPM(UNIT, epsilon=1), (0.8, 0.2), 0.5),
        (dt.OGPM(UNIT, epsilon=1), (math.nan, 0.2), 0.5),
        (dt.OGPM(UNIT, epsilon=1), 0.2, 0.5),
        (dt.OGPM(UNIT, epsilon=1), (0.1, 0.2), 1.5),
        (dt.OUE(dt.Categories(4), epsilon=1), (0, 1), 1),
        (dt.KRR(dt.Categories(["a", "b"]), epsilon=1), (0, 1), 1),
        (dt.Each(a=dt.OGPM(UNIT, epsilon=1)), ([0, 0], [1, 1]), [0.5]),
        (dt.Sampled(a=dt.OGPM(UNIT, epsilon=1)), ([0], [1]), [0.5]),
    ],
)
def test_nonsense_is_refused(mechanism: object, box: tuple[float, float], x: float) -> None:
    with pytest.raises(dt.errors.DitherError):
        dt.classifiers.concentration(mechanism, box, x)


@pytest.mark.parametrize(("radius", "epsilon", "parts"), [(0.1, 2.0, 5), (0.3, 2.0, 2), (0.07, 0.5, 8)])
def test_the_best_mechanism_for_a_radius(radius: float, epsilon: float, parts: int) -> None:
    """No mechanism has a larger worst case than e^ε/(e^ε + k − 1), and this one has it everywhere."""
    best = dt.classifiers.best_for(radius, epsilon)
    wanted = math.exp(epsilon) / (math.exp(epsilon) + parts - 1)
    for x in np.linspace(0, 1, 41):
        near = (x - radius - 1e-12, x + radius + 1e-12)
        assert dt.classifiers.concentration(best, near, x) >= wanted * (1 - 1e-12)
        assert best.guarantee.epsilon <= epsilon
    for rival in (dt.OGPM(UNIT, epsilon=epsilon), dt.SW(UNIT, epsilon=epsilon).redesigned()):
        worst = min(
            float(dt.classifiers.concentration(rival, (x - radius, x + radius), x))
            for x in np.linspace(0, 1, 101)
        )
        assert worst < wanted
    wide = dt.classifiers.best_for(10 * radius, epsilon, dt.Interval(-4, 6))
    assert len(wide.categories) == parts


@pytest.mark.parametrize("radius", [0.0, -0.1, 0.5, 3.0, math.nan, "near", 1e-9])
def test_a_radius_that_no_mechanism_is_best_for(radius: Any) -> None:
    with pytest.raises(InvalidParameter, match="radius"):
        dt.classifiers.best_for(radius, 1.0)


def test_a_value_beyond_the_outermost_category_is_moved_to_it() -> None:
    response = dt.KRR(dt.Categories([0.1, 0.5, 0.9]), epsilon=2)
    ends = [dt.classifiers.concentration(response, (0.0, 0.2), x) for x in (0.0, 0.1, 0.25)]
    assert ends[0] == ends[1] == ends[2] > 0.7
    with pytest.raises(dt.errors.OutsideDomain):
        dt.classifiers.concentration(response, (0.0, 0.2), math.nan)
