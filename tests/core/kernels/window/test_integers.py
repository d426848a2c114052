"""A lottery that cannot be drawn exactly does not exist.

Start rules at their ends: the last knot, and the largest starts that the integers hold.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dither as dt
from dither.core.kernels.window.integers import LineStart, Lottery, Sliding
from dither.core.kernels.window.start_table import COIN, KnotStart
from dither.errors import InvalidParameter


@pytest.mark.parametrize(("tickets", "bits"), [(0, 64), (-1, 64), (5, 65), (5, 32), (5, 128), (0, 65)])
def test_tickets_and_bits_are_checked(tickets: int, bits: int) -> None:
    with pytest.raises(InvalidParameter, match="at least one ticket"):
        Lottery(tickets, (7 << 32) + 123, bits)


@pytest.mark.parametrize("step", [0, 1, (1 << 64) // 5, 1 << 64])
def test_a_step_that_does_not_fit_is_refused(step: int) -> None:
    with pytest.raises(InvalidParameter, match="step"):
        Lottery(5, step, 64)


UNIT = dt.Interval(0, 1)


def test_the_last_knot_is_reached() -> None:
    """Three knots over [0, 1]: a value just below the end is at the last one nearly always."""
    rule = KnotStart(0.0, float(2 << COIN), np.array([0, 10 << 16, 40 << 16], dtype=np.uint32))
    assert rule.last == (2 << COIN) - 1
    lower, upper, chance = rule.beside(np.array([0.25, 0.75, 1.0]))
    assert upper.tolist() == [10 << 16, 40 << 16, 40 << 16]
    assert lower.tolist() == [0, 10 << 16, 10 << 16]
    assert chance.tolist() == pytest.approx([0.5, 0.5, 1.0], abs=1e-4)


@pytest.mark.parametrize("bits", [31, 62])
def test_starts_that_integers_do_not_hold_are_refused(bits: int) -> None:
    """A start and its coin are below 2^bits: the coin takes 2^fraction of the room."""
    fraction = 15
    room = (1 << bits) - (1 << fraction)
    for last, held in ((room, True), (room + (1 << fraction), False)):
        rule = LineStart(0.0, float(room) / 2.0, last, fraction)
        assert rule.reaches(UNIT, bits) is held
    for scale, held in ((2.0**bits * (1 - 2.0**-18), True), (2.0**bits * (1 - 2.0**-20), False)):
        # values may exceed an end by 2^−20 of the length
        assert LineStart(0.0, scale, 1 << 20, fraction).reaches(UNIT, bits) is held


def test_few_cells_have_starts_of_32_bits_and_many_have_64() -> None:
    far = LineStart(0.0, 2.0**40, 1 << 40, 0)
    assert not far.fits(UNIT, Sliding.largest(1.0, 1 << 16, 100))
    assert far.fits(UNIT, Sliding.largest(1.0, 1 << 17, 100))


def test_a_start_between_two_cells_is_rounded_by_its_own_share() -> None:
    rule = LineStart(0.0, 5.0 * 2**4, None, 4)
    assert rule.starts(0.5) == [(2, Fraction(1, 2)), (3, Fraction(1, 2))]
