"""Groups: marginals, correlations and variances by enumeration."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest

import dither as dt
from dither.errors import Infeasible, InvalidParameter
from dither.privacy import Nothing

TWO = dt.Categories(2)


@pytest.mark.parametrize("size", [2, 3, 5, 8])
@pytest.mark.parametrize("p", [Fraction(3, 5), Fraction(3, 4), Fraction(0.9)])
def test_groups_have_the_marginals_and_the_correlation(size: int, p: Fraction) -> None:
    least = dt.jrr.least_rho(size, p)
    for rho in (least, least / 3, Fraction(0), Fraction(1, 3), Fraction(1)):
        group = dt.jrr.group(size, p=p, rho=rho)
        assert min(group.masses) >= 0
        assert sum(group.masses) == 1
        mean = sum(count * mass for count, mass in enumerate(group.masses))
        pairs = sum(count * (count - 1) * mass for count, mass in enumerate(group.masses))
        assert mean == size * p
        assert pairs / (size * (size - 1)) == p * p + rho * p * (1 - p)
    with pytest.raises(Infeasible, match="expected a correlation from"):
        dt.jrr.group(size, p=p, rho=least - Fraction(1, 10**9))
    with pytest.raises(Infeasible):
        dt.jrr.group(size, p=p, rho=Fraction(11, 10))


def test_a_group_of_two_is_a_pair() -> None:
    p, rho = Fraction(7, 10), Fraction(-1, 5)
    group, jrr = dt.jrr.group(2, p=p, rho=rho), dt.JRR(TWO, p=p, rho=rho, n=100)
    pairs = jrr.pairs
    assert group.masses == tuple(Fraction(w, pairs.total) for w in (pairs.neither, 2 * pairs.one, pairs.both))
    assert group.count_variance(100, 7) == pytest.approx(jrr.count_variance(7), rel=1e-12)
    assert group.guarantee == jrr.guarantee


def test_larger_groups_gain_more_and_give_more_away() -> None:
    p = Fraction(3, 4)
    variances = [
        dt.jrr.group(size, p=p, rho=dt.jrr.least_rho(size, p)).count_variance(120, 0) for size in (2, 4, 8)
    ]
    assert variances == sorted(variances, reverse=True)
    losses = [
        dt.jrr.group(size, p=p, rho=dt.jrr.least_rho(size, p) / 2).guarantee.epsilon for size in (2, 4, 8)
    ]
    assert losses == sorted(losses)
    assert isinstance(dt.jrr.group(4, p=p, rho=dt.jrr.least_rho(4, p)).guarantee.bound, Nothing)
    with pytest.raises(InvalidParameter):
        dt.jrr.group(4, p=p, rho=0).count_variance(10, 0)
    for size, chance in ((1, 0.7), (2.5, 0.7), (3, 0.5), (3, 1), (3, "0.7")):
        with pytest.raises(InvalidParameter):
            dt.jrr.group(size, p=chance, rho=0)


def test_the_variance_of_a_group_by_enumeration() -> None:
    """One group of three: the law of the estimate for every number of holders."""
    p, group = Fraction(3, 4), dt.jrr.group(3, p=Fraction(3, 4), rho=Fraction(-1, 4))
    for n1 in range(4):
        mean = square = Fraction(0)
        for coins in product((False, True), repeat=3):
            mass = group.masses[sum(coins)] / math.comb(3, sum(coins))
            told = sum(coins[:n1]) + sum(not coin for coin in coins[n1:])
            count = (told - 3 * (1 - p)) / (2 * p - 1)
            mean, square = mean + mass * count, square + mass * count**2
        assert mean == n1
        assert group.count_variance(3, n1) == pytest.approx(float(square - mean**2), rel=1e-12)
