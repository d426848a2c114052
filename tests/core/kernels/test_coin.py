"""Two coins that fall together: the table, the draws, the law of how many say no."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

import dither as dt
from dither.core.kernels.coin import PairedCoins
from dither.errors import InvalidParameter
from tests.mechanisms.joint import brute
from tests.support.cases.joint import COINS, P
from tests.support.chi_square import ALARM
from tests.support.sources import Scripted

each = pytest.mark.parametrize("pairs", COINS.values(), ids=COINS)


@each
def test_the_table_is_what_was_asked(pairs: PairedCoins) -> None:
    again = PairedCoins.of(pairs.chance, pairs.covariance)
    assert again == pairs
    assert pairs.both + 2 * pairs.one + pairs.neither == pairs.total
    assert pairs.independent == (pairs.covariance == 0)


@pytest.mark.parametrize("covariance", [Fraction(-1, 10), Fraction(1, 4)])
def test_impossible_coins_do_not_exist(covariance: Fraction) -> None:
    with pytest.raises(InvalidParameter):
        PairedCoins.of(P, covariance)


@each
def test_tosses_follow_the_table(pairs: PairedCoins) -> None:
    tossed = pairs.draw(100_000, dt.Seeded(1))
    counts = np.bincount(tossed[:, 0] * 2 + tossed[:, 1], minlength=4)
    weights = (pairs.neither, pairs.one, pairs.one, pairs.both)
    expected = np.array([weight / pairs.total for weight in weights]) * 100_000
    assert not counts[expected == 0].any()
    counts, expected = counts[expected > 0], expected[expected > 0]
    assert stats.chisquare(counts, expected).pvalue > ALARM
    if counts.size > 3:  # a flipped sign of the correlation is another law
        twin = PairedCoins.of(pairs.chance, -pairs.covariance / 4)
        other = np.bincount(twin.draw(100_000, dt.Seeded(1)) @ [2, 1], minlength=4)
        assert (stats.chisquare(other, expected).pvalue < ALARM) == (not pairs.independent)


@pytest.mark.some(every=3)
@pytest.mark.parametrize("n", [4, 5])
@pytest.mark.parametrize("name", ["negative", "extreme", "positive"])
def test_people_are_paired_at_random(name: str, n: int) -> None:
    pairs, source = COINS[name], dt.Seeded(2)
    law = brute.law(pairs, n)
    size = 5_000
    counts = Counter(tuple(pairs.scatter(n, 1, source)[:, 0].tolist()) for _ in range(size))
    likely = [coins for coins, mass in law.items() if mass > 0]
    assert set(counts) <= set(likely)
    expected = [float(law[coins]) * size for coins in likely]
    assert stats.chisquare([counts[coins] for coins in likely], expected).pvalue > ALARM


def test_a_draw_between_two_words_is_decided_exactly() -> None:
    """Weights 1 : 3^50 − 1: the first ends inside the first cell of 2^64, where a second draw decides."""
    total = 3**50
    cell, rest = divmod(1 << 64, total)
    assert cell == 0
    for draw, index in ((rest - 1, 0), (rest, 1), (total - 1, 1)):
        low, high = draw & (2**64 - 1), draw >> 64
        # `below` takes as many bytes as the bound has, and drops the surplus bits from below
        surplus = -(total - 1).bit_length() % 8
        word = (draw << surplus).to_bytes(16, "little")
        source = Scripted(0, int.from_bytes(word[:8], "little"), int.from_bytes(word[8:], "little"))
        assert (low, high) == (draw, 0) or high
        assert source.choices((1, total - 1), 1).tolist() == [index]
    assert Scripted(1).choices((1, total - 1), 1).tolist() == [1]


def test_choices_skip_what_has_no_weight() -> None:
    big = 1 << 100
    drawn = dt.Seeded(3).choices((0, big, 0, 3 * big, 0), 50_000)
    assert set(drawn.tolist()) == {1, 3}
    assert abs((drawn == 1).mean() - 0.25) < 5 * math.sqrt(0.25 * 0.75 / 50_000)


def test_orders_are_uniform_and_equal_words_are_thrown_away() -> None:
    source = dt.Seeded(4)
    counts = Counter(tuple(source.permutation(4).tolist()) for _ in range(24_000))
    assert set(counts) == set(permutations(range(4)))
    assert stats.chisquare(list(counts.values())).pvalue > ALARM
    assert Scripted(5, 5, 9, 2).permutation(2).tolist() == [1, 0]
    assert dt.Seeded(5).permutation(0).size == 0


@pytest.mark.some(every=4)
@each
@pytest.mark.parametrize("n", [1, 2, 7, 60, 61])
def test_the_law_of_the_noes(pairs: PairedCoins, n: int) -> None:
    law = pairs.noes(n)
    exact = noes(pairs, n)
    assert law.first + law.masses.size <= n + 1
    for count, mass in enumerate(exact):
        place = count - law.first
        found = law.masses[place] if 0 <= place < law.masses.size else 0.0
        assert abs(Fraction(float(found)) - mass) <= mass * Fraction(n, 1 << 48) + Fraction(law.lost)


def noes(pairs: PairedCoins, n: int) -> list[Fraction]:
    """Give the exact law of how many coins say no, one pair after another."""
    total = pairs.total
    pair = [Fraction(pairs.both, total), Fraction(2 * pairs.one, total), Fraction(pairs.neither, total)]
    law = [pairs.chance, 1 - pairs.chance] if n % 2 else [Fraction(1)]
    for _ in range(n // 2):
        longer = [Fraction(0)] * (len(law) + 2)
        for index, mass in enumerate(law):
            for step in range(3):
                longer[index + step] += mass * pair[step]
        law = longer
    return law


def test_the_law_of_many_noes_is_as_exact_as_it_says() -> None:
    """Right to a part in 2^38 of themselves, but for what was cut off at the ends."""
    pairs, n = COINS["negative"], 1_000
    exact = [1]
    for _ in range(n // 2):
        padded = [0, 0, *exact, 0, 0]
        exact = [
            pairs.both * padded[place + 2] + 2 * pairs.one * padded[place + 1] + pairs.neither * padded[place]
            for place in range(len(exact) + 2)
        ]
    law, whole = pairs.noes(n), pairs.total ** (n // 2)
    for place, mass in enumerate(law.masses):
        right = Fraction(exact[law.first + place], whole)
        assert abs(Fraction(float(mass)) - right) <= right * Fraction(n, 1 << 48) + Fraction(law.lost)
    left_out = whole - sum(exact[law.first : law.first + law.masses.size])
    assert 0 < Fraction(left_out, whole) <= Fraction(law.lost)


@each
def test_rounded_coins_have_thresholds(pairs: PairedCoins) -> None:
    for bits in (8, 64):
        rounded = pairs.rounded(bits)
        first, second, third = rounded.thresholds(bits)
        assert 0 <= first <= second <= third <= 1 << bits
        assert second - first == third - second
        assert abs(rounded.chance - pairs.chance) <= Fraction(2, 1 << bits)
        assert (rounded.neither == 0) == (pairs.neither == 0)  # what cannot happen still cannot
        assert Fraction(first, 1 << bits) == Fraction(rounded.both, rounded.total)
    with pytest.raises(InvalidParameter):
        COINS["of doubles"].thresholds(64)
    with pytest.raises(InvalidParameter):
        pairs.thresholds(1)
