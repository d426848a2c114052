"""Many paths in one array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from dither.core.domains.domain import numbers, regular
from dither.errors import InvalidParameter, OutsideDomain
from dither.foundation.arrays import Array, Floats, Integers, Mask


@dataclass(frozen=True, eq=False)
class Paths:
    """Paths of any lengths: path i is `points[offsets[i]:offsets[i + 1]]`, an array of pairs.

    >>> trips = Paths.of([[(0, 0), (1, 1)], [(2, 2)]])
    >>> len(trips), trips.lengths.tolist(), trips[0].tolist()
    (2, [2, 1], [[0.0, 0.0], [1.0, 1.0]])
    """

    points: Floats
    offsets: Integers

    def __post_init__(self) -> None:
        points, offsets = np.asarray(self.points), np.asarray(self.offsets)
        if points.ndim != 2 or points.shape[1] != 2:
            raise InvalidParameter(f"points of paths must have the shape (n, 2), not {points.shape}")
        if offsets.ndim != 1 or offsets.dtype.kind not in "iu" or not offsets.size:
            raise InvalidParameter(
                "offsets must be integers: the index at which each path begins, and the end of the last"
            )
        if offsets[0] != 0 or offsets[-1] != len(points):
            raise InvalidParameter(
                f"offsets must begin with 0 and end with the number of places, {len(points)}"
            )
        if not (np.diff(offsets) > 0).all():
            raise OutsideDomain("expected at least one place in each path, got none; leave empty paths out")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "offsets", offsets.astype(np.int64, copy=False))

    @staticmethod
    def of(values: object) -> Paths:
        """Return arrays or lists as paths.

        An array of shape (n, 2) is one path. An array of shape (m, n, 2) is m paths of length n. A list may
        contain paths of different lengths.
        """
        if isinstance(values, Paths):
            return values
        if is_ragged(values):
            parts = [_pairs(part) for part in values]  # type: ignore[attr-defined]
            points = np.concatenate(parts) if parts else np.zeros((0, 2))
            return Paths(points, np.cumsum([0, *map(len, parts)], dtype=np.int64))
        array = numbers(values)
        if array.ndim > 3 or array.ndim == 0 or array.shape[-1] != 2:
            raise OutsideDomain(
                "expected paths as an array of shape (n, 2) or (m, n, 2), or as a list of such arrays"
            )
        length = 1 if array.ndim == 1 else array.shape[-2]
        if length == 0:
            raise OutsideDomain("expected at least one place in each path, got none; leave empty paths out")
        points = array.astype(np.float64, copy=False).reshape(-1, 2)
        return Paths(points, np.arange(0, len(points) + 1, length, dtype=np.int64))

    @staticmethod
    def split(points: Floats, begins: Mask) -> Paths:
        """Return paths from all places, and a mask that is True at the first place of each path."""
        return Paths(points, np.append(np.flatnonzero(begins), len(points)).astype(np.int64))

    @property
    def lengths(self) -> Integers:
        """The number of places of each path."""
        return np.diff(self.offsets)

    @property
    def begins(self) -> Mask:
        """A mask of all places, True at the first place of each path."""
        marks = np.zeros(len(self.points), dtype=np.bool_)
        marks[self.offsets[:-1]] = True
        return marks

    def like(self, points: object) -> Paths:
        """Return paths of the same lengths with other places."""
        locations = numbers(points)
        return Paths(locations.astype(np.float64, copy=False).reshape(-1, 2), self.offsets)

    def resample_times(self, times: object, points: int) -> Paths:
        """Return paths with `points` places at equal steps of time, interpolated between the given places.

        `times` are numbers, one for each place, which do not decrease along a path. A path without duration
        is resampled at equal steps of the index. `dt.Routes(area, points=…, by="order")` accepts such paths
        unchanged.

        >>> Paths.of([(0, 0), (1, 0), (2, 0)]).resample_times([0, 3, 4], points=3)[0].round(2).tolist()
        [[0.0, 0.0], [0.67, 0.0], [2.0, 0.0]]
        """
        at = numbers(times).astype(np.float64)
        if at.shape != (len(self.points),) or not np.isfinite(at).all():
            raise OutsideDomain("expected one finite number as the time of each place")
        if (np.diff(at)[~self.begins[1:]] < 0.0).any():
            raise OutsideDomain("expected times of a path that do not decrease; sort its places by time")
        made = []
        for begin, end in pairwise(self.offsets.tolist()):
            own = at[begin:end] if at[end - 1] > at[begin] else np.arange(end - begin, dtype=np.float64)
            steps = np.linspace(own[0], own[-1], points)
            made += [np.column_stack([np.interp(steps, own, side) for side in self.points[begin:end].T])]
        return Paths.of(np.array(made).reshape(-1, points, 2))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> Floats:
        if not -len(self) <= index < len(self):
            raise IndexError(f"expected an index of one of the {len(self)} paths, got {index}")
        index %= len(self)
        return self.points[self.offsets[index] : self.offsets[index + 1]]

    def __iter__(self) -> Iterator[Floats]:
        return (self[index] for index in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.points, dtype=dtype)

    def __repr__(self) -> str:
        return f"Paths({len(self)} with {len(self.points)} places)"  # the places are secret


def is_ragged(values: object) -> bool:
    """Return whether a list contains paths, and not the pairs of one path."""
    if isinstance(values, np.ndarray) or not isinstance(values, Sequence):
        return False
    return all(_depth(part) != 1 for part in values)


def _depth(part: object) -> int:
    if not isinstance(part, Sequence | np.ndarray):
        return 1
    if not len(part):
        return 2
    first = regular(part[0])
    return 2 if first is None or first.ndim > 0 else 1


def _pairs(part: object) -> Floats:
    array = numbers(part)
    if not array.size:
        raise OutsideDomain("expected at least one place in each path, got none; leave empty paths out")
    if array.ndim != 2 or array.shape[1] != 2:
        raise OutsideDomain("expected an array of shape (n, 2) for each path of a list")
    return array.astype(np.float64, copy=False)
