"""Sums, differences and ratios of estimates: against textbook formulas and a search by hand."""

import math

import numpy as np
import pytest
from scipy import stats

import dither as dt
from dither.errors import InvalidParameter, NotIdentifiable
from dither.estimation.estimate import Estimate
from dither.privacy import Guarantee, Pure

ONE, TWO = Guarantee(Pure(1.0)), Guarantee(Pure(2.0))
PET = dt.KRR(dt.Categories(["cat", "dog", "none"]), epsilon=2)


def number(value, error, n=10**12, guarantee=ONE):
    return Estimate(value, error, n, guarantee)


def test_a_difference_of_symmetric_intervals_is_the_textbook_one():
    gap = number(5.0, 0.3) - number(3.0, 0.4, guarantee=TWO)
    assert gap.value == pytest.approx(2.0)
    assert gap.standard_error == pytest.approx(0.5)
    assert gap.interval(0.95) == pytest.approx((2 - 1.959964 * 0.5, 2 + 1.959964 * 0.5), rel=1e-5)
    assert gap.guarantee.epsilon == 2.0
    assert gap.n == 2 * 10**12
    assert gap.p_value() == pytest.approx(2 * stats.norm.sf(4.0), rel=1e-4)
    assert gap.p_value(2.0) == pytest.approx(1.0)


def test_weighted_sums_and_numbers():
    a, b = number(5.0, 0.3), number(3.0, 0.4)
    mix = np.float64(0.25) * a + b * 0.75 - 1
    assert (mix.value, mix.standard_error) == pytest.approx((2.5, math.hypot(0.075, 0.3)))
    assert (10 - a).value == 5.0
    assert sum([a, b]).value == 8.0
    assert (a - a).interval() == (0.0, 0.0)
    assert ((a + b) - b).standard_error == pytest.approx(0.3)
    assert (-a / 2).value == -2.5


def test_arms_of_skewed_intervals_stay_on_their_sides():
    few = dt.frequencies(PET.reports([0] * 3 + [1] * 5 + [2] * 92))
    many = dt.frequencies(PET.reports([0] * 300 + [1] * 500 + [2] * 200))
    gap = (few - many)["cat"]
    low, high = gap.interval()
    (low_a, high_a), (low_b, high_b) = few["cat"].interval(), many["cat"].interval()
    a, b = few["cat"].value, many["cat"].value
    assert low == pytest.approx(a - b - math.hypot(a - low_a, high_b - b))
    assert high == pytest.approx(a - b + math.hypot(high_a - a, b - low_b))
    assert np.asarray((few - many).interval())[:, 0] == pytest.approx([low, high])


@pytest.mark.parametrize("above", [(5.0, 0.5), (-5.0, 0.5), (0.1, 0.5), (-0.1, 0.5)])
@pytest.mark.parametrize("below", [(3.0, 0.2), (-3.0, 0.2), (3.0, 1.4)])
def test_the_interval_of_a_ratio_holds_the_ratios_that_fit(above, below):
    a, b = number(*above), number(*below)
    low, high = (a / b).interval()
    for ratio in np.linspace(-12, 12, 4801):
        if min(abs(ratio - low), abs(ratio - high)) > 1e-6:
            assert (low <= ratio <= high) == (a - ratio * b).covers(0.0)


def test_fieller_is_recovered():
    a, b, t = number(5.0, 0.5), number(3.0, 0.4), 1.959964
    lead, middle, rest = 9 - (t * 0.4) ** 2, 15.0, 25 - (t * 0.5) ** 2
    root = math.sqrt(middle**2 - lead * rest)
    assert (a / b).interval() == pytest.approx(((middle - root) / lead, (middle + root) / lead), rel=1e-6)
    assert (a / number(0.5, 0.4)).interval() == (-math.inf, math.inf)
    assert (a / b).p_value(5 / 3) == pytest.approx(1.0)


def test_what_is_not_independent_or_not_a_number_is_refused():
    found = dt.frequencies(PET.reports([0, 1, 1, 2] * 50))
    with pytest.raises(InvalidParameter, match="same people"):
        found["cat"] - found["dog"]
    with pytest.raises(InvalidParameter, match="different people"):
        found["cat"] / (2 * found["dog"])
    other = dt.frequencies(dt.KRR(dt.Categories(["cat", "dog"]), epsilon=2).reports([0, 1] * 50))
    with pytest.raises(InvalidParameter, match="different categories"):
        found - other
    north = dt.mean(dt.OGPM(dt.Circle(360), epsilon=2).perturb([10.0] * 100, source=dt.Seeded(1)))
    with pytest.raises(InvalidParameter, match="directions"):
        north - number(1.0, 0.1)
    for thing in ("1", None, [1.0], math.nan, True):
        with pytest.raises(InvalidParameter, match="combined with"):
            number(1.0, 0.1) + thing
    with pytest.raises(InvalidParameter, match="not multiplied"):
        number(1.0, 0.1) * number(1.0, 0.1)
    with pytest.raises(InvalidParameter, match="divided by 0"):
        number(1.0, 0.1) / 0
    with pytest.raises(NotIdentifiable, match="divisor"):
        number(1.0, 0.1) / number(0.0, 0.1)
    with pytest.raises(InvalidParameter, match="one number"):
        (found - dt.frequencies(PET.reports([0] * 9))).p_value()
