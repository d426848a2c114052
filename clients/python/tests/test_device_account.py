"""The account is the file of `dt.Account`: used in turns, by several processes, and through accidents."""

from __future__ import annotations

import contextlib
import datetime
import os
import random
import signal
import sqlite3
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from device_support import SOURCE, python

import dither as dt
from dither.errors import AccountUnusable as DitherUnusable
from dither.errors import Refused as DitherRefused
from dither_device import Account, AccountUnusable, Inquiry, Malformed, Outside, Policy, Question, Refused
from dither_device.rules import SECRET, UNCHANGED, assumptions_of
from tests.collection.account.devices import DAY, SetClock

AGE = dt.Podium(dt.Interval(18, 100), epsilon=0.25)
BROWSER = dt.KRR(dt.Categories(["fire", "chrome", "other"]), epsilon=0.25)
TOOLS = dt.SetResponse(dt.Several(["a", "b", "c"], most=2), epsilon=0.25)
TRIP = dt.TraCSC(dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1)), epsilon=0.25)
NOISE = dt.Gaussian(dt.Interval(0, 10), epsilon=0.25, delta=1e-6, cells=1024)
WORDS = dt.PEM(dt.Text(6), epsilon=0.25)
ACCEPTED = (UNCHANGED, SECRET, "how many locations a trajectory has, and when they were sent, is public")

# Of each: the mechanism, a value, and what both askings are given beside it.
ASKED: list[tuple[Any, Any, dict[str, Any]]] = [
    (AGE, 41, {}),
    (AGE, 41, {"repeat": "same"}),
    (BROWSER, "fire", {"repeat": "per value"}),
    (AGE, 17, {"repeat": "per value"}),
    (TOOLS, ["c", "a"], {"repeat": "per value"}),
    (TRIP, [[0.2, 0.3], [5, 0.1]], {"repeat": "per value", "times": 2}),
    (WORDS, "abc", {"repeat": "per value"}),
    (BROWSER, "other", {"repeat": "once", "days": 3}),
    (NOISE, 4, {"repeat": "same"}),
]


def askings(number: int) -> tuple[dt.Inquiry, Inquiry, Any]:
    mechanism, value, more = ASKED[number]
    name = f"question {number}"
    theirs = dt.Inquiry(name, mechanism, asker="clinic", **more)
    return theirs, Inquiry(name, Question(mechanism.to_json()), asker="clinic", **more), value


def outcome(answer: Any) -> str:
    """Return the report of an answer as digits, None, or the reason of a refusal."""
    try:
        told = answer()
    except (Refused, DitherRefused) as error:
        return error.reason
    report = getattr(told, "report", told)
    return report.hex() if isinstance(report, bytes) else str(report)


class Pair:
    """One file, opened by both libraries."""

    def __init__(self, path: Path, made_by: str, **more: Any) -> None:
        self.clock = SetClock()

        def now() -> dict[str, Any]:
            return self.clock().wire()

        policy = dt.privacy.Policy(delta=1e-3, assumptions=ACCEPTED)
        own = Policy(delta=1e-3, assumptions=ACCEPTED)
        if made_by == "dither":
            self.theirs = dt.Account.create(path, policy=policy, now=self.clock, **more)
            self.ours = Account(path, policy=own, now=now)
        else:
            self.ours = Account.create(path, policy=own, now=now, **more)
            self.theirs = dt.Account.open(path, policy=policy, now=self.clock)

    def check(self) -> None:
        assert self.ours.wire() == self.theirs.wire()
        assert self.ours.mark == self.theirs.mark


@pytest.mark.parametrize("made_by", ["dither", "device"])
def test_a_file_is_used_in_turns(made_by: str, tmp_path: Path) -> None:
    pair = Pair(
        tmp_path / "me.account", made_by, epsilon=1.2, epoch="week", delta=1e-2, lifetime=2.2, askers=2
    )
    pair.check()
    for number in range(len(ASKED)):
        theirs, ours, _ = askings(number)
        assert {**ours.facts, "assumes": assumptions_of(ours.facts)} == theirs.facts
    drawn = random.Random(7)
    seen = set()
    for _ in range(60):
        theirs, ours, value = askings(drawn.randrange(len(ASKED)))
        assert pair.ours.dry_run(ours).removeprefix("refused: ") in (
            pair.theirs.dry_run(theirs).outcome,
            pair.theirs.dry_run(theirs).reason,
        )
        turn = drawn.random()
        if turn < 0.4:
            seen.add(outcome(lambda: pair.ours.answer(ours, value)))  # noqa: B023
        elif turn < 0.7:
            seen.add(outcome(lambda: pair.theirs.answer(theirs, value)))  # noqa: B023
        elif turn < 0.8:
            found = pair.ours.batch("clinic", questions=[ours])
            assert (found is None) == (pair.theirs.batch("clinic", questions=[theirs]) is None)
            if found is not None:
                assert pair.theirs.acknowledge(found[0]) == len(found[1])
        else:
            pair.clock.pass_(drawn.randrange(4 * DAY))
        if drawn.random() < 0.1:
            pair.clock.restart()
            pair.ours.act()
        pair.check()
    assert {"budget", "lifetime"} <= seen
    pair.ours.close()
    again = Account(tmp_path / "me.account")
    assert again.wire() == pair.theirs.wire()


@pytest.mark.parametrize("number", [2, 3, 4, 5, 6])
def test_an_answer_per_value_is_one_report_whoever_gives_it(number: int, tmp_path: Path) -> None:
    pair = Pair(tmp_path / "me.account", "dither", epsilon=4)
    theirs, ours, value = askings(number)
    first = pair.theirs.answer(theirs, value)
    assert first is not None
    second = pair.ours.answer(ours, value)
    assert second.outcome == "repeated"
    assert second.report == theirs.to_bytes(first)
    assert len(pair.ours.queue) == 1  # known by its mark: it is sent once
    pair.check()


SURE = dt.KeptChange(dt.KRR(dt.Categories(["no", "yes"]), epsilon=50), days=9, changes=2)


def change_inquiries(start: int) -> tuple[dt.Inquiry, Inquiry]:
    """Return one question about a kept change as both libraries ask it."""
    first = datetime.date(1970, 1, 1) + datetime.timedelta(days=start)
    theirs = dt.Inquiry.kept_change("smokes", SURE, asker="clinic", start=first)
    more: dict[str, Any] = {"repeat": "kept change", "days": 9, "changes": 2, "start": start}
    return theirs, Inquiry("smokes", Question(SURE.question.to_json()), asker="clinic", **more)


def test_a_kept_change_is_reported_once_whoever_asks(tmp_path: Path) -> None:
    """With a sure mechanism reports of intervals with a change are the value after it, the others coins."""
    coins, changed = [], []
    for number in range(24):
        pair = Pair(tmp_path / f"{number}.account", "device", epsilon=50)
        pair.theirs.policy, pair.ours.policy = dt.privacy.Policy(epsilon=50), Policy(epsilon=50)
        theirs, ours = change_inquiries(pair.clock.wall // DAY)
        assert ours.facts == theirs.facts
        values = ["no", "no", "yes", "no", *["no"] * 5]  # it changes on day 2 and on day 3
        for day in range(9):
            if (number + day) % 2:
                pair.theirs.answer(theirs, values[: day + 1])
            else:
                pair.ours.answer(ours, values[: day + 1])
            pair.check()
            pair.clock.pass_(DAY)
        rows = [row for item in pair.ours.queue for row in unpack_rows(item["report"])]
        reports = SURE.reports(rows).cells.tolist()  # all are possible
        (choice,) = pair.ours.wire()["choices"]
        group = choice["day"] // 2
        assert [row[:2] for row in reports] == [[group, at] for at in range(SURE.intervals(group))]
        if group == 0:
            assert [row[2] for row in reports] == [0]
            continue
        for _, interval, report in reports:
            before, after = values[interval * SURE.length(group)], values[SURE.day(group, interval)]
            if before == after:
                coins.append(report)
            else:  # the pattern of flips is sure, too
                changed.append(report == (after == "yes"))
        assert len(pair.ours.wire()["entries"]) == 1
    assert all(changed)
    assert changed
    assert {0, 1} == set(coins)


def unpack_rows(report: str) -> list[tuple[int, ...]]:
    return list(struct.iter_unpack("<III", bytes.fromhex(report)))


def test_wrong_histories_of_a_kept_change_are_refused(tmp_path: Path) -> None:
    account = Account.create(tmp_path / "me.account", epsilon=50, policy=Policy(epsilon=50))
    _, ours = change_inquiries(int(time.time()) // DAY)
    for _ in range(40):  # the group of the first day answers at once; the others have no interval yet
        (choice, *_) = account.wire()["choices"] or [None]
        if choice is not None:
            break
        with contextlib.suppress(Outside):
            account.answer(ours, ["maybe"])
    assert account.wire()["entries"] == []
    if account.dry_run(ours) == "drawn":
        for wrong in ([], ["no"] * 3, "no"):
            with pytest.raises(Outside):
                account.answer(ours, wrong)
    for more in ({"changes": 0}, {"changes": 9}, {"changes": None}, {"days": 1}):
        with pytest.raises(Malformed):
            Inquiry("q", ours.question, **{"repeat": "kept change", "days": 9, "changes": 1, **more})
    with pytest.raises(Malformed, match="two answers"):
        Inquiry("q", Question(AGE.to_json()), repeat="kept change", days=9, changes=1)


def test_two_devices_are_merged_by_dither(tmp_path: Path) -> None:
    pair = Pair(tmp_path / "me.account", "device", epsilon=2)
    other = dt.Account.join(tmp_path / "other.account", pair.theirs.split("1/2"), now=pair.clock)
    other.answer(dt.Inquiry("age", AGE), 30)
    assert pair.theirs.merge(other.export()) == 1
    pair.check()
    assert pair.ours.left == pytest.approx(1)


def test_the_remaining_budget_is_the_same_in_both(tmp_path: Path) -> None:
    pair = Pair(tmp_path / "me.account", "dither", epsilon=0.7)
    for _ in range(3):
        assert pair.ours.left == pair.theirs.left.epsilon
        _, ours, value = askings(0)
        outcome(lambda: pair.ours.answer(ours, value))  # noqa: B023
    assert outcome(lambda: pair.ours.answer(ours, value)) == "budget"


def test_a_value_outside_spends_nothing_but_a_drawn_day_stays(tmp_path: Path) -> None:
    account = Account.create(tmp_path / "me.account", epsilon=1)
    asked = Question(BROWSER.to_json())
    with pytest.raises(Outside):
        account.answer(Inquiry("browser", asked), "nobody")
    assert account.left == 1
    with pytest.raises(Outside):
        account.answer(Inquiry("browser", asked, repeat="once", days=1), "nobody")
    assert len(account.wire()["choices"]) == 1
    assert account.left == 1
    assert account.answer(Inquiry("browser", asked, otherwise="other"), "nobody").outcome == "drawn"


# --- accidents


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "me.account"
    account = Account.create(path, epsilon=9)
    for number in (0, 1, 7):
        outcome(lambda: account.answer(askings(number)[1], askings(number)[2]))  # noqa: B023
    account.close()
    whole = path.read_bytes()
    drawn = random.Random(3)
    for _ in range(12):
        broken = bytearray(whole)
        broken[drawn.randrange(len(broken))] ^= 1 << drawn.randrange(8)
        path.write_bytes(broken)
        verdicts = []
        for reads in (Account, dt.Account.open):
            try:
                reads(path).close()  # type: ignore[operator]
                verdicts.append(True)
            except (AccountUnusable, DitherUnusable):
                verdicts.append(False)
        assert verdicts[0] == verdicts[1]
    path.write_bytes(whole[:-100])
    with pytest.raises(AccountUnusable, match="damaged"):
        Account(path)
    path.write_bytes(b"a text")
    with pytest.raises(AccountUnusable):
        Account(path)
    path.write_bytes(whole)
    path.chmod(0o644)
    with pytest.raises(AccountUnusable, match="others"):
        Account(path)
    path.chmod(0o600)
    (tmp_path / "link").hardlink_to(path)
    with pytest.raises(AccountUnusable, match="hard link"):
        Account(path)
    # Another process that has just made the file removes its other name: it is waited for.
    removal = threading.Timer(0.1, (tmp_path / "link").unlink)
    removal.start()
    Account(path).close()
    removal.join()
    with pytest.raises(AccountUnusable, match="exists"):
        Account.create(path, epsilon=1)
    with pytest.raises(AccountUnusable, match="account not found"):
        Account(tmp_path / "nowhere")
    Account(path).close()


@pytest.mark.parametrize("change", ["UPDATE log SET effect = '{}' WHERE sequence = 1", "DELETE FROM reports"])
def test_changed_rows_are_found(change: str, tmp_path: Path) -> None:
    path = tmp_path / "me.account"
    account = Account.create(path, epsilon=9)
    account.answer(askings(0)[1], 30)
    account.close()
    with sqlite3.connect(path) as link:
        link.execute(change)
    link.close()
    with pytest.raises(AccountUnusable, match="damaged"):
        Account(path)


def test_a_file_that_is_put_back_is_refused_while_it_is_open(tmp_path: Path) -> None:
    path = tmp_path / "me.account"
    account = Account.create(path, epsilon=9)
    before = path.read_bytes()
    account.answer(askings(0)[1], 30)
    path.write_bytes(before)
    with pytest.raises(AccountUnusable, match=r"rolled back|damaged"):
        account.answer(askings(0)[1], 30)


ANSWERS = """
import sys
from dither_device import Account, Inquiry, Question, Refused
account = Account(sys.argv[1])
asking = Inquiry("age", Question(open(sys.argv[2]).read()))
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[3])):
    identity = f"{int(sys.argv[4]):08x}{number:024x}"
    try:
        account.answer(asking, 30, identity=identity)
        print(identity, flush=True)
    except Refused as error:
        print(error.reason, flush=True)
"""


def start(path: Path, text: Path, many: int, number: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-S", "-c", ANSWERS, str(path), str(text), str(many), str(number)],
        env={"PYTHONPATH": str(SOURCE)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_two_processes_spend_one_budget(tmp_path: Path) -> None:
    path, text = tmp_path / "me.account", tmp_path / "age.json"
    text.write_text(AGE.to_json(), encoding="utf-8")
    Account.create(path, epsilon=2).close()  # for eight answers
    jobs = [start(path, text, 6, number) for number in range(2)]
    assert all(job.stdout is not None and job.stdout.readline() == "ready\n" for job in jobs)
    told = [job.communicate("go\n", timeout=60)[0].split() for job in jobs]
    assert [word for words in told for word in words].count("budget") == 4
    account = dt.Account.open(path)
    assert len(account.queue) == 8
    assert account.left.epsilon == 0


def kill_while_it_answers(folder: Path, times: int, seed: int) -> None:
    path, text = folder / "me.account", folder / "age.json"
    text.write_text(AGE.to_json(), encoding="utf-8")
    Account.create(path, epsilon=1000).close()
    drawn, told = random.Random(seed), set()
    for number in range(times):
        job = start(path, text, 1000, number)
        assert job.stdout is not None
        assert job.stdin is not None
        job.stdout.readline()
        job.stdin.write("go\n")
        job.stdin.flush()
        for _ in range(drawn.randrange(1, 6)):
            told.add(job.stdout.readline().strip())
        job.send_signal(signal.SIGKILL)
        told |= set(job.communicate()[0].split("\n")[:-1])
    account = dt.Account.open(path)
    kept = {waiting.id for waiting in account.queue}
    assert told <= kept  # what was told is on disk; what was cut off may be
    assert len(kept) <= len(told) + times


def test_a_killed_process_loses_no_returned_report(tmp_path: Path) -> None:
    kill_while_it_answers(tmp_path, 2, 1)


@pytest.mark.slow
def test_fifty_kills(tmp_path: Path) -> None:
    kill_while_it_answers(tmp_path, 50, 2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("inside", [False, True])
def test_a_fork_shares_the_file_and_not_the_connection(inside: bool, tmp_path: Path) -> None:
    """In the middle of another thread's transaction a child can only say that the file is in use."""
    account = Account.create(tmp_path / "me.account", epsilon=9, wait=0.1)
    account.answer(askings(0)[1], 30)
    held, free = threading.Event(), threading.Event()

    def hold() -> None:
        with account.transaction() if inside else account._store._lock:
            held.set()
            free.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    child = os.fork()
    if child == 0:  # the lock of a thread that is not here must not be waited for
        code = 1
        try:
            account.answer(askings(0)[1], 30)
            code = 0
        except AccountUnusable:
            code = 2
        finally:
            os._exit(code)
    told = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    free.set()
    holder.join()
    assert told == (2 if inside else 0)
    account.answer(askings(0)[1], 30)
    assert len(account.queue) == (2 if inside else 3)
    assert dt.Account.open(tmp_path / "me.account").left.epsilon == pytest.approx(account.left)


FULL = """
import resource, sys
from dither_device import Account, AccountUnusable, Inquiry, Question
account = Account(sys.argv[1])
asking = Inquiry("age", Question(open(sys.argv[2]).read()))
resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
for _ in range(100):
    try:
        account.answer(asking, 30)
    except AccountUnusable as error:
        print(error)
        break
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
"""


def test_a_full_disk_spends_nothing(tmp_path: Path) -> None:
    path, text = tmp_path / "me.account", tmp_path / "age.json"
    text.write_text(AGE.to_json(), encoding="utf-8")
    Account.create(path, epsilon=100).close()
    done = python(FULL, str(path), str(text))
    assert "Nothing was spent" in done.stdout, done.stderr
    account = Account(path)
    assert account.left == 100 - 0.25 * len(account.queue)


@pytest.mark.parametrize(
    "more",
    [
        {"repeat": "kept change"},
        {"repeat": "once"},
        {"days": 3},
        {"times": 3},
        {"repeat": "once", "days": 0},
        {"asker": "\n"},
    ],
)
def test_wrong_askings_are_refused(more: dict[str, Any]) -> None:
    with pytest.raises(Malformed):
        Inquiry("age", Question(AGE.to_json()), **more)


@pytest.mark.parametrize(
    "more",
    [
        {"epsilon": -1},
        {"epsilon": float("nan")},
        {"epsilon": "1"},
        {"epsilon": 1, "epoch": "month"},
        {"epsilon": True},
    ],
)
def test_wrong_budgets_are_refused(more: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(Malformed):
        Account.create(tmp_path / "me.account", **more)
    assert list(tmp_path.iterdir()) == []
