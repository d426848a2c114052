"""Results of an account: waiting reports, batches, and previews of answers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Self

from dither.collection.account.budget import Data


@dataclass(frozen=True)
class Waiting:
    """A report that is not yet acknowledged: its identity, its question and its bytes."""

    id: str
    asker: str
    question: str
    fingerprint: str
    data: bytes
    batch: str | None


@dataclass(frozen=True)
class Batch:
    """Reports that are sent together, with the identity that makes sending them again harmless."""

    id: str
    reports: tuple[Waiting, ...]


@dataclass(frozen=True)
class Withdrawable:
    """A batch that a collector has and can still delete, with the last day for it and the questions."""

    id: str
    asker: str
    campaign: str
    until: date
    questions: tuple[str, ...]

    @classmethod
    def of(cls, entry: Data) -> Self:
        """Return the entry of an account."""
        until = date(1970, 1, 1) + timedelta(entry["until"])
        return cls(entry["id"], entry["asker"], entry["campaign"], until, tuple(entry["questions"]))


@dataclass(frozen=True)
class Preview:
    """The result of a dry run: the `outcome` in one word, the ε of the charge, and a sentence for people."""

    outcome: str
    reason: str | None
    charged: float
    text: str

    def __str__(self) -> str:
        return self.text


def waiting(item: Data) -> Waiting:
    """Return an item of the queue."""
    return Waiting(
        item["id"],
        item["asker"],
        item["question"],
        item["fingerprint"],
        bytes.fromhex(item["report"]),
        item["batch"],
    )
