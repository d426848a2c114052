"""dt.Optimal on several numbers: errors as measured elsewhere, priors, privacy, and refusals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.core.kernels.kernel import read_kernel
from dither.core.kernels.places.nearest import BoxKernel, Grid
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain
from dither.foundation.numerics import codebooks
from dither.mechanisms.optimal.box import InBox
from dither.privacy.exact import exp_below


def cube(axes: int) -> dt.Box:
    return dt.Box({f"x{axis}": dt.Interval(0, 1) for axis in range(axes)})


def simulated(design: InBox, records: np.ndarray) -> float:
    told = design.perturb(records, source=dt.Seeded(1)).values
    return float(np.sqrt(((told - records) ** 2).sum(axis=1)).mean())


# Fitted points, computed independently with other starts: the mean distance for people spread evenly.
MEASURED = {(2, 2): 0.296, (2, 4): 0.182, (3, 2): 0.412, (3, 4): 0.286, (5, 2): 0.581, (5, 4): 0.469}
MEASURED |= {(8, 2): 0.770, (8, 4): 0.682, (3, 8): 0.122, (5, 8): 0.267, (8, 8): 0.476, (2, 8): 0.056}


@pytest.mark.parametrize("axes_epsilon", MEASURED)
@pytest.mark.some("axes_epsilon3", "axes_epsilon6")
def test_the_error_is_the_one_that_was_measured(axes_epsilon: tuple[int, int]) -> None:
    axes, epsilon = axes_epsilon
    design = dt.Optimal(cube(axes), epsilon=epsilon, purpose="places")
    assert isinstance(design, InBox)
    error = simulated(design, np.random.default_rng(1).random((20_000, axes)))
    assert 0.97 * MEASURED[axes_epsilon] <= error <= 1.02 * MEASURED[axes_epsilon]
    assert design.average_error() == pytest.approx(error, rel=0.02)  # of other people than those of the fit
    assert design.guarantee.epsilon <= epsilon


@pytest.mark.parametrize("purpose", ["both", "places", "map", "worst"])
@pytest.mark.some("places")
def test_privacy_by_enumeration(purpose: Any) -> None:
    design = dt.Optimal(cube(3), epsilon=1, purpose=purpose)
    records = np.random.default_rng(2).random((12, 3))
    laws = [design.question.kernel.probabilities(record) for record in records]
    assert all(sum(law) == 1 for law in laws)
    worst = max(Fraction(max(column), min(column)) for column in zip(*laws, strict=True))
    assert worst <= design.question.kernel.ratio <= exp_below(Fraction(1))
    assert dt.audit(design).ok


def test_public_records_lower_the_error() -> None:
    rng = np.random.default_rng(1)
    common = rng.normal(size=(6_000, 1))
    people = np.clip(0.5 + 0.15 * (0.8**0.5 * common + 0.2**0.5 * rng.normal(size=(6_000, 5))), 0, 1)
    public, asked = people[:2_000], people[2_000:]
    plain = dt.Optimal(cube(5), epsilon=2, purpose="places")
    fitted = dt.Optimal(cube(5), epsilon=2, purpose="places", prior=(public, "a survey of 2020"))
    assert simulated(fitted, asked) < 0.8 * simulated(plain, asked)
    read = plain.read_for((public, "a survey of 2020"))
    assert read.fingerprint == plain.fingerprint
    again = dt.from_json(fitted.to_json())
    assert again == fitted.question


def test_records_come_as_frames_records_and_arrays() -> None:
    box = dt.Box({"age": dt.Interval(18, 100), "bmi": dt.Interval(10, 60)})
    design = dt.Optimal(box, epsilon=2, purpose="places")
    told = [
        design.perturb(values, source=dt.Seeded(1)).cells.tolist()
        for values in (
            {"bmi": [20, 30], "age": [30, 40]},
            [{"age": 30, "bmi": 20}, {"age": 40, "bmi": 30}],
            [[30, 20], [40, 30]],
        )
    ]
    assert told[0] == told[1] == told[2]
    for wrong in ({"age": [1]}, [[1, 2]], [[30]], {"age": [30, 31], "bmi": [20]}, [[30, float("nan")]], "x"):
        with pytest.raises(OutsideDomain) as refused:
            design.perturb(wrong)
        assert "31" not in str(refused.value)


def test_boxes_that_are_none() -> None:
    unit = dt.Interval(0, 1)
    for sides in (
        {},
        {"a": unit},
        {str(i): unit for i in range(9)},
        {"a": unit, 1: unit},
        {"a": unit, "b": 2},
        3,
    ):
        with pytest.raises(InvalidParameter):
            dt.Box(sides)  # type: ignore[arg-type]
    for prior in (
        np.zeros((3, 2)),
        (np.zeros((3, 2)), ""),
        (np.zeros((3, 3)), "x"),
        (np.full((3, 2), 2), "x"),
    ):
        with pytest.raises(InvalidParameter):
            dt.Optimal(cube(2), epsilon=1, prior=prior)
    with pytest.raises(InvalidParameter, match="purpose"):
        dt.Optimal(cube(2), epsilon=1, purpose="mean")


@pytest.mark.parametrize(
    "change",
    [
        {"scales": [512, 1]},
        {"scales": [1]},
        {"box": [[0, 1]]},
        {"box": [[0, 1], [0, 2]]},
        {"box": None},
        {"grain": 13},
    ],
)
def test_texts_that_are_refused(change: dict[str, Any]) -> None:
    box = cube(2)
    device = BoxKernel.largest(2, Grid(box.ends, (1, 1), 8, (4, 5), 1 << 16), 3).device()
    assert read_kernel(device, box).fits(box)
    with pytest.raises((MalformedReport, InvalidParameter)):
        assert read_kernel({**device, "selector": {**device["selector"], **change}}, box).fits(box) or _none()


def _none() -> bool:
    raise InvalidParameter("the kernel does not fit the box")


def test_descent_only_lowers_the_dual() -> None:
    people = codebooks.cover(300, 3)
    weights, radii, outputs = np.full(300, 1 / 300), np.full(300, 0.5), codebooks.cover(80, 3)
    before = codebooks.dual_value(people, weights, 8.0, radii, outputs)
    lowest = codebooks.lowest_outputs(people, weights, 8.0, radii, outputs)
    assert lowest.shape == (64, 3)
    assert codebooks.dual_value(people, weights, 8.0, radii, lowest) < before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("axes", "epsilon", "gap"), [(2, 1, 0.005), (2, 2, 0.005), (3, 2, 0.01), (5, 4, 0.04)]
)
def test_a_box_is_near_the_bound(axes: int, epsilon: float, gap: float) -> None:
    """Beside it stands the bound of the square, which another program found on finer grids."""
    design = dt.Optimal(
        dt.Box({f"x{axis}": dt.Interval(0, 1) for axis in range(axes)}), epsilon=epsilon, purpose="places"
    )
    assert 0.0 <= design.gap < gap
    assert design.bound <= design.average_error()
    if axes == 2:
        assert design.bound == pytest.approx({1: 0.3570, 2: 0.2966}[int(epsilon)], rel=0.003)
