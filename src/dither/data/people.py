"""Who a person is, in a table with several rows of one: the text of an id, and the ids that were seen."""

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

from dither.arrays import Array, Integers, Mask, Words

_DECIMAL: Final = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]+")


def are_ids(data: Array, begins: Integers) -> bool:
    """Return whether texts, given as bytes, are ids as they stand: `person_text` would change none.

    So are texts of ASCII without spaces and points, none of them empty.
    """
    if not data.size or (begins[1:] <= begins[:-1]).any():
        return False
    return bool(data.min() > ord(" ") and data.max() < 0x7F and not (data == ord(".")).any())


_FACTORS: Final = tuple(np.uint64(number) for number in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


_BLOCK: Final = 1 << 15  # ids looked up at once: what is computed of them stays in the cache


class KnownPeople:
    """Whom a table has named, by digests that are keyed by a secret of this object.

    A number is 64 bits, mixed one to one, so that two numbers are two people. A text is a digest of 128 bits:
    two of n texts are taken for one with probability n²/2^129, 10⁻²¹ for 10⁹.
    """

    def __init__(self) -> None:
        self._secrets = np.frombuffer(os.urandom(40), dtype=np.uint64)
        self._numbers, self._texts = _Digests(1), _Digests(2)

    def first_numbers(self, numbers: Words) -> Mask:
        """Return True for each number that was not seen before."""
        first = np.empty(numbers.size, dtype=np.bool_)
        for at in range(0, numbers.size, _BLOCK):
            first[at : at + _BLOCK] = self._numbers.add(_mix(numbers[at : at + _BLOCK] ^ self._secrets[0]))
        return first

    def first_texts(self, data: Array, begins: Integers) -> Mask:
        """Return True for each text, of bytes and where they begin, that was not seen before."""
        padded = np.concatenate([data, np.zeros(8, dtype=np.uint8)])
        words = np.ndarray((data.size + 1,), np.dtype("<u8"), padded.data, 0, (1,))
        first = np.empty(begins.size - 1, dtype=np.bool_)
        for at in range(0, first.size, _BLOCK):
            some = begins[at : at + _BLOCK + 1]
            first[at : at + _BLOCK] = self._texts.add(*self._digests(words, some[:-1], np.diff(some)))
        return first

    def _digests(self, words: Words, begins: Integers, sizes: Integers) -> tuple[Words, Words]:
        """Return two digests of each text, from its words of 8 bytes, one after another."""
        before, behind, start, factor, end = self._secrets
        head, tail = sizes.astype(np.uint64) ^ before, sizes.astype(np.uint64) ^ behind
        factor |= np.uint64(1)
        least, longest = int(sizes.min(initial=0)), int(sizes.max(initial=0))
        rows: Any = slice(None)
        for at in range(0, longest, 8):
            if at >= least:
                rows = np.flatnonzero(sizes > at) if isinstance(rows, slice) else rows[sizes[rows] > at]
            word = words[begins[rows] + at]
            if at + 8 > least:  # the bytes behind the end of a text are not its own
                word <<= np.uint64(8) * np.maximum(at + 8 - sizes[rows], 0).astype(np.uint64)
            head[rows] = _mix((head[rows] ^ word) + start)
            mixed = (tail[rows] ^ word) * factor
            tail[rows] = mixed ^ (mixed >> np.uint64(32))
        return head, _mix(tail ^ end)


class _Digests:
    """A set of digests of one or two random words, as a table of open addressing.

    The first bits of a digest are its place, or the next that is empty. So the table is nearly sorted, which
    makes a larger one from it in one pass.
    """

    def __init__(self, words: int) -> None:
        self._bits, self._count = 20, 0  # a page of memory that is never touched is not taken
        self._tables = [np.zeros(1 << self._bits, dtype=np.uint64) for _ in range(words)]

    def add(self, *digests: Words) -> Mask:
        """Put digests into the set; return True for each that was not there, of equal ones for the first."""
        np.maximum(digests[0], np.uint64(1), out=digests[0])  # 0 is an empty place
        while 2 * (self._count + digests[0].size) > self._tables[0].size:
            self._grow()
        first = self._insert(digests)
        self._count += int(np.count_nonzero(first))
        return first

    def _grow(self) -> None:
        filled = np.flatnonzero(self._tables[0])
        held = [table[filled] for table in self._tables]
        if len(held) == 1:
            held[0].sort(kind="stable")  # nearly sorted, which this sort is quick with
        else:
            order = np.argsort(held[0], kind="stable")
            held = [words[order] for words in held]
        self._bits += 2 if self._bits < 22 else 1
        size, numbers = 1 << self._bits, np.arange(filled.size)
        self._tables = [np.zeros(size, dtype=np.uint64) for _ in self._tables]
        places = np.maximum.accumulate(self._home(held[0]) - numbers) + numbers  # its own, or the next
        last = int(np.searchsorted(places, size))
        for table, words in zip(self._tables, held, strict=True):
            table[places[:last]] = words[:last]
        self._insert([words[last:] for words in held])  # beyond the end: at the beginning

    def _home(self, heads: Words) -> Integers:
        return (heads >> np.uint64(64 - self._bits)).astype(np.int64)

    def _insert(self, digests: Sequence[Words]) -> Mask:
        table, places = self._tables[0], self._home(digests[0])
        new = np.ones(places.size, dtype=np.bool_)
        rows = self._walk(digests, slice(None), places, new)
        while rows.size:
            at = places[rows]
            table[at[::-1]] = (rows[::-1] + 1).view(np.uint64)  # claims: that of the first holds
            lost = rows[table[at].view(np.int64) != rows + 1]
            for part, words in zip(self._tables, digests, strict=True):
                part[at[::-1]] = words[rows[::-1]]
            if not lost.size:
                break
            rows = self._walk(digests, lost, places, new)  # they meet an equal digest there, or go on
        return new

    def _walk(self, digests: Sequence[Words], rows: Any, places: Integers, new: Mask) -> Integers:
        """Move the places of some rows to the next empty one; return those whose digest is not before it."""
        some, at, last = rows, places[rows], (1 << self._bits) - 1
        heads = digests[0][rows]
        while True:
            held = self._tables[0][at]
            on = held != heads
            if len(digests) == 2 and not on.all():  # a first word that is there: the second one decides
                same = np.flatnonzero(~on)
                on[same] = self._tables[1][at[same]] != digests[1][some][same]
            new[some] = on
            on &= held != 0
            steps = np.flatnonzero(on)
            if not steps.size:
                return np.flatnonzero(new) if isinstance(rows, slice) else rows[new[rows]]
            some = steps if isinstance(some, slice) else some[steps]
            heads, at = heads[steps], (at[steps] + 1) & last
            places[some] = at


def _mix(word: Words) -> Words:
    word = (word ^ (word >> np.uint64(30))) * _FACTORS[0]
    word = (word ^ (word >> np.uint64(27))) * _FACTORS[1]
    mixed: Words = word ^ (word >> np.uint64(31))
    return mixed


def person_text(cell: object) -> str | None:
    """Return the id of a person as text, "" if it is empty, None if it is not an id.

    Two rows with the same text are about one person. A number is its shortest decimal text, so 1, 1.0 and the
    text "1" are one person, as they are in CSV, where every cell is text; "1.0" is so too, because many
    programs write whole numbers with a point. Other text counts as it is read, without spaces around it:
    "007" and "7" are two persons. None and NaN are empty. A list or an object is not an id.
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
