"""Samples of noise on a lattice in blocks, with numpy; no float is used after the step of the input."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from dither.core.kernels.alias import Alias, AliasSampler
from dither.core.kernels.window.start import LineStart
from dither.foundation.arrays import Array
from dither.foundation.randomness import Source


class NoiseSampler(ABC):
    """A sampler with buffers for blocks of up to `size` values; one per thread."""

    def __init__(self, noise: Alias, start: LineStart, size: int) -> None:
        self._start = start
        self._noise = AliasSampler(noise, size)
        coin = np.dtype(np.uint16 if start.fraction <= 16 else np.uint32)
        self._coins = np.empty(size if start.fraction else 0, dtype=coin)
        self._shift = coin.type(8 * coin.itemsize - start.fraction) if start.fraction else None
        self._place = np.empty(size)
        self._step = np.empty(size, dtype=np.int32)

    def __call__(self, block: Array, cell: Array, source: Source) -> None:
        """Write a report for each value of a block."""
        self._draw(self._steps(block, source), cell, source)

    def _steps(self, block: Array, source: Source) -> Array:
        count, start = block.size, self._start
        position, step = self._place[:count], self._step[:count]
        np.subtract(block, start.origin, out=position, dtype=np.float64)
        np.multiply(position, start.scale, out=position)
        np.copyto(step, position, casting="unsafe")
        if start.last is not None:
            # In integers: rounding of floats cannot lead to a step for which the ratio was not computed.
            np.clip(step, 0, start.last, out=step)
        if self._shift is not None:
            coins = self._coins[:count]
            source.fill(coins.data)
            np.right_shift(coins, self._shift, out=coins)
            np.add(step, coins, out=step, casting="unsafe")
            np.right_shift(step, start.fraction, out=step)
        return step

    @abstractmethod
    def _draw(self, step: Array, cell: Array, source: Source) -> None:
        """Write the reports of a block of steps."""


class ClampedSampler(NoiseSampler):
    """A step plus noise, clamped to the places from `first` to `last`."""

    def __init__(self, noise: Alias, start: LineStart, size: int, first: int, last: int) -> None:
        super().__init__(noise, start, size)
        self._first, self._last = first, last

    def _draw(self, step: Array, cell: Array, source: Source) -> None:
        step += self._noise.draw(step.size, source)
        np.clip(step, self._first, self._last, out=step)
        step -= self._first
        np.copyto(cell, step, casting="unsafe")


class RingSampler(NoiseSampler):
    """A step plus noise, modulo the number of cells (a power of two)."""

    def __init__(self, noise: Alias, start: LineStart, size: int, cells: int) -> None:
        super().__init__(noise, start, size)
        self._mask = np.uint16(cells - 1)

    def _draw(self, step: Array, cell: Array, source: Source) -> None:
        noise = self._noise.draw(step.size, source)
        np.add(noise, step, out=noise, casting="unsafe")
        noise &= self._mask
        np.copyto(cell, noise, casting="unsafe")


class BoundedSampler(NoiseSampler):
    """A step plus noise, drawn again until it is from 0 to `reach`."""

    def __init__(self, noise: Alias, start: LineStart, size: int, reach: int) -> None:
        super().__init__(noise, start, size)
        self._reach = np.uint16(reach)

    def _draw(self, step: Array, cell: Array, source: Source) -> None:
        step = step.astype(np.uint16)
        step -= self._reach
        position = self._noise.draw(step.size, source)
        position += step  # unsigned: a negative sum becomes large
        np.copyto(cell, position, casting="unsafe")
        again = np.flatnonzero(position > self._reach)
        while again.size:
            position = self._noise.draw(again.size, source)
            position += step.take(again)
            cell[again] = position  # values that are still outside are overwritten in the next round
            again = again.take(np.flatnonzero(position > self._reach))
