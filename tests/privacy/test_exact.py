"""Shares of a budget: never more than ε together, and each as large as a float allows."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dither.errors import InvalidParameter
from dither.privacy.exact import divide, float_at_least, rest, rounded_down, share, split

BUDGETS = st.floats(1e-6, 1e6)
WEIGHTS = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=12)


@given(BUDGETS, WEIGHTS)
def test_shares_fit_exactly_into_the_budget_and_no_larger_floats_do(
    epsilon: float, weights: list[float]
) -> None:
    parts = split(epsilon, weights)
    exact = [Fraction(epsilon) * Fraction(one) / sum(map(Fraction, weights)) for one in weights]
    assert len(parts) == len(weights)
    assert sum(map(Fraction, parts)) <= Fraction(epsilon)
    for part, whole in zip(parts, exact, strict=True):
        assert Fraction(part) <= whole < Fraction(math.nextafter(part, math.inf))


def test_rounding_to_the_nearest_float_would_exceed_the_budget() -> None:
    """The reason why shares are rounded down; without it the test above could not fail."""
    epsilon, weights = 1.0, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    nearest = [epsilon * weight / sum(weights) for weight in weights]
    assert sum(map(Fraction, nearest)) > 1
    assert sum(map(Fraction, split(epsilon, weights))) <= 1


@given(BUDGETS, st.integers(1, 100_000))
def test_an_even_share_is_the_largest_that_fits(epsilon: float, count: int) -> None:
    part = share(epsilon, count)
    assert Fraction(part) * count <= Fraction(epsilon)
    assert Fraction(math.nextafter(part, math.inf)) * count > Fraction(epsilon)


@given(BUDGETS, st.floats(0.0, 1.0))
def test_the_rest_is_the_largest_that_fits_beside_what_was_spent(epsilon: float, part: float) -> None:
    spent = epsilon * part
    left = rest(epsilon, spent)
    assert Fraction(spent) + Fraction(left) <= Fraction(epsilon)
    assert Fraction(spent) + Fraction(math.nextafter(left, math.inf)) > Fraction(epsilon)


@given(BUDGETS, st.floats(1e-6, 1.0, exclude_max=True))
def test_two_parts_are_rounded_as_reports_in_use_were(epsilon: float, part: float) -> None:
    """The first part to the nearest float, the second down: other floats would change sampled integers."""
    first, second = epsilon * part, epsilon - epsilon * part
    while Fraction(first) + Fraction(second) > Fraction(epsilon):
        second = math.nextafter(second, -math.inf)
    assert divide(epsilon, part) == (first, second)


@given(st.fractions(-1000, 1000))
def test_rounding_down_gives_the_largest_float_below(exact: Fraction) -> None:
    assert Fraction(rounded_down(exact)) <= exact < Fraction(math.nextafter(rounded_down(exact), math.inf))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: split(1.0, []),
        lambda: split(1.0, [1.0, 0.0]),
        lambda: split(1.0, [1.0, -1.0]),
        lambda: split(1.0, [math.nan]),
        lambda: split(1.0, [math.inf]),
        lambda: split(0.0, [1.0]),
        lambda: split(math.inf, [1.0]),
        lambda: share(1.0, 0),
        lambda: share(1.0, True),
        lambda: share(1.0, 2.5),
        lambda: share(-1.0, 2),
    ],
)
def test_what_cannot_be_divided_is_refused(wrong: object) -> None:
    with pytest.raises(InvalidParameter):
        wrong()  # type: ignore[operator]


rationals = st.one_of(
    st.fractions(),
    st.fractions(max_denominator=10**40),
    st.floats(-1e300, 1e300, allow_subnormal=True).map(Fraction),
    st.floats(0.1, 10.0).map(lambda x: Fraction(x) + Fraction(1, 10**30)),
    st.floats(0.1, 10.0).map(lambda x: Fraction(x) - Fraction(1, 10**30)),
)


@given(rationals)
def test_the_nearest_float_above(exact: Fraction) -> None:
    above = float_at_least(exact)
    assert Fraction(math.nextafter(above, -math.inf)) < exact <= Fraction(above)


@given(st.floats(-1e300, 1e300, allow_subnormal=True))
def test_a_float_stays_itself(number: float) -> None:
    assert float_at_least(Fraction(number)) == number
