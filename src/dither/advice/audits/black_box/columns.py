"""Outputs of an unknown randomiser as columns of numbers and labels, and the bins they are counted in."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Protocol

import numpy as np

from dither.advice.audits.black_box.calls import Failed, Outputs
from dither.foundation.arrays import Array, Floats, Integers, Mask

_MOST_PARTS: Final = 32  # of one report that become columns
_MOST_BITS: Final = 512
_DETAILED: Final = 6  # number columns whose low-order bits are looked at
_FEW: Final = 64  # whole numbers closer together are looked at one by one anyway
_LETTERS: Final = 8  # of a text that become columns
_WHOLE: Final = "the whole report"
_GLANCE: Final = 2000  # reports among which different ones are counted

Columns = dict[str, Array]


@dataclass(frozen=True, eq=False)
class Context:
    """What of the claim some columns use: the inputs as numbers, and the scale of Laplace noise for it."""

    inputs: Floats | None = None
    scale: float | None = None  # length of the interval / ε


def columns(outputs: Outputs, context: Context) -> Columns:
    """Return the columns of reports."""
    array = _regular(outputs)
    if array is None:
        plain = _flat_columns(outputs) | _whole(outputs)
    elif array.dtype.names:
        plain = {}
        for name in array.dtype.names:
            field = array[name].reshape(len(array), -1)
            more = field.shape[1] > 1
            plain |= {
                f"report[{name!r}]" + (f"[{at}]" if more else ""): field[:, at].astype(np.float64)
                for at in range(min(field.shape[1], _MOST_PARTS))
            }
        plain |= _whole(array)
    elif array.ndim == 1:
        plain = {"report": array}
    else:
        rows = array.reshape(len(array), -1)
        plain = _rows(rows) | (_whole(rows) if rows.shape[1] > 1 else {})
    return _detail_columns(plain, context)


def _whole(outputs: Outputs) -> Columns:
    """Return whole reports as labels if few are different; no column otherwise.

    Parts that are each independent of the value can tell it together: (a, b, a ⊕ b ⊕ value).
    """
    few = {_label(report) for report in outputs[:_GLANCE]}
    if not 1 < len(few) <= _MOST_LABELS:
        return {}
    labels = np.empty(len(outputs), dtype=object)
    if isinstance(outputs, np.ndarray) and outputs.dtype.names is None:
        rows = np.ascontiguousarray(outputs)
        known, first, where = np.unique(
            rows.view(f"V{rows.itemsize * rows.shape[1]}").reshape(-1), return_index=True, return_inverse=True
        )
        names = np.empty(len(known), dtype=object)
        names[:] = [_label(rows[at]) for at in first.tolist()]
        labels[:] = names[where]
    else:
        labels[:] = [_label(report) for report in outputs]
    return {_WHOLE: labels}


def _label(report: Any) -> str:
    return repr(report.tolist() if isinstance(report, np.ndarray | np.generic) else report)


def _regular(outputs: Outputs) -> Array | None:
    """Return reports that are all numbers of one type as an array; None for any others."""
    if isinstance(outputs, np.ndarray):
        return outputs if outputs.dtype.kind in "fiub" or outputs.dtype.names else None
    kinds = {type(output) for output in outputs}
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    if kind in (int, float, bool) or (isinstance(kind, type) and issubclass(kind, np.number | np.bool_)):
        array = np.array(outputs)
        return array if array.dtype.kind in "fiub" else None
    if kind in (list, tuple, np.ndarray):
        try:
            array = np.array(outputs)
        except ValueError:
            return None
        return array if array.dtype.kind in "fiub" and array.ndim > 1 else None
    return None


def _rows(rows: Array) -> Columns:
    """Return the columns of reports that are rows of numbers: each number, and which of them are equal."""
    width = rows.shape[1]
    if rows.dtype == np.uint8 and width <= _MOST_BITS // 8:
        bits = np.unpackbits(rows, axis=1, bitorder="little")
        whole: Columns = {"report": rows[:, 0]} if width == 1 else {}
        return whole | {f"bit {at} of the report": bits[:, at].astype(np.float64) for at in range(8 * width)}
    if rows.dtype == np.bool_ and width <= _MOST_BITS:
        return {f"report[{at}]": rows[:, at].astype(np.float64) for at in range(width)}
    found: Columns = {f"report[{at}]": rows[:, at] for at in _parts(width)}
    if width > 1:
        ordered = np.sort(rows, axis=1)
        found["how many different numbers are in the report"] = 1.0 + (ordered[:, 1:] != ordered[:, :-1]).sum(
            axis=1
        )
    if width > _MOST_PARTS:
        found["the sum of the report"] = rows.sum(axis=1, dtype=np.float64)
    return found


def _parts(width: int) -> list[int]:
    return list(range(width)) if width <= _MOST_PARTS else [*range(_MOST_PARTS - 1), width - 1]


def _flat_columns(outputs: Outputs) -> Columns:
    rows: list[dict[str, Any]] = []
    for output in outputs:
        row: dict[str, Any] = {}
        _flatten("report", output, row, 0)
        rows.append(row)
    names = list(dict.fromkeys(name for row in rows for name in row))[: _MOST_BITS * 2]
    return {name: _column(name, rows) for name in names}


def _column(name: str, rows: list[dict[str, Any]]) -> Array:
    values = [row.get(name) for row in rows]
    if all(value is None or isinstance(value, float) for value in values):
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    labels = np.empty(len(values), dtype=object)
    labels[:] = [
        value if value is None or isinstance(value, str | bytes) else repr(value) for value in values
    ]
    return labels


def _flatten(name: str, output: Any, row: dict[str, Any], depth: int) -> None:
    """Put the numbers, labels, lengths and types of one report into a row."""
    if isinstance(output, np.generic):
        output = output.item()
    row[f"type of {name}"] = f"error {output.error}" if isinstance(output, Failed) else type(output).__name__
    if isinstance(output, bool | int | float):
        row[f"{name} as written"] = repr(output)  # 3 and 3.0 are different reports
        row[name] = float(output) if abs(output) < 1e300 else repr(output)
        if isinstance(output, float) and abs(output) >= 1e300:
            row[name] = output
    elif isinstance(output, str | bytes):
        row[f"text of {name}"] = output
        row[f"length of {name}"] = float(len(output))
        codes = (
            list(output[:_LETTERS])
            if isinstance(output, bytes)
            else [ord(letter) for letter in output[:_LETTERS]]
        )
        row |= {f"{name}[{at}]": float(code) for at, code in enumerate(codes)}
    elif depth > 3 or output is None or isinstance(output, Failed):
        return
    elif isinstance(output, set | frozenset):
        row[f"length of {name}"] = float(len(output))
        ordered = sorted(map(repr, output))
        row[f"all of {name}"] = ", ".join(ordered)
        row |= {f"{name} contains {element}": 1.0 for element in ordered[:_MOST_PARTS]}
    elif isinstance(output, Mapping):
        row[f"keys of {name}"] = repr(sorted(map(repr, output)))
        for key in list(output)[:_MOST_PARTS]:
            _flatten(f"{name}[{key!r}]", output[key], row, depth + 1)
    elif isinstance(output, list | tuple | np.ndarray):
        row[f"length of {name}"] = (
            float(len(output)) if np.ndim(output) or not isinstance(output, np.ndarray) else 0.0
        )
        parts = list(output) if row[f"length of {name}"] else []
        for at in _parts(len(parts)):
            _flatten(f"{name}[{at}]", parts[at], row, depth + 1)
        row[f"how many different parts are in {name}"] = float(len(set(map(repr, parts))))


def _detail_columns(plain: Columns, context: Context) -> Columns:
    """Return the columns with low-order bits, spacing, distances and the grid of a coarse uniform number."""
    found: Columns = {}
    detailed = 0
    for name, column in plain.items():
        if column.dtype.kind == "O":
            found[name] = column
            continue
        numbers = column.astype(np.float64, copy=False)
        found[name] = numbers
        if detailed >= _DETAILED or not name.startswith("report"):
            continue
        detailed += 1
        finite = numbers[np.isfinite(numbers)]
        whole = bool((finite == np.floor(finite)).all())
        if whole and finite.size and float(finite.max() - finite.min()) >= _FEW:
            with np.errstate(invalid="ignore"):
                found[f"{name} modulo 8"] = np.mod(numbers, 8.0)
        if not whole:
            found[f"the lowest bit of {name} (a power of 2)"] = lowest_bit(numbers)
    number = list(plain.values())
    if context.inputs is not None and all(column.dtype.kind != "O" for column in number):
        width = context.inputs.shape[1]
        if width == len(plain) and 1 < width <= 4:
            rows = np.stack([column.astype(np.float64) for column in number], axis=1)
            for at, place in enumerate(context.inputs):
                found[f"the distance of the report from input {at}"] = np.sqrt(
                    ((rows - place) ** 2).sum(axis=1)
                )
        if width == 1 and context.scale is not None and len(plain) == 1 and number[0].dtype.kind == "f":
            found |= _uniform_grid(number[0].astype(np.float64), context.inputs[:, 0], context.scale)
    return found


def lowest_bit(numbers: Floats) -> Floats:
    """Return the exponent of the lowest bit that is set: 4 of 0.0625 is −4; NaN for 0 and what is not finite.

    Floating-point noise leaves its spacing here: sums are multiples of the last bit of the larger term
    [Mironov12].
    """
    with np.errstate(invalid="ignore"):
        mantissa, exponent = np.frexp(numbers)
        bits = np.abs(np.where(np.isfinite(mantissa), mantissa, 0.0) * 2.0**53).astype(np.int64)
    lowest = bits & -bits
    with np.errstate(divide="ignore"):
        zeros = np.log2(lowest.astype(np.float64))
    return np.where(bits == 0, np.nan, zeros + exponent - 53.0)


_GRIDS: Final = (16, 23, 24, 31, 32)  # bits of a uniform number from which noise may have been computed


def _uniform_grid(numbers: Floats, inputs: Floats, scale: float) -> Columns:
    """Return how near exp(−|report − input|/scale) is to a multiple of 2^−bits, for the first two inputs.

    Laplace noise is −scale·ln(U) with a sign. If U has only so many bits, this is 0 up to rounding under the
    input itself, and anything under other inputs [Mironov12]. The number is log2 of the distance in units.
    """
    found: Columns = {}
    for at, value in enumerate(inputs[:2].tolist()):
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            uniform = np.exp(-np.abs(numbers - value) / scale)
            for bits in _GRIDS:
                steps = uniform * 2.0**bits
                off = np.abs(steps - np.rint(steps))
                found[f"log2 of the distance of U·2^{bits} from a whole number, noise about input {at},"] = (
                    np.log2(np.maximum(off, 2.0**-30))
                )
    return found


_MOST_LABELS: Final = 250
_MOST_ATOMS: Final = 128
_COARSE: Final = 12  # bins, of about equal numbers of reports
_FEW_VALUES: Final = 300  # different values that are each a bin


class Binning(Protocol):
    """Which bin each report falls into."""

    @property
    def column(self) -> str:
        """The name of what is binned: a column, or a score."""

    @property
    def size(self) -> int:
        """The number of bins."""

    def bins(self, columns: Columns, count: int) -> Integers:
        """Return the bin of each of `count` reports."""

    def words(self, chosen: Mask) -> str:
        """Return a set of bins in words."""

    def names(self) -> list[str]:
        """Return a short name for each bin."""


@dataclass(frozen=True, eq=False)
class Edges:
    """Intervals of numbers: bin i holds edges[i − 1] ≤ x < edges[i]. The last bin is for NaN."""

    column: str
    edges: Floats

    @property
    def size(self) -> int:
        """The number of bins."""
        return len(self.edges) + 2

    def bins(self, columns: Columns, count: int) -> Integers:
        """Return the bin of each of `count` reports."""
        numbers = columns.get(self.column)
        if numbers is None or numbers.dtype.kind == "O":
            return np.full(count, self.size - 1, dtype=np.int64)
        found = np.searchsorted(self.edges, numbers, side="right")
        return np.where(np.isnan(numbers), self.size - 1, found).astype(np.int64)

    def words(self, chosen: Mask) -> str:
        """Return a set of bins in words."""
        ends = np.concatenate([[-np.inf], self.edges, [np.inf]])
        parts: list[str] = []
        begin: int | None = None
        inner = [*chosen[: self.size - 1].tolist(), False]
        for at, inside in enumerate(inner):
            if inside and begin is None:
                begin = at
            elif not inside and begin is not None:
                parts.append(_interval(float(ends[begin]), float(ends[at])))
                begin = None
        if chosen[-1]:
            parts.append("is not a finite number, or is missing")
        return f"{self.column} {_list_parts(parts)}"

    def names(self) -> list[str]:
        """Return a short name for each bin."""
        return ["…", *(f"{edge:.4g}" for edge in self.edges.tolist()), "no number"]


@dataclass(frozen=True, eq=False)
class Labels:
    """Single labels, and one bin for all others."""

    column: str
    labels: tuple[Any, ...]
    _codes: dict[Any, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_codes", {label: code for code, label in enumerate(self.labels)})

    @property
    def size(self) -> int:
        """The number of bins."""
        return len(self.labels) + 1

    def bins(self, columns: Columns, count: int) -> Integers:
        """Return the bin of each of `count` reports."""
        labels = columns.get(self.column)
        other = len(self.labels)
        if labels is None:
            return np.full(count, self._codes.get(None, other), dtype=np.int64)
        codes = self._codes
        if labels.dtype.kind != "O":
            labels = labels.astype(object)
        return np.array([codes.get(label, other) for label in labels.tolist()], dtype=np.int64)

    def words(self, chosen: Mask) -> str:
        """Return a set of bins in words."""
        inside = chosen[: len(self.labels)].tolist()
        known = [repr(label) for label, holds in zip(self.labels, inside, strict=True) if holds]
        if chosen[-1]:
            left = [repr(label) for label, holds in zip(self.labels, inside, strict=True) if not holds]
            return f"{self.column} is none of {', '.join(left[:6])}{', …' if len(left) > 6 else ''}"
        return f"{self.column} is {' or '.join(known[:6])}{' or …' if len(known) > 6 else ''}"

    def names(self) -> list[str]:
        """Return a short name for each bin."""
        return [*(str(label)[:12] for label in self.labels), "others"]


def bins_of(name: str, column: Array) -> list[Binning]:
    """Return bins for a column, from reports of all inputs together: fine and coarse ones, or none.

    Fine bins detect narrow events. Coarse bins have more reports each, so their ratios are more accurate.
    """
    if column.dtype.kind == "O":
        common = Counter(column.tolist()).most_common(_MOST_LABELS)
        return [Labels(name, tuple(label for label, _ in common))] if len(common) > 1 else []
    return [Edges(name, edges) for edges in _edges(column)]


def _edges(numbers: Floats) -> list[Floats]:
    """Return edges at quantiles, finer towards both ends, and around numbers that repeat."""
    known = numbers[~np.isnan(numbers)]
    if not known.size:
        return []
    values, counts = np.unique(known, return_counts=True)
    if len(values) == 1:
        return [] if known.size == numbers.size else [values]
    if len(values) <= _FEW_VALUES:
        return [np.unique(np.concatenate([values, np.nextafter(values, np.inf)]))]
    count = known.size
    often = counts >= max(3, count // 400)
    atoms = values[often][np.argsort(-counts[often])[:_MOST_ATOMS]]
    ordered = np.sort(known)
    extreme = [ordered[0], np.nextafter(ordered[-1], np.inf)]  # beyond all reports so far
    others = np.concatenate([extreme, atoms, np.nextafter(atoms, np.inf)])
    tails = 0.5 ** np.arange(2.0, max(3.0, math.log2(count / 8.0)))
    fine = np.linspace(0.0, 1.0, int(np.clip(math.isqrt(count) // 2, 17, 129)))[1:-1]
    places = (np.concatenate([fine, tails, 1.0 - tails]), np.linspace(0.0, 1.0, _COARSE + 1)[1:-1])
    quantiles = [ordered[np.minimum((shares * count).astype(np.int64), count - 1)] for shares in places]
    return [np.unique(np.concatenate([some, others])) for some in quantiles]


@dataclass(frozen=True, eq=False)
class Event:
    """A set of reports: those that fall into some of the bins."""

    binning: Binning
    chosen: Mask

    def contains(self, columns: Columns, count: int) -> Mask:
        """Return which reports are in the set."""
        return self.chosen[self.binning.bins(columns, count)]

    @cached_property
    def words(self) -> str:
        """The event, in words."""
        return "any report" if bool(self.chosen.all()) else self.binning.words(self.chosen)


def _interval(low: float, high: float) -> str:
    if math.isinf(low):
        return f"< {high!r}" if math.isfinite(high) else "is a number"
    if high == math.nextafter(low, math.inf):
        return f"= {low!r}"
    return f"≥ {low!r}" if math.isinf(high) else f"in [{low!r}, {high!r})"


def _list_parts(parts: list[str]) -> str:
    return " or ".join(parts[:6]) + (f" or {len(parts) - 6} more" if len(parts) > 6 else "")
