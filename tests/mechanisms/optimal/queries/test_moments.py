"""The channel for moments: private, near its bound, and far better than reports of each number."""

from __future__ import annotations

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter
from dither.mechanisms.optimal.queries.moments import moment_design

UNIT = dt.Interval(0, 1)
TWO = dt.Box({"x": UNIT, "y": UNIT})


@pytest.mark.parametrize(("epsilon", "most"), [(0.5, 0.08), (1.0, 0.08), (2.0, 0.14), (4.0, 0.4)])
@pytest.mark.some(every=2)
def test_two_numbers_are_near_the_bound(epsilon: float, most: float) -> None:
    asked = dt.optimal.JointMoments(TWO, epsilon=epsilon)
    assert 0.0 < asked.bound <= asked.weighted_variance
    assert asked.gap <= most
    assert asked.guarantee.epsilon <= epsilon
    assert asked.report_bytes == 1


@pytest.mark.parametrize(
    ("domain", "pieces", "less"), [(UNIT, 14, 0.8), pytest.param(TWO, 6, 0.9, marks=pytest.mark.slow)]
)
def test_more_pieces_have_less_variance(domain: dt.Interval | dt.Box, pieces: int, less: float) -> None:
    usual = dt.optimal.JointMoments(domain, epsilon=4)
    fine = dt.optimal.JointMoments(domain, epsilon=4, pieces=pieces)
    assert usual.bound <= fine.weighted_variance < less * usual.weighted_variance
    assert '"pieces"' not in str(usual.question.parameters)
    again = dt.from_json(fine.to_json())
    assert again.fingerprint == fine.fingerprint != usual.fingerprint
    assert fine.question.guarantee.epsilon <= 4
    # Unbiased between the knots, for everybody at one point.
    point = np.full((1, 1 if domain is UNIT else 2), 0.3141)
    law = fine.question.kernel.weights(point) @ fine.question.kernel.channel.matrix
    u = 2.0 * 0.3141 - 1.0
    truth = [u, u**2] if domain is UNIT else [u, u, u**2, u**2, u * u]
    assert (fine.question.reading.table @ law[0]) == pytest.approx(truth, abs=1e-5)


def test_predicted_variances_are_those_of_reports() -> None:
    asked = dt.optimal.JointMoments(TWO, epsilon=2)
    ticks = np.array([0, 1 / 6, 1 / 2, 5 / 6, 1])
    points = np.array([[x, y] for x in ticks for y in ticks])
    rows = np.repeat(points, 8_000, axis=0)
    told = asked.question.reading(asked.perturb(rows, source=dt.Seeded(1)).cells)
    u = 2.0 * rows - 1.0
    truth = np.column_stack([u, u**2, u[:, 0] * u[:, 1]])
    assert ((told - truth) ** 2).mean(axis=0) == pytest.approx(asked.variances, rel=0.03)
    assert np.abs((told - truth).mean(axis=0)).max() < 5 * np.sqrt(asked.variances.max() / len(rows))


def test_between_shipped_budgets_it_is_solved_from_the_nearest() -> None:
    near, between, far = (moment_design(2, epsilon, 3) for epsilon in (1.0, 1.2, 1.5))
    assert near.epsilon < between.epsilon < far.epsilon
    sizes = [dt.optimal.JointMoments(TWO, epsilon=epsilon).weighted_variance for epsilon in (1.0, 1.2, 1.5)]
    assert sizes[0] > sizes[1] > sizes[2]


@pytest.mark.parametrize("numbers", [1, 3, 4])
def test_one_three_and_four_numbers(numbers: int) -> None:
    domain = UNIT if numbers == 1 else dt.Box(dict.fromkeys("abcd"[:numbers], UNIT))
    asked = dt.optimal.JointMoments(domain, epsilon=2)
    again = dt.from_json(asked.to_json())
    assert again.fingerprint == asked.fingerprint
    rows = np.random.default_rng(1).random((30_000, numbers))
    reports = asked.perturb(rows[:, 0] if numbers == 1 else rows, source=dt.Seeded(1))
    found = dt.estimate(again.reports(reports.cells))
    name = "value" if numbers == 1 else "a"
    assert found[f"variance of {name}"].covers(1 / 12, 0.9999)
    if numbers > 1:
        assert dt.stats.correlation(reports, ("a", "b")).covers(0.0, 0.9999)
        with pytest.raises(InvalidParameter, match="no number"):
            dt.stats.correlation(reports, ("a", "z"))
    if numbers > 2:
        with pytest.raises(InvalidParameter, match="expected a pair of numbers"):
            dt.stats.covariance(reports)


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="one to 4"):
        dt.optimal.JointMoments(dt.Box(dict.fromkeys("abcde", UNIT)), epsilon=1)
    with pytest.raises(InvalidParameter):
        dt.optimal.JointMoments(TWO, epsilon=20)
    for pieces, domain in ((0, UNIT), (17, UNIT), (10, TWO), (True, UNIT), (2.0, UNIT)):
        with pytest.raises(InvalidParameter, match="expected pieces"):
            dt.optimal.JointMoments(domain, epsilon=1, pieces=pieces)
