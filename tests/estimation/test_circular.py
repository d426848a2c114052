"""Directions: no bias in the mean direction, lengths corrected by what the noise leaves of them."""

import math

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter
from dither.estimation.circular import length_factor

DEGREES = dt.Circle(360)


def headings(n, centre=350.0, agreement=2.0, seed=1):
    return np.degrees(np.random.default_rng(seed).vonmises(math.radians(centre), agreement, n)) % 360


@pytest.mark.parametrize(("epsilon", "rho"), [(0.5, 0.158), (1, 0.307), (2, 0.560), (4, 0.845)])
def test_what_survives_of_a_length_is_the_papers_rho(epsilon, rho):
    mechanism = dt.OGPM(DEGREES, epsilon=epsilon)
    t = math.exp(epsilon / 2)
    assert length_factor(mechanism.question) == pytest.approx(
        (t - 1 / t) * math.sin(math.pi / (1 + t)) / math.pi, rel=1e-5
    )
    assert length_factor(mechanism.question) == pytest.approx(rho, abs=5e-4)
    assert length_factor(mechanism.question) == pytest.approx(mechanism.sampled.resultant(0.0), rel=1e-6)


@pytest.mark.parametrize("kind", [dt.OGPM, dt.SW])
@pytest.mark.parametrize("epsilon", [0.5, 4])
def test_direction_and_length_are_right_within_chance(kind, epsilon):
    reports = kind(DEGREES, epsilon=epsilon).perturb(headings(200_000), source=dt.Seeded(2))
    direction, length = dt.mean(reports), dt.resultant(reports)
    assert abs((direction.value - 350 + 180) % 360 - 180) < 4.9 * direction.standard_error
    truth = 0.697774657964008  # I₁(2)/I₀(2)
    assert abs(length.value - truth) < 4.9 * length.standard_error
    seen = dt.resultant(reports, method=dt.as_reported)
    assert abs(seen.value - truth) > 4.9 * seen.standard_error  # the twin that forgets ρ
    assert seen.value == pytest.approx(length.value * length_factor(reports.question))


def test_a_direction_does_not_depend_on_where_the_circle_begins():
    mechanism = dt.OGPM(DEGREES, epsilon=2, cells=360 // 45 * 8)
    reports = mechanism.perturb(headings(5000, 90), source=dt.Seeded(3))
    turned = mechanism.reports((reports.cells.astype(int) + 40) % 64)
    here, there = dt.mean(reports), dt.mean(turned)
    assert (there.value - here.value) % 360 == pytest.approx(225)
    assert there.standard_error == pytest.approx(here.standard_error)
    assert dt.resultant(turned).value == pytest.approx(dt.resultant(reports).value)


def test_an_interval_may_pass_the_beginning():
    reports = dt.OGPM(DEGREES, epsilon=2).perturb(headings(2000, 0.0), source=dt.Seeded(4))
    direction = dt.mean(reports)
    low, high = direction.interval()
    assert low > 300
    assert high < 60
    assert direction.covers(0)
    assert direction.covers(359.99)
    assert not direction.covers(180)
    assert direction.half_width() == pytest.approx(((high - low) % 360) / 2)


def test_where_arrows_cancel_every_direction_is_possible():
    reports = dt.OGPM(DEGREES, epsilon=0.5).perturb(np.linspace(0, 360, 1000), source=dt.Seeded(5))
    direction = dt.mean(reports)
    assert direction.interval(0.999) == (0, 360)
    assert direction.half_width(0.999) == 180
    assert all(direction.covers(angle, 0.999) for angle in range(0, 360, 30))
    low, high = dt.resultant(reports).interval()
    assert low == 0 < high


def test_circular_variance_is_the_rest_of_the_length():
    reports = dt.OGPM(DEGREES, epsilon=2).perturb(headings(3000), source=dt.Seeded(6))
    length, variance = dt.resultant(reports), dt.variance(reports)
    assert variance.value == pytest.approx(1 - length.value)
    assert variance.interval() == pytest.approx((1 - length.interval()[1], 1 - length.interval()[0]))
    assert dt.mean(reports, method=dt.as_reported).value == dt.mean(reports).value


def test_directions_have_no_order():
    reports = dt.SW(DEGREES, epsilon=1).perturb(headings(500), source=dt.Seeded(7))
    for ask in (
        lambda: dt.quantile(reports, 0.5),
        lambda: dt.mean(reports, method=dt.likelihood),
        lambda: dt.distribution(reports).mean(),
        lambda: dt.distribution(reports).cdf(90),
        lambda: dt.quantile(reports, 0.5, method=dt.as_reported),
    ):
        with pytest.raises(InvalidParameter, match=r"circle|directions"):
            ask()


def test_a_direction_prints_its_half_width_where_its_interval_passes_the_end():
    north = dt.mean(dt.OGPM(dt.Circle(360), epsilon=2).perturb([0.0] * 2000, source=dt.Seeded(1)))
    low, high = north.interval()
    assert low > high
    value, half = repr(north).split(" (")[0].split(" ± ")
    assert float(half) == pytest.approx(north.half_width(), abs=0.5)
    assert float(value) == pytest.approx((north.value + 180) % 360 - 180, abs=0.5)
