"""An error is logged with all that hangs on it; none of it holds a person's value."""

from __future__ import annotations

from typing import Any

import pytest

import dither as dt
from dither.errors import DitherError

SECRET = "hyperthyroidism-7319"
NUMBER = 73_190.25


def chain(error: BaseException | None) -> list[BaseException]:
    """The error and every error that it keeps, shown in a traceback or not."""
    found: list[BaseException] = []
    waiting = [error]
    while waiting:
        one = waiting.pop()
        if one is not None and one not in found:
            found.append(one)
            waiting += [one.__context__, one.__cause__]
    return found


LINE, TURN = dt.Interval(0, 1), dt.Circle(360)
SQUARE = dt.Rectangle(LINE, LINE)
LISTED = dt.Categories(["no", "yes"])


@pytest.mark.parametrize(
    ("domain", "value"),
    [
        (LISTED, [SECRET]),
        (LISTED, [[SECRET]]),
        (LISTED, [{SECRET: 1}]),
        (dt.Categories(5), [SECRET]),
        (dt.Categories(5), [73_190]),
        (dt.Categories([1, 2]), [73_190]),
        (LINE, [NUMBER]),
        (LINE, [SECRET]),
        (LINE, [[NUMBER], NUMBER]),
        (LINE, [10**400 + 73_190]),
        (TURN, [NUMBER]),
        (SQUARE, [[NUMBER, 0.5]]),
        (SQUARE, [NUMBER]),
        (dt.Disk(1), [[NUMBER, 0.5]]),
        (dt.Sphere(), [[NUMBER, 0.5]]),
        (dt.maps.Parallelogram((0.0, 0.0), (1.0, 0.0), (0.0, 1.0)), [[NUMBER, 0.5]]),
        (dt.Text(4), [SECRET]),
        (dt.Text(4), ["\ud800" + SECRET]),
        (dt.Text(40, alphabet="abc"), [SECRET]),
    ],
    ids=repr,
)
def test_no_error_of_a_domain_keeps_the_value(domain: Any, value: Any) -> None:
    with pytest.raises(DitherError) as caught:
        domain.check(value)
    errors = chain(caught.value)
    assert errors == [caught.value]  # none came before: what a KeyError holds is the label itself
    assert "7319" not in f"{[(one, one.args, vars(one)) for one in errors]}"


@pytest.mark.parametrize(
    ("mechanism", "value"),
    [
        (dt.KRR(LISTED, epsilon=1), [SECRET]),
        (dt.OUE(LISTED, epsilon=1), SECRET),
        (dt.Laplace(LINE, epsilon=1, cells=16), NUMBER),
        (dt.Podium(LINE, epsilon=1), [NUMBER]),
        (dt.PEM(dt.Text(4), epsilon=1), [SECRET]),
        (dt.TraCSD(SQUARE, epsilon=2), [[NUMBER, 0.5]]),
    ],
    ids=repr,
)
def test_no_error_of_a_mechanism_keeps_the_value(mechanism: Any, value: Any) -> None:
    with pytest.raises(DitherError) as caught:
        mechanism.perturb(value)
    assert "7319" not in f"{[(one, one.args, vars(one)) for one in chain(caught.value)]}"
