"""Vectors of values that people give, each with the one that the question of a campaign takes.

`python -m tests.conformance.taken` writes clients/conformance/2/values.json anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import dither as dt
from dither.collection.campaign import Campaign
from dither.collection.published import Published
from dither.collection.terms import QuestionTerms
from tests.conformance.refused import FOLDER
from tests.conformance.signatures import KEY, contract

FILE: Final = FOLDER / "values.json"
EDGES: Final = (0, 1, 2.5, 10, 1000.25)
SIGNED: Final = (-7.5, -1, 0.1)
GIVEN: Final[dict[str, tuple[Any, ...]]] = {
    "plain": (17, 0.5, None),
    "scaled": (-3, 0, 0.3, 1, 1.7, 2.5, 9.999, 10, 333.3, 1000.25, 5000, 1e300, -1e300),
    "signed": (-7.5, -2, -1, 0, 0.1, 12, None),
    "day": ("1970-01-01", "2026-05-01", "2024-02-29", "1969-12-31", 20454, 3.5),
    "hour": ("00:00", "13:45", "23:59", 90, 0.5),
}


def campaign() -> Campaign:
    """Return a campaign with every term that changes a value."""
    questions = {
        "plain": dt.Podium(dt.Interval(0, 180), epsilon=1),
        "scaled": dt.SW(dt.Interval(0, 4), epsilon=1),
        "signed": dt.Podium(dt.Nullable(dt.Interval(0, 2)), epsilon=1),
        "day": dt.Podium(dt.Interval(-1000, 30_000), epsilon=1),
        "hour": dt.OGPM(dt.Circle(1440), epsilon=1),
    }
    asks = {
        "scaled": QuestionTerms(scale=EDGES),
        "signed": QuestionTerms(scale=SIGNED),
        "day": QuestionTerms(form="date"),
        "hour": QuestionTerms(form="time"),
    }
    return replace(contract(), questions=questions, asks=asks)


def values(made: Campaign) -> Iterator[dict[str, Any]]:
    """Yield the question, the value that is given, and the one that is taken."""
    for name, some in GIVEN.items():
        for given in some:
            taken = made.value(name, given)
            yield {"question": name, "value": given, "taken": taken}


def text() -> str:
    """Return the file, one line for each value."""
    made = campaign()
    published = Published.sign(made, KEY)
    head = json.dumps({"dither": 2, "key": published.key, "published": published.to_json()})
    rows = ",\n".join(json.dumps(row) for row in values(made))
    return f'{head[:-1]}, "values": [\n{rows}\n]}}\n'


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
