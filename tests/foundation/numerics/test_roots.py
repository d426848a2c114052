"""Roots and minima: exact thresholds, the side on which a result lies, and how often functions are evaluated.

Bisection, false position, Newton's method and searches for minima, against scipy and 40 digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from dither.errors import InvalidParameter
from dither.foundation.numerics.roots import (
    argmax,
    argmin,
    bisect_arrays,
    bracketed_newton,
    decreasing_root,
    farthest_float,
    global_maximum,
    increasing_root,
    integer_argmin,
    largest_float,
    largest_integer,
    newton,
    power_law_root,
    proportional_root,
    smallest_float,
    smallest_integer,
    smallest_positive_float,
    smallest_positive_integer,
)
from dither.mechanisms.numeric.podium import best_step

finite = st.floats(-1e300, 1e300, allow_subnormal=True)
positive = st.floats(5e-324, 1e300, allow_subnormal=True)
TINY = 5e-324


class Recorded:
    """A predicate or function that remembers where it was evaluated."""

    def __init__(self, function: Callable[[float], float]) -> None:
        self.function = function
        self.seen: dict[float, float] = {}

    def __call__(self, x: float) -> float:
        self.seen[x] = self.function(x)
        return self.seen[x]


# Roots


@pytest.mark.parametrize(
    ("function", "low", "high"),
    [
        (lambda x: x**3 - 2.0, 0.0, 2.0),
        (lambda x: math.exp(x) - 3.0, -5.0, 40.0),
        (lambda x: x - 1e-200, 0.0, 1.0),
        (lambda x: math.atan(x - 1e6), -1e9, 1e9),
    ],
)
def test_roots_agree_with_brent(function: Callable[[float], float], low: float, high: float) -> None:
    exact = optimize.brentq(function, low, high, xtol=1e-300, rtol=4 * np.finfo(float).eps)
    assert increasing_root(function, low, high) == pytest.approx(exact, rel=1e-15)


@given(st.integers(2, 10**15))
def test_a_square_root_is_right_to_the_last_bit(square: int) -> None:
    root = increasing_root(lambda x: -1.0 if Fraction(x) ** 2 < square else 1.0, 0.0, float(square))
    assert Fraction(math.nextafter(root, 0.0)) ** 2 < square
    assert Fraction(math.nextafter(root, math.inf)) ** 2 > square


def test_of_the_two_floats_beside_a_root_the_even_one_is_returned() -> None:
    first = 1.0
    second = math.nextafter(first, 2.0)  # the last bit is 1
    third = math.nextafter(second, 2.0)
    assert increasing_root(lambda x: -1.0 if x <= first else 1.0, 0.0, 2.0) == first
    assert increasing_root(lambda x: -1.0 if x <= second else 1.0, 0.0, 2.0) == third


def test_a_function_of_one_sign_has_its_root_at_an_end() -> None:
    assert increasing_root(lambda x: 1.0, 2.0, 3.0) in (2.0, math.nextafter(2.0, 3.0))
    assert increasing_root(lambda x: -1.0, 2.0, 3.0) in (math.nextafter(3.0, 2.0), 3.0)


def test_a_bracket_of_neighbours_is_not_evaluated() -> None:
    function = Recorded(lambda x: x)
    after = math.nextafter(1.0, 2.0)
    assert increasing_root(function, 1.0, after) in (1.0, after)
    assert smallest_float(function, 1.0, after) == after
    assert largest_float(function, 1.0, after) == 1.0
    assert increasing_root(function, 1.0, 1.0) == smallest_float(function, 1.0, 1.0) == 1.0
    assert not function.seen


def test_a_function_that_is_nan_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="NaN"):
        increasing_root(lambda x: math.nan if x > 0.7 else -1.0, 0.0, 1.0)


@pytest.mark.parametrize("search", [increasing_root, smallest_float, largest_float])
@pytest.mark.parametrize(
    ("low", "high"),
    [(math.nan, 1.0), (0.0, math.nan), (1.0, 0.0), (0.0, math.inf), (-math.inf, 0.0), (0.0, 1.7e308)],
)
def test_brackets_that_are_refused(search: Callable[..., float], low: float, high: float) -> None:
    with pytest.raises(InvalidParameter, match="finite ends"):
        search(lambda x: x > 0.0, low, high)


def test_other_brackets_that_are_refused() -> None:
    for start, end in ((math.nan, 1.0), (0.0, math.nan), (0.0, math.inf), (-math.inf, 0.0)):
        with pytest.raises(InvalidParameter, match="finite ends"):
            farthest_float(lambda x: True, start, end, step=0.1, steps=5)
    for integers in (smallest_integer, largest_integer):
        with pytest.raises(InvalidParameter, match="low ≤ high"):
            integers(lambda x: True, 3, 2)
    for low in (math.nan, 2.0):
        with pytest.raises(InvalidParameter, match="low ≤ high"):
            bisect_arrays(lambda x: x > 0.0, np.array([0.0, low]), np.ones(2), 5)


# The direction of rounding


@given(finite, finite, finite)
def test_the_smallest_and_the_largest_are_the_threshold_itself(one: float, two: float, three: float) -> None:
    low, threshold, high = sorted((one, two, three))
    expected = threshold if threshold > low or low == high else math.nextafter(low, math.inf)
    assert smallest_float(lambda x: x >= threshold, low, high) == expected
    expected = threshold if threshold < high or low == high else math.nextafter(high, -math.inf)
    assert largest_float(lambda x: x <= threshold, low, high) == expected


@pytest.mark.parametrize("delta", [0.3, 1e-3, 1e-9, 1e-100])
def test_the_neighbour_of_a_normal_quantile_is_not_enough(delta: float) -> None:
    def enough(z: float) -> bool:
        return bool(stats.norm.sf(z) <= delta)

    z = smallest_float(enough, 0.0, 40.0)
    assert enough(z)
    assert not enough(math.nextafter(z, 0.0))
    assert z == pytest.approx(stats.norm.isf(delta), rel=1e-14)
    below = largest_float(lambda x: not enough(x), 0.0, 40.0)
    assert below == math.nextafter(z, 0.0)


def test_a_predicate_that_holds_nowhere_or_everywhere() -> None:
    assert smallest_float(lambda x: False, 1.0, 2.0) == 2.0
    assert smallest_float(lambda x: True, 1.0, 2.0) == math.nextafter(1.0, 2.0)
    assert largest_float(lambda x: False, 1.0, 2.0) == 1.0
    assert largest_float(lambda x: True, 1.0, 2.0) == math.nextafter(2.0, 1.0)


def test_an_undefined_value_does_not_hold() -> None:
    """Below 1 the logarithm's square root is NaN: a comparison with it is False, never a wrong yes."""

    def enough(x: float) -> bool:
        return bool(np.sqrt(x - 1.0) >= 0.0)

    with np.errstate(invalid="ignore"):
        assert smallest_float(enough, 0.0, 3.0) == 1.0


@given(st.randoms(use_true_random=False), st.integers(0, 60), st.booleans())
def test_what_is_returned_has_held_even_for_a_predicate_without_order(
    random: object, steps: int, up: bool
) -> None:
    holds = Recorded(lambda x: random.random() < 0.5)  # type: ignore[attr-defined]
    search, inside = (largest_float, 0.0) if up else (smallest_float, 1.0)
    found = search(holds, 0.0, 1.0, steps=steps)
    assert found == inside or holds.seen[found]
    assert len(holds.seen) <= steps


@given(st.floats(0.01, 0.99), st.integers(1, 40))
def test_so_many_halvings(threshold: float, steps: int) -> None:
    holds = Recorded(lambda x: x >= threshold)
    found = smallest_float(holds, 0.0, 1.0, steps=steps)
    assert len(holds.seen) == steps
    assert 0.0 <= found - threshold <= 2.0**-steps
    found = largest_float(lambda x: x <= threshold, 0.0, 1.0, steps=steps)
    assert 0.0 <= threshold - found <= 2.0**-steps


@given(st.floats(1.0, 1e6), st.sampled_from([1e-3, 1e-9, 1e-12]))
def test_a_relative_tolerance(threshold: float, tolerance: float) -> None:
    holds = Recorded(lambda x: x <= threshold)
    found = largest_float(holds, 0.5, 2e6, tolerance=tolerance)
    assert found <= threshold <= found * (1.0 + 2.0 * tolerance)
    assert len(holds.seen) <= math.log2(2e6 / (tolerance * 0.5)) + 1


@given(positive)
def test_doubling_finds_every_positive_threshold(threshold: float) -> None:
    assert smallest_positive_float(lambda x: x >= threshold) == threshold


def test_the_smallest_positive_float_and_none() -> None:
    assert smallest_positive_float(lambda x: True) == TINY
    with pytest.raises(InvalidParameter, match="no float satisfies"):
        smallest_positive_float(lambda x: False)
    with pytest.raises(InvalidParameter, match="no float satisfies"):
        smallest_positive_float(lambda x: x == math.inf)


# Outwards


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(1e-6, 10.0))
def test_outwards_from_a_start(start: float, threshold: float, step: float) -> None:
    for end, reach in ((1.0, max(start, threshold)), (0.0, min(start, threshold))):
        inside = Recorded(lambda x: min(start, reach) <= x <= max(start, reach))  # noqa: B023
        found = farthest_float(inside, start, end, step=step, steps=30)
        assert found == start or inside.seen[found]
        assert abs(found - reach) <= 2.0**-30 * max(step, 2.0 * abs(reach - start)) + 1e-15


def test_outwards_to_the_end_and_not_at_all() -> None:
    assert farthest_float(lambda x: True, 0.3, 1.0, step=0.01, steps=5) == 1.0
    assert farthest_float(lambda x: True, 0.3, 0.0, step=0.01, steps=5) == 0.0
    assert farthest_float(lambda x: False, 0.3, 1.0, step=0.01, steps=5) == 0.3
    assert farthest_float(lambda x: True, 0.3, 1.0, step=math.inf, steps=5) == 1.0


# Integers


def test_every_threshold_among_integers() -> None:
    for low, high in ((-7, 9), (0, 1), (3, 40)):
        for threshold in range(low + 1, high + 1):
            assert smallest_integer(lambda x: x >= threshold, low, high) == threshold  # noqa: B023
        for threshold in range(low, high):
            assert largest_integer(lambda x: x <= threshold, low, high) == threshold  # noqa: B023
        assert smallest_integer(lambda x: True, low, high) == low + 1
        assert smallest_integer(lambda x: False, low, high) == high
        assert largest_integer(lambda x: True, low, high) == high - 1
        assert largest_integer(lambda x: False, low, high) == low


def test_doubling_finds_every_positive_integer() -> None:
    for threshold in (*range(1, 70), 10**30, 1 << 3000):
        assert smallest_positive_integer(lambda x: x >= threshold) == threshold  # noqa: B023


def test_no_integer_is_found() -> None:
    with pytest.raises(InvalidParameter, match="no integer satisfies"):
        smallest_positive_integer(lambda x: False)


# Arrays


def test_many_quantiles_at_once() -> None:
    shares = np.array([1e-6, 0.2, 0.5, 0.99])
    low, high = bisect_arrays(lambda x: stats.norm.cdf(x) >= shares, np.full(4, -9.0), np.full(4, 9.0), 60)
    assert np.all(stats.norm.cdf(high) >= shares)
    assert np.all(stats.norm.cdf(low) < shares)
    assert np.all(high - low <= 4e-15)
    with mpmath.workdps(30):
        exact = [float(mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(share) - 1)) for share in shares]
    assert high == pytest.approx(exact, rel=1e-9)


def test_arrays_that_are_reached_nowhere_or_everywhere() -> None:
    ends = np.zeros(2), np.ones(2)
    low, high = bisect_arrays(lambda x: np.array([True, False]), *ends, 5)
    assert low.tolist() == [0.0, 1.0 - 2.0**-5]
    assert high.tolist() == [2.0**-5, 1.0]


class Counted:
    """A function that counts its evaluations."""

    def __init__(self, function: Callable[[float], float]) -> None:
        self.function, self.calls = function, 0

    def __call__(self, x: float) -> float:
        self.calls += 1
        return self.function(x)


@given(st.floats(-12.0, 5.0), st.sampled_from([1e-2, 1e-4, 1e-8]))
def test_a_decreasing_function_ends_just_below_zero(root: float, close: float) -> None:
    function = Counted(lambda x: math.expm1(0.7 * (root - x)))
    found = decreasing_root(function, -14.0, 6.0, close=close)
    assert found is not None
    assert -close <= function(found) <= 0.0
    exact = optimize.brentq(function.function, -14.0, 6.0, xtol=1e-13)
    assert found == pytest.approx(exact, abs=2.0 * close)


def test_it_needs_fewer_evaluations_than_bisection() -> None:
    function = Counted(lambda x: 3.3 - x - 0.05 * x**2)
    decreasing_root(function, -14.0, 6.0, close=1e-6)
    assert function.calls <= 10 < math.log2(20.0 / 1e-6)


def test_a_function_that_stays_on_one_side() -> None:
    assert decreasing_root(lambda x: 1.0 - x, -5.0, 0.5, close=1e-3) is None
    assert decreasing_root(lambda x: -1.0 - x, 0.0, 9.0, close=1e-3) == 0.0


@given(st.floats(-4.0, 4.0))
def test_a_jump_is_met_from_its_lower_side(jump: float) -> None:
    found = decreasing_root(lambda x: 1.0 if x < jump else -1.0, -5.0, 5.0, close=1e-2)
    assert found is not None
    assert jump <= found <= jump + 1e-5


@given(st.floats(-3.0, 3.0), st.floats(0.01, 4.0), st.sampled_from([-1.0, 1.0]), st.floats(-0.05, 0.3))
def test_the_reach_of_a_nearly_linear_function(start: float, slope: float, side: float, bend: float) -> None:
    def loss(x: float) -> float:
        away = abs(x - start)
        return slope * away * (1.0 + bend * away)

    limit, target = start + 10.0 * side, 0.4 * loss(start + 10.0 * side)
    function = Counted(loss)
    found = proportional_root(function, start, limit, target, close=0.01 * target, resolution=1e-9)
    assert abs(loss(found) - target) < 0.01 * target
    assert (found - start) * side > 0.0
    assert function.calls <= 12


def test_a_target_beyond_the_limit_gives_the_limit() -> None:
    assert proportional_root(abs, 0.0, 2.0, 5.0, close=1e-3, resolution=1e-4) == 2.0
    assert proportional_root(abs, 0.0, -2.0, 5.0, close=1e-3, resolution=1e-4) == -2.0
    assert proportional_root(abs, 0.0, 0.0, 5.0, close=1e-3, resolution=1e-4) == 0.0


@pytest.mark.parametrize("jump", [0.1, 0.9])
def test_a_jump_over_the_target_gives_its_far_side(jump: float) -> None:
    found = proportional_root(
        lambda x: 0.1 * x if x < jump else math.inf, 0.0, 1.0, 1.0, close=1e-3, resolution=0.01, steps=40
    )
    assert jump <= found <= jump + 0.011


@given(st.floats(0.1, 1e6), st.floats(0.35, 0.65))
def test_a_power_law_that_is_not_quite_the_expected_one(factor: float, exponent: float) -> None:
    x, ratio = power_law_root(
        lambda x: factor * x**-exponent, 100.0, 2.0, close=0.01, steps=40, low=1e-9, high=1e60
    )
    assert abs(ratio - 1.0) < 0.01
    assert ratio == factor * x**-exponent


def test_a_power_law_that_does_not_reach_one() -> None:
    x, ratio = power_law_root(lambda x: 5.0, 1.0, 2.0, close=0.01, steps=6, low=0.5, high=1e3)
    assert (x, ratio) == (1e3, 5.0)
    x, ratio = power_law_root(lambda x: 0.1, 1.0, 2.0, close=0.01, steps=6, low=0.5, high=1e3)
    assert (x, ratio) == (0.5, 0.1)


@given(st.floats(1e-6, 1e6))
def test_square_roots(square: float) -> None:
    root = newton(lambda x: (x * x - square, 2.0 * x), square + 1.0)  # convex, from the right
    assert root == pytest.approx(math.sqrt(square), rel=1e-15)


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 5.0, 50.0])
def test_the_step_of_podium_is_a_root_to_all_digits(epsilon: float) -> None:
    with mpmath.workdps(40):
        exact = mpmath.findroot(lambda s: mpmath.sinh(2 * s - epsilon) + 2 * mpmath.sinh(s), epsilon / 3)
    assert best_step(epsilon) == pytest.approx(float(exact), rel=1e-14)


def test_it_stops_after_so_many_steps() -> None:
    calls: list[float] = []
    newton(lambda x: (calls.append(x) or 1.0, 1.0), 0.0, steps=7)  # type: ignore[func-returns-value]
    assert calls == [0.0, -1.0, -2.0, -3.0, -4.0, -5.0, -6.0]


def falling(x: float) -> tuple[float, float]:
    return -math.atan(x - 0.7), -1.0 / (1.0 + (x - 0.7) ** 2)


def test_a_bracket_saves_steps_that_would_diverge() -> None:
    with pytest.raises((OverflowError, ZeroDivisionError, ValueError)):
        newton(falling, 5.0)
    found = bracketed_newton(falling, -10.0, 10.0, 5.0, tolerance=1e-12)
    assert found == pytest.approx(optimize.brentq(lambda x: falling(x)[0], -10.0, 10.0), abs=1e-11)


@given(st.floats(-0.99, 0.99), st.floats(-0.9, 0.9))
def test_roots_beside_poles(root: float, start: float) -> None:
    """1/(x + 1) − 1/(1 − x) and a constant: it goes to ±∞ at the ends, as the multiplier of a tilt does."""

    def function(x: float) -> tuple[float, float]:
        level = 1.0 / (root + 1.0) - 1.0 / (1.0 - root)
        value = 1.0 / (x + 1.0) - 1.0 / (1.0 - x) - level
        return value, -1.0 / (x + 1.0) ** 2 - 1.0 / (1.0 - x) ** 2

    found = bracketed_newton(function, -1.0, 1.0, start, tolerance=1e-9, absolute=1e-12)
    assert found == pytest.approx(root, abs=1e-8)


@pytest.mark.parametrize(
    ("function", "low", "high"),
    [
        (lambda x: (x - 0.3) ** 2, 0.0, 1.0),
        (lambda x: abs(x - 2.0) ** 1.5, -1.0, 7.0),
        (lambda x: math.exp(x) - 3.0 * x, 0.0, 4.0),
        (lambda x: x, 1.0, 2.0),
    ],
)
def test_minima_agree_with_scipy(function: Callable[[float], float], low: float, high: float) -> None:
    exact = optimize.minimize_scalar(function, bounds=(low, high), method="bounded", options={"xatol": 1e-10})
    assert argmin(function, low, high, sections=45) == pytest.approx(exact.x, abs=1e-7)
    assert argmax(lambda x: -function(x), low, high, sections=45) == pytest.approx(exact.x, abs=1e-7)


@given(st.floats(0.0, 1.0), st.integers(0, 30))
def test_the_result_is_the_best_that_was_evaluated_and_near(least: float, sections: int) -> None:
    seen: dict[float, float] = {}

    def function(x: float) -> float:
        seen[x] = abs(x - least)
        return seen[x]

    found = argmin(function, 0.0, 1.0, sections=sections)
    assert seen[found] == min(seen.values())
    assert len(seen) <= sections + 2
    assert abs(found - least) <= 0.618034 ** (sections + 1) + 1e-12


def wavy(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.sin(37.0 * x) + np.cos(11.0 * x) - (x - 0.4) ** 2)


def test_the_highest_of_many_peaks() -> None:
    exact = -optimize.dual_annealing(lambda x: -float(wavy(x[0])), [(0.0, 1.0)], rng=1).fun
    assert global_maximum(wavy, 0.0, 1.0) == pytest.approx(exact, rel=1e-12)
    assert global_maximum(wavy, 0.0, 1.0) > float(wavy(np.linspace(0.0, 1.0, 513)).max())  # the grid is not


def test_a_peak_at_an_end_and_a_flat_function() -> None:
    assert global_maximum(lambda x: x**3, -1.0, 2.0) == 8.0
    assert global_maximum(lambda x: -x, -1.0, 2.0) == 1.0
    assert global_maximum(np.ones_like, 0.0, 1.0) == 1.0


def test_a_peak_narrower_than_the_grid_is_found_where_it_is_named() -> None:
    def spike(x: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, 1.0 - 1e5 * np.abs(x - 1.0 / 3.0))

    assert global_maximum(spike, 0.0, 1.0, breaks=(1.0 / 3.0, 7.0)) == 1.0
    assert global_maximum(spike, 0.0, 1.0) < 1.0


@pytest.mark.parametrize(("low", "high"), [(0, 0), (1, 50), (-100, 1000), (7, 7_000)])
def test_integers_by_enumeration(low: int, high: int) -> None:
    def function(x: int) -> float:
        return math.cos(x / 300.0) + 1e-7 * (x - 20) ** 2

    assert integer_argmin(function, low, high) == min(range(low, high + 1), key=function)


def test_integers_beyond_enumeration() -> None:
    assert (
        integer_argmin(lambda x: abs(x - 123_456_789_012), 0, 1 << 40, points=64, rounds=9) == 123_456_789_012
    )
    tried: set[int] = set()
    integer_argmin(lambda x: tried.add(x) or float(abs(x - 777_777)), 0, 1 << 20)  # type: ignore[func-returns-value]
    assert len(tried) <= 5 * 65 + 3
