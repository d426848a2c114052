"""Rows of packed bits: bit x of a row is bit x mod 8 of its byte x // 8, and padding is zero.

Column sums are computed by carry-save addition: full adders reduce fifteen rows at a time, all columns in
parallel, to the four binary digits of the sums. The digits are rows of bits again.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from dither.arrays import Array, Bytes, Integers, Mask, Words
from dither.errors import InvalidParameter, MalformedReport

BIT: Final = (1 << np.arange(8)).astype(np.uint8)

_FEW: Final = 512  # fewer rows than this are unpacked and summed
_GROUP: Final = 15
_BYTES: Final = 1 << 14  # bytes of one operand of an adder, so that a group stays in the cache


def width(size: int) -> int:
    """Return the number of bytes of a row of `size` bits."""
    return (size + 7) >> 3


def unpack(rows: Bytes, size: int) -> Mask:
    """Return the bits of rows as booleans, along the last axis."""
    return np.unpackbits(rows, axis=-1, count=size, bitorder="little").view(np.bool_)


def places(codes: Array, rows: Bytes) -> tuple[Bytes, Integers, Bytes]:
    """Return all bytes of the rows as a view, and for each row the index of its code's byte and the bit."""
    if not rows.flags.c_contiguous:
        raise InvalidParameter("rows of bits must be contiguous in memory to be written to")
    return rows.reshape(-1), np.arange(len(rows)) * rows.shape[1] + (codes >> 3), BIT[codes & 7]


def check(raw: Array, size: int) -> Bytes:
    """Return raw integers as rows of bits; raise MalformedReport if no device could have sent them."""
    bytes_ = width(size)
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


def count(rows: Bytes, size: int) -> Integers:
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
            one, two = others[0], others[1]
            carried.append(_add(first, one, two, total, scratch))
            for one, two in zip(others[2::2], others[3::2], strict=True):
                carried.append(_add(total, one, two, total, scratch))
        else:
            total[:] = first
        pending = carried


def _add(first: Words, one: Words, two: Words, total: Words, scratch: Words) -> Words:
    """Write the sum of three bits to `total` and return the carry."""
    both, either = scratch
    carry = first & one
    np.bitwise_xor(first, one, out=either)
    np.bitwise_and(either, two, out=both)
    carry |= both
    np.bitwise_xor(either, two, out=total)
    return carry
