"""Random words: exact, never shared between threads or processes, never reused."""

from __future__ import annotations

import itertools
import os
import pickle
import threading

import numpy as np
import pytest
from scipy import stats

from dither.errors import InvalidParameter
from dither.randomness import SYSTEM, Seeded, System
from tests.support.chi_square import ALARM


def test_a_seeded_source_repeats_and_says_that_it_is_not_private() -> None:
    assert Seeded(7).words(5).tolist() == Seeded(7).words(5).tolist()
    assert Seeded(7).words(5).tolist() != Seeded(8).words(5).tolist()
    assert "not private" in repr(Seeded(7))
    assert not Seeded(7).private
    assert SYSTEM.private


def test_the_seeded_stream_is_pinned() -> None:
    assert Seeded(1).words(2).tolist() == [7456170490244661627, 14392347848324787852]


def test_spawned_sources_differ() -> None:
    parent = Seeded(3)
    streams = [
        parent.spawn().words(4).tolist(),
        parent.spawn().words(4).tolist(),
        Seeded(3).words(4).tolist(),
    ]
    assert len({tuple(stream) for stream in streams}) == 3


def test_the_system_source_never_repeats() -> None:
    words = np.concatenate([SYSTEM.words(1000), System().words(1000), SYSTEM.words(1000)])
    assert np.unique(words).size == words.size
    small = {SYSTEM.take(8) for _ in range(5000)}
    assert len(small) == 5000


def test_threads_do_not_share_a_stream() -> None:
    found: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda: found.append(SYSTEM.words(2000))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    words = np.concatenate(found)
    assert np.unique(words).size == words.size


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_starts_a_new_stream() -> None:
    SYSTEM.take(8)  # the parent has a stream, and bytes in its buffer
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, SYSTEM.take(64) + SYSTEM.words(64).tobytes())
        os._exit(0)
    mine = SYSTEM.take(64) + SYSTEM.words(64).tobytes()
    os.waitpid(child, 0)
    theirs = os.read(read, len(mine))
    words = [np.frombuffer(part, np.uint64) for part in (mine, theirs)]
    assert not np.isin(words[0], words[1]).any()


def test_a_pickled_source_makes_its_own_stream() -> None:
    copy = pickle.loads(pickle.dumps(SYSTEM))
    assert copy.words(4).tolist() != SYSTEM.words(4).tolist()


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
