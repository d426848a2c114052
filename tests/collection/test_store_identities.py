"""The filter of identities: it finds what was added, and little else."""

from __future__ import annotations

import numpy as np

from dither.collection.store.identities import IdentityFilter


def identities(random: np.random.Generator, count: int) -> list[bytes]:
    data = random.bytes(16 * count)
    return [data[at : at + 16] for at in range(0, len(data), 16)]


def test_every_identity_is_found_in_its_segment_and_others_seldom() -> None:
    random, known = np.random.default_rng(1), IdentityFilter()
    assert known.find(identities(random, 3)) == {}
    added = {segment: identities(random, 5000 * (segment + 1)) for segment in range(3)}
    for segment, some in added.items():
        half = len(some) // 2
        known.put(segment, b"".join(some[:half]), room=len(some) - half)
        assert known.add(segment, b"".join(some[half:]))
    for segment, some in added.items():
        assert known.find(some)[segment] == some
    others = identities(random, 100_000)
    wrong = sum(map(len, known.find(others).values()))
    assert 10 < wrong < 100  # 0.00012 for each segment that is full: 36 of 300 000


def test_a_segment_without_room_is_set_anew() -> None:
    random, known = np.random.default_rng(2), IdentityFilter()
    first, more = identities(random, 5000), identities(random, 10)
    assert 7 not in known
    known.put(7, b"".join(first))
    assert not known.add(7, b"".join(more))
    known.put(7, b"".join([*first, *more]))
    known.put(8, b"".join(more))
    assert known.find(more) == {7: more, 8: more}
    known.keep({8})
    assert known.find([first[0], more[0]]) == {8: more[:1]}
    assert 7 not in known
