"""What every kind of domain says about itself: words, examples, tables, and how a column holds its values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.core.domains import Domain
from dither.core.domains.domain import known_kinds
from dither.core.domains.tables import read_table, take_domain
from dither.errors import InvalidParameter

SQUARE = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 2))
DOMAINS: list[Domain] = [
    dt.Interval(-5, 1e6, unit="steps"),
    dt.Circle(360),
    dt.Nullable(dt.Interval(0, 1)),
    dt.Nullable(dt.Circle(24)),
    dt.Categories(["no", "yes"]),
    dt.Nullable(dt.Categories(["no", "yes"])),
    dt.Categories(40_000),
    dt.Several(["mail", "maps", "music"], most=2),
    dt.Places(["home", "shop"], distances=[[0, 7], [6, 0]]),
    dt.Text(4),
    dt.Text(3, alphabet="abc"),
    dt.Profile({"sex": dt.Categories(["f", "m"]), "age": dt.Categories(3)}),
    dt.Box({"age": dt.Interval(18, 100), "bmi": dt.Interval(10, 60)}),
    SQUARE,
    dt.Disk(2.0),
    dt.maps.Parallelogram((0, 0), (2, 1), (0, 1)),
    dt.Sphere(),
    dt.Vectors(3),
    dt.Routes(dt.Rectangle(dt.Interval(0, 2), dt.Interval(0, 1)), points=3, distance="frechet", by="order"),
    dt.Vectors(4, length=2.0, centre=[1.0, 0.0, 0.0, 0.0], exact=True),
]


def test_every_kind_is_here() -> None:
    kinds = {type(domain) for domain in DOMAINS}
    assert {kind for kind in known_kinds().values() if kind.__module__.startswith("dither.")} <= kinds


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
def test_examples_are_different_values_of_the_domain(domain: Domain) -> None:
    tried, few = domain.examples(), domain.examples(few=True)
    assert len(tried) >= 2
    assert len(few) <= max(len(tried), 32)
    for value in (*tried, *few):
        domain.check([value])
    shown = [repr(np.asarray(value, dtype=object).tolist()) for value in tried]
    assert len(set(shown)) == len(shown)


@pytest.mark.parametrize(
    ("domain", "words"),
    [
        (dt.Interval(-5, 1e6, unit="steps"), "a number from −5 to 1e+06\u202fsteps"),
        (dt.Nullable(dt.Circle(24)), "a direction on a circle of 24, or no answer"),
        (dt.Categories(40_000), "one of 40\u202f000 answers"),
        (dt.Nullable(dt.Categories(["no", "yes"])), "one of 2 answers, or no answer"),
        (dt.Several(["mail", "maps", "music"], most=2), "a set of up to 2 of 3 items"),
        (SQUARE, "a location in [0, 1] × [0, 2]"),
        (
            dt.Profile({"sex": dt.Categories(["f", "m"]), "age": dt.Categories(3)}),
            "an answer to each of sex, age",
        ),
        (
            dt.Box({"age": dt.Interval(18, 100), "bmi": dt.Interval(10, 60)}),
            "numbers: age from 18 to 100, bmi from 10 to 60",
        ),
    ],
    ids=str,
)
def test_words(domain: Domain, words: str) -> None:
    assert domain.words() == words


def test_what_is_asked_of_kinds() -> None:
    angle = dt.Nullable(dt.Circle(24))
    assert (angle.line, angle.circular, angle.usual_mechanism) == (dt.Circle(24), True, "OGPM")
    assert (angle.hint, angle.cell_type) == (dt.Circle(24).hint, "numbers")
    assert dt.Nullable(dt.Interval(0, 1)).usual_mechanism == "Podium"
    sets = dt.Several(["mail", "maps"], most=2)
    assert (sets.listed, sets.sets, sets.count) == (dt.Categories(["mail", "maps"]), True, None)
    answers = dt.Categories(["no", "yes"])
    assert (answers.listed, answers.count, answers.cell_type) == (answers, 2, "labels")
    assert (dt.Categories(3).cell_type, SQUARE.cell_type) == ("codes", "none")
    assert (SQUARE.line, SQUARE.listed, SQUARE.shape) == (None, None, (1, 2))


@pytest.mark.parametrize(
    ("table", "domain"),
    [
        ({"interval": [0, 180], "step": 5, "unit": "minutes"}, dt.Interval(0, 180, step=5, unit="minutes")),
        ({"circle": 24, "optional": True}, dt.Nullable(dt.Circle(24))),
        ({"categories": ["no", "yes"]}, dt.Categories(["no", "yes"])),
        ({"several": ["mail", "maps"], "most": 2}, dt.Several(["mail", "maps"], most=2)),
    ],
    ids=str,
)
def test_tables(table: dict[str, Any], domain: Domain) -> None:
    assert read_table(table) == domain
    given = {**table, "epsilon": 1}
    assert take_domain(given) == domain
    assert given == {"epsilon": 1}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"interval": [0, 1], "circle": 2}, "got interval and circle"),
        ({}, "got none"),
        ({"several": ["mail", "maps"]}, "expected most"),
        ({"interval": 3}, "pair of numbers"),
        ({"interval": [0, 1], "optional": 1}, "optional to be true or false"),
        ({"categories": ["no", "yes"], "unit": "m"}, "expected no unit with categories"),
    ],
    ids=str,
)
def test_tables_that_are_wrong(table: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        take_domain(dict(table))
