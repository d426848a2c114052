"""Path mechanisms from outside: shapes, reading back, budgets for trajectories, the wire, bad input."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.core.kernels.blocks import FEW
from dither.errors import InvalidParameter, MalformedReport, NotIdentifiable, OutsideDomain
from dither.privacy.exact import divide
from tests.support.chi_square import ALARM, p_value

SQUARE = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
LONG = dt.Rectangle(dt.Interval(-3, -1), dt.Interval(0, 10))
KINDS: list[Any] = [dt.TraCSC, dt.TraCSD, dt.rivals.Strawman, dt.PlanarLaplace]


def trips(lengths: list[int], seed: int = 3) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.random((length, 2)) * [2, 10] + [-3, 0] for length in lengths]


@pytest.mark.parametrize("kind", KINDS)
def test_shapes(kind: Any) -> None:
    mechanism = kind(LONG, epsilon=2.0)
    ragged = trips([3, 1, 7, 2])
    for values, shape in [
        (np.array([-2.0, 5.0]), (2,)),
        (ragged[0], (3, 2)),
        (np.stack([ragged[0], ragged[0]]), (2, 3, 2)),
        (ragged, (13, 2)),
        (dt.Paths.of(ragged), (13, 2)),
        ([(-2, 5), (-1, 0)], (2, 2)),
    ]:
        reports = mechanism.perturb(values, source=dt.Seeded(1))
        assert reports.values.shape == shape
        assert reports.cells.shape == (*shape[:-1], 3)
        LONG.check(reports.values)
    assert mechanism.paths(mechanism.perturb(ragged)).lengths.tolist() == [3, 1, 7, 2]
    assert len(mechanism.perturb([])) == 0
    assert mechanism.perturb([]).values.shape == (0, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_reading_does_not_depend_on_company(kind: Any) -> None:
    """A path is read the same alone, among few and among many: step by step or side by side."""
    mechanism = kind(LONG, epsilon=3.0)
    many = trips(list(range(1, 60)))
    reports = mechanism.perturb(many, source=dt.Seeded(2))
    together = mechanism.paths(reports)
    for index in (0, 5, 57, 58):
        rows = slice(together.offsets[index], together.offsets[index + 1])
        np.testing.assert_allclose(reports[rows].values, together[index], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_error_is_as_small_as_at_large_budgets(kind: Any) -> None:
    """At ε = 50 a report is nearly the truth, path by path, step by step."""
    mechanism = kind(LONG, epsilon=50.0)
    many = trips([40] * 50 + [200, 300])
    gap = np.linalg.norm(mechanism.perturb(many, source=dt.Seeded(4)).values - np.concatenate(many), axis=1)
    assert gap.mean() < {dt.rivals.Strawman: 2.0, dt.PlanarLaplace: 0.6}.get(kind, 0.05)


@pytest.mark.some(every=3)
@pytest.mark.parametrize(
    "kind", [dt.TraCSD, partial(dt.rivals.Strawman, sectors=3)], ids=["TraCSD", "Strawman"]
)
@pytest.mark.parametrize(
    "area", [SQUARE, dt.Disk(1.0), dt.maps.Parallelogram((0, 0), (1, 1), (0, 2))], ids=str
)
def test_alone_and_together_are_one_law(kind: Any, area: Any) -> None:
    """Few paths walk in plain numbers, many in arrays; both follow the exact law of two steps."""
    mechanism = kind(area, epsilon=3.0, cells=4)
    path = np.array([area.centre, area.clip((0.3, 0.9))])
    many = mechanism.perturb(np.broadcast_to(path, (60_000, 2, 2)), source=dt.Seeded(8)).cells
    source = dt.Seeded(9)
    few = np.broadcast_to(path, (FEW - 1, 2, 2))
    alone = np.concatenate([mechanism.perturb(few, source=source).cells for _ in range(4_000 // len(few))])
    law = two_steps(mechanism, path, from_the_truth=False)
    assert p_value(outcomes(mechanism, many), law) > ALARM
    assert p_value(outcomes(mechanism, alone), law) > ALARM
    # the twin that sees the next place from the truth instead of from the last report
    assert p_value(outcomes(mechanism, many), two_steps(mechanism, path, from_the_truth=True)) < ALARM


def test_solved_mechanisms_inside() -> None:
    """The optimum of one number fits in: the budget is kept, and single places are nearer the truth."""
    places = np.random.default_rng(1).random((3_000, 5, 2))
    solved = dt.TraCSC(SQUARE, epsilon=2.0, inner=partial(dt.Optimal, criterion="average"))
    assert solved.guarantee.epsilon <= 2.0
    assert dt.audit(solved).ok
    errors = [
        np.linalg.norm(one.perturb(places, source=dt.Seeded(3)).values - places, axis=-1).mean()
        for one in (solved, dt.TraCSC(SQUARE, epsilon=2.0))
    ]
    assert errors[0] < errors[1]
    walk = dt.TraCSD(SQUARE, epsilon=4.0, direction=dt.Optimal, distance=dt.Optimal)
    assert dt.audit(walk).ok
    told = walk.perturb(places, source=dt.Seeded(4))
    SQUARE.check(told.values)
    assert dt.from_json(walk.to_json()).design() == walk


def outcomes(mechanism: Any, cells: np.ndarray) -> np.ndarray:
    first, second = (part.question.outcomes for part in mechanism.parts)
    one, two = (cells[:, step, 1].astype(int) * second + cells[:, step, 2] for step in (0, 1))
    return np.asarray(one * (first * second) + two)


def two_steps(mechanism: Any, path: np.ndarray, *, from_the_truth: bool) -> np.ndarray:
    law = []
    for direction, row in enumerate(mechanism.probabilities(path[0])):
        for distance, p in enumerate(row):
            seen = (
                path[0]
                if from_the_truth
                else mechanism.question.decode(np.array([[1, direction, distance]]))[0]
            )
            second = np.array(mechanism.probabilities(path[1], reference=seen), dtype=float)
            law.append(float(p) * second.reshape(-1))
    return np.concatenate(law)


def test_threads_follow_the_same_law() -> None:
    mechanism = dt.TraCSD(SQUARE, epsilon=4.0)
    values = np.random.default_rng(1).random((20_000, 5, 2))
    one = mechanism.perturb(values, source=dt.Seeded(1)).values
    two = mechanism.perturb(values, source=dt.Seeded(1), threads=2).values
    again = mechanism.perturb(values, source=dt.Seeded(1), threads=2)
    np.testing.assert_array_equal(again.values, two)
    first, second = (np.linalg.norm(noisy - values, axis=-1).mean() for noisy in (one, two))
    assert first == pytest.approx(second, rel=0.02)


def test_a_device_may_send_its_path_in_two_parts() -> None:
    mechanism = dt.TraCSD(SQUARE, epsilon=2.0)
    reports = mechanism.perturb(np.random.default_rng(1).random((30, 2)), source=dt.Seeded(1))
    joined = dt.Reports.concatenate([reports[:11], reports[11:]])
    np.testing.assert_array_equal(joined.values, reports.values)
    with pytest.raises(MalformedReport, match="from its middle"):
        _ = reports[11:].values
    other = mechanism.perturb(np.random.default_rng(2).random((30, 2)), source=dt.Seeded(2))
    two = dt.Reports.concatenate([reports, other])
    np.testing.assert_allclose(two.values[30:], other.values, rtol=1e-12)


# ------------------------------------------------------------------------------------- whole trajectories


@pytest.mark.parametrize("kind", KINDS)
def test_a_budget_for_a_whole_trajectory(kind: Any) -> None:
    mechanism = kind(LONG, epsilon=8.0, unit="trajectory")
    assert mechanism.guarantee.epsilon == 8.0
    assert mechanism.guarantee.unit == "trajectory"
    assert "public" in str(mechanism.guarantee)
    for length in (1, 3, 7, 40, 1000):
        single = mechanism.per_location(length)
        assert single.guarantee.unit == "location"
        assert Fraction(single.guarantee.epsilon) * length <= 8
        assert single.guarantee.epsilon * length > 8 * (1 - 1e-5)
    many = trips([1, 3, 7, 7, 40, 3])
    reports = mechanism.perturb(many, source=dt.Seeded(1))
    assert mechanism.paths(reports).lengths.tolist() == [1, 3, 7, 7, 40, 3]
    assert dt.from_bytes(reports.to_bytes()) == reports
    np.testing.assert_array_equal(dt.from_bytes(reports.to_bytes()).values, reports.values)


def test_short_trajectories_get_more_budget_each() -> None:
    mechanism = dt.TraCSC(SQUARE, epsilon=20.0, unit="trajectory")
    rng = np.random.default_rng(1)
    gaps = []
    for length in (2, 40):
        values = rng.random((4000 // length, length, 2))
        gaps.append(
            np.linalg.norm(mechanism.perturb(values, source=dt.Seeded(2)).values - values, axis=-1).mean()
        )
    assert gaps[0] < 0.5 * gaps[1]


def test_repeated_locations_make_a_trajectory() -> None:
    guarantee = dt.TraCSD(SQUARE, epsilon=2.0).guarantee
    assert guarantee.unit == "location"
    whole = guarantee.repeated(12)
    assert whole.unit == "trajectory"
    assert whole.epsilon == pytest.approx(24.0)
    assert len(whole.assumes) == len(whole.repeated(2).assumes) == 1
    assert guarantee.repeated(1) == guarantee


@pytest.mark.parametrize("share", [0.001, 0.25, math.pi / (math.pi + 1), 0.5, 0.999])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 3.3, 50.0])
def test_two_budgets_never_exceed_the_whole(share: float, epsilon: float) -> None:
    first, second = divide(epsilon, share)
    assert Fraction(first) + Fraction(second) <= Fraction(epsilon)
    assert first == pytest.approx(epsilon * share)
    assert first + second == pytest.approx(epsilon, rel=1e-15)


# ------------------------------------------------------------------------------------------- the wire


@pytest.mark.parametrize(
    "mechanism",
    [
        dt.TraCSC(SQUARE, epsilon=2.0),
        dt.TraCSC(dt.Sphere(), epsilon=2.0, inner=partial(dt.SW, redesign=True), split=0.6),
        dt.TraCSD(LONG, epsilon=2.0, start=(-2.0, 1.0)),
        dt.TraCSD(dt.Disk(3.0), epsilon=2.0, direction=partial(dt.OGPM, loss="squared")),
        dt.TraCSD(dt.maps.Parallelogram((0, 0), (2, 1), (0, 1)), epsilon=7.0, unit="trajectory"),
        dt.rivals.Strawman(SQUARE, epsilon=2.0, sectors=12),
        dt.PlanarLaplace(LONG, epsilon=2.0),
    ],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_the_wire(mechanism: Any) -> None:
    back = dt.from_json(mechanism.to_json())
    assert back.fingerprint == mechanism.fingerprint
    assert back.guarantee == mechanism.guarantee
    place = np.asarray(mechanism.domain.centre)
    reports = mechanism.perturb(np.stack([place] * 5), source=dt.Seeded(1))
    again = dt.from_bytes(reports.to_bytes())
    np.testing.assert_array_equal(again.values, reports.values)
    assert mechanism.describe().startswith(type(mechanism).__name__)


def test_reports_from_outside() -> None:
    mechanism = dt.TraCSD(SQUARE, epsilon=2.0, cells=256)
    good = mechanism.reports([[1, 0, 255], [0, 17, 3]])
    assert good.values.shape == (2, 2)
    for bad in (
        [[1, 0, 256]],
        [[1, -1, 3]],
        [[2, 0, 0]],
        [[0, 1, 1]],
        [[1, 2]],
        [1.5, 2.0, 3.0],
        7,
    ):
        with pytest.raises(MalformedReport):
            mechanism.reports(bad)
    assert len(mechanism.reports(np.zeros((0, 3), dtype=int))) == 0


# -------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "bad",
    [
        [[(0.5, math.nan)]],
        [(0.5, 1.01)],
        [(0.5, math.inf)],
        np.zeros((4, 3)),
        [[(0.5, 0.5)], []],
        np.zeros((0, 2)),
        "somewhere",
        [["x", "y"]],
        {"lat": 1},
    ],
    ids=str,
)
def test_bad_places(kind: Any, bad: object) -> None:
    with pytest.raises(OutsideDomain) as caught:
        kind(SQUARE, epsilon=1.0).perturb(bad)
    assert "1.01" not in str(caught.value)


def test_nothing_is_lost_after_an_error() -> None:
    mechanism = dt.TraCSD(SQUARE, epsilon=1.0)
    with pytest.raises(OutsideDomain):
        mechanism.perturb([[(0.5, 0.5)], [(2.0, 2.0)]])
    assert mechanism.perturb([(0.5, 0.5)]).values.shape == (1, 2)


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        (dt.TraCSD, {"start": (2.0, 0.5)}),
        (dt.TraCSD, {"start": (0.5,)}),
        (dt.TraCSD, {"start": "centre"}),
        (dt.TraCSD, {"split": 0.0}),
        (dt.TraCSD, {"split": 1.0}),
        (dt.TraCSD, {"split": math.nan}),
        (dt.TraCSD, {"unit": "value"}),
        (dt.TraCSD, {"direction": "OGPM"}),
        (dt.TraCSD, {"direction": dt.Interval}),
        (dt.TraCSD, {"cells": 1 << 22}),
        (dt.TraCSC, {"inner": 3}),
        (dt.TraCSC, {"cells": 100}),
        (dt.rivals.Strawman, {"sectors": 1}),
        (dt.rivals.Strawman, {"sectors": 2.5}),
        (dt.PlanarLaplace, {"cells": 1}),
        (dt.PlanarLaplace, {"epsilon": 60.0}),
        (dt.TraCSC, {"epsilon": 1e7, "unit": "trajectory"}),
        (dt.TraCSC, {"epsilon": -1.0, "unit": "trajectory"}),
    ],
)
def test_bad_parameters(kind: Any, more: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        kind(SQUARE, **{"epsilon": 1.0, **more})


def test_domains_that_do_not_fit() -> None:
    with pytest.raises(InvalidParameter):
        dt.TraCSC(dt.Disk(1.0), epsilon=1.0)
    with pytest.raises(InvalidParameter):
        dt.TraCSD(dt.Sphere(), epsilon=1.0)
    with pytest.raises(InvalidParameter):
        dt.TraCSD(dt.Interval(0, 1), epsilon=1.0)


def test_too_little_for_a_long_trajectory() -> None:
    mechanism = dt.TraCSC(SQUARE, epsilon=1e-4, unit="trajectory")
    with pytest.raises(InvalidParameter, match="larger ε for a trajectory of 1000"):
        mechanism.perturb(np.full((1000, 2), 0.5))


def test_summaries_of_coordinates() -> None:
    mechanism = dt.TraCSC(SQUARE, epsilon=2.0)
    values = np.random.default_rng(1).random((100, 10, 2))
    reports = mechanism.perturb(values, source=dt.Seeded(1))
    summary = dt.Counts.of(reports)
    assert summary.n == 1000
    assert summary.counts.sum() == 1000
    halves = dt.Counts.of(reports[:50]) + dt.Counts.of(reports[50:])
    np.testing.assert_array_equal(halves.counts, summary.counts)
    for other in (dt.TraCSD, dt.PlanarLaplace):
        with pytest.raises(NotIdentifiable, match="density"):
            dt.Counts.of(other(SQUARE, epsilon=1.0).perturb(values))


@pytest.mark.parametrize("kind", KINDS)
def test_weights_along_a_path_divide_the_budget_of_a_trajectory(kind: Any) -> None:
    weights = [1, 2, 0.1, 7]
    parts = kind(SQUARE, epsilon=10, unit="trajectory").along(weights)
    shares = [Fraction(part.epsilon) for part in parts]
    assert sum(shares) <= 10
    assert [float(share) for share in shares] == pytest.approx([10 * weight / 10.1 for weight in weights])
    assert all(part.unit == "location" and part.guarantee.epsilon <= part.epsilon for part in parts)
    each = dt.Each({str(place): part for place, part in enumerate(parts)})
    asked = {name: np.full((5, 1, 2), 0.3) for name in each}
    assert each.perturb(asked).n == 5
    with pytest.raises(InvalidParameter, match="unit"):
        kind(SQUARE, epsilon=10).along(weights)
    with pytest.raises(InvalidParameter):
        kind(SQUARE, epsilon=10, unit="trajectory").along([1, 0])
