"""Categories: a finite public list of possible answers."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from dither.arrays import Array, Integers
from dither.device_text import MOST_SAFE, from_hexadecimal, hexadecimal, real, whole
from dither.domains.domain import Domain, objects, regular
from dither.errors import InvalidParameter, OutsideDomain, found


@final
class CodedLabels:
    """Labels as places in a list of different labels, as data frames store categories.

    `Categories.check` looks up the few labels of the list instead of all answers.

    >>> Categories(["no", "yes"]).check(CodedLabels(np.array([0, 1, 0]), ["yes", "no"]))
    array([1, 0, 1])
    """

    def __init__(self, places: Integers, labels: Sequence[Any] | Array) -> None:
        self.places = places
        self.labels = np.empty(len(labels), dtype=object)
        for place, label in enumerate(labels):  # one by one: lists of JSON would become a second axis
            self.labels[place] = label

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, rows: slice | Array) -> CodedLabels:
        """Return some of the labels, by a slice, a mask or places."""
        return CodedLabels(self.places[rows], self.labels)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.labels[self.places], dtype=dtype)


@final
@dataclass(frozen=True, init=False)
class Categories(Domain):
    """A public list of labels, or the integers 0 … k − 1.

    >>> Categories(["no", "yes"]).check(["yes", "no", "yes"])
    array([1, 0, 1])
    >>> len(Categories(5))
    5
    """

    labels: tuple[Hashable, ...] | range

    kind: ClassVar[str] = "categories"
    outside: ClassVar[str] = "refuse"

    def __init__(self, labels: Iterable[Hashable] | int) -> None:
        kept: tuple[Hashable, ...] | range
        if isinstance(labels, bool | str):
            raise InvalidParameter(f"categories are a list of labels, or their number, not {found(labels)}")
        if isinstance(labels, int | np.integer):
            kept = range(int(labels))
        else:
            kept = tuple(_plain(item) for item in labels)
            if len(set(kept)) != len(kept):
                raise InvalidParameter(f"a label appears twice among the {len(kept)} categories")
        if len(kept) < 2:
            raise InvalidParameter(f"at least two categories are needed, not {len(kept)}")
        if len(kept) > 1 << 32:
            raise InvalidParameter(
                f"at most 2^32 categories are supported, not {len(kept)}; hash the labels first"
            )
        object.__setattr__(self, "labels", kept)

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def _codes(self) -> dict[Hashable, int]:
        return {label: code for code, label in enumerate(self.labels)}

    def check(self, values: object) -> Integers:
        """Return the codes 0 … k − 1 of the labels; raise `OutsideDomain` if one is not a category."""
        if isinstance(values, np.ma.MaskedArray):
            raise OutsideDomain("masked arrays are not accepted; replace or drop missing answers first")
        if isinstance(self.labels, range):
            array = regular(values)
            if array is None or array.dtype.kind not in "iu":
                if array is None or array.size:
                    raise OutsideDomain(f"answers must be whole numbers from 0 to {len(self) - 1}")
                return np.zeros(array.shape, dtype=np.int64)
            if array.size and not (array.min() >= 0 and array.max() < len(self)):
                raise OutsideDomain(f"an answer is not one of the categories 0 … {len(self) - 1}")
            return array.astype(np.int64, copy=False)
        if isinstance(values, CodedLabels):
            known = np.array([self._code(label) for label in values.labels], dtype=np.int64)
            codes = known[values.places]
            if codes.size and codes.min() < 0:
                raise self._refused()
            return codes
        array = objects(values)
        found_codes = self._looked_up(array)
        if found_codes is None:
            raise self._refused()
        return found_codes.reshape(array.shape)

    def _refused(self) -> OutsideDomain:
        return OutsideDomain(
            f"an answer is not one of the {len(self)} categories; add a category for the rest"
        )

    def _code(self, label: Any) -> int:
        """Return the code of a label, or −1 if it is not one of the categories."""
        try:
            return self._codes.get(_plain(label), -1)
        except TypeError:  # not hashable
            return -1

    def _looked_up(self, labels: Array) -> Integers | None:
        """Return the codes of labels, or None; a KeyError contains a label and must not leave this method."""
        try:
            return np.array([self._codes[_plain(item)] for item in labels.flat], dtype=np.int64)
        except (KeyError, TypeError):
            return None

    def clip(self, values: object) -> Array:
        """Raise InvalidParameter: an unknown label has no nearest category."""
        raise InvalidParameter("categories cannot be clipped; add a category for all other answers")

    def decode(self, codes: NDArray[np.integer]) -> Array:
        """Return the labels of codes."""
        if isinstance(self.labels, range):
            return np.asarray(codes, dtype=np.int64)
        return np.asarray(self._table[codes])

    @cached_property
    def _table(self) -> Array:
        plain = np.asarray(self.labels)
        regular = plain.shape == (len(self),) and plain.dtype.kind in "USiufb"
        if regular and plain.tolist() == list(self.labels):
            return plain
        table = np.empty(len(self), dtype=object)
        table[:] = self.labels
        return table

    @staticmethod
    def of(data: Sequence[Hashable]) -> Categories:
        """Raise InvalidParameter: the list of categories must be public, not taken from private data."""
        raise InvalidParameter(
            "categories taken from private data reveal the data; pass the public list of labels"
        )

    def device(self) -> dict[str, Any]:
        if isinstance(self.labels, range):
            return {"kind": self.kind, "count": len(self.labels)}
        return {"kind": self.kind, "labels": [_label(label) for label in self.labels]}

    @classmethod
    def from_device(cls, data: Mapping[str, Any]) -> Self:
        if "count" in data:
            return cls(whole(data["count"]))
        return cls([_read_label(label) for label in data["labels"]])

    @property
    def portable(self) -> bool:
        """Whether every label is a text, a number, a bool or None."""
        labels = () if isinstance(self.labels, range) else map(_label, self.labels)
        return not any(isinstance(label, dict) and "python" in label for label in labels)

    def __str__(self) -> str:
        return f"{len(self)} categories"

    def __repr__(self) -> str:
        if isinstance(self.labels, range):
            return f"Categories({len(self)})"
        shown = ", ".join(map(repr, self.labels[:4]))
        return f"Categories([{shown}{', …' if len(self) > 4 else ''}])"


def _plain(label: Hashable) -> Hashable:
    return label.item() if isinstance(label, np.generic) else label


def _label(label: Hashable) -> Any:
    """Return a label as JSON-compatible data: texts and small integers unchanged, other labels with a tag."""
    if label is None or isinstance(label, bool):
        return label
    if isinstance(label, str) and _encodable(label):
        return str(label)
    if isinstance(label, int):
        if abs(label) <= MOST_SAFE:
            return int(label)
        return {"integer": ("-" if label < 0 else "") + hexadecimal(abs(label))}
    if isinstance(label, float) and math.isfinite(label):
        return {"number": float(label)}
    return {"python": f"{type(label).__name__} {label!r}"}  # for this process only; it cannot be read back


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read_label(data: Any) -> Hashable:
    if data is None or isinstance(data, bool | str):
        return data
    if isinstance(data, dict) and set(data) == {"integer"} and isinstance(data["integer"], str):
        text = data["integer"]
        return -from_hexadecimal(text[1:]) if text.startswith("-") else from_hexadecimal(text)
    if isinstance(data, dict) and set(data) == {"number"}:
        return real(data["number"])
    return whole(data)
