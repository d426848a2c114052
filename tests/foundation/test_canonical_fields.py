"""What is declared is written and read; what was not written so is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from dither.errors import MalformedReport
from dither.foundation.canonical import (
    HEXADECIMAL,
    REAL,
    WHOLE,
    Data,
    Fields,
    as_indices,
    condition,
    constant,
    from_domain,
    inline,
    list_of,
    nullable,
    one_of,
    record,
)


@dataclass(frozen=True)
class Ends:
    low: int
    high: int

    kind: ClassVar[str] = "ends"
    fields: ClassVar[Fields] = Fields(low=WHOLE, high=WHOLE)


@dataclass(frozen=True)
class Steps:
    steps: tuple[int, ...]

    kind: ClassVar[str] = "steps"
    fields: ClassVar[Fields] = Fields(steps=list_of(WHOLE))


def refuse_many(data: Data, known: Data) -> None:
    if known["weight"] > 1000:
        raise MalformedReport("too heavy")


@dataclass(frozen=True)
class Toy:
    place: str
    weight: int
    pair: tuple[float, float]
    reach: float | None
    around: Ends
    within: Ends
    rule: Ends | Steps

    fields: ClassVar[Fields] = Fields(
        place=from_domain(str.upper),
        family=constant("first", "the family"),
        weight=HEXADECIMAL.member("w"),
        light=condition(refuse_many),
        pair=list_of(REAL, 2),
        reach=nullable(REAL),
        around=inline(Ends),
        within=record(Ends),
        rule=one_of(Ends, Steps, wrong="the kind of a rule must be ends or steps"),
    )


TOY = Toy("HERE", 255, (0.5, 2.0), None, Ends(1, 2), Ends(3, 4), Steps((5, 6)))
TEXT: dict[str, Any] = {
    "family": "first",
    "w": "ff",
    "pair": [0.5, 2.0],
    "reach": None,
    "low": 1,
    "high": 2,
    "within": {"low": 3, "high": 4},
    "rule": {"kind": "steps", "steps": [5, 6]},
}


def read(data: Data) -> Toy:
    return Toy(**Toy.fields.read(data, domain="here"))


def test_an_object_is_written_and_read_as_declared() -> None:
    assert Toy.fields.write(TOY) == TEXT
    assert read(TEXT) == TOY
    assert read({**TEXT, "reach": 1.5, "rule": {"kind": "ends", "low": 0, "high": 9}}) == Toy(
        "HERE", 255, (0.5, 2.0), 1.5, Ends(1, 2), Ends(3, 4), Ends(0, 9)
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"family": "second"}, "the family must be 'first', not 'second'"),
        ({"w": "FF"}, "lower-case hexadecimal"),
        ({"w": "fff"}, "too heavy"),
        ({"low": True}, "expected an integer of at most 256 bits"),
        ({"reach": "1"}, "expected a finite number"),
        ({"rule": {"kind": "line"}}, "must be ends or steps, not 'line'"),
    ],
)
def test_other_members_are_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(MalformedReport, match=words):
        read({**TEXT, **change})


@pytest.mark.parametrize("name", TEXT)
def test_a_missing_member_is_an_error(name: str) -> None:
    with pytest.raises(KeyError):
        read({member: data for member, data in TEXT.items() if member != name})


def test_a_list_of_another_length_is_an_error() -> None:
    with pytest.raises(ValueError, match="2"):
        read({**TEXT, "pair": [0.5, 2.0, 1.0]})


def test_rows_share_their_numbers() -> None:
    assert as_indices([(3, 7), (7, 7)]) == ([7, 3], [[1, 0], [0, 0]])
