"""Vectors of consent: which campaigns a yes to the first one covers.

`python -m tests.conformance.consent` writes clients/conformance/2/consent.json anew.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from dither.collection.campaign import Campaign, Published
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
    return {"dither": 2, "key": key, "campaigns": made}


def text() -> str:
    """Return the text of the file."""
    return json.dumps(vectors(), ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
