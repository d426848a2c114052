"""Domains of answers from a public list: categories, places with distances, and texts."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from dither.core.domains.domain import CellType, Domain, Table, objects, regular
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain, found
from dither.foundation.arrays import Array, Bytes, Integers, is_nothing
from dither.foundation.canonical import (
    ANY,
    MOST_SAFE,
    WHOLE,
    Data,
    Fields,
    Member,
    from_hexadecimal,
    hexadecimal,
    real,
    whole,
)
from dither.foundation.digits import whole as grouped


class CodedLabels:
    """Labels as indices into a list of different labels, as data frames store categories.

    `Categories.check` then looks up each label of the list once, and not every answer.

    >>> Categories(["no", "yes"]).check(CodedLabels(np.array([0, 1, 0]), ["yes", "no"]))
    array([1, 0, 1])
    """

    def __init__(self, places: Integers, labels: Sequence[Any] | Array) -> None:
        self.places = places
        self.labels = np.empty(len(labels), dtype=object)
        for index, label in enumerate(labels):  # one by one, because lists of JSON would become a second axis
            self.labels[index] = label

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, rows: slice | Array) -> CodedLabels:
        """Return some of the labels, by a slice, a mask or indices."""
        return CodedLabels(self.places[rows], self.labels)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.labels[self.places], dtype=dtype)


_ALL: Final = 32  # the most labels at which an audit lists all probabilities
_MOST_EXAMPLES: Final = 300


def _label(label: Hashable) -> object:
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


def _read_label(data: object) -> Hashable:
    if data is None or isinstance(data, bool | str):
        return data
    if isinstance(data, dict) and set(data) == {"integer"} and isinstance(data["integer"], str):
        text = data["integer"]
        return -from_hexadecimal(text[1:]) if text.startswith("-") else from_hexadecimal(text)
    if isinstance(data, dict) and set(data) == {"number"}:
        return real(data["number"])
    return whole(data)


def _write_labels(name: str, categories: Categories) -> Data:
    labels = categories.labels
    if isinstance(labels, range):
        return {"count": len(labels)}
    return {name: [_label(label) for label in labels]}


def _read_labels(name: str, data: Data, known: Data) -> Data:
    if "count" in data:
        return {name: whole(data["count"])}
    return {name: [_read_label(label) for label in data[name]]}


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
    fields = Fields(labels=Member(_write_labels, _read_labels))

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """Return the categories that `categories = […]`, or their number, describes."""
        return cls(table[cls.kind])

    def __init__(self, labels: Iterable[Hashable] | int) -> None:
        kept: tuple[Hashable, ...] | range
        if isinstance(labels, bool | str):
            raise InvalidParameter(
                f"expected categories to be a list of labels, or their number, got {found(labels)}"
            )
        if isinstance(labels, int | np.integer):
            kept = range(int(labels))
        else:
            kept = tuple(_plain(item) for item in labels)
            if len(set(kept)) != len(kept):
                raise InvalidParameter(
                    f"expected {len(kept)} different labels, got one twice; leave the second one out"
                )
        if len(kept) < 2:
            raise InvalidParameter(f"expected at least two categories, got {len(kept)}")
        if len(kept) > 1 << 32:
            raise InvalidParameter(
                f"expected at most 2^32 categories, got {len(kept)}; hash the labels first"
            )
        object.__setattr__(self, "labels", kept)
        object.__setattr__(self, "optional", not isinstance(kept, range) and None in kept)
        object.__setattr__(self, "empty_is_value", self.optional)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def listed(self) -> Categories:  # type: ignore[override]
        """The list itself."""
        return self

    @property
    def count(self) -> int:  # type: ignore[override]
        """The number of labels."""
        return len(self)

    @property
    def cell_type(self) -> CellType:  # type: ignore[override]
        """How a column of a table holds labels: unchanged, or as codes if the categories are integers."""
        return "codes" if isinstance(self.labels, range) else "labels"

    def words(self) -> str:
        return f"one of {grouped(len(self) - self.optional)} answers{', or no answer' * self.optional}"

    def examples(self, *, few: bool = False) -> list[Hashable]:
        """Return the first label, the last, and up to 300 others; with `few`, all of up to 32, or four."""
        last = len(self) - 1
        if few:
            codes = [*range(len(self))] if len(self) <= _ALL else [0, last, 1, len(self) // 2]
        else:
            codes = list(dict.fromkeys([0, last, *range(1, min(len(self), _MOST_EXAMPLES))]))
        return [self.labels[code] for code in codes]

    @cached_property
    def _codes(self) -> dict[Hashable, int]:
        return {label: code for code, label in enumerate(self.labels)}

    def check(self, values: object) -> Integers:
        """Return the codes 0 … k − 1 of the labels; raise `OutsideDomain` if one is not a category."""
        if isinstance(values, np.ma.MaskedArray):
            if not self.optional:
                raise OutsideDomain(
                    "expected answers without a mask, got a masked array; replace or drop missing "
                    "answers first"
                )
            values = np.where(np.ma.getmaskarray(values), np.array(None), values.data)
        if isinstance(self.labels, range):
            array = regular(values)
            if array is None or array.dtype.kind not in "iu":
                if array is None or array.size:
                    raise OutsideDomain(f"answers must be integers from 0 to {len(self) - 1}")
                return np.zeros(array.shape, dtype=np.int64)
            if array.size and not (array.min() >= 0 and array.max() < len(self)):
                raise OutsideDomain(f"expected answers among the categories 0 … {len(self) - 1}")
            return array.astype(np.int64, copy=False)
        if isinstance(values, CodedLabels):
            known = np.array([self._code(label) for label in values.labels], dtype=np.int64)
            codes = known[values.places]
            if codes.size and codes.min() < 0:
                raise self._refusal()
            return codes
        array = objects(values)
        found_codes = self._looked_up(array)
        if found_codes is None:
            raise self._refusal()
        return found_codes.reshape(array.shape)

    def _refusal(self) -> OutsideDomain:
        return OutsideDomain(
            f"expected answers among the {len(self)} categories, got another one; add a category for the rest"
        )

    def _code(self, label: object) -> int:
        """Return the code of a label, or −1 if it is not one of the categories."""
        try:
            return self._codes.get(None if self.optional and is_nothing(label) else _plain(label), -1)
        except TypeError:  # not hashable
            return -1

    def _looked_up(self, labels: Array) -> Integers | None:
        """Return the codes of labels, or None; a KeyError contains a label and must not leave this method."""
        try:
            if self.optional:
                labels = np.array([None if is_nothing(item) else item for item in labels.flat], dtype=object)
            return np.array([self._codes[_plain(item)] for item in labels.flat], dtype=np.int64)
        except (KeyError, TypeError):
            return None

    def clip(self, values: object) -> Array:
        """Raise InvalidParameter: an unknown label has no nearest category."""
        raise InvalidParameter(
            "expected a domain of numbers to clip, got categories; add a category for all other answers"
        )

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
            "expected a public list of labels, because categories taken from private data reveal "
            "the data; pass the list"
        )

    def __str__(self) -> str:
        return f"{len(self) - 1} categories or no answer" if self.optional else f"{len(self)} categories"

    def __repr__(self) -> str:
        if isinstance(self.labels, range):
            return f"Categories({len(self)})"
        shown = ", ".join(map(repr, self.labels[:4]))
        return f"Categories([{shown}{', …' if len(self) > 4 else ''}])"


def _plain(label: Hashable) -> Hashable:
    return label.item() if isinstance(label, np.generic) else label


MOST_SYMBOLS: Final = 255
_LETTERS: Final = "azé"


class _Codes(dict[int, int]):
    """A map from code points to symbols. `str.translate` deletes other letters, so the text gets shorter."""

    def __missing__(self, letter: int) -> None:
        return None


def _refuse_places(name: str, data: Data, known: Data) -> NoReturn:
    raise MalformedReport(
        "expected the list of places as categories, without distances; write it as categories"
    )


@dataclass(frozen=True, init=False, eq=False)
class Places(Domain):
    """A public list of places with the distances between them: along roads, in minutes, or any other.

    `distances[i][j]` is the error of reporting place j for place i. Devices know only the list.

    >>> Places(["home", "shop"], distances=[[0, 7], [6, 0]]).distances.max()
    np.float64(7.0)
    """

    categories: Categories
    distances: NDArray[np.float64]

    kind: ClassVar[str] = "places"
    outside: ClassVar[str] = Categories.outside
    fields = Fields(categories=Member(lambda name, places: places.categories.device(), _refuse_places))
    keys = ("distances",)
    usual_mechanism = "Optimal"

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """Return the places that a list and `distances`, or `places = { shop = [x, y], … }`, describe."""
        given, distances = table[cls.kind], table.get("distances")
        if isinstance(given, Mapping) and distances is None:
            points = regular(list(given.values()))
            if points is None or points.dtype.kind not in "fiu" or points.shape[1:] != (2,):
                raise InvalidParameter(
                    "expected places with coordinates, { home = [0, 0.5], … }, or with distances"
                )
            gaps = points[:, None].astype(np.float64) - points
            return cls(given, distances=np.hypot(gaps[..., 0], gaps[..., 1]))
        if not isinstance(given, list) or distances is None:
            raise InvalidParameter(
                "expected distances with places: places = ['a', 'b'] and distances = [[0, 7], [6, 0]], or "
                "places = { a = [0, 0.5], b = [3, 4] } with coordinates"
            )
        return cls(given, distances=distances)

    @property
    def cell_type(self) -> CellType:  # type: ignore[override]
        """How a column holds places."""
        return self.categories.cell_type

    def words(self) -> str:
        return str(self)

    def examples(self, *, few: bool = False) -> list[Hashable]:
        """Return the examples of the list."""
        return self.categories.examples(few=few)

    def __init__(self, labels: Iterable[Hashable] | int, *, distances: object) -> None:
        listed = Categories(labels)
        array = regular(distances)
        if array is None or array.dtype.kind not in "fiu" or array.shape != (len(listed), len(listed)):
            raise InvalidParameter(
                f"distances must be a square matrix of numbers, a row for each of the {len(listed)} places"
            )
        if not (np.isfinite(array).all() and (array >= 0).all() and (array > 0).any()):
            raise InvalidParameter("distances must be finite and not negative, and not all 0")
        object.__setattr__(self, "categories", listed)
        object.__setattr__(self, "distances", array.astype(np.float64))

    def __len__(self) -> int:
        return len(self.categories)

    def check(self, values: object) -> Integers:
        """Return the codes of the places; raise `OutsideDomain` if one is not in the list."""
        return self.categories.check(values)

    def clip(self, values: object) -> Array:
        """Raise InvalidParameter: an unknown place has no distances."""
        return self.categories.clip(values)

    def __str__(self) -> str:
        return f"{len(self)} places"


@dataclass(frozen=True)
class Text(Domain):
    """All texts of up to `length` symbols: bytes of UTF-8, or letters of a public alphabet.

    A text is encoded as a row of `length` symbols from 1 upwards, padded with zeros. A short alphabet makes
    common texts easier to find.

    >>> Text(4, alphabet="abc").check(["cab", "b"])
    array([[3, 1, 2, 0],
           [2, 0, 0, 0]], dtype=uint8)
    """

    length: int
    alphabet: str | None = None

    kind: ClassVar[str] = "text"
    outside: ClassVar[str] = "refuse"
    cell_type = "none"
    fields = Fields(length=WHOLE, alphabet=ANY)

    def words(self) -> str:
        return str(self)

    def examples(self, *, few: bool = False) -> list[str]:
        """Return short texts, a long one and the empty one; their probabilities are not listed."""
        if few:
            return []
        letters = _LETTERS if self.alphabet is None else self.alphabet
        other = letters[-1 if self.alphabet else 1]
        return list(dict.fromkeys([letters[0], other, letters[0] * self.length, ""]))

    def __post_init__(self) -> None:
        if isinstance(self.length, bool) or not isinstance(self.length, int) or not 1 <= self.length <= 256:
            raise InvalidParameter(f"length must be an integer from 1 to 256, not {found(self.length)}")
        if self.alphabet is None:
            return
        if not isinstance(self.alphabet, str) or not 1 <= len(self.alphabet) <= MOST_SYMBOLS:
            raise InvalidParameter(f"alphabet must be a text of 1 to {MOST_SYMBOLS} letters")
        if len(set(self.alphabet)) != len(self.alphabet):
            raise InvalidParameter("expected every letter of the alphabet once, got one twice")

    @property
    def symbols(self) -> int:
        """The number of different symbols, without the padding."""
        return MOST_SYMBOLS if self.alphabet is None else len(self.alphabet)

    @cached_property
    def _codes(self) -> _Codes:
        return _Codes((ord(letter), code + 1) for code, letter in enumerate(self.alphabet or ""))

    def check(self, values: object) -> Bytes:
        """Return the symbols of texts along the last axis; raise `OutsideDomain` if a text is not valid."""
        if isinstance(values, np.ma.MaskedArray):
            raise OutsideDomain(
                "expected texts without a mask, got a masked array; replace or drop missing texts first"
            )
        array = objects(values)
        rows = b"".join([self._row(value) for value in array.flat])
        return np.frombuffer(rows, dtype=np.uint8).reshape(*array.shape, self.length)

    def _row(self, value: object) -> bytes:
        row = self._encode(value)
        if row is None or len(row) > self.length or 0 in row:
            raise OutsideDomain(
                f"expected one of {self}, got another value; check the data, or use clip(values) first"
            )
        return row.ljust(self.length, b"\0")

    def _encode(self, value: object) -> bytes | None:
        """Return the symbols of a value of any length; None if the value cannot be encoded."""
        if isinstance(value, bytes) and self.alphabet is None:
            return bytes(value)
        if not isinstance(value, str):
            return None
        if self.alphabet is not None:
            row = value.translate(self._codes).encode("latin-1")
            return row if len(row) == len(value) else None
        try:
            return value.encode()
        except UnicodeEncodeError:
            return None

    def clip(self, values: object) -> Array:
        """Return texts cut to the length, never within a letter; raise an error for unknown letters."""
        array = objects(values)
        cut = np.empty(array.shape, dtype=object)
        cut[...] = [self._cut(value) for value in array.flat] if array.ndim else self._cut(array.item())
        return cut

    def _cut(self, value: object) -> object:
        row = self._encode(value)
        if row is None or 0 in row:
            self._row(b"\0")
        elif isinstance(value, str) and self.alphabet is None:
            return row[: self.length].decode(errors="ignore")
        return value[: self.length] if isinstance(value, str | bytes) else value

    def decode(self, rows: Bytes) -> list[str]:
        """Return the texts of rows of symbols; bytes that are not UTF-8 become escapes such as \\xff."""
        texts = [bytes(row).split(b"\0", 1)[0] for row in rows]
        if self.alphabet is None:
            return [text.decode(errors="backslashreplace") for text in texts]
        return ["".join(self.alphabet[code - 1] for code in text) for text in texts]

    def __str__(self) -> str:
        kind = "bytes" if self.alphabet is None else f"letters of an alphabet of {len(self.alphabet)}"
        return f"the texts of up to {self.length} {kind}"
