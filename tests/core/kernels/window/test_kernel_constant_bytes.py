"""A single draw from a window takes the same bytes whatever the value and whatever is drawn."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pytest
from scipy import stats

import dither as dt
from dither.core.kernels.window.integers import Blocks, Sliding
from dither.foundation.randomness import Seeded
from tests.support.sources import Recorded, Repeated, Scripted

ZEROS = Repeated(b"\0")
LINE, CIRCLE = dt.Interval(0, 1), dt.Circle(1)
MECHANISMS = [
    dt.OGPM(LINE, epsilon=1, cells=64),
    dt.OGPM(CIRCLE, epsilon=1, cells=64),
    dt.PM(LINE, epsilon=1, cells=64),
    dt.Podium(LINE, epsilon=3, cells=256),
    dt.SW(LINE, epsilon=1, cells=64),
    dt.Podium(LINE, epsilon=1),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_every_value_takes_the_same_bytes(mechanism: dt.Mechanism) -> None:
    source = Recorded(Seeded(3))
    kernel = mechanism.question.kernel
    seen = {
        source.during(lambda value=value: kernel.draw_one(value, source))
        for value in np.linspace(0, 1, 301)
        for _ in range(10)
    }
    assert len(seen) == 1  # 3 010 draws: a late word has probability 2^−16 at most


@pytest.mark.parametrize("code", range(7))
def test_every_answer_takes_the_same_bytes(code: int) -> None:
    source = Recorded(Seeded(3))
    kernel = dt.KRR(dt.Categories(list("abcdefg")), epsilon=1).question.kernel
    assert {source.during(lambda: kernel.draw_one(code, source)) for _ in range(300)} == {(("take", 4),)}


@pytest.mark.parametrize("window", [Sliding.largest(1, 64, 20), Sliding.largest(40, 256, 3)], ids=repr)
def test_whether_a_ticket_is_drawn_does_not_change_the_bytes(window: Sliding) -> None:
    """Bytes, by the first word: fixed below the late words, four more for those, at any start."""
    early = (window.bits - 32) // 8
    tickets, first = window.width, window.step >> 32
    top = 1 << (8 * early)
    late = range(top - tickets, top)
    words = {0, first - 1, tickets * first - 1, tickets * first, top - tickets - 1, *late}
    for start in range(window.cells):
        for word in words:
            source = Recorded(Scripted(word.to_bytes(early, "little"), then=ZEROS))
            used = source.during(lambda start=start, source=source: window.draw_one(start, source))
            sizes = (early + 1, 4) if word in late else (early + 1,)
            assert used == tuple(("take", size) for size in sizes)


@pytest.mark.parametrize("late", [0, 0xFFFFFFFF])
def test_late_bits_come_between_the_word_and_the_cell(late: int) -> None:
    """The order of bytes is that of separate draws: permanent answers do not change."""
    window = Sliding.largest(1, 1 << 10, 300)
    top = 1 << 32
    for ticket in (0, 299):
        word = top - 300 + ticket
        parts = ((word, 4), (late, 4), (777 << 6, 2))
        source = Scripted(*(number.to_bytes(size, "little") for number, size in parts))
        assert window.draw_one(5, source) == (5 + ticket if late == 0 else 777)


@pytest.mark.parametrize("width", [1, 4])
def test_blocks_draw_as_their_lottery_says(width: int) -> None:
    window = Blocks.largest(1, 7 * width, width)
    first = window.step >> 32
    for cell in range(7 * width):
        for block in range(7):
            source = Scripted((block * first).to_bytes(4, "little"), b"\xff", then=ZEROS)
            assert window.draw_one(cell, source) == block * width + width - 1
        source = Scripted((7 * first).to_bytes(4, "little"), b"\xff", then=ZEROS)  # no ticket: the truth
        assert window.draw_one(cell, source) == cell // width * width + width - 1


# --- time: a two-sample test, after dudect [Reparaz, Balasch and Verbauwhede 2017]


Task = Callable[[], object]


def welch(first: Iterator[Task], second: Iterator[Task], size: int) -> float:
    """Return |t| of Welch's test between the times of two classes, interleaved at random and cropped.

    Tasks are made in the order in which they run. If one class is made after the other, the places in memory
    tell them apart: two classes of equal tasks then had |t| up to 22.
    """
    labels = np.random.default_rng(7).permutation(np.repeat([0, 1], size))
    tasks = [next((first, second)[label]) for label in labels.tolist()]
    times = np.empty(len(tasks))
    clock = time.perf_counter_ns
    for index, task in enumerate(tasks):
        begin = clock()
        task()
        times[index] = clock() - begin
    kept = times <= np.quantile(times, 0.9)  # interrupts and refills of the buffer are not the draw
    classes = [times[kept & (labels == label)] for label in (0, 1)]
    return abs(float(stats.ttest_ind(*classes, equal_var=False).statistic))


THRESHOLD = 10.0  # dudect calls 4.5 suspicious and 10 certain
SIZE = 20_000


def leak(first: Iterator[Task], second: Iterator[Task]) -> float:
    """Return the smallest |t| of three runs: a busy machine has bad moments, a leak has no good ones."""
    return min(welch(first, second, SIZE) for _ in range(3))


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", MECHANISMS[:1] + MECHANISMS[3:4], ids=repr)
def test_the_time_of_a_draw_does_not_tell_the_value(mechanism: dt.Mechanism) -> None:
    kernel, source, rng = mechanism.question.kernel, Seeded(5), np.random.default_rng(1)

    def tasks(value: Callable[[], float]) -> Iterator[Task]:
        while True:
            yield partial(kernel.draw_one, float(value()), source)

    # Both classes draw a number, so that both make a new float.
    assert leak(tasks(lambda: 0.3 + 0.0 * rng.random()), tasks(rng.random)) < THRESHOLD


def scripted(word: int) -> Iterator[Task]:
    """Yield draws from a window that read this word, and then a cell."""
    while True:
        yield partial(WINDOW.draw_one, 7, Scripted(word.to_bytes(4, "little"), b"\x33\x44"))


WINDOW = Sliding.largest(1, 1 << 16, 20_000)
INSIDE, OUTSIDE = (tickets * (WINDOW.step >> 32) + 12_345 for tickets in (10_000, 20_000))


@pytest.mark.slow
def test_the_time_of_a_draw_does_not_tell_whether_the_window_was_drawn() -> None:
    assert leak(scripted(INSIDE), scripted(OUTSIDE)) < THRESHOLD


@pytest.mark.slow
def test_the_timing_test_finds_no_leak_between_equal_draws() -> None:
    assert leak(scripted(INSIDE), scripted(INSIDE)) < THRESHOLD


@pytest.mark.slow
def test_the_timing_test_finds_a_leak() -> None:
    """The twin takes the uniform cell only where it is needed: then the time tells what was drawn."""
    source = Seeded(5)

    def tasks(drawn: bool) -> Iterator[Task]:
        def twin() -> int:
            return source.bits(32) if drawn else source.bits(32) + source.bits(16)

        while True:
            yield twin

    assert leak(tasks(drawn=True), tasks(drawn=False)) > THRESHOLD
