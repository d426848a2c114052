"""Very short, very long and far-away domains: the promise holds, or there is no such domain."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import dither as dt
from dither.core.domains.domain import LEAST_LENGTH, MOST_NUMBER
from dither.core.kernels.blocks import FEW
from dither.core.kernels.lattice.kernel import LatticeKernel
from dither.core.kernels.window.kernel import SlidingKernel
from dither.core.kernels.window.start import LineStart
from dither.errors import InvalidParameter, OutsideDomain
from dither.privacy.exact import exp_above
from tests.support.sources import Repeated, Scripted

LINES: dict[str, Any] = {
    "Laplace": lambda line: dt.Laplace(line, epsilon=1, cells=16),
    "Laplace, ε = 1e-3": lambda line: dt.Laplace(line, epsilon=1e-3, cells=16),
    "Staircase": lambda line: dt.Staircase(line, epsilon=1, cells=64),
    "Gaussian": lambda line: dt.Gaussian(line, epsilon=1, delta=1e-3, cells=64),
    "BoundedLaplace": lambda line: dt.BoundedLaplace(line, epsilon=1, cells=16),
    "Podium": lambda line: dt.Podium(line, epsilon=1, cells=16),
    "Podium, 2^16 cells": lambda line: dt.Podium(line, epsilon=1),
    "OGPM": lambda line: dt.OGPM(line, epsilon=1, cells=16),
    "Optimal, unbiased": lambda line: dt.Optimal(line, epsilon=1, unbiased=True),
    "Optimal": lambda line: dt.Optimal(line, epsilon=1),
}

ZEROS = Repeated(b"\0")
exponents = st.floats(-30, 30)
ends = st.builds(lambda sign, size: sign * 10.0**size, st.sampled_from((-1.0, 0.0, 1.0)), exponents)


def values_of(line: dt.Interval) -> list[float]:
    """The ends, their neighbours among doubles, and places between."""
    low, high = line.low, line.high
    near = [low, math.nextafter(low, math.inf), high, math.nextafter(high, -math.inf)]
    return [*near, *(min(max(low + line.length * share, low), high) for share in (0.3, 0.5, 0.999_999_9))]


def spread(low: float, length: float) -> dt.Interval:
    """Return the interval, or give up the example: doubles cannot count so short or so long a one."""
    high = low + 10.0**length
    assume(high - low >= LEAST_LENGTH and abs(high) <= MOST_NUMBER)
    return dt.Interval(low, high)


def told_together(kernel: Any, values: Any, byte: int) -> list[int]:
    """Reports of an array, where every coin of the start rule is made of this byte and no noise is added."""
    many = np.resize(values, 2 * FEW)  # fewer values are drawn one by one
    if isinstance(kernel, LatticeKernel):
        kind = np.uint16 if kernel.start.fraction <= 16 else np.uint32
        coins = bytes([byte]) * (kind().itemsize * many.size if kernel.start.fraction else 0)
        still = np.full(many.size, kernel.lattice.noise.reach, dtype=np.uint16)  # the column of no noise
        source = Scripted(coins, still, then=ZEROS)
    else:  # the first ticket is drawn for every value: a report is the start of its window
        window = kernel.window
        words = bytes((window.lottery.dtype.itemsize + window.dtype.itemsize) * many.size)
        source = Scripted(words, then=Repeated(bytes([byte])))
    reports: list[int] = kernel.draw(many, source).tolist()
    assert np.array_equal(np.resize(reports[: len(values)], many.size), reports)
    return reports[: len(values)]


def told_alone(kernel: Any, values: list[float], byte: int) -> list[int]:
    """The same reports, drawn one by one."""
    starts = [kernel.start.draw_one(value, Repeated(bytes([byte]))) for value in values]
    if not isinstance(kernel, LatticeKernel):
        return [start % kernel.window.cells for start in starts]
    noise = kernel.lattice.noise
    assert 0 <= min(starts) <= max(starts) <= getattr(kernel.lattice, "steps", noise.reach)
    length = (noise.table.bits + 7) // 8
    column = (noise.reach << (8 * length - noise.table.bits)).to_bytes(length, "little")
    return [kernel.lattice.draw_one(start, Scripted(column, then=ZEROS)) for start in starts]


@pytest.mark.some(every=3)
@pytest.mark.parametrize("name", LINES)
@given(ends, exponents)
def test_arrays_and_single_values_have_the_same_certified_starts(
    name: str, low: float, length: float
) -> None:
    line = spread(low, length)
    try:
        kernel = LINES[name](line).question.kernel
    except InvalidParameter:  # fewer doubles from end to end than the start rule can count
        assert line.length < 1e-13 * max(abs(line.low), abs(line.high))
        return
    for byte in (0x00, 0xFF):
        values = values_of(line)
        assert told_together(kernel, values, byte) == told_alone(kernel, values, byte)


@pytest.mark.some("Podium", "BoundedLaplace", "Laplace")
@pytest.mark.parametrize("name", ["Laplace", "Laplace, ε = 1e-3", "Staircase", "BoundedLaplace", "Podium"])
@given(ends, exponents)
def test_no_report_is_likelier_than_promised_by_brute_force(name: str, low: float, length: float) -> None:
    line = spread(low, length)
    try:
        mechanism = LINES[name](line)
    except InvalidParameter:
        return
    laws = [mechanism.question.kernel.probabilities(value) for value in values_of(line)]
    bound = exp_above(Fraction(mechanism.epsilon))
    for one, two in product(laws, laws):
        assert all(first <= bound * second for first, second in zip(one, two, strict=True))


@pytest.mark.parametrize(
    "make",
    [
        lambda: dt.Interval(0, 1e-300),  # the scale of a start rule was infinite, and 0·∞ is NaN
        lambda: dt.Interval(0, 5e-324),
        lambda: dt.Interval(0, 1e-31),
        lambda: dt.Interval(0, 1e31),
        lambda: dt.Interval(-1e31, 0),
        lambda: dt.Interval(10**400, 10**401),
        lambda: dt.Circle(1e-300),
        lambda: dt.Circle(1e300),
        lambda: dt.Disk(1e-200),
        lambda: dt.Disk(1e200),
        lambda: dt.Disk(1.0, (1e200, 0.0)),
        lambda: dt.Disk(1.0, (1e29, 0.0)),  # centre + radius is the centre
        lambda: dt.Sphere(1e-200),
        lambda: dt.Sphere(1e300),
        lambda: dt.maps.Parallelogram((0.0, 0.0), (1e-200, 0.0), (0.0, 1e-200)),
        lambda: dt.maps.Parallelogram((0.0, 0.0), (1e200, 0.0), (0.0, 1.0)),
        lambda: dt.maps.Parallelogram((1e300, 0.0), (1.0, 0.0), (0.0, 1.0)),
    ],
)
def test_domains_that_floats_cannot_count_do_not_exist(make: Any) -> None:
    with pytest.raises(InvalidParameter):
        make()


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_gauges_are_finite_at_the_largest_and_smallest_sizes(size: float) -> None:
    """A step from the centre, by arrays and alone, in every area."""
    side = dt.Interval(-size, size)
    for area, expected in (
        (dt.Disk(size), 0.5),
        (dt.Rectangle(side, side), 0.5),
        (dt.maps.Parallelogram((-size / 2, -size / 2), (size, 0.0), (0.0, size)), 1.0),
    ):
        for step in ((size / 2, 0.0), (0.0, -size / 2)):
            assert float(area.gauge(np.array(area.centre), np.array(step))) == pytest.approx(expected)
            assert area.gauge_one(area.centre, step) == pytest.approx(expected)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("high", [1.0, 1e5, 1e30])
def test_no_infinite_value_is_inside(dtype: Any, bad: float, high: float) -> None:
    """1e5 is infinite among half-precision numbers, and 1e39 among those of single precision."""
    line = dt.Interval(-high, high)
    for count in (1, FEW + 1):
        values = np.zeros(count, dtype=dtype)
        values[-1] = bad
        for mechanism in (dt.Laplace(line, epsilon=1, cells=16), dt.Podium(line, epsilon=1)):
            with pytest.raises(OutsideDomain):
                mechanism.perturb(values)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_an_end_rounded_to_single_precision_is_inside_and_stays_at_its_end(dtype: Any) -> None:
    line = dt.Interval(0, 0.1) if dtype is np.float32 else dt.Interval(0, 0.5)
    top = dtype(line.high)
    for name in ("Laplace", "Podium, 2^16 cells", "Optimal, unbiased"):
        kernel = LINES[name](line).question.kernel
        for byte in (0x00, 0xFF):
            assert told_together(kernel, np.array([top]), byte) == told_alone(kernel, [line.high], byte)
    assert line.check(np.array([top])).size == 1


def test_a_value_far_outside_by_the_rounding_of_its_own_type_is_refused() -> None:
    """1000.1 and 1000.2 are both 1000 in half precision, which is not between them."""
    with pytest.raises(OutsideDomain):
        dt.Laplace(dt.Interval(1000.1, 1000.2), epsilon=1, cells=16).perturb(
            np.array([1000], dtype=np.float16)
        )


@pytest.mark.parametrize("last", [None, 15])
@pytest.mark.parametrize("scale", [1e300, 1e11])
def test_a_start_rule_that_leaves_the_integers_is_refused(last: int | None, scale: float) -> None:
    honest = dt.Laplace(dt.Interval(0, 1), epsilon=1, cells=16).question.kernel
    with pytest.raises(InvalidParameter):
        LatticeKernel(
            honest.line, honest.lattice, LineStart(0.0, scale, honest.start.last, honest.start.fraction)
        )
    window = dt.Podium(dt.Interval(0, 1), epsilon=1, cells=16).question.kernel.window
    with pytest.raises(InvalidParameter):
        SlidingKernel(honest.line, window, LineStart(0.0, scale, last))


@pytest.mark.parametrize("size", [1e-30, 1e-15, 1e-14, 1.0, 1e15, 1e21, 1e30])
def test_mechanisms_on_small_and_large_domains_draw_and_travel(size: float) -> None:
    """A scale between 2^53 and 10^21 is written without a point, and is a double all the same."""
    side, turn = dt.Interval(-size, size), dt.Circle(size)
    square, disk = dt.Rectangle(side, side), dt.Disk(size)
    numbers, angles = np.linspace(-size, size, FEW + 9), np.linspace(0, size, FEW + 9)
    places = np.array([[0.0, 0.0], [size / 2, size / 3], [-size / 4, size / 2]])
    for mechanism, values in (
        *(
            (kind(side, epsilon=1), numbers)
            for kind in (dt.PM, dt.SW, dt.Hybrid, dt.Duchi, dt.rivals.OGPMU, dt.Optimal)
        ),
        *(
            (kind(side, epsilon=1, cells=64), numbers)
            for kind in (dt.Laplace, dt.Staircase, dt.BoundedLaplace)
        ),
        *((kind(turn, epsilon=1), angles) for kind in (dt.OGPM, dt.rivals.Sectors)),
        (dt.rivals.Purkayastha(turn, epsilon=1, cells=64), angles),
        *(
            (kind(square, epsilon=2), places)
            for kind in (dt.TraCSC, dt.TraCSD, dt.PlanarLaplace, dt.rivals.Gridding)
        ),
        (dt.Polar(disk, epsilon=2), places),
        (dt.TraCSD(disk, epsilon=2), places),
    ):
        assert np.isfinite(np.asarray(mechanism.perturb(values).values)).all()
        assert dt.from_json(mechanism.to_json()).fingerprint == mechanism.fingerprint
