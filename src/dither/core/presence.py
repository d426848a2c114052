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
    label. `counts` has a row for each period and a column for each report. A row of zeros means that the
    period is not shown.

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
            raise MalformedReport("expected counts of presence by day, week or month")
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
            raise MalformedReport("expected one number of messages for each period")
        counts = counts.astype(np.int64)
        counts.setflags(write=False)
        object.__setattr__(self, "counts", counts)
        object.__setattr__(self, "public", tuple(self.public or [0] * size))

    def of_period(self, index: int) -> Counts:
        """Return the counts of the permanent label in one period."""
        if self.question is None:
            raise MalformedReport(
                "expected a campaign with a permanent label, got one without; add the label to the campaign"
            )
        row = np.asarray(self.counts)[index]
        return Counts(self.question, row, self.question.counting.implied_answers(row) or 0)

    def __add__(self, other: object) -> PresenceCounts:
        """Return the sum of the counts of two collectors of a campaign; a device sends to one of them.

        The sum has the periods that both have. A number that one of them does not show is not shown.
        """
        if not isinstance(other, PresenceCounts):
            return NotImplemented
        prints = [None if part.question is None else part.question.fingerprint for part in (self, other)]
        if (self.every, prints[0]) != (other.every, prints[1]):
            raise Mismatch(
                "expected counts of presence with the same periods and the same label; keep others apart"
            )
        shared = [day for day in self.periods if day in other.periods]
        rows = [[list(part.periods).index(day) for day in shared] for part in (self, other)]
        pairs = [(self, first, other, second) for first, second in zip(*rows, strict=True)]
        messages: list[int | None] = []
        public, labels = [], {name: [0] * len(shared) for name in {*self.labels, *other.labels}}
        counts = np.zeros((len(shared), self.counts_array.shape[1]), dtype=np.int64)
        for row, (here, first, there, second) in enumerate(pairs):
            known = here.messages[first], there.messages[second]
            messages.append(None if None in known else sum(filter(None, known)))
            if None in known or here._hides_label(first) or there._hides_label(second):
                public.append(0)
                continue
            public.append(here.public[first] + there.public[second])
            counts[row] = here.counts_array[first] + there.counts_array[second]
            sides = (here, first), (there, second)
            for name, numbers in labels.items():
                parts = [part.labels.get(name, ())[at : at + 1] for part, at in sides]
                if all(part and part[0] for part in parts):
                    numbers[row] = sum(part[0] for part in parts)
        kept = {name: tuple(numbers) for name, numbers in sorted(labels.items()) if any(numbers)}
        about, people = self.about or other.about, max(self.people, other.people)
        return PresenceCounts(
            self.every, shared, messages, public, kept, self.question, counts, people, about
        )

    def __radd__(self, other: object) -> PresenceCounts:
        return self if other == 0 else NotImplemented  # sum(…) begins with 0

    @property
    def counts_array(self) -> Integers:
        """The counts of the permanent label as an array: a row for each period."""
        return np.asarray(self.counts)

    def _hides_label(self, index: int) -> bool:
        """Return whether a period has devices with the permanent label that are not shown."""
        marked = self.question is not None and not self.counts_array[index].any()
        return marked and self.messages[index] != self.public[index]

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
        """Return the counts that `to_json` wrote; raise MalformedReport for other texts."""
        try:
            data: dict[str, Any] = json.loads(text)
            if data["dither-presence"] != _VERSION:
                raise Mismatch(
                    f"expected counts of presence of version {_VERSION}; write them again with this dither"
                )
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
            raise MalformedReport(
                "expected counts of presence, as PresenceCounts.to_json() writes them"
            ) from None

    def __repr__(self) -> str:
        size = len(self.periods)
        first = f" from {self.periods[0]}" if size else ""
        return f"PresenceCounts({size} {self.every}{'' if size == 1 else 's'}{first})"
