"""The record whose prediction is examined, and how its features are randomised."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np

from dither.errors import InvalidParameter, OutsideDomain, unknown_name
from dither.extensions.classifiers.feature_law import FeatureLaw, feature_law
from dither.foundation.arrays import Array, Floats
from dither.mechanisms.combined import Attributes
from dither.privacy import Approximate, Guarantee


@dataclass(frozen=True, eq=False, repr=False)
class Subject:
    """A record and the indices of its randomised features. It contains private values and shows none."""

    row: Array
    shape: tuple[int, ...]
    columns: tuple[int, ...]
    labels: tuple[tuple[Hashable, ...] | None, ...]  # the categories of each column; None for numbers

    @staticmethod
    def of(
        x: Any,
        chosen: Sequence[str] | None,
        names: Sequence[str] | None,
        laws: Callable[[int], Sequence[FeatureLaw]] | None = None,
    ) -> Subject:
        """Return a record with its chosen features (all, for None), found by name or by position.

        `laws` returns the laws of this many features, for their categories; without it all are numbers.
        """
        own = names_in(x)
        if own is not None:
            names = own if names is None else names
            row = _row([_value(x, name) for name in names])
            shape: tuple[int, ...] = row.shape
        else:
            array = _row(x)
            row, shape = array.reshape(-1), array.shape or (1,)
        if names is not None and len(names) != row.size:
            raise InvalidParameter(
                f"expected a name for each of the {row.size} features of the record, got {len(names)} "
                "names; pass one for each"
            )
        columns = _columns(row.size, chosen, names)
        labels = (None,) * len(columns) if laws is None else tuple(law.labels for law in laws(len(columns)))
        return Subject(row, shape, columns, labels)

    @property
    def categorical(self) -> bool:
        """Whether some randomised values are categories that are not numbers."""
        return any(labels is not None for labels in self.labels)

    @property
    def values(self) -> Floats:
        """The randomised values; a category is its code."""
        given = self.row[list(self.columns)]
        try:
            if not self.categorical:
                return given.astype(np.float64)
            return np.array(
                [
                    float(value) if labels is None else _code(value, labels)
                    for value, labels in zip(given.tolist(), self.labels, strict=True)
                ]
            )
        except (TypeError, ValueError):
            raise OutsideDomain("a randomised feature is not a number") from None

    def rows(self, points: Floats) -> Array:
        """Return copies of the record in its shape, each with one row of points as its randomised values."""
        rows = np.repeat(self.row[None], len(points), axis=0)
        if not self.categorical:
            rows[:, list(self.columns)] = points
            return rows.reshape(len(points), *self.shape)
        for column, labels, part in zip(self.columns, self.labels, points.T, strict=True):
            if labels is None:
                rows[:, column] = part
            else:
                known = np.empty(len(labels), dtype=object)
                known[:] = labels
                rows[:, column] = known[np.rint(part).astype(np.int64)]
        return rows.reshape(len(points), *self.shape)

    def __repr__(self) -> str:
        return f"Subject({len(self.columns)} of {self.row.size} features randomised)"


def names_in(table: object) -> list[str] | None:
    """Return the names of the columns of a mapping, a series or a data frame; None for other tables."""
    if hasattr(table, "keys"):
        # The keys of a pandas series are names, but iterating over it yields the values.
        return [str(name) for name in table.keys()]  # noqa: SIM118
    columns = getattr(table, "columns", None)  # of a frame of Polars
    return None if columns is None else [str(name) for name in columns]


def _code(value: object, labels: tuple[Hashable, ...]) -> float:
    """Return the code of a category; a missing value is "no answer", if that is one."""
    missing = isinstance(value, float) and math.isnan(value)  # of pandas
    try:
        return float(labels.index(None if missing else value))
    except ValueError:
        raise OutsideDomain("a randomised feature is not one of its categories") from None


def _row(x: object) -> Array:
    try:
        array = np.asarray(x)
    except (TypeError, ValueError):
        raise InvalidParameter("expected a record to be an array of features, or features by name") from None
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    if array.ndim != 1:
        raise InvalidParameter("expected a record to be an array of features, or features by name")
    return np.array(x, dtype=object)


def _value(x: Any, name: str) -> object:
    try:
        value = x[name]
    except (KeyError, IndexError):
        raise InvalidParameter(f"expected the feature {name!r} in the record; add it") from None
    if np.ndim(value) and np.size(value) != 1:
        raise InvalidParameter(
            "expected one record, got several; for a table use dt.classifiers.over_records"
        )
    return np.asarray(value).reshape(-1)[0] if np.ndim(value) else value


def _columns(count: int, chosen: Sequence[str] | None, names: Sequence[str] | None) -> tuple[int, ...]:
    if chosen is None:
        return tuple(range(count))
    if names is None:
        if len(chosen) == count:
            return tuple(range(count))
        raise InvalidParameter(
            f"expected names=[…] for the {count} features of the record, among them {', '.join(chosen)}; "
            "pass them"
        )
    positions = {str(name): index for index, name in enumerate(names)}
    missing = [name for name in chosen if name not in positions]
    if missing:
        raise unknown_name("feature", missing[0], positions)
    return tuple(positions[name] for name in chosen)


class Randomiser(Protocol):
    """An object that randomises a record: a mechanism, `Memoised`, `Each` of several, or an `Indicator`."""

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person who answers once."""

    def at(self, epsilon: float) -> Self:
        """Return the same with another budget."""


def parts_by_name(mechanism: object) -> Mapping[str, object] | None:
    """Return the mechanism of each attribute, or None for one mechanism; raise if not all are reported."""
    if not isinstance(mechanism, Attributes):
        return None
    if not mechanism.whole_records:
        raise InvalidParameter(
            f"expected a mechanism that reports all attributes of a record, got {type(mechanism).__name__} "
            "for one attribute; use dt.Each"
        )
    return mechanism.parts


@dataclass(frozen=True, eq=False)
class Randomisation:
    """A mechanism for every feature, or one for each named feature; with an `Indicator` on it or without.

    `mechanism` is the one inside the indicator, `raw_share` the probability that the raw record is sent.
    """

    given: Randomiser
    mechanism: Randomiser
    parts: Mapping[str, object] | None
    raw_share: float

    @staticmethod
    def of(given: Randomiser) -> Randomisation:
        """Return the caller's argument as a randomisation; raise `InvalidParameter` if it is not one."""
        if not hasattr(type(given), "guarantee"):  # an attribute of the class: computing it may take long
            raise InvalidParameter(
                f"expected a mechanism, or dt.Each of several, got {type(given).__name__}; pass one"
            )
        untyped: Any = given
        raw_share: float = getattr(given, "raw_share", 0.0)
        mechanism: Randomiser = untyped.mechanism if raw_share else given
        found = Randomisation(given, mechanism, parts_by_name(mechanism), raw_share)
        found.laws(1)  # so that an unsuitable mechanism is refused here
        return found

    @staticmethod
    def without_indicator(given: Randomiser) -> Randomisation:
        """Return the same as `of`; raise `InvalidParameter` for an `Indicator`."""
        found = Randomisation.of(given)
        if found.raw_share:
            raise InvalidParameter("expected no Indicator here; pass the mechanism inside it")
        return found

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the randomised features; None if all features are randomised."""
        return None if self.parts is None else tuple(self.parts)

    def laws(self, features: int) -> tuple[FeatureLaw, ...]:
        """Return the law of each randomised feature, in the order of `names` or of the record."""
        if self.parts is None:
            return (feature_law(self.mechanism),) * features
        return tuple(map(feature_law, self.parts.values()))

    def at(self, epsilon: float) -> Randomisation:
        """Return the same with another budget: of every feature, or of all named features together."""
        return Randomisation.of(self.given.at(epsilon))

    def guarantee(self, features: int) -> Guarantee:
        """Return the promise to a person who sends the complete record once."""
        found = self.mechanism.guarantee
        if self.parts is None and features > 1:
            found = Guarantee(found.repeated(features).bound, "record", found.assumes)
        if self.raw_share:
            found = replace(found, bound=Approximate(found.epsilon, self.given.guarantee.delta))
        return found
