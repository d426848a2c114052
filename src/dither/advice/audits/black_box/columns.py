"""Columns of the reports of an unknown randomiser, and the bins that reports are counted in."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Protocol

import numpy as np

from dither.advice.audits.black_box.calls import Outputs
from dither.advice.audits.black_box.parts import Columns, Coverage, label, take_apart
from dither.foundation.arrays import Array, Floats, Integers, Mask

_DETAILED: Final = 6  # largest number of columns whose low-order bits are examined
_FEW: Final = 64  # integers in a smaller range are examined one by one
_WHOLE: Final = "the whole report"
_COMPUTED: Final = ("the ", "log2 ", "how many ", "length ", "sum ")  # computed columns have no bits
_GLANCE: Final = 2000  # number of reports in which distinct ones are counted


@dataclass(frozen=True, eq=False)
class Context:
    """The parts of a claim that some columns use: the inputs as numbers, and the scale of its Laplace noise.

    `coverage` is filled with the parts of reports that were not examined or were compared as text.
    """

    inputs: Floats | None = None
    scale: float | None = None  # length of the interval / ε
    coverage: Coverage = field(default_factory=dict)


def columns(outputs: Outputs, context: Context) -> Columns:
    """Return the columns of reports."""
    plain = take_apart(outputs, context.coverage)
    if len(plain) > 1 or any(column.dtype.kind == "O" for column in plain.values()):
        plain |= _whole(outputs)
    return _detail_columns(plain, context)


def _whole(outputs: Outputs) -> Columns:
    """Return complete reports as labels if few are distinct, otherwise no column.

    Parts that are each independent of the value can reveal it together: (a, b, a ⊕ b ⊕ value).
    """
    few = {label(report) for report in outputs[:_GLANCE]}
    if not 1 < len(few) <= _MOST_LABELS:
        return {}
    labels = np.empty(len(outputs), dtype=object)
    if isinstance(outputs, np.ndarray) and outputs.dtype.kind in "fiub" and outputs.ndim == 2:
        rows = np.ascontiguousarray(outputs)
        known, first, where = np.unique(
            rows.view(f"V{rows.itemsize * rows.shape[1]}").reshape(-1), return_index=True, return_inverse=True
        )
        names = np.empty(len(known), dtype=object)
        names[:] = [label(rows[at]) for at in first.tolist()]
        labels[:] = names[where]
    else:
        labels[:] = [label(report) for report in outputs]
    return {_WHOLE: labels}


def _detail_columns(plain: Columns, context: Context) -> Columns:
    """Return the columns with low-order bits, spacing, distances and the grid of a coarse uniform number."""
    found: Columns = dict(plain)
    numbers = {
        name: column
        for name, column in plain.items()
        if name.startswith("report") and column.ndim == 1 and column.dtype.kind in "fiub"
    }
    for name, column in list(numbers.items())[:_DETAILED]:
        floats = column.astype(np.float64)
        finite = floats[np.isfinite(floats)]
        integral = bool((finite == np.floor(finite)).all())
        if integral and finite.size and float(finite.max() - finite.min()) >= _FEW:
            with np.errstate(invalid="ignore"):
                found[f"{name} modulo 8"] = np.mod(floats, 8.0)
        if not integral:
            found[f"the lowest bit of {name} (a power of 2)"] = lowest_bit(floats)
    if context.inputs is None or any(column.dtype.kind == "O" for column in plain.values()):
        return found
    width, reports = context.inputs.shape[1], list(numbers.values())
    if width == len(reports) and 1 < width <= 4:
        rows = np.stack([column.astype(np.float64) for column in reports], axis=1)
        for at, index in enumerate(context.inputs):
            distance = np.sqrt(((rows - index) ** 2).sum(axis=1))
            found[f"the distance of the report from input {at}"] = distance
    if width == 1 and context.scale is not None and len(plain) == 1 and reports[0].dtype.kind == "f":
        found |= _uniform_grid(reports[0].astype(np.float64), context.inputs[:, 0], context.scale)
    return found


def lowest_bit(numbers: Floats) -> Floats:
    """Return the exponent of the lowest bit that is set: 4 of 0.0625 is −4; NaN for 0 and infinities.

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
    """Return the distance of exp(−|report − input|/scale) from multiples of 2^−bits under two inputs.

    Laplace noise is −scale·ln(U) with a sign. If U has few bits, this is 0 up to rounding under the
    input itself, and anything under other inputs [Mironov12]. The number is log2 of the distance in units.
    """
    found: Columns = {}
    for at, value in enumerate(inputs[:2].tolist()):
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            uniform = np.exp(-np.abs(numbers - value) / scale)
            for bits in _GRIDS:
                steps = uniform * 2.0**bits
                off = np.abs(steps - np.rint(steps))
                found[f"log2 of the distance of U·2^{bits} from an integer, noise about input {at},"] = (
                    np.log2(np.maximum(off, 2.0**-30))
                )
    return found


_MOST_LABELS: Final = 250
_MOST_ATOMS: Final = 128
_COARSE: Final = 12  # number of bins with about equal numbers of reports
_FEW_VALUES: Final = 300  # largest number of distinct values with one bin each


class Binning(Protocol):
    """A division of reports into bins."""

    @property
    def column(self) -> str:
        """The name of the binned column or score."""

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
        column = columns.get(self.column)
        if column is None or column.dtype.kind == "O" or column.ndim > 1:
            return np.full(count, self.size - 1, dtype=np.int64)
        numbers = column.astype(np.float64, copy=False)
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


def bits_of(column: Array) -> Array:
    """Return the bits of numbers, or of rows of bytes, as rows of bytes from the lowest; labels have no bits.

    Floats have the bits of their fractions, and the sign where it is not seen in the number: of 0 and of NaN.
    The other signs and the exponents are examined by bins.
    """
    if column.ndim == 2:
        return column
    if column.dtype.kind in "Ob":
        return np.zeros((len(column), 0), dtype=np.uint8)
    if column.dtype.kind == "f":
        return _fraction_bits(column)
    little = np.ascontiguousarray(column.astype(column.dtype.newbyteorder("<"), copy=False))
    return little.view(np.uint8).reshape(len(column), -1)


def _fraction_bits(floats: Array) -> Array:
    size, digits = floats.dtype.itemsize, np.finfo(floats.dtype).nmant
    complete = np.ascontiguousarray(floats).view(f"u{size}")
    kept = complete & complete.dtype.type((1 << digits) - 1)
    sign = np.signbit(floats) & ((floats == 0) | np.isnan(floats))
    return bits_of(kept | sign.astype(complete.dtype) << complete.dtype.type(digits))


def has_bits(name: str) -> bool:
    """Return whether a column was reported directly, so that its bits are examined."""
    return not name.startswith(_COMPUTED) and not name.endswith(" modulo 8")


@dataclass(frozen=True, eq=False)
class Bit:
    """One bit of a number, or of an integer of any length, as it is written in binary."""

    number: str  # the column
    at: int

    @property
    def column(self) -> str:
        """The name of the bit."""
        return f"bit {self.at} of {self.number}"

    @property
    def size(self) -> int:
        """The number of bins."""
        return 2

    def bins(self, columns: Columns, count: int) -> Integers:
        """Return the bit of each of `count` reports; 0 for reports without it."""
        column = columns.get(self.number)
        data = None if column is None else bits_of(column)
        if data is None or self.at >= 8 * data.shape[1]:
            return np.zeros(count, dtype=np.int64)
        return (data[:, self.at // 8] >> (self.at % 8) & 1).astype(np.int64)

    def words(self, chosen: Mask) -> str:
        """Return a set of bins in words."""
        return f"{self.column} = {int(chosen[1])}"

    def names(self) -> list[str]:
        """Return a short name for each bin."""
        return ["0", "1"]


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
            return f"{self.column} is not one of {', '.join(left[:6])}{', …' if len(left) > 6 else ''}"
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
        return [Labels(name, tuple(value for value, _ in common))] if len(common) > 1 else []
    if column.ndim > 1:
        return []  # bits: each is a column of its own
    return [Edges(name, edges) for edges in _edges(column.astype(np.float64, copy=False))]


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
    extreme = [ordered[0], np.nextafter(ordered[-1], np.inf)]  # an edge beyond all reports until now
    others = np.concatenate([extreme, atoms, np.nextafter(atoms, np.inf)])
    tails = 0.5 ** np.arange(2.0, max(3.0, math.log2(count / 8.0)))
    fine = np.linspace(0.0, 1.0, int(np.clip(math.isqrt(count) // 2, 17, 129)))[1:-1]
    points = (np.concatenate([fine, tails, 1.0 - tails]), np.linspace(0.0, 1.0, _COARSE + 1)[1:-1])
    quantiles = [ordered[np.minimum((shares * count).astype(np.int64), count - 1)] for shares in points]
    return [np.unique(np.concatenate([some, others])) for some in quantiles]


@dataclass(frozen=True, eq=False)
class Event:
    """A set of reports: those that fall into some of the bins."""

    binning: Binning
    chosen: Mask

    def contains(self, columns: Columns, count: int) -> Mask:
        """Return a mask of the reports in the set."""
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
