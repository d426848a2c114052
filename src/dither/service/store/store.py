"""The interface of stores: what both kinds promise to the collector."""

from __future__ import annotations

import datetime
import hashlib
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, final

import numpy as np

from dither.arrays import Integers
from dither.errors import DitherError, Mismatch
from dither.question import Question
from dither.service.contract import Published
from dither.service.live import Slot
from dither.service.refusal import Reason

Mechanisms = Callable[[str, str], Question]  # of a campaign's identity and a question's name


class StoreUnavailable(Exception):
    """The store cannot be written now: a full disk, a database out of reach. Nothing was changed."""


class StoreUnusable(DitherError):
    """A store that cannot be opened: another program's file, one that is in use, or a damaged one."""


@final
@dataclass(frozen=True)
class Arrived:
    """A batch that passed the checks: its identity, and its reports by slot, in the order of the body."""

    id: bytes
    parts: tuple[tuple[Slot, bytes], ...]


@final
class Stored(Enum):
    """What a store did with a batch."""

    NEW = "new"
    REPEATED = "repeated"  # the same bytes were stored before
    CONFLICT = "conflict"  # other bytes were


class RefusedKey(NamedTuple):
    """What refusals are counted by. The campaign is "" where none was recognised."""

    campaign: str
    day: datetime.date
    reason: Reason


class Kept(NamedTuple):
    """A part of a batch as a store holds it; of a folded day it holds the digest of the reports alone."""

    slot: Slot
    folded: bool
    data: bytes


class CollectorStore(ABC):
    """Batches, counts of past days, published campaigns and counts of refusals, all durable.

    One thread calls the methods. Those that write either return, and then the change is on disk, or raise
    StoreUnavailable, and then nothing changed.
    """

    @abstractmethod
    def publish(self, published: Published) -> None:
        """Keep a campaign; raise Mismatch if another text has its name and version."""

    @abstractmethod
    def campaigns(self) -> list[Published]:
        """Return all campaigns that were published here, in order of publication."""

    @abstractmethod
    def append(self, batches: Sequence[Arrived]) -> list[Stored]:
        """Store batches in one transaction; return what became of each. On disk when it returns."""

    @abstractmethod
    def reloaded(self) -> bool:
        """Return whether counts must be built anew, from `counted` and `news`; True at first."""

    @abstractmethod
    def counted(self) -> Iterator[tuple[Slot, Integers, int]]:
        """Yield the counts of days that were folded."""

    @abstractmethod
    def news(self) -> Iterator[tuple[Slot, list[bytes]]]:
        """Yield reports that are in no count yet: stored by others, or before this process began."""

    @abstractmethod
    def refuse(self, counts: Mapping[RefusedKey, int]) -> None:
        """Add to the counts of refusals."""

    @abstractmethod
    def refused(self) -> dict[RefusedKey, int]:
        """Return the counts of refusals."""

    @abstractmethod
    def days(self) -> list[tuple[str, datetime.date]]:
        """Return the campaigns and days whose reports are kept one by one."""

    @abstractmethod
    def fold(self, campaign: str, day: datetime.date, mechanisms: Mechanisms) -> int:
        """Replace the reports of a day by their counts, and return how many parts of batches it were.

        Identities and digests of batches stay until `forget`.
        """

    @abstractmethod
    def forget(self, before: datetime.date) -> int:
        """Remove the identities of batches of folded days before a day; return how many."""

    @abstractmethod
    def delete(self, campaign: str) -> None:
        """Remove all reports, counts and identities of a campaign. The campaign itself stays known."""

    @abstractmethod
    def close(self) -> None:
        """Close the store. Nothing waits to be written."""


def part_digest(data: bytes) -> bytes:
    """Return what stays of the reports of a folded part: enough to recognise them."""
    return hashlib.sha256(data).digest()[:16]


def compared(batch: Arrived, kept: Sequence[Kept]) -> Stored:
    """Return whether the batch that is kept under an identity is this one. The day may be another."""
    if len(batch.parts) != len(kept):
        return Stored.CONFLICT
    for (slot, data), one in zip(batch.parts, kept, strict=True):
        same = slot._replace(day=one.slot.day) == one.slot
        if not same or (part_digest(data) if one.folded else data) != one.data:
            return Stored.CONFLICT
    return Stored.REPEATED


def grouped(rows: Iterable[tuple[int, bytes]]) -> Iterable[tuple[int, list[bytes]]]:
    """Return the reports of rows by the number of their slot."""
    found: dict[int, list[bytes]] = {}
    for number, data in rows:
        try:
            found[number].append(data)
        except KeyError:
            found[number] = [data]
    return found.items()


def another_text(published: Published) -> Mismatch:
    """Return the error for a campaign whose name and version stand for another text."""
    terms = published.contract
    return Mismatch(
        f"campaign {terms.name!r} version {terms.version} was published with other terms; "
        f"a change is a new version: write version = {terms.version + 1}"
    )


def pack_counts(counts: Integers) -> bytes:
    """Return counts as they are stored."""
    return zlib.compress(counts.astype("<i8").tobytes(), 1)


def unpack_counts(packed: bytes) -> Integers:
    """Return the counts that `pack_counts` wrote."""
    return np.frombuffer(zlib.decompress(packed), dtype="<i8").astype(np.int64)
