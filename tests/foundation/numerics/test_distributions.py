"""The normal distribution, statistics of tests, Student's t and the Rice distribution.

They are compared with scipy and with 30 digits.
"""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from dither.errors import InvalidParameter
from dither.foundation.numerics import distributions
from dither.foundation.numerics.distributions import (
    check_level,
    chi_square_survival,
    kolmogorov_survival,
    kuiper_survival,
    rice_interval,
    student_t_quantile,
)


def test_error_functions_of_arrays() -> None:
    x = np.linspace(-6.0, 26.0, 4_001).reshape(1, -1)
    assert distributions.erf(x) == pytest.approx(special.erf(x), rel=1e-14, abs=1e-300)
    assert distributions.erfc(x) == pytest.approx(special.erfc(x), rel=1e-13, abs=1e-300)
    assert distributions.erfc(x).dtype == np.float64
    assert distributions.erf(np.asarray(0.5)).shape == ()


def test_tails_and_their_inverse() -> None:
    for z in np.linspace(-8.0, 37.0, 91).tolist():
        assert distributions.survival(z) == pytest.approx(stats.norm.sf(z), rel=1e-12)
    for tail in (1e-300, 1e-20, 1e-6, 0.025, 0.3, 0.5, 0.9, 1 - 1e-12):
        exact = stats.norm.isf(tail)
        assert distributions.inverse_survival(tail) == pytest.approx(exact, rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 12, 99, 1000])
@pytest.mark.parametrize("ratio", [0.0, 0.1, 0.9, 1.0, 1.5, 4.0])
def test_chi_square_is_scipys(freedom, ratio):
    expected = stats.chi2.sf(ratio * freedom, freedom)
    assert chi_square_survival(ratio * freedom, freedom) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("n", [50, 1000, 5000])
def test_kolmogorov_is_scipys(n):
    for scaled in np.linspace(0.3, 2.5, 12):
        expected = stats.kstwo.sf(scaled / np.sqrt(n), n)
        assert kolmogorov_survival(scaled / np.sqrt(n), n) == pytest.approx(expected, rel=0.05, abs=1e-3)


def test_kuiper_has_published_critical_values():
    for p, critical in ((0.1, 1.620), (0.05, 1.747), (0.01, 2.001)):  # [Stephens70], Table 1
        n = 10**8
        assert kuiper_survival(critical / np.sqrt(n), n) == pytest.approx(p, rel=0.01)
    assert kuiper_survival(0.0, 100) == 1.0


LEVELS = [0.01, 0.1, 0.5, 0.9, 0.95, 0.99, 0.999, 1 - 1e-6, 1 - 1e-9, 1 - 1e-12]
FREEDOMS = [*range(1, 31), 50, 99, 1_000, 10**5, 10**8, 10**9, 10**12]


@pytest.mark.parametrize("freedom", FREEDOMS)
def test_students_t_to_five_digits(freedom: int) -> None:
    for level in LEVELS:
        exact = stats.t.isf((1.0 - level) / 2.0, freedom)
        assert student_t_quantile(level, freedom) == pytest.approx(exact, rel=1e-5)


@pytest.mark.parametrize("level", [1e-9, *LEVELS])
def test_where_there_is_a_formula_all_digits_are_right(level: float) -> None:
    with mpmath.workdps(30):
        exact = mpmath.mpf(level)
        cauchy = mpmath.tan(mpmath.pi * exact / 2)
        two = exact * mpmath.sqrt(2 / (1 - exact**2))
        distributions = mpmath.sqrt(2) * mpmath.erfinv(exact)
    assert student_t_quantile(level, 1) == pytest.approx(float(cauchy), rel=1e-7)
    assert student_t_quantile(level, 2) == pytest.approx(float(two), rel=1e-13)
    assert student_t_quantile(level) == pytest.approx(float(distributions), rel=1e-7)
    if level > 0.05:  # below, 1 − level has lost digits of the level
        assert student_t_quantile(level, 1) == pytest.approx(float(cauchy), rel=1e-13)
        assert student_t_quantile(level) == pytest.approx(float(distributions), rel=1e-13)


def test_without_a_degree_of_freedom_nothing_is_excluded() -> None:
    assert student_t_quantile(0.95, 0) == math.inf
    assert student_t_quantile(0.5, 0.5) == math.inf


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, math.nan, "0.95", None])
def test_levels_are_probabilities(level: object) -> None:
    for ask in (check_level, student_t_quantile, lambda one: rice_interval(1.0, one)):
        with pytest.raises(InvalidParameter, match="strictly between 0 and 1"):
            ask(level)  # type: ignore[arg-type]


def beyond(length: float, nu: float, *, above: bool) -> mpmath.mpf:
    """P(R > length) or P(R ≤ length), by the density of the Rice distribution, to 20 digits."""

    def density(r: mpmath.mpf) -> mpmath.mpf:
        return r * mpmath.exp(-((r - nu) ** 2) / 2) * mpmath.besseli(0, r * nu) * mpmath.exp(-r * nu)

    far = max(length, nu)
    pieces = (
        [length, far + 1, far + 4, far + 14]
        if above
        else np.linspace(max(min(length, nu) - 14, 0), length, 6)
    )
    return mpmath.quad(density, [mpmath.mpf(float(edge)) for edge in pieces])


@pytest.mark.some(every=12)
@pytest.mark.parametrize("length", [0.2, 1.0, 2.5, 3.0, 6.0, 11.9, 12.1, 40.0])
@pytest.mark.parametrize("level", [0.5, 0.95, 1 - 1e-9])
def test_both_ends_leave_the_stated_probability(length: float, level: float) -> None:
    lower, upper = rice_interval(length, level)
    outside = (1.0 - level) / 2.0
    with mpmath.workdps(30):
        assert float(beyond(max(length, 1.0), upper, above=False)) == pytest.approx(outside, rel=1e-9)
        if lower > 0.0:
            assert float(beyond(length, lower, above=True)) == pytest.approx(outside, rel=1e-9)
        else:  # noise alone explains the length
            assert math.exp(-(length**2) / 2.0) >= outside


@given(st.floats(0.0, 300.0), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_the_interval_agrees_with_scipy(length: float, level: float) -> None:
    lower, upper = rice_interval(length, level)
    outside = (1.0 - level) / 2.0
    assert lower <= max(length, 1.0) < upper + 1.0
    assert stats.rice.cdf(max(length, 1.0), upper) == pytest.approx(outside, rel=1e-8)
    if lower > 0.0:
        assert stats.rice.sf(length, lower) == pytest.approx(outside, rel=1e-8)


def test_a_long_vector_has_a_normal_length() -> None:
    for length in (1e3, 1e6, 1e8):
        lower, upper = rice_interval(length, 0.95)
        centre, reach = math.sqrt(length**2 - 1.0), 1.959963984540054
        assert (lower, upper) == pytest.approx((centre - reach, centre + reach), abs=1e-3 / length + 1e-7)


def test_where_the_lower_end_leaves_zero() -> None:
    # Without a true length, a longer one than r is seen with probability exp(−r²/2).
    edge = math.sqrt(-2.0 * math.log(0.025))
    assert rice_interval(edge - 1e-9, 0.95)[0] == 0.0
    assert 0.0 < rice_interval(edge + 1e-9, 0.95)[0] < 1e-3


def test_a_length_below_one_counts_as_one() -> None:
    assert rice_interval(0.0, 0.95) == rice_interval(0.7, 0.95) == rice_interval(1.0, 0.95)
    assert rice_interval(0.0, 0.95)[1] > 2.0


@pytest.mark.parametrize("length", [-1.0, math.nan, math.inf])
def test_lengths_are_not_negative(length: float) -> None:
    with pytest.raises(InvalidParameter, match="length"):
        rice_interval(length, 0.95)


@pytest.mark.slow
def test_the_interval_covers_as_often_as_it_says() -> None:
    generator = np.random.default_rng(8)
    for true in (0.0, 1.0, 2.5):
        seen = np.hypot(true + generator.standard_normal(150), generator.standard_normal(150))
        covered = sum(low <= true <= high for low, high in (rice_interval(one, 0.9) for one in seen.tolist()))
        assert covered > 117  # of 150, where at least 135 are expected: 4.9 standard deviations
