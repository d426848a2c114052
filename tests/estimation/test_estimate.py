"""What an estimate says: its interval, its categories, what is refused, and how it is written."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter, NotIdentifiable
from dither.estimation.estimate import Estimate, LabelledEstimate, show_interval
from dither.estimation.intervals import ClippedInterval
from dither.numerics.quantiles import student_t_quantile
from dither.privacy import Guarantee, Pure


@pytest.mark.parametrize(
    ("ends", "shown"),
    [
        ((63, 59, 89), "63 (59 – 89)"),
        ((63, 48, 78), "63 ± 15"),
        ((5, 4, 6.05), "5.0 ± 1.0"),
        ((0.00012, 0.0001, 0.0009), "0.00012 (0.00010 – 0.00090)"),
        ((0.0, 0.0, 0.3), "0.00 (0.00 – 0.30)"),
        ((-1, float("-inf"), 2), "-1 ± inf"),
    ],
)
def test_sides_that_differ_are_not_written_as_one(ends: tuple[float, float, float], shown: str) -> None:
    assert show_interval(*ends) == shown


PROMISE = Guarantee(Pure(1.0))


def test_an_estimate_has_students_interval_unless_another_is_given() -> None:
    plain = Estimate(3.0, 0.5, 11, PROMISE)
    reach = 0.5 * student_t_quantile(0.9, 10)
    assert plain.interval(0.9) == pytest.approx((3 - reach, 3 + reach))
    clipped = Estimate(0.02, 0.5, 11, PROMISE, confidence=ClippedInterval(0.02, 0.5))
    assert clipped.interval(0.9) == pytest.approx((0.0, 0.02 + 0.5 * student_t_quantile(0.9)))
    assert Estimate(0.02, None, 11, PROMISE, confidence=ClippedInterval(0.02, 0.5)).standard_error == (
        pytest.approx(clipped.half_width() / student_t_quantile(0.95))
    )


def test_one_report_excludes_nothing() -> None:
    assert Estimate(3.0, 0.0, 1, PROMISE).interval() == (-math.inf, math.inf)
    low, high = Estimate(np.array([3.0, 4.0]), np.zeros(2), 1, PROMISE).interval()
    assert np.all(low == -math.inf)
    assert np.all(high == math.inf)


def test_categories_are_picked_by_label() -> None:
    both = LabelledEstimate(np.array([0.2, 0.8]), np.array([0.1, 0.2]), 11, PROMISE, labels=("no", "yes"))
    assert both["yes"].interval() == tuple(end[1] for end in both.interval())
    assert both.over_looks(5)["no"].interval() == tuple(end[0] for end in both.over_looks(5).interval())
    assert [(label, part.value) for label, part in both.items()] == [("no", 0.2), ("yes", 0.8)]
    with pytest.raises(InvalidParameter, match="did you mean yes"):
        both["yess"]
    with pytest.raises(InvalidParameter, match="no categories"):
        both["yes"]["yes"]
    with pytest.raises(InvalidParameter, match="same people"):
        both["yes"] - both["no"]


def test_what_the_evidence_does_not_allow_is_refused() -> None:
    plain = Estimate(3.0, 0.5, 11, PROMISE)
    with pytest.raises(NotIdentifiable, match="any time"):
        plain.at_any_time()
    with pytest.raises(NotIdentifiable, match="liars"):
        plain.if_lying(0.1)
    assert plain.moved == (0.0, 0.0)
    assert plain.liars == plain.resolution == 0


def test_estimates_survive_pickling_with_their_intervals() -> None:
    """By likelihood and by a curve as well: nothing they hold is a function of another function."""
    reports = dt.SW(dt.Interval(0, 1), epsilon=2).perturb(np.full(300, 0.3), source=dt.Seeded(1))
    shape = dt.distribution(reports, 4)
    for estimate in (
        dt.mean(reports, method=dt.likelihood),
        dt.quantile(reports, 0.5, method=dt.likelihood),
        shape.quantile(0.5),
        shape.mode(),
        shape.cdf(0.4),
    ):
        again = pickle.loads(pickle.dumps(estimate))
        assert again.interval(0.9) == estimate.interval(0.9)
        assert repr(again) == repr(estimate)


def test_a_quantile_by_likelihood_has_the_unit_of_its_domain() -> None:
    commute = dt.SW(dt.Interval(0, 60, unit="min"), epsilon=2)
    reports = commute.perturb(np.full(300, 20.0), source=dt.Seeded(1))
    assert dt.quantile(reports, 0.5, method=dt.likelihood).unit == "min"
