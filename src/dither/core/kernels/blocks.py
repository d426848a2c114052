"""Processing of arrays in blocks that stay in the cache, split among threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np

from dither.foundation.arrays import Array
from dither.foundation.randomness import Source

Sampler = Callable[[Array, Array, Source], None]  # a block of inputs, its reports to write, randomness

BLOCK: Final = 1 << 15  # inputs processed together, so that they stay in the cache
FEW: Final = 32  # for fewer values than this, Python integers are faster than arrays
SHARED_BLOCK: Final = 1 << 17  # longer, because several threads share the interpreter's lock


def in_threads(
    new: Callable[[int], Sampler], values: Array, dtype: np.dtype[Any], source: Source, threads: int
) -> Array:
    """Draw reports for all values, block by block, split evenly among threads.

    Numpy releases the interpreter's lock inside a block, and so does the cipher of `cryptography` 50 (version
    46 does not): two threads took 0.80 (0.95) of the time of one for 3·10⁷ values of `Podium`.
    `new(size)` returns the sampler of one thread, for blocks of up to `size` values.
    """
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


def split_rows(draw: Callable[[Array, Source], Array], inputs: Array, source: Source, threads: int) -> Array:
    """Draw reports for rows of inputs, split evenly among threads; each thread has its own source."""
    size = -(-len(inputs) // threads)
    if threads == 1 or size < FEW:
        return draw(inputs, source)
    parts = [inputs[begin : begin + size] for begin in range(0, len(inputs), size)]
    with ThreadPoolExecutor(threads) as pool:
        jobs = [pool.submit(draw, part, source.spawn()) for part in parts]
        return np.concatenate([job.result() for job in jobs])
