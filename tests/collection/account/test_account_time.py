"""Invariants 4 to 6 of an account: clocks, epochs, a lifetime."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

import dither as dt
from dither.errors import Refused
from dither_device.state import EPSILON, State, limit
from tests.collection.account import events as written
from tests.collection.account.devices import DAY, NOON, SetClock, make, number
from tests.collection.account.vectors import happen

FIRST, SECOND, THIRD = "1" * 32, "2" * 32, "3" * 32


# --- 4. clocks


def test_4_a_clock_that_steps_back_or_far_ahead_refills_nothing(tmp_path: Path) -> None:
    clock = SetClock()
    account = make(tmp_path, clock, epoch="day")
    clock.pass_(3 * DAY)
    account.answer(number(epsilon=1), 1)
    clock.jump(-2 * DAY)  # a day with nothing spent
    with pytest.raises(Refused, match="budget: ε = 0 of 1 left for 2024-10-07"):
        account.answer(number(epsilon=0.5), 1)
    clock.jump(2 * DAY + 30 * DAY)
    with pytest.raises(Refused, match="days ahead of what is proved") as refusal:
        account.answer(number(epsilon=0.5), 1)
    assert refusal.value.reason == "clock"
    clock.restart()
    with pytest.raises(Refused, match="days ahead of what is proved"):
        account.answer(number(epsilon=0.5), 1)
    account.act()  # the person says that the date is right
    account.answer(number(epsilon=0.5), 1)


@pytest.mark.parametrize("style", ["wild", "creeping", "several starts"])
def test_4_refills_are_bounded_by_the_time_that_really_passed(style: str) -> None:
    """Whatever the clock shows, what is charged is an epoch for each day that really passed, and one more."""
    jumps = {"wild": [0, 0, 5 * DAY, -3 * DAY, 400 * DAY], "creeping": [0, DAY, DAY // 2]}.get(
        style, [0, DAY]
    )
    for seed in range(30):
        draw = random.Random(seed)
        state = State(written.opened(1, "day"))
        wall, passed, starts = NOON, 0, {"first": 100}
        if style == "several starts":  # such as two tabs of a browser, opened at different times
            starts["second"] = 10**7
        happen(state, written.answer(99, written.question()))
        for step in range(60):
            real = draw.choice([0, 60, 60, DAY // 2])
            passed += real
            wall += real + draw.choice(jumps)
            boot = draw.choice(list(starts))
            if style == "wild" and draw.random() < 0.1:
                starts = {f"{step}": -passed}
                boot = f"{step}"
            at = {"wall": max(wall, 0), "boot": boot, "elapsed": starts[boot] + passed}
            happen(state, written.answer(step, written.question(), at))
        charged = [entry["first"] for entry in state.wire()["entries"]]
        assert len(charged) == len(set(charged))  # one full answer for each epoch, never two
        assert len(charged) <= 1 + (passed + DAY + DAY // 2) // DAY  # it was opened at noon


# --- 5. epochs


def _touched(since: int, until: int, kind: str) -> set[object]:
    """Return the epochs that contain a second of a span, found one by one from the calendar."""
    import datetime

    names = {
        "day": lambda moment: moment.date(),
        "week": lambda moment: moment.isocalendar()[:2],
        "year": lambda moment: moment.year,
    }
    moments = [*range(since, until, 3600), until - 1]
    return {names[kind](datetime.datetime.fromtimestamp(second, datetime.UTC)) for second in moments}


@pytest.mark.parametrize("kind", ["day", "week", "year"])
def test_5_every_epoch_is_charged_that_the_data_touch_and_epochs_are_half_open(kind: str) -> None:
    draw = random.Random(5)
    state = State(written.opened(1, kind))
    happen(state, written.act(written.at(800 * DAY)))
    budget = Fraction(limit(1.0, EPSILON), 1 << EPSILON)
    spent: Counter = Counter()
    drawn = refused = 0
    for step in range(250):
        midnight = NOON + DAY // 2
        since = midnight + draw.randrange(0, 700) * DAY + draw.choice([0, -1, 1, 7000])
        until = since + draw.choice([1, 2, DAY, DAY + 1, 7 * DAY, 40 * DAY, 366 * DAY])
        epsilon = draw.choice([0.1, 0.25, 0.3])
        event = written.answer(
            step, written.question("q", epsilon, data=[since, until]), written.at(1200 * DAY, 800 * DAY)
        )
        epochs = _touched(since, until, kind)
        fits = all(spent[epoch] + Fraction(epsilon) <= budget for epoch in epochs)
        outcome = happen(state, event)
        if outcome == "clock":
            happen(state, written.act(written.at(1200 * DAY, 800 * DAY)))
            outcome = happen(state, event)
        if outcome == "data":
            assert len(epochs) > 366
            continue
        assert outcome == ("drawn" if fits else "budget")
        drawn, refused = drawn + fits, refused + (not fits)
        if fits:
            spent.update({epoch: Fraction(epsilon) for epoch in epochs})
    assert drawn > 5
    assert refused > 20


def test_5_a_window_across_a_boundary_gets_no_double_budget(tmp_path: Path) -> None:
    import datetime

    clock = SetClock()
    account = make(tmp_path, clock, epoch="day")
    clock.pass_(2 * DAY)
    midnight = datetime.datetime(2024, 10, 6, tzinfo=datetime.UTC)
    hour = datetime.timedelta(hours=1)
    account.answer(number(epsilon=0.75, data=(midnight - hour, midnight + hour)), 1)
    for span in ((midnight - 3 * hour, midnight), (midnight, midnight + 3 * hour)):
        with pytest.raises(Refused, match="exceeds the remaining"):
            account.answer(number(epsilon=0.5, data=span), 1)
    account.answer(number(epsilon=1, data=(midnight - 26 * hour, midnight - 24 * hour)), 1)


# --- 6. a lifetime cap, or "per epoch"


def test_6_a_lifetime_cap_holds_over_all_epochs(tmp_path: Path) -> None:
    clock = SetClock()
    account = make(tmp_path, clock, epoch="day", lifetime=1.75)
    for _ in range(3):
        account.answer(number(epsilon=0.5), 1)
        clock.pass_(DAY)
    with pytest.raises(Refused) as refusal:
        account.answer(number(epsilon=0.5), 1)
    assert refusal.value.reason == "lifetime"
    assert str(account.left) == "ε = 1 of 1 left for 2024-10-07; ε = 0.25 of 1.75 left for all time"
    assert account.guarantee.epsilon == pytest.approx(1.75, abs=1e-15)
    assert "at most ε ≤ 1.75 in all time" in account.promise


def test_6_a_promise_is_rounded_up_and_the_remaining_budget_down(tmp_path: Path) -> None:
    account = make(tmp_path, epsilon=2 / 3, delta=1e-6)
    assert (
        account.promise == "All askers together learn at most (ε, δ) ≤ (0.666667, 1e-06) about this person."
    )
    assert account.left.epsilon == 0.666666
    assert account.guarantee.epsilon >= 2 / 3


def test_6_without_a_cap_the_promise_says_per_epoch(tmp_path: Path) -> None:
    account = make(tmp_path, epoch="week")
    assert isinstance(account.guarantee.bound, dt.privacy.Nothing)
    assert "per week" in account.promise
    assert "per week" in str(account.guarantee)
