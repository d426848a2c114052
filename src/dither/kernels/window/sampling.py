"""Samples of sliding windows in blocks, with numpy, without branches and without rejection.

For each block: random bytes, a start for each value, one draw of an index, one selection. The cell is
start + index if an index was drawn, else a uniform cell, modulo N.
"""

from __future__ import annotations

from typing import final

import numpy as np

from dither.arrays import Array
from dither.kernels.window.integers import Sliding
from dither.kernels.window.start import StartRule
from dither.randomness import Source


@final
class SlidingSampler:
    """A sampler with buffers for blocks of up to `size` values; one per thread."""

    def __init__(self, window: Sliding, start: StartRule, size: int) -> None:
        self._lottery = window.lottery
        self._starts = start.sampler(window, size)
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
        # cell = uniform + drawn·(start + ticket − uniform); unsigned overflow cancels
        np.copyto(cell, ticket, casting="unsafe")
        start += cell
        start -= uniform
        start *= drawn
        np.add(start, uniform, out=cell)
        if self._mask is not None:
            cell &= self._mask
