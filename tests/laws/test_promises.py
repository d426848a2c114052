"""A whole promises no more than its parts: bound, unit and assumptions survive every composition."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, get_args

import pytest

import dither as dt
from dither.core.combinator import Combinator
from dither.errors import InvalidParameter
from dither.privacy import Guarantee, Pure, Unit
from dither.privacy.guarantee import PUBLIC_LENGTH

UNIT = dt.Interval(0, 1)
CITY = dt.Rectangle(UNIT, UNIT)
NEAR = partial(dt.BoundedLaplace, sensitivity=0.05)
ASSUMED = "two values differ by at most 0.05"
KEY = bytes(range(32))


def indicator(part: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dt.classifiers.Indicator(part, delta=0.01, allow_raw_release=True)


PATHS: dict[str, Callable[..., Any]] = {
    "TraCSC": lambda inner, **more: dt.TraCSC(CITY, epsilon=2, inner=inner, **more),
    "TraCSD": lambda inner, **more: dt.TraCSD(CITY, epsilon=2, distance=inner, **more),
}
WHOLES: dict[str, Callable[[Any], Any]] = {
    **PATHS,
    "TraCSC, read": lambda inner: PATHS["TraCSC"](inner, reading=dt.maps.Rounded([(0.5, 0.5)])),
    "Each": lambda inner: dt.Each(a=inner(UNIT, epsilon=1), b=dt.PM(UNIT, epsilon=1)),
    "Each, second": lambda inner: dt.Each(a=dt.PM(UNIT, epsilon=1), b=inner(UNIT, epsilon=1)),
    "Sampled": lambda inner: dt.Sampled(a=dt.PM(UNIT, epsilon=1), b=inner(UNIT, epsilon=1)),
    "Memoised": lambda inner: dt.Memoised(inner(UNIT, epsilon=1), KEY, name="a"),
    "Memoised path": lambda inner: dt.Memoised(PATHS["TraCSC"](inner), KEY, name="a"),
    "Indicator": lambda inner: indicator(inner(UNIT, epsilon=1)),
    "Indicator of Each": lambda inner: indicator(dt.Each(a=inner(UNIT, epsilon=1))),
    "Questionnaire": lambda inner: dt.Questionnaire(
        {"a": dt.PM(UNIT, epsilon=1), "b": inner(UNIT, epsilon=1)}
    ),
}
FREE = partial(dt.OGPM)


@pytest.mark.some(every=3)
@pytest.mark.parametrize("name", WHOLES)
def test_a_whole_assumes_what_a_part_assumes(name: str) -> None:
    assert ASSUMED in WHOLES[name](NEAR).guarantee.assumes
    assert ASSUMED not in WHOLES[name](FREE).guarantee.assumes


@pytest.mark.parametrize("name", PATHS)
def test_a_trajectory_assumes_what_a_location_assumes(name: str) -> None:
    whole = PATHS[name](NEAR, unit="trajectory").guarantee
    assert {ASSUMED, PUBLIC_LENGTH} <= set(whole.assumes)
    assert ASSUMED in PATHS[name](NEAR).guarantee.repeated(5).assumes


@pytest.mark.parametrize("name", PATHS)
def test_a_trajectory_of_parts_with_a_delta_is_refused(name: str) -> None:
    noisy = partial(dt.Gaussian, delta=1e-6)
    assert PATHS[name](noisy).guarantee.delta > 0
    with pytest.raises(InvalidParameter, match="pure"):
        PATHS[name](noisy, unit="trajectory")


@pytest.mark.parametrize(
    "mechanism",
    [
        dt.TraCSC(CITY, epsilon=2),
        dt.TraCSD(CITY, epsilon=2),
        dt.rivals.Strawman(CITY, epsilon=2),
        dt.Polar(dt.Disk(1), epsilon=2),
        dt.Hybrid(UNIT, epsilon=2),
    ],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_what_is_made_of_parts_names_them(mechanism: Any) -> None:
    """The rule of assumptions is written once, over `parts`."""
    assert len(mechanism.parts) == 2
    assert mechanism.guarantee.assumes == ()


LINES = [("a",), ("b", "c"), ()]


@pytest.mark.parametrize(("one", "two"), list(itertools.product(get_args(Unit), repeat=2)))
def test_units_never_grow(one: Unit, two: Unit) -> None:
    """A whole protects no larger unit than its weakest part."""
    order = ["location", "value", "record", "trajectory", "person"]
    first, second = Guarantee(Pure(1.0), one, ("a",)), Guarantee(Pure(1.0), two, ("b",))
    for whole in (first.compose(second), first.either(second), second.compose(first)):
        assert set(whole.assumes) == {"a", "b"}
        weakest = min(order.index(one), order.index(two))
        allowed = {order[weakest], "record"} if order[weakest] == "value" else {order[weakest]}
        assert whole.unit in allowed


@pytest.mark.parametrize("lines", LINES)
def test_every_combinator_keeps_every_assumption(lines: tuple[str, ...]) -> None:
    pm = dt.PM(UNIT, epsilon=1)
    combinators: list[Combinator] = [
        dt.Each(a=pm),
        dt.Sampled(a=pm),
        dt.Memoised(pm, KEY, name="a"),
        indicator(pm),
        dt.maps.Rounded([(0.5, 0.5)]),
    ]
    for one in combinators:
        assert set(lines) <= set(one.promise([Guarantee(Pure(1.0), "value", lines)]).assumes)


def test_fresh_answers_beside_permanent_ones_are_promised_once() -> None:
    """What is asked afresh spends again, so the whole is for one record, not for one person."""
    pm = dt.PM(UNIT, epsilon=1)
    assert dt.Each(a=pm, b=dt.Memoised(pm, KEY, name="b")).guarantee.unit == "record"
    assert dt.Each(b=dt.Memoised(pm, KEY, name="b")).guarantee.unit == "person"
    assert dt.Each(a=pm, trip=dt.TraCSC(CITY, epsilon=1)).guarantee.unit == "location"
