"""A seeded source repeats its bytes, spawns different ones, and says that it is not private."""

from __future__ import annotations

from dither.foundation.randomness import SYSTEM, Seeded


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
