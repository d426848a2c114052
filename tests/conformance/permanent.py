"""Vectors of answers per value: which of them are one report, and which are independent.

`python -m tests.conformance.permanent` writes clients/conformance/2/permanent.json anew. The reports
themselves are each implementation's own: a key makes them, and it never leaves a device.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

import dither as dt

FILE: Final = Path(__file__).parents[2] / "clients" / "conformance" / "2" / "permanent.json"
LIST: Final = dt.OLH(dt.Categories(5000), epsilon=1)  # a seed of 47 bits: draws differ if keys do
OTHER: Final = dt.OLH(dt.Categories(5001), epsilon=1)
NUMBER: Final = dt.Podium(dt.Interval(-3, 9), epsilon=1)
ANGLE: Final = dt.OGPM(dt.Circle(360), epsilon=1)
SETS: Final = dt.SetResponse(dt.Several(1000, most=20), epsilon=1)
PATH: Final = dt.TraCSD(dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1)), epsilon=1)
Ask = tuple[str, str, Any, Any]  # asker, name, mechanism, value


def case(name: str, alike: list[int], *asks: Ask, keys: tuple[int, ...] = ()) -> dict[str, Any]:
    """Return a case: answers with the same number in `alike` are one report, others are different ones."""
    return {
        "name": name,
        "asks": [
            {
                "key": hashlib.sha256(b"key %d" % number).hexdigest(),
                "asker": asker,
                "question": question,
                "specification": mechanism.to_json(),
                "value": value,
            }
            for number, (asker, question, mechanism, value) in zip(
                keys or (0,) * len(asks), asks, strict=True
            )
        ],
        "alike": alike,
    }


def cases() -> list[dict[str, Any]]:
    """Return all cases."""
    return [
        case("one value is one report", [0, 1, 0], *(("a", "home", LIST, value) for value in (3, 4, 3))),
        case("two askers with one name", [0, 1, 0], *((asker, "home", LIST, 3) for asker in "aba")),
        case(
            "names and askers that make one text",
            [0, 1, 2, 3, 4, 5],
            *(
                (asker, name, LIST, 3)
                for asker, name in (
                    ("a", "b c"), ("a b", "c"), ("ab", "c"), ("a", "bc"), ("1 a", "c"), ('a","b', "c"),
                )
            ),
        ),
        case("two questions with one name", [0, 1], ("a", "home", LIST, 3), ("a", "home", OTHER, 3)),
        case("two keys", [0, 1, 0], *[("a", "home", LIST, 3)] * 3, keys=(0, 1, 0)),
        case(
            "numbers beyond the end are one input",
            [0] * 5,
            *(("a", "age", NUMBER, value) for value in (9, 9.5, 10, 1e6, 1e300)),
        ),
        case(
            "numbers below the end are one input",
            [0] * 4,
            *(("a", "age", NUMBER, value) for value in (-3, -4, -1e6, -1e300)),
        ),
        case(
            "sets in any order, with repeated items",
            [0, 0, 0, 1, 2],
            *(("a", "tools", SETS, value) for value in ([3, 4], [4, 3], [3, 4, 3], [3], [])),
        ),
        case("zero has one sign", [0, 0, 0], *(("a", "age", NUMBER, value) for value in (0, 0.0, -0.0))),
        case(
            "angles are turned",
            [0] * 5,
            *(("a", "heading", ANGLE, value) for value in (90, 450, -270, 90 + 3600, 90 - 7200)),
        ),
        case(
            "the period is zero",
            [0] * 5,
            *(("a", "heading", ANGLE, value) for value in (0, 360, -360, 720, -1e-20)),
        ),
        case(
            "places are moved inside",
            [0, 0, 0],
            *(("a", "trip", PATH, [[x, 0.5]]) for x in (1, 1.5, 1e6)),
        ),
    ]  # fmt: skip


def text() -> str:
    """Return the whole file, a line for each case."""
    lines = ",\n".join(json.dumps(one, sort_keys=True) for one in cases())
    return '{"permanent": [\n' + lines + "\n]}\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
