"""Reports about several attributes by name, and data by column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dither.arrays import Array
from dither.domains import Categories, Domain
from dither.errors import InvalidParameter, Mismatch, OutsideDomain, unknown_name
from dither.reports import Reports

if TYPE_CHECKING:
    from dither.mechanisms.combined.attributes import Attributes


@final
@dataclass(frozen=True, eq=False)
class Records(Mapping[str, Reports]):
    """The reports of `n` people about several attributes: `records["age"]` are the `Reports` of one.

    If each person reported one attribute, `chosen` contains its index for each person, and the reports of an
    attribute are those of the people who drew it, in their order.
    """

    question: Attributes
    parts: dict[str, Reports]
    n: int
    chosen: Array | None = None

    @staticmethod
    def concatenate(parts: list[Records]) -> Records:
        """Return the records of several groups of people as one."""
        if not parts:
            raise InvalidParameter("the list of records to concatenate is empty")
        question = parts[0].question
        if any(part.question.fingerprint != question.fingerprint for part in parts):
            raise Mismatch("records of different mechanisms cannot be concatenated")
        joined = {name: Reports.concatenate([part[name] for part in parts]) for name in question.parts}
        drawn = [part.chosen for part in parts if part.chosen is not None]
        chosen = np.concatenate(drawn) if len(drawn) == len(parts) else None
        return Records(question, joined, sum(part.n for part in parts), chosen)

    def __getitem__(self, name: str) -> Reports:
        try:
            return self.parts[name]
        except KeyError:
            raise unknown_name("attribute", name, self.parts) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __contains__(self, name: object) -> bool:
        return name in self.parts

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if self.chosen is not None:
            raise InvalidParameter("each person reported one attribute, so there are no whole records")
        columns = [np.asarray(reports.values) for reports in self.parts.values()]
        if any(column.ndim != columns[0].ndim for column in columns):
            raise InvalidParameter("an attribute has more than one number; decode the attributes one by one")
        return np.stack(columns, axis=-1).astype(dtype) if dtype else np.stack(columns, axis=-1)

    def __repr__(self) -> str:
        return f"Records({self.n} people: {', '.join(self.parts)})"


def columns(data: object, domains: Mapping[str, Domain]) -> dict[str, Array]:
    """Return one array for each attribute, from columns by name or, in a plain array, by position."""
    if isinstance(data, list | tuple) or (isinstance(data, np.ndarray) and data.dtype.names is None):
        table = np.asarray(data)
        if table.ndim == 0 or table.shape[-1] != len(domains):
            names = ", ".join(domains)
            raise OutsideDomain(f"an array needs one column for each attribute, in this order: {names}")
        found = {name: table[..., place] for place, name in enumerate(domains)}
    else:
        found = {name: _column(data, name, domain) for name, domain in domains.items()}
    if len({array.shape[:1] for array in found.values()}) > 1:
        raise OutsideDomain(
            "the columns have different lengths; every person needs a value of each attribute"
        )
    return found


def _column(data: Any, name: str, domain: Domain) -> Array:
    try:
        column = data[name]
    except (KeyError, IndexError, ValueError, TypeError, AttributeError):
        raise OutsideDomain(
            f"the data has no column {name!r}; columns must be named like attributes"
        ) from None
    except Exception as error:  # every dataframe library has its own error for a missing column
        if "column" in type(error).__name__.lower():
            raise OutsideDomain(f"the data has no column {name!r}") from None
        raise
    # dtype object keeps labels of different types as they are.
    labels = isinstance(domain, Categories) and not isinstance(domain.labels, range)
    return np.asarray(column, dtype=object if labels else None)
