"""Start rules at their ends: the largest starts that the integers hold, and rounding between two cells."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dither as dt
from dither.core.kernels.window.integers import Sliding
from dither.core.kernels.window.start import LineStart

UNIT = dt.Interval(0, 1)


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
