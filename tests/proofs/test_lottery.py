"""Windows at a small size: every random byte is tried, and the counts are the integers of the proof.

The draw is the library's own, with words of 8 bits and 8 late bits in place of 32 and 32.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pytest

from dither.core.kernels.window import integers as draw
from dither.core.kernels.window.integers import Blocks, Lottery, Sliding
from dither.foundation.randomness import Source
from tests.support.sources import Repeated, Scripted, law

BITS = 16
TOTAL = 1 << BITS


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draw, "LATE", 8)
    monkeypatch.setattr(draw, "MOST", BITS)


CASES = [(1, 1), (1, 65_279), (2, 700), (3, 5), (3, 255), (3, 256), (3, 257), (5, 13_000), (16, 3_840)]


@pytest.mark.parametrize(("tickets", "step"), CASES)
def test_every_ticket_has_exactly_its_step(tickets: int, step: int) -> None:
    lottery = Lottery(tickets, step, BITS)

    def ticket(source: Source) -> int | None:
        drawn, number, _ = lottery.draw_one(source, 0)
        return number if drawn else None

    expected = {number: Fraction(step, TOTAL) for number in range(tickets)}
    expected[None] = 1 - tickets * Fraction(step, TOTAL)  # type: ignore[index]
    assert law(ticket) == expected
    assert lottery.nothing == expected[None]  # type: ignore[index]


@pytest.mark.parametrize(("tickets", "step"), CASES)
def test_arrays_have_the_same_law(tickets: int, step: int) -> None:
    lottery = Lottery(tickets, step, BITS)
    counts = np.zeros(tickets, dtype=np.int64)
    nothing = 0
    for late in range(256):
        words, drawn = np.arange(256, dtype=np.uint64), np.empty(256, dtype=np.bool_)
        lottery.draw(words, drawn, Repeated((late << 56).to_bytes(8, "little")))
        counts += np.bincount(words[drawn].astype(np.int64), minlength=tickets)
        nothing += int((~drawn).sum())
    assert counts.tolist() == [step] * tickets
    assert nothing == TOTAL - tickets * step


def cell_law(one: Callable[[Source], int], tickets: int, extra: int) -> dict[int, Fraction]:
    """Return the law of a cell: every word, every late byte after the last words, all extra bits."""
    counts: Counter[int] = Counter()
    for word, more in product(range(256), range(1 << extra)):
        end = (more << (8 - extra),) if extra else ()
        late = word >= 256 - tickets
        for middle in [(byte,) for byte in range(256)] if late else [()]:
            source = Scripted(bytes((word, *middle, *end)))
            counts[one(source)] += 1 if late else 256
            assert not source.left
    assert counts.total() == TOTAL << extra
    return {cell: Fraction(count, TOTAL << extra) for cell, count in counts.items()}


@pytest.mark.some(every=2)
@pytest.mark.parametrize(
    ("cells", "width", "step"), [(4, 1, 900), (4, 3, 5_000), (8, 5, 257), (8, 3, 20_000)]
)
def test_every_cell_of_a_window_has_its_weight(cells: int, width: int, step: int) -> None:
    window = Sliding(cells, width, step, BITS)
    high, low = TOTAL - width * step + cells * step, TOTAL - width * step
    extra = cells.bit_length() - 1
    laws = [cell_law(partial(window.draw_one, start), width, extra) for start in range(cells)]
    for start, found in enumerate(laws):
        inside = {(start + place) % cells for place in range(width)}
        weights = {cell: high if cell in inside else low for cell in range(cells)}
        assert found == {cell: Fraction(weight, cells * TOTAL) for cell, weight in weights.items()}
    largest = max(one[cell] / other[cell] for one in laws for other in laws for cell in range(cells))
    assert largest == window.ratio == Fraction(high, low)


@pytest.mark.some(every=2)
@pytest.mark.parametrize(
    ("blocks", "width", "step"), [(2, 1, 20_000), (5, 1, 300), (3, 2, 9_000), (3, 4, 257)]
)
def test_every_cell_of_a_block_has_its_weight(blocks: int, width: int, step: int) -> None:
    window = Blocks(blocks * width, width, step, BITS)
    extra = width.bit_length() - 1
    laws = [cell_law(partial(window.draw_one, cell), blocks, extra) for cell in range(blocks * width)]
    for truth, found in enumerate(laws):
        for cell in range(blocks * width):
            own = cell // width == truth // width
            weight = TOTAL - (blocks - 1) * step if own else step
            assert found[cell] == Fraction(weight, width * TOTAL)
    largest = max(one[cell] / other[cell] for one in laws for other in laws for cell in one)
    assert largest == window.ratio


def test_a_lottery_off_by_one_word_is_found() -> None:
    """The broken twin decides the late word by ≤ in place of <."""

    def twin(source: Source) -> int | None:
        word, late_step = source.bits(8), 700 & 255
        if word < 2 * (700 >> 8):
            return word // (700 >> 8)
        return word - 254 if word >= 254 and source.bits(8) <= late_step else None

    assert law(twin)[0] != Fraction(700, TOTAL)
