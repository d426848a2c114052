"""Numpy's draws of whole arrays, which no theorem covers: each is what the extracted program draws.

The bytes that numpy takes are recorded and put into the order in which the program takes them. 10^7 draws are
compared in all, with fresh bytes in every run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.core.kernels.kernel import BLOCK
from dither.core.kernels.window.integers import Lottery
from dither.foundation.randomness import SYSTEM, Seeded, Source
from tests.support.extracted import draw_many, places, tapes_of
from tests.support.sources import Recorded

LINE, CIRCLE = dt.Interval(-3, 7.5), dt.Circle(360)
FEW = 2  # blocks of a case of the default suite; the program draws 10^7 in all in the slow one


def blocks(count: int) -> int:
    return count * BLOCK


class Fills:
    """What numpy was given, fill by fill."""

    def __init__(self, given: list[bytes]) -> None:
        self._given: Iterator[bytes] = iter(given)

    def array(self, dtype: Any) -> np.ndarray:
        return np.frombuffer(next(self._given), dtype=dtype)

    def late(self, lottery: Lottery, words: np.ndarray) -> np.ndarray:
        """Return a late word for each draw: those that numpy took, and 0 where it took none."""
        late = np.zeros(words.size, dtype=np.uint64)
        hanging = words >= words.dtype.type((1 << (lottery.bits - 32)) - lottery.tickets)
        if hanging.any():
            late[hanging] = self.array("<u8") >> np.uint64(32)
        return late


def sizes(lottery: Lottery) -> tuple[int, int]:
    return (lottery.bits - 32) // 8, 4


def sliding(mechanism: Any, values: np.ndarray, source: Source) -> tuple[np.ndarray, np.ndarray, int]:
    """Return numpy's cells, the program's, and how often a late word decided."""
    recorded = Recorded(source)
    cells = mechanism.kernel.draw(values, recorded)
    kernel = mechanism.kernel
    window, rule, lottery = kernel.window, kernel.start, kernel.window.lottery
    fills, tapes, hanging = Fills(recorded.given), [], 0
    coin = np.dtype(np.uint16 if rule.fraction <= 16 else np.uint32)
    bits = window.cells.bit_length() - 1
    for _ in range(0, values.size, BLOCK):
        random = fills.array(np.uint8)
        ends = np.cumsum([BLOCK * lottery.dtype.itemsize, BLOCK * window.dtype.itemsize])
        words, uniform = random[: ends[0]].view(lottery.dtype), random[ends[0] : ends[1]].view(window.dtype)
        late = fills.late(lottery, words)
        hanging += int(np.count_nonzero(words >= lottery.dtype.type((1 << (lottery.bits - 32)) - lottery.tickets)))
        parts = [tapes_of(lottery, words, late, places(uniform & window.dtype.type(window.cells - 1), bits))]
        if rule.fraction:
            coins = random[ends[1] :].view(coin) >> coin.type(8 * coin.itemsize - rule.fraction)
            parts.insert(0, places(coins, rule.fraction))
        tapes.append(np.concatenate(parts, axis=1))
    aims = rule.aim(values) % (window.cells << rule.fraction)
    words_of = ("sliding", *sizes(lottery), bits, lottery.tickets, lottery.step, rule.fraction)
    return cells, draw_many(words_of, aims, np.concatenate(tapes)), hanging


def response(mechanism: Any, codes: np.ndarray, source: Source) -> tuple[np.ndarray, np.ndarray, int]:
    recorded = Recorded(source)
    window = mechanism.kernel.window
    lottery = window.lottery
    cells = window.draw(codes, recorded)
    fills, tapes, hanging = Fills(recorded.given), [], 0
    for _ in range(0, codes.size, BLOCK):
        words = fills.array(lottery.dtype)
        tapes.append(tapes_of(lottery, words, fills.late(lottery, words)))
        hanging += int(np.count_nonzero(words >= lottery.dtype.type((1 << (lottery.bits - 32)) - lottery.tickets)))
    words_of = ("blocks", *sizes(lottery), 0, lottery.tickets, lottery.step)
    return cells, draw_many(words_of, codes, np.concatenate(tapes)), hanging


def nearest(mechanism: Any, rows: np.ndarray, source: Source) -> tuple[np.ndarray, np.ndarray, int]:
    recorded = Recorded(source)
    kernel = mechanism.kernel
    window, lottery = kernel.window, kernel.window.lottery
    cells = kernel.draw(rows, recorded)
    fills, tapes, hanging = Fills(recorded.given), [], 0
    for _ in range(0, rows.size, BLOCK):
        words = fills.array(lottery.dtype)
        late = fills.late(lottery, words)
        uniform = fills.array("<u8") % np.uint64(window.cells)
        number = places(uniform, (window.cells - 1).bit_length())
        hanging += int(np.count_nonzero(words >= lottery.dtype.type((1 << (lottery.bits - 32)) - lottery.tickets)))
        tapes.append(np.concatenate([tapes_of(lottery, words, late, number)], axis=1))
    lists = ";".join(",".join(map(str, row)) for row in kernel.lists.tolist())
    words_of = ("nearest", *sizes(lottery), window.cells, lottery.tickets, lottery.step, lists)
    return cells, draw_many(words_of, rows, np.concatenate(tapes)), hanging


def listing() -> Any:
    from dither.core.kernels.places.nearest import ListingKernel

    rows = np.array([[(7 * row + step) % 300 for step in range(40)] for row in range(300)])
    return ListingKernel.largest(1.0, 300, rows)


class Bare:
    """A kernel without a mechanism."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel


def uniform(domain: Any, count: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(domain.low, domain.high, blocks(count))


CASES: dict[str, tuple[Any, Any, int]] = {
    # The draw, what draws, and how many blocks of 2^15 in the slow suite: 306 in all, 1.003·10^7 draws.
    "Podium": (sliding, lambda: dt.Podium(LINE, epsilon=1), 96),
    "OGPM, circle": (sliding, lambda: dt.OGPM(CIRCLE, epsilon=1), 40),
    "OGPM, 16 cells": (sliding, lambda: dt.OGPM(LINE, epsilon=2, cells=16), 20),
    "PM, 2^20 cells": (sliding, lambda: dt.PM(LINE, epsilon=1, cells=1 << 20), 40),
    "OGPM, ε = 50": (sliding, lambda: dt.OGPM(LINE, epsilon=50), 20),
    "KRR": (response, lambda: dt.KRR(dt.Categories(1000), epsilon=3), 50),
    "KRR, ε = 50": (response, lambda: dt.KRR(dt.Categories(1000), epsilon=50), 10),
    "listing": (nearest, lambda: Bare(listing()), 30),
}


def inputs(name: str, mechanism: Any, count: int) -> np.ndarray:
    rng = np.random.default_rng(len(name))
    draw = CASES[name][0]
    if draw is sliding:
        return uniform(mechanism.domain, count, len(name))
    return rng.integers(0, 1000 if draw is response else 300, blocks(count))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_draw_of_an_array_is_the_programs(name: str) -> None:
    draw, make, count = CASES[name]
    mechanism = make()
    cells, expected, _ = draw(mechanism, inputs(name, mechanism, count), SYSTEM)
    assert cells.size == blocks(count)
    assert np.count_nonzero(cells != expected) == 0


def test_ten_million_draws_are_compared() -> None:
    assert sum(blocks(count) for _, _, count in CASES.values()) >= 10**7


class Hanging(Seeded):
    """A source whose words are often among the last, so that late words decide."""

    def fill(self, buffer: memoryview | bytearray) -> None:
        super().fill(buffer)
        view = memoryview(buffer).cast("B")
        array = np.frombuffer(view, dtype=np.uint8)
        if array.size >= 4 * BLOCK:  # the words of a block come first
            words = array[: 4 * BLOCK].reshape(-1, 4)
            words[::3, 2:] = 0xFF


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Podium", "OGPM, circle", "OGPM, 16 cells", "PM, 2^20 cells", "KRR", "listing"])
def test_so_is_every_draw_that_a_late_word_decides(name: str) -> None:
    draw, make, _ = CASES[name]
    mechanism = make()
    cells, expected, hanging = draw(mechanism, inputs(name, mechanism, FEW), Hanging(7))
    assert hanging > 0
    assert np.count_nonzero(cells != expected) == 0
