"""How reports are counted into a summary, and rows of packed bits."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from dither.core.kernels.sets.hashing import Hashing
from dither.errors import DitherError, InvalidParameter, MalformedReport
from dither.foundation.arrays import Array, Bytes, Integers, Mask, Words

BIT: Final = (1 << np.arange(8)).astype(np.uint8)

_FEW: Final = 512  # fewer rows than this are unpacked and summed
_GROUP: Final = 15
_BYTES: Final = 1 << 14  # bytes of one operand of an adder, so that a group stays in the cache


def row_width(size: int) -> int:
    """Return the number of bytes of a row of `size` bits."""
    return (size + 7) >> 3


def unpack_rows(rows: Bytes, size: int) -> Mask:
    """Return the bits of rows as booleans, along the last axis."""
    return np.unpackbits(rows, axis=-1, count=size, bitorder="little").view(np.bool_)


def bit_places(codes: Array, rows: Bytes) -> tuple[Bytes, Integers, Bytes]:
    """Return all bytes of the rows as a view, and for each row the index of its code's byte and the bit."""
    if not rows.flags.c_contiguous:
        raise InvalidParameter("rows of bits must be contiguous in memory to be written to")
    return rows.reshape(-1), np.arange(len(rows)) * rows.shape[1] + (codes >> 3), BIT[codes & 7]


def check_rows(raw: Array, size: int) -> Bytes:
    """Return raw integers as rows of bits; raise MalformedReport if no device could have sent them."""
    bytes_ = row_width(size)
    if raw.size == 0:
        return np.zeros((0, bytes_), dtype=np.uint8)
    if raw.ndim < 1 or raw.shape[-1] != bytes_:
        raise MalformedReport(
            f"a report has {bytes_} bytes: the last axis of the array must have that length"
        )
    if int(raw.min()) < 0 or int(raw.max()) > 255:
        raise MalformedReport("a report consists of bytes; a number is not from 0 to 255")
    if size & 7 and int(raw[..., -1].max()) >> (size & 7):
        raise MalformedReport(f"a report has {size} bits; the padding bits after them must be zero")
    return raw.astype(np.uint8, copy=False)


def count_bits(rows: Bytes, size: int) -> Integers:
    """Return the column sums: for each bit, the number of rows in which it is set."""
    flat = np.ascontiguousarray(rows).reshape(-1, rows.shape[-1])
    counts = _count(flat)
    return counts[:size]


def _count(rows: Bytes) -> Integers:
    many, bytes_ = rows.shape
    if many < _FEW:
        counts: Integers = np.unpackbits(rows, axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
        return counts
    # A multiple of eight rows for each operand, so that an operand is a whole number of 64-bit words.
    each = max(min(many // _GROUP, _BYTES // bytes_) & ~7, 8)
    groups = many // (_GROUP * each)
    used = groups * _GROUP * each
    words = rows[:used].reshape(-1).view(np.uint64).reshape(groups, _GROUP, each * bytes_ // 8)
    digits = np.empty((4, groups, words.shape[2]), dtype=np.uint64)
    scratch = np.empty((2, words.shape[2]), dtype=np.uint64)
    for group in range(groups):
        _digits(words[group], digits[:, group], scratch)
    total = _count(rows[used:])
    for place in range(4):
        total += _count(digits[place].reshape(-1).view(np.uint8).reshape(-1, bytes_)) << place
    return total


def _digits(words: Words, digits: Words, scratch: Words) -> None:
    """Add fifteen vectors of bits, each bit separately, and write the four binary digits of the sums."""
    pending: list[Words] = list(words)
    for place in range(4):
        carried: list[Words] = []
        total = digits[place]
        first, *others = pending
        if others:
            second, third = others[0], others[1]
            carried.append(_add(first, second, third, total, scratch))
            for second, third in zip(others[2::2], others[3::2], strict=True):
                carried.append(_add(total, second, third, total, scratch))
        else:
            total[:] = first
        pending = carried


def _add(first: Words, second: Words, third: Words, total: Words, scratch: Words) -> Words:
    """Write the sum of three bits to `total` and return the carry."""
    both, either = scratch
    carry = first & second
    np.bitwise_xor(first, second, out=either)
    np.bitwise_and(either, third, out=both)
    carry |= both
    np.bitwise_xor(either, third, out=total)
    return carry


def unpack_numbers(rows: Bytes, count: int, width: int) -> Iterator[Integers]:
    """Yield the numbers of rows one column after the other: `width` bits each, the lowest first."""
    length = rows.shape[-1]
    words = np.zeros((len(rows), -(-length // 8)), dtype="<u8")
    words.view(np.uint8)[:, :length] = rows
    columns = [np.ascontiguousarray(column) for column in words.T]
    mask = np.uint64((1 << width) - 1)
    for place in range(count):
        at, shift = divmod(place * width, 64)
        number = columns[at] >> np.uint64(shift)
        if shift + width > 64:
            number |= columns[at + 1] << np.uint64(64 - shift)
        number &= mask
        yield number.view(np.int64)


def pack_numbers(columns: Sequence[Array], width: int, rows: Bytes) -> None:
    """Write columns of numbers to rows of bytes: `width` bits each, the lowest first."""
    length = rows.shape[-1]
    words = np.zeros((-(-length // 8), len(rows)), dtype=np.uint64)
    together = max(32 // width, 1)  # numbers that one of 32 bits holds
    for place in range(0, len(columns), together):
        number = columns[place].astype(np.uint32)
        for more, column in enumerate(columns[place + 1 : place + together], 1):
            number |= column.astype(np.uint32) << np.uint32(more * width)
        at, shift = divmod(place * width, 64)
        words[at] |= number.astype(np.uint64) << np.uint64(shift)
        if shift + min(together, len(columns) - place) * width > 64:
            words[at + 1] |= number.astype(np.uint64) >> np.uint64(64 - shift)
    packed = np.ascontiguousarray(words.T).astype("<u8", copy=False)
    rows[:] = packed.view(np.uint8).reshape(len(rows), -1)[:, :length]


class Counting(ABC):
    """How reports are counted into the vector of a summary."""

    by_block: ClassVar[bool] = False  # whether counting one report costs about as much as counting many

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
        if reports.size < self.outcomes >> 4:  # a vector of all outcomes would cost more than the reports
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
    """How many reports, each a row of different numbers below `items`, hold each number."""

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
    """How many reports, each `columns` different numbers of `width` bits, hold each number below `items`."""

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
        for begin in range(0, len(rows), _BYTES):
            for column in unpack_numbers(rows[begin : begin + _BYTES], self.columns, self.width):
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
    """Reports that begin with the number of a function, counted function by function, one after the other."""

    parts: tuple[Counting, ...]
    widths: tuple[
        int, ...
    ]  # numbers of a report of each function's value; 0 if it is one number and not a row
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
        for place, (part, width) in enumerate(zip(self.parts, self.widths, strict=True)):
            rows = flat[order[cuts[place] : cuts[place + 1]]]
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
