"""A place as a distance and a direction: the split, the promise, the reports."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.foundation.losses import as_power
from dither.mechanisms.numeric.ogpm import best_width
from dither.mechanisms.places.polar import best_split, worst_of_two_levels
from dither.privacy.exact import exp_below
from tests.support.chi_square import ALARM, p_value
from tests.support.repository import reference
from tests.support.travel import changed

REFERENCE: dict[str, Any] = reference("optimal")["polar_split_total_1_plus_2pi_d1_L2"]
TOTAL = 1 + 2 * math.pi
CITY = dt.Disk(5, (1.0, 2.0))


@pytest.mark.parametrize(
    ("name", "loss", "widths"),
    [
        ("thm_3_7_and_4_2", "squared", "absolute"),
        ("l2_optimal", "squared", None),
        ("l1", "absolute", None),
    ],
)
def test_the_splits_of_the_reference(name: str, loss: Any, widths: Any) -> None:
    polar = dt.Polar(dt.Disk(1), epsilon=TOTAL, loss=loss, widths=widths)
    assert polar.split == pytest.approx((REFERENCE[name]["eps1"], REFERENCE[name]["eps2"]), abs=2e-6)
    assert polar.worst_error(loss) == pytest.approx(REFERENCE[name]["total_error"], rel=1e-12)


@pytest.mark.some(every=5)
@pytest.mark.parametrize("radius", [1e-3, 0.3, 1.0, 40.0, 1e6])
@pytest.mark.parametrize("epsilon", [1e-4, 0.5, 3.0, 12.0, 50.0])
def test_no_other_split_is_better(epsilon: float, radius: float) -> None:
    for loss, widths in (("squared", "squared"), ("absolute", "squared"), (0.5, 0.5)):

        def total(first: float, second: float, loss: Any = loss, widths: Any = widths) -> float:
            power = as_power(loss)
            weights = radius**power.exponent, math.pi**power.exponent
            return sum(
                weight * worst_of_two_levels(budget, power, best_width(budget, as_power(widths)))
                for weight, budget in zip(weights, (first, second), strict=True)
            )

        polar = dt.Polar(dt.Disk(radius), epsilon=epsilon, loss=loss, widths=widths)
        others = [total(epsilon * share, epsilon * (1 - share)) for share in np.linspace(0.02, 0.98, 97)]
        assert min(others) >= total(*polar.split) * (1 - 1e-12)


def test_a_radian_may_count_as_arc_on_the_rim() -> None:
    """With the radius as a radian's worth the answer does not depend on the unit of distance."""
    metres, kilometres = (dt.Polar(dt.Disk(r), epsilon=4, radian=r) for r in (3000.0, 3.0))
    assert metres.split == pytest.approx(kilometres.split, abs=1e-5)
    assert metres.worst_error("squared") == pytest.approx(1e6 * kilometres.worst_error("squared"), rel=1e-9)


@pytest.mark.some(every=3)
@pytest.mark.parametrize("epsilon", [2e-6, 0.01, 1.0, TOTAL, 20.0, 50.0])
def test_the_promise_is_the_product_of_the_two_ratios(epsilon: float) -> None:
    polar = dt.Polar(CITY, epsilon=epsilon)
    distance, direction = polar.parts
    assert sum(map(Fraction, polar.split)) <= Fraction(epsilon)
    assert distance.question.kernel.ratio * direction.question.kernel.ratio <= exp_below(Fraction(epsilon))
    finding = dt.audit(polar)
    assert finding.ok
    assert finding.realised >= 0.99 * epsilon
    assert polar.guarantee.unit == "location"
    summed = distance.guarantee.compose(direction.guarantee)
    assert polar.guarantee.epsilon <= summed.epsilon


def test_a_split_that_spends_too_much_is_caught() -> None:
    """The broken twin: both parts rounded to the nearest budget instead of downwards."""
    honest = dt.Polar(CITY, epsilon=1.0)
    split = [honest.split[0], math.nextafter(honest.split[1], 2)]
    assert Fraction(split[0]) + Fraction(split[1]) > 1
    with pytest.raises(dt.errors.MalformedReport, match="at most ε = 1"):
        dt.from_json(changed(honest, whole=lambda data: data["codebook"].update(split=split)))


def test_places_in_places_out() -> None:
    polar = dt.Polar(CITY, epsilon=40.0, loss="absolute")
    places = np.array([[1, 2], [6, 2], [1, 7], [-4, 2], [1, -3], [3.0, 4.0]])
    reports = polar.perturb(places, source=dt.Seeded(1))
    assert reports.cells.shape == (6, 2)
    assert reports.cells.dtype == np.uint16
    np.testing.assert_allclose(reports.values, places, atol=2e-3)
    assert "6 of Polar" in repr(reports)
    assert polar.perturb(np.tile(places, (3, 1, 1)), source=dt.Seeded(1)).values.shape == (3, 6, 2)
    assert polar.perturb([], source=dt.Seeded(1)).values.shape == (0, 2)


def test_all_decoded_places_lie_on_the_disk() -> None:
    polar = dt.Polar(CITY, epsilon=0.5)
    values = polar.perturb(np.tile([1.0, 2.0], (5000, 1)), source=dt.Seeded(2)).values
    CITY.check(values)


def test_both_parts_follow_their_law() -> None:
    polar = dt.Polar(CITY, epsilon=4.0, cells=32)
    place = np.array([2.5, 4.0])
    cells = polar.perturb(np.tile(place, (60_000, 1)), source=dt.Seeded(3)).cells
    offset = place - np.array(CITY.centre)
    inputs = float(np.hypot(*offset)), float(np.arctan2(offset[1], offset[0]))
    twins = dt.OGPM(dt.Interval(0, 5), epsilon=4.0, cells=32), dt.OGPM(dt.Circle(), epsilon=4.0, cells=32)
    for i, (part, twin, value) in enumerate(zip(polar.parts, twins, inputs, strict=True)):
        for law, follows in ((part.probabilities(value), True), (twin.probabilities(value), False)):
            # the whole budget for each part is the broken twin
            assert (p_value(cells[:, i], law) > ALARM) is follows


def test_summaries_count_both_parts() -> None:
    polar = dt.Polar(CITY, epsilon=1.0, cells=64)
    reports = polar.perturb(np.tile([1.0, 2.0], (100, 1)), source=dt.Seeded(4))
    summary = dt.Counts.of(reports)
    assert summary.n == 100
    assert summary.counts.size == 128
    assert summary.counts[:64].sum() == summary.counts[64:].sum() == 100


def test_polar_travels() -> None:
    polar = dt.Polar(CITY, epsilon=2.0, loss="absolute", widths="squared", radian=3)
    reports = polar.perturb([[2.0, 2.0]], source=dt.Seeded(5))
    back = dt.from_bytes(reports.to_bytes())
    assert back == reports
    assert dt.from_json(polar.to_json()).fingerprint == polar.fingerprint
    assert polar.at(3.0).epsilon == 3.0


def test_what_is_refused() -> None:
    polar = dt.Polar(CITY, epsilon=1.0)
    with pytest.raises(dt.errors.OutsideDomain):
        polar.perturb([[7.0, 2.0]])
    with pytest.raises(dt.errors.OutsideDomain):
        polar.perturb([[math.nan, 2.0]])
    with pytest.raises(dt.errors.MalformedReport):
        polar.reports([1, 2, 3])
    with pytest.raises(dt.errors.MalformedReport):
        polar.reports([[1, 70_000]])
    assert polar.reports([]).values.shape == (0, 2)
    for wrong in (
        {"epsilon": 1e-6},
        {"epsilon": 1.0, "radian": 0},
        {"epsilon": 1.0, "loss": "square"},
        {"epsilon": 1.0, "widths": "wide"},
    ):
        with pytest.raises(dt.errors.InvalidParameter):
            dt.Polar(CITY, **wrong)
    with pytest.raises(dt.errors.InvalidParameter, match="Disk"):
        dt.Polar(dt.Interval(0, 1), epsilon=1.0)


def test_the_formula_of_two_levels_holds_on_interval_and_circle() -> None:
    for epsilon, loss, made_for in ((1.0, "squared", "absolute"), (3.0, "absolute", "squared")):
        line = dt.OGPM(dt.Interval(0, 1), epsilon=epsilon, loss=made_for)
        turn = dt.OGPM(dt.Circle(2), epsilon=epsilon, loss=made_for)
        formula = worst_of_two_levels(epsilon, as_power(loss), line.shape().width)
        assert line.worst_error(loss) == pytest.approx(formula, rel=1e-9)
        assert turn.worst_error(loss) == pytest.approx(formula, rel=1e-9)


def test_the_same_split_on_both_sides() -> None:
    """The budget is divided on a grid, so that a last bit of a logarithm does not change the question."""
    first, second = best_split(2.0, as_power("squared"), as_power("squared"), (1.0, math.pi))
    assert first * 2**21 == int(first * 2**21)
    assert first + second == 2.0
