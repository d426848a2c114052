"""Reports of any type, taken apart into columns: numbers with all of their bits, and labels.

The type of reports is checked once for a batch, not once for a report. A column is one of three arrays:
numbers (one-dimensional, in the type they were reported in), labels (objects), and bits (rows of bytes).
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import ipaddress
import pathlib
import re
import uuid
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dither.advice.audits.black_box.calls import Failed, Outputs
from dither.foundation.arrays import Array

MOST_PARTS: Final = 512  # positions of a text, parts of a list, keys, or members of sets
_MOST_COLUMNS: Final = 4096  # columns of all parts together
_MOST_DEPTH: Final = 4  # depth of lists in lists
_MOST_BYTES: Final = 64  # bytes of an integer: 512 bits
_LAST: Final = 16  # letters from the end of texts whose lengths differ
_NESTED: Final = 32  # parts of a list that are compared with each other
_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+")

Columns = dict[str, Array]
Coverage = dict[str, str]  # omissions and methods: sentences by the name of the part


def take_apart(outputs: Outputs, coverage: Coverage) -> Columns:
    """Return the columns of reports; add the parts that are not examined to `coverage`."""
    return _Reader(coverage).read("report", outputs, 0)


def label(report: object) -> str:
    """Return a text that is equal for equal reports."""
    return repr(report.tolist() if isinstance(report, np.ndarray | np.generic) else report)


class _Reader:
    """Takes batches apart, and lists the omitted parts."""

    def __init__(self, coverage: Coverage) -> None:
        self._coverage = coverage
        self._left = _MOST_COLUMNS

    def read(self, name: str, values: Outputs, depth: int) -> Columns:
        """Return the columns of a batch of values of one or several types."""
        if isinstance(values, np.ndarray):
            return self._array(name, values, depth)
        kinds = list(dict.fromkeys(map(type, values)))
        if len(kinds) <= 1:
            return self._one(name, kinds[0], values, depth) if kinds else {}
        found: Columns = {f"type of {name}": _objects([kind.__name__ for kind in map(type, values)])}
        numbers = np.full(len(values), np.nan)
        for kind in kinds:
            here = np.array([type(value) is kind for value in values])
            some = [value for value in values if type(value) is kind]
            for key, column in self._one(name, kind, some, depth).items():
                if key == name and column.ndim == 1 and column.dtype.kind in "fiub":
                    numbers[here] = column
                before = found.get(key)
                fits = before is None or (before.dtype, before.shape[1:]) == (column.dtype, column.shape[1:])
                where = key if fits and key != name else f"{key} as {kind.__name__}"
                found[where] = _scatter(column, here, before if where == key else None)
        if not np.isnan(numbers).all():
            found[name] = numbers
        return found

    def _one(self, name: str, kind: type, values: list[Any], depth: int) -> Columns:
        """Return the columns of values that are all of one type."""
        if kind is type(None):
            return {}
        if depth > _MOST_DEPTH:
            self._coverage[name] = f"{name}: deeper nested parts are compared as text"
            return self._text(name, list(map(label, values)))
        if issubclass(kind, np.generic):
            return self._array(name, np.array(values), depth)
        for kinds, method in _METHODS:
            if issubclass(kind, kinds):
                return method(self, name, values, depth)
        return self._object(name, kind, values, depth)

    def _number(self, name: str, values: list[Any], depth: int) -> Columns:
        return {name: np.array(values)}

    def _integer(self, name: str, values: list[Any], depth: int) -> Columns:
        try:
            return {name: np.array(list(map(int, values)), dtype=np.int64)}
        except OverflowError:
            sizes = np.array([value.bit_length() for value in values])
            width = int(min(_MOST_BYTES, -(-sizes.max() // 8)))
            if sizes.max() > 8 * width:
                self._coverage[name] = f"{name}: {8 * width} of {sizes.max()} bits were looked at"
            mask = (1 << 8 * width) - 1
            data = b"".join((abs(value) & mask).to_bytes(width, "little") for value in values)
            bits = np.frombuffer(data, dtype=np.uint8).reshape(len(values), width)
            large = np.array([float(value) if size < 1000 else np.inf for value, size in zip(values, sizes)])  # noqa: B905
            negative = np.array([value < 0 for value in values])
            return {name: large, f"{name} in binary": bits, f"sign of {name}": negative}

    def _fields(self, name: str, fields: dict[str, list[Any]], depth: int) -> Columns:
        found: Columns = {}
        for field, values in fields.items():
            found |= self.read(f"{field} of {name}", values, depth + 1)
        return found

    def _complex(self, name: str, values: list[Any], depth: int) -> Columns:
        return self._array(name, np.array(values, dtype=np.complex128), depth)

    def _decimal(self, name: str, values: list[Any], depth: int) -> Columns:
        signs, digits, exponents = zip(*(value.as_tuple() for value in values), strict=True)
        integers = [int("".join(map(str, some)) or "0") for some in digits]
        known = {"sign": list(signs), "digits": integers, "exponent": list(exponents)}
        numbers = np.array([float(value) if value == value else np.nan for value in values])  # noqa: PLR0124
        return {name: numbers} | self._fields(name, known, depth)

    def _fraction(self, name: str, values: list[Any], depth: int) -> Columns:
        known = {part: [getattr(value, part) for value in values] for part in ("numerator", "denominator")}
        return self._fields(name, known, depth)

    def _time(self, name: str, values: list[Any], depth: int) -> Columns:
        names = (
            *("days", "seconds", "microseconds", "year", "month", "day", "hour", "minute", "second"),
            *("microsecond", "fold", "tzinfo"),
        )
        known = {
            part: [getattr(value, part) for value in values] for part in names if hasattr(values[0], part)
        }
        if "tzinfo" in known:
            known["tzinfo"] = [str(zone) for zone in known["tzinfo"]]
        return self._fields(name, known, depth)

    def _as_integer(self, name: str, values: list[Any], depth: int) -> Columns:
        return self._integer(name, list(map(int, values)), depth)

    def _as_text(self, name: str, values: list[Any], depth: int) -> Columns:
        return self._text(name, [str(value) for value in values])

    def _enum(self, name: str, values: list[Any], depth: int) -> Columns:
        return {f"member of {name}": _objects([value.name for value in values])}

    def _error(self, name: str, values: list[Any], depth: int) -> Columns:
        return {f"error of {name}": _objects([value.error for value in values])} | self._text(
            f"message of {name}", [value.message for value in values]
        )

    def _string(self, name: str, values: list[Any], depth: int) -> Columns:
        return self._text(name, values)

    def _text(self, name: str, texts: list[str]) -> Columns:
        """Return texts as labels, their lengths, and their letters from the beginning and from the end."""
        sizes = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        longest = self._limit(name, int(sizes.max()), "letters")
        found: Columns = {f"text of {name}": _objects(list(map(str, texts)))}
        if sizes.min() != sizes.max():
            found[f"length of {name}"] = sizes
            last = [text[-_LAST:].rjust(_LAST, "\0") for text in texts]
            found |= {
                f"letter {_LAST - at} from the end of {name}": column
                for at, column in enumerate(_letters(last, _LAST).T)
            }
        codes = _letters(texts, longest)
        return found | {f"{name}[{at}]": codes[:, at] for at in range(longest)}

    def _bytes(self, name: str, values: list[Any], depth: int) -> Columns:
        data = list(map(bytes, values))
        sizes = np.fromiter(map(len, data), dtype=np.int64, count=len(data))
        longest = self._limit(name, int(sizes.max()), "bytes")
        rows = np.frombuffer(b"".join(part[:longest].ljust(longest, b"\0") for part in data), dtype=np.uint8)
        rows = rows.reshape(len(data), longest)
        found: Columns = {f"text of {name}": _objects(data), f"length of {name}": sizes}
        return found | {f"{name}[{at}]": rows[:, at] for at in range(longest)}

    def _set(self, name: str, values: list[Any], depth: int) -> Columns:
        members = [set(map(repr, value)) for value in values]
        common = Counter(member for some in members for member in some)
        kept = [member for member, _ in common.most_common(self._limit(name, len(common), "members"))]
        found: Columns = {
            f"length of {name}": np.fromiter(map(len, values), dtype=np.int64, count=len(values)),
            f"all of {name}": _objects([", ".join(sorted(some)) for some in members]),
        }
        return found | {
            f"{name} contains {member}": np.array([member in some for some in members]) for member in kept
        }

    def _mapping(self, name: str, values: list[Any], depth: int) -> Columns:
        order = _objects([", ".join(map(repr, value)) for value in values])
        found: Columns = {f"keys of {name}, in order": order}
        keys = list(dict.fromkeys(key for value in values for key in value))
        for key in keys[: self._limit(name, len(keys), "keys")]:
            found |= self._present(f"{name}[{key!r}]", [key in value for value in values], values, key, depth)
        return found

    def _sequence(self, name: str, values: list[Any], depth: int) -> Columns:
        sizes = np.fromiter(map(len, values), dtype=np.int64, count=len(values))
        if sizes.min() == sizes.max():
            array = _rectangle(values)
            if array is not None:
                return self._array(name, array, depth)
        found: Columns = {f"length of {name}": sizes}
        longest = int(sizes.max())
        for at in _places(longest, self._limit(name, longest, "parts")):
            found |= self._present(f"{name}[{at}]", (sizes > at).tolist(), values, at, depth)
        if longest <= _NESTED:
            different = [len(set(map(repr, value))) for value in values]
            found[f"how many different parts are in {name}"] = np.array(different)
        return found

    def _present(self, name: str, there: list[bool], values: list[Any], key: object, depth: int) -> Columns:
        """Return the columns of one part, for the values that have it."""
        some = [value[key] for value, present in zip(values, there, strict=True) if present]
        if len(some) == len(values):
            return self.read(name, some, depth + 1)
        here = np.array(there)
        read = self.read(name, some, depth + 1)
        return {key: _scatter(column, here, None) for key, column in read.items()}

    def _object(self, name: str, kind: type, values: list[Any], depth: int) -> Columns:
        """Return the attributes of objects of a type that no method knows, or their texts."""
        if dataclasses.is_dataclass(kind):
            names = [field.name for field in dataclasses.fields(kind)]
        else:
            slots = [slot for base in kind.__mro__ for slot in _slots(base)]
            names = list(dict.fromkeys([*slots, *(key for value in values for key in _variables(value))]))
            how = "by its attributes" if names else "as text"
            self._coverage[f"type {kind.__name__}"] = f"{name}: the type {kind.__name__} is compared {how}"
        if names:
            known = [{key: getattr(value, key) for key in names if hasattr(value, key)} for value in values]
            return self._mapping(name, known, depth)
        return self._text(name, [_ADDRESS.sub("", repr(value)) for value in values])

    def _array(self, name: str, array: Array, depth: int) -> Columns:
        """Return the columns of an array, whose rows are reports."""
        if array.dtype.names:
            found: Columns = {}
            for field in array.dtype.names:
                found |= self._array(f"{name}[{field!r}]", array[field], depth + 1)
            return found
        rows = array.reshape(len(array), -1)
        kind, width = array.dtype.kind, rows.shape[1]
        if kind == "c":
            real = self._array(f"real part of {name}", array.real, depth)
            return real | self._array(f"imaginary part of {name}", array.imag, depth)
        if kind in "OUS" or kind == "V":
            if array.ndim == 1:
                return self.read(name, array.tolist(), depth + 1)
            return self._sequence(name, array.tolist(), depth)
        if kind in "mM":
            rows = rows.astype(np.int64)
        if array.ndim == 1:
            return _plain(name, rows[:, 0])
        kept = _places(width, self._limit(name, width, "parts"))
        found = {}
        for at in kept:
            found |= _plain(f"{name}[{at}]", rows[:, at])
        if width > 1 and kind in "fiu" and rows.dtype != np.uint8:
            ordered = np.sort(rows, axis=1)
            different = 1 + (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1)
            found[f"how many different numbers are in {name}"] = different
        if width > _NESTED and kind in "fiu":
            found[f"sum of {name}"] = rows.sum(axis=1, dtype=np.float64)
        return found

    def _limit(self, name: str, count: int, what: str) -> int:
        """Return the number of examined parts of `count`; record it in the coverage if it is smaller."""
        kept = max(1, min(count, MOST_PARTS, self._left)) if count else 0
        self._left -= kept
        if kept < count:
            self._coverage[name] = f"{name}: {kept} of {count} {what} were looked at"
        return kept


_METHODS: Final[tuple[tuple[tuple[type, ...], Callable[..., Columns]], ...]] = (
    ((enum.Enum,), _Reader._enum),
    ((bool, float), _Reader._number),
    ((int,), _Reader._integer),
    ((Failed,), _Reader._error),
    ((str,), _Reader._string),
    ((bytes, bytearray, memoryview), _Reader._bytes),
    ((complex,), _Reader._complex),
    ((Decimal,), _Reader._decimal),
    ((Fraction,), _Reader._fraction),
    ((datetime.date, datetime.time, datetime.timedelta), _Reader._time),
    ((uuid.UUID, ipaddress.IPv4Address, ipaddress.IPv6Address), _Reader._as_integer),
    ((pathlib.PurePath, datetime.tzinfo, range, slice), _Reader._as_text),
    ((set, frozenset), _Reader._set),
    ((Mapping,), _Reader._mapping),
    ((list, tuple, deque, np.ndarray), _Reader._sequence),
)


def _plain(name: str, column: Array) -> Columns:
    """Return a column of numbers; for numbers of more than 64 bits, also their bits."""
    if column.dtype.itemsize <= 8:
        return {name: column}
    bits = np.ascontiguousarray(column).view(np.uint8).reshape(len(column), -1)
    return {name: column.astype(np.float64), f"{name} in binary": bits}


def _rectangle(values: list[Any]) -> Array | None:
    """Return sequences of one length as an array of numbers; None if they are not numbers of one type."""
    kinds = set(map(type, values[0])) if not isinstance(values[0], np.ndarray) else {np.float64}
    if len(kinds) != 1 or not issubclass(next(iter(kinds)), (bool, int, float, np.number, np.bool_)):
        return None
    if not isinstance(values[0], np.ndarray):
        kind = next(iter(kinds))
        if any(set(map(type, value)) != {kind} for value in values):
            return None
    try:
        array = np.array(values)
    except (ValueError, OverflowError):
        return None
    return array if array.dtype.kind in "fiub" and array.ndim > 1 else None


def _places(count: int, kept: int) -> Sequence[int]:
    """Return the indices of the examined parts of `count`: the first and the last ones."""
    return range(count) if kept >= count else [*range(kept - 1), count - 1]


def _letters(texts: list[str], width: int) -> Array:
    if width == 0:
        return np.zeros((len(texts), 0), dtype=np.uint32)
    return np.array(texts, dtype=f"U{width}").view(np.uint32).reshape(len(texts), width)


def _objects(labels: list[Any]) -> Array:
    found = np.empty(len(labels), dtype=object)
    found[:] = labels
    return found


def _scatter(column: Array, here: Array, before: Array | None) -> Array:
    """Return a column of all reports with these values at `here`."""
    found = before
    if found is None:
        empty = {"f": np.nan, "O": None}.get(column.dtype.kind, 0)
        found = np.full((len(here), *column.shape[1:]), empty, column.dtype)
    found[here] = column
    return found


def _slots(kind: type) -> Sequence[str]:
    slots = vars(kind).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else [slot for slot in slots if slot != "__dict__"]


def _variables(value: object) -> Sequence[str]:
    return list(getattr(value, "__dict__", ()))
