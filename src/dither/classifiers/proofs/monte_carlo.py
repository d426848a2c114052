"""Monte Carlo: randomise the record as a device does, ask the classifier, and count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, final

import numpy as np

from dither.arrays import Floats
from dither.classifiers.case import Case
from dither.classifiers.feature_law import FeatureLaw
from dither.classifiers.proofs.box import Box
from dither.randomness import Source

_BATCH: Final = 1 << 22  # numbers drawn at once


def draw_reports(laws: Sequence[FeatureLaw], values: Floats, source: Source) -> Floats:
    """Draw a randomised copy of values (last axis: features), as devices send it."""
    columns = [law.draw(values[..., place], source) for place, law in enumerate(laws)]
    return np.stack(columns, axis=-1)


def count_kept(case: Case, laws: Sequence[FeatureLaw], queries: int, source: Source) -> int:
    """Return how often the answer stays in this many independent trials."""
    size = max(1, _BATCH // case.subject.row.size)
    total = 0
    for begin in range(0, queries, size):
        count = min(size, queries - begin)
        values = np.repeat(case.values[None], count, axis=0)
        total += int(case.keeps(draw_reports(laws, values, source)).sum())
    return total


def uniform_points(low: Floats, high: Floats, count: int, source: Source) -> Floats:
    """Draw points from the uniform distribution between two corners, one row each."""
    shares = (source.words(count * low.size) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.asarray(low + (high - low) * shares.reshape(count, low.size))


@final
class UniformTest:
    """A test of boxes: ask about uniform points of a box, and accept it by how many change the answer."""

    def __init__(self, case: Case, size: int, accepts: Callable[[int], bool], source: Source) -> None:
        self._case, self._size, self._accepts, self._source = case, size, accepts, source
        self.queries = 0  # queries so far

    def __call__(self, box: Box) -> bool:
        """Return whether the box is accepted."""
        self.queries += self._size
        points = uniform_points(*box.corners, self._size, self._source)
        return self._accepts(int((~self._case.keeps(points)).sum()))
