"""Losses and criteria: one list of names, and an error that says the nearest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dither as dt
from dither.errors import InvalidParameter
from dither.foundation import losses
from tests.support.terminal import run


@given(st.floats(1e-3, 1e3))
def test_a_loss_is_read_back_from_what_it_prints(exponent: float) -> None:
    loss = losses.as_power(exponent)
    assert losses.loss_of(repr(loss)) == loss.loss
    assert losses.loss_of(repr(exponent)) == loss.loss


@pytest.mark.parametrize(
    ("name", "loss"),
    [
        ("absolute", "absolute"),
        ("squared", "squared"),
        ("1", "absolute"),
        ("2.0", "squared"),
        ("power(1.5)", 1.5),
    ],
)
def test_a_loss_is_found_by_name(name: str, loss: object) -> None:
    assert losses.loss_of(name) == loss


def test_losses_that_differ_print_differently() -> None:
    """The name of a stored design is made of it."""
    assert repr(losses.as_power(1.2345671)) != repr(losses.as_power(1.2345672))
    assert [repr(losses.as_power(loss)) for loss in ("absolute", "squared", 3)] == [
        "absolute",
        "squared",
        "power(3)",
    ]


@pytest.mark.parametrize("wrong", ["cubed", "", "-1", "0", "nan", "inf", "power(", "power(x)", "(2)", "2)"])
def test_what_is_no_loss_is_refused(wrong: str) -> None:
    with pytest.raises(InvalidParameter, match="a power of the distance"):
        losses.loss_of(wrong)


@pytest.mark.parametrize(
    ("wrong", "nearest"), [("absolut", "absolute"), ("Square", "squared"), ("squarred", "squared")]
)
def test_an_unknown_loss_names_the_nearest(wrong: str, nearest: str) -> None:
    with pytest.raises(InvalidParameter, match=f"'{wrong}': did you mean {nearest}\\?"):
        losses.loss_of(wrong)


def test_a_criterion_that_is_none_names_the_nearest() -> None:
    with pytest.raises(InvalidParameter, match='did you mean "average"'):
        losses.check_criterion("averag")


def test_a_campaign_and_the_command_line_say_the_nearest_name_too() -> None:
    question = "[questions.age]\ninterval = [0, 1]\nepsilon = 1\nmechanism = 'OGPM'\nloss = "
    with pytest.raises(InvalidParameter, match=r"question 'age'.*did you mean squared"):
        dt.Questionnaire.from_toml(question + "'squarred'")
    made = dt.Questionnaire.from_toml(question + "'1.5'").questions["age"]
    assert made.design() == dt.OGPM(dt.Interval(0, 1), epsilon=1, loss=1.5)
    words = ["compare", "--interval", "0", "1", "--epsilon", "1", "--loss", "squarred"]
    told = run(*words)
    assert told.exit_code == 2
    assert "did you mean squared" in told.output
    with pytest.raises(InvalidParameter, match="did you mean Podium"):
        dt.Questionnaire.from_toml("[questions.age]\ninterval = [0, 1]\nepsilon = 1\nmechanism = 'podum'")
