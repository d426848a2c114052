"""Monte Carlo: randomise the record as a device does, ask the classifier, and count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from dither.arrays import Floats
from dither.classifiers.case import Case
from dither.classifiers.feature_law import FeatureLaw
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
