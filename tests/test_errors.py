"""Error messages show public parameters, and never a list or an array, which may hold people's values."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter, quoted, unknown_name


class Colour(Enum):
    RED = 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-0.5, "-0.5"),
        (np.float64(2.0), "2.0"),
        ("1,5", "'1,5'"),
        ("two\nlines", r"'two\nlines'"),
        (None, "None"),
        (True, "True"),
        (Fraction(1, 3), "1/3"),
        (Colour.RED, "Colour.RED"),
        (10**6000, "a number of 19932 bits"),
        (Fraction(1, 10**6000), "a number of 19932 bits"),
        ("x" * 1000, "'" + "x" * 56 + "..."),
        ([73_190.25], "an object of type list"),
        (np.array([73_190.25]), "an object of type ndarray"),
        ({"age": 73}, "an object of type dict"),
    ],
    ids=lambda one: one if isinstance(one, str) else type(one).__name__,
)
def test_a_public_parameter_is_shown_briefly_and_collections_are_not(value: object, text: str) -> None:
    assert quoted(value) == text
    assert len(quoted(value)) <= 60


def test_an_unknown_name_is_answered_with_the_nearest_one() -> None:
    error = unknown_name("loss", "squard", ["absolute", "squared"])
    assert str(error) == "there is no loss 'squard': did you mean squared? There are absolute, squared"
    assert "y" * 100 not in str(unknown_name("loss", "y" * 100_000, ["squared"]))


@pytest.mark.parametrize("epsilon", [-1.0, 0.0, float("nan")])
def test_errors_about_a_budget_show_the_budget(epsilon: float) -> None:
    with pytest.raises(InvalidParameter, match=f"not {epsilon}"):
        dt.PM(dt.Interval(0, 1), epsilon=epsilon)
