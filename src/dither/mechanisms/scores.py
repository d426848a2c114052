"""Scores of public points: the quality of each point as the report of each true point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dither.errors import InvalidParameter
from dither.foundation.arrays import Floats

# The score of a point for a value, larger for better points: a function, or a table with a row per true
# point.
Score = Callable[[Any, Any], float] | Sequence[Sequence[float]]


def score_table(score: Score, points: Sequence[Any]) -> Floats:
    """Return the scores as a table with a row for each point as the value.

    Raise InvalidParameter if invalid.
    """
    size = len(points)
    table: object = score
    if callable(score):
        table = [[score(value, point) for point in points] for value in points]
    try:
        scores = np.array(table, dtype=np.float64)
    except (TypeError, ValueError):
        scores = np.empty(0)
    if scores.shape != (size, size) or not np.isfinite(scores).all():
        raise InvalidParameter(
            f"expected a function of a value and a point that returns finite numbers, or a table of "
            f"{size} × {size} of them, as the score; give one number for every value and point"
        )
    if not np.ptp(scores, axis=1).any():
        raise InvalidParameter(
            "expected scores that differ between points, got the same score for all points"
        )
    return scores + 0.0  # replaces −0 by 0


def score_gaps(scores: Floats) -> Floats:
    """Return the gap of each score below the best score of its row, relative to the largest gap."""
    gaps = scores.max(axis=1, keepdims=True) - scores
    return np.asarray(gaps / gaps.max())
