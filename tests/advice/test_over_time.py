"""`dt.over_time`: the recommended way, its promise, and predicted errors against simulation."""

from __future__ import annotations

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter

SMOKES = dt.KRR(dt.Categories(2), epsilon=1)


@pytest.mark.parametrize("changes", [None, 8, 1000])
def test_a_value_that_changes_is_asked_for_once(changes: int | None) -> None:
    advice = dt.over_time(SMOKES, days=365, changes=changes)
    assert advice.best == dt.Once(SMOKES, days=365)
    assert advice.guarantee == dt.Once(SMOKES, days=365).guarantee
    bounded = [row for row in advice if row["epsilon"] == "1" and row["error"] is not None]
    assert advice[0]["error"] == min(row["error"] for row in bounded)
    divided = next(row["error"] for row in bounded if "divided" in row["way"])
    gap = np.tanh(0.5)
    # ¼·365/(n·gap²) against 1/(n·(ε/365)²), the variance of almost fair coins: √(365·gap²·4)
    assert divided / advice[0]["error"] == pytest.approx(np.sqrt(365 * gap**2 * 4), rel=0.01)
    promises = {row["way"]: row["promise"] for row in advice}
    assert promises["a permanent answer for each value"].startswith("no privacy guarantee")
    assert promises["a new answer every day"] == "ε ≤ 365 for one person"


def test_two_to_four_changes_are_kept_at_less_error() -> None:
    """The errors of patterns of flips; with one kept change of several they were 0.048, 0.071 and 0.094."""
    for changes, error in ((2, 0.0375), (3, 0.0464), (4, 0.0506)):
        advice = dt.over_time(SMOKES, days=365, changes=changes, n=100_000)
        assert advice.best == dt.KeptChange(SMOKES, days=365, changes=changes)
        assert advice[0]["error"] == pytest.approx(error, abs=6e-5)


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
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(told, rel=0.18)  # a standard error of 3.5 %


@pytest.mark.slow
def test_few_changes_over_a_long_time_are_kept() -> None:
    """The computed variance decides, whatever ε is: the tree's grows with log days and with changes²."""
    for epsilon in (0.5, 1, 4):
        question = SMOKES.at(epsilon)
        advice = dt.over_time(question, days=365, changes=1)
        assert advice.best == dt.KeptChange(question, days=365)
        assert advice.guarantee == advice.best.guarantee
        assert advice[1]["way"] == "one answer, on a drawn day"
        assert advice[0]["error"] < 0.45 * advice[1]["error"]
        assert "more than once" in advice.reason
        assert isinstance(dt.over_time(question, days=14, changes=1).best, dt.Once)
        assert isinstance(dt.over_time(question, days=30, changes=4).best, dt.Once)
        assert dt.over_time(question, days=365, changes=4).best == dt.KeptChange(
            question, days=365, changes=4
        )
    for question in (dt.KRR(dt.Categories(3), epsilon=1), dt.PM(dt.Interval(0, 1), epsilon=1)):
        advice = dt.over_time(question, days=365, changes=1)
        assert isinstance(advice.best, dt.Once)
        assert not [row for row in advice if "kept" in row["way"]]


@pytest.mark.some(every=3)
@pytest.mark.parametrize(("days", "changes", "kept"), [(14, 1, False), (60, 1, True), (60, 2, False)])
def test_the_recommended_way_has_the_smaller_error(days: int, changes: int, kept: bool) -> None:
    """Simulated: people with so many changes. The advice and the errors agree about the better way."""
    n, rng = 4000, np.random.default_rng(4)
    values = np.repeat(rng.integers(2, size=(n, 1)), days, axis=1)
    for _ in range(changes):
        values ^= np.arange(days) >= rng.integers(1, days, size=(n, 1))
    found = {}
    for way in (dt.KeptChange(SMOKES, days=days, changes=changes), dt.Once(SMOKES, days=days)):
        wrong = [
            dt.by_day(way.perturb(values, source=dt.Seeded(seed))).value[:, 1] - values.mean(axis=0)
            for seed in range(30)
        ]
        found[type(way)] = np.sqrt(np.mean(np.square(wrong)))
    advice = dt.over_time(SMOKES, days=days, changes=changes, n=n)
    assert (found[dt.KeptChange] < found[dt.Once]) == kept == isinstance(advice.best, dt.KeptChange)
    told = next(row["error"] for row in advice if "kept" in row["way"])
    assert found[dt.KeptChange] == pytest.approx(told, rel=0.2)


def test_other_questions_and_wrong_ones() -> None:
    assert isinstance(dt.over_time(dt.PM(dt.Interval(0, 10), epsilon=1), days=30).best, dt.Once)
    assert dt.over_time(dt.SW(dt.Interval(0, 10), epsilon=1), days=30, changes=2)[0]["way"].startswith("one")
    tiny = dt.over_time(dt.KRR(dt.Categories(range(2)), epsilon=1e-5), days=365)
    assert not [row for row in tiny if "divided" in row["way"]]
    for wrong in ({"days": 0}, {"days": 3, "changes": -1}, {"days": 3, "changes": 1.5}, {"days": 3, "n": 0}):
        with pytest.raises(InvalidParameter):
            dt.over_time(SMOKES, **wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="mechanism"):
        dt.over_time("smokes", days=3)  # type: ignore[arg-type]
