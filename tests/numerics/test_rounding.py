"""Directed rounding: the float on the stated side, and no float nearer."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from dither.numerics.rounding import float_at_least, float_at_most

rationals = st.one_of(
    st.fractions(),
    st.fractions(max_denominator=10**40),
    st.floats(-1e300, 1e300, allow_subnormal=True).map(Fraction),
    st.floats(0.1, 10.0).map(lambda x: Fraction(x) + Fraction(1, 10**30)),
    st.floats(0.1, 10.0).map(lambda x: Fraction(x) - Fraction(1, 10**30)),
)


@given(rationals)
def test_the_nearest_floats_on_either_side(exact: Fraction) -> None:
    below, above = float_at_most(exact), float_at_least(exact)
    assert Fraction(below) <= exact < Fraction(math.nextafter(below, math.inf))
    assert Fraction(math.nextafter(above, -math.inf)) < exact <= Fraction(above)


@given(st.floats(-1e300, 1e300, allow_subnormal=True))
def test_a_float_stays_itself(number: float) -> None:
    assert float_at_most(Fraction(number)) == float_at_least(Fraction(number)) == number
