"""A budget for shuffled reports: the ε of devices that keeps it, and mechanisms chosen for it."""

from __future__ import annotations

import pytest

import dither as dt
from dither.errors import Infeasible, InvalidParameter
from dither.mechanisms.shuffled import epsilon_on_device

AGES = dt.Interval(18, 100)


@pytest.mark.some(every=2)
@pytest.mark.parametrize(
    ("central", "n", "known"),
    [(0.0432062, 10_000, 1.0), (0.00951723, 10**6, 2.0), (0.00276833, 10**8, 4.0), (0.397087, 1_000, 2.0)],
)
def test_the_device_s_budget_is_the_inverse_of_shuffling(central: float, n: int, known: float) -> None:
    """The known pairs were computed independently, at δ = 10⁻⁶."""
    device = epsilon_on_device(central, n=n, delta=1e-6)
    assert device == pytest.approx(known, rel=2e-3)
    assert dt.shuffled(device, n=n, delta=1e-6).epsilon <= central
    assert dt.shuffled(device * 1.002, n=n, delta=1e-6).epsilon > central


def test_shuffling_never_makes_a_device_s_budget_smaller() -> None:
    assert epsilon_on_device(2.0, n=3, delta=1e-6) >= 2.0
    assert epsilon_on_device(50.0, n=10**6, delta=1e-6) == 50.0


@pytest.mark.slow
def test_a_design_that_ends_at_some_budget_is_not_asked_beyond() -> None:
    """Lists of at most 8 of 50 categories end where a set would have a single one."""
    lists = dt.SubsetSelection(dt.Categories(range(50)), epsilon=2, report="indices")
    device = epsilon_on_device(0.07, n=100_000, delta=1e-6, design=lists)
    assert dt.shuffled(lists.at(device), n=100_000, delta=1e-6).epsilon <= 0.07
    with pytest.raises(InvalidParameter):
        lists.at(device * 1.01)


@pytest.mark.slow
def test_mechanisms_are_recommended_for_a_shuffled_budget() -> None:
    goal = dt.goals.Frequencies(n=100_000)
    crowd = dt.recommend(dt.Categories(range(3)), goal, epsilon=0.05, shuffled=100_000)
    alone = dt.recommend(dt.Categories(range(3)), goal, epsilon=0.05)
    assert crowd.best.epsilon > 2.0
    assert "among 100000 shuffled reports" in crowd.title
    assert crowd[0]["error"] < alone[0]["error"] / 20
    every = epsilon_on_device(0.05, n=100_000, delta=1e-6)
    for mechanism in crowd.mechanisms:
        assert 0.049 < dt.shuffled(mechanism, n=100_000, delta=1e-6).epsilon <= 0.05
        assert mechanism.epsilon >= every
    assert crowd.best.epsilon > 1.02 * every
    tighter = dt.recommend(dt.Categories(range(3)), goal, epsilon=0.05, shuffled=100_000, delta=1e-9)
    assert tighter.best.epsilon < crowd.best.epsilon


@pytest.mark.slow
def test_the_budget_for_a_target_and_the_target_at_that_budget_agree() -> None:
    goal, target = dt.goals.Frequencies(n=10_000), 0.02
    browsers = dt.Categories(["firefox", "chrome", "other"])
    device = dt.epsilon_for(browsers, goal, target, sampling=False)
    central = dt.epsilon_for(browsers, goal, target, sampling=False, shuffled=10_000)
    assert central < dt.shuffled(device, n=10_000, delta=1e-6).epsilon < device / 5
    assert dt.recommend(browsers, goal, epsilon=central, shuffled=10_000)[0]["error"] == pytest.approx(
        target, rel=1e-3
    )


@pytest.mark.slow
def test_what_cannot_be_shuffled_is_refused() -> None:
    for wrong in ({"shuffled": 1}, {"shuffled": 10.5}, {"shuffled": 100, "delta": 0.0}):
        with pytest.raises(InvalidParameter):
            dt.recommend(AGES, dt.goals.Mean(n=100), epsilon=1, **wrong)
        with pytest.raises(InvalidParameter):
            dt.epsilon_for(AGES, dt.goals.Mean(n=100), 5.0, **wrong)
    with pytest.raises(Infeasible, match="leave shuffled= out"):
        dt.recommend(dt.Disk(1.0), dt.goals.Locations(length=3), epsilon=1, shuffled=1_000)


@pytest.mark.slow
def test_places_that_a_person_tells_once_can_be_shuffled() -> None:
    city = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
    best = dt.recommend(city, dt.goals.Locations(), epsilon=0.5, shuffled=1_000).best
    assert best.epsilon > 1.5
    assert dt.shuffled(best, n=1_000, delta=1e-6).epsilon <= 0.5
