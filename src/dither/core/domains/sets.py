"""Sets of items of a public list: "select all that apply"."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal, Self

import numpy as np

from dither.core.domains.categories import Categories, CodedLabels
from dither.core.domains.domain import Domain, Table, regular
from dither.errors import InvalidParameter, OutsideDomain, choose, found
from dither.foundation.arrays import Array, Integers
from dither.foundation.canonical import WHOLE, Data, Fields, Member, whole
from dither.foundation.digits import whole as grouped

MOST_ITEMS: Final = 1 << 20
_NUMBERS: Final = 1 << 16  # numbers compared at a time, so that they stay in the cache


class LabelLists:
    """Sets of items as concatenated lists of labels; `ends` are the ends of the lists, as in Arrow."""

    def __init__(self, labels: CodedLabels | Array, ends: Integers) -> None:
        self.labels, self.ends = labels, ends

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, rows: slice | Array) -> LabelLists:
        """Return the lists of some people, by a slice without steps or by a mask."""
        if not isinstance(rows, slice):
            have = np.diff(self.ends, prepend=0)
            return LabelLists(self.labels[np.repeat(rows, have)], np.cumsum(have[rows]))
        begin, end, _ = rows.indices(len(self))
        first = int(self.ends[begin - 1]) if begin else 0
        last = int(self.ends[end - 1]) if end > begin else first
        return LabelLists(self.labels[first:last], self.ends[begin:end] - first)


def _write_items(name: str, several: Several) -> Data:
    return several.categories.fields.write(several.categories)


def _read_items(name: str, data: Data, known: Data) -> Data:
    # The class checks the number of items: it must be at least one, and for categories at least two.
    return {name: whole(data["count"]) if "count" in data else Categories.from_device(data).labels}


@dataclass(frozen=True, init=False)
class Several(Domain):
    """Sets of up to `most` items of a public list: "select all that apply". The empty set is a value.

    A value is a list (or a set) of labels; repeated labels count once. Values of many people may also be a
    matrix of True and False with a column for each item. A person with more than `most` items reports
    `most` of them, drawn at random on the device. `empty="none"` declares that an empty cell of a table is
    the empty set: the person ticked no item. Otherwise an empty cell is a missing answer. Devices do not
    know this declaration.

    >>> Several(["mail", "maps", "music"], most=2).check([["music", "mail"], []])
    array([[ 0,  2],
           [-1, -1]])
    """

    categories: Categories
    most: int
    empty: Literal["missing", "none"] = field(compare=False)

    kind: ClassVar[str] = "several"
    outside: ClassVar[str] = "refuse"
    sets = True
    cell_type = "sets"
    hint = "leave unknown items out, or add an item for the rest"
    usual_mechanism = "SetResponse"
    keys = ("most", "empty")
    declares = ("empty",)
    fields = Fields(items=Member(_write_items, _read_items), most=WHOLE)

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """Return the sets that `several = […]` and `most` describe."""
        if table.get("most") is None:
            raise InvalidParameter(
                "expected most together with several = […]: the number of items that a person "
                "reports, such as most = 10"
            )
        return cls(table[cls.kind], most=table["most"], empty=table.get("empty") or "missing")

    def __init__(
        self, items: Iterable[Hashable] | int, *, most: int, empty: Literal["missing", "none"] = "missing"
    ) -> None:
        listed = Categories(items)
        if len(listed) > MOST_ITEMS:
            raise InvalidParameter(f"expected at most {MOST_ITEMS} items, got {len(listed)}; join rare items")
        if isinstance(most, bool) or not isinstance(most, int | np.integer) or not 1 <= most <= len(listed):
            raise InvalidParameter(
                f"expected most, the number of items that a person reports, to be an integer from 1 to the "
                f"number of items, {len(listed)}; got {found(most)}"
            )
        object.__setattr__(self, "categories", listed)
        object.__setattr__(self, "most", int(most))
        choice = choose("empty", empty, {name: name for name in ("missing", "none")})
        object.__setattr__(self, "empty", choice)
        object.__setattr__(self, "empty_is_value", choice == "none")

    def read_as(self, *, empty: Literal["missing", "none"] = "missing") -> Several:
        """Return the same sets with another meaning of an empty cell; devices do not know it."""
        return Several(self.labels, most=self.most, empty=empty)

    def __len__(self) -> int:
        return len(self.categories)

    @property
    def listed(self) -> Categories:  # type: ignore[override]
        """The public list of items."""
        return self.categories

    def words(self) -> str:
        return f"a set of up to {grouped(self.most)} of {grouped(len(self))} items"

    def examples(self, *, few: bool = False) -> list[list[Hashable]]:
        """Return the empty set, full sets that are as different as they can be, and small sets."""
        labels = list(self.labels)
        full = labels[: self.most], labels[-self.most :]
        tried = [[], *full, labels[:1], labels[-1:], labels[: self.most + 1]]
        return [items for index, items in enumerate(tried) if items not in tried[:index]]

    @property
    def labels(self) -> tuple[Hashable, ...] | range:
        """The public list of items."""
        return self.categories.labels

    def check(self, values: object) -> Integers:
        """Return a row of codes for each set, ascending and followed by −1; raise `OutsideDomain` for others.

        Rows are as long as the largest set, and at least one.
        """
        if isinstance(values, np.ndarray) and self._is_table(values):
            return values.astype(np.int64, copy=False)
        lists = self.lists(values)
        codes = self._codes(lists.labels)
        have = np.diff(lists.ends, prepend=0)
        person = np.repeat(np.arange(len(lists)), have)
        keys = person * len(self) + codes
        if not bool((keys[1:] > keys[:-1]).all()):
            keys = np.unique(keys)  # ascending, and repeated items once
            person, codes = np.divmod(keys, len(self))
            have = np.bincount(person, minlength=len(lists))
        rows = np.full((len(lists), max(int(have.max(initial=0)), 1)), -1, dtype=np.int64)
        rows[person, np.arange(person.size) - np.repeat(np.cumsum(have) - have, have)] = codes
        return rows

    def _is_table(self, values: Array) -> bool:
        """Return whether values are already rows of ascending codes, as large arrays of full sets may be."""
        if isinstance(values, np.ma.MaskedArray) or not isinstance(self.labels, range):
            return False
        if values.dtype.kind not in "iu" or values.ndim != 2 or not values.size:
            return False
        if not (values[:, 0].min() >= 0 and values[:, -1].max() < len(self)):
            return False
        width = values.shape[1]
        step = max(_NUMBERS // width, 1)
        for begin in range(0, len(values), step):  # flat rows take a fifth of the time
            flat = np.ascontiguousarray(values[begin : begin + step]).reshape(-1)
            falls = flat[1:] <= flat[:-1]
            falls[width - 1 :: width] = False  # steps from one person to the next
            if falls.any():
                return False
        return True

    def _codes(self, labels: CodedLabels | Array) -> Integers:
        try:
            return self.categories.check(labels)
        except OutsideDomain:
            raise OutsideDomain(
                f"expected items among the {len(self)} items of the list, got another one; leave it "
                "out, or add an item for the rest"
            ) from None

    def lists(self, values: object) -> LabelLists:
        """Return sets as one list of labels; raise `OutsideDomain` if a value is not a set of labels."""
        if isinstance(values, LabelLists):
            return values
        if isinstance(values, np.ma.MaskedArray):
            raise OutsideDomain(
                "expected answers without a mask, got a masked array; replace or drop missing answers first"
            )
        if isinstance(values, np.ndarray) and values.dtype.kind == "b":
            if values.ndim != 2 or values.shape[1] != len(self):
                raise OutsideDomain(
                    f"expected a table of True and False with a column for each of the {len(self)} items"
                )
            person, codes = np.nonzero(values)
            numbers = np.asarray(codes, dtype=np.int64)
            known: Any = range(len(self)) if isinstance(self.labels, range) else self.labels
            labels = numbers if isinstance(self.labels, range) else CodedLabels(numbers, list(known))
            return LabelLists(labels, np.cumsum(np.bincount(person, minlength=len(values))))
        if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and values.ndim == 2:
            ends = values.shape[1] * np.arange(1, len(values) + 1)
            return LabelLists(values.reshape(-1).astype(np.int64, copy=False), ends)
        return self._label_lists(values)

    def _label_lists(self, values: Any) -> LabelLists:
        flat: list[Any] = []
        ends: list[int] = []
        if hasattr(values, "to_pylist"):  # elements of an Arrow array are not Python values
            values = values.to_pylist()
        for value in values if _is_list(values) else [None]:
            if value is None or not _is_list(value):
                raise OutsideDomain(
                    "expected every value to be a list of items, such as ['mail', 'maps'] or [], got "
                    "another value"
                )
            flat.extend(value)
            ends.append(len(flat))
        if isinstance(self.labels, range) and any(isinstance(label, bool | np.bool_) for label in flat):
            raise OutsideDomain(f"expected an item to be an integer from 0 to {len(self) - 1}")
        labels = np.empty(len(flat), dtype=object)
        for index, label in enumerate(flat):  # one by one, because numpy would make a second axis of lists
            labels[index] = label
        if isinstance(self.labels, range):
            numbers = regular(flat)
            labels = numbers if numbers is not None and numbers.ndim == 1 else labels
        return LabelLists(labels, np.array(ends, dtype=np.int64))

    def clip(self, values: object) -> Array:
        """Raise InvalidParameter: an unknown item has no nearest one."""
        raise InvalidParameter(
            "expected a domain of numbers to clip, got items; leave unknown ones out, or add an item "
            "for the rest"
        )

    def __str__(self) -> str:
        return f"sets of up to {self.most} of {len(self)} items"

    def __repr__(self) -> str:
        more = ', empty="none"' if self.empty_is_value else ""
        return f"Several({repr(self.categories)[11:-1]}, most={self.most}{more})"


def _is_list(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
