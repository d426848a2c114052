"""A record, and which of its features are randomised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from dither.arrays import Array, Floats
from dither.classifiers.feature_law import as_designed, numbers_of
from dither.errors import InvalidParameter, OutsideDomain
from dither.kernels.table.channel import NearestPoint
from dither.mechanisms.base import Answering, Mechanism
from dither.mechanisms.combined.attributes import Attributes
from dither.mechanisms.combined.each import Each
from dither.mechanisms.combined.memoised import Memoised
from dither.mechanisms.frequency.randomized_response import Response
from dither.privacy import Guarantee, Unit
from dither.randomness import Source

Randomiser = Mechanism[Any] | Memoised | Each


@final
@dataclass(frozen=True, eq=False, repr=False)
class Subject:
    """A record and the places of its randomised features. It holds the secret: it is not kept or shown."""

    row: Array
    shape: tuple[int, ...]
    columns: tuple[int, ...]

    @staticmethod
    def of(x: Any, chosen: Sequence[str] | None, names: Sequence[str] | None) -> Subject:
        """Find the chosen features (all, if none are named) in a record: by name, or by position."""
        if hasattr(x, "keys"):
            # Of a series of pandas the keys are names; what it iterates over are the values.
            names = [str(name) for name in x.keys()] if names is None else names  # noqa: SIM118
            row = _row([_one(x, name) for name in names])
            shape: tuple[int, ...] = row.shape
        else:
            array = _row(x)
            row, shape = array.reshape(-1), array.shape or (1,)
        if names is not None and len(names) != row.size:
            raise InvalidParameter(f"there are {len(names)} names of features, and {row.size} features")
        return Subject(row, shape, _columns(row.size, chosen, names))

    @property
    def values(self) -> Floats:
        """The values that are randomised."""
        try:
            return self.row[list(self.columns)].astype(np.float64)
        except (TypeError, ValueError):
            raise OutsideDomain("a randomised feature is not a number") from None

    def rows(self, points: Floats) -> Array:
        """Give records with these values (one row each) in place of the randomised ones."""
        rows = np.repeat(self.row[None], len(points), axis=0)
        rows[:, list(self.columns)] = points
        return rows.reshape(len(points), *self.shape)

    def __repr__(self) -> str:
        return f"Subject({len(self.columns)} of {self.row.size} features randomised)"


def parts_of(mechanism: Randomiser, features: int) -> tuple[Answering, ...]:
    """Give the mechanism of each randomised feature: the parts of `Each`, or one for all."""
    return tuple(mechanism.parts.values()) if isinstance(mechanism, Each) else (mechanism,) * features


def check_mechanism(mechanism: object) -> None:
    """Raise unless a mechanism randomises a whole record: one for every feature, or `Each` of several."""
    if isinstance(mechanism, Attributes) and not isinstance(mechanism, Each):
        raise InvalidParameter("where one attribute is drawn, no whole record is reported; use dt.Each")
    if not isinstance(mechanism, Mechanism | Memoised | Each):
        raise InvalidParameter(
            f"a mechanism, or dt.Each of several, was expected; not {type(mechanism).__name__}"
        )
    for part in parts_of(mechanism, 1):
        as_designed(part)


def chosen_by(mechanism: Randomiser) -> tuple[str, ...] | None:
    """Give the names of the features that are randomised, or None for all."""
    return tuple(mechanism.parts) if isinstance(mechanism, Each) else None


def spent(mechanism: Randomiser, features: int) -> Guarantee:
    """Give what a person is promised who sends the whole record."""
    if isinstance(mechanism, Each) or features == 1:
        return mechanism.guarantee
    return Guarantee(mechanism.guarantee.repeated(features).bound, Unit.RECORD, mechanism.guarantee.assumes)


def draw(parts: Sequence[Answering], values: Floats, source: Source) -> Floats:
    """Give a randomised copy of values (last axis: features), as devices would send it."""
    columns = [_drawn(part, values[..., place], source) for place, part in enumerate(parts)]
    return np.stack(columns, axis=-1)


def _drawn(part: Answering, values: Floats, source: Source) -> Floats:
    plain = part.plain
    if isinstance(plain, Response):
        labels = numbers_of(plain)
        order = np.argsort(labels)
        codes = order[NearestPoint.on_interval(labels[order].tolist()).aim(values)]
        values = np.asarray(plain.categories.decode(codes))
    return np.asarray(plain.perturb(values, source=source).values, dtype=np.float64)


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


def _one(x: Any, name: str) -> Any:
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
            f"the record has {count} features without names; say names=[…], of which {', '.join(chosen)} "
            "are randomised"
        )
    places = {str(name): place for place, name in enumerate(names)}
    missing = [name for name in chosen if name not in places]
    if missing:
        raise InvalidParameter(f"there is no feature {', '.join(missing)}; there are {', '.join(places)}")
    return tuple(places[name] for name in chosen)
