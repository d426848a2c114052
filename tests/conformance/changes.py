"""Vectors of kept changes: the reports of intervals, and accounts that keep a group and a number.

`python -m tests.conformance.changes` writes clients/conformance/2/changes.json anew.
"""

from __future__ import annotations

import json
import random
from typing import Any, Final

import dither as dt
from dither_device.conformance import answer
from tests.collection.account.events import DAY, LAPTOP, at, merge, opened, question
from tests.collection.account.scenarios import scenario
from tests.collection.account.vectors import played
from tests.conformance.refused import FOLDER

FILE: Final = FOLDER / "changes.json"
YES_NO: Final = dt.Categories(["no", "yes"])
DAYS: Final = 9
# By name: the values of the days so far, the number of changes, the group, what was reported before, the
# number of intervals that are over. Group h has intervals of 2^(h - 1) days; group 0 is about the first day.
DRAWS: Final[dict[str, tuple[str, int, int, int, int, int]]] = {
    "the first day": ("y", 1, 0, 0, 0, 1),
    "the first day, several changes": ("n", 3, 0, 0, 0, 1),
    "the change of an interval": ("nnyy", 1, 1, 0, 0, 3),
    "the change is in the second interval": ("nnnyn", 1, 2, 0, 0, 2),
    "no change": ("nnnnn", 1, 1, 2, 0, 4),
    "one change was reported": ("nynyn", 1, 1, 2, 1, 4),
    "the last interval is shorter": ("nnnnnnnny", 1, 4, 0, 0, 1),
    "two changes": ("nynny", 2, 1, 0, 0, 4),
    "two of three changes, one of which was reported": ("nynyy", 2, 1, 2, 1, 4),
    "as many changes as are kept were reported": ("nynyn", 2, 1, 2, 2, 4),
    "a change and back within an interval": ("nynnn", 2, 2, 0, 0, 2),
    "five changes": ("nynynynyn", 5, 1, 0, 0, 8),
    "fewer intervals than changes": ("nynynynyn", 8, 3, 0, 0, 2),
}


def draws() -> list[dict[str, Any]]:
    """Return draws with the bytes that they take, by dither-device."""
    made = []
    for number, (name, row) in enumerate(DRAWS.items()):
        text, changes, group, before, reported, intervals = row
        source = random.Random(number)
        epsilon = (1.0, 0.5, 3.0)[number % 3]
        asked: dict[str, Any] = {
            "specification": dt.KRR(YES_NO, epsilon=epsilon).to_json(),
            **{"days": DAYS, "changes": changes, "group": group, "before": before, "reported": reported},
            **{"intervals": intervals, "values": ["yes" if one == "y" else "no" for one in text]},
        }
        kept = asked | {"bytes": source.randbytes(400).hex(), "keyed": source.randbytes(200).hex()}
        told = answer({"id": 0, "do": "change", **kept})
        taken = {"now": told["reported"], **{part: told[part] for part in ("fingerprint", "report", "left")}}
        made.append({"name": name, **kept, **taken})
    return made


def _asked(**more: Any) -> dict[str, Any]:
    terms = {"repeat": "kept change", "days": DAYS, "changes": 1, "start": 20_000}
    return question("smokes", 0.5, mechanism="KRR", **(terms | more))


def _answer(
    number: int, day: int, asked: dict[str, Any] | None = None, random: str = "", mark: int = 0
) -> dict[str, Any]:
    """Return an answer on a day of the period; its report is not what a device draws."""
    return {
        **{"do": "answer", "id": f"{number:032x}", "question": asked or _asked()},
        **{"at": at(day * DAY), "report": f"{number:02x}", "random": random, "mark": mark},
    }


def _dry(number: int, day: int, asked: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        **{"do": "dry run", "id": f"{number:032x}", "question": asked or _asked()},
        "at": at(day * DAY),
    }


def _theirs(day: int) -> dict[str, Any]:
    """Return a choice of another device of the person."""
    named = {name: _asked()[name] for name in ("asker", "question", "fingerprint")}
    kept = {"repeat": "kept change", "period": 20_000, "day": day, "device": LAPTOP, "answer": None}
    return {**named, **kept}


# Nine days have 5 groups: a byte of which the highest 3 bits are below 5 draws one, such as 0x20 the group 1.
SCENARIOS: Final = [
    scenario(
        "a kept change, every day",
        "the first interval is charged, with all days of the period; the next ones are not charged again",
        opened(9, "day"),
        _dry(1, 0),
        _answer(1, 0, random="20"),
        _answer(2, 0),
        _dry(3, 1),
        _answer(3, 1, mark=1),
        _answer(3, 1),
        _answer(4, 1),
        _dry(5, 2),
        _answer(5, 2),
        _answer(6, 8, mark=1),
        _answer(7, 8),
        _answer(8, 9, random="20"),
        _answer(9, 10, mark=1),
    ),
    scenario(
        "a kept change, the first day",
        "group 0 has one interval, which is over at once; a number is drawn again while it is too large",
        opened(9),
        _answer(1, 0, random="ffa000", mark=1),
        _answer(2, 8),
    ),
    scenario(
        "a kept change, long intervals",
        "an interval of 8 days is over on the last day of the period; a device that was off reports then",
        opened(9),
        _answer(1, 2, random="80"),
        _answer(2, 7),
        _answer(3, 8, mark=1),
    ),
    scenario(
        "kept changes, several",
        "the number is the group times the changes, and one of these; the mark has 16 bits",
        opened(9),
        _answer(1, 0, _asked(changes=3), random="40", mark=40_000),
        _answer(2, 1, _asked(changes=3), mark=60_000),
        _answer(3, 2, _asked(changes=3), mark=7),
    ),
    scenario(
        "a kept change, a budget",
        "the group stays drawn where the budget is short, and so is the one of another question",
        opened(0.5),
        _answer(1, 0, random="00", mark=1),
        _answer(2, 0, _asked() | {"question": "drinks"}, random="00", mark=1),
        _answer(3, 0, _asked() | {"question": "drinks"}, mark=1),
        _answer(4, 9, random="00", mark=1),
    ),
    scenario(
        "a kept change, too long a period",
        "a period of 367 days or more touches too many days",
        opened(900, "day"),
        _answer(1, 0, _asked(days=400), random="0000"),
        _answer(2, 0, _asked(days=366), random="0000", mark=1),
    ),
    scenario(
        "a kept change, another device",
        "the device that drew the group reports",
        opened(2),
        merge([], choices=[_theirs(1)]),
        _answer(1, 0, random="00"),
        _answer(2, 8),
    ),
    scenario(
        "a kept change, other terms",
        "what was charged otherwise is refused, and so is a changed retry",
        opened(9),
        _answer(1, 1, random="20", mark=1),
        _answer(2, 2, _asked(assumes=["x"])),
        _answer(1, 2, _asked(assumes=["x"])),
        _answer(1, 2),
    ),
    scenario(
        "a kept change, policy",
        "a drawn group is not drawn for a question that the device does not accept",
        opened(9),
        _answer(1, 0, _asked() | {"epsilon": 2}, random="00"),
        policy=None,
    ),
]


def text() -> str:
    """Return the file: one line for each draw and each event."""
    listed = ",\n".join("  " + json.dumps(one, sort_keys=True) for one in draws())
    parts = []
    for one in SCENARIOS:
        whole = played(one)
        steps = ",\n".join("   " + json.dumps(step, sort_keys=True) for step in whole.pop("steps"))
        head = json.dumps(whole, sort_keys=True)[1:-1]
        parts.append(f'  {{{head}, "steps": [\n{steps}\n  ]}}')
    return f'{{"draws": [\n{listed}\n], "scenarios": [\n' + ",\n".join(parts) + "\n]}\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
