"""Values one by one, each with bytes that identify it: the input of permanent (memoised) answers."""

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
    """The values passed to `perturb`, one by one.

    `values[i]` can be passed to `perturb` separately. Two entries of `marks` are equal if and only if the
    values are. The reports of all values together have the shape `shape`, followed by that of one report.
    """

    values: list[Any]
    marks: list[bytes]
    shape: tuple[int, ...]


def separate_values(domain: Domain, values: object) -> SeparateValues:
    """Return the values of a domain one by one; raise OutsideDomain if one is not in the domain."""
    marks = _marks(domain, values)
    shape = marks.shape[:-1]
    rows = np.asarray(values, dtype=object if labelled(domain) else None)
    rows = rows.reshape(-1, *rows.shape[len(shape) :])
    flat = np.ascontiguousarray(marks).reshape(-1, marks.shape[-1])
    return SeparateValues(
        [rows[place : place + 1] for place in range(len(rows))], [row.tobytes() for row in flat], shape
    )


def labelled(domain: Domain) -> bool:
    """Return whether values are labels, which an array keeps as objects: numpy would make them all texts."""
    return isinstance(domain, Text) or (
        isinstance(domain, Categories) and not isinstance(domain.labels, range)
    )


def separate_paths(paths: Paths, shape: tuple[int, ...]) -> SeparateValues:
    """Return paths one by one: a whole path is one value."""
    points = np.asarray(paths.points, dtype="<f8") + 0.0  # so that −0 is 0
    ends = paths.offsets.tolist()
    parts = [points[begin:end] for begin, end in pairwise(ends)]
    return SeparateValues(parts, [part.tobytes() for part in parts], shape)


def _marks(domain: Domain, values: object) -> Array:
    """Return a row of numbers for each value; rows are equal if and only if the values are."""
    checked = domain.check(values)
    if isinstance(domain, Text):
        return checked
    if isinstance(domain, Categories):
        return np.asarray(checked, dtype="<i8")[..., None]
    if isinstance(domain, Circle):
        checked = domain.wrap(checked)  # the period is the same angle as 0
    rows = np.asarray(checked, dtype="<f8") + 0.0  # so that −0 is 0
    return rows if isinstance(domain, Plane) else rows[..., None]
