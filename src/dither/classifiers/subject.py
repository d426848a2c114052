"""A record, and which of its features are randomised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from dither.arrays import Array, Floats
from dither.errors import InvalidParameter, OutsideDomain, unknown_name


@final
@dataclass(frozen=True, eq=False, repr=False)
class Subject:
    """A record and the places of its randomised features. Contains private values, and shows none."""

    row: Array
    shape: tuple[int, ...]
    columns: tuple[int, ...]

    @staticmethod
    def of(x: Any, chosen: Sequence[str] | None, names: Sequence[str] | None) -> Subject:
        """Return a record with its chosen features (all, for None), found by name or by position."""
        if hasattr(x, "keys"):
            # The keys of a pandas series are names, but iterating over it yields the values.
            names = [str(name) for name in x.keys()] if names is None else names  # noqa: SIM118
            row = _row([_value(x, name) for name in names])
            shape: tuple[int, ...] = row.shape
        else:
            array = _row(x)
            row, shape = array.reshape(-1), array.shape or (1,)
        if names is not None and len(names) != row.size:
            raise InvalidParameter(f"{len(names)} names do not match the {row.size} features of the record")
        return Subject(row, shape, _columns(row.size, chosen, names))

    @property
    def values(self) -> Floats:
        """The values that are randomised."""
        try:
            return self.row[list(self.columns)].astype(np.float64)
        except (TypeError, ValueError):
            raise OutsideDomain("a randomised feature is not a number") from None

    def rows(self, points: Floats) -> Array:
        """Return copies of the record in its shape, each with one row of points as its randomised values."""
        rows = np.repeat(self.row[None], len(points), axis=0)
        rows[:, list(self.columns)] = points
        return rows.reshape(len(points), *self.shape)

    def __repr__(self) -> str:
        return f"Subject({len(self.columns)} of {self.row.size} features randomised)"


def _row(x: Any) -> Array:
    try:
        array = np.asarray(x)
    except (TypeError, ValueError):
        raise InvalidParameter("a record is an array of features, or features by name") from None
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    if array.ndim != 1:
        raise InvalidParameter("a record is an array of features, or features by name")
    return np.array(x, dtype=object)


def _value(x: Any, name: str) -> Any:
    try:
        value = x[name]
    except (KeyError, IndexError):
        raise InvalidParameter(f"the record has no feature {name!r}") from None
    if np.ndim(value) and np.size(value) != 1:
        raise InvalidParameter("one record was expected; for a whole table use dt.classifiers.over_records")
    return np.asarray(value).reshape(-1)[0] if np.ndim(value) else value


def _columns(count: int, chosen: Sequence[str] | None, names: Sequence[str] | None) -> tuple[int, ...]:
    if chosen is None:
        return tuple(range(count))
    if names is None:
        if len(chosen) == count:
            return tuple(range(count))
        raise InvalidParameter(
            f"the record has {count} features without names; pass names=[…] to say which of them are "
            f"{', '.join(chosen)}"
        )
    places = {str(name): place for place, name in enumerate(names)}
    missing = [name for name in chosen if name not in places]
    if missing:
        raise unknown_name("feature", missing[0], places)
    return tuple(places[name] for name in chosen)
