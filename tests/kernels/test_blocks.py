"""Values are split evenly among threads, each of which has a source of its own."""

from __future__ import annotations

import numpy as np
import pytest

import dither as dt
from dither.kernels.kernel import BLOCK
from dither.randomness import Source
from tests.support.sources import ChosenBytes


class Counted(ChosenBytes):
    """A seeded source that counts how many were spawned from it."""

    def __init__(self) -> None:
        self._inner, self.spawned = dt.Seeded(1), 0

    def take(self, size: int) -> bytes:
        return self._inner.take(size)

    def spawn(self) -> Source:
        self.spawned += 1
        return dt.Seeded(100 + self.spawned)


@pytest.mark.parametrize(
    ("values", "threads", "spawned"), [(BLOCK, 4, 0), (BLOCK + 1, 4, 2), (3 * BLOCK, 2, 2), (3 * BLOCK, 8, 3)]
)
def test_no_thread_has_less_than_a_block_on_average(values: int, threads: int, spawned: int) -> None:
    source = Counted()
    reports = dt.PM(dt.Interval(0, 1), epsilon=1).perturb(
        np.full(values, 0.5), source=source, threads=threads
    )
    assert len(reports) == values
    assert source.spawned == spawned
