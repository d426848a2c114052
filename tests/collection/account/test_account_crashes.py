"""Invariants 1 to 3 of an account: crashes, races, retries."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

import dither as dt
from dither.collection.account.inquiry import Inquiry
from dither.errors import AccountUnusable, Refused
from tests.collection.account.crashes import connections, losses, remains_of
from tests.collection.account.devices import DAY, SetClock, make, number

FIRST, SECOND, THIRD = "1" * 32, "2" * 32, "3" * 32


# --- 1. a spend is on disk before the report can leave


def test_1_recorded_covers_sent_whatever_step_a_process_is_killed_at(tmp_path: Path) -> None:
    (tmp_path / "live").mkdir()
    with connections() as made:
        account = make(tmp_path / "live", epsilon=2)
    returned: dict[str, dt.Reports] = {}

    def work(send) -> None:
        for identity, name in ((FIRST, "age"), (SECOND, "sex"), (THIRD, "age")):
            report = account.answer(number(name, repeat="same"), 1, identity=identity)
            assert report is not None
            returned[identity] = report
            send(identity)

    copies = remains_of(made[-1], tmp_path / "live", work, tmp_path)
    assert len(copies) > 20
    assert losses([one for one in copies if THIRD not in one.sent]) == []
    half = Counter()
    for one in copies:
        with dt.Account.open(one.folder / "me.account", now=SetClock()) as again:
            state = again.wire()
            entries = [entry["id"] for entry in state["entries"]]
            # All of an answer is there, or nothing: entry, permanent answer and queue.
            assert [kept["id"] for kept in state["answers"]] in (entries, entries[::-1])
            assert set(entries) <= {item["id"] for item in state["queue"]}
            half[len(entries)] += 1
            for identity, name in ((FIRST, "age"), (SECOND, "sex")):
                if identity in entries:  # after the crash the same bytes are sent, not others
                    assert (
                        again.answer(number(name, repeat="same"), 3, identity=identity) == returned[identity]
                    )
    assert set(half) == {0, 1, 2}


def test_1_the_check_finds_an_account_that_sends_before_it_writes(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "live").mkdir()
    with connections() as made:
        account = make(tmp_path / "live", epsilon=2)
    original = Inquiry.draw

    def work(send) -> None:
        def draw(self: Inquiry, *args) -> dt.Reports:
            report = original(self, *args)
            send(FIRST)  # the broken twin sends what it has drawn
            return report

        monkeypatch.setattr(Inquiry, "draw", draw)
        account.answer(number(), 1, identity=FIRST)

    assert losses(remains_of(made[-1], tmp_path / "live", work, tmp_path)) != []


def test_1_an_error_in_the_draw_or_in_the_store_spends_and_sends_nothing(tmp_path: Path, monkeypatch) -> None:
    with connections() as made:
        account = make(tmp_path)
    before = account.wire()

    def fails(self: Inquiry, *args) -> dt.Reports:
        raise MemoryError

    monkeypatch.setattr(Inquiry, "draw", fails)
    with pytest.raises(MemoryError):
        account.answer(number(), 1)
    monkeypatch.undo()
    assert account.wire() == before
    pages = made[-1].execute("PRAGMA page_count").fetchone()[0]
    large = dt.Inquiry("large", dt.OUE(dt.Categories(10**5), epsilon=0.5))
    made[-1].execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(AccountUnusable, match=r"disk is full\. Nothing was spent or sent"):
        account.answer(large, 1)
    made[-1].execute("PRAGMA max_page_count = 1000000")
    assert account.wire() == before
    account.answer(large, 1)  # it goes on by itself


# --- 2. N processes race for the last ε


RACER = """
import sys, time
from pathlib import Path
import dither as dt
path, start = sys.argv[1:]
account = dt.Account.open(path)
question = dt.Inquiry("last", dt.KRR(dt.Categories(4), epsilon=0.75), asker=sys.argv[0])
print("ready", flush=True)
while not Path(start).exists():
    time.sleep(0.001)
try:
    account.answer(question, 2)
    print("won")
except dt.errors.Refused as error:
    print(error.reason)
"""


def test_2_of_several_processes_exactly_one_gets_the_last_epsilon(tmp_path: Path) -> None:
    account = dt.Account.create(tmp_path / "me.account", epsilon=1)
    command = [sys.executable, "-c", RACER, str(tmp_path / "me.account"), str(tmp_path / "start")]
    racers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    (tmp_path / "start").touch()
    assert sorted(racer.communicate(timeout=60)[0].strip() for racer in racers) == ["budget"] * 3 + ["won"]
    assert len(account.queue) == 1
    assert str(account.left) == "ε = 0.25 of 1 left for all time"


def test_2_of_several_threads_exactly_one_gets_the_last_epsilon(tmp_path: Path) -> None:
    account, outcomes = make(tmp_path), []
    other = dt.Account.open(tmp_path / "me.account", now=SetClock())
    barrier = threading.Barrier(8)

    def race(mine: dt.Account) -> None:
        barrier.wait()
        try:
            mine.answer(number(epsilon=0.75), 1)
            outcomes.append("won")
        except Refused as error:
            outcomes.append(error.reason)

    threads = [threading.Thread(target=race, args=((account, other)[place % 2],)) for place in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["budget"] * 7 + ["won"]


# --- 3. a retry resends the stored bytes


def test_3_a_retry_resends_the_stored_bytes_draws_nothing_and_charges_once(
    tmp_path: Path, monkeypatch
) -> None:
    account = make(tmp_path)
    asked = dt.Inquiry("place", dt.OLH(dt.Categories(1000), epsilon=0.75), asker="clinic")
    report = account.answer(asked, 7, identity=FIRST)
    monkeypatch.setattr(Inquiry, "draw", lambda *args: pytest.fail("drawn again"))
    stored = account.queue[0].data
    account.close()
    clock = SetClock()
    clock.jump(900 * DAY)
    again = dt.Account.open(tmp_path / "me.account", now=clock)
    assert (
        again.answer(asked, 999, identity=FIRST) == report
    )  # a seed of 47 bits is not drawn twice by chance
    assert again.queue[0].data == stored
    assert len(again.wire()["entries"]) == 1
    strict = dt.Account.open(tmp_path / "me.account", policy=dt.privacy.Policy(epsilon=0.1), now=clock)
    assert strict.answer(asked, 999, identity=FIRST) == report  # what was promised when it was drawn holds
    with pytest.raises(Refused, match="another question"):
        again.answer(number("other"), 1, identity=FIRST)
    again.acknowledge(FIRST)
    assert again.answer(asked, 7, identity=FIRST) is None
    assert again.left.epsilon == 0.25


def test_3_a_batch_has_the_same_bytes_until_it_is_acknowledged(tmp_path: Path) -> None:
    account = make(tmp_path, epsilon=2)
    account.answer(number("a"), 1)
    first = account.batch()
    account.answer(number("b"), 1)
    account.close()
    again = dt.Account.open(tmp_path / "me.account", now=SetClock())
    assert again.batch() == first
    assert first is not None
    assert again.acknowledge(first.id) == 1
    second = again.batch()
    assert second is not None
    assert [item.question for item in second.reports] == ["b"]
    assert (again.acknowledge(second.id), again.acknowledge(second.id), again.batch()) == (1, 0, None)
