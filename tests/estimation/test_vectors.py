"""Means of vectors: without bias, with intervals that hold; lengths, projections, weights, groups."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dither as dt
from dither.core.counts import summarise
from dither.errors import InvalidParameter, NotIdentifiable, OutsideDomain
from dither.estimation.intervals import StudentInterval
from dither.estimation.vectors import EstimatedVector
from dither.foundation.arrays import Floats


def people(n: int, d: int, seed: int) -> Floats:
    """Return unit vectors about a common direction."""
    rng = np.random.default_rng(seed)
    middle = np.ones(d) / math.sqrt(d)
    vectors = rng.standard_normal((n, d)) * math.sqrt(0.7 / d) + middle * math.sqrt(0.3)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def estimate(reports: dt.Reports) -> EstimatedVector:
    found = dt.mean(reports)
    assert isinstance(found, EstimatedVector)
    return found


@pytest.mark.parametrize("exact", [True, False])
def test_the_mean_has_the_error_that_the_design_states(exact: bool) -> None:
    vectors = people(6_000, 300, 1)
    design = dt.Optimal(dt.Vectors(300, exact=exact), epsilon=4)
    found = estimate(design.perturb(vectors, source=dt.Seeded(2)))
    assert found.total_error == pytest.approx(math.sqrt(design.error / 6_000), rel=0.03)
    assert np.linalg.norm(found.value - vectors.mean(axis=0)) == pytest.approx(found.total_error, rel=0.15)
    inside = np.abs(found.value - vectors.mean(axis=0)) <= found.half_width()
    assert 0.90 <= inside.mean() <= 0.99
    assert found.length().covers(float(np.linalg.norm(vectors.mean(axis=0))), 0.999)
    own = (
        found.value
        @ vectors.mean(axis=0)
        / np.linalg.norm(found.value)
        / np.linalg.norm(vectors.mean(axis=0))
    )
    assert found.cosine().covers(float(own), 0.999)
    projected = found @ np.ones(300)
    assert projected.covers(float(vectors.mean(axis=0).sum()), 0.999)
    assert projected.value == pytest.approx(float(np.sum(found.value)))


def test_few_numbers_about_a_centre() -> None:
    rng = np.random.default_rng(4)
    centre = [100.0, -5.0]
    vectors = np.array(centre) + rng.uniform(-1.0, 1.0, (1_000, 2))
    design = dt.Optimal(dt.Vectors(2, length=1.5, centre=centre), epsilon=2)
    found = estimate(design.perturb(vectors, source=dt.Seeded(3)))
    assert np.abs(found.value - vectors.mean(axis=0)).max() <= 5.0 * np.max(found.standard_error)
    # Two opposite crowds: the spread is that of the reports, not that of vectors about their mean.
    both = np.array([[101.5, -5.0]] * 1_000 + [[98.5, -5.0]] * 1_000)
    error = np.asarray(estimate(design.perturb(both, source=dt.Seeded(4))).standard_error)
    decoded = design.perturb(both, source=dt.Seeded(5)).values
    assert error == pytest.approx(decoded.std(axis=0) / math.sqrt(2_000), rel=0.15)


def test_the_length_of_noise_alone_may_be_zero() -> None:
    design = dt.Optimal(dt.Vectors(300, exact=True), epsilon=1)
    opposite = np.concatenate([people(500, 300, 3), -people(500, 300, 3)])
    found = estimate(design.perturb(opposite, source=dt.Seeded(2)))
    low, high = found.length().interval()
    assert low == 0.0
    assert high == pytest.approx(found.total_error * math.sqrt(2.0 * math.sqrt(2.0 / 300)), rel=0.5)


GUARANTEE = dt.Optimal(dt.Vectors(2), epsilon=1).guarantee


def about(mean: Floats, error: Floats, seed: int) -> EstimatedVector:
    """Return an estimate of a mean with normal errors of known sizes, without any reports."""
    value = mean + error * np.random.default_rng(seed).standard_normal(len(mean))
    interval = StudentInterval(value, error, 10**6)
    return EstimatedVector(value, error, 10**6, GUARANTEE, confidence=interval, relative=value)


@pytest.mark.parametrize(("d", "size"), [(3, 0.2), (50, 0.02)])
def test_the_cosine_and_the_length_hold_with_much_and_with_little_noise(d: int, size: float) -> None:
    """300 runs. An interval that is too wide is seen, too: nearly all of its runs would hold."""
    mean, error = 1.0 / np.arange(1, d + 1), size * np.linspace(0.5, 1.0, d)
    held = np.zeros((300, 2))
    for run in range(300):
        found = about(mean, error, run)
        own = float(found.value @ mean / np.linalg.norm(found.value) / np.linalg.norm(mean))
        held[run] = found.cosine().covers(own), found.length().covers(float(np.linalg.norm(mean)))
    assert (held.mean(axis=0) >= 0.915).all()
    assert (held.mean(axis=0) <= 0.993).all()


def test_a_direction_that_is_not_known_may_be_the_opposite_one() -> None:
    low, high = about(np.zeros(30), np.ones(30), 1).cosine().interval()
    assert -1.0 <= low < 0.0 < high < 0.8


def test_few_reports_have_wider_intervals_because_fewer_give_the_errors() -> None:
    """About six of 100 reports have their squares counted: normal intervals would hold in 90 %."""
    design = dt.Optimal(dt.Vectors(150, exact=True), epsilon=4)
    vectors = people(100, 150, 9)
    held = []
    for seed in range(20):
        low, high = estimate(design.perturb(vectors, source=dt.Seeded(seed))).interval()
        held.append(np.mean((low <= vectors.mean(axis=0)) & (vectors.mean(axis=0) <= high)))
    assert 0.935 <= np.mean(held) <= 0.98


def test_counts_add_up_and_give_the_same_mean() -> None:
    design = dt.Optimal(dt.Vectors(150), epsilon=2)
    reports = design.perturb(people(900, 150, 6), source=dt.Seeded(6))
    parts = [summarise(reports[:400]), summarise(reports[400:])]
    together = parts[1] + parts[0]
    assert (together.counts == summarise(reports).counts).all()
    assert (np.asarray(dt.mean(together).value) == np.asarray(dt.mean(reports).value)).all()
    with pytest.raises(NotIdentifiable, match="from the reports"):
        dt.mean(together) @ np.ones(150)  # type: ignore[operator]


def test_differences_weights_and_groups() -> None:
    design = dt.Optimal(dt.Vectors(150, exact=True), epsilon=4)
    vectors = people(2_000, 150, 7)
    reports = design.perturb(vectors, source=dt.Seeded(7))
    first, second = (dt.mean(reports[part]) for part in (slice(0, 1_000), slice(1_000, 2_000)))
    difference = first - second
    assert np.shape(difference.value) == (150,)
    assert np.abs(np.asarray(difference.value)).max() <= 5.0 * np.max(difference.standard_error)
    equal = dt.mean(reports, weights=np.full(2_000, 3.0))
    assert np.asarray(equal.value) == pytest.approx(np.asarray(dt.mean(reports).value), abs=1e-9)
    assert np.asarray(equal.standard_error) == pytest.approx(
        np.asarray(dt.mean(reports).standard_error), rel=0.25
    )
    weights = np.where(np.arange(2_000) < 1_000, 1e-9, 1.0)
    later = dt.mean(reports, weights=weights)
    assert np.asarray(later.value) == pytest.approx(np.asarray(second.value), abs=1e-6)
    groups = dt.estimate(reports, by=["a"] * 1_000 + ["b"] * 1_000)
    assert len(groups.rows) == 300
    assert np.asarray(dt.mean(reports).value)[4] == dt.mean(reports)[4].value


def test_results_have_rows_and_words() -> None:
    design = dt.Optimal(dt.Vectors(150), epsilon=4)
    found = estimate(design.perturb(people(500, 150, 8), source=dt.Seeded(8)))
    rows = found.records()
    assert len(rows) == 150
    assert rows[3]["value"] == np.asarray(found.value)[3]
    assert "of 150 numbers, length" in repr(found)
    with pytest.raises(InvalidParameter, match="150 finite numbers"):
        found @ np.ones(3)
    with pytest.raises(InvalidParameter, match="leave method"):
        dt.mean(design.perturb(people(50, 150, 8)), method="likelihood")
    with pytest.raises(NotIdentifiable, match="more reports"):
        dt.mean(design.perturb(people(1, 150, 8)))


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
@pytest.mark.parametrize(("d", "n"), [(384, 1_000), (384, 10_000), (10, 1_000)])
def test_intervals_hold(d: int, n: int, epsilon: float) -> None:
    """Coordinates, a projection and the length, over many runs."""
    design = dt.Optimal(dt.Vectors(d, exact=True), epsilon=epsilon)
    middle = people(200_000, d, 99).mean(axis=0)
    along = np.ones(d) / math.sqrt(d)
    runs = 100
    held = np.zeros((runs, 3))
    for run in range(runs):
        found = estimate(design.perturb(people(n, d, run), source=dt.Seeded(run)))
        low, high = found.interval()
        held[run] = (
            np.mean((low <= middle) & (middle <= high)),
            (found @ along).covers(float(middle @ along)),
            found.length().covers(float(np.linalg.norm(middle))),
        )
    coordinates, projection, length = held.mean(axis=0)
    assert 0.93 <= coordinates <= 0.97
    assert 0.88 <= projection <= 1.0  # of 100 runs
    assert 0.88 <= length <= 1.0


def test_longer_vectors_are_shortened_and_the_mean_is_named() -> None:
    """The centre and the length come from people who do not answer again."""
    vectors = 40.0 + people(3_000, 8, 3)
    scale = dt.Interval(0, 1_000).on_scale("log")
    ask = dt.SW(scale, epsilon=4)
    lengths = np.linalg.norm(vectors[:1_000] - 40.0, axis=1)
    found = dt.bounds(ask.perturb(scale.positions(lengths), source=dt.Seeded(1)))
    ball = dt.Vectors(8, found.high, [40.0] * 8, clipped_from=found)
    assert ball == dt.Vectors(8, found.high, [40.0] * 8)  # devices and fingerprints do not differ
    far = np.concatenate([vectors[1_000:], np.full((1, 8), 1e6)])  # one far away, which is shortened
    mean = estimate(dt.Optimal(ball, epsilon=4).perturb(far, source=dt.Seeded(2)))
    name = f"mean of vectors with distances from the centre clipped to [0, {found.high:g}]"
    for shown in (mean, mean.length(), mean.cosine(), mean @ np.ones(8)):
        assert name in repr(shown)
        assert "% outside" in repr(shown)
    assert mean.records()[0]["of"] == name
    assert "mean of vectors with lengths clipped to [0, 2]" in repr(
        dt.mean(dt.Optimal(dt.Vectors(8, 2.0, clipped_from=True), epsilon=4).perturb(vectors))
    )
    with pytest.raises(InvalidParameter, match="exact length"):
        dt.Vectors(8, exact=True, clipped_from=True)
    with pytest.raises(OutsideDomain):
        dt.Vectors(8).check([[1e6] * 8])
