"""Points drawn uniformly from a box: to sample by, and to test boxes with."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

import numpy as np

from dither.arrays import Floats
from dither.classifiers.case import Case
from dither.classifiers.proofs.box import FeatureBox
from dither.randomness import Source


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

    def __call__(self, box: FeatureBox) -> bool:
        """Return whether the box is accepted."""
        self.queries += self._size
        points = uniform_points(*box.corners, self._size, self._source)
        return self._accepts(int((~self._case.keeps(points)).sum()))
