"""Planar noise: the exact law on the lattice, and Planar Laplace on areas."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import dither as dt
from dither.kernels.lattice.planar import PlanarNoise
from dither.kernels.table.weighted_choice import below
from tests.support.broken.places import on_squares
from tests.support.chi_square import ALARM, p_of_counts

SQUARE = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))


def fit(drawn: np.ndarray, fall: float, reach: int = 60) -> float:
    """How well offsets fit e^(−⌊|z|⌋·fall)."""
    side = np.arange(-reach, reach + 1)
    steps = np.floor(np.hypot(*np.meshgrid(side, side)) + 1e-9)
    law = np.exp(-steps * fall)
    counts = np.zeros_like(law)
    assert np.abs(drawn).max() <= reach  # what is farther has probability below e^(−60·fall)
    np.add.at(counts, (drawn[:, 1] + reach, drawn[:, 0] + reach), 1)
    return p_of_counts(counts.reshape(-1), (law / law.sum() * len(drawn)).reshape(-1))


@pytest.mark.parametrize(("fall", "per"), [(1, 1), (1, 3), (7, 10), (2, 1)])
def test_offsets_follow_the_law(fall: int, per: int) -> None:
    assert fit(PlanarNoise(fall, per).draw(200_000, dt.Seeded(3)), fall / per) > ALARM


def test_a_slightly_flatter_law_is_rejected() -> None:
    assert fit(PlanarNoise(95, 300).draw(200_000, dt.Seeded(3)), 100 / 300) < ALARM


def test_a_square_instead_of_a_disk_is_rejected() -> None:
    """Without the last step of the draw the noise would fall off with the larger coordinate."""
    assert fit(on_squares(1 / 3, 200_000), 1 / 3) < ALARM


def test_uniform_integers_of_different_sizes() -> None:
    bounds = np.tile([1, 3, 1000, (1 << 61) + 1], 50_000)
    drawn = below(bounds, dt.Seeded(1))
    assert (drawn >= 0).all()
    assert (drawn < bounds).all()
    counts = np.bincount(drawn[bounds == 3])
    assert stats.chisquare(counts).pvalue > ALARM


def test_the_ratio_in_integers() -> None:
    """Every pair of lattice places, every offset within reach: no ratio above e^ε, some near it."""
    noise, reach = PlanarNoise.largest(2.0, 9), 9
    steps = range(-12, 13)
    weight = {(i, j): noise.weight(i, j) for i in steps for j in steps}
    worst = Fraction(0)
    for i, j in [(6, 6), (9, 0), (-4, 8), (0, 0), (8, -4)]:  # differences of two places at most 9 apart
        for (a, b), one in weight.items():
            other = weight.get((a + i, b + j))
            if other is not None:
                worst = max(worst, abs(one - other))
    assert worst <= noise.exponent(reach) <= Fraction(2)
    assert worst > Fraction(17, 10)


@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 1.0, 50.0])
def test_the_guarantee_is_the_exact_rate(epsilon: float) -> None:
    mechanism = dt.PlanarLaplace(SQUARE, epsilon=epsilon)
    kernel = mechanism.kernel
    exact = Fraction(kernel.noise.fall * kernel.reach, kernel.noise.per)
    assert exact <= Fraction(mechanism.guarantee.epsilon) <= Fraction(epsilon)
    assert np.isfinite(mechanism.perturb(np.full((300, 2), 0.5), source=dt.Seeded(1)).values).all()


def test_squares_beyond_64_bits() -> None:
    """At small ε noise reaches beyond 2^31 steps; the comparison stays exact."""
    drawn = PlanarNoise(1, 1 << 40).draw(2_000, dt.Seeded(4))
    # |z| is a sum of two exponentials of scale 2^40
    distance = np.hypot(drawn[:, 0].astype(float), drawn[:, 1].astype(float)) / 2.0**40
    assert stats.kstest(distance, stats.gamma(2).cdf).pvalue > ALARM
    assert (
        stats.kstest(np.arctan2(*drawn.astype(float).T), stats.uniform(-math.pi, 2 * math.pi).cdf).pvalue
        > ALARM
    )


def test_the_distance_is_gamma() -> None:
    mechanism = dt.PlanarLaplace(dt.Disk(1.0), epsilon=3.0, clipped=False)
    places = mechanism.perturb(np.zeros((40_000, 1, 2)), source=dt.Seeded(5)).values.reshape(-1, 2)
    distance = np.hypot(*places.T)
    assert stats.kstest(distance, stats.gamma(2, scale=2.0 / 3.0).cdf).pvalue > ALARM
    assert stats.kstest(distance, stats.gamma(2, scale=2.1 / 3.0).cdf).pvalue < ALARM


def test_clipping_is_a_way_of_reading() -> None:
    mechanism = dt.PlanarLaplace(SQUARE, epsilon=1.0)
    reports = mechanism.perturb(np.random.default_rng(1).random((500, 2)), source=dt.Seeded(6))
    assert (reports.values >= 0).all()
    assert (reports.values <= 1).all()
    open_ended = dt.PlanarLaplace(SQUARE, epsilon=1.0, clipped=False).reports(reports)
    assert (open_ended.values < 0).any()
    np.testing.assert_array_equal(SQUARE.clip(open_ended.values), reports.values)
