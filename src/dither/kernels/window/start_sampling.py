"""The starts of a block of values: arithmetic, or a look into a table; plain numpy in reused arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Final, final

import numpy as np

from dither.arrays import Array
from dither.kernels.window.integers import Sliding
from dither.kernels.window.start import Course, Track
from dither.kernels.window.start_table import COIN, Chart

_BITS: Final = np.uint32(COIN)
_LOWER: Final = np.uint32((1 << COIN) - 1)


class Starter(ABC):
    """The scratch space for the starts of up to `size` values at once, for one thread."""

    coins: np.dtype[Any] | None  # the random words that one value costs, if any

    @abstractmethod
    def __call__(self, block: Array, coins: Array) -> Array:
        """Give the start of each value of a block, in the cells' own dtype; valid until the next call."""


@final
class TrackStarter(Starter):
    """Starts along a straight line."""

    def __init__(self, track: Track, window: Sliding, size: int) -> None:
        coin = np.dtype(np.uint16 if track.fraction <= 16 else np.uint32)
        self._track = track
        self.coins = coin if track.fraction else None
        self._shift = coin.type(8 * coin.itemsize - track.fraction)
        self._place = np.empty(size)
        # Aims reach 2^31 − 1 for up to 2^16 cells: 32 bits are enough and faster.
        self._aim = np.empty(size, dtype=np.int32 if window.cells <= 1 << 16 else np.int64)
        self._start = np.empty(size, dtype=window.dtype)

    def __call__(self, block: Array, coins: Array) -> Array:
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
            np.right_shift(coins, self._shift, out=coins)
            np.add(aim, coins, out=aim, casting="unsafe")
            np.right_shift(aim, track.fraction, out=aim)
        np.copyto(start, aim, casting="unsafe")
        return start


@final
class ChartStarter(Starter):
    """Starts from a table."""

    def __init__(self, chart: Chart, window: Sliding, size: int) -> None:
        self._chart = chart
        self.coins = np.dtype(np.uint32) if chart.blended else None  # two coins of 16 bits
        self._place = np.empty(size)
        self._knot = np.empty(size, dtype=np.int32)
        self._index = np.empty(size, dtype=np.intp)
        self._entry = np.empty(size, dtype=chart.entries.dtype)
        self._start = np.empty(size, dtype=window.dtype)

    def __call__(self, block: Array, coins: Array) -> Array:
        count, chart = block.size, self._chart
        place, index, entry = self._place[:count], self._index[:count], self._entry[:count]
        np.subtract(block, chart.origin, out=place, dtype=np.float64)
        np.multiply(place, chart.scale, out=place)
        if not chart.blended:
            np.copyto(index, place, casting="unsafe")
            chart.entries.take(index, out=entry, mode="clip")
            return entry
        knot, start = self._knot[:count], self._start[:count]
        np.copyto(knot, place, casting="unsafe")
        np.right_shift(coins, _BITS, out=entry)
        knot += entry.view(np.int32)
        np.right_shift(knot, COIN, out=knot)
        np.copyto(index, knot)
        chart.entries.take(index, out=entry, mode="clip")
        coins &= _LOWER
        entry += coins
        np.right_shift(entry, _BITS, out=entry)
        np.copyto(start, entry, casting="unsafe")
        return start


def starter(course: Course, window: Sliding, size: int) -> Starter:
    """Give the starter of a course."""
    if isinstance(course, Chart):
        return ChartStarter(course, window, size)
    assert isinstance(course, Track)
    return TrackStarter(course, window, size)
