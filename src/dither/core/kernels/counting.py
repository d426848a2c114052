"""How reports are counted into the vector of a summary."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from dither.core.kernels.packing import count_bits, row_width, unpack_numbers
from dither.core.kernels.sets.hashing import Hashing
from dither.errors import DitherError
from dither.foundation.arrays import Array, Integers

if TYPE_CHECKING:
    from dither.core.kernels.sets.field import Polynomials

_ROWS: Final = 1 << 14  # unpacked at a time, so that they stay in the cache


class Counting(ABC):
    """How reports are counted into the vector of a summary."""

    by_block: ClassVar[bool] = False  # True if counting one report costs about as much as counting many

    @property
    @abstractmethod
    def size(self) -> int:
        """The length of the vector."""

    @abstractmethod
    def count(self, reports: Array) -> Integers:
        """Return the vector of counts of some reports."""

    def count_into(self, counts: Integers, reports: Array) -> None:
        """Add the counts of some reports to a vector, in place."""
        counts += self.count(reports)

    @abstractmethod
    def adds_up(self, counts: Integers, n: int) -> bool:
        """Return whether n answers can have these counts."""

    @abstractmethod
    def answers(self, reports: Array) -> int:
        """Return the number of answers in an array of reports."""

    @abstractmethod
    def implied_answers(self, counts: Integers) -> int | None:
        """Return the number of answers that some counts imply; None if the counts do not say."""


@dataclass(frozen=True)
class EachReport(Counting):
    """The number of times each of `outcomes` different reports was sent."""

    outcomes: int

    @property
    def size(self) -> int:
        return self.outcomes

    def count(self, reports: Array) -> Integers:
        return np.bincount(reports.reshape(-1), minlength=self.size)

    def count_into(self, counts: Integers, reports: Array) -> None:
        if reports.size < self.outcomes >> 4:  # A vector of all outcomes would cost more than the reports.
            np.add.at(counts, reports.reshape(-1), 1)
        else:
            counts += self.count(reports)

    def adds_up(self, counts: Integers, n: int) -> bool:
        return int(counts.sum()) == n

    def implied_answers(self, counts: Integers) -> int:
        return int(counts.sum())

    def answers(self, reports: Array) -> int:
        return int(reports.size)


@dataclass(frozen=True)
class LeadingBits(Counting):
    """The count of each group of 2^rest neighbouring cells; the last entry is the sum of cell mod 2^rest.

    So the sum of all cells stays exact: Σ cell = 2^rest · Σ group·count + Σ (cell mod 2^rest).
    """

    cells: int
    rest: int

    @property
    def groups(self) -> int:
        """The number of groups."""
        return self.cells >> self.rest

    @property
    def size(self) -> int:
        return self.groups + 1

    def count(self, reports: Array) -> Integers:
        flat = reports.reshape(-1)
        cut = (flat & flat.dtype.type((1 << self.rest) - 1)).sum(dtype=np.int64)
        return np.append(np.bincount(flat >> self.rest, minlength=self.groups), cut)

    def adds_up(self, counts: Integers, n: int) -> bool:
        return int(counts[:-1].sum()) == n and int(counts[-1]) <= n * ((1 << self.rest) - 1)

    def implied_answers(self, counts: Integers) -> int:
        return int(counts[:-1].sum())

    def answers(self, reports: Array) -> int:
        return int(reports.size)


@dataclass(frozen=True)
class BitSums(Counting):
    """For each of `bits` bits, the number of rows of packed bits in which it is set."""

    bits: int

    @property
    def size(self) -> int:
        return self.bits

    def count(self, reports: Array) -> Integers:
        return count_bits(reports, self.size)

    def adds_up(self, counts: Integers, n: int) -> bool:
        return int(counts.max()) <= n

    def implied_answers(self, counts: Integers) -> None:
        """Return None: the counts do not say how many answers there are."""

    def answers(self, reports: Array) -> int:
        return int(reports.size) // row_width(self.size)


@dataclass(frozen=True)
class HashMatches(Counting):
    """For each of `items` items, the number of reports whose hash function maps it to the reported bucket."""

    items: int
    hashing: Hashing
    by_block: ClassVar[bool] = True

    @property
    def size(self) -> int:
        return self.items

    def count(self, reports: Array) -> Integers:
        return self.hashing.count(*self.hashing.unpack(reports), range(self.size))

    def adds_up(self, counts: Integers, n: int) -> bool:
        return int(counts.max()) <= n

    def implied_answers(self, counts: Integers) -> None:
        """Return None: the counts do not say how many answers there are."""

    def answers(self, reports: Array) -> int:
        return int(reports.size)


@dataclass(frozen=True)
class ValuesBelow(Counting):
    """For each of `items` elements, the number of polynomials whose value there is below a bound."""

    items: int
    polynomials: Polynomials
    bound: int
    by_block: ClassVar[bool] = True

    @property
    def size(self) -> int:
        return self.items

    def count(self, reports: Array) -> Integers:
        rows = reports.reshape(-1, self.polynomials.length)
        return self.polynomials.count_below(rows, np.arange(self.size), self.bound)

    def adds_up(self, counts: Integers, n: int) -> bool:
        return int(counts.max()) <= n

    def implied_answers(self, counts: Integers) -> None:
        """Return None: the counts do not say how many answers there are."""

    def answers(self, reports: Array) -> int:
        return int(reports.size) // self.polynomials.length


@dataclass(frozen=True)
class EachColumn(Counting):
    """The count of each cell in each column of the reports, one column after the other."""

    cells: tuple[int, ...]

    @property
    def size(self) -> int:
        return sum(self.cells)

    def count(self, reports: Array) -> Integers:
        flat = reports.reshape(-1, len(self.cells))
        return np.concatenate(
            [np.bincount(flat[:, column], minlength=cells) for column, cells in enumerate(self.cells)]
        )

    def adds_up(self, counts: Integers, n: int) -> bool:
        ends = np.cumsum(self.cells)[:-1]
        return all(int(part.sum()) == n for part in np.split(counts, ends))

    def implied_answers(self, counts: Integers) -> int:
        return int(counts[: self.cells[0]].sum())

    def answers(self, reports: Array) -> int:
        return int(reports.size) // len(self.cells)


@dataclass(frozen=True)
class ColumnSums(Counting):
    """For each number below `items`, how many reports contain it; a report has different numbers."""

    items: int
    columns: int  # numbers of a report

    @property
    def size(self) -> int:
        return self.items

    def count(self, reports: Array) -> Integers:
        return np.bincount(reports.reshape(-1), minlength=self.size)

    def adds_up(self, counts: Integers, n: int) -> bool:
        return int(counts.sum()) == n * self.columns and int(counts.max()) <= n

    def implied_answers(self, counts: Integers) -> int:
        return int(counts.sum()) // self.columns

    def answers(self, reports: Array) -> int:
        return int(reports.size) // self.columns


@dataclass(frozen=True)
class PackedColumns(Counting):
    """For each number below `items`, how many reports contain it; a report packs `columns` of them."""

    items: int
    columns: int
    width: int

    @property
    def size(self) -> int:
        return self.items

    def count(self, reports: Array) -> Integers:
        length = row_width(self.columns * self.width)
        rows = reports.reshape(-1, length)
        counts = np.zeros(self.size, dtype=np.int64)
        for begin in range(0, len(rows), _ROWS):
            for column in unpack_numbers(rows[begin : begin + _ROWS], self.columns, self.width):
                counts += np.bincount(column, minlength=self.size)
        return counts

    def adds_up(self, counts: Integers, n: int) -> bool:
        return int(counts.sum()) == n * self.columns and int(counts.max()) <= n

    def implied_answers(self, counts: Integers) -> int:
        return int(counts.sum()) // self.columns

    def answers(self, reports: Array) -> int:
        return int(reports.size) // row_width(self.columns * self.width)


@dataclass(frozen=True)
class EachFunction(Counting):
    """The counts of each function, concatenated; a report begins with the number of its function."""

    parts: tuple[Counting, ...]
    widths: tuple[int, ...]  # numbers in a report of each function's value; 0 if it is a number and not a row
    columns: int  # numbers of a report

    @property
    def size(self) -> int:
        return sum(part.size for part in self.parts)

    def split(self, counts: Integers) -> list[Integers]:
        """Return the counts of every function."""
        return np.split(counts, np.cumsum([part.size for part in self.parts])[:-1])

    def count(self, reports: Array) -> Integers:
        flat = reports.reshape(-1, self.columns)
        order = np.argsort(flat[:, 0], kind="stable")
        cuts = np.searchsorted(flat[order, 0], np.arange(len(self.parts) + 1))
        found = []
        for index, (part, width) in enumerate(zip(self.parts, self.widths, strict=True)):
            rows = flat[order[cuts[index] : cuts[index + 1]]]
            found.append(part.count(rows[:, 1 : 1 + width] if width else rows[:, 1]))
        return np.concatenate(found)

    def people(self, counts: Integers) -> list[int]:
        """Return how many people reported the value of each function."""
        pairs = zip(self.split(counts), self.widths, strict=True)
        return [int(part.sum()) // max(width, 1) for part, width in pairs]

    def adds_up(self, counts: Integers, n: int) -> bool:
        people = self.people(counts)
        parts = zip(self.parts, self.split(counts), people, strict=True)
        return sum(people) == n and all(part.adds_up(own, count) for part, own, count in parts)

    def implied_answers(self, counts: Integers) -> int:
        return sum(self.people(counts))

    def answers(self, reports: Array) -> int:
        return int(reports.size) // self.columns


@dataclass(frozen=True)
class CoarseGrid(Counting):
    """The count of each cell of a coarse grid, from the last two columns of the reports."""

    columns: int  # the number of integers of a report
    cells: tuple[int, int]
    grid: tuple[int, int]

    @property
    def size(self) -> int:
        return math.prod(self.grid)

    def count(self, reports: Array) -> Integers:
        flat = reports.reshape(-1, self.columns)[:, -2:].astype(np.int64)
        first, second = (flat[:, axis] * self.grid[axis] // self.cells[axis] for axis in (0, 1))
        return np.bincount(first * self.grid[1] + second, minlength=self.size)

    def adds_up(self, counts: Integers, n: int) -> bool:
        return int(counts.sum()) == n

    def implied_answers(self, counts: Integers) -> int:
        return int(counts.sum())

    def answers(self, reports: Array) -> int:
        return int(reports.size) // self.columns


@dataclass(frozen=True)
class NotCounted(Counting):
    """Reports that cannot be summarised by counts; counting raises `reason`."""

    reason: DitherError
    columns: int = 1  # the number of integers of a report

    @property
    def size(self) -> int:
        raise self.reason

    def count(self, reports: Array) -> Integers:
        raise self.reason

    def adds_up(self, counts: Integers, n: int) -> bool:
        raise self.reason

    def implied_answers(self, counts: Integers) -> None:
        """Return None: the counts do not say how many answers there are."""

    def answers(self, reports: Any) -> int:
        return int(reports.size) // self.columns
