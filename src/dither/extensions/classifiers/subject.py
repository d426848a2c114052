"""The record whose prediction is examined, and how its features are randomised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
        raise InvalidParameter(f"the record has no feature {name!r}") from None
    if np.ndim(value) and np.size(value) != 1:
        raise InvalidParameter("expected one record; for a table use dt.classifiers.over_records")
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
    positions = {str(name): index for index, name in enumerate(names)}
    missing = [name for name in chosen if name not in positions]
    if missing:
        raise unknown_name("feature", missing[0], positions)
    return tuple(positions[name] for name in chosen)


class Randomiser(Protocol):
    """What randomises a record: a mechanism, `Memoised`, `Each` of several, or an `Indicator` on them."""

    @property
    def guarantee(self) -> Guarantee:
        """What a person who answers once is promised."""

    def at(self, epsilon: float) -> Self:
        """Return the same with another budget."""


def parts_by_name(mechanism: object) -> Mapping[str, object] | None:
    """Return the mechanism of each attribute, or None for one mechanism; raise if not all are reported."""
    if not isinstance(mechanism, Attributes):
        return None
    if not mechanism.whole_records:
        raise InvalidParameter(
            f"{type(mechanism).__name__} reports one attribute of a record, not all of them; use dt.Each"
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
        """Return what the caller gave as a randomisation; raise `InvalidParameter` if it is not one."""
        if not hasattr(type(given), "guarantee"):  # an attribute of the class: computing it may take long
            raise InvalidParameter(
                f"a mechanism, or dt.Each of several, was expected; not {type(given).__name__}"
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
            raise InvalidParameter("an Indicator is not supported here; pass the mechanism inside it")
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
