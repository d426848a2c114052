"""What an account keeps for a question about one kept change: the drawn group, and what was told so far.

The rules are here, as plain data; docs/account.md is normative. Whether the kept change was told must be
remembered, so that no second one is. That is about values, so it is kept under a pad from the account's key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dither.collection.account.clock import DAY
from dither.collection.account.state import Data, State, question_key
from dither.core.repetition import ChangeReports, KeptChange
from dither.foundation.arrays import Array, Integers
from dither.foundation.randomness import Keyed, Source

KEPT_CHANGE = "kept change"


def span(question: Mapping[str, Any], day: int) -> tuple[int, int]:
    """Return the seconds of the whole period of a question: its reports are about all days of it."""
    first = period(question, day)
    return first * DAY, (first + question["days"]) * DAY


def period(question: Mapping[str, Any], day: int) -> int:
    """Return the first day of the period that a day is in, which names the period whatever its start is."""
    first: int = day - (day - question["start"]) % question["days"]
    return first


def drawn_group(state: State, question: Mapping[str, Any], day: int, source: Source) -> Data:
    """Draw the group and the number of the kept change, as one number, without looking at any value."""
    asker, name, fingerprint = question_key(question)
    return {
        "asker": asker,
        "question": name,
        "fingerprint": fingerprint,
        "period": period(question, day),
        "day": source.below(_groups(question) * question["changes"]),
        "device": state.device,
        "answer": None,
    }


def due(state: State, question: Mapping[str, Any], choice: Data, day: int) -> Data | None:
    """Return the intervals that are over and not told, with what was told; None if there are none."""
    if choice["device"] != state.device:
        return None  # another device of the person drew the group, and reports
    group, place = divmod(choice["day"], question["changes"])
    passed = day - choice["period"]
    length = 1 << group - 1 if group else 1
    over = -(-passed // length) if passed == question["days"] - 1 else passed // length
    before = state.trees.get((*question_key(question), choice["period"]), {"intervals": 0, "mark": None})
    end = 1 if not group else over
    if end <= before["intervals"]:
        return None
    named = {name: choice[name] for name in ("asker", "question", "fingerprint", "period")}
    told = {"group": group, "place": 1 + place, "days": passed + 1, "before": before}
    return {**named, **told, "intervals": end}


def draw_due(
    change: KeptChange, codes: Integers, owed: Data, key: bytes, source: Source
) -> tuple[ChangeReports, Data]:
    """Draw the reports of the intervals that are due; return them, and what is kept about them."""
    before = owed["before"]
    already = before["mark"] is not None and _pad(key, owed, before["intervals"]) != before["mark"]
    intervals = range(before["intervals"], owed["intervals"])
    places = np.array([0 if already else owed["place"]])
    cells, inside = change.answers(codes[None, :], owed["group"], places, intervals, source)
    pad = _pad(key, owed, owed["intervals"])
    mark = pad ^ int(already or bool(inside[0]))
    names = ("asker", "question", "fingerprint", "period", "intervals")
    return ChangeReports.of_group(change, owed["group"], intervals, cells), {
        **{name: owed[name] for name in names},
        "mark": mark,
    }


def to_rows(reports: ChangeReports) -> bytes:
    """Return reports as they are sent: group, interval and report, 32 bits each, little endian."""
    return reports.cells.astype("<u4").tobytes()


def from_rows(change: KeptChange, stored: bytes) -> ChangeReports:
    """Return the reports that `to_rows` wrote."""
    rows: Array = np.frombuffer(stored, "<u4").reshape(-1, 3)
    return change.reports(rows)


def _groups(question: Mapping[str, Any]) -> int:
    return 1 + int(question["days"] - 1).bit_length()


def _pad(key: bytes, owed: Mapping[str, Any], intervals: int) -> int:
    """Return a secret bit for each number of intervals, which tell nothing without the key."""
    parts = (*question_key(owed), str(owed["period"]), str(intervals))
    sized = (len(part.encode()).to_bytes(8, "little") + part.encode() for part in parts)
    return Keyed(key, b"kept change 1\0" + b"".join(sized)).take(1)[0] & 1
