"""`dt.over_time`: the recommended way, its promise, and predicted errors against simulation."""

from __future__ import annotations

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter

SMOKES = dt.RR(dt.Categories(range(2)), epsilon=1)


@pytest.mark.parametrize("changes", [None, 1, 4, 1000])
def test_a_value_that_changes_is_asked_for_once(changes: int | None) -> None:
    advice = dt.over_time(SMOKES, days=365, changes=changes)
    assert advice.best == dt.Once(SMOKES, days=365)
    assert advice.guarantee == dt.Once(SMOKES, days=365).guarantee
    bounded = [row for row in advice if row["epsilon"] == "1" and row["error"] is not None]
    assert advice[0]["error"] == min(row["error"] for row in bounded)
    assert 18 < bounded[1]["error"] / bounded[0]["error"] < 21  # √365 = 19.1
    promises = {row["way"]: row["promise"] for row in advice}
    assert promises["a permanent answer for each value"].startswith("no privacy guarantee")
    assert promises["a new answer every day"] == "ε ≤ 365 for one person"


def test_a_value_that_never_changes_is_told_once_by_everybody() -> None:
    advice = dt.over_time(SMOKES, days=365, changes=0)
    assert advice.best is SMOKES
    assert advice.guarantee.epsilon == SMOKES.guarantee.epsilon
    assert "does not change" in advice.reason
    assert "none" not in [row["epsilon"] for row in advice]
    assert dt.over_time(SMOKES, days=1).best is SMOKES


def test_the_predicted_error_is_that_of_simulation() -> None:
    """Half of the people say yes every day, so all of the error comes from privacy."""
    n, days = 40_000, 20
    values = np.repeat(np.arange(n) % 2, days).reshape(n, days)
    once = dt.Once(SMOKES, days=days)
    errors = [
        dt.by_day(once.perturb(values, source=dt.Seeded(seed))).value[:, 1] - values.mean()
        for seed in range(20)
    ]
    told = dt.over_time(SMOKES, days=days, n=n)[0]["error"]
    # A day's people are a sample, whose share also varies: ¼/(n/days). 400 days: a standard error of 3.5 %.
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.sqrt(told**2 + days / n / 4), rel=0.18)


def test_other_questions_and_wrong_ones() -> None:
    assert isinstance(dt.over_time(dt.PM(dt.Interval(0, 10), epsilon=1), days=30).best, dt.Once)
    assert dt.over_time(dt.SW(dt.Interval(0, 10), epsilon=1), days=30, changes=2)[0]["way"].startswith("one")
    tiny = dt.over_time(dt.RR(dt.Categories(range(2)), epsilon=1e-5), days=365)
    assert not [row for row in tiny if "divided" in row["way"]]
    for wrong in ({"days": 0}, {"days": 3, "changes": -1}, {"days": 3, "changes": 1.5}, {"days": 3, "n": 0}):
        with pytest.raises(InvalidParameter):
            dt.over_time(SMOKES, **wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="Once"):
        dt.over_time("smokes", days=3)  # type: ignore[arg-type]
