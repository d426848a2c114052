"""The account as a program uses it: files, questions, permanent answers, drawn days, words."""

from __future__ import annotations

import datetime
import os
import sqlite3
import stat
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.collection.account.budget import check_limit, show_amount
from dither.errors import AccountUnusable, InvalidParameter, Refused
from dither_device.state import DELTA, EPSILON, charge, limit
from tests.collection.account.devices import DAY, SetClock, label, make, number

FIRST = "1" * 32


def test_the_file_belongs_to_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        account = make(tmp_path)
        account.answer(number(), 1)
    finally:
        os.umask(before)
    path = tmp_path / "me.account"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["me.account"]
    for mode in (0o640, 0o604, 0o620):
        path.chmod(mode)
        with pytest.raises(AccountUnusable, match="chmod 600"):
            account.answer(number(), 1)
        with pytest.raises(AccountUnusable, match="chmod 600"):
            dt.Account.open(path)


def test_the_file_holds_no_value_and_acknowledged_reports_are_overwritten(tmp_path: Path) -> None:
    secret = "Hodgkin lymphoma"
    domain = dt.Categories([secret, *(f"category {place}" for place in range(5000))])
    account = make(tmp_path, epsilon=4)
    path = tmp_path / "me.account"
    account.answer(dt.Inquiry("illness", dt.OUE(domain, epsilon=1)), secret)
    account.answer(dt.Inquiry("salary", dt.Podium(dt.Interval(0, 1e6), epsilon=1)), 73_912.25)
    account.answer(dt.Inquiry("illness", dt.KRR(domain, epsilon=1), repeat="same"), secret)
    whole = path.read_bytes()
    for trace in (
        secret.encode(),
        b"73912",
        np.float64(73_912.25).tobytes(),
        np.float64(73_912.25).tobytes()[::-1],
    ):
        assert trace not in whole
    large = account.queue[0]
    assert large.data[:200] in whole
    account.acknowledge(large.id)
    after = path.read_bytes()
    assert all(large.data[place : place + 40] not in after for place in range(0, 600, 40))


def test_a_dry_run_changes_no_byte(tmp_path: Path) -> None:
    account = make(tmp_path)
    path = tmp_path / "me.account"
    before = path.read_bytes()
    previews = [account.dry_run(question) for question in (number(), number(epsilon=3), label(epsilon=0.25))]
    assert [one.outcome for one in previews] == ["drawn", "refused", "drawn"]
    assert [one.reason for one in previews] == [None, "policy", None]
    assert previews[0].charged == 0.5
    assert path.read_bytes() == before


def test_the_remaining_budget_has_no_rounding_errors(tmp_path: Path) -> None:
    account = make(tmp_path)
    told = []
    for step in range(10):
        account.answer(number(f"q {step}", 0.1), 1)
        told.append(account.left.epsilon)
    assert told == [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0]
    assert str(account.left) == "ε = 0 of 1 left for all time"
    with pytest.raises(Refused, match=r"\(ε = 1e-06\) exceeds the remaining budget: ε = 0 of 1 left"):
        account.answer(number(epsilon=1e-6), 1)


@pytest.mark.parametrize(
    ("number", "text"),
    [(1 / 3, "0.333333"), (2 / 3, "0.666666"), (0.1 + 0.2, "0.3"), (1e-6, "1e-06"), (12.5, "12.5")],
)  # fmt: skip
def test_shown_numbers_are_rounded_down(number: float, text: str) -> None:
    assert show_amount(charge(number, EPSILON), EPSILON) == text


def test_units_are_exact() -> None:
    assert charge(0.1, EPSILON) == int(0.1 * 2**64)  # a double from 2^−11 on is a whole number of units
    assert charge(2.0**-70, EPSILON) == 1
    assert charge(1e-9, DELTA) * 2.0**-128 == 1e-9
    assert limit(0.0, EPSILON) == 0
    assert limit(1.0, EPSILON) == 2**64 + 2**12 + 1
    for bad in (-1.0, float("nan"), float("inf"), True, "1", 1e9):
        with pytest.raises(InvalidParameter, match="expected a budget to be a number"):
            check_limit(bad, EPSILON)  # type: ignore[arg-type]


def test_an_answer_per_value_is_that_of_memoised(tmp_path: Path) -> None:
    key = dt.Memoised.new_key()
    mechanism = dt.OLH(dt.Categories(1000), epsilon=0.5)
    asked = dt.Inquiry("home", mechanism, asker="city", repeat="per value")
    policy = dt.privacy.Policy(assumptions=asked.guarantee.assumes)
    account = make(tmp_path, key=key, policy=policy)
    reports = [account.answer(asked, value) for value in (7, 8, 7)]
    memoised = dt.Memoised(mechanism, key, name="4 city home")
    assert reports == [memoised.perturb([value]) for value in (7, 8, 7)]
    assert account.left.epsilon == 0.5
    assert asked.guarantee == memoised.guarantee
    assert key not in (tmp_path / "me.account").read_bytes()
    with pytest.raises(AccountUnusable, match="another account's key"):
        dt.Account.open(tmp_path / "me.account", key=bytes(32))
    without = dt.Account.open(tmp_path / "me.account", policy=policy, now=SetClock())
    with pytest.raises(InvalidParameter, match="key"):
        without.answer(asked, 7)
    with pytest.raises(Refused, match="assumes"):  # by default nothing may be assumed
        dt.Account.open(tmp_path / "me.account").answer(asked, 7)


def test_the_same_answer_is_given_whatever_the_value_becomes(tmp_path: Path) -> None:
    clock = SetClock()
    account = make(tmp_path, clock, epoch="day")
    asked = dt.Inquiry("home", dt.OLH(dt.Categories(1000), epsilon=1), repeat="same")
    first = account.answer(asked, 7)
    clock.pass_(DAY)
    assert [account.answer(asked, value) for value in (7, 8, 9)] == [first] * 3
    assert len(account.wire()["entries"]) == 1
    assert len(account.queue) == 1


def test_an_answer_per_value_never_makes_the_other_kinds_free(tmp_path: Path) -> None:
    mechanism = dt.OLH(dt.Categories(1000), epsilon=0.25)
    kinds = ("per value", "same", "fresh")
    asked = {kind: dt.Inquiry("home", mechanism, repeat=kind) for kind in kinds}
    account = make(tmp_path, policy=dt.privacy.Policy(assumptions=asked["per value"].guarantee.assumes))
    account.answer(asked["per value"], 7)
    same = [account.answer(asked["same"], 7) for _ in range(3)]
    assert same[0] == same[1] == same[2]
    assert account.left.epsilon == 0.5
    account.answer(asked["fresh"], 7)
    assert account.left.epsilon == 0.25


def test_an_account_refuses_to_be_used_in_the_middle_of_an_answer(tmp_path: Path, monkeypatch) -> None:
    account = make(tmp_path)
    original = dt.Inquiry.draw

    def draw(self: dt.Inquiry, *args: object) -> dt.Reports:
        with pytest.raises(AccountUnusable, match="this very thread"):
            account.answer(number("other"), 1)
        return original(self, *args)

    monkeypatch.setattr(dt.Inquiry, "draw", draw)
    account.answer(number(), 1)
    assert [entry["question"] for entry in account.wire()["entries"]] == ["age"]


def test_a_drawn_day_survives_a_restart(tmp_path: Path) -> None:
    asked = number(epsilon=0.5, repeat="once", days=7, start=datetime.date(2024, 10, 4))
    answered: Counter[int] = Counter()
    clock = SetClock()
    make(tmp_path, clock, epoch="year").close()
    for day in range(14):
        for _ in range(2):
            with dt.Account.open(tmp_path / "me.account", now=clock) as account:
                answered[day // 7] += account.answer(asked, 1) is not None
                assert len(account.wire()["choices"]) == day // 7 + 1
        clock.pass_(DAY)
    assert answered == {0: 1, 1: 1}


def test_the_drawn_day_is_uniform() -> None:
    from dither_device.rules import Policy, decide
    from dither_device.state import State
    from tests.collection.account import events
    from tests.support.chi_square import ALARM, p_of_counts

    asked = events.question("mood", 0.1, repeat="once", days=7, start=0)
    days: Counter[int] = Counter()
    state, policy, source = State(events.opened(1)), Policy(), dt.Seeded(7)
    for _ in range(1400):  # a decision changes nothing
        decision = decide(state, events.answer(1, asked), policy, source.take)
        days[decision.effect["choices"][0]["day"] - 19_999] += 1
    assert p_of_counts([days[day] for day in range(7)], [200] * 7) > ALARM
    twin = Counter(
        dt.Seeded(seed).bits(3) % 7 for seed in range(1400)
    )  # the first day is drawn twice as often
    assert p_of_counts([twin[day] for day in range(7)], [200] * 7) < ALARM


def test_a_path_is_charged_by_its_locations(tmp_path: Path) -> None:
    area = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
    trip = dt.Inquiry("trip", dt.TraCSD(area, epsilon=0.25), times=3)
    account = make(tmp_path, policy=dt.privacy.Policy(assumptions=trip.guarantee.assumes))
    report = account.answer(trip, [(0.1, 0.1), (0.2, 2.0), (0.3, 0.3)], identity=FIRST)
    assert report is not None
    assert len(report.values) == 3
    assert account.left.epsilon == 0.25
    assert account.answer(trip, [(0, 0), (0, 0), (0, 0)], identity=FIRST) == report
    with pytest.raises(InvalidParameter, match="a path of 3 locations"):
        account.dry_run(trip) and account.answer(
            dt.Inquiry("t", dt.TraCSD(area, epsilon=0.01), times=3), [(0, 0)]
        )


def test_reports_of_the_queue_are_those_that_were_returned(tmp_path: Path) -> None:
    account = make(tmp_path, epsilon=4)
    for mechanism, value in (
        (dt.Podium(dt.Interval(0, 1), epsilon=0.5), 0.3),
        (dt.OUE(dt.Categories(20), epsilon=0.5), 3),
        (dt.OLH(dt.Categories(20), epsilon=0.5), 3),
        (dt.Laplace(dt.Interval(0, 1), epsilon=0.5), 0.3),
    ):
        asked = dt.Inquiry(type(mechanism).__name__, mechanism)
        report = account.answer(asked, value)
        assert report == asked.from_bytes(account.queue[-1].data)
        assert len(account.queue[-1].data) == mechanism.report_bytes


def test_every_instance_sees_what_the_others_did(tmp_path: Path) -> None:
    first = make(tmp_path, epsilon=2)
    second = dt.Account.open(tmp_path / "me.account", now=SetClock())
    for step, account in enumerate((first, second, second, first)):
        account.answer(number(f"q {step}"), 1)
    assert first.wire() == second.wire()
    second.acknowledge(first.queue[0].id)
    assert len(first.queue) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_opens_the_file_anew(tmp_path: Path) -> None:
    code = """
import os, sys, dither as dt
account = dt.Account.create(sys.argv[1], epsilon=1)
question = dt.Inquiry("age", dt.KRR(dt.Categories(4), epsilon=0.25))
account.answer(question, 1)
child = os.fork()
account.answer(question, 1)
if not child:
    account.answer(question, 1)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(len(account.queue), account.left)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a")], capture_output=True, text=True, check=True
    )
    assert done.stdout == "4 ε = 0 of 1 left for all time\n"


def test_the_file_stays_locked_while_it_is_read_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening and closing the file beside SQLite would drop the locks that POSIX gives to a process."""
    make(tmp_path).close()
    path = tmp_path / "me.account"
    program = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('BEGIN IMMEDIATE')"
    command = [sys.executable, "-c", program, str(path)]
    original, refused = dt.Inquiry.draw, []

    def draw(self: dt.Inquiry, *args: Any) -> dt.Reports:
        refused.append(subprocess.run(command, capture_output=True, text=True, check=False).stderr)
        return original(self, *args)

    with dt.Account.open(path, now=SetClock()) as account:
        with dt.Account.open(path, now=SetClock()) as other:
            other.answer(number("sex", epsilon=0.25), 1)  # so that everything is read again
        monkeypatch.setattr(dt.Inquiry, "draw", draw)
        account.answer(number("age", epsilon=0.25), 1)
    assert len(refused) == 1
    assert "database is locked" in refused[0]
    assert subprocess.run(command, capture_output=True, text=True, check=False).returncode == 0


def test_a_file_that_another_process_holds_is_waited_for_then_refused(tmp_path: Path) -> None:
    make(tmp_path).close()
    other = dt.Account.open(tmp_path / "me.account", wait=0.05, now=SetClock())
    with closing(sqlite3.connect(tmp_path / "me.account", isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(AccountUnusable, match="in use by another process"):
            other.answer(number(), 1)
        holder.execute("ROLLBACK")
    other.answer(number(), 1)


BAD = {
    "a name": {"name": ""},
    "printable": {"name": "a\nb"},
    "asker": {"asker": "x" * 201},
    "no repeat": {"repeat": "sometimes"},
    "expected days from 1": {"repeat": "once"},
    'if and only if repeat="once"': {"days": 7},
    "1 to 36600": {"repeat": "once", "days": 0},
    "locations": {"times": 3},
    "a pair of datetimes": {"data": (1, 2)},
    "with time zones": {"data": (datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 2))},
    "one mechanism": {"mechanism": "PM"},
    "give the mechanism": {
        "mechanism": dt.Memoised(dt.KRR(dt.Categories(2), epsilon=1), bytes(32), name="x")
    },
    "itself": {"mechanism": dt.JRR(dt.Categories(2), p=0.8, rho=-0.25, n=2)},
}


@pytest.mark.parametrize("words", BAD)
def test_invalid_questions_are_refused(words: str) -> None:
    given = {"name": "age", "mechanism": dt.KRR(dt.Categories(2), epsilon=1), **BAD[words]}
    with pytest.raises(InvalidParameter, match=words.partition(" ")[0]):
        dt.Inquiry(given.pop("name"), given.pop("mechanism"), **given)


def test_wrong_calls_say_what_to_do(tmp_path: Path) -> None:
    account = make(tmp_path)
    with pytest.raises(InvalidParameter, match=r"dt\.Inquiry\('age', question\)"):
        account.answer(dt.KRR(dt.Categories(2), epsilon=1), 1)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="32 lower-case hexadecimal digits"):
        account.answer(number(), 1, identity="1")
    with pytest.raises(InvalidParameter, match="'1/2'"):
        account.split("half")
    for share in ("0", "1", "3/2", "-1/2", "1/0"):
        with pytest.raises(InvalidParameter, match="a share to be a fraction"):
            account.split(share)
    with pytest.raises(InvalidParameter, match="most"):
        account.batch(most=0)
    with pytest.raises(InvalidParameter, match="no epoch"):
        make(tmp_path, name="x", epoch="dya")
    with pytest.raises(InvalidParameter, match="new askers"):
        make(tmp_path, name="x", askers=-1)
    with pytest.raises(InvalidParameter, match="is for life"):
        make(tmp_path, name="x", lifetime=2)
    with pytest.raises(InvalidParameter, match="a number from 0 to 1"):
        make(tmp_path, name="x", delta=1.5)
    with pytest.raises(InvalidParameter, match="printable characters"):
        make(tmp_path, name="x", quotas={"a\n": 1})
    assert not (tmp_path / "x").exists()
