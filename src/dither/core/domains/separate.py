"""Values one by one, each with bytes that identify it: the input of permanent (memoised) answers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from dither.core.domains.categories import Text
from dither.core.domains.domain import Circle, Domain
from dither.core.domains.nullable import Nullable
from dither.core.domains.paths import Paths
from dither.core.domains.plane import Plane
from dither.core.domains.records import Box
from dither.core.domains.routes import Routes
from dither.core.domains.sets import Several
from dither.foundation.arrays import Array


@dataclass(frozen=True, eq=False, repr=False)
class SeparateValues:
    """The values passed to `perturb`, one by one.

    `values[i]` can be passed to `perturb` separately. Two entries of `marks` are equal if and only if the
    values are. The reports of all values together have the shape `shape`, followed by the shape of one
    report.
    """

    values: list[Any]
    marks: list[bytes]
    shape: tuple[int, ...]


def separate_values(domain: Domain, values: object) -> SeparateValues:
    """Return the values of a domain one by one; raise OutsideDomain if one is not in the domain."""
    if isinstance(domain, Routes):  # Paths that are equal after resampling have the same report.
        rows = domain.check(values)
        marked = [row.astype("<u2").tobytes() for row in rows.reshape(-1, domain.points, 2)]
        return SeparateValues([[path] for path in Paths.of(values)], marked, rows.shape[:-2])
    if domain.line is not None:
        values = domain.line.plain(values)
    marks = _marks(domain, values)
    if isinstance(domain, Several):  # without the entries −1 that pad rows to the largest set of these people
        sets = [row[row >= 0] for row in marks]
        alone = [[[domain.labels[code] for code in codes]] for codes in sets]
        return SeparateValues(alone, [codes.tobytes() for codes in sets], marks.shape[:-1])
    shape = marks.shape[:-1]
    if isinstance(domain, Nullable):
        values = np.ma.masked_invalid(marks[..., 0])
        single: list[Any] = [values.reshape(-1)[index : index + 1] for index in range(values.size)]
        return SeparateValues(single, [row.tobytes() for row in np.ravel(marks)], shape)
    if isinstance(values, np.ma.MaskedArray) and domain.optional:
        values = np.where(np.ma.getmaskarray(values), np.array(None), values.data)
    rows = as_array(domain, values)
    rows = rows.reshape(-1, *rows.shape[len(shape) :])
    flat = np.ascontiguousarray(marks).reshape(-1, marks.shape[-1])
    return SeparateValues(
        [rows[index : index + 1] for index in range(len(rows))], [row.tobytes() for row in flat], shape
    )


def as_array(domain: Domain, values: Any, shape: tuple[int, ...] = ()) -> Array:
    """Return values as an array whose entries are the values.

    By itself, numpy would convert all labels to texts and sets of equal size to a further axis. `shape` is
    the expected shape of an array of sets, by default a list. Raise ValueError for other shapes.
    """
    if domain.cell_type == "sets":
        rows = np.empty(shape or len(values), dtype=object)
        if len(values) != len(rows):
            raise ValueError
        for index, value in enumerate(values):
            rows[index] = as_array(domain, value, shape[1:]) if len(shape) > 1 else value
        return rows
    text = domain.cell_type == "labels" or isinstance(domain, Text)
    return np.asarray(values, dtype=object if text else None)


def separate_paths(paths: Paths, shape: tuple[int, ...]) -> SeparateValues:
    """Return paths one by one: a complete path is one value."""
    points = np.asarray(paths.points, dtype="<f8") + 0.0  # so that −0 is 0
    ends = paths.offsets.tolist()
    parts = [points[begin:end] for begin, end in pairwise(ends)]
    return SeparateValues(parts, [part.tobytes() for part in parts], shape)


def _marks(domain: Domain, values: object) -> Array:
    """Return a row of numbers for each value; rows are equal if and only if the values are."""
    checked = domain.check(values)
    if isinstance(domain, Text):
        return checked
    if isinstance(domain, Several):
        return np.asarray(checked, dtype="<i8")
    if domain.cell_type in ("codes", "labels"):  # codes of labels
        return np.asarray(checked, dtype="<i8")[..., None]
    if isinstance(domain, Nullable):  # NaN is "no answer"
        missing = np.isnan(checked)
        inside = _marks(domain.of, np.where(missing, domain.of.low, checked))[..., 0]
        checked = np.where(missing, np.nan, inside)
    if isinstance(domain, Circle):
        checked = domain.wrap(checked)  # the period is the same angle as 0
    rows = np.asarray(checked, dtype="<f8") + 0.0  # so that −0 is 0
    return rows if isinstance(domain, Plane | Box) else rows[..., None]
