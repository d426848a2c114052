"""The people who sent reports, so that two estimates of the same people are not taken as independent.

A `Crowd` is some rows of one collection, identified by a token. The token is random, or a digest of the
reports if they come from a file. It says nothing about anybody's value, is never sent and does not count for
equality.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from dither.errors import InvalidParameter
from dither.foundation.arrays import Array, Integers, is_nothing

_BITS: Final = 64.0  # equal reports with at least this number of bits of information are from the same people


@dataclass(frozen=True, eq=False)
class Crowd:
    """Some people of a collection: the token of the collection and the indices of their rows."""

    token: bytes
    rows: range | Integers
    part: str = ""  # the question of the collection that they answer; each has its own reports
    unnamed: bool = False  # True if a person may have sent several rows that are not known

    @property
    def n(self) -> int:
        """The number of rows; a person may be in several."""
        return len(self.rows)

    def take(self, index: Any) -> Crowd | None:
        """Return the people at an index of the first axis; None if it does not select complete rows."""
        if isinstance(index, slice):
            return replace(self, rows=self.rows[index])
        try:
            chosen = np.asarray(index)
            if chosen.ndim != 1:
                return None
            return replace(self, rows=np.asarray(self.rows)[chosen])
        except (IndexError, TypeError, ValueError):
            return None


People = tuple[Crowd, ...]  # in the order of the reports; empty if they are not known


def new_people(count: int, part: str = "") -> People:
    """Return new people, for reports that were just drawn, or given without a file."""
    return (Crowd(os.urandom(16), range(count), part),)


def unnamed_people(count: int) -> People:
    """Return new people, some of whom may have sent several of the reports."""
    return (Crowd(os.urandom(16), range(count), unnamed=True),)


def people_of_columns(
    columns: Mapping[str, tuple[Array, Array | None]], *, unnamed: bool = False
) -> dict[str, People]:
    """Return the people of the columns of one file, identified by the content of the file.

    A column has its reports and a mask of the rows that have one, or None for all rows. A file with few or
    similar reports may equal another one by chance, so its people are new. `unnamed` says that a person may
    have sent several rows.
    """
    digest, bits = hashlib.sha256(), 0.0
    for name, (cells, there) in sorted(columns.items()):
        flat = np.ascontiguousarray(cells)
        digest.update(f"{name}\0{flat.dtype.str}\0{flat.shape}\0".encode())
        digest.update(flat.tobytes())
        if there is not None:
            digest.update(np.packbits(there).tobytes())
        bits = max(bits, _information(flat))
    token = digest.digest()[:16] if bits >= _BITS else os.urandom(16)
    return {
        name: (Crowd(token, range(len(cells)) if there is None else np.flatnonzero(there), name, unnamed),)
        for name, (cells, there) in columns.items()
    }


def people_by_id(ids: Sequence[object], part: str = "") -> People:
    """Return the people that public ids name: rows with the same id are from one person.

    Raise InvalidParameter, with the number of the row, for a row without an id.
    """
    texts = [None if is_nothing(cell) else str(cell) for cell in ids]
    if any(text is None or not text for text in texts):
        row = next(row for row, text in enumerate(texts, 1) if not text)
        raise InvalidParameter(
            f"expected an id of a person in every row, got none in row {row}; fill it in, or leave the "
            "row out"
        )
    known, codes = np.unique(np.array(texts, dtype=np.str_), return_inverse=True)
    digest = hashlib.sha256("\0".join(known.tolist()).encode(errors="surrogatepass"))
    return (Crowd(digest.digest()[:16], np.asarray(codes, dtype=np.int64).reshape(-1), part),)


def _information(cells: Array) -> float:
    """Return the entropy of reports in bits, for independent draws with their observed frequencies."""
    if cells.ndim == 0 or not cells.size:
        return 0.0
    flat = cells.reshape(len(cells), -1)
    _, often = np.unique(flat[:, 0], return_counts=True)
    return float((often * np.log2(len(flat) / often)).sum())


def take(people: People, index: Any) -> People:
    """Return the people of some of the reports; empty (not known) for a choice across several crowds."""
    if len(people) != 1:
        return ()
    found = people[0].take(index)
    return () if found is None else (found,)


def join(parts: Iterable[People]) -> People:
    """Return the people of concatenated reports; empty (not known) if they are not known for one part."""
    given = list(parts)
    return tuple(crowd for part in given for crowd in part) if all(given) else ()


def shared_rows(first: People, second: People) -> tuple[Integers, Integers]:
    """Return the indices, in `first` and in `second`, of the people who are in both."""
    left: list[Integers] = [np.empty(0, dtype=np.int64)]
    right: list[Integers] = [np.empty(0, dtype=np.int64)]
    begin = 0
    for crowd in first:
        at = 0
        for other in second:
            if other.token == crowd.token:
                here, there = _common(crowd.rows, other.rows)
                left.append(begin + here)
                right.append(at + there)
            at += other.n
        begin += crowd.n
    return np.concatenate(left), np.concatenate(right)


def _common(first: range | Integers, second: range | Integers) -> tuple[Integers, Integers]:
    if isinstance(first, range) and isinstance(second, range) and first == second:
        every = np.arange(len(first))
        return every, every
    mine, theirs = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    if not mine.size or not theirs.size:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    positions = np.full(max(int(mine.max()), int(theirs.max())) + 1, -1, dtype=np.int64)
    positions[mine] = np.arange(mine.size)
    found = positions[theirs]
    there = np.flatnonzero(found >= 0)
    return found[there], there


def overlap(first: People, second: People, *, same_part: bool = False) -> bool:
    """Return whether a person is in both; with `same_part`, with the same report."""
    return any(
        crowd.token == other.token
        and (not same_part or crowd.part == other.part)
        and _meet(crowd.rows, other.rows)
        for crowd in first
        for other in second
    )


def _meet(first: range | Integers, second: range | Integers) -> bool:
    """Return whether two selections of rows have a row in common."""
    if isinstance(first, range) and isinstance(second, range) and first.step == second.step == 1:
        return max(first.start, second.start) < min(first.stop, second.stop)
    return _common(first, second)[0].size > 0


def unknown_overlap(first: People, second: People) -> bool:
    """Return whether a person may be in both by different rows, without saying which person."""
    return any(
        crowd.unnamed and crowd.token == other.token and not np.array_equal(crowd.rows, other.rows)
        for crowd in first
        for other in second
    )


def count_people(crowds: Sequence[Crowd]) -> int:
    """Return the number of different people in some crowds."""
    rows: dict[bytes, list[Integers]] = {}
    for crowd in crowds:
        rows.setdefault(crowd.token, []).append(np.asarray(crowd.rows, dtype=np.int64))
    return math.fsum(np.unique(np.concatenate(some)).size for some in rows.values()).__trunc__()
