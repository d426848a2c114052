"""Alias tables at a small size: every column and every coin is tried, for every row of weights.

The table and the draw are the library's own, with rows of total 2^6 or 2^20 in place of 2^128.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from dither.core.kernels import alias
from dither.core.kernels.alias import Alias, AliasSampler
from tests.support.sources import Repeated, Scripted


def rows(total: int, length: int) -> list[list[int]]:
    """Return every row of so many weights with the total."""
    if length == 1:
        return [[total]]
    return [[first, *rest] for first in range(total + 1) for rest in rows(total - first, length - 1)]


@pytest.mark.parametrize("length", [2, 3])
def test_every_outcome_has_exactly_its_weight(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alias, "TOTAL_BITS", 6)
    listed = rows(64, length)
    assert len(listed) == {2: 65, 3: 2145}[length]
    bits = {2: 1, 3: 2}[length]
    for row in listed:
        table = Alias.of([row])
        # A column of `bits` bits and a coin of 6 − bits bits: one byte each, of which the top bits are read.
        found: Counter[int] = Counter()
        for column in range(1 << bits):
            for coin in range(1 << (6 - bits)):
                script = bytes([column << (8 - bits), coin << (2 + bits)])
                found[table.draw_one(Scripted(script))] += 1
        assert [found[outcome] for outcome in range(1 << bits)] == row + [0] * ((1 << bits) - length)


def test_a_row_is_drawn_by_its_own_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alias, "TOTAL_BITS", 8)
    listed = [[1, 255], [128, 128], [256, 0]]
    table = Alias.of(listed)
    for row, weights in enumerate(listed):
        scripts = [bytes([column << 7, coin << 1]) for column in range(2) for coin in range(128)]
        found = Counter(table.draw_one(Scripted(script), row) for script in scripts)
        assert [found[0], found[1]] == weights


@pytest.mark.parametrize("row", [[1, (1 << 20) - 1], [(1 << 19) + 5, (1 << 19) - 5], [77_777, 970_799]])
def test_arrays_have_the_same_law(row: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """One bit of column, 16 of the coin at once, and three more where those equal the threshold's."""
    monkeypatch.setattr(alias, "TOTAL_BITS", 20)
    table = Alias.of([row])
    counts = np.zeros(2, dtype=np.int64)
    for late in range(8):
        for column in range(2):
            columns, coins = np.full(1 << 16, column, np.uint16), np.arange(1 << 16, dtype=np.uint16)
            source = Scripted(columns, coins, then=Repeated(bytes([late << 5])))
            outcomes = AliasSampler(table, 1 << 16).draw(1 << 16, source)
            counts += np.bincount(outcomes, minlength=2)
    assert counts.tolist() == row
