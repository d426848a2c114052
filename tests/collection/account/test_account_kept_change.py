"""One kept change on a device: drawn once, told once, charged once, whatever is passed in and when."""

from __future__ import annotations

import datetime
import itertools
from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter, OutsideDomain, Refused
from tests.collection.account.devices import DAY, SetClock, make
from tests.support.chi_square import ALARM, p_of_counts

START = datetime.date(2024, 10, 4)  # the day of SetClock
YES_NO = dt.Categories(["no", "yes"])
DAYS = 9
CHANGE = dt.KeptChange(dt.KRR(YES_NO, epsilon=0.5), days=DAYS)
SURELY = dt.privacy.Policy(epsilon=50)
SURE = dt.KeptChange(dt.KRR(YES_NO, epsilon=50), days=DAYS)  # its reports are what they are about


def asked(change: dt.KeptChange = CHANGE, name: str = "smokes") -> dt.Inquiry:
    return dt.Inquiry.kept_change(name, change, asker="clinic.example", start=START)


def life(*days: str) -> list[str]:
    return [*days, *[days[-1]] * (DAYS - len(days))]


def told(account: dt.Account, question: dt.Inquiry, values: list[str], clock: SetClock) -> list[list[int]]:
    """Return all reports of a period: the account is asked every day, and is given the days so far."""
    rows = []
    for day in range(DAYS):
        reports = account.answer(question, values[: day + 1])
        if reports is not None:
            rows += reports.cells.tolist()
        clock.pass_(DAY)
    return rows


def test_every_interval_is_reported_once_and_the_period_is_charged_once(tmp_path: Path) -> None:
    groups: Counter[int] = Counter()
    for number in range(40):
        clock = SetClock()
        with make(tmp_path, clock, name=f"{number}.account") as account:
            rows = told(account, asked(), life("no", "no", "yes"), clock)
            (group,) = {row[0] for row in rows}
            groups[group] += 1
            assert [row[1] for row in rows] == list(range(CHANGE.intervals(group)))
            assert account.ledger.spent.epsilon == CHANGE.guarantee.epsilon
            assert len(account.wire()["entries"]) == 1
            assert len(account.queue) == len(rows)
            assert {one.fingerprint for one in account.queue} == {CHANGE.fingerprint}
            raw = [np.frombuffer(one.data, "<u4").reshape(-1, 3) for one in account.queue]
            assert CHANGE.reports(np.concatenate(raw)).cells.tolist() == rows
            told(account, asked(), life("no"), clock)  # the next period
            assert account.ledger.spent.epsilon == pytest.approx(2 * CHANGE.guarantee.epsilon)
    assert (
        p_of_counts([groups[group] for group in range(CHANGE.groups)], [40 / CHANGE.groups] * CHANGE.groups)
        > ALARM
    )


def test_a_restart_draws_nothing_again(tmp_path: Path) -> None:
    clock = SetClock()
    make(tmp_path, clock).close()
    rows, kept = [], []
    values = life("no", "yes")
    for day in range(DAYS):
        for _ in range(2):  # twice a day, each time in a new process, as it were
            with dt.Account.open(tmp_path / "me.account", now=clock) as account:
                reports = account.answer(asked(), values[: day + 1])
                rows += [] if reports is None else reports.cells.tolist()
                kept.append(account.wire()["choices"][0]["day"])
        clock.pass_(DAY)
    assert len(set(kept)) == 1
    assert len(rows) == len({tuple(row[:2]) for row in rows}) == CHANGE.intervals(rows[0][0])


def test_a_device_that_was_off_reports_the_missed_intervals(tmp_path: Path) -> None:
    for number in range(12):
        clock = SetClock()
        with make(tmp_path, clock, name=f"{number}.account") as account:
            values = life("no")
            first = account.answer(asked(), values[:1])
            clock.pass_(6 * DAY)
            second = account.answer(asked(), values[:7])
            clock.pass_(2 * DAY)
            third = account.answer(asked(), values)
            rows = [row for part in (first, second, third) if part is not None for row in part.cells.tolist()]
            assert [row[1] for row in rows] == list(range(CHANGE.intervals(rows[0][0])))


def in_group(folder: Path, group: int, change: dt.KeptChange = SURE) -> tuple[dt.Account, SetClock]:
    """Return an account that drew a group. The draw is the system's, so several are made."""
    for number in itertools.count():
        clock = SetClock()
        account = make(folder, clock, name=f"{group} {number}.account", epsilon=500, policy=SURELY)
        account.answer(asked(change), ["no"])
        if account.wire()["choices"][0]["day"] // change.changes == group:
            return account, clock
    raise AssertionError


def test_a_change_is_reported_in_its_interval(tmp_path: Path) -> None:
    """With a sure mechanism the interval of the change says the new value, in every run."""
    for group in range(1, SURE.groups):
        account, clock = in_group(tmp_path, group)
        rows = told(account, asked(SURE), life("no", "no", "no", "yes", "no"), clock)  # the first is on day 3
        assert rows[2 // SURE.length(group)][2] == 1


def test_a_history_that_is_edited_reports_no_second_change(tmp_path: Path) -> None:
    """A change on each day in turn, the others denied. One is told; then all reports are about coins."""
    later = []
    for number in range(12):
        (folder := tmp_path / str(number)).mkdir()
        account, clock = in_group(folder, 1)
        rows = []
        for day in range(1, DAYS):
            clock.pass_(DAY)
            reports = account.answer(asked(SURE), ["no"] * day + ["yes"])
            assert reports is not None
            rows += reports.cells.tolist()
        assert rows[0][2] == 1  # the change of day 1 was told
        later += [row[2] for row in rows[1:]]
        account.close()
    assert len(later) == 84
    assert p_of_counts([later.count(0), later.count(1)], [42, 42]) > ALARM


def test_nothing_about_values_is_in_the_file_without_the_key(tmp_path: Path) -> None:
    """The mark is one bit under a pad from the key, kept elsewhere here: it is even, told or not."""
    marks: Counter[tuple[bool, int]] = Counter()
    for number, changed in itertools.product(range(80), (False, True)):
        clock, key = SetClock(), dt.Memoised.new_key()
        with make(tmp_path, clock, name=f"{number} {changed}.account", key=key) as account:
            account.answer(asked(), ["no"])
            clock.pass_((DAYS - 1) * DAY)
            account.answer(asked(), life("no", "yes" if changed else "no"))
            marks[changed, account.wire()["trees"][0]["mark"]] += 1
    for changed in (False, True):
        assert p_of_counts([marks[changed, 0], marks[changed, 1]], [40, 40]) > ALARM


def test_another_device_of_the_person_is_silent(tmp_path: Path) -> None:
    clock = SetClock()
    account = make(tmp_path, clock, epsilon=4)
    account.answer(asked(), ["no"])
    laptop = dt.Account.join(tmp_path / "laptop.account", account.split("1/2"), now=clock)
    clock.pass_((DAYS - 1) * DAY)
    assert laptop.answer(asked(), life("no")) is None
    assert "nothing would be sent" in str(laptop.dry_run(asked()))
    reports = account.answer(asked(), life("no"))
    assert (
        reports is not None or account.wire()["trees"][0]["intervals"] == 1
    )  # of the group of the first day
    account.merge(laptop.export())


def test_all_days_of_the_period_are_charged_when_it_begins(tmp_path: Path) -> None:
    """A budget for each day: the reports are about every day of the period, also those to come."""
    clock = SetClock()
    with make(tmp_path, clock, epoch="day", epsilon=0.5) as account:
        report = None
        while report is None:
            report = account.answer(asked(), ["no"] * (1 + (clock.wall // DAY - 20_000)))
            if report is None:
                clock.pass_(DAY)
        (entry,) = account.wire()["entries"]
        assert (entry["first"], entry["last"]) == (20_000, 20_000 + DAYS - 1)
        with pytest.raises(Refused) as refused:
            account.answer(dt.Inquiry("other", CHANGE.question), "no")
        assert refused.value.reason == "budget"
    with make(tmp_path, SetClock(), name="long.account", epoch="day") as account:
        with pytest.raises(Refused) as refused:
            account.answer(asked(dt.KeptChange(CHANGE.question, days=400)), ["no"])
        assert refused.value.reason == "data"


def test_a_dry_run_says_what_is_charged(tmp_path: Path) -> None:
    clock = SetClock()
    account = make(tmp_path, clock)
    assert account.dry_run(asked()).outcome == "silent"
    account.answer(asked(), ["no"])
    clock.pass_((DAYS - 1) * DAY)
    preview = account.dry_run(asked())
    (choice,) = account.wire()["choices"]
    assert preview.charged == (CHANGE.guarantee.epsilon if choice["answer"] is None else 0.0)
    account.answer(asked(), life("no"))
    assert account.dry_run(asked()).outcome == "silent"


@pytest.mark.parametrize("kind", ["kept change", "once"])
def test_a_value_that_is_refused_does_not_make_the_account_draw_again(tmp_path: Path, kind: str) -> None:
    """The drawn group, or day, is kept although the answer failed: otherwise it would depend on the value."""
    for number in range(20):
        clock = SetClock()
        question = (
            asked()
            if kind == "kept change"
            else dt.Inquiry.once("mood", dt.Once(CHANGE.question, days=2), start=START)
        )
        with make(tmp_path, clock, name=f"{number}.account") as account:
            wrong = ["maybe"] if kind == "kept change" else "maybe"
            kept = []
            for _ in range(4):
                with suppress(OutsideDomain):
                    account.answer(question, wrong)
                kept.append([one["day"] for one in account.wire()["choices"]])
            assert kept == [kept[0]] * 4
            assert len(kept[0]) == 1
            assert account.wire()["entries"] == []
            assert account.queue == ()


def test_wrong_questions_and_histories_are_refused(tmp_path: Path) -> None:
    account, clock = in_group(tmp_path, 1)
    clock.pass_(3 * DAY)
    for wrong in (["no"], ["no"] * 3, ["no"] * 5, [], "no", [["no"] * 4]):
        with pytest.raises((InvalidParameter, OutsideDomain)):
            account.answer(asked(SURE), wrong)
    assert account.answer(asked(SURE), ["no"] * 4) is not None
    with pytest.raises(InvalidParameter, match=r"Inquiry\.kept_change"):
        dt.Inquiry("smokes", CHANGE)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match=r"dt\.KeptChange"):
        dt.Inquiry.kept_change("smokes", CHANGE.question)  # type: ignore[arg-type]
    for more in ({"changes": 1}, {"repeat": "kept change", "days": 9}):
        with pytest.raises(InvalidParameter, match="expected changes if"):
            dt.Inquiry("smokes", CHANGE.question, **more)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="two answers"):
        dt.Inquiry("age", dt.PM(dt.Interval(0, 1), epsilon=1), repeat="kept change", days=9, changes=1)
    assert asked().guarantee == CHANGE.guarantee
    assert asked().change == CHANGE
