"""Values one by one: what a permanent answer is given for, as bytes that are equal where the values are."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, final

import numpy as np

from dither.arrays import Array
from dither.domains import Categories, Circle, Domain, Paths, Plane, Text


@final
@dataclass(frozen=True, eq=False, repr=False)
class SeparateValues:
    """What `perturb` was given, one value after the other.

    `values[i]` can be given to `perturb` on its own. `marks[i]` are bytes that are equal where and only where
    the values are. The reports of all values, one after the other, have the shape `shape`, followed by that
    of one report.
    """

    values: list[Any]
    marks: list[bytes]
    shape: tuple[int, ...]


def separate_values(domain: Domain, values: object) -> SeparateValues:
    """Return the values of a domain one by one; raise OutsideDomain if one is not admitted."""
    marks = _marks(domain, values)
    shape = marks.shape[:-1]
    labelled = isinstance(domain, Text) or (
        isinstance(domain, Categories) and not isinstance(domain.labels, range)
    )
    rows = np.asarray(values, dtype=object if labelled else None)
    rows = rows.reshape(-1, *rows.shape[len(shape) :])
    flat = np.ascontiguousarray(marks).reshape(-1, marks.shape[-1])
    return SeparateValues(
        [rows[place : place + 1] for place in range(len(rows))], [row.tobytes() for row in flat], shape
    )


def separate_paths(paths: Paths, shape: tuple[int, ...]) -> SeparateValues:
    """Return paths one by one: a whole path is one value."""
    points = np.asarray(paths.points, dtype="<f8") + 0.0  # so that −0 is 0
    ends = paths.offsets.tolist()
    parts = [points[begin:end] for begin, end in pairwise(ends)]
    return SeparateValues(parts, [part.tobytes() for part in parts], shape)


def _marks(domain: Domain, values: object) -> Array:
    """Return a row of numbers for each value, equal where and only where the values are."""
    checked = domain.check(values)
    if isinstance(domain, Text):
        return checked
    if isinstance(domain, Categories):
        return np.asarray(checked, dtype="<i8")[..., None]
    if isinstance(domain, Circle):
        checked = domain.wrap(checked)  # a whole turn is no turn
    rows = np.asarray(checked, dtype="<f8") + 0.0  # so that −0 is 0
    return rows if isinstance(domain, Plane) else rows[..., None]
