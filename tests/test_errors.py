"""Error messages: what they repeat of the input, and what they must not repeat."""

import inspect
from fractions import Fraction

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter, found, unknown_name


@pytest.mark.parametrize(
    ("parameter", "text"),
    [
        (0.5, "0.5"),
        (-3, "-3"),
        (True, "True"),
        (None, "None"),
        (np.float64(1.5), "1.5"),
        (np.int16(7), "7"),
        (Fraction(1, 3), "1/3"),
        (float("nan"), "nan"),
        ("worts", "'worts'"),
        ("\x1b[31mred", "'\\x1b[31mred'"),
        ([41, 57], "list"),
        (np.array([41, 57]), "ndarray"),
        ({"age": 41}, "dict"),
        (10**100, "a number of more than 60 digits"),
        (Fraction(1, 10**100), "a number of more than 60 digits"),
    ],
)
def test_found_repeats_numbers_and_texts_and_never_a_container(parameter: object, text: str) -> None:
    assert found(parameter) == text


def test_found_shortens_a_long_text() -> None:
    assert len(found("x" * 10_000)) < 100


def test_unknown_name_says_the_nearest_or_all() -> None:
    error = unknown_name("loss", "Squred", ["absolute", "squared"])
    assert isinstance(error, InvalidParameter)
    assert str(error) == "there is no loss 'Squred': did you mean squared?"
    assert str(unknown_name("loss", "zzz", ["absolute", "squared"])).endswith(": there are absolute, squared")


def test_found_takes_numbers_that_python_does_not_print() -> None:
    assert found(10**5000) == "a number of more than 60 digits"


def test_unknown_name_shortens_a_long_name() -> None:
    assert len(str(unknown_name("loss", "y" * 1_000_000, ["squared"]))) < 200


@pytest.mark.parametrize("epsilon", [-1.0, 0.0, float("nan"), 1e9])
def test_an_error_about_epsilon_shows_it(epsilon: float) -> None:
    with pytest.raises(InvalidParameter, match=f"(?:not|got) {epsilon}"):
        dt.PM(dt.Interval(0, 1), epsilon=epsilon)


def test_unknown_name_escapes_and_shortens_names_from_files() -> None:
    text = str(unknown_name("column", "age", ["\x1b[31mred", "x" * 10_000, *map(str, range(5000))]))
    assert "\x1b" not in text
    assert len(text) < 1000


def test_a_parameter_without_its_name_is_answered_with_the_call() -> None:
    question = dt.Podium(dt.Interval(0, 1), epsilon=1)
    slips = {
        "Podium(domain, epsilon=…)": lambda: dt.Podium(dt.Interval(0, 1), 1),  # type: ignore[misc]
        "Optimal(domain, epsilon=…)": lambda: dt.Optimal(dt.Interval(0, 1), 1),
        "SubsetSelection(domain, epsilon=…)": lambda: dt.SubsetSelection(dt.Categories(9), 1),
        "Exponential(domain, points, epsilon=…)": lambda: dt.Exponential(dt.Interval(0, 1), [0, 1], 1),  # type: ignore[misc]
        "shuffled(mechanism, n=…, delta=…)": lambda: dt.shuffled(question, 10_000),  # type: ignore[call-arg, misc]
    }
    for call, slip in slips.items():
        with pytest.raises(InvalidParameter) as caught:
            slip()
        assert str(caught.value) == f"expected parameters by name: {call}"


def test_a_signature_shows_the_parameters_by_name() -> None:
    assert list(inspect.signature(dt.SubsetSelection).parameters) == ["domain", "epsilon", "report"]
    assert inspect.signature(dt.Optimal).parameters["unbiased"].kind is inspect.Parameter.KEYWORD_ONLY
    assert list(inspect.signature(dt.shuffled).parameters) == ["mechanism", "n", "delta", "times"]


def test_an_old_name_says_the_new_one() -> None:
    with pytest.raises(AttributeError, match=r"write dt\.rivals\.SUE"):
        _ = dt.SUE  # type: ignore[attr-defined]
