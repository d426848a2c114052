"""The identity of people in a table with several rows per person: texts of ids, and ids seen before."""

from __future__ import annotations

import datetime
import math
import os
import re
import unicodedata
import uuid
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

import numpy as np

from dither.foundation.arrays import Array, Integers, Mask, Words

_DECIMAL: Final = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]+")


def are_ids(data: Array, begins: Integers) -> bool:
    """Return whether texts, given as bytes, are ids unchanged by `person_text`.

    This holds for non-empty texts of ASCII without spaces and points.
    """
    if not data.size or (begins[1:] <= begins[:-1]).any():
        return False
    return bool(data.min() > ord(" ") and data.max() < 0x7F and not (data == ord(".")).any())


_FACTORS: Final = tuple(np.uint64(number) for number in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


_BLOCK: Final = 1 << 15  # ids looked up at once: the intermediate results stay in the cache


class KnownPeople:
    """The people seen in a table, as 64-bit digests keyed by a secret of this object.

    `rows` is the number of rows that are used of one person.

    A number is mixed one to one, so two different numbers are always two people. With probability n²/2^65,
    two of n texts share a digest, and the second person is left out: 3·10⁻⁶ for 10⁷ texts, 3 % for 10⁹.
    """

    def __init__(self, rows: int = 1) -> None:
        self._before, self._behind = np.frombuffer(os.urandom(16), dtype=np.uint64)
        self._numbers, self._texts = ([_Digests() for _ in range(rows)] for _ in range(2))

    def first_numbers(self, numbers: Words) -> Mask:
        """Return True for each number that was seen fewer than `rows` times before."""
        first = np.empty(numbers.size, dtype=np.bool_)
        for at in range(0, numbers.size, _BLOCK):
            first[at : at + _BLOCK] = _add(self._numbers, _mix(numbers[at : at + _BLOCK] ^ self._before))
        return first

    def first_texts(self, data: Array, begins: Integers) -> Mask:
        """Return True for each text, of bytes and where they begin, seen fewer than `rows` times before."""
        padded = np.concatenate([data, np.zeros(8, dtype=np.uint8)])
        words = np.ndarray((data.size + 1,), np.dtype("<u8"), padded.data, 0, (1,))
        first = np.empty(begins.size - 1, dtype=np.bool_)
        for at in range(0, first.size, _BLOCK):
            some = begins[at : at + _BLOCK + 1]
            first[at : at + _BLOCK] = _add(self._texts, self._digests(words, some[:-1], np.diff(some)))
        return first

    def _digests(self, words: Words, begins: Integers, sizes: Integers) -> Words:
        """Return the digest of each text, from its words of 8 bytes, one after another."""
        digests: Words = sizes.astype(np.uint64) ^ self._before
        least, longest = int(sizes.min(initial=0)), int(sizes.max(initial=0))
        rows: Any = slice(None)
        for at in range(0, longest, 8):
            if at >= least:
                rows = np.flatnonzero(sizes > at) if isinstance(rows, slice) else rows[sizes[rows] > at]
            word = words[begins[rows] + at]
            if at + 8 > least:  # the bytes behind the end of a text are not its own
                word <<= np.uint64(8) * np.maximum(at + 8 - sizes[rows], 0).astype(np.uint64)
            digests[rows] = _mix((digests[rows] ^ word) + self._behind)
        return digests


def _add(levels: Sequence[_Digests], digests: Words) -> Mask:
    """Put each digest into the first set that does not have it; return False where all of them have it."""
    first = levels[0].add(digests)
    for level in levels[1:]:
        rest = np.flatnonzero(~first)
        if not rest.size:
            break
        first[rest] = level.add(digests[rest])
    return first


class _Digests:
    """A set of random words of 64 bits, as a table of open addressing.

    The first bits of a digest are its index, or the next empty one. So the table is nearly sorted, and one
    pass makes a larger table from it.
    """

    def __init__(self) -> None:
        self._bits, self._count = 20, 0  # pages that are never touched take no memory
        self._table = np.zeros(1 << self._bits, dtype=np.uint64)

    def add(self, digests: Words) -> Mask:
        """Put digests into the set; return True for each that was not there, of equal ones for the first."""
        np.maximum(digests, np.uint64(1), out=digests)  # 0 marks an empty slot
        while 2 * (self._count + digests.size) > self._table.size:
            self._grow()
        first = self._insert(digests)
        self._count += int(np.count_nonzero(first))
        return first

    def _grow(self) -> None:
        blocks = np.split(self._table, range(_BLOCK, self._table.size, _BLOCK))
        held = np.concatenate([block[np.flatnonzero(block != 0)] for block in blocks])
        held.sort(kind="stable")  # this sort is fast on nearly sorted data
        self._bits += 2 if self._bits < 22 else 1
        size, free = 1 << self._bits, 0
        self._table[:] = 0
        self._table.resize(size, refcheck=False)  # sort in place: the first access to new memory costs most
        for at in range(0, held.size, _BLOCK):
            some = held[at : at + _BLOCK]
            numbers = np.arange(some.size)
            indices = np.maximum.accumulate(np.maximum(self._home(some) - numbers, free)) + numbers
            free, last = int(indices[-1]) + 1, int(np.searchsorted(indices, size))
            self._table[indices[:last]] = some[:last]  # its own index, or the next free one
            if last < some.size:  # beyond the end: insert at the beginning, already filled
                self._insert(some[last:])

    def _home(self, digests: Words) -> Integers:
        return (digests >> np.uint64(64 - self._bits)).astype(np.int64)

    def _insert(self, digests: Words) -> Mask:
        table, positions = self._table, self._home(digests)
        new = np.ones(positions.size, dtype=np.bool_)
        rows = self._walk(digests, slice(None), positions, new)
        while rows.size:
            at = positions[rows]
            table[at[::-1]] = (rows[::-1] + 1).view(np.uint64)  # the first of several claims holds
            lost = rows[table[at].view(np.int64) != rows + 1]
            table[at[::-1]] = digests[rows[::-1]]
            if not lost.size:
                break
            rows = self._walk(digests, lost, positions, new)  # they find an equal digest there, or continue
        return new

    def _walk(self, digests: Words, rows: Any, indices: Integers, new: Mask) -> Integers:
        """Move the indices of some rows to an empty slot; return rows without an equal digest before it."""
        some, at, last = rows, indices[rows], (1 << self._bits) - 1
        wanted = digests[rows]
        while True:
            held = self._table[at]
            on = held != wanted
            new[some] = on
            on &= held != 0
            steps = np.flatnonzero(on)
            if not steps.size:
                return np.flatnonzero(new) if isinstance(rows, slice) else rows[new[rows]]
            some = steps if isinstance(some, slice) else some[steps]
            wanted, at = wanted[steps], (at[steps] + 1) & last
            indices[some] = at


def _mix(word: Words) -> Words:
    word = (word ^ (word >> np.uint64(30))) * _FACTORS[0]
    word = (word ^ (word >> np.uint64(27))) * _FACTORS[1]
    mixed: Words = word ^ (word >> np.uint64(31))
    return mixed


def person_text(cell: object) -> str | None:
    """Return the id of a person as text, "" if it is empty, None if it is not an id.

    Two rows with the same text are about one person. A number is its shortest decimal text, so 1, 1.0 and the
    text "1" are one person, as they are in CSV, where every cell is text; the text "1.0" is the same person,
    because many programs write integers with a point. Other text counts as it is read, without surrounding
    spaces: "007" and "7" are two persons. None and NaN are empty. A list or an object is not an id.
    """
    if cell is None:
        return ""
    if isinstance(cell, str):
        text = unicodedata.normalize("NFC", cell).strip()
        return _shortest_decimal(text) if _DECIMAL.fullmatch(text) else text
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, int):
        return str(cell)
    if isinstance(cell, float | Decimal):
        return _number_text(cell)
    if isinstance(cell, bytes):
        return _bytes_text(cell)
    if isinstance(cell, datetime.date | datetime.time | datetime.timedelta | uuid.UUID):
        return str(cell)
    return None


def _number_text(cell: float | Decimal) -> str:
    if math.isnan(cell):
        return ""
    if not math.isfinite(cell):
        return "inf" if cell > 0 else "-inf"
    if cell == int(cell):
        return str(int(cell))
    # `repr` is the shortest decimal text that reads back as the same float.
    return _shortest_decimal(f"{Decimal(repr(cell)) if isinstance(cell, float) else cell:f}")


def _shortest_decimal(text: str) -> str:
    text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _bytes_text(cell: bytes) -> str | None:
    try:
        return person_text(cell.decode())
    except UnicodeDecodeError:
        return cell.hex()
