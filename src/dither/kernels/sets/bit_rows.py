"""Rows of bits, eight to a byte: bit x of a row is bit x mod 8 of its byte x // 8, and padding is zero.

Counting columns is addition: full adders take fifteen rows at a time, all their bits at once, to the four
binary digits of the sums (carry-save), and the digits are rows again.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from dither.arrays import Array, Bytes, Integers, Mask, Words
from dither.errors import InvalidParameter, MalformedReport

BIT: Final = (1 << np.arange(8)).astype(np.uint8)

_FEW: Final = 512  # rows that are counted one by one
_GROUP: Final = 15
_BYTES: Final = 1 << 14  # of one operand of an adder: a group stays in the cache


def width(size: int) -> int:
    """Give the number of bytes of a row of `size` bits."""
    return (size + 7) >> 3


def unpack(rows: Bytes, size: int) -> Mask:
    """Give the bits of rows as booleans, along the last axis."""
    return np.unpackbits(rows, axis=-1, count=size, bitorder="little").view(np.bool_)


def places(codes: Array, rows: Bytes) -> tuple[Bytes, Integers, Bytes]:
    """Give all bytes of the rows, to write to, and for each row the byte and the bit of its code."""
    if not rows.flags.c_contiguous:
        raise InvalidParameter("rows of bits are written to in one piece of memory")
    return rows.reshape(-1), np.arange(len(rows)) * rows.shape[1] + (codes >> 3), BIT[codes & 7]


def check(raw: Array, size: int) -> Bytes:
    """Give raw whole numbers as rows of bits, or raise if they are none."""
    bytes_ = width(size)
    if raw.size == 0:
        return np.zeros((0, bytes_), dtype=np.uint8)
    if raw.ndim < 1 or raw.shape[-1] != bytes_:
        raise MalformedReport(f"a report is {bytes_} bytes: an array whose last axis has that length")
    if int(raw.min()) < 0 or int(raw.max()) > 255:
        raise MalformedReport("a report is made of bytes; a number is not from 0 to 255")
    if size & 7 and int(raw[..., -1].max()) >> (size & 7):
        raise MalformedReport(f"a report has {size} bits; those after the last must be zero")
    return raw.astype(np.uint8, copy=False)


def count(rows: Bytes, size: int) -> Integers:
    """Give how many rows have each bit set."""
    flat = np.ascontiguousarray(rows).reshape(-1, rows.shape[-1])
    counts = _count(flat)
    return counts[:size]


def _count(rows: Bytes) -> Integers:
    many, bytes_ = rows.shape
    if many < _FEW:
        counts: Integers = np.unpackbits(rows, axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
        return counts
    # As many rows to an operand as fit, in eights: then an operand is a whole number of 64-bit words.
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
    """Add fifteen vectors of bits, bit by bit, into the four binary digits of the sums."""
    pending: list[Words] = list(words)
    for place in range(4):
        carried: list[Words] = []
        total = digits[place]
        first, *others = pending
        if others:
            one, two = others[0], others[1]
            carried.append(_add(first, one, two, total, scratch))
            for one, two in zip(others[2::2], others[3::2], strict=True):
                carried.append(_add(total, one, two, total, scratch))
        else:
            total[:] = first
        pending = carried


def _add(first: Words, one: Words, two: Words, total: Words, scratch: Words) -> Words:
    """Write the sum of three bits to `total` and give the carry."""
    both, either = scratch
    carry = first & one
    np.bitwise_xor(first, one, out=either)
    np.bitwise_and(either, two, out=both)
    carry |= both
    np.bitwise_xor(either, two, out=total)
    return carry
