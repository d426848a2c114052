"""Random words, integers, coins and choices: exact."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from dither.errors import InvalidParameter
from dither.foundation.randomness import SYSTEM, Seeded
from tests.support.chi_square import ALARM


@pytest.mark.parametrize("bound", [2, 3, 7, 100, (1 << 61) + 1])
def test_integers_are_uniform(bound: int) -> None:
    draws = Seeded(5).integers(bound, 60_000)
    assert draws.min() >= 0
    assert draws.max() < bound
    parts = np.bincount(
        (draws.astype(object) * min(bound, 10) // bound).astype(int), minlength=min(bound, 10)
    )
    if bound != 100:
        assert stats.chisquare(parts).pvalue > ALARM


def test_scalar_draws_are_uniform() -> None:
    source = Seeded(6)
    draws = [source.below(5) for _ in range(20_000)]
    assert stats.chisquare(np.bincount(draws)).pvalue > ALARM
    coins = [source.coin(3, 10) for _ in range(20_000)]
    assert stats.binomtest(sum(coins), 20_000, 0.3).pvalue > ALARM
    assert source.below(1) == 0
    assert source.integers(1, 3).tolist() == [0, 0, 0]
    assert source.below(1 << 200) < 1 << 200


def test_coins_and_choices() -> None:
    source = Seeded(7)
    assert stats.binomtest(int(source.coins(2, 7, 30_000).sum()), 30_000, 2 / 7).pvalue > ALARM
    counts = np.bincount(source.choices([1, 0, 5, 2], 40_000), minlength=4)
    assert counts[1] == 0
    assert stats.chisquare(counts[[0, 2, 3]], 40_000 * np.array([1, 5, 2]) / 8).pvalue > ALARM


def test_large_fills_and_small_takes_are_one_stream() -> None:
    """Chunks do not repeat each other: every 8 bytes of a megabyte are different."""
    buffer = bytearray(1 << 20)
    SYSTEM.fill(buffer)
    words = np.frombuffer(buffer, np.uint64)
    assert np.unique(words).size == words.size


def test_bad_requests() -> None:
    source = Seeded(1)
    for bad in (lambda: source.below(0), lambda: source.coin(3, 2), lambda: source.integers(0, 1)):
        with pytest.raises(InvalidParameter):
            bad()
    with pytest.raises(InvalidParameter):
        source.choices([], 1)
    with pytest.raises(InvalidParameter):
        Seeded("7")  # type: ignore[arg-type]


def test_bits_are_fair() -> None:
    source = Seeded(2)
    ones = sum(source.bits(13).bit_count() for _ in range(5000))
    assert stats.binomtest(ones, 13 * 5000, 0.5).pvalue > ALARM
    assert {source.bits(1) for _ in range(50)} == {0, 1}
    assert list(itertools.islice((source.bits(0) for _ in range(3)), 3)) == [0, 0, 0]
