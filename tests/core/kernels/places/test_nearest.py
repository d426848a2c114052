"""The K nearest of N points: the integer rule, privacy by enumeration, draws, and texts that are refused."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.core.kernels.kernel import read_kernel
from dither.core.kernels.places import nearest
from dither.core.kernels.places.nearest import SIDE, Grid, ListingKernel, NearestKernel, Points, Selector
from dither.core.kernels.window.integers import Nearest
from dither.errors import InvalidParameter, MalformedReport
from dither.foundation.canonical import write_tagged
from dither.foundation.randomness import Seeded
from dither.privacy.exact import exp_below
from tests.support.chi_square import p_value
from tests.support.sources import Scripted

UNIT = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
BOX = ((0.0, 1.0), (0.0, 1.0))
WHOLE = ((0.0, 65536.0), (0.0, 65536.0))  # places are their own integers
LISTS = np.array([[0, 1], [1, 4], [4, 2], [2, 3], [3, 0]])


def on_grid(epsilon: float = 2.0, per: tuple[int, int] = (3, 4), width: int = 4, grain: int = 13 - 1) -> Any:
    return NearestKernel.largest(epsilon, Grid(BOX, (1, 1), grain, per, SIDE), width)


def list_of(epsilon: float = 2.0) -> ListingKernel:
    return ListingKernel.largest(epsilon, 5, LISTS)


def by_the_rule(selector: Selector, place: list[int], width: int) -> list[int]:
    """The page's rule in Python integers: order by (squared distance, number)."""
    middle = [(x >> selector.grain << selector.grain) + (1 << selector.grain >> 1) for x in place]
    far = [
        sum((s * (a - b)) ** 2 for s, a, b in zip(selector.scales, middle, point, strict=True))
        for point in selector.points.tolist()
    ]
    return sorted(range(len(far)), key=lambda number: (far[number], number))[:width]


SELECTORS = {
    "grid": Grid(WHOLE, (1, 1), 0, (5, 4), SIDE),
    "grid, grained and scaled": Grid(WHOLE, (3, 511), 8, (4, 4), 50_000),
    "points, some equal": Points(
        WHOLE, (1, 1), 4, np.array([[9, 9], [9, 9], [60_000, 3]] * 4, ">u2").tobytes()
    ),
    "eight axes": Points(
        ((0.0, 65536.0),) * 8, (511,) * 8, 0, Seeded(3).integers(SIDE, 160).astype(">u2").tobytes()
    ),
}


@pytest.mark.parametrize("name", SELECTORS)
def test_the_nearest_are_those_of_the_integer_rule(name: str) -> None:
    selector = SELECTORS[name]
    count = len(selector.points)
    inputs = Seeded(1).integers(SIDE, 60 * selector.axes).reshape(-1, selector.axes)
    inputs[:count] = selector.points[:60]  # ties and exact hits too
    for width in {1, 3, count - 1}:
        found = selector.near(selector.integers(inputs.astype(np.float64)), width)
        assert found.tolist() == [by_the_rule(selector, row, width) for row in inputs.tolist()]


def test_squared_distances_are_below_what_every_language_has() -> None:
    assert 8 * (511 * (SIDE - 1)) ** 2 < 2**53


@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 2.0, 14.0])
def test_privacy_by_enumeration(epsilon: float) -> None:
    """Every report at every input that devices tell apart, and every list."""
    steps = (np.arange(16) + 0.5) / 16
    for kernel, inputs in (
        (on_grid(epsilon), [list(pair) for pair in product(steps, steps)]),
        (list_of(epsilon), list(range(5))),
    ):
        laws = [kernel.probabilities(value) for value in inputs]
        assert all(sum(law) == 1 for law in laws)
        worst = max(Fraction(max(column), min(column)) for column in zip(*laws, strict=True))
        assert worst == kernel.ratio <= exp_below(Fraction(epsilon))
        told = kernel.likelihoods(np.arange(kernel.outcomes)[:, None], np.array([inputs[:3]]))
        listed_laws = np.array([[float(p) for p in law] for law in laws[:3]])
        np.testing.assert_allclose(told.T, listed_laws)


@pytest.mark.parametrize("kernel", [on_grid(), list_of()], ids=["grid", "listing"])
def test_both_draws_have_the_stated_probabilities(kernel: Any) -> None:
    value: Any = [0.3, 0.9] if isinstance(kernel, NearestKernel) else 2
    law = [float(p) for p in kernel.probabilities(value)]
    many = kernel.draw(np.array([value] * 20_000), Seeded(1))
    some = kernel.draw_singly([value] * 4_000, Seeded(2))
    for told in (many, some):
        assert p_value(told, law) > 1e-6


def test_the_table_that_is_listed_once_has_the_same_lists() -> None:
    kernel = on_grid(per=(7, 5), width=6, grain=11)
    places = Seeded(4).integers(SIDE, 400).reshape(-1, 2) / SIDE
    table, rows = kernel.numbers(places)
    assert len(table) == 32 * 32
    alone = [kernel.numbers(place[None])[0][0].tolist() for place in places]
    assert table[rows].tolist() == alone


def test_the_bytes_of_a_draw_are_those_of_the_page() -> None:
    """Four bytes of the lottery, then a uniform number below N by rejection, whichever way it fell."""
    kernel = list_of(epsilon=2.0)
    first = kernel.window.step >> 32
    inside = (first + 5).to_bytes(4, "little")  # the second ticket
    beyond = (2 * first + 5).to_bytes(4, "little")
    for head, expected in ((inside, 4), (beyond, 3)):
        source = Scripted(head + bytes([7 << 5, 3 << 5]))  # 7 is not below 5 and is drawn again
        assert kernel.draw_one(1, source) == expected
        assert not source.left


def test_the_sphere_is_measured_by_chords() -> None:
    places = np.array([[0.0, 0.0], [90.0, 0.0], [-180.0, 0.0], [0.0, 90.0], [7.0, -90.0]])
    kernel = NearestKernel.largest(2.0, Points.of(places, None, (1, 1, 1), 0), 2)
    assert kernel.selector.places()[:2] == pytest.approx(places[:2], abs=0.01)
    near = kernel.numbers(np.array([[179.0, 1.0], [-179.0, -1.0], [123.0, 89.0]]))[0].tolist()
    assert [row[0] for row in near] == [2, 2, 3]


# --- broken twins: each is a draw that no enumeration may accept, or a text that nobody may read


def ratio_of(laws: list[list[Fraction]]) -> Fraction:
    return max(Fraction(max(column), min(column)) for column in zip(*laws, strict=True))


def law_of(window: Nearest, numbers: list[int]) -> list[Fraction]:
    """The law of a draw that gives the weight H to each of these numbers, once for each time it stands."""
    weights = [window.outside] * window.cells
    for number in numbers:
        weights[number] += window.inside - window.outside
    return [Fraction(weight, sum(weights)) for weight in weights]


@pytest.mark.parametrize(
    "lists",
    [
        pytest.param([[0, 1], [1, 2, 3]], id="K + 1 numbers for one value only"),
        pytest.param([[0, 1], [2, 2]], id="a number listed twice"),
    ],
)
def test_broken_lists_spend_more(lists: list[list[int]]) -> None:
    window = Nearest.largest(1.0, 6, 2)
    sound = [law_of(window, row) for row in ([0, 1], [1, 2], [3, 4])]
    assert ratio_of(sound) == window.ratio
    assert ratio_of([law_of(window, row) for row in lists]) > exp_below(Fraction(1.0))


@pytest.mark.parametrize("wrong", [[0, 0, 1], [2, 1, 1], [0, 1, 9]])
def test_a_selection_without_different_numbers_is_refused(
    wrong: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever goes wrong where points are selected, no window has a number twice or one beyond N."""
    selector = Grid(((0.0, 1.0), (0.0, 1.0)), (1, 1), 0, (3, 3), SIDE)
    kernel = NearestKernel.largest(1.0, selector, 3)
    place = np.array([0.2, 0.7])
    assert 0 <= kernel.draw_one(place, Seeded(1)) < 9
    monkeypatch.setattr(nearest, "first_numbers", lambda squares, width: np.tile(wrong, (len(squares), 1)))
    with pytest.raises(InvalidParameter, match="3 different numbers below 9"):
        kernel.draw_one(place, Seeded(1))
    with pytest.raises(InvalidParameter, match="different"):
        kernel.draw(np.tile(place, (100, 1)), Seeded(1))


def test_the_weight_of_another_epsilon_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="that integers can represent"):
        list_of(epsilon=1.001).certify(1.0, {})
    list_of(epsilon=1.0).certify(1.0, {})


GRID, LISTED = on_grid().device(), list_of().device()
SELECTOR = GRID["selector"]
POINTS = write_tagged(Points(BOX, (1, 1), 8, np.arange(24).astype(">u2").tobytes()))
FIVE = dt.Categories(5)


def wrong(**change: Any) -> dict[str, Any]:
    return {**GRID, "selector": {**SELECTOR, **change}}


@pytest.mark.parametrize(
    ("device", "domain"),
    [
        pytest.param({**GRID, "cells": 13}, UNIT, id="another number of points"),
        pytest.param({**GRID, "width": 12}, UNIT, id="all points are near"),
        pytest.param({**GRID, "width": 13}, UNIT, id="N < K"),
        pytest.param({**GRID, "step": "0"}, UNIT, id="no step"),
        pytest.param(wrong(per=[3, 5]), UNIT, id="more points than numbers"),
        pytest.param(wrong(per=[12]), UNIT, id="one axis"),
        pytest.param(wrong(per=[1 << 9, 1 << 8]), UNIT, id="N beyond 2^16"),
        pytest.param(wrong(per=[0, 4]), UNIT, id="no points"),
        pytest.param(wrong(scales=[1, 512]), UNIT, id="a scale beyond 2^9"),
        pytest.param(wrong(scales=[0, 1]), UNIT, id="a scale of 0"),
        pytest.param(wrong(scales=[1]), UNIT, id="a scale is missing"),
        pytest.param(wrong(grain=13), UNIT, id="nothing is told apart"),
        pytest.param(wrong(grain=0.5), UNIT, id="half a bit"),
        pytest.param(wrong(scale=65537), UNIT, id="points outside the box"),
        pytest.param(wrong(box=[[0, 1], [1, 1]]), UNIT, id="an empty side"),
        pytest.param(wrong(box=[[0, 1], [0, float("nan")]]), UNIT, id="NaN"),
        pytest.param(wrong(box=None), UNIT, id="a grid without a box"),
        pytest.param(wrong(kind="ring"), UNIT, id="another kind"),
        pytest.param(
            {**GRID, "selector": {**POINTS, "points": POINTS["points"][4:]}}, UNIT, id="half a point"
        ),
        pytest.param(
            {**GRID, "selector": {**POINTS, "points": POINTS["points"].upper() + "G"}}, UNIT, id="letters"
        ),
        pytest.param({**GRID, "selector": {**POINTS, "points": ""}}, UNIT, id="no point"),
        pytest.param({**GRID, "selector": {**POINTS, "points": "0" * 4 * 65538}}, UNIT, id="too long"),
        pytest.param({**LISTED, "lists": LISTED["lists"][:-4]}, FIVE, id="a list that is too short"),
        pytest.param({**LISTED, "lists": "00000000" + LISTED["lists"][8:]}, FIVE, id="a number twice"),
        pytest.param({**LISTED, "lists": "00000005" + LISTED["lists"][8:]}, FIVE, id="a number out of range"),
        pytest.param({**LISTED, "lists": 5}, FIVE, id="a number for lists"),
    ],
)
def test_hostile_texts_are_refused(device: dict[str, Any], domain: Any) -> None:
    with pytest.raises(MalformedReport):
        read_kernel(device, domain)


def test_sound_texts_are_read() -> None:
    assert read_kernel(GRID, UNIT) == on_grid()
    assert read_kernel(LISTED, FIVE) == list_of()
    equal = {**POINTS, "points": "00010002" * 12}
    assert read_kernel({**GRID, "selector": equal}, UNIT).outcomes == 12  # equal points are allowed
    assert not read_kernel(GRID, UNIT).fits(dt.Sphere())
    assert not read_kernel(LISTED, FIVE).fits(dt.Categories(4))


def test_lists_beyond_64_kilobytes_are_refused_when_they_are_made() -> None:
    with pytest.raises(InvalidParameter, match="64 kB"):
        ListingKernel.largest(1.0, 100, np.tile(np.arange(40), (1000, 1)))
