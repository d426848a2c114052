"""Boxes: the records between two corners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from dither.arrays import Floats, Mask
from dither.errors import InvalidParameter


@final
@dataclass(frozen=True, init=False, repr=False)
class FeatureBox:
    """The records from a low corner to a high one, both included: one side for each randomised feature.

    >>> FeatureBox([0.2, 0], [0.8, 1])
    [0.2, 0.8] × [0, 1]
    """

    low: tuple[float, ...]
    high: tuple[float, ...]

    def __init__(self, low: object, high: object) -> None:
        first, last = _corner(low), _corner(high)
        if first.shape != last.shape or not first.size:
            raise InvalidParameter("a box needs two corners with one number for each feature")
        if not (first <= last).all():
            raise InvalidParameter(
                "the low corner of a box must not be above its high corner, and NaN is not allowed"
            )
        object.__setattr__(self, "low", tuple(first.tolist()))
        object.__setattr__(self, "high", tuple(last.tolist()))

    @property
    def corners(self) -> tuple[Floats, Floats]:
        """The low and the high corner as arrays."""
        return np.array(self.low), np.array(self.high)

    def contains(self, points: object) -> Mask:
        """Return for each point (last axis: features) whether it lies in the box."""
        places = np.asarray(points, dtype=np.float64)
        low, high = self.corners
        return np.asarray(((places >= low) & (places <= high)).all(axis=-1))

    def __len__(self) -> int:
        return len(self.low)

    def __repr__(self) -> str:
        sides = zip(self.low, self.high, strict=True)
        return " × ".join(f"[{low:.4g}, {high:.4g}]" for low, high in sides)


def _corner(values: Any) -> Floats:
    try:
        return np.atleast_1d(np.asarray(values, dtype=np.float64)).reshape(-1)
    except (TypeError, ValueError):
        raise InvalidParameter("a corner of a box must be a list of numbers") from None
