"""Paths: places in the order in which they were visited, many paths in one array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from dither.arrays import Array, Floats, Integers, Mask
from dither.domains.domain import numbers, regular
from dither.errors import InvalidParameter, OutsideDomain


@final
@dataclass(frozen=True, eq=False)
class Paths:
    """Paths of any lengths: all places in one array of pairs, and where each path begins and ends in it.

    >>> trips = Paths.of([[(0, 0), (1, 1)], [(2, 2)]])
    >>> len(trips), trips.lengths.tolist(), trips[0].tolist()
    (2, [2, 1], [[0.0, 0.0], [1.0, 1.0]])
    """

    points: Floats
    offsets: Integers

    def __post_init__(self) -> None:
        points, offsets = np.asarray(self.points), np.asarray(self.offsets)
        if points.ndim != 2 or points.shape[1] != 2:
            raise InvalidParameter("the places of paths are an array of pairs")
        if offsets.ndim != 1 or offsets.dtype.kind not in "iu" or not offsets.size:
            raise InvalidParameter(
                "offsets are whole numbers: where paths begin, and where the last one ends"
            )
        if offsets[0] != 0 or offsets[-1] != len(points):
            raise InvalidParameter("offsets go from 0 to the number of places")
        if not (np.diff(offsets) > 0).all():
            raise OutsideDomain("a path has no places; leave empty paths out")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "offsets", offsets.astype(np.int64, copy=False))

    @staticmethod
    def of(values: object) -> Paths:
        """Give paths from what a caller has.

        An array of pairs is one path, an array of arrays of pairs several of one length, and a list may hold
        paths of different lengths.
        """
        if isinstance(values, Paths):
            return values
        if _ragged(values):
            parts = [_pairs(part) for part in values]  # type: ignore[attr-defined]
            points = np.concatenate(parts) if parts else np.zeros((0, 2))
            return Paths(points, np.cumsum([0, *map(len, parts)], dtype=np.int64))
        array = numbers(values)
        if array.ndim > 3 or array.ndim == 0 or array.shape[-1] != 2:
            raise OutsideDomain("paths are an array of pairs, several such arrays, or a list of them")
        length = 1 if array.ndim == 1 else array.shape[-2]
        if length == 0:
            raise OutsideDomain("a path has no places; leave empty paths out")
        points = array.astype(np.float64, copy=False).reshape(-1, 2)
        return Paths(points, np.arange(0, len(points) + 1, length, dtype=np.int64))

    @staticmethod
    def begun(points: Floats, begins: Mask) -> Paths:
        """Give paths from all places and a mark at the first place of each path."""
        return Paths(points, np.append(np.flatnonzero(begins), len(points)).astype(np.int64))

    @property
    def lengths(self) -> Integers:
        """How many places each path has."""
        return np.diff(self.offsets)

    @property
    def begins(self) -> Mask:
        """Which places are the first of their path."""
        marks = np.zeros(len(self.points), dtype=np.bool_)
        marks[self.offsets[:-1]] = True
        return marks

    def like(self, points: object) -> Paths:
        """Give paths of the same lengths with other places."""
        places = numbers(points)
        return Paths(places.astype(np.float64, copy=False).reshape(-1, 2), self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> Floats:
        if not -len(self) <= index < len(self):
            raise IndexError("there are not so many paths")
        index %= len(self)
        return self.points[self.offsets[index] : self.offsets[index + 1]]

    def __iter__(self) -> Iterator[Floats]:
        return (self[index] for index in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.points, dtype=dtype)

    def __repr__(self) -> str:
        return f"Paths({len(self)} with {len(self.points)} places)"  # the places are secret


def _ragged(values: object) -> bool:
    """Say whether a list holds paths rather than the pairs of one path."""
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
        raise OutsideDomain("a path has no places; leave empty paths out")
    if array.ndim != 2 or array.shape[1] != 2:
        raise OutsideDomain("each path of a list is an array of pairs")
    return array.astype(np.float64, copy=False)
