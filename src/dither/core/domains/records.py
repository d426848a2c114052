"""Several attributes of a person together: categories (`Profile`) or numbers (`Box`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Never, Self

import numpy as np

from dither.core.domains.categories import Categories
from dither.core.domains.domain import Domain, Interval, Table, regular
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain
from dither.foundation.arrays import Array, Floats
from dither.foundation.canonical import Data, Fields, Member, real
from dither.foundation.digits import plain


def column(values: Any, names: Sequence[str], index: int) -> Any:
    """Return the values of one attribute from columns by name, a list of records, or an array."""
    name = names[index]
    if isinstance(values, list) and values and all(isinstance(record, Mapping) for record in values):
        if not all(name in record for record in values):
            raise OutsideDomain(
                f"expected a value of {name!r} in every record, got a record without it; add the value"
            )
        return [record[name] for record in values]
    if (
        isinstance(values, list | tuple | np.ndarray)
        and getattr(values, "dtype", np.dtype(int)).names is None
    ):
        table = regular(values)
        if table is None or table.ndim == 0 or table.shape[-1] != len(names):
            raise OutsideDomain(f"expected one column for each of {', '.join(names)}, in this order")
        return table[..., index]
    try:
        return np.asarray(values[name])
    except (KeyError, IndexError, ValueError, TypeError, AttributeError):
        raise OutsideDomain(
            f"expected a column {name!r} in the data, got none; name the columns like the attributes"
        ) from None


MOST_ATTRIBUTES: Final = 64
_MOST_CHANGED: Final = 6  # attributes that an audit changes one at a time


def _write_attributes(name: str, profile: Profile) -> Data:
    return {name: [[own, part.device()] for own, part in zip(profile.names, profile.parts, strict=True)]}


def _read_attributes(name: str, data: Data, known: Data) -> Data:
    attributes = {}
    for own, part in data[name]:
        if not isinstance(own, str) or own in attributes or part["kind"] != Categories.kind:
            raise MalformedReport("expected attributes with different names, each with categories")
        attributes[own] = Categories.from_device(part)
    return {name: attributes}


@dataclass(frozen=True, init=False)
class Profile(Domain):
    """Named attributes, each a list of categories; a value has one category of each.

    Values are columns by name (a dict of arrays, a dataframe), a list of records (a dict for each person), or
    an array whose last axis runs over the attributes in their order.

    >>> Profile({"sex": Categories(["f", "m"]), "age": Categories(3)}).check({"sex": ["m"], "age": [2]})
    array([[1, 2]])
    """

    names: tuple[str, ...]
    parts: tuple[Categories, ...]

    kind: ClassVar[str] = "profile"
    outside: ClassVar[str] = "refuse"
    cell_type = "none"
    usual_mechanism = "Marginals"
    fields = Fields(attributes=Member(_write_attributes, _read_attributes))

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """Return the attributes that `profile = { sex = ["f", "m"], age = 3 }` describes."""
        given = table[cls.kind]
        if not isinstance(given, Mapping):
            raise InvalidParameter('expected a table of lists: profile = { sex = ["f", "m"], age = 3 }')
        return cls({name: Categories(labels) for name, labels in given.items()})

    def __init__(self, attributes: Mapping[str, Categories]) -> None:
        if not isinstance(attributes, Mapping) or not 2 <= len(attributes) <= MOST_ATTRIBUTES:
            raise InvalidParameter(
                f"expected 2 to {MOST_ATTRIBUTES} attributes by name, each a dt.Categories"
            )
        for name, part in attributes.items():
            if not isinstance(name, str) or not isinstance(part, Categories):
                raise InvalidParameter("expected a name and a dt.Categories for every attribute")
        object.__setattr__(self, "names", tuple(attributes))
        object.__setattr__(self, "parts", tuple(attributes.values()))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of categories of each attribute."""
        return tuple(len(part) for part in self.parts)

    def check(self, values: object) -> Array:
        """Return the codes, a row for each person; raise OutsideDomain if one is not in the domain."""
        columns = []
        for index, (name, part) in enumerate(zip(self.names, self.parts, strict=True)):
            try:
                columns.append(part.check(column(values, self.names, index)))
            except OutsideDomain as error:
                raise OutsideDomain(f"{name}: {error}") from None
        if len({column.shape for column in columns}) != 1:
            raise OutsideDomain(
                "expected columns of one length, got different lengths; give everybody a value of each "
                "attribute"
            )
        return np.stack(columns, axis=-1)

    def clip(self, values: object) -> Array:
        """Return the codes as `check` does: an unknown category has no nearest one."""
        return self.check(values)

    def words(self) -> str:
        return f"an answer to each of {', '.join(self.names)}"

    def examples(self, *, few: bool = False) -> list[dict[str, Any]]:
        """Return records: the first and the last category of all attributes, then of one attribute at a time.

        The probabilities of their reports are not listed.
        """
        if few:
            return []
        ends = [(part.labels[0], part.labels[-1]) for part in self.parts]
        first, last = (dict(zip(self.names, side, strict=True)) for side in zip(*ends, strict=True))
        changed = [{**first, name: last[name]} for name in self.names[:_MOST_CHANGED]]
        return [first, last, *changed]

    def __str__(self) -> str:
        return " × ".join(f"{name} ({len(part)})" for name, part in zip(self.names, self.parts, strict=True))


MOST_SIDES: Final = 8


def _write_sides(name: str, box: Box) -> Data:
    return {name: [[own, *ends] for own, ends in zip(box.names, box.ends, strict=True)]}


def _read_sides(name: str, data: Data, known: Data) -> Data:
    sides = {own: Interval(real(low), real(high)) for own, low, high in data[name]}
    if len(sides) != len(data[name]):
        raise InvalidParameter("expected different names for the numbers of a box")
    return {name: sides}


@dataclass(frozen=True, init=False)
class Box(Domain):
    """Up to eight numbers of a person together, each with a name and an interval.

    Distances between records are Euclidean, in units in which every side of the box is 1 long. Values are
    columns by name (a dict of arrays, a dataframe), a list of records, or an array whose last axis runs over
    the numbers.

    >>> Box({"age": Interval(18, 100), "bmi": Interval(10, 60)}).check({"age": [40], "bmi": [22.5]})
    array([[40. , 22.5]])
    """

    names: tuple[str, ...]
    sides: tuple[Interval, ...]

    kind: ClassVar[str] = "box"
    outside: ClassVar[str] = "clip"
    cell_type = "none"
    usual_mechanism = "Optimal"
    fields = Fields(sides=Member(_write_sides, _read_sides))

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """Return the box that `box = { age = [18, 100], bmi = [10, 60] }` describes."""
        given = table[cls.kind]
        pairs = isinstance(given, Mapping) and all(
            isinstance(e, list) and len(e) == 2 for e in given.values()
        )
        if not pairs:
            raise InvalidParameter("expected a table of intervals: box = { age = [18, 100], bmi = [10, 60] }")
        return cls({name: Interval(*ends) for name, ends in given.items()})

    def __init__(self, sides: Mapping[str, Interval], *more: Never) -> None:
        if more or not isinstance(sides, Mapping) or not 2 <= len(sides) <= MOST_SIDES:
            raise InvalidParameter(
                f"expected 2 to {MOST_SIDES} numbers by name, such as "
                'dt.Box({"age": dt.Interval(18, 100), "bmi": dt.Interval(10, 60)})'
            )
        for name, side in sides.items():
            if not isinstance(name, str) or not isinstance(side, Interval):
                raise InvalidParameter("expected a name and a dt.Interval for every number")
        kept = tuple(side.read_as(unit=side.unit, clipped_from=side.clipped_from) for side in sides.values())
        object.__setattr__(self, "names", tuple(sides))
        object.__setattr__(self, "sides", kept)

    @property
    def ends(self) -> tuple[tuple[float, float], ...]:
        """The lower and the upper end of every side."""
        return tuple((side.low, side.high) for side in self.sides)

    def to_unit(self, records: Floats) -> Floats:
        """Return records in units in which every side is [0, 1]."""
        low, high = np.array(self.ends).T
        return np.asarray((records - low) / (high - low))

    def from_unit(self, records: Floats) -> Floats:
        """Return records of [0, 1] in the user's units."""
        low, high = np.array(self.ends).T
        return np.asarray(low + records * (high - low))

    def check(self, values: object) -> Floats:
        """Return the numbers, a row for each person; raise OutsideDomain if one is not in the domain."""
        return self._rows(values, Interval.check)

    def clip(self, values: object) -> Floats:
        """Return the records, every number outside moved to the nearer end."""
        return self._rows(values, Interval.clip)

    def _rows(self, values: object, way: Callable[[Interval, object], Array]) -> Floats:
        columns = []
        for index, (name, side) in enumerate(zip(self.names, self.sides, strict=True)):
            try:
                columns.append(way(side, column(values, self.names, index)).astype(np.float64))
            except OutsideDomain as error:
                raise OutsideDomain(f"{name}: {error}") from None
        if len({numbers.shape for numbers in columns}) != 1:
            raise OutsideDomain(
                "expected columns of one length, got different lengths; give everybody each of the numbers"
            )
        return np.stack(columns, axis=-1)

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """The shape of one record."""
        return (len(self.sides),)

    def words(self) -> str:
        sides = zip(self.names, self.sides, strict=True)
        ranges = [f"{name} from {plain(side.low)} to {plain(side.high)}" for name, side in sides]
        return f"numbers: {', '.join(ranges)}"

    def examples(self, *, few: bool = False) -> list[Floats]:
        """Return opposite corners, the middle, and a corner with one number changed."""
        half = np.full(len(self.sides), 0.5)
        corners = [0.0 * half, 2.0 * half, half, np.eye(len(half))[0]]
        return [self.from_unit(record) for record in corners]

    def __str__(self) -> str:
        return " × ".join(f"{name} {side}" for name, side in zip(self.names, self.sides, strict=True))

    def __repr__(self) -> str:
        return f"Box({dict(zip(self.names, self.sides, strict=True))!r})"
