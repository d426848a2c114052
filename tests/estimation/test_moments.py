"""Moments in one report: without bias, intervals that cover, and much smaller errors than of each number."""

from __future__ import annotations

import numpy as np
import pytest

import dither as dt
from dither.core.counts import Counts, summarise
from dither.errors import InvalidParameter, NotIdentifiable
from dither.estimation.moments import CountedMoments, moments

UNIT = dt.Interval(0, 1)
BODY = dt.Box({"height": dt.Interval(100, 220), "weight": dt.Interval(30, 200)})


def _people(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Heights and weights between the knots, with a correlation of 0.55."""
    rng = np.random.default_rng(seed)
    first = rng.uniform(-1, 1, n)
    second = 0.55 * first + np.sqrt(1 - 0.55**2) * rng.uniform(-1, 1, n)
    return 160 + 25 * first, 90 + 30 * second


TRUTH = {
    "variance": 25**2 / 3,
    "covariance": 25 * 30 * 0.55 / 3,
    "correlation": 0.55,
    "slope": 30 * 0.55 / 25,
}


@pytest.mark.parametrize(("epsilon", "n"), [(4.0, 4_000), pytest.param(1.0, 250_000, marks=pytest.mark.slow)])
def test_intervals_cover(epsilon: float, n: int) -> None:
    asked, source = dt.optimal.JointMoments(BODY, epsilon=epsilon), dt.Seeded(1)
    held = []
    for run in range(150):
        height, weight = _people(n, run)
        reports = asked.perturb({"height": height, "weight": weight}, source=source)
        found = dt.estimate(reports)
        held.append(
            [
                found["mean of height"].covers(160),
                found["variance of height"].covers(TRUTH["variance"]),
                dt.stats.covariance(reports).covers(TRUTH["covariance"]),
                dt.stats.correlation(reports).covers(TRUTH["correlation"]),
                dt.stats.regression(reports, "weight")["height"].covers(TRUTH["slope"]),
            ]
        )
    shares = np.mean(held, axis=0)
    assert shares.min() >= 0.9
    assert shares[:3].max() <= 0.99


@pytest.mark.slow
def test_nothing_is_biased_between_the_knots() -> None:
    """Below a tenth of a standard error at n = 10^6, for everybody at one place and for spread people."""
    asked = dt.optimal.JointMoments(BODY, epsilon=1)
    kernel, reading = asked.question.kernel, asked.question.reading
    low, high = np.array(BODY.ends).T
    rng = np.random.default_rng(1)
    for records in (
        np.tile([131.7, 77.3], (1, 1)),
        np.column_stack(_people(20_000, 3)),
        100 + 80 * rng.random((500, 2)),
    ):
        u = 2.0 * (records - low) / (high - low) - 1.0
        truth = np.column_stack([u, u**2, u[:, 0] * u[:, 1]]).mean(axis=0)
        laws = (kernel.weights(records) @ kernel.channel.matrix).mean(axis=0)
        bias = reading.table @ laws - truth
        error = np.sqrt(laws @ (reading.table**2).T - (reading.table @ laws) ** 2) / 1_000.0
        assert (np.abs(bias) < 0.1 * error).all()


def _expected(asked: dt.optimal.JointMoments, records: np.ndarray) -> np.ndarray:
    """Return the probability of each report of a person drawn from these records."""
    kernel = asked.question.kernel
    law = (kernel.weights(records) @ kernel.channel.matrix).mean(axis=0)
    return np.asarray(law / law.sum())


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0, 8.0])
def test_estimates_of_the_expected_counts_are_the_truth(epsilon: float) -> None:
    """Bias below a tenth of a standard error at n = 10^6, without simulation: counts as expected."""
    n, three = 1_000_000, np.array([[128.9, 105.7], [172.9, 123.3], [207.7, 69.7]])
    asked = dt.optimal.JointMoments(BODY, epsilon=epsilon)
    for records in (np.column_stack(_people(400, 3)), three):
        shares = np.cumsum(_expected(asked, records))
        counts = Counts(asked.question, np.diff(np.rint(n * shares), prepend=0).astype(np.int64), n)
        truth = np.cov(records.T, bias=True)
        found = dt.estimate(counts)
        cases = [
            (found["variance of height"], truth[0, 0]),
            (found["variance of weight"], truth[1, 1]),
            (dt.stats.covariance(counts), truth[0, 1]),
            (dt.stats.correlation(counts), truth[0, 1] / np.sqrt(truth[0, 0] * truth[1, 1])),
        ]
        for part, expected in cases:
            assert abs(float(part.value) - expected) < 0.1 * float(part.standard_error)
        slope = float(cases[2][0].value) / float(cases[0][0].value)
        error = float(cases[2][0].standard_error) / truth[0, 0]
        assert abs(slope - truth[0, 1] / truth[0, 0]) < 0.1 * error


@pytest.mark.slow
def test_estimates_of_a_million_people_are_not_biased() -> None:
    """Simulated: the mean of 20 000 estimates is within a tenth of a standard error of the truth.

    Measured at ε = 1: −0.007 (variance), −0.004 (covariance), 0.023 (correlation) and 0.014 (slope), ± 0.007.
    """
    runs, n, random = 20_000, 1_000_000, np.random.default_rng(7)
    records = np.column_stack(_people(20_000, 3))
    asked = dt.optimal.JointMoments(BODY, epsilon=1)
    law, truth = _expected(asked, records), np.cov(records.T, bias=True)
    found = []
    for _ in range(runs):
        counts = Counts(asked.question, random.multinomial(n, law), n)
        own, both = CountedMoments(counts, ("height", "height")), CountedMoments(counts, ("height", "weight"))
        variance = own.covariance
        correlation = float(dt.stats.correlation(counts))
        found.append([variance, both.covariance, correlation, both.covariance / variance])
    wanted = [
        truth[0, 0],
        truth[0, 1],
        truth[0, 1] / np.sqrt(truth[0, 0] * truth[1, 1]),
        truth[0, 1] / truth[0, 0],
    ]
    bias = (np.mean(found, axis=0) - wanted) / np.std(found, axis=0)
    assert np.abs(bias).max() < 0.1, bias


def test_the_error_is_a_fraction_of_that_of_two_reports() -> None:
    """At ε = 1 together, against Podium with ε = 1/2 each: 22 times less variance was possible."""
    n, ours, each = 20_000, [], []
    asked = dt.optimal.JointMoments(dt.Box({"x": UNIT, "y": UNIT}), epsilon=1)
    both = dt.Each(x=dt.Podium(UNIT, epsilon=0.5), y=dt.Podium(UNIT, epsilon=0.5))
    for run in range(12):
        values = np.random.default_rng(run).beta(2, 2, (n, 2))
        ours.append(float(dt.stats.covariance(asked.perturb(values, source=dt.Seeded(run)))))
        told = both.perturb({"x": values[:, 0], "y": values[:, 1]}, source=dt.Seeded(run))
        each.append(float(dt.stats.covariance(told["x"], told["y"])))
    assert np.mean(np.square(each)) > 10 * np.mean(np.square(ours))


def test_the_regression_is_that_of_the_values() -> None:
    height, weight = _people(200_000, 9)
    reports = dt.optimal.JointMoments(BODY, epsilon=8).perturb({"height": height, "weight": weight})
    slope, intercept = np.polyfit(height, weight, 1)
    found = dt.stats.regression(reports, "weight")
    assert found["height"].covers(slope, 0.9999)
    assert found["intercept"].covers(intercept, 0.9999)
    assert found.at({"height": 150}).covers(intercept + 150 * slope, 0.9999)
    with pytest.raises(InvalidParameter, match="no number"):
        dt.stats.regression(reports, "age")
    with pytest.raises(InvalidParameter, match="weights"):
        dt.stats.regression(reports, "weight", weights=np.ones(200_000))


def test_counts_are_enough_and_wrong_reports_are_refused() -> None:
    asked = dt.optimal.JointMoments(BODY, epsilon=4)
    reports = asked.perturb({"height": [150.0, 180.0] * 50, "weight": [60.0, 90.0] * 50}, source=dt.Seeded(1))
    summary = summarise(reports)
    assert float(dt.stats.covariance(summary)) == float(dt.stats.covariance(reports))
    assert list(moments(summary)) == list(dt.estimate(reports))
    assert [row["answer"] for row in moments(summary).records()][-1] == "covariance of height and weight"
    with pytest.raises(NotIdentifiable, match="three people"):
        dt.stats.correlation(asked.perturb({"height": [150.0], "weight": [60.0]}))
    with pytest.raises(InvalidParameter, match="JointMoments"):
        dt.stats.correlation(dt.Podium(UNIT, epsilon=1).perturb([0.5] * 10))
