"""The interface of stores: what both kinds promise to the collector."""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, final

from dither.arrays import Integers
from dither.errors import DitherError
from dither.service.contract import Published
from dither.service.live import Slot
from dither.service.refusal import Reason


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


class CollectorStore(ABC):
    """Batches, counts of past days, published campaigns and counts of refusals, all durable.

    One thread calls the methods that write. All of them either return, and then the change is on disk, or
    raise StoreUnavailable, and then nothing changed.
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
    def news(self) -> Iterator[tuple[Slot, bytes]]:
        """Yield reports that were stored by others, or before this process, and not yielded yet."""

    @abstractmethod
    def counted(self) -> Iterator[tuple[Slot, Integers, int]]:
        """Yield the counts of days that were folded."""

    @abstractmethod
    def refuse(self, counts: Mapping[RefusedKey, int]) -> None:
        """Add to the counts of refusals."""

    @abstractmethod
    def refused(self) -> dict[RefusedKey, int]:
        """Return the counts of refusals."""

    @abstractmethod
    def fold(self, campaign: str, day: datetime.date) -> None:
        """Replace the reports of a day by their counts; identities and digests of batches stay."""

    @abstractmethod
    def forget(self, before: datetime.date) -> int:
        """Remove the identities of batches of folded days before a day; return how many."""

    @abstractmethod
    def delete(self, campaign: str) -> None:
        """Remove all reports, counts and identities of a campaign. The campaign itself stays known."""

    @abstractmethod
    def close(self) -> None:
        """Close the store. Nothing waits to be written."""
