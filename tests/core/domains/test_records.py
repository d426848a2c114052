"""Several attributes of a person: columns, records and arrays are the same codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter, OutsideDomain

PROFILE = dt.Profile({"age": dt.Categories(3), "city": dt.Categories(["Łódź", "other"])})
CODES = [[2, 0], [0, 1]]


@pytest.mark.parametrize(
    "values",
    [
        {"age": [2, 0], "city": ["Łódź", "other"]},
        [{"age": 2, "city": "Łódź"}, {"city": "other", "age": 0, "more": 7}],
        np.array([(2, "Łódź"), (0, "other")], dtype=[("age", "i8"), ("city", "U8")]),
    ],
    ids=["columns", "records", "a structured array"],
)
def test_columns_and_records_are_the_same_codes(values: Any) -> None:
    assert PROFILE.check(values).tolist() == CODES


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([{"age": 2, "city": "other"}, {"age": 1}], "expected a value of 'city' in every record"),
        ([{"age": 2, "city": "other"}, [1, 1]], "expected one column for each of age, city"),
        ([{"age": 2, "city": "secret place"}], "city: expected answers among the 2 categories"),
        ([{"age": 7, "city": "other"}], "age: expected answers among"),
        ([], "one column for each"),
        ({"age": [1]}, "expected a column 'city'"),
    ],
)
def test_what_is_no_record_is_refused_without_its_value(values: Any, words: str) -> None:
    with pytest.raises(OutsideDomain, match=words) as caught:
        PROFILE.check(values)
    assert "secret" not in str(caught.value)


def test_a_box_of_sides_without_names_is_answered_with_an_example() -> None:
    side = dt.Interval(0, 1)
    for slip in (lambda: dt.Box(side, side), lambda: dt.Box([side, side])):  # type: ignore[arg-type, list-item]
        with pytest.raises(InvalidParameter, match=r"by name, such as dt\.Box\(\{"):
            slip()
