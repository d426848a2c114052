"""Goals about variances and covariances: predictions held to simulation, and what is recommended."""

from __future__ import annotations

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter
from dither.foundation.randomness import Seeded

UNIT = dt.Interval(0, 1)
TWO = dt.Box({"x": dt.Interval(0, 2), "y": UNIT})


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_one_report_about_both_numbers_is_recommended(epsilon: float) -> None:
    ranking = dt.recommend(TWO, dt.goals.Covariance(n=20_000), epsilon=epsilon)
    assert ranking[0]["mechanism"] == ("JointMoments" if epsilon == 1.0 else "JointMoments(pieces=6)")
    assert ranking[1]["error"] > 1.8 * ranking[0]["error"]
    assert "a bound for every mechanism" in ranking[0]["why"]
    assert isinstance(ranking.best, dt.optimal.JointMoments)


@pytest.mark.parametrize("number", [0, 1])
def test_predicted_errors_of_covariances_are_realised(number: int) -> None:
    """The mean square of twenty estimates, within four of its standard errors; half of it is rejected."""
    n, runs = 4_000, 30
    ranking = dt.recommend(TWO, dt.goals.Covariance(n=n), epsilon=3)
    asked, error = ranking.mechanisms[number], ranking[number]["error"]
    rng, squares = np.random.default_rng(number), []
    for run in range(runs):
        x, y = 2 * rng.random(n), rng.random(n)
        reports = asked.perturb({"x": x, "y": y}, source=Seeded(run))
        pair = (reports,) if number == 0 else (reports["x"], reports["y"])
        truth = float(np.mean((x - 1.0) * (y - 0.5)) - (x.mean() - 1.0) * (y.mean() - 0.5))
        squares.append(((float(dt.stats.covariance(*pair)) - truth) / 2.0) ** 2 / error**2)
    slack = 4 * np.std(squares) / np.sqrt(runs) + 0.03
    assert abs(np.mean(squares) - 1.0) <= slack


def test_predicted_errors_of_variances_are_realised() -> None:
    domain, n = dt.Interval(0, 10), 4_000
    ranking = dt.recommend(domain, dt.goals.Variance(n=n), epsilon=2)
    assert ranking[0]["mechanism"] == "JointMoments(pieces=14)"
    for asked, row in [(ranking.mechanisms[0], ranking[0]), (ranking.mechanisms[1], ranking[1])]:
        rng, squares = np.random.default_rng(1), []
        for run in range(30):
            values = 10 * rng.random(n)
            reports = asked.perturb(values, source=Seeded(run))
            found = dt.estimate(reports)["variance of value"] if row is ranking[0] else dt.variance(reports)
            squares.append((float(found) - values.var()) ** 2 / row["error"] ** 2)
        assert abs(np.mean(squares) - 1.0) <= 4 * np.std(squares) / np.sqrt(30) + 0.05


def test_goals_about_moments_have_their_domains() -> None:
    with pytest.raises(InvalidParameter, match="expected the domain Box"):
        dt.recommend(UNIT, dt.goals.Covariance(n=10), epsilon=1)
    with pytest.raises(InvalidParameter, match="expected the domain Interval"):
        dt.recommend(TWO, dt.goals.Variance(n=10), epsilon=1)
    assert dt.people_for(TWO, dt.goals.Covariance(), 0.01, epsilon=2) < 2_000
    five = dt.Box(dict.fromkeys("abcde", UNIT))
    assert dt.recommend(five, dt.goals.Covariance(n=10), epsilon=2)[0]["mechanism"].startswith("Each(")


def test_people_are_planned_with_the_sampling_error_of_moments() -> None:
    """It was left out: people for a standard error were those for the noise alone."""
    rng = np.random.default_rng(1)
    x, y = rng.random((2, 2_000, 300))
    both = ((x - x.mean(axis=1)[:, None]) * (y - y.mean(axis=1)[:, None])).mean(axis=1)
    for domain, goal, found in (
        (UNIT, dt.goals.Variance(), x.var(axis=1)),
        (TWO, dt.goals.Covariance(), both),
    ):
        drawn = 300 * float(found.var())
        assert goal.sampling(domain) == pytest.approx(drawn, rel=0.15)
        people = [dt.people_for(domain, goal, 0.01, epsilon=8, sampling=kept) for kept in (True, False)]
        assert people[0] - people[1] == pytest.approx(drawn / 0.01**2, rel=0.15)
