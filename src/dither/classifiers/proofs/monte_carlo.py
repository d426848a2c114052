"""Monte Carlo: randomise the record as a device would, ask the classifier, and count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from dither.arrays import Floats
from dither.classifiers.case import Case
from dither.classifiers.subject import draw
from dither.mechanisms.base import Answering
from dither.randomness import Source

_BATCH: Final = 1 << 22  # numbers drawn at once


def kept(case: Case, parts: Sequence[Answering], queries: int, source: Source) -> int:
    """Count how often the answer stays in so many independent trials."""
    size = max(1, _BATCH // case.subject.row.size)
    total = 0
    for begin in range(0, queries, size):
        count = min(size, queries - begin)
        values = np.repeat(case.values[None], count, axis=0)
        total += int(case.keeps(draw(parts, values, source)).sum())
    return total


def uniform(low: Floats, high: Floats, count: int, source: Source) -> Floats:
    """Give points spread evenly between two corners."""
    shares = (source.words(count * low.size) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.asarray(low + (high - low) * shares.reshape(count, low.size))
