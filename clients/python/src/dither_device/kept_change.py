"""Answers about kept changes: the drawn group, the intervals that are due, and the number that is kept.

docs/account.md is normative. The account must remember how many changes were reported, so that no more are
than promised. That number depends on values, so it is kept under a pad from the account's key. For more than
one change, the key determines the pattern of flips, so that it is the same after every restart.
"""

from __future__ import annotations

import json
from itertools import pairwise
from math import comb
from struct import pack

from dither_device.draws import Outside, below, bits
from dither_device.keyed import Keyed
from dither_device.rules import period_of
from dither_device.state import DAY, key_of
from dither_device.text import digest, need

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from dither_device.draws import Take
    from dither_device.question import Question
    from dither_device.state import Data, State

MOST_KEPT = 1000
_NAMES = ("asker", "question", "fingerprint", "period")


def check_change(question: Question, days: int, changes: object) -> None:
    """Raise Malformed unless a question has two answers and two reports, and the changes fit into it."""
    fields = json.loads(question.device)
    two = question.kind == "response" and fields["cells"] == 2
    need(two, "asking", "a kept change is one of a question with two answers, such as KRR")
    need(days >= 2 and type(changes) is int, "asking", "changes")
    need(1 <= changes <= min(MOST_KEPT, days - 1), "asking", "changes")  # type: ignore[operator]


def fingerprint_of(question: Question, days: int, changes: int) -> str:
    """Return the fingerprint of a question about a kept change, from its own device text."""
    draw = "kept change" if changes == 1 else "kept changes"
    text = f'{{"changes":{changes},"days":{days},"draw":"{draw}","part":{question.device}}}'
    return digest(text)


def choices_of(question: Data) -> int:
    """Return the number of pairs of a group and a number of the kept change."""
    groups = 1 + int(question["days"] - 1).bit_length()
    return groups * int(question["changes"])


def span(question: Data, day: int) -> tuple[int, int]:
    """Return the seconds of the complete period of a question: its reports are about all days of it."""
    first, _ = period_of(question, day)
    return first * DAY, (first + question["days"]) * DAY


def due(state: State, question: Data, choice: Data, day: int) -> Data | None:
    """Return the intervals that are over and not reported, with the record of the others, or None."""
    if choice["device"] != state.device:
        return None  # another device of the person drew the group, and reports
    group, position = divmod(choice["day"], question["changes"])
    passed = day - choice["period"]
    length = 1 << group - 1 if group else 1
    over = -(-passed // length) if passed == question["days"] - 1 else passed // length
    before = state.trees.get((*key_of(question), choice["period"]), {"intervals": 0, "mark": None})
    end = over if group else 1
    if end <= before["intervals"]:
        return None
    more = {"group": group, "place": 1 + position, "days": passed + 1, "before": before, "intervals": end}
    more |= {"changes": question["changes"], "all": -(-(question["days"] - 1) // length) if group else 1}
    return {**{name: choice[name] for name in _NAMES}, **more}


def reported_changes(owed: Data, key: bytes) -> int:
    """Return the number of changes in intervals that were reported before."""
    before = owed["before"]
    return 0 if before["mark"] is None else _pad(key, owed, before["intervals"]) ^ before["mark"]


def tree_of(owed: Data, key: bytes, reported: int) -> Data:
    """Return the record of the intervals: how many, and under a pad how many changes were in them."""
    return marked(owed, _pad(key, owed, owed["intervals"]) ^ reported)


def marked(owed: Data, mark: int) -> Data:
    """Return the record of the intervals with a number under a pad."""
    return {**{name: owed[name] for name in (*_NAMES, "intervals")}, "mark": mark}


def flips_of(ratio: tuple[int, int], owed: Data, key: bytes) -> list[bool]:
    """Return the pattern of flips of a group, by the key."""
    return _pattern_of(ratio, owed, _keyed_flips(owed, key))


def _keyed_flips(owed: Data, key: bytes) -> Keyed:
    return Keyed(key, b"kept changes 1\0" + _sized(owed, str(owed["group"])))


def _pattern_of(ratio: tuple[int, int], owed: Data, take: Take) -> list[bool]:
    """Return a pattern of flips: in a Hamming ball, or outside with the smaller probability.

    Of all balls that keep the ratio it has the largest mean of a report; docs/account.md has the draws.
    """
    top, bottom = ratio
    size = min(owed["changes"], owed["all"])
    ways = [comb(size, flips) for flips in range(size + 1)]
    inside = [sum(ways[: radius + 1]) for radius in range(size)]
    best, radius = (0, 1), 0
    for at, count in enumerate(inside):
        mean = comb(size - 1, at), count * (top - bottom) + (bottom << size)
        if mean[0] * best[1] > best[0] * mean[1]:
            best, radius = mean, at
    near, far = inside[radius] * top, ((1 << size) - inside[radius]) * bottom
    held = bits(take, 128) < (near << 128) // (near + far)
    positions = below(take, inside[radius]), below(take, (1 << size) - inside[radius])
    counts = [
        sum(position >= sum(part[: at + 1]) for at in range(len(part)))
        for position, part in zip(positions, (ways[: radius + 1], ways[radius + 1 :]), strict=True)
    ]
    left = counts[0] if held else radius + 1 + counts[1]
    flips = []
    for at in range(size):
        flips.append(below(take, size - at) < left)
        left -= flips[-1]
    return flips


def draw_change(question: Question, values: Any, owed: Data, key: bytes, take: Take) -> tuple[bytes, Data]:
    """Draw the reports of the intervals that are due; return them as they are sent, and the new record.

    `values` cover all days of the period so far.
    """
    used = reported_changes(owed, key)
    rows, reported = draw_rows(question, values, owed, used, _keyed_flips(owed, key), take)
    return rows, tree_of(owed, key, reported)


def draw_rows(
    question: Question, values: Any, owed: Data, reported: int, keyed: Take, take: Take
) -> tuple[bytes, int]:
    """Draw the reports of the intervals that are due; return them, and how many changes were in all so far.

    A report is a row of group, interval and cell, 32 bits each, little endian. `keyed` draws the pattern of
    flips, the same one in each call of a period.
    """
    if isinstance(values, str | bytes) or len(values) != owed["days"]:
        raise Outside("the values of all days of the period so far were expected")
    codes = [question.place(value) for value in values]
    group = owed["group"]
    length = 1 << group - 1 if group else 1
    if owed["changes"] > 1 and group:
        return _draw_flipped(codes, owed, reported, _pattern_of(question.ratio, owed, keyed), take)
    day = 0 if reported else _kept_day(codes, 1)
    rows = []
    for interval in range(owed["before"]["intervals"], owed["intervals"]):
        coin = bits(take, 1)
        inside = group > 0 and day > 0 and (day - 1) // length == interval
        reported = reported or int(inside)
        code = codes[day] if inside else coin if group else codes[0]
        rows.append(pack("<III", group, interval, question.draw(code, take)[0]))
    return b"".join(rows), reported


def _draw_flipped(
    codes: list[int], owed: Data, used: int, flips: list[bool], take: Take
) -> tuple[bytes, int]:
    """Draw the reports of a group about several changes, by the pattern of flips."""
    group = owed["group"]
    length, still = 1 << group - 1, codes[:1]
    changes = 0
    for before, after in pairwise(codes):  # after the kept changes a value stays
        changes += before != after
        still.append(codes[0] ^ (min(changes, owed["changes"]) & 1))
    rows = []
    for interval in range(owed["before"]["intervals"], owed["intervals"]):
        coin, end = bits(take, 1), min((interval + 1) * length, len(codes) - 1)
        moved = still[end] != still[interval * length] and used < len(flips)
        rows.append(pack("<III", group, interval, still[end] ^ flips[used] if moved else coin))
        used += moved
    return b"".join(rows), used


def _kept_day(codes: list[int], index: int) -> int:
    """Return the day of the change with a number, or 0."""
    changes = [day for day in range(1, len(codes)) if codes[day] != codes[day - 1]]
    return changes[index - 1] if index <= len(changes) else 0


def _pad(key: bytes, owed: Data, intervals: int) -> int:
    """Return a secret number for each number of intervals: a bit, or 16 bits for more than one change."""
    drawn = Keyed(key, b"kept change 1\0" + _sized(owed, str(intervals)))(2)
    return drawn[0] & 1 if owed["changes"] == 1 else int.from_bytes(drawn, "little")


def _sized(owed: Data, last: str) -> bytes:
    """Return the question, the period and a text, each preceded by its length."""
    parts = (*key_of(owed), str(owed["period"]), last)
    return b"".join(len(part.encode()).to_bytes(8, "little") + part.encode() for part in parts)
