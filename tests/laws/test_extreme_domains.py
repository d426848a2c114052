"""Very short, very long and far-away domains: the promise holds, or there is no such domain."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dither as dt
from dither.errors import InvalidParameter, OutsideDomain
from dither.kernels.blocks import FEW
from dither.kernels.lattice.kernel import LatticeKernel
from dither.kernels.window.kernel import SlidingKernel
from dither.kernels.window.sampling import SlidingSampler
from dither.kernels.window.start import LineStart
from dither.privacy.exact import exp_above
from dither.randomness import Source


class Constant(Source):
    """Random bytes that are all the same: the smallest and the largest coin."""

    def __init__(self, byte: int) -> None:
        self.byte = byte

    def fill(self, buffer: memoryview | bytearray) -> None:
        view = memoryview(buffer).cast("B")
        view[:] = self.take(len(view))

    def take(self, size: int) -> bytes:
        return bytes([self.byte]) * size

    def spawn(self) -> Source:
        return self

    @property
    def private(self) -> bool:
        return False


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

exponents = st.floats(-30, 30)
ends = st.builds(lambda sign, size: sign * 10.0**size, st.sampled_from((-1.0, 0.0, 1.0)), exponents)


def values_of(line: dt.Interval) -> list[float]:
    """The ends, their neighbours among doubles, and places between."""
    low, high = line.low, line.high
    near = [low, math.nextafter(low, math.inf), high, math.nextafter(high, -math.inf)]
    return [*near, *(min(max(low + line.length * share, low), high) for share in (0.3, 0.5, 0.999_999_9))]


def drawn_starts(kernel: Any, values: list[float], byte: int) -> list[int]:
    """The starts that the array sampler finds when every random byte is the same."""
    block, size = np.array(values), len(values)
    if isinstance(kernel, LatticeKernel):
        return kernel.sampler(size)._steps(block, Constant(byte)).tolist()  # type: ignore[attr-defined, no-any-return]
    sampler = SlidingSampler(kernel.window, kernel.start, size)
    sampler._coins.view(np.uint8)[:] = byte
    found: list[int] = sampler._starts(block, sampler._coins).tolist()
    return [start % kernel.window.cells for start in found]


@pytest.mark.parametrize("name", LINES)
@given(ends, exponents)
def test_arrays_and_single_values_have_the_same_certified_starts(
    name: str, low: float, length: float
) -> None:
    high = low + 10.0**length
    if not low < high or abs(high) > 1e30:
        return
    line = dt.Interval(low, high)
    try:
        kernel = LINES[name](line).kernel
    except InvalidParameter:  # fewer doubles from end to end than the start rule can count
        assert line.length < 1e-13 * max(abs(low), abs(high))
        return
    values = values_of(line)
    for byte in (0x00, 0xFF):
        alone = [kernel.start.draw_one(value, Constant(byte)) for value in values]
        if isinstance(kernel, SlidingKernel):
            alone = [start % kernel.window.cells for start in alone]
        else:
            most = getattr(kernel.lattice, "steps", kernel.lattice.noise.reach)
            assert 0 <= min(alone) <= max(alone) <= most
        assert drawn_starts(kernel, values, byte) == alone


@pytest.mark.parametrize("name", ["Laplace", "Laplace, ε = 1e-3", "Staircase", "BoundedLaplace", "Podium"])
@given(ends, exponents)
def test_no_report_is_likelier_than_promised_by_brute_force(name: str, low: float, length: float) -> None:
    high = low + 10.0**length
    if not low < high or abs(high) > 1e30:
        return
    line = dt.Interval(low, high)
    try:
        mechanism = LINES[name](line)
    except InvalidParameter:
        return
    laws = [mechanism.kernel.probabilities(value) for value in values_of(line)]
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
        lambda: dt.Parallelogram((0.0, 0.0), (1e-200, 0.0), (0.0, 1e-200)),
        lambda: dt.Parallelogram((0.0, 0.0), (1e200, 0.0), (0.0, 1.0)),
        lambda: dt.Parallelogram((1e300, 0.0), (1.0, 0.0), (0.0, 1.0)),
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
        (dt.Parallelogram((-size / 2, -size / 2), (size, 0.0), (0.0, size)), 1.0),
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
        kernel = LINES[name](line).kernel
        for byte in (0x00, 0xFF):
            last = kernel.start.draw_one(line.high, Constant(byte))
            assert drawn_starts(kernel, [float(top)], byte) == [last]
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
    honest = dt.Laplace(dt.Interval(0, 1), epsilon=1, cells=16).kernel
    with pytest.raises(InvalidParameter):
        LatticeKernel(
            honest.line, honest.lattice, LineStart(0.0, scale, honest.start.last, honest.start.fraction)
        )
    window = dt.Podium(dt.Interval(0, 1), epsilon=1, cells=16).kernel.window
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
            for kind in (dt.PM, dt.SW, dt.Hybrid, dt.Duchi, dt.OGPMU, dt.Optimal)
        ),
        *(
            (kind(side, epsilon=1, cells=64), numbers)
            for kind in (dt.Laplace, dt.Staircase, dt.BoundedLaplace)
        ),
        *((kind(turn, epsilon=1), angles) for kind in (dt.OGPM, dt.Sectors)),
        (dt.Purkayastha(turn, epsilon=1, cells=64), angles),
        *(
            (kind(square, epsilon=2), places)
            for kind in (dt.TraCSC, dt.TraCSD, dt.PlanarLaplace, dt.Gridding)
        ),
        (dt.Polar(disk, epsilon=2), places),
        (dt.TraCSD(disk, epsilon=2), places),
    ):
        assert np.isfinite(np.asarray(mechanism.perturb(values).values)).all()
        assert dt.from_json(dt.to_json(mechanism)).fingerprint == mechanism.fingerprint
