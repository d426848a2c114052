"""No single report can be read from differences of public numbers, in any process and after any restart."""

from __future__ import annotations

import datetime
import itertools
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.applications import Starlette

from dither.collection.collector import Collector
from dither.collection.live import Withdrawn, _Sequence
from dither.collection.settings import Settings
from dither.collection.store.backup import backup, restore
from dither.collection.store.opening import open_store
from dither.collection.store.postgresql import PostgresqlStore
from dither.collection.store.sqlite import SqliteStore
from dither.collection.store.store import Arrived, CollectorStore, Stored, Withdrawal
from dither.collection.web.answers import answer_handlers
from dither.collection.web.endpoints import routes_of
from dither.core.batch import PACKED, BatchBody
from dither.core.counts import Counts
from tests.collection.caller import Caller
from tests.collection.campaigns import DAY, contract, published
from tests.collection.collectors import Asked, make, send
from tests.collection.conftest import MakeStore
from tests.collection.test_store import Slot

PEOPLE = 10
CAMPAIGN = contract(people=PEOPLE, reports_a_batch=None)
BROWSER = CAMPAIGN.questions["browser"]
BASE = f"/v1/campaigns/{CAMPAIGN.id}"
Key = tuple[datetime.date, str]


def days(count: int) -> datetime.date:
    return DAY + datetime.timedelta(count)


def opened(store: CollectorStore, day: datetime.date = DAY) -> Collector:
    collector = Collector(store, Settings(), lambda: day)
    if not collector.campaigns:
        collector.publish(published(people=PEOPLE, reports_a_batch=None))
    return collector


def single(random: np.random.Generator, day: datetime.date = DAY, label: str = "") -> Arrived:
    report = bytes([int(random.integers(0, 4))])
    return Arrived(random.bytes(16), ((Slot(CAMPAIGN.id, "browser", day, label), report),))


def public(collector: Collector) -> dict[Key, Counter[int]]:
    """Return how often each report is shown, by day and label."""
    live, name = collector.live, (CAMPAIGN.id, "browser")
    shown = {}
    for day in live.days(*name, shown=True):
        for label in live.labels(*name, shown=True):
            counts = live.summary(*name, day, label, shown=True).counts
            if counts.any():
                shown[day, label] = Counter({cell: int(n) for cell, n in enumerate(counts) if n})
    return shown


class Model:
    """What is shown, by the words of the rule: all that wait, as soon as there are enough of them."""

    def __init__(self) -> None:
        self.shown: dict[Key, Counter[int]] = {}
        self.waiting: dict[str, Counter[int]] = {}

    def add(self, group: list[Arrived]) -> None:
        """Add batches that were stored together; of these, earlier days come first."""
        slots = sorted({slot for batch in group for slot, _ in batch.parts})
        for slot in slots:
            waiting = self.waiting.setdefault(slot.label, Counter())
            waiting.update(data[0] for batch in group for one, data in batch.parts if one == slot)
            if waiting.total() >= PEOPLE:
                self.shown.setdefault((slot.day, slot.label), Counter()).update(waiting)
                waiting.clear()


class WithdrawalModel(Model):
    """What is shown where batches are taken back: those that are shown leave with the next step."""

    def __init__(self) -> None:
        super().__init__()
        self.where: dict[bytes, tuple[Key | None, int]] = {}  # by identity: where it is shown, and the report
        self.leaving: dict[str, list[bytes]] = {}
        self.order: dict[str, list[bytes]] = {}  # what waits, by label

    def add(self, group: list[Arrived]) -> None:
        for slot in sorted({slot for batch in group for slot, _ in batch.parts}):
            waiting = self.order.setdefault(slot.label, [])
            for batch in group:
                for one, data in batch.parts:
                    if one == slot:
                        self.where[batch.id] = (None, data[0])
                        waiting.append(batch.id)
            if len(waiting) >= PEOPLE:
                key = (slot.day, slot.label)
                for identity in waiting:
                    self.where[identity] = (key, self.where[identity][1])
                    self.shown.setdefault(key, Counter())[self.where[identity][1]] += 1
                waiting.clear()
                for identity in self.leaving.pop(slot.label, []):
                    place, report = self.where.pop(identity)
                    assert place is not None
                    self.shown[place][report] -= 1

    def withdraw(self, identity: bytes, label: str) -> None:
        """Take a batch back that was added before."""
        if self.where[identity][0] is None:
            self.order[label].remove(identity)
            del self.where[identity]
        else:
            self.leaving.setdefault(label, []).append(identity)

    def public(self) -> dict[Key, Counter[int]]:
        """Return what is shown, without zeros."""
        found = {key: Counter({cell: n for cell, n in one.items() if n}) for key, one in self.shown.items()}
        return {key: one for key, one in found.items() if one}


def no_small_step(states: list[dict[Key, Counter[int]]]) -> None:
    """Check that any two states differ in every slot by nothing, or by at least so many reports."""
    for one, other in itertools.combinations(states, 2):
        for key in {*one, *other}:
            first, second = one.get(key, Counter()), other.get(key, Counter())
            more, less = (first, second) if first.total() >= second.total() else (second, first)
            assert not less - more
            assert (more - less).total() == 0 or (more - less).total() >= PEOPLE


@pytest.mark.some("sqlite")
def test_single_reports_do_not_follow_from_differences_of_shown_counts(make_store: MakeStore) -> None:
    """Whoever looks after every report sees sums of steps; before, each difference was one report."""
    collector = opened(make_store())
    client, random = Caller(collector), np.random.default_rng(3)
    seen: list[dict[str, Any]] = []
    for number in range(65):
        label = ("", "1.0", "1.1")[min(number % 5, 2) if number < 45 else 0]
        report = (BROWSER.fingerprint, bytes([int(random.integers(0, 4))]))
        body = BatchBody.of(random.bytes(16).hex(), [report], label).to_bytes()
        assert client.post(f"{BASE}/batches", content=body, headers={"content-type": PACKED}).is_success
        found: dict[str, Any] = {}
        for part in ("", "&label=", "&label=1.0", "&label=1.1", f"&day={DAY}"):
            answer = client.get(f"{BASE}/summary?question=browser{part}")
            if answer.status_code == 200:
                found[part] = Counts.from_bytes(answer.content, BROWSER).counts
            else:
                assert answer.status_code == 409
        rows = client.get(f"{BASE}/answers.json?question=browser&by=label").json()["rows"]
        total = client.get(f"{BASE}/answers.json?question=browser").json()["rows"][0]
        assert sum({row["label"]: row["n"] for row in rows}.values()) == sum(found.get("", np.zeros(4)))
        assert total["n"] == (sum(found[""]) if found else number + 1)  # what waits is one number
        seen.append(found)
    client.close()
    read = 0
    for one, other in itertools.combinations(seen, 2):
        for part in {*one, *other}:
            step = abs(int(np.sum(other.get(part, np.zeros(4)))) - int(np.sum(one.get(part, np.zeros(4)))))
            read += 0 < step < PEOPLE
    assert read == 0
    last = seen[-1]
    assert "&label=1.0" not in last  # nine came with it, and all minus the others does not give it
    assert (last[""] - last["&label="] - last["&label=1.1"] == 0).all()
    assert collector.live.n(CAMPAIGN.id, "browser", label="1.0") == PEOPLE - 1
    assert seen[0] == {}


def test_a_thousand_labels_with_nine_reports_each_show_nothing() -> None:
    labels = tuple(f"v{number}" for number in range(1000))
    collector, made = make(labels=labels, people=PEOPLE)
    for label in labels:
        send(collector, made, "browser", ["firefox"] * 9, label=label)
    client = Asked(Starlette(routes=routes_of(answer_handlers(collector))))
    base = f"/v1/campaigns/{made.id}"
    (row,) = client.get(f"{base}/answers.json?question=browser").json()["rows"]
    assert (row["state"], row["n"], row["value"]) == ("too few people", 9000, None)
    assert client.get(f"{base}/summary?question=browser").status_code == 409
    for part in ("by=label", "by=day"):
        assert client.get(f"{base}/answers.json?question=browser&{part}").json()["rows"] == []
    (row,) = client.get(f"{base}/answers.json?question=browser&label=v7").json()["rows"]
    (none,) = client.get(f"{base}/answers.json?question=minutes&label=v7").json()["rows"]
    assert (row["state"], row["n"]) == (none["state"], none["n"]) == ("too few people", 0)


@pytest.mark.some("sqlite-2", "postgresql-1")
@pytest.mark.parametrize("seed", [1, 2])
def test_restarts_and_folds_change_nothing_that_is_shown(make_store: MakeStore, seed: int) -> None:
    random, model = np.random.default_rng(seed), Model()
    store = make_store()
    collector = opened(store)
    states, today, late = [], 0, days(60)
    everything: Counter[int] = Counter()
    for _ in range(50):
        today += int(random.random() < 0.3)
        group = [
            single(random, days(max(0, today - (random.random() < 0.1))), ("", "1.0")[random.random() < 0.3])
            for _ in range(random.integers(1, 9))
        ]
        store.append(group)
        model.add(group)
        everything.update(data[0] for batch in group for _, data in batch.parts)
        collector.catch_up()
        match int(random.integers(0, 6)):
            case 0:
                store.close()
                store = make_store()
                collector = opened(store, late)
            case 1 if store.shared:  # another process
                store = make_store()
                collector = opened(store, late)
            case 2:
                collector.day = lambda: late
                collector.fold(CAMPAIGN.id, days(max(0, today - int(random.integers(0, 4)))))
        assert public(collector) == model.shown
        states.append(public(collector))
        whole = collector.live.summary(CAMPAIGN.id, "browser").counts
        assert whole.tolist() == [everything[cell] for cell in range(4)]
        assert collector.live.waiting(CAMPAIGN.id, "browser") == sum(
            one.total() for one in model.waiting.values()
        )
    no_small_step(states)
    assert sum(one.total() for one in model.shown.values()) > 100


@pytest.mark.some("sqlite-3", "postgresql-4")
@pytest.mark.parametrize("seed", [3, 4, 5])
def test_what_is_taken_back_leaves_with_the_next_step(make_store: MakeStore, seed: int) -> None:
    """Also after restarts, folds, erasures, in other processes, and if it comes again afterwards."""
    random, model = np.random.default_rng(seed), WithdrawalModel()
    store = make_store()
    collector = opened(store)
    today, late, left = 0, days(60), 0
    there: dict[bytes, Arrived] = {}
    for _ in range(70):
        today += int(random.random() < 0.2)
        group = [
            single(random, days(max(0, today - (random.random() < 0.1))), ("", "1.0")[random.random() < 0.3])
            for _ in range(random.integers(1, 9))
        ]
        store.append(group)
        model.add(group)
        there |= {batch.id: batch for batch in group}
        collector.catch_up()
        assert public(collector) == model.public()
        if random.random() < 0.7 and there:
            some = list(there)
            gone = {some[at] for at in random.integers(0, len(some), random.integers(1, 4))}
            unknown = [random.bytes(16) for _ in range(2)]
            asked = [Withdrawal(digest, CAMPAIGN.id, days(today)) for digest in (*gone, *unknown)]
            store.withdraw(asked)
            before = public(collector)
            collector.catch_up()
            assert public(collector) == before  # nothing that is shown changes
            for digest in gone:
                model.withdraw(digest, there[digest].parts[0][0].label)
            left += len(gone)
            store.withdraw(asked)  # asked twice
            again = [there.pop(digest) for digest in gone]
            again += [replace(single(random, days(today)), id=digest) for digest in unknown]
            assert store.append(again) == [Stored.REPEATED] * len(again)
            collector.catch_up()
        match int(random.integers(0, 7)):
            case 0:
                store.close()
                store = make_store()
                collector = opened(store, late)
            case 1 if store.shared:  # another process
                store = make_store()
                collector = opened(store, late)
            case 2:
                collector.day = lambda: late
                until = days(max(0, today - int(random.integers(0, 4))))
                collector.fold(CAMPAIGN.id, until)
                # What was folded cannot be taken back any more.
                there = {one: batch for one, batch in there.items() if not folded_up_to(store, batch)}
            case 3:
                store.erase(collector.live)
        assert public(collector) == model.public()
        waiting = sum(map(len, model.order.values()))
        assert collector.live.waiting(CAMPAIGN.id, "browser") == waiting
        leaving = sum(map(len, model.leaving.values()))
        total = sum(one.total() for one in model.public().values()) + waiting - leaving
        summary = collector.live.summary(CAMPAIGN.id, "browser")
        assert (summary.n, int(summary.counts.sum())) == (total, total)
        assert summary.counts.min() >= 0
    assert left > 60
    assert sum(one.total() for one in model.public().values()) > 100


def folded_up_to(store: CollectorStore, batch: Arrived) -> bool:
    """Return whether the reports of a batch are not kept one by one any more."""
    if isinstance(store, SqliteStore):
        query = "SELECT counts IS NOT NULL FROM reports JOIN slots ON slots.number = slot WHERE id = ?"
        return bool(store._sql.execute(query, (batch.id,)).fetchone()[0])
    assert isinstance(store, PostgresqlStore)
    with store._transaction() as sql:
        query = (
            "SELECT counts IS NOT NULL FROM dither_reports JOIN dither_slots ON number = slot WHERE id = %s"
        )
        row = sql.execute(query, (batch.id,)).fetchone()
    return bool(row and row[0])


def test_processes_that_share_a_database_show_the_same_steps(database: str) -> None:
    stores = [open_store(database) for _ in range(3)]
    collectors = [opened(store) for store in stores]
    random, states, sent = np.random.default_rng(5), [], 0
    for number in range(60):
        stores[number % 2].append([single(random) for _ in range(1 + number % 3)])
        sent += 1 + number % 3
        collectors[int(random.integers(0, 3))].catch_up()
        states += [public(one) for one in collectors]
        if number == 35:
            collectors[1].day = lambda: days(9)
            collectors[1].fold(CAMPAIGN.id, days(1))
    no_small_step([state for state, _ in itertools.groupby(states)])
    for one in collectors:
        one.catch_up()
        one.catch_up()
        assert one.live.n(CAMPAIGN.id, "browser") == sent
        assert public(one) == public(collectors[0])
    for store in stores:
        store.close()


def test_a_process_in_the_middle_of_storing_is_waited_for(database: str) -> None:
    """Its reports belong to a tick that others would otherwise take for complete."""
    from dither.collection.store.postgresql import PostgresqlStore

    slow, quick = PostgresqlStore(database), PostgresqlStore(database)
    here = opened(quick)
    random = np.random.default_rng(6)
    with quick._transaction(begun=True) as sql:  # who begins a day is alone
        quick._known_slots(sql, {DAY.toordinal()})
    with slow._transaction() as sql:
        _, tick = slow._known_slots(sql, {DAY.toordinal()})
        quick.append([single(random) for _ in range(PEOPLE + 2)])
        here.catch_up()
        quick.append([single(random)])  # in the next tick
        here.catch_up()
        assert public(here) == {}
        slow._slot(sql, Slot(CAMPAIGN.id, "browser", DAY, ""), made := {})
        (number,) = made.values()
        slow._insert(sql, tick, [(random.bytes(16), 0, number, b"\x03", slow._segments[DAY.toordinal()])])
    here.catch_up()
    assert [one.total() for one in public(here).values()] == [PEOPLE + 3]
    assert here.live.waiting(CAMPAIGN.id, "browser") == 1
    slow.close()
    quick.close()


def test_a_backup_shows_the_same_in_either_kind(
    make_store: MakeStore, address: str, tmp_path: Path, database: str
) -> None:
    store = make_store()
    collector, random = opened(store, days(30)), np.random.default_rng(7)
    for number in range(30):
        store.append([single(random, days(number // 9)) for _ in range(1 + number % 6)])
        collector.catch_up()
        if number == 20:
            assert collector.fold(CAMPAIGN.id, days(1)) > 0
    copy = tmp_path / "monday.backup"
    backup(address, copy)
    targets = [str(tmp_path / "restored.sqlite")]
    if not address.startswith("postgresql"):
        targets.append(database)
    more = [single(random, days(4)) for _ in range(7)]
    for target in targets:
        restore(copy, target)
        made = open_store(target)
        again = opened(made)
        assert public(again) == public(collector)
        made.append(more)
        again.catch_up()
        if target == targets[-1]:
            store.append(more)
            collector.catch_up()
            assert public(again) == public(collector)
        made.close()


def test_a_report_that_is_taken_back_is_read_from_a_difference_only_by_guessing() -> None:
    """Shown at once, a withdrawal is read in every trial; with the rule in 6 % more trials than by guessing.

    The reader sees all counts before and after, and names the most likely of four equally frequent reports.
    """
    people, trials, kinds = 100, 1000, 4
    question, random = BROWSER, np.random.default_rng(8)
    right = 0
    for _ in range(trials):
        sequence = _Sequence(question, people)
        before, after = (random.integers(0, kinds, people).astype(np.uint8) for _ in range(2))
        sequence.add(DAY, [1], [before.tobytes()])
        seen = shown_counts(sequence, question)
        assert seen.sum() == people
        gone = Withdrawn(Slot(CAMPAIGN.id, "browser", DAY, ""), 2, 1, before[:1].tobytes(), DAY)
        sequence.remove(gone)
        assert (shown_counts(sequence, question) == seen).all()  # at once, this difference were the report
        sequence.add(DAY, [3], [after.tobytes()])
        step = shown_counts(sequence, question) - seen
        assert step.sum() == people - 1
        right += (
            int(np.argmin(step)) == before[0]
        )  # P(additions) of report k is in proportion to 1/(step[k] + 1)
    assert right / trials < 0.305 + 5 * (0.305 * 0.695 / trials) ** 0.5  # 0.305 of 20 000 trials


def shown_counts(sequence: _Sequence, question: Any) -> Any:
    """Return the counts that a sequence shows."""
    total = np.zeros(question.counting.size, dtype=np.int64)
    sequence.add_to(total, None, shown=True)
    return total
