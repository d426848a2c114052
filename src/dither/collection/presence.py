"""Counting presence: messages by calendar period, shown when the period is over and large enough.

A message without a report is stored as a report of one byte, 0, to the question "", which no campaign
contains. Retries, folding, exports and withdrawals therefore work as for reports.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from dither.collection.campaign import Campaign
from dither.collection.kept_changes import SEPARATOR
from dither.core.presence import PresenceCounts
from dither.core.question import Question
from dither.core.wire import from_specification
from dither.errors import InvalidParameter, unknown_name
from dither.foundation.tables import period_start

if TYPE_CHECKING:
    from dither.collection.live import LiveCounts

MESSAGES: Final = ""  # the name under which messages without a report are stored
EMPTY_MESSAGE: Final = b"\0"
NEVER: Final = 1 << 62  # the size of a step that never ends: periods are shown by date instead
_STORED: Final[Mapping[str, object]] = {
    **{"dither": 2, "mechanism": "KRR", "parameters": {"epsilon": 1.0}, "codebook": None},
    "fingerprint": "958f2021bff0d3b17ed130f53a259a83",
    "device": json.dumps(
        {
            **{"bits": 64, "cells": 2, "domain": {"count": 2, "kind": "categories"}, "draw": "response"},
            **{"outside": "refuse", "step": "44d9585152ea1936", "width": 1},
        },
        separators=(",", ":"),
    ),
}


@cache
def message_question() -> Question:
    """Return the question for the storage of messages without a report: one byte each."""
    return from_specification(dict(_STORED))


def counts_presence(contract: Campaign) -> bool:
    """Return whether a campaign counts presence."""
    return contract.repeat == "present"


def stored_question(contract: Campaign, name: str) -> Question:
    """Return the question of a stored name; raise InvalidParameter if the campaign does not have it."""
    if name == MESSAGES and counts_presence(contract):
        return message_question()
    name = name.partition(SEPARATOR)[0]  # an interval of a kept change is stored as an answer
    if name not in contract.questions:
        raise unknown_name("question", name, list(contract.questions))
    return contract.questions[name]


def stays_counted(contract: Campaign, arrived: datetime.date, withdrawn: datetime.date) -> bool:
    """Return whether a message that is withdrawn on a day stays in its count, because its period is shown.

    Nothing is added to a past period, so its count would change by that message only.
    """
    if contract.every is None or not counts_presence(contract):
        return False
    return withdrawn > contract.ends or period_start(contract.every, withdrawn) > period_start(
        contract.every, arrived
    )


def present_counts(contract: Campaign, live: LiveCounts, today: datetime.date) -> PresenceCounts:
    """Return the public presence on a day: the periods that are over.

    A period of fewer than `people` devices has no numbers. Within a period, a group (a public label, or the
    devices with the permanent label) is shown if it has at least `people` devices, and if the hidden groups
    together have 0 or at least `people`: no small number follows from a difference.
    """
    if contract.every is None or not counts_presence(contract):
        raise InvalidParameter(
            f"expected a campaign with repeat = 'present', got {contract.name!r}; give another one"
        )
    days = _days_by_period(contract, today)
    name = next(iter(contract.questions), None)
    question = None if name is None else contract.questions[name]
    labels = live.labels(contract.id, MESSAGES)
    shown: dict[str, list[int]] = {label: [] for label in labels}
    messages: list[int | None] = []
    public, rows = [], []
    for some in days.values():
        groups: dict[str | None, int] = {
            label: sum(live.n(contract.id, MESSAGES, day, label) for day in some) for label in labels
        }
        permanent = np.zeros(0, dtype=np.int64)
        if name is not None and question is not None:
            permanent = np.sum([live.summary(contract.id, name, day).counts for day in some], axis=0)
        marked = (question.counting.implied_answers(permanent) or 0) if question is not None else 0
        total = sum(groups.values()) + marked
        enough = total >= contract.people
        groups[None] = marked  # the devices with the permanent label
        hidden = _hide_small(groups, contract.people) if enough else set(groups)
        messages.append(total if enough else None)
        public.append(total - marked if None not in hidden else 0)
        rows.append(permanent * (None not in hidden))
        for label in labels:
            shown[label].append(0 if label in hidden else groups[label])
    return PresenceCounts(
        contract.every,
        tuple(days),
        tuple(messages),
        tuple(public),
        {label: tuple(some) for label, some in shown.items() if any(some)},
        question,
        np.array(rows, dtype=np.int64).reshape(len(rows), -1) if rows and question is not None else (),
        contract.people,
        contract.name,
    )


def _days_by_period(contract: Campaign, today: datetime.date) -> dict[datetime.date, list[datetime.date]]:
    """Return the days of the campaign in each period that is over, by the first day of the period."""
    every = str(contract.every)
    found: dict[datetime.date, list[datetime.date]] = {}
    last = min(contract.ends, today - datetime.timedelta(1))
    for index in range((last - contract.begins).days + 1):
        day = contract.begins + datetime.timedelta(index)
        found.setdefault(period_start(every, day), []).append(day)
    if found and last < contract.ends and period_start(every, today) in found:
        del found[period_start(every, today)]
    return found


def _hide_small(groups: Mapping[str | None, int], people: int) -> set[str | None]:
    """Return the hidden groups: the small ones, and larger ones until the hidden groups are large enough."""
    order = sorted(groups, key=lambda name: (groups[name], name is None, name or ""))
    hidden = [name for name in order if 0 < groups[name] < people]
    rest = [name for name in order if groups[name] >= people]
    while hidden and rest and sum(groups[name] for name in hidden) < people:
        hidden.append(rest.pop(0))
    return {*hidden, *(name for name in order if not groups[name])}


def most_reports_of_label(contract: Campaign) -> int:
    """Return the largest number of different reports of the permanent label: more would identify devices."""
    share = 0.0 if contract.label_share is None else contract.label_share
    return min(128, int((contract.expects or 0) * share * (1.0 + 1e-9)) // 20)


def presence_notes(contract: Campaign) -> list[str]:
    """Return what the collector of a campaign that counts presence can learn besides the counts."""
    if not counts_presence(contract) or contract.sealing_key is not None:
        return []
    return [
        "anyone who sees network addresses can link a device's messages; to prevent it, add a sealing_key to "
        "the campaign and give devices a relay (OHTTP)"
    ]


def presence_warnings(contract: Campaign) -> list[str]:
    """Return the warnings for the author of a campaign that counts presence."""
    if not counts_presence(contract):
        return []
    warnings, expects = [], contract.expects or 0
    terms = next(iter(contract.asks.values()), None)
    if terms is not None and terms.form == "installed" and contract.every is not None:
        (question,) = contract.questions.values()
        listed = question.domain.listed
        days = [datetime.date.fromisoformat(str(day)) for day in (listed.labels if listed else ())]
        if any(period_start(contract.every, day) != day for day in days[1:]):
            warnings.append(
                f"expected each day of the label to begin a {contract.every}, because retention needs one "
                f'label per {contract.every}; list those days, or set every = "month" and list months'
            )
    values = max((question.outcomes or 1 for question in contract.questions.values()), default=1)
    classes = max(1, len(contract.labels)) * values
    if classes > 1 and expects / classes < contract.people:
        warnings.append(
            f"expected at least people = {contract.people} devices for each combination of a public label "
            f"and a report, got {expects / classes:.3g} ({expects} devices, {max(1, len(contract.labels))} "
            f"labels, {values} reports): a rare combination could be recognised when it returns; list fewer "
            "labels, or months instead of weeks"
        )
    return warnings
