"""Vectors of consent: which campaigns a yes to the first one covers.

`python -m tests.conformance.consent` writes clients/conformance/2/consent.json anew.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from dither.collection.campaign import Campaign
from dither.collection.published import Published
from dither_device.total import percent
from tests.collection.campaigns import KEY

FILE: Final = Path(__file__).parents[2] / "clients" / "conformance" / "2" / "consent.json"
FIRST: Final = """
[campaign]
name = "city"
version = 1
asker = "city.example"
contact = "mail@city.example"
purpose = "We plan bus lines."
purposes = { de = "Wir planen Buslinien." }
languages = ["en", "de"]
begins = 2020-01-01
ends = 2120-01-01
people = 100
repeat = "same"

[questions.minutes]
interval = [0, 180]
mechanism = "Podium"
epsilon = 1

[questions.travel]
categories = ["bus", "car"]
mechanism = "KRR"
epsilon = 1
text = { en = "How do you travel?", de = "Wie sind Sie unterwegs?" }
names = { en = ["By bus", "By car"], de = ["Mit dem Bus", "Mit dem Auto"] }
"""
# By name: what is replaced, by what, and whether a yes to the first covers it.
CHANGES: Final[dict[str, tuple[str, str, bool]]] = {
    "first": ("", "", True),
    "version": ("version = 1", "version = 2", True),
    "fewer": (FIRST[FIRST.index("[questions.travel]") :], "", True),
    "shorter": ("ends = 2120-01-01", "ends = 2110-01-01", True),
    "asker": ("city.example", "town.example", False),
    "contact": ("mail@city", "other@city", False),
    "purpose": ("We plan bus lines.", "We plan roads.", False),
    "purposes": ("Wir planen Buslinien.", "Wir planen Wege.", False),
    "longer": ("ends = 2120-01-01", "ends = 2120-01-02", False),
    "earlier": ("begins = 2020-01-01", "begins = 2019-12-31", False),
    "people": ("people = 100", "people = 99", False),
    "repeat": ('repeat = "same"', 'repeat = "fresh"\nanswers = 3', False),
    "epsilon": ('"KRR"\nepsilon = 1', '"KRR"\nepsilon = 0.9', False),
    "words": ("How do you travel?", "How do you travel today?", False),
    "names": ("By car", "By automobile", False),
    "question": (
        "[questions.travel]",
        "[questions.more]\ncircle = 360\nepsilon = 1\n[questions.travel]",
        False,
    ),
}


def vectors() -> dict[str, Any]:
    """Return signed campaigns by name, each with whether a yes to the first one covers it."""
    made = {}
    key = ""
    for name, (old, new, covered) in CHANGES.items():
        assert old in FIRST
        published = Published.sign(Campaign.from_toml(FIRST.replace(old, new)), KEY)
        made[name] = {"covered": covered, "published": published.to_json()}
        key = published.key
    return {"dither": 2, "key": key, "campaigns": made, "totals": totals()}


# What a campaign states about how often, and how many answers to all of its questions that is at most.
TIMES: Final[tuple[tuple[dict[str, Any], int | None], ...]] = (
    ({"repeat": "same"}, 1),
    ({"repeat": "present", "every": "week", "expects": 1000}, 1),
    ({"repeat": "fresh"}, None),
    ({"repeat": "fresh", "answers": 12}, 12),
    ({"repeat": "once", "days": 30}, 11),
    ({"repeat": "once", "days": 325}, 1),
    ({"repeat": "once", "days": 324}, 2),
    ({"repeat": "once", "every": "day"}, 325),
    ({"repeat": "once", "every": "week"}, 47),
    ({"repeat": "once", "every": "month"}, 11),
    ({"repeat": "kept change", "days": 100, "changes": 2}, 4),
)
EPSILONS: Final = (0.1, 0.5, 1.0, 2.5, 5.0, 7.0, 9.0, 12.5, 40.0)


def totals() -> list[dict[str, Any]]:
    """Return terms from 2026-01-01 to 2026-11-21, the total ε of a person or null, and how sure it makes.

    A guess of 50 % is at most so sure after all answers, or after one to each question where ε has no limit.
    """
    days = {"begins": "2026-01-01", "ends": "2026-11-21"}
    cases = [(terms, times, 0.5) for terms, times in TIMES]
    cases += [({"repeat": "same"}, 1, epsilon) for epsilon in EPSILONS]
    return [
        {
            "terms": {**terms, **days, "promise": {"epsilon": epsilon}},
            "total": None if times is None else times * epsilon,
            "sure": percent(epsilon * (times or 1)),
        }
        for terms, times, epsilon in cases
    ]


def text() -> str:
    """Return the text of the file."""
    return json.dumps(vectors(), ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
