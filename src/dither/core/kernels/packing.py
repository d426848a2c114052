"""Check, count, read and write rows of packed bits and of packed numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from dither.errors import InvalidParameter, MalformedReport
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
            f"expected the last axis of the array to have length {bytes_}, the number of bytes of a report"
        )
    if int(raw.min()) < 0 or int(raw.max()) > 255:
        raise MalformedReport(
            "expected reports of bytes from 0 to 255, got another number; pass the reports of this question"
        )
    if size & 7 and int(raw[..., -1].max()) >> (size & 7):
        raise MalformedReport(
            f"expected zeros in the padding bits after the {size} bits of a report; pass the reports of "
            "this question"
        )
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
    # A multiple of eight rows for each operand, so that an operand fills 64-bit words.
    each = max(min(many // _GROUP, _BYTES // bytes_) & ~7, 8)
    groups = many // (_GROUP * each)
    used = groups * _GROUP * each
    words = rows[:used].reshape(-1).view(np.uint64).reshape(groups, _GROUP, each * bytes_ // 8)
    digits = np.empty((4, groups, words.shape[2]), dtype=np.uint64)
    scratch = np.empty((2, words.shape[2]), dtype=np.uint64)
    for group in range(groups):
        _digits(words[group], digits[:, group], scratch)
    total = _count(rows[used:])
    for index in range(4):
        total += _count(digits[index].reshape(-1).view(np.uint8).reshape(-1, bytes_)) << index
    return total


def _digits(words: Words, digits: Words, scratch: Words) -> None:
    """Add fifteen vectors of bits, each bit separately, and write the four binary digits of the sums."""
    pending: list[Words] = list(words)
    for index in range(4):
        carried: list[Words] = []
        total = digits[index]
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
    for index in range(count):
        at, shift = divmod(index * width, 64)
        number = columns[at] >> np.uint64(shift)
        if shift + width > 64:
            number |= columns[at + 1] << np.uint64(64 - shift)
        number &= mask
        yield number.view(np.int64)


def pack_numbers(columns: Sequence[Array], width: int, rows: Bytes) -> None:
    """Write columns of numbers to rows of bytes: `width` bits each, the lowest first."""
    length = rows.shape[-1]
    words = np.zeros((-(-length // 8), len(rows)), dtype=np.uint64)
    together = max(32 // width, 1)  # numbers in a word of 32 bits
    for index in range(0, len(columns), together):
        number = columns[index].astype(np.uint32)
        for more, column in enumerate(columns[index + 1 : index + together], 1):
            number |= column.astype(np.uint32) << np.uint32(more * width)
        at, shift = divmod(index * width, 64)
        words[at] |= number.astype(np.uint64) << np.uint64(shift)
        if shift + min(together, len(columns) - index) * width > 64:
            words[at + 1] |= number.astype(np.uint64) >> np.uint64(64 - shift)
    packed = np.ascontiguousarray(words.T).astype("<u8", copy=False)
    rows[:] = packed.view(np.uint8).reshape(len(rows), -1)[:, :length]
