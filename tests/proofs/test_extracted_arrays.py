"""Numpy's draws of arrays, which no theorem covers: each is what the extracted program draws.

The bytes that numpy takes are recorded and put into the order in which the program takes them. 10^7 draws are
compared in all, with fresh bytes in every run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.core.kernels.blocks import BLOCK
from dither.core.kernels.places.nearest import ListingKernel
from dither.core.kernels.window.integers import Lottery
from dither.foundation.randomness import SYSTEM, Seeded, Source
from tests.support.extracted import draw_many, high_bits, tapes_of
from tests.support.sources import Recorded

LINE, CIRCLE = dt.Interval(-3, 7.5), dt.Circle(360)
PLACES, CATEGORIES = 300, 1000


@dataclass(frozen=True)
class Comparison:
    """What numpy drew, and how the program is asked for the same draws."""

    cells: np.ndarray
    words: tuple[object, ...]
    inputs: np.ndarray
    tapes: np.ndarray
    late: int  # draws that a late word decided

    def differences(self, changed: np.ndarray | None = None) -> int:
        """Return how many draws differ; with other bytes if some are given."""
        drawn = draw_many(self.words, self.inputs, self.tapes if changed is None else changed)
        assert drawn.shape == self.cells.shape
        return int(np.count_nonzero(drawn != self.cells))


class Fills:
    """What numpy was given, fill by fill."""

    def __init__(self, given: list[bytes], lottery: Lottery) -> None:
        self._given: Iterator[bytes] = iter(given)
        self._lottery = lottery
        self.late = 0

    def array(self, dtype: Any) -> np.ndarray:
        return np.frombuffer(next(self._given), dtype=dtype)

    def late_words(self, words: np.ndarray) -> np.ndarray:
        """Return a late word for each draw: those that numpy took, and 0 where it took none."""
        late = np.zeros(words.size, dtype=np.uint64)
        first = (1 << (self._lottery.bits - 32)) - self._lottery.tickets
        hanging = words >= words.dtype.type(first)
        if hanging.any():
            late[hanging] = self.array("<u8") >> np.uint64(32)
        self.late += int(np.count_nonzero(hanging))
        return late


def numbers(lottery: Lottery, size: int) -> tuple[int, ...]:
    return (lottery.bits - 32) // 8, 4, size, lottery.tickets, lottery.step


def sliding(kernel: Any, values: np.ndarray, source: Source) -> Comparison:
    recorded = Recorded(source)
    cells = kernel.draw(values, recorded)
    window, rule, lottery = kernel.window, kernel.start, kernel.window.lottery
    fills, tapes = Fills(recorded.given, lottery), []
    coin = np.dtype(np.uint16 if rule.fraction <= 16 else np.uint32)
    bits = window.cells.bit_length() - 1
    ends = np.cumsum([BLOCK * lottery.dtype.itemsize, BLOCK * window.dtype.itemsize])
    for _ in range(0, values.size, BLOCK):
        random = fills.array(np.uint8)
        words, uniform = random[: ends[0]].view(lottery.dtype), random[ends[0] : ends[1]].view(window.dtype)
        cell = high_bits(uniform & window.dtype.type(window.cells - 1), bits)
        parts = [tapes_of(lottery, words, fills.late_words(words), cell)]
        if rule.fraction:
            coins = random[ends[1] :].view(coin) >> coin.type(8 * coin.itemsize - rule.fraction)
            parts.insert(0, high_bits(coins, rule.fraction))
        tapes.append(np.concatenate(parts, axis=1))
    aims = rule.aim(values) % (window.cells << rule.fraction)
    words_of = ("sliding", *numbers(lottery, bits), rule.fraction)
    return Comparison(cells, words_of, aims, np.concatenate(tapes), fills.late)


def response(kernel: Any, codes: np.ndarray, source: Source) -> Comparison:
    recorded = Recorded(source)
    lottery = kernel.window.lottery
    cells = kernel.window.draw(codes, recorded)
    fills, tapes = Fills(recorded.given, lottery), []
    for _ in range(0, codes.size, BLOCK):
        words = fills.array(lottery.dtype)
        tapes.append(tapes_of(lottery, words, fills.late_words(words)))
    words_of = ("blocks", *numbers(lottery, 0))
    return Comparison(cells, words_of, codes, np.concatenate(tapes), fills.late)


def nearest(kernel: Any, rows: np.ndarray, source: Source) -> Comparison:
    recorded = Recorded(source)
    window, lottery = kernel.window, kernel.window.lottery
    cells = kernel.draw(rows, recorded)
    fills, tapes = Fills(recorded.given, lottery), []
    for _ in range(0, rows.size, BLOCK):
        words = fills.array(lottery.dtype)
        late = fills.late_words(words)
        uniform = fills.array("<u8") % np.uint64(window.cells)
        tapes.append(tapes_of(lottery, words, late, high_bits(uniform, (window.cells - 1).bit_length())))
    lists = ";".join(",".join(map(str, row)) for row in kernel.lists.tolist())
    words_of = ("nearest", *numbers(lottery, window.cells), lists)
    return Comparison(cells, words_of, rows, np.concatenate(tapes), fills.late)


def listing() -> ListingKernel:
    rows = np.array([[(7 * row + step) % PLACES for step in range(40)] for row in range(PLACES)])
    return ListingKernel.largest(1.0, PLACES, rows)


Case = tuple[Callable[[Any, np.ndarray, Source], Comparison], Callable[[], Any], int]
CASES: dict[str, Case] = {  # the draw, its kernel, and blocks of 2^15 draws: 306 in all, 10 027 008 draws
    "Podium": (sliding, lambda: dt.Podium(LINE, epsilon=1).question.kernel, 96),
    "OGPM, circle": (sliding, lambda: dt.OGPM(CIRCLE, epsilon=1).question.kernel, 40),
    "OGPM, 16 cells": (sliding, lambda: dt.OGPM(LINE, epsilon=2, cells=16).question.kernel, 20),
    "PM, 2^20 cells": (sliding, lambda: dt.PM(LINE, epsilon=1, cells=1 << 20).question.kernel, 40),
    "OGPM, ε = 50": (sliding, lambda: dt.OGPM(LINE, epsilon=50).question.kernel, 20),
    "KRR": (response, lambda: dt.KRR(dt.Categories(CATEGORIES), epsilon=3).question.kernel, 50),
    "KRR, ε = 50": (response, lambda: dt.KRR(dt.Categories(CATEGORIES), epsilon=50).question.kernel, 10),
    "listing": (nearest, listing, 30),
}


def compare(name: str, source: Source, blocks: int | None = None) -> Comparison:
    draw, make, all_blocks = CASES[name]
    kernel, size = make(), BLOCK * (blocks or all_blocks)
    rng = np.random.default_rng(len(name))
    if draw is sliding:
        return draw(kernel, rng.uniform(kernel.line.low, kernel.line.high, size), source)
    return draw(kernel, rng.integers(0, kernel.outcomes, size), source)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_draw_of_an_array_is_the_programs(name: str) -> None:
    compared = compare(name, SYSTEM)
    assert compared.cells.size == BLOCK * CASES[name][2]
    assert compared.differences() == 0


def test_ten_million_draws_are_compared() -> None:
    assert sum(BLOCK * blocks for _, _, blocks in CASES.values()) == 10_027_008


class Hanging(Seeded):
    """A source whose words are often among the last, so that late words decide."""

    def fill(self, buffer: memoryview | bytearray) -> None:
        super().fill(buffer)
        array = np.frombuffer(memoryview(buffer).cast("B"), dtype=np.uint8)
        if array.size >= 4 * BLOCK:  # the words of a block come first
            array[: 4 * BLOCK].reshape(-1, 4)[::3, 1:] = 0xFF


# At ε = 50 words are of 64 bits, and nearly every draw is in the window, whatever its first bits are.
SHORT_WORDS = ["Podium", "OGPM, circle", "OGPM, 16 cells", "PM, 2^20 cells", "KRR", "listing"]


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORT_WORDS)
def test_so_is_every_draw_that_a_late_word_decides(name: str) -> None:
    compared = compare(name, Hanging(7), blocks=8)
    assert compared.late > 20
    assert compared.differences() == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORT_WORDS)
def test_another_byte_is_another_draw(name: str) -> None:
    """The comparison sees the bytes: with the last of the first word changed, many draws differ."""
    compared = compare(name, Seeded(3), blocks=1)
    draw, make, _ = CASES[name]
    fraction = make().start.fraction if draw is sliding else 0
    last = (fraction + 7) // 8 + (make().window.lottery.bits - 32) // 8 - 1
    changed = compared.tapes.copy()
    changed[:, last] ^= 0x80
    assert compared.differences(changed) > 100
