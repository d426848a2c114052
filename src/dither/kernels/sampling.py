"""Sliding windows drawn in blocks that stay in the cache: plain numpy, no branch, no rejection.

One block is: random bytes, the domain check, a start for each value, one lottery, one selection. The result
is `start + ticket` where a ticket was drawn and a uniform cell elsewhere, all modulo N.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from dither.domains import Line
from dither.errors import InvalidParameter
from dither.kernels.placement import Track
from dither.kernels.window import BLOCK, Sliding
from dither.randomness import Source

Array = NDArray[Any]
Sampler = Callable[[Array, Array, Source], None]  # values, cells to write, randomness

FEW: Final = 32  # below this many values plain integers are faster than arrays


@final
class SlidingSampler:
    """The scratch space for one thread, and the loop over blocks."""

    def __init__(self, domain: Line, window: Sliding, track: Track, size: int) -> None:
        size = min(size, BLOCK)
        self._domain, self._window, self._track = domain, window, track
        self._lottery = window.lottery
        cell = window.dtype
        coin = np.dtype(np.uint16 if track.fraction <= 16 else np.uint32)
        ends = np.cumsum(
            [self._lottery.dtype.itemsize, cell.itemsize, coin.itemsize if track.fraction else 0]
        )
        self._random = np.empty(int(ends[-1]) * size, dtype=np.uint8)
        self._words = self._random[: ends[0] * size].view(self._lottery.dtype)
        self._uniform = self._random[ends[0] * size : ends[1] * size].view(cell)
        self._coins = self._random[ends[1] * size :].view(coin)
        self._shift = coin.type(8 * coin.itemsize - track.fraction)
        self._drawn = np.empty(size, dtype=np.bool_)
        self._place = np.empty(size)
        # Aims reach 2^31 − 1 for up to 2^16 cells: 32 bits are enough and faster.
        self._aim = np.empty(size, dtype=np.int32 if window.cells <= 1 << 16 else np.int64)
        self._start = np.empty(size, dtype=cell)
        spare = window.cells != 1 << (8 * cell.itemsize)
        self._mask = cell.type(window.cells - 1) if spare else None

    def __call__(self, values: Array, cells: Array, source: Source) -> None:
        """Write a cell for each value; raise `OutsideDomain` at the first block that holds one outside."""
        for begin in range(0, values.size, BLOCK):
            block = values[begin : begin + BLOCK]
            if not self._domain.admits(block):
                self._domain.refuse()
            self._draw(block, cells[begin : begin + BLOCK], source)

    def _draw(self, block: Array, cell: Array, source: Source) -> None:
        count = block.size
        if count == self._words.size:
            source.fill(self._random.data)
        else:
            for part in (self._words, self._uniform, self._coins):
                source.fill(part[:count].data)
        ticket, drawn = self._words[:count], self._drawn[:count]
        self._lottery.draw(ticket, drawn, source)
        start, uniform = self._starts(block), self._uniform[:count]
        # cell = uniform + drawn·(start + ticket − uniform): the arithmetic wraps and comes back
        np.copyto(cell, ticket, casting="unsafe")
        start += cell
        start -= uniform
        start *= drawn
        np.add(start, uniform, out=cell)
        if self._mask is not None:
            cell &= self._mask

    def _starts(self, block: Array) -> Array:
        count, track = block.size, self._track
        place, aim, start = self._place[:count], self._aim[:count], self._start[:count]
        np.subtract(block, track.origin, out=place, dtype=np.float64)
        np.multiply(place, track.scale, out=place)
        if track.last is not None and not track.fraction:
            np.clip(place, 0.0, track.last, out=place)
            if start.itemsize <= 2:
                np.copyto(start, place, casting="unsafe")
                return start
        np.copyto(aim, place, casting="unsafe")
        if track.fraction:
            coins = self._coins[:count]
            np.right_shift(coins, self._shift, out=coins)
            np.add(aim, coins, out=aim, casting="unsafe")
            np.right_shift(aim, track.fraction, out=aim)
        np.copyto(start, aim, casting="unsafe")
        return start


def draw_sliding(
    domain: Line, window: Sliding, track: Track, values: Array, source: Source, *, threads: int
) -> Array:
    """Give a cell for each of the values (one axis): plain integers for a few, blocks for many."""
    if values.size >= FEW:
        return in_threads(
            lambda size: SlidingSampler(domain, window, track, size), values, window.dtype, source, threads
        )
    if values.size and not domain.admits(values):
        domain.refuse()
    return np.array([draw_few(window, track, float(value), source) for value in values], dtype=window.dtype)


def draw_few(window: Sliding, track: Track, value: float, source: Source) -> int:
    """Give the cell of one value, in plain integers: the same law."""
    start = track.aim_one(value)
    if track.fraction:
        start = (start + source.bits(track.fraction)) >> track.fraction
    return window.draw_one(start & (window.cells - 1), source)


def in_threads(
    new: Callable[[int], Sampler], values: Array, dtype: np.dtype[Any], source: Source, threads: int
) -> Array:
    """Run a sampler over all values, split evenly among threads; numpy and the cipher release the lock."""
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise InvalidParameter("the number of threads is a whole number, at least 1")
    cells = np.empty(values.size, dtype=dtype)
    threads = min(threads, -(-values.size // BLOCK))
    if threads <= 1:
        new(values.size)(values, cells, source)
        return cells
    share = -(-values.size // (threads * BLOCK)) * BLOCK
    parts = [slice(begin, begin + share) for begin in range(0, values.size, share)]
    sources = [source.spawn() for _ in parts]
    with ThreadPoolExecutor(threads) as pool:
        jobs = [
            pool.submit(new(share), values[part], cells[part], own)
            for part, own in zip(parts, sources, strict=True)
        ]
        for job in jobs:
            job.result()
    return cells
