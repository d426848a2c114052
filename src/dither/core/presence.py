"""Counts of presence: how many devices sent a message in each period, with their labels."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final

import numpy as np

from dither.core.counts import Counts
from dither.core.question import Question
from dither.core.wire import from_specification
from dither.errors import DitherError, MalformedReport, Mismatch
from dither.foundation.arrays import Integers
from dither.foundation.tables import period_start

_VERSION: Final = 1
_MOST_PERIODS: Final = 10_000


@dataclass(frozen=True, eq=False)
class PresenceCounts:
    """Messages by calendar period: of all devices, by public label, and by report of the permanent label.

    `messages` is None for a period that is not shown, because it had fewer than `people` devices. A public
    label that is not shown in a period counts 0 there, and `public` counts all devices without the permanent
    label. `counts` has a row for each period and a column for each report; a row of zeros is one that is not
    shown.

    >>> import dither as dt
    >>> weeks = dt.Categories(["2026-05-04", "2026-05-11"])
    >>> label = dt.KRR(weeks, epsilon=2)
    >>> days = [date(2026, 5, 4), date(2026, 5, 11)]
    >>> PresenceCounts("week", days, [300, 320], [90, 96], {"1.0": [90, 96]}, label, [[110, 100], [90, 134]])
    PresenceCounts(2 weeks from 2026-05-04)
    """

    every: str
    periods: Sequence[date]
    messages: Sequence[int | None]
    public: Sequence[int] = ()
    labels: Mapping[str, Sequence[int]] = field(default_factory=dict)
    question: Question | None = None
    counts: Integers | Sequence[Sequence[int]] = ()
    people: int = 1
    about: str = ""

    def __post_init__(self) -> None:
        size = len(self.periods)
        if self.every not in ("day", "week", "month") or size > _MOST_PERIODS:
            raise MalformedReport("presence is counted by day, week or month")
        starts = [period_start(self.every, day) for day in self.periods]
        if starts != list(self.periods) or starts != sorted(set(starts)):
            raise MalformedReport("expected periods of presence by their first days, in increasing order")
        request = getattr(self.question, "question", self.question)  # the question of a mechanism
        object.__setattr__(self, "question", request)
        columns = 0 if request is None else request.counting.size
        counts = (
            np.array(self.counts, dtype=np.int64).reshape(-1, columns) if columns else np.zeros((size, 0))
        )
        parts = [self.messages, self.public or [0] * size, *self.labels.values(), counts]
        if any(len(part) != size for part in parts) or (counts < 0).any():
            raise MalformedReport("presence has one number for each period")
        counts = counts.astype(np.int64)
        counts.setflags(write=False)
        object.__setattr__(self, "counts", counts)
        object.__setattr__(self, "public", tuple(self.public or [0] * size))

    def of_period(self, place: int) -> Counts:
        """Return the counts of the permanent label in one period."""
        if self.question is None:
            raise MalformedReport("the campaign has no permanent label")
        row = np.asarray(self.counts)[place]
        return Counts(self.question, row, self.question.counting.implied_answers(row) or 0)

    def to_json(self) -> str:
        """Return the counts as JSON, with the specification of the label."""
        return json.dumps(
            {
                **{"dither-presence": _VERSION, "every": self.every, "people": self.people},
                **{"about": self.about, "periods": [day.isoformat() for day in self.periods]},
                **{"messages": list(self.messages), "public": list(self.public)},
                "labels": {label: list(some) for label, some in self.labels.items()},
                "question": None if self.question is None else json.loads(self.question.to_json()),
                "counts": np.asarray(self.counts).tolist(),
            },
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> PresenceCounts:
        """Return the counts that `to_json` wrote; raise MalformedReport if it is something else."""
        try:
            data: dict[str, Any] = json.loads(text)
            if data["dither-presence"] != _VERSION:
                raise Mismatch("these counts of presence are of another version")
            request = None if data["question"] is None else from_specification(data["question"])
            return cls(
                data["every"],
                tuple(map(date.fromisoformat, data["periods"])),
                tuple(None if count is None else int(count) for count in data["messages"]),
                tuple(map(int, data["public"])),
                {str(label): tuple(map(int, some)) for label, some in data["labels"].items()},
                request,
                data["counts"],
                int(data["people"]),
                str(data["about"]),
            )
        except DitherError:
            raise
        except (ValueError, TypeError, KeyError, AttributeError, LookupError, RecursionError):
            raise MalformedReport("these are not counts of presence") from None

    def __repr__(self) -> str:
        size = len(self.periods)
        first = f" from {self.periods[0]}" if size else ""
        return f"PresenceCounts({size} {self.every}{'' if size == 1 else 's'}{first})"
