"""Noise in the plane, on a lattice and on rings: the exact law, the promise by distance, its worth."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import dither as dt
from dither.core.kernels.alias import below
from dither.core.kernels.lattice.plane import PlanarNoise, RingNoise
from dither.core.kernels.places.planar import steps_between
from dither.errors import InvalidParameter
from dither.mechanisms.places.noise import best_share
from dither.privacy import Metric, Pure
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


@pytest.mark.some(every=4)
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
    kernel = mechanism.question.kernel
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


CITY = dt.Rectangle(dt.Interval(0, 20_000), dt.Interval(0, 15_000))


def fit_rings(drawn: np.ndarray, noise: RingNoise, reach: int = 60) -> float:
    """How well offsets fit b^k, k the ring of each offset in integers."""
    side = range(-reach, reach + 1)
    falls = np.array([[noise.ring(right, up) for right in side] for up in side])
    law = (noise.fall / 2.0**64) ** falls
    counts = np.zeros_like(law)
    assert np.abs(drawn).max() <= reach
    np.add.at(counts, (drawn[:, 1] + reach, drawn[:, 0] + reach), 1)
    return p_of_counts(counts.reshape(-1), (law / law.sum() * len(drawn)).reshape(-1))


@pytest.mark.some(every=2)
@pytest.mark.parametrize(("epsilon", "first", "width"), [(2.0, 3, 4), (4.0, 2, 7), (3.0, 1, 1), (9.0, 5, 11)])
def test_offsets_follow_the_law_rings(epsilon: float, first: int, width: int) -> None:
    noise = RingNoise.largest(epsilon, first, width)
    assert fit_rings(noise.draw(200_000, dt.Seeded(3)), noise) > ALARM


def test_a_slightly_flatter_or_wider_law_is_rejected() -> None:
    noise = RingNoise.largest(2.0, 3, 4)
    drawn = noise.draw(200_000, dt.Seeded(3))
    assert fit_rings(drawn, RingNoise.largest(2.05, 3, 4)) < ALARM
    assert fit_rings(drawn, RingNoise.largest(2.0, 4, 4)) < ALARM


def test_disks_drawn_by_their_radius_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """A twin that forgets that larger disks have more points."""
    noise = RingNoise.largest(2.0, 3, 4)
    monkeypatch.setattr(RingNoise, "kinds", (1, 0, 0))  # j is geometric, whatever the radius
    assert fit_rings(noise.draw(200_000, dt.Seeded(3)), noise) < ALARM


def test_the_three_kinds_add_up_to_the_disks() -> None:
    """In fractions: sums of geometric variables with the integer weights give b^j·R_j²."""
    noise = RingNoise.largest(1.5, 5, 9)
    b = 1 / noise.ratio
    one, two, three = (Fraction(weight) for weight in noise.kinds)
    law = []
    for j in range(6):
        first = one * (1 - b) * b**j
        second = two * (1 - b) ** 2 * j * b ** (j - 1) if j else 0
        third = three * (1 - b) ** 3 * j * (j - 1) / 2 * b ** (j - 2) if j > 1 else 0
        law.append((first + second + third) / (b**j * (5 + 9 * j) ** 2))
    assert len(set(law)) == 1


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 3.0, 50.0])
def test_the_ratio_in_integers_rings(epsilon: float) -> None:
    """Offsets under two lattice points D steps apart are at most ⌈D/w⌉ rings apart, and 2^64/fall ≤ e^ε."""
    noise = RingNoise.largest(epsilon, 3, 5)
    worst = {0: 0}
    for i, j in [(1, 0), (3, 4), (0, 5), (5, 1), (7, 7), (-9, 4), (2, -14)]:
        steps = math.isqrt(i * i + j * j - 1) + 1  # the distance, rounded up
        apart = max(
            abs(noise.ring(a, b) - noise.ring(a + i, b + j)) for a in range(-30, 31) for b in range(-30, 31)
        )
        assert apart <= -(-steps // noise.width)
        worst[steps] = apart
    assert max(worst.values()) >= 2
    spent = dt.PlanarStaircase(SQUARE, epsilon=epsilon, cells=64).guarantee.epsilon
    assert spent <= epsilon
    assert spent > min(epsilon, 44.0) * (1 - 1e-9)  # 2^64 is e^44.4


def test_places_of_the_area_are_as_near_on_the_lattice() -> None:
    """Rounding to the lattice included: k distances are at most k widths."""
    mechanism = dt.PlanarStaircase(CITY, epsilon=2, distance=700, cells=4096)
    kernel = mechanism.question.kernel
    rng = np.random.default_rng(1)
    start = rng.uniform(0.0, [20_000.0, 15_000.0], (20_000, 2))
    for times in (1, 2, 5):
        turn = rng.uniform(0.0, 2.0 * math.pi, len(start))
        end = CITY.clip(start + 700.0 * times * np.stack([np.cos(turn), np.sin(turn)], axis=1))
        gap = kernel.points(end) - kernel.points(start)
        assert np.hypot(*gap.T).max() <= times * kernel.noise.width
    assert steps_between(700.0, kernel.spacing) == kernel.noise.width


def test_the_promise_is_by_distance_or_pure() -> None:
    by_distance = dt.PlanarStaircase(CITY, epsilon=2, distance=500)
    assert isinstance(by_distance.guarantee.bound, Metric)
    assert str(by_distance.guarantee) == "ε ≤ 2 per 500 of distance begun for one location"
    pure = dt.PlanarStaircase(CITY, epsilon=2)
    assert isinstance(pure.guarantee.bound, Pure)
    assert pure.guarantee.epsilon <= 2
    again = dt.from_json(by_distance.to_json())
    assert again.design() == by_distance
    assert again.guarantee == by_distance.guarantee
    assert dt.audit(by_distance).ok
    with pytest.raises(InvalidParameter, match="pure ε"):
        dt.PlanarStaircase(CITY, epsilon=2, distance=500, unit="trajectory")


@pytest.mark.parametrize("epsilon", [1.0, 2.0, 4.0, 8.0])
def test_the_mean_error_is_that_of_disks(epsilon: float) -> None:
    """E|z| = ⅔·Σ b^j·R_j³ / Σ b^j·R_j², and below planar Laplace's 2Δ/ε."""
    mechanism = dt.PlanarStaircase(CITY, epsilon=epsilon, distance=1_000, clipped=False)
    noise = mechanism.question.kernel.noise
    radii = [(noise.first + noise.width * j) * mechanism.spacing for j in range(200)]
    weights = [math.exp(-epsilon * j) for j in range(200)]
    wanted = 2 / 3 * sum(w * r**3 for w, r in zip(weights, radii, strict=True))
    wanted /= sum(w * r**2 for w, r in zip(weights, radii, strict=True))
    places = np.full((100_000, 1, 2), 7_000.0)
    error = np.hypot(*(mechanism.perturb(places, source=dt.Seeded(4)).values.reshape(-1, 2) - 7_000.0).T)
    assert abs(error.mean() - wanted) < 5.2 * error.std() / math.sqrt(error.size)
    assert wanted < 2_000 / epsilon


@pytest.mark.parametrize(
    ("epsilon", "power", "share"),
    [(1.0, 1.0, 0.667), (4.0, 1.0, 0.312), (8.0, 1.0, 0.087), (4.0, 2.0, 0.39)],
)
def test_the_first_radius_is_the_best(epsilon: float, power: float, share: float) -> None:
    """Found on a grid of 1 000 shares, with another program."""
    assert best_share(epsilon, power) == pytest.approx(share, abs=2e-3)


@pytest.mark.parametrize(
    "more",
    [
        {"distance": 0.0},
        {"distance": 2.0},
        {"distance": -1.0},
        {"distance": math.nan},
        {"distance": 1e-4, "cells": 64},
        {"epsilon": 1e-3},
    ],
)
def test_what_no_rings_can_do_is_refused(more: dict[str, float]) -> None:
    with pytest.raises(InvalidParameter):
        dt.PlanarStaircase(SQUARE, **{"epsilon": 1.0, "distance": 0.5, **more})
