"""The variance of Theorem 4 [Thesis]: exact by enumeration, and met by simulated counts."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter
from dither.mechanisms.joint.joint import Joint
from tests.mechanisms.joint import brute
from tests.support.broken.joint import Flipped
from tests.support.cases.joint import THREE, TWO, P
from tests.support.chi_square import consistent
from tests.support.repository import reference

REFERENCE = reference("jrr")


def test_examples_of_the_dissertation() -> None:
    assert dt.JRR(TWO, p=0.8, rho=0.0, n=2).count_variance(2) == pytest.approx(
        REFERENCE["example_variances"]["independent"], abs=1e-3
    )
    assert dt.JRR(TWO, p=0.8, rho=-0.25, n=2).count_variance(2) == pytest.approx(
        REFERENCE["example_variances"]["joint"], abs=1e-3
    )


def test_theorem_4_and_the_simulations_of_the_facts() -> None:
    for n, n1, p, simulated in REFERENCE["simulated_variances"]["value"]:
        jrr = dt.JRR(TWO, p=p, rho=1 - 1 / p, n=n)
        assert jrr.count_variance(n1) == pytest.approx(simulated, rel=0.01)
    jrr = dt.JRR(TWO, p=P, rho=Fraction(-1, 5), n=10)  # as printed, for even n
    printed = 0.21 / 0.16 * (10 - 0.2 * ((2 * 3 - 10) ** 2 - 10) / 9)
    assert jrr.count_variance(3) == pytest.approx(printed, rel=1e-12)


@pytest.mark.some(every=3)
@pytest.mark.parametrize("n", [3, 4, 5, 6])
@pytest.mark.parametrize("rho", [Fraction(-2, 5), Fraction(1, 2)])
def test_the_variance_is_exact_for_two_categories(n: int, rho: Fraction) -> None:
    """Var of the estimate by enumeration over all pairings and coins, odd n included."""
    jrr = dt.JRR(TWO, p=P, rho=rho, n=n)
    for n1 in range(n + 1):
        answers = [True] * n1 + [False] * (n - n1)
        first = second = Fraction(0)
        for coins, mass in brute.law(jrr.pairs, n).items():
            told = sum(answer == coin for answer, coin in zip(answers, coins, strict=True))
            count = (told - n * (1 - P)) / (2 * P - 1)
            first, second = first + mass * count, second + mass * count**2
        assert first == n1
        assert jrr.count_variance(n1) == pytest.approx(float(second - first**2), rel=1e-12)


@pytest.mark.parametrize("n", [4, 5])
def test_the_variance_is_exact_for_three_categories(n: int) -> None:
    jrr = dt.JRR(THREE, p=Fraction(1, 2), rho=Fraction(-1, 2), n=n)
    own, other = jrr.rates
    for holders in range(n + 1):
        mean = square = Fraction(0)
        for coins, mass in brute.law(jrr.pairs, n).items():
            # The count of a category: truthful holders, and others' lies, each of two as likely.
            fixed = sum(coins[:holders])
            liars = sum(not coin for coin in coins[holders:])
            for hits in range(liars + 1):
                chance = mass * math.comb(liars, hits) * Fraction(1, 2) ** liars
                count = (fixed + hits - n * other) / (own - other)
                mean, square = mean + chance * count, square + chance * count**2
        assert mean == holders
        assert jrr.count_variance(holders) == pytest.approx(float(square - mean**2), rel=1e-12)


def counts_of(mechanism: Joint, values: np.ndarray, runs: int, seed: int) -> np.ndarray:
    source = dt.Seeded(seed)
    supports = [
        mechanism.supports(mechanism.question.counting.count(mechanism.perturb(values, source=source).cells))
        for _ in range(runs)
    ]
    return (np.array(supports) - mechanism.n * mechanism.q) / mechanism.gap


@pytest.mark.some(every=3)
@pytest.mark.parametrize(
    ("n", "n1", "epsilon"), [(100, 3, 0.5), (101, 3, 0.5), (40, 40, 1.0), (41, 20, 1.0), (200, 190, 0.01)]
)
def test_simulated_variances(n: int, n1: int, epsilon: float) -> None:
    jrr = dt.JRR.heuristic(TWO, epsilon=epsilon, n=n)
    values = np.arange(n) < n1
    sample = counts_of(jrr, values.astype(int), 4_000, 13)[:, 1]
    assert consistent(sample, n1, jrr.count_variance(n1))
    plain = jrr.count_variance(n1) if n1 == 20 else replace(jrr, rho=Fraction(0)).count_variance(n1)
    assert consistent(sample, n1, plain) == (n1 == 20)  # plain coins are rejected where the gain is seen


def test_simulated_variances_reject_a_flipped_sign() -> None:
    jrr = dt.JRR(TWO, p=P, rho=Fraction(-2, 5), n=60)
    twin = Flipped(TWO, p=P, rho=Fraction(-2, 5), n=60)
    values = np.zeros(60, dtype=int)
    assert consistent(counts_of(jrr, values, 3_000, 14)[:, 0], 60, jrr.count_variance(0))
    assert not consistent(counts_of(twin, values, 3_000, 14)[:, 0], 60, jrr.count_variance(0))


@pytest.mark.some(every=2)
@pytest.mark.parametrize("rho", [-0.8, 0.9])
def test_simulated_variances_of_many_categories(rho: float) -> None:
    n = 51
    jrr = dt.JRR(THREE, p=0.55, rho=rho, n=n)
    values = np.array(["tea"] * 40 + ["coffee"] * 10 + ["water"])
    sample = counts_of(jrr, values, 3_000, 15)
    for place, holders in enumerate((40, 10, 1)):
        assert consistent(sample[:, place], holders, jrr.count_variance(holders))


@pytest.mark.slow
def test_simulated_variances_of_bits_and_buckets() -> None:
    n, domain = 51, dt.Categories(6)
    values = np.array([0] * 45 + [1] * 6)
    unary = dt.JRR.over(dt.rivals.SUE(domain, epsilon=2), rho=-0.36, n=n)
    hashed = dt.JRR.over(dt.OLH(domain, epsilon=1.5), rho=-1.5, n=n)
    for mechanism in (unary, hashed):
        sample = counts_of(mechanism, values, 2_000, 16)
        for place, holders in ((0, 45), (1, 6), (5, 0)):
            assert consistent(sample[:, place], holders, mechanism.count_variance(holders))
        alone = replace(mechanism, rho=Fraction(0))
        assert not consistent(sample[:, 0], 45, alone.count_variance(45))


def test_ratios_of_the_datasets() -> None:
    for name, (n, n1) in REFERENCE["counts"].items():
        for epsilon, ratio in zip((0.01, 0.1, 1.0), REFERENCE["ratio_datasets"][name], strict=True):
            jrr = dt.JRR.heuristic(TWO, epsilon=epsilon, n=n)
            plain = replace(jrr, rho=Fraction(0)).count_variance(n1)
            assert jrr.count_variance(n1) / plain == pytest.approx(ratio, rel=1e-3)
            if name == "kosarak":
                assert plain == pytest.approx(REFERENCE["rr_mse_kosarak"][f"{epsilon:g}"], rel=1e-3)
    for epsilon, ratio in REFERENCE["ratio_all_ones"].items():
        jrr = dt.JRR.heuristic(TWO, epsilon=float(epsilon), n=10_000)
        plain = replace(jrr, rho=Fraction(0))
        assert jrr.count_variance(10_000) / plain.count_variance(10_000) == pytest.approx(ratio, rel=1e-3)


@pytest.mark.parametrize("answers", [(1, 1, 0, 0), (1, 0, 1, 0), (1, 1, 1, 0), (0, 0, 0, 0)])
def test_fixed_pairs_have_the_variance_of_all_their_coins(answers: tuple[int, ...]) -> None:
    jrr = dt.JRR(TWO, p=0.7, rho=-0.2, n=4)
    pairing = [(0, 1), (2, 3)]
    p = float(jrr.p)
    mean = square = 0.0
    for coins in product((False, True), repeat=4):
        sent = sum(answer if truth else 1 - answer for answer, truth in zip(answers, coins, strict=True))
        count, mass = (sent - 4 * (1 - p)) / (2 * p - 1), float(brute.chance(jrr.pairs, pairing, coins))
        mean, square = mean + mass * count, square + mass * count**2
    both = sum(answers[a] and answers[b] for a, b in pairing)
    assert mean == pytest.approx(sum(answers))
    assert jrr.count_variance(sum(answers), both=both) == pytest.approx(square - mean**2)


def test_fixed_pairs_are_neighbours() -> None:
    jrr = dt.JRR(TWO, p=0.6, rho=1.0, n=6)  # partners' coins are equal
    for seed in range(40):
        coins = [coin.truthful for coin in jrr.deal(grouping="fixed", source=dt.Seeded(seed))]
        assert coins[0::2] == coins[1::2]
    mixed = [
        [coin.truthful for coin in jrr.deal(source=dt.Seeded(seed))][0:2] for seed in range(40)
    ]  # at random they are somebody else's
    assert any(first != second for first, second in mixed)


def test_fixed_pairs_are_refused_where_they_cannot_be() -> None:
    jrr = dt.JRR(TWO, p=0.6, rho=0.0, n=5)
    with pytest.raises(InvalidParameter, match="even"):
        jrr.deal(grouping="fixed")
    with pytest.raises(InvalidParameter, match="even"):
        jrr.count_variance(2, both=1)
    with pytest.raises(InvalidParameter, match="random"):
        jrr.deal(grouping="randon")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="pairs"):
        dt.JRR(TWO, p=0.6, rho=0.0, n=6).count_variance(4, both=0)
