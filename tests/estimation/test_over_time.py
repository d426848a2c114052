"""Least squares on a tree of intervals, against the normal equations of linear algebra.

Estimates by day from reports about one kept change: unbiased in its model, with intervals that cover.
"""

from __future__ import annotations

import datetime
import math

import numpy as np
import pytest
from scipy import stats

import dither as dt
from dither.errors import InvalidParameter
from dither.estimation.over_time import NoisySums, _filter, predicted_error, running_sums, smooth_days
from tests.support.chi_square import ALARM


def solved(levels: list[NoisySums], days: int, smoothing: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the same estimates by the inverse of a matrix: (AᵀWA)⁻¹AᵀWz, for each day's average."""
    rows, values, weights = [], [], []
    for height, level in enumerate(levels):
        for place, (value, variance) in enumerate(zip(level.values, level.variances, strict=True)):
            row = np.zeros(days - 1)
            row[place << height : (place + 1) << height] = 1.0
            rows.append(row)
            values.append(value)
            weights.append(1.0 / variance)
    design, weight = np.array(rows), np.array(weights)
    covariance = np.linalg.inv(design.T @ (weight[:, None] * design))
    daily = covariance @ design.T @ (weight * np.array(values))
    sums = np.tril(np.ones((days, days - 1)), -1)
    half = smoothing // 2
    means = np.array([sums[max(0, day - half) : day + half + 1].mean(axis=0) for day in range(days)])
    return means @ daily, np.einsum("ij,jk,ik->i", means, covariance, means)


@pytest.mark.parametrize("days", [2, 3, 4, 9, 16, 33, 50])
@pytest.mark.parametrize("smoothing", [1, 3, 7])
def test_running_sums_are_those_of_least_squares(days: int, smoothing: int) -> None:
    rng = np.random.default_rng(days)
    levels = []
    for height in range((days - 1).bit_length()):
        size = -(-(days - 1) // (1 << height))
        levels.append(NoisySums(rng.normal(size=size), rng.uniform(0.1, 3.0, size)))
    smoothing = min(smoothing, 2 * days - 1)
    for found, wanted in zip(
        running_sums(levels, days, smoothing), solved(levels, days, smoothing), strict=True
    ):
        assert found == pytest.approx(wanted, rel=1e-9, abs=1e-12)


def test_all_levels_together_have_a_smaller_variance_than_the_fewest_intervals() -> None:
    """A running sum of 364 days from nine levels: plain dyadic sums have a variance of up to 8 intervals."""
    days = 365
    levels = [
        NoisySums(np.zeros(-(-(days - 1) // (1 << height))), np.ones(-(-(days - 1) // (1 << height))))
        for height in range(9)
    ]
    _, variances = running_sums(levels, days)
    plain = np.array([bin(day).count("1") for day in range(days)])
    assert variances[0] == 0.0
    assert (variances <= plain + 1e-12).all()
    assert variances.mean() < 0.4 * plain.mean()


SMOKES = dt.KRR(dt.Categories(2), epsilon=1)


def lives(rng: np.random.Generator, people: int, days: int, changes: int = 1) -> np.ndarray:
    """Return values that begin anyhow and change at most so often, on uniform days; some never change."""
    values = np.repeat((rng.random((people, 1)) < 0.3).astype(np.int8), days, axis=1)
    for _ in range(changes):
        when = rng.integers(1, days + days // 3, size=(people, 1))
        values ^= (np.arange(days) >= when).astype(np.int8)
    return values


def errors(
    change: dt.KeptChange, runs: int, people: int, smoothing: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Return errors and standard errors of each day's share of "yes": a row for a run.

    The people are the same in all runs, and their shares the truth; smoothing averages the truth, too.
    """
    values = lives(np.random.default_rng(7), people, change.days, change.changes)
    truth, half = values.mean(axis=0), smoothing // 2
    truth = np.array([truth[max(0, day - half) : day + half + 1].mean() for day in range(change.days)])
    wrong, told = [], []
    for seed in range(runs):
        estimated = dt.by_day(change.perturb(values, source=dt.Seeded(seed)), smoothing=smoothing)
        wrong.append(estimated.value[:, 1] - truth)
        told.append(estimated.standard_error[:, 1])
    return np.array(wrong), np.array(told)


@pytest.mark.some(every=3)
@pytest.mark.parametrize(("changes", "smoothing"), [(1, 1), (2, 1), (1, 5), (4, 1)])
def test_shares_are_unbiased_and_standard_errors_are_theirs(changes: int, smoothing: int) -> None:
    change = dt.KeptChange(SMOKES, days=21, changes=changes)
    wrong, told = errors(change, runs=150, people=3000, smoothing=smoothing)
    # The mean over runs has a normal distribution: no day's bias is beyond what 21 days may show.
    bias = wrong.mean(axis=0) / (wrong.std(axis=0, ddof=1) / math.sqrt(len(wrong)))
    assert np.abs(bias).max() < stats.t.isf(ALARM / 42, len(wrong) - 1)
    ratio = (wrong.std(axis=0, ddof=1) / told.mean(axis=0)) ** 2  # of variances; the stated one is a bound
    assert (ratio * (len(wrong) - 1) < stats.chi2.isf(ALARM / 21, len(wrong) - 1)).all()
    assert ratio.mean() > 0.7
    if smoothing == 1:
        assert np.sqrt(np.mean(told**2)) == pytest.approx(predicted_error(change, 3000), rel=0.02)


@pytest.mark.slow
def test_broken_estimates_are_found() -> None:
    """Kept changes that are not scaled by their number, and half of the standard error, do not pass."""
    change = dt.KeptChange(SMOKES, days=21, changes=2)
    values = lives(np.random.default_rng(7), 3000, 21, 2)
    single = dt.KeptChange(SMOKES, days=21)
    wrong = []
    for seed in range(150):
        table = change.perturb(values, source=dt.Seeded(seed)).cells
        wrong.append(dt.by_day(single.reports(table)).value[:, 1] - values.mean(axis=0))
    bias = np.mean(wrong, axis=0) / (np.std(wrong, axis=0, ddof=1) / math.sqrt(len(wrong)))
    assert np.abs(bias).max() > stats.t.isf(ALARM / 42, len(wrong) - 1)
    right, told = errors(change, runs=60, people=3000)
    ratio = (right.std(axis=0, ddof=1) / told.mean(axis=0) * 2.0) ** 2
    assert (ratio * 59 > stats.chi2.isf(ALARM / 21, 59)).any()


def covered(change: dt.KeptChange, runs: int, people: int, level: float, smoothing: int = 1) -> float:
    """Return the share of runs and days in which the interval covers the share of the population."""
    rng, hits = np.random.default_rng(3), []
    days = np.arange(change.days)
    # Of lives(): a value is "yes" with 0.3, and changed by day t with probability t/(days + days//3 − 1).
    moved = days / (change.days + change.days // 3 - 1)
    truth = 0.3 * (1 - moved) + 0.7 * moved
    half = smoothing // 2
    truth = np.array([truth[max(0, day - half) : day + half + 1].mean() for day in days])
    for seed in range(runs):
        values = lives(rng, people, change.days)
        low, high = dt.by_day(change.perturb(values, source=dt.Seeded(seed)), smoothing=smoothing).interval(
            level
        )
        hits.append(float(np.mean((low[:, 1] <= truth) & (truth <= high[:, 1]))))
    return float(np.mean(hits))


@pytest.mark.slow
def test_intervals_cover() -> None:
    """Days of one run are correlated, so that the level is checked loosely here; the slow test has more."""
    level = covered(dt.KeptChange(SMOKES, days=15), runs=150, people=2000, level=0.8)
    assert 0.75 < level < 0.88


@pytest.mark.slow
@pytest.mark.parametrize(
    ("days", "epsilon", "smoothing"), [(60, 1.0, 1), (60, 3.0, 1), (60, 1.0, 7), (365, 1.0, 1)]
)
def test_intervals_cover_in_many_runs(days: int, epsilon: float, smoothing: int) -> None:
    question = dt.KRR(dt.Categories(2), epsilon=epsilon)
    runs = 400 if days < 100 else 120
    level = covered(dt.KeptChange(question, days=days), runs, 4000, 0.95, smoothing)
    print(f"{days} days, ε = {epsilon}, {smoothing} pooled: {level:.4f}")
    # Runs are independent and the share of a run lies in [0, 1] with a standard deviation below ½·√0.05.
    reach = stats.norm.isf(ALARM) * math.sqrt(0.05 / runs) / 2
    assert 0.95 - reach <= level <= 0.985


def test_more_changes_than_declared_are_not_seen() -> None:
    """The estimate then follows values that stay as they are after the declared changes. It is no leak."""
    days, people = 9, 30_000
    values = np.zeros((people, days), dtype=np.int8)
    values[:, 3:6] = 1  # there and back: two changes
    reports = dt.KeptChange(dt.KRR(dt.Categories(2), epsilon=6), days=days).perturb(
        values, source=dt.Seeded(2)
    )
    frozen = (np.arange(days) >= 3).astype(float)
    assert dt.by_day(reports).value[:, 1] == pytest.approx(frozen, abs=0.12)
    reports = dt.KeptChange(dt.KRR(dt.Categories(2), epsilon=6), days=days, changes=2).perturb(
        values, source=dt.Seeded(2)
    )
    assert dt.by_day(reports).value[:, 1] == pytest.approx(values[0], abs=0.2)


def test_days_that_are_not_over_have_no_estimate() -> None:
    change = dt.KeptChange(dt.KRR(dt.Categories(["no", "yes"]), epsilon=4), days=16)
    reports = change.perturb([["no"] * 8 + ["yes"] * 8] * 20_000, source=dt.Seeded(3))
    sent = np.array([change.day(group, interval) for group, interval, _ in reports.cells])
    so_far = change.reports(reports.cells[sent < 10])
    estimated = dt.by_day(so_far)
    assert [one is None for one in estimated] == [False] * 10 + [True] * 6
    assert estimated[9] is not None
    assert estimated[9]["yes"].covers(1.0, 0.999999)  # type: ignore[index]
    assert estimated.n == 20_000
    whole = dt.by_day(reports)
    assert (whole.standard_error[:10] <= estimated.standard_error[:10] + 1e-12).all()
    with pytest.raises(InvalidParameter, match="maybe"):
        whole[0]["maybe"]  # type: ignore[index]
    nobody = dt.by_day(change.reports(np.zeros((0, 3), dtype=np.int64)))
    assert [one for one in nobody if one is not None] == []


def test_smoothing_and_drift_are_declared() -> None:
    change = dt.KeptChange(SMOKES, days=30)
    values = lives(np.random.default_rng(1), 4000, 30)
    reports = change.perturb(values, source=dt.Seeded(1))
    plain, pooled = dt.by_day(reports), dt.by_day(reports, smoothing=7, drift=0.01)
    assert "7 days pooled" in repr(pooled)
    assert np.median(pooled.standard_error) < np.median(plain.standard_error)
    low, high = pooled.interval()
    bare = dt.by_day(reports, smoothing=7).interval()
    widened = (bare[0] - low)[:, 1]
    assert widened[15] == pytest.approx(0.01 * 12 / 7)  # distances 3, 2, 1, 0, 1, 2, 3
    assert widened[0] == pytest.approx(0.01 * 6 / 4)
    assert (high - bare[1])[:, 1] == pytest.approx(widened)
    with pytest.raises(InvalidParameter, match="odd number"):
        dt.by_day(reports, smoothing=2)


def test_smooth_days_are_those_of_linear_algebra() -> None:
    """One model against the posterior of a normal vector: K(K + V)⁻¹y with the covariance K of the days."""
    rng, days = np.random.default_rng(3), 20
    values, variances = rng.normal(0.4, 0.05, days), rng.uniform(0.001, 0.004, days)
    variances[4] = np.inf
    known = np.isfinite(variances)
    prior = np.zeros((1, 8, 8))
    prior[0, 0, 0], prior[0, 1, 1] = 1.0, 0.01
    prior[0, 2:, 2:] = 0.04 * (np.eye(6) - 1.0 / 7.0)
    day = np.arange(days)
    extra = np.where(np.isin(day, [8, 9]), 0.03, 0.0)  # a jump in one of two days
    steps = np.array([0.02**2]), np.array([0.01**2])
    evidence, means, spreads = _filter(values, variances, *steps, prior, extra)
    level = 1.0 + 0.02**2 * np.minimum.outer(day, day) + 0.01 * np.multiply.outer(day, day)
    slope = sum(np.outer(s, s) for s in (np.maximum(day - k, 0) for k in range(1, days))) * 0.01**2
    week = 0.04 * (np.equal.outer(day % 7, day % 7) - 1.0 / 7.0)
    jump = sum(0.03 * np.outer(day >= k, day >= k) for k in (8, 9))
    covariance = level + slope + week + jump
    seen = covariance[np.ix_(known, known)] + np.diag(variances[known])
    start = values[known].mean()
    wanted = start + covariance[:, known] @ np.linalg.solve(seen, values[known] - start)
    assert means[0] == pytest.approx(wanted, rel=1e-8)
    left = covariance - covariance[:, known] @ np.linalg.solve(seen, covariance[known])
    assert spreads[0] == pytest.approx(np.diagonal(left), rel=1e-6)
    density = stats.multivariate_normal(np.full(days - 1, start), seen).logpdf(values[known])
    assert evidence[0] == pytest.approx(density + (days - 1) / 2 * math.log(2 * math.pi))


@pytest.mark.slow
def test_a_jump_is_found_and_not_smoothed_away() -> None:
    """Days within ten of a jump by three errors of a day held in 46 % while all steps were alike."""
    rng, day, held = np.random.default_rng(6), np.arange(200), []
    for _ in range(6):
        truth = 0.3 + 0.2 * (day >= 90)
        found = smooth_days(truth + 0.06 * rng.standard_normal(200), np.full(200, 0.06**2), 1.0)
        assert any(abs(place - 90) <= 4 for place in found.jumps)
        held.append(np.abs(found.values - truth)[80:100] <= 1.96 * found.errors[80:100])
    assert np.mean(held) > 0.85
    still = smooth_days(0.4 + 0.06 * rng.standard_normal(200), np.full(200, 0.06**2), 1.0)
    assert still.jumps == ()


def test_days_are_smoothed_by_evidence() -> None:
    rng, days, n = np.random.default_rng(4), 42, 20_000
    truth = 0.3 + 0.25 * np.isin(np.arange(days) % 7, [5, 6])
    smokes = dt.Once(dt.KRR(dt.Categories(["no", "yes"]), epsilon=1), days=days)
    answers = np.where(rng.random((n, days)) < truth, "yes", "no")
    reports = smokes.perturb(answers, source=dt.Seeded(4))
    found, plain = dt.by_day(reports, smoothing="auto"), dt.by_day(reports)
    errors = [np.sqrt(np.mean((one.value[:, 1] - truth) ** 2)) for one in (found, plain)]
    assert errors[0] < 0.7 * errors[1]
    assert found.weekly > 0.9
    assert "smoothed with a weekly pattern" in repr(found)
    low, high = found.interval()
    assert np.mean((low[:, 1] <= truth) & (truth <= high[:, 1])) > 0.85
    assert found[3]["yes"].half_width() < plain[3]["yes"].half_width()
    small = "unless the level jumps by less than three errors of a day"
    assert small in repr(found)
    assert small in repr(found[3]["yes"])
    assert plain.condition == "" != found.condition
    with pytest.raises(InvalidParameter, match="leave `drift` out"):
        dt.by_day(reports, smoothing="auto", drift=0.1)
    with pytest.raises(InvalidParameter, match='"auto" or an odd number'):
        dt.by_day(reports, smoothing="all")


def test_weeks_are_the_estimates_of_their_days_together() -> None:
    rng = np.random.default_rng(4)
    once = dt.Once(dt.KRR(dt.Categories(["yes", "no"]), epsilon=2), days=17)
    values = np.where(rng.random((9_000, 17)) < np.linspace(0.1, 0.9, 17), "yes", "no")
    reports = once.perturb(values.tolist(), source=dt.Seeded(1))
    weeks = dt.by_day(reports, every=7)
    assert len(weeks) == 3
    assert [row["day"] for row in weeks.records()[::2]] == [0, 7, 14]
    for index, (first, end) in enumerate(((0, 7), (7, 14), (14, 17))):
        alone = dt.frequencies(reports.between(first, end))
        assert np.asarray(weeks[index].value) == pytest.approx(np.asarray(alone.value))
        assert abs(float(weeks[index]["yes"]) - np.linspace(0.1, 0.9, 17)[first:end].mean()) < 0.06
    assert repr(weeks).startswith("EstimatedDays(3 periods, ")
    calendar = dt.by_day(reports, every="week", begins="2026-04-30")  # a Thursday
    assert [row["day"] for row in calendar.records()[::2]] == ["2026-04-30", "2026-05-04", "2026-05-11"]
    months = dt.by_day(reports, every="month", begins=datetime.date(2026, 4, 30))
    assert [(row["day"], row["n"]) for row in months.records()[::2]] == [
        ("2026-04-30", len(reports.between(0, 1))),
        ("2026-05-01", len(reports.between(1, 17))),
    ]
    assert dt.by_day(reports, begins="2026-04-30").records()[-1]["day"] == "2026-05-16"
    for wrong in ({"every": "week"}, {"every": "year"}, {"begins": "May"}):
        with pytest.raises(InvalidParameter, match=r"begins|period"):
            dt.by_day(reports, **wrong)
    for wrong in ({"every": 0}, {"every": 18}, {"every": True}, {"every": 7, "smoothing": 3}):
        with pytest.raises(InvalidParameter, match="every"):
            dt.by_day(reports, **wrong)
