"""Noise on a lattice drawn in blocks that stay in the cache: plain numpy, no float after the input's step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import final

import numpy as np

from dither.arrays import Array
from dither.domains import Line
from dither.kernels.blocks import Single, draw_each
from dither.kernels.lattice.circular import Bounded, Ring
from dither.kernels.lattice.integers import Clamped, Lattice
from dither.kernels.table.alias import AliasSampler
from dither.kernels.window.start import Track
from dither.randomness import Source


class _Adder(ABC):
    """The scratch space for one thread: blocks of up to `size` values."""

    def __init__(self, lattice: Lattice, track: Track, size: int) -> None:
        self._track = track
        self._noise = AliasSampler(lattice.noise.table, size)
        coin = np.dtype(np.uint16 if track.fraction <= 16 else np.uint32)
        self._coins = np.empty(size if track.fraction else 0, dtype=coin)
        self._shift = coin.type(8 * coin.itemsize - track.fraction) if track.fraction else None
        self._place = np.empty(size)
        self._step = np.empty(size, dtype=np.int32)

    def __call__(self, block: Array, cell: Array, source: Source) -> None:
        """Write a report for each value of a block."""
        self._draw(self._steps(block, source), cell, source)

    def _steps(self, block: Array, source: Source) -> Array:
        count, track = block.size, self._track
        place, step = self._place[:count], self._step[:count]
        np.subtract(block, track.origin, out=place, dtype=np.float64)
        np.multiply(place, track.scale, out=place)
        if track.last is not None:
            np.clip(place, 0.0, track.last, out=place)
        np.copyto(step, place, casting="unsafe")
        if self._shift is not None:
            coins = self._coins[:count]
            source.fill(coins.data)
            np.right_shift(coins, self._shift, out=coins)
            np.add(step, coins, out=step, casting="unsafe")
            np.right_shift(step, track.fraction, out=step)
        return step

    @abstractmethod
    def _draw(self, step: Array, cell: Array, source: Source) -> None:
        """Write the reports of a block of steps."""


@final
class _ClampedAdder(_Adder):
    def __init__(self, lattice: Clamped, track: Track, size: int) -> None:
        super().__init__(lattice, track, size)
        self._first, self._last = lattice.steps, 2 * lattice.noise.reach

    def _draw(self, step: Array, cell: Array, source: Source) -> None:
        step += self._noise.draw(step.size, source)
        np.clip(step, self._first, self._last, out=step)
        step -= self._first
        np.copyto(cell, step, casting="unsafe")


@final
class _RingAdder(_Adder):
    def __init__(self, lattice: Ring, track: Track, size: int) -> None:
        super().__init__(lattice, track, size)
        self._mask = np.uint16(lattice.cells - 1)

    def _draw(self, step: Array, cell: Array, source: Source) -> None:
        noise = self._noise.draw(step.size, source)
        np.add(noise, step, out=noise, casting="unsafe")
        noise &= self._mask
        np.copyto(cell, noise, casting="unsafe")


@final
class _BoundedAdder(_Adder):
    def __init__(self, lattice: Bounded, track: Track, size: int) -> None:
        super().__init__(lattice, track, size)
        self._reach = np.uint16(lattice.noise.reach)

    def _draw(self, step: Array, cell: Array, source: Source) -> None:
        step = step.astype(np.uint16)
        step -= self._reach
        place = self._noise.draw(step.size, source)
        place += step  # below 0 wraps to far above
        np.copyto(cell, place, casting="unsafe")
        again = np.flatnonzero(place > self._reach)
        while again.size:
            place = self._noise.draw(again.size, source)
            place += step.take(again)
            cell[again] = place  # what is outside still is overwritten in the next round
            again = again.take(np.flatnonzero(place > self._reach))


def _adder(lattice: Lattice, track: Track, size: int) -> _Adder:
    if isinstance(lattice, Clamped):
        return _ClampedAdder(lattice, track, size)
    if isinstance(lattice, Ring):
        return _RingAdder(lattice, track, size)
    assert isinstance(lattice, Bounded)
    return _BoundedAdder(lattice, track, size)


def draw_lattice(
    domain: Line, lattice: Lattice, track: Track, values: Array, source: Source, *, threads: int
) -> Array:
    """Give a report for each of the values (one axis)."""
    one: Single = lambda value, source: _one(lattice, track, value, source)  # noqa: E731
    return draw_each(domain, partial(_adder, lattice, track), one, values, lattice.dtype, source, threads)


def _one(lattice: Lattice, track: Track, value: float, source: Source) -> int:
    step = track.aim_one(value)
    if track.fraction:
        step = (step + source.bits(track.fraction)) >> track.fraction
    return lattice.draw_one(step, source)
