"""Bins of a column, and events: sets of bins."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Protocol, final

import numpy as np

from dither.arrays import Array, Floats, Integers, Mask
from dither.audits.black_box.columns import Columns

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


@final
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
        return f"{self.column} {_listed(parts)}"

    def names(self) -> list[str]:
        """Return a short name for each bin."""
        return ["…", *(f"{edge:.4g}" for edge in self.edges.tolist()), "no number"]


@final
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
        known = [repr(label) for label, one in zip(self.labels, inside, strict=True) if one]
        if chosen[-1]:
            left = [repr(label) for label, one in zip(self.labels, inside, strict=True) if not one]
            return f"{self.column} is none of {', '.join(left[:6])}{', …' if len(left) > 6 else ''}"
        return f"{self.column} is {' or '.join(known[:6])}{' or …' if len(known) > 6 else ''}"

    def names(self) -> list[str]:
        """Return a short name for each bin."""
        return [*(str(label)[:12] for label in self.labels), "others"]


def binned(name: str, column: Array) -> list[Binning]:
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


@final
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


def _listed(parts: list[str]) -> str:
    return " or ".join(parts[:6]) + (f" or {len(parts) - 6} more" if len(parts) > 6 else "")
