"""The same question, the same person: nothing is free but what was charged, and a person counts once."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.collection.account import ClockReading
from dither.collection.account.inquiry import Repeat
from dither.errors import AccountUnusable, InvalidParameter, Refused
from dither.foundation.canonical import canonical
from dither.privacy.guarantee import PUBLIC_LENGTH, UNCHANGED
from dither_device.state import State
from tests.collection.account import events as written
from tests.collection.account.devices import DAY, NOON, SetClock, make, number
from tests.collection.account.vectors import happen

AREA = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
START = datetime.date(2024, 10, 4)  # the day of SetClock
ALL = (PUBLIC_LENGTH, UNCHANGED, "the device's key stays on the device")
SAME, PER_VALUE, ONCE = "same", "per value", "once"


def home(repeat: Repeat = PER_VALUE, epsilon: float = 0.5, **more: Any) -> dt.Inquiry:
    """Return a question whose reports have a seed of 47 bits: two draws are never equal by chance."""
    return dt.Inquiry("home", dt.OLH(dt.Categories(1000), epsilon=epsilon), repeat=repeat, **more)


# --- nothing is free but what was charged


def trip(times: int, repeat: Repeat) -> dt.Inquiry:
    return dt.Inquiry("trip", dt.TraCSD(AREA, epsilon=1), times=times, repeat=repeat)


@pytest.mark.parametrize("repeat", [SAME, PER_VALUE])
def test_a_longer_path_is_not_the_answer_that_was_charged(tmp_path: Path, repeat: Repeat) -> None:
    account = make(tmp_path, epsilon=1.5, policy=dt.privacy.Policy(epsilon=100, assumptions=ALL))
    account.answer(trip(1, repeat), [(0.1, 0.2)])
    with pytest.raises(Refused) as refused:
        account.answer(trip(50, repeat), [(0.1, 0.2)] * 50)
    assert refused.value.reason == "changed"
    assert account.dry_run(trip(50, repeat)).reason == "changed"
    assert account.left.epsilon == 0.5


def test_other_data_are_not_the_answer_that_was_charged(tmp_path: Path) -> None:
    clock = SetClock()
    account = make(tmp_path, clock, epoch="day", policy=dt.privacy.Policy(assumptions=ALL))
    clock.pass_(3 * DAY)
    noon = datetime.datetime(2024, 10, 5, 12, tzinfo=datetime.UTC)
    spans = [
        (noon + datetime.timedelta(days=day), noon + datetime.timedelta(days=day, hours=1)) for day in (0, 1)
    ]
    account.answer(home(data=spans[0]), 1)
    account.answer(home(data=spans[0]), 2)
    for other in (home(data=spans[1]), home()):
        with pytest.raises(Refused) as refused:
            account.answer(other, 2)
        assert refused.value.reason == "changed"


def test_an_identity_belongs_only_to_the_answer_that_was_charged(tmp_path: Path) -> None:
    account = make(tmp_path, epsilon=4, policy=dt.privacy.Policy(epsilon=100, assumptions=ALL))
    account.answer(trip(2, "fresh"), [(0.1, 0.2)] * 2, identity="1" * 32)
    with pytest.raises(Refused) as refused:
        account.answer(trip(3, "fresh"), [(0.1, 0.2)] * 3, identity="1" * 32)
    assert refused.value.reason == "id"


def test_an_export_with_answers_but_no_entry_hands_out_nothing(tmp_path: Path) -> None:
    giver = make(tmp_path, name="giver.account", policy=dt.privacy.Policy(assumptions=ALL))
    for repeat in (SAME, PER_VALUE):
        giver.answer(home(repeat), 3)
    told = giver.wire()
    for number_, change in enumerate(
        (
            {"entries": []},
            {"entries": [{**one, "epsilon": "1"} for one in told["entries"]]},
            {"answers": [{**one, "report": None} for one in told["answers"]]},
        )
    ):
        fresh = make(tmp_path, name=f"taker {number_}.account", policy=dt.privacy.Policy(assumptions=ALL))
        state = fresh.wire()
        export = {name: state[name] for name in ("account", "person", "limits")} | {
            "device": told["device"], "choices": [], "entries": told["entries"], "answers": told["answers"],
            **change,
        }  # fmt: skip
        fresh.merge(canonical(export))
        asked = [home(SAME)] if "answers" in change else [home(SAME), home(PER_VALUE)]
        for one in asked:
            with pytest.raises(Refused) as refused:
                fresh.answer(one, 3)
            assert refused.value.reason == "changed"
        assert fresh.queue == ()


def test_a_shifted_start_is_another_period_and_charged(tmp_path: Path) -> None:
    change = dt.KeptChange(dt.KRR(dt.Categories(["no", "yes"]), epsilon=0.25), days=9)
    told = 0
    for number_ in range(20):
        clock = SetClock()
        with make(tmp_path, clock, name=f"{number_}.account") as account:
            asked = dt.Inquiry.kept_change("smokes", change, start=START)
            clock.pass_(2 * DAY)
            periods = account.answer(asked, ["no"] * 3) is not None
            clock.pass_(15 * DAY)
            shifted = dt.Inquiry.kept_change("smokes", change, start=START + datetime.timedelta(days=9))
            both = account.answer(shifted, ["no", "yes"] + ["no"] * 7) is not None
            told += both
            assert account.ledger.spent.epsilon == pytest.approx(0.25 * (periods + both))
    assert told > 5


def test_what_an_answer_assumes_is_in_the_promise(tmp_path: Path) -> None:
    account = make(tmp_path, policy=dt.privacy.Policy(assumptions=ALL))
    assert account.guarantee.if_changing == account.guarantee.bound
    account.answer(home(), 3)
    assert UNCHANGED in account.guarantee.assumes
    assert isinstance(account.guarantee.if_changing, dt.privacy.Nothing)
    assert UNCHANGED in account.promise


def test_what_a_kind_of_answer_assumes_is_asked_whatever_the_question_says() -> None:
    state = State(written.opened(2))
    policy = {"epsilon": 1, "delta": 0, "assumptions": [UNCHANGED], "mechanisms": None}
    asked = written.question("home", 0.5, repeat="per value", assumes=[])
    assert happen(state, written.answer(1, asked), policy) == "policy"
    assert happen(state, written.answer(1, asked), {**policy, "assumptions": list(ALL)}) == "drawn"
    path = written.question("trip", 0.5, times=2)
    assert happen(state, written.answer(2, path), policy) == "policy"


def test_by_default_an_answer_may_have_an_epsilon_of_one_and_assume_nothing(tmp_path: Path) -> None:
    account = make(tmp_path, epsilon=50, delta=1e-3)
    assert (
        account.policy
        == dt.privacy.Policy()
        == dt.privacy.Policy(epsilon=1.0, delta=0.0, assumptions=(), mechanisms=None)
    )
    account.answer(number(epsilon=1), 1)
    gaussian = dt.Inquiry("weight", dt.Gaussian(dt.Interval(0, 1), epsilon=0.5, delta=1e-6))
    for refused in (number(epsilon=1.0001), gaussian, home()):
        assert account.dry_run(refused).reason == "policy"


# --- clocks


def test_a_day_of_the_steady_clock_is_credited_once(tmp_path: Path) -> None:
    """A steady day is credited once, however often an old reading comes between."""
    clock = SetClock()
    account = make(tmp_path, clock, epoch="day")
    account.answer(number(epsilon=1, repeat=SAME), 1)
    answered = 0
    for _ in range(30):
        clock.wall, clock.elapsed = clock.wall + DAY, 100 + DAY
        try:
            account.answer(number(epsilon=1), 1)
            answered += 1
            clock.elapsed = 100
            account.answer(number(epsilon=1, repeat=SAME), 1)  # free, and the reading is kept
        except Refused:
            continue
    assert answered == 2  # one day is proved, and one may be ahead


def test_the_clocks_are_read_while_the_file_is_held(tmp_path: Path) -> None:
    """A reading that was made before another process's would be stale when it is used."""
    seen: list[bool] = []

    def now() -> ClockReading:
        seen.append(bool(accounts) and accounts[0]._store._connection.in_transaction)
        return ClockReading(NOON, "first", 0)

    accounts: list[dt.Account] = []
    accounts.append(dt.Account.create(tmp_path / "me.account", epsilon=1, now=now))
    seen.clear()
    accounts[0].answer(number(), 1)
    accounts[0].dry_run(number())
    accounts[0].act()
    _ = accounts[0].left
    assert seen == [True] * 4


# --- a person counts once


def sent(account: dt.Account) -> int:
    """Acknowledge all that waits, and return how many reports that was."""
    found = 0
    while (batch := account.batch()) is not None:
        marks = [one.fingerprint for one in batch.reports]
        assert len(marks) == len(set(marks))  # at most one to a question
        found += account.acknowledge(batch.id)
    return found


def test_the_same_answer_is_queued_once_ever(tmp_path: Path) -> None:
    account = make(tmp_path)
    first = account.answer(home(SAME), 7)
    assert [account.answer(home(SAME), value) for value in (7, 8)] == [first, first]
    assert len(account.queue) == 1
    assert sent(account) == 1
    assert account.answer(home(SAME), 7) == first
    assert account.queue == ()
    assert "nothing" in str(account.dry_run(home(SAME)))


def test_an_answer_per_value_is_queued_once_for_each_value(tmp_path: Path) -> None:
    policy = dt.privacy.Policy(assumptions=ALL)
    account = make(tmp_path, policy=policy)
    reports = [account.answer(home(), value) for value in (7, 8, 7, 8, 7)]
    assert reports[0] == reports[2] == reports[4]
    assert reports[1] == reports[3] != reports[0]
    assert len(account.queue) == 2
    account.close()
    account = dt.Account.open(tmp_path / "me.account", policy=policy, now=SetClock())
    assert sent(account) == 2
    account.answer(home(), 7)
    assert account.queue == ()
    account.answer(home(), 9)
    assert len(account.queue) == 1
    laptop = dt.Account.join(tmp_path / "2.account", account.split("1/2"), policy=policy, now=SetClock())
    assert laptop.answer(home(), 7) == reports[0]
    laptop.answer(home(), 10)
    assert laptop.queue == ()  # the device that was charged tells


def test_values_are_equal_if_they_are_clipped_to_one(tmp_path: Path) -> None:
    policy = dt.privacy.Policy(assumptions=ALL)
    account = make(tmp_path, policy=policy)
    asked = dt.Inquiry("age", dt.PM(dt.Interval(0, 1), epsilon=0.5), repeat=PER_VALUE)
    assert len({account.answer(asked, value).cells.tobytes() for value in range(1, 100)}) == 1  # type: ignore[union-attr]
    assert len(account.queue) == 1


def test_stored_marks_of_values_are_useless_without_the_key(tmp_path: Path) -> None:
    marks = []
    for name in ("one", "two"):
        account = make(tmp_path, name=name, policy=dt.privacy.Policy(assumptions=ALL))
        account.answer(home(), 7)
        marks += account.wire()["told"]
        assert "told" not in account.export()
    assert len(set(marks)) == 2
    assert all(len(mark) == 32 for mark in marks)


def test_a_batch_has_one_report_to_a_question(tmp_path: Path) -> None:
    account = make(tmp_path)
    for _ in range(4):
        account.answer(number(epsilon=0.1), 1)
    account.answer(home("fresh", 0.1), 1)
    batch = account.batch()
    assert batch is not None
    assert [one.question for one in batch.reports] == ["age", "home"]
    assert sent(account) == 5
    trip_ = dt.Inquiry("trip", dt.TraCSD(AREA, epsilon=0.01), times=24)
    account.policy = dt.privacy.Policy(assumptions=ALL)
    account.answer(trip_, [(0.5, 0.5)] * 24)
    assert sent(account) == 1


def test_a_device_that_was_offline_sends_all_periods(tmp_path: Path) -> None:
    clock = SetClock()
    account = make(tmp_path, clock, epsilon=4)
    asked = number(repeat=ONCE, days=1)
    for _ in range(4):
        for _ in range(3):
            account.answer(asked, 1)
        clock.pass_(DAY)
    assert len(account.queue) == 4
    assert sent(account) == 4


# --- keys, values and files


def test_keys_of_other_lengths_are_refused(tmp_path: Path) -> None:
    """HMAC pads a key with zeros: k and k followed by zeros would be one key under two names."""
    key = dt.Memoised.new_key()
    for wrong in (key + bytes(1), key + bytes(32), key[:31]):
        with pytest.raises(InvalidParameter, match="32 secret bytes"):
            make(tmp_path, name=f"{len(wrong)}", key=wrong)
        with pytest.raises(InvalidParameter, match="32 secret bytes"):
            dt.Memoised(dt.KRR(dt.Categories(2), epsilon=1), wrong, name="x")
        assert not (tmp_path / f"{len(wrong)}").exists()
    assert make(tmp_path, key=key).wire()["entries"] == []


def test_attributes_cannot_be_nested() -> None:
    inner = dt.Each(age=dt.PM(dt.Interval(0, 1), epsilon=1))
    for outer in (dt.Each, dt.Sampled):
        with pytest.raises(InvalidParameter, match="several attributes"):
            outer(inner=inner)


class Failing:
    """A value whose own methods fail."""

    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    def __iter__(self) -> Iterator[object]:
        raise self.error

    def __float__(self) -> float:
        raise self.error

    def __eq__(self, other: object) -> bool:
        raise self.error

    def __hash__(self) -> int:
        raise self.error

    def __array__(self, *args: Any, **more: Any) -> np.ndarray:
        raise self.error


@pytest.mark.parametrize("error", [RuntimeError, MemoryError, KeyboardInterrupt])
def test_a_value_that_fails_does_not_make_the_account_draw_again(
    tmp_path: Path, error: type[BaseException]
) -> None:
    asked = number(repeat=ONCE, days=1, otherwise=1)
    account = make(tmp_path)
    with pytest.raises(error):
        account.answer(asked, Failing(error))
    assert len(account.wire()["choices"]) == 1
    assert account.wire()["entries"] == []


@pytest.mark.skipif(os.name != "posix", reason="no hard links here")
def test_a_file_with_two_names_is_refused(tmp_path: Path) -> None:
    """SQLite finds the journal of an interrupted transaction by the name of the file."""
    account = make(tmp_path)
    os.link(tmp_path / "me.account", tmp_path / "second")
    for use in (lambda: account.answer(number(), 1), lambda: dt.Account.open(tmp_path / "second")):
        with pytest.raises(AccountUnusable, match="another name"):
            use()
    (tmp_path / "second").unlink()
    account.answer(number(), 1)
