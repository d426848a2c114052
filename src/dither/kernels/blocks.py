"""Sliding windows drawn in blocks that stay in the cache: plain numpy, no branch, no rejection.

One block is: random bytes, the domain check, a start for each value, one lottery, one selection. The result
is `start + ticket` where a ticket was drawn and a uniform cell elsewhere, all modulo N.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, final

import numpy as np

from dither.arrays import Array
from dither.domains import Line
from dither.errors import InvalidParameter
from dither.kernels.window.integers import BLOCK, Sliding
from dither.kernels.window.start import Course
from dither.kernels.window.start_sampling import starter
from dither.randomness import Source

Sampler = Callable[[Array, Array, Source], None]  # a block of values, its cells to write, randomness
Single = Callable[[float, Source], int]  # one value: its cell

FEW: Final = 32  # below this many values plain integers are faster than arrays
SHARED_BLOCK: Final = 1 << 17  # threads that take turns at the interpreter need longer blocks than one alone


@final
class SlidingSampler:
    """The scratch space for one thread: blocks of up to `size` values."""

    def __init__(self, window: Sliding, course: Course, size: int) -> None:
        self._lottery = window.lottery
        self._starts = starter(course, window, size)
        word, cell, coin = self._lottery.dtype, window.dtype, self._starts.coins
        ends = np.cumsum([word.itemsize, cell.itemsize, coin.itemsize if coin else 0])
        self._random = np.empty(int(ends[-1]) * size, dtype=np.uint8)
        self._words = self._random[: ends[0] * size].view(word)
        self._uniform = self._random[ends[0] * size : ends[1] * size].view(cell)
        self._coins = self._random[ends[1] * size :].view(coin or np.uint8)
        self._drawn = np.empty(size, dtype=np.bool_)
        spare = window.cells != 1 << (8 * cell.itemsize)
        self._mask = cell.type(window.cells - 1) if spare else None

    def __call__(self, block: Array, cell: Array, source: Source) -> None:
        """Write a cell for each value of a block."""
        count = block.size
        if count == self._words.size:
            source.fill(self._random.data)
        else:
            for part in (self._words, self._uniform, self._coins):
                source.fill(part[:count].data)
        ticket, drawn = self._words[:count], self._drawn[:count]
        self._lottery.draw(ticket, drawn, source)
        start, uniform = self._starts(block, self._coins[:count]), self._uniform[:count]
        # cell = uniform + drawn·(start + ticket − uniform): the arithmetic wraps and comes back
        np.copyto(cell, ticket, casting="unsafe")
        start += cell
        start -= uniform
        start *= drawn
        np.add(start, uniform, out=cell)
        if self._mask is not None:
            cell &= self._mask


def draw_sliding(
    domain: Line, window: Sliding, course: Course, values: Array, source: Source, *, threads: int
) -> Array:
    """Give a cell of a window for each of the values (one axis)."""
    many: Callable[[int], Sampler] = lambda size: SlidingSampler(window, course, size)  # noqa: E731
    one: Single = lambda value, source: draw_few(window, course, value, source)  # noqa: E731
    return draw_each(domain, many, one, values, window.dtype, source, threads)


def draw_few(window: Sliding, course: Course, value: float, source: Source) -> int:
    """Give the cell of one value, in plain integers: the same law."""
    return window.draw_one(course.draw_one(value, source) & (window.cells - 1), source)


def draw_each(
    domain: Line,
    many: Callable[[int], Sampler],
    one: Single,
    values: Array,
    dtype: np.dtype[Any],
    source: Source,
    threads: int,
) -> Array:
    """Give a cell for each of the values (one axis): plain integers for a few, blocks for many.

    Raises `OutsideDomain` at the first block that holds a value outside.
    """
    if values.size < FEW:
        if values.size and not domain.admits(values):
            domain.refuse()
        return np.array([one(float(value), source) for value in values], dtype=dtype)

    def checking(size: int) -> Sampler:
        draw = many(size)

        def checked(block: Array, cell: Array, source: Source) -> None:
            if not domain.admits(block):
                domain.refuse()
            draw(block, cell, source)

        return checked

    return in_threads(checking, values, dtype, source, threads)


def in_threads(
    new: Callable[[int], Sampler], values: Array, dtype: np.dtype[Any], source: Source, threads: int
) -> Array:
    """Run samplers over all values, block by block, split evenly among threads.

    Numpy and the cipher release the interpreter's lock inside a block, so that threads run side by side.
    `new(size)` makes the sampler of one thread, for blocks of up to `size` values.
    """
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise InvalidParameter("the number of threads is a whole number, at least 1")
    cells = np.empty(values.size, dtype=dtype)
    threads = min(threads, -(-values.size // BLOCK))
    if threads <= 1:
        _in_blocks(new, values, cells, source, BLOCK)
        return cells
    share = -(-values.size // threads)
    parts = [slice(begin, begin + share) for begin in range(0, values.size, share)]
    sources = [source.spawn() for _ in parts]
    with ThreadPoolExecutor(threads) as pool:
        jobs = [
            pool.submit(_in_blocks, new, values[part], cells[part], own, SHARED_BLOCK)
            for part, own in zip(parts, sources, strict=True)
        ]
        for job in jobs:
            job.result()
    return cells


def _in_blocks(new: Callable[[int], Sampler], values: Array, cells: Array, source: Source, size: int) -> None:
    sampler = new(min(values.size, size))
    for begin in range(0, values.size, size):
        sampler(values[begin : begin + size], cells[begin : begin + size], source)
