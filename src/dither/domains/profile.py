"""Several categorical attributes of a person together: the cells of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self, final

import numpy as np

from dither.arrays import Array
from dither.domains.categories import Categories
from dither.domains.domain import Domain, regular
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain

MOST_ATTRIBUTES: Final = 64


@final
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

    def __init__(self, attributes: Mapping[str, Categories]) -> None:
        if not isinstance(attributes, Mapping) or not 2 <= len(attributes) <= MOST_ATTRIBUTES:
            raise InvalidParameter(f"give 2 to {MOST_ATTRIBUTES} attributes by name, each a dt.Categories")
        for name, part in attributes.items():
            if not isinstance(name, str) or not isinstance(part, Categories):
                raise InvalidParameter("every attribute has a name and is a dt.Categories")
        object.__setattr__(self, "names", tuple(attributes))
        object.__setattr__(self, "parts", tuple(attributes.values()))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of categories of each attribute."""
        return tuple(len(part) for part in self.parts)

    def check(self, values: object) -> Array:
        """Return the codes, a row for each person; raise OutsideDomain if one is not admitted."""
        columns = []
        for place, (name, part) in enumerate(zip(self.names, self.parts, strict=True)):
            try:
                columns.append(part.check(self._column(values, place, name)))
            except OutsideDomain as error:
                raise OutsideDomain(f"{name}: {error}") from None
        if len({column.shape for column in columns}) != 1:
            raise OutsideDomain("the columns have different lengths; everybody has a value of each attribute")
        return np.stack(columns, axis=-1)

    def _column(self, values: Any, place: int, name: str) -> Any:
        if isinstance(values, list) and values and all(isinstance(record, Mapping) for record in values):
            if not all(name in record for record in values):
                raise OutsideDomain(
                    f"a record has no {name!r}; every record has a category of each attribute"
                )
            return [record[name] for record in values]
        if (
            isinstance(values, list | tuple | np.ndarray)
            and getattr(values, "dtype", np.dtype(int)).names is None
        ):
            table = regular(values)
            if table is None or table.ndim == 0 or table.shape[-1] != len(self.parts):
                raise OutsideDomain(
                    f"one column for each of {', '.join(self.names)} was expected, in this order"
                )
            return table[..., place]
        try:
            return np.asarray(values[name])
        except (KeyError, IndexError, ValueError, TypeError, AttributeError):
            raise OutsideDomain(
                f"the data has no column {name!r}; name the columns as the attributes"
            ) from None

    def clip(self, values: object) -> Array:
        """Return the values: a category has no nearest one."""
        return self.check(values)

    def device(self) -> dict[str, Any]:
        pairs = zip(self.names, self.parts, strict=True)
        return {"kind": self.kind, "attributes": [[name, part.device()] for name, part in pairs]}

    @classmethod
    def from_device(cls, data: Mapping[str, Any]) -> Self:
        attributes = {}
        for name, part in data["attributes"]:
            if not isinstance(name, str) or name in attributes or part["kind"] != Categories.kind:
                raise MalformedReport("the attributes of a table have different names, each with categories")
            attributes[name] = Categories.from_device(part)
        return cls(attributes)

    @property
    def portable(self) -> bool:
        return all(part.portable for part in self.parts)

    def __str__(self) -> str:
        return " × ".join(f"{name} ({len(part)})" for name, part in zip(self.names, self.parts, strict=True))
