"""What both stores promise: once, whole, durable, and recognised when it comes again."""

from __future__ import annotations

import datetime
import os
from typing import Any

import numpy as np
import pytest

from dither.collection.collector import Collector
from dither.collection.live import News, Slot
from dither.collection.refusals import Reason
from dither.collection.settings import Settings
from dither.collection.store.store import Arrived, CollectorStore, RefusedKey, Stored, StoreUnavailable
from dither.core.counts import Counts
from dither.errors import Mismatch
from tests.collection.campaigns import DAY, KEY, contract, published
from tests.collection.conftest import MakeStore

CAMPAIGN = contract()
NEXT = DAY + datetime.timedelta(1)


def arrived(seed: int, parts: int = 1, day: datetime.date = DAY, label: str = "") -> Arrived:
    random = np.random.default_rng(seed)
    minutes = random.integers(0, 1 << 16, 3, dtype=np.uint16).tobytes()
    browser = random.integers(0, 4, 5, dtype=np.uint8).tobytes()
    both = [
        (Slot(CAMPAIGN.id, "minutes", day, label), minutes),
        (Slot(CAMPAIGN.id, "browser", day, label), browser),
    ]
    return Arrived(random.bytes(16), tuple(both[:parts]))


def counts(store: CollectorStore) -> dict[str, Counts]:
    """Return what a fresh collector counts from a store."""
    live = Collector(store, Settings()).live
    return {name: live.summary(CAMPAIGN.id, name) for name in CAMPAIGN.questions}


def expected(batches: list[Arrived]) -> dict[str, Counts]:
    found: dict[str, Any] = {name: Counts.empty(one) for name, one in CAMPAIGN.questions.items()}
    for batch in batches:
        for slot, data in batch.parts:
            mechanism = CAMPAIGN.questions[slot.question]
            found[slot.question] += Counts.of(mechanism.reports(np.frombuffer(data, mechanism.layout)))
    return found


def test_batches_are_stored_once_and_recognised(make_store: MakeStore) -> None:
    store = make_store()
    store.publish(published())
    first, second = arrived(1), arrived(2, parts=2)
    assert store.append([first, second]) == [Stored.NEW, Stored.NEW]
    assert store.append([second, arrived(3), first]) == [Stored.REPEATED, Stored.NEW, Stored.REPEATED]
    for other in (
        Arrived(first.id, second.parts),
        Arrived(second.id, second.parts[:1]),
        Arrived(second.id, second.parts[::-1]),
        Arrived(first.id, ((first.parts[0][0]._replace(label="1.0"), first.parts[0][1]),)),
        Arrived(first.id, ((first.parts[0][0], first.parts[0][1][:-2]),)),
    ):
        assert store.append([other]) == [Stored.CONFLICT]
    late = Arrived(first.id, tuple((slot._replace(day=NEXT), data) for slot, data in first.parts))
    assert store.append([late]) == [Stored.REPEATED]
    store.close()
    again = make_store()
    assert counts(again) == expected([first, second, arrived(3)])
    assert again.append([first]) == [Stored.REPEATED]


def test_one_identity_twice_in_one_group(make_store: MakeStore) -> None:
    store = make_store()
    store.publish(published())
    one, other = arrived(1, parts=2), Arrived(arrived(1).id, arrived(2).parts)
    assert store.append([one, one, other]) == [Stored.NEW, Stored.REPEATED, Stored.CONFLICT]
    assert counts(store) == expected([one])


def test_a_folded_day_counts_the_same_and_still_recognises(make_store: MakeStore) -> None:
    store = make_store()
    store.publish(published())
    batches = [
        arrived(seed, 1 + seed % 2, DAY if seed < 60 else NEXT, ("", "1.0")[seed % 3 == 0])
        for seed in range(80)
    ]
    store.append(batches)
    live = Collector(store, Settings()).live
    assert live.labels(CAMPAIGN.id, "minutes") == ["", "1.0"]
    assert sorted(store.days()) == [(CAMPAIGN.id, DAY), (CAMPAIGN.id, NEXT)]
    assert store.fold(CAMPAIGN.id, DAY, live) == sum(len(one.parts) for one in batches[:60])
    assert store.append([batches[0]]) == [Stored.REPEATED]
    assert store.append([Arrived(batches[0].id, batches[1].parts)]) == [Stored.CONFLICT]
    late = arrived(99)  # on the folded day, by a clock that was set back
    assert store.append([late]) == [Stored.NEW]
    store.close()
    store = make_store()
    assert counts(store) == expected([*batches, late])
    assert store.forget({CAMPAIGN.id: DAY}) == 0
    assert store.forget({CAMPAIGN.id: NEXT}) == sum(len(one.parts) for one in batches[:60])
    assert store.append([batches[0]]) == [Stored.NEW]  # forgotten: its identity was kept long enough


def test_a_deleted_campaign_leaves_nothing(make_store: MakeStore) -> None:
    store = make_store()
    store.publish(published())
    store.append([arrived(1), arrived(2)])
    store.delete(CAMPAIGN.id)
    assert counts(store) == expected([])
    assert store.append([arrived(1)]) == [Stored.NEW]
    assert [one.id for one in store.campaigns()] == [CAMPAIGN.id]


def test_refusals_add(make_store: MakeStore) -> None:
    store = make_store()
    one, two = RefusedKey("", DAY, Reason.CAMPAIGN), RefusedKey(CAMPAIGN.id, DAY, Reason.RATE)
    store.refuse({one: 3})
    store.refuse({one: 2, two: 1})
    assert store.refusals() == {one: 5, two: 1}


def test_a_published_text_is_immutable(make_store: MakeStore) -> None:
    store = make_store()
    store.publish(published())
    store.publish(published())
    with pytest.raises(Mismatch, match="version = 2"):
        store.publish(published(people=7))
    store.publish(published(people=7, version=2))
    gone = published().retire(DAY, KEY)
    store.publish(gone)
    assert [one.retired is not None for one in store.campaigns()] == [True, False]


def test_two_processes_count_each_others_batches(database: str) -> None:
    """Only a database has several writers; here two stores of one process stand for them."""
    from dither.collection.store.postgresql import PostgresqlStore

    first, second = PostgresqlStore(database), PostgresqlStore(database)
    first.publish(published())
    one, two = Collector(first, Settings()), Collector(second, Settings())
    batches = [arrived(seed, 2) for seed in range(30)]
    for place, batch in enumerate(batches):
        assert (first, second)[place % 2].append([batch]) == [Stored.NEW]
    assert first.append([batches[1]]) == [Stored.REPEATED]
    one.catch_up()
    two.catch_up()
    assert one.live.n(CAMPAIGN.id, "minutes") == 90
    assert first.fold(CAMPAIGN.id, DAY, one.live) == 60
    late = arrived(77)  # the second has not heard of the folding
    second.append([late])
    with pytest.raises(StoreUnavailable, match="fold again"):
        second.fold(CAMPAIGN.id, DAY, two.live)
    for collector in (one, two, one):
        collector.catch_up()
        found = {name: collector.live.summary(CAMPAIGN.id, name) for name in CAMPAIGN.questions}
        assert found == expected([*batches, late])
    first.close()
    second.close()


def test_the_sizes_of_a_row(tmp_path: Any) -> None:
    """A single report takes less than 100 bytes of the file."""
    from dither.collection.store.sqlite import SqliteStore

    store = SqliteStore(tmp_path / "size.sqlite")
    slot = Slot(CAMPAIGN.id, "minutes", DAY, "")
    store.append([Arrived(os.urandom(16), ((slot, b"ab"),)) for _ in range(20_000)])
    store.close()
    assert (tmp_path / "size.sqlite").stat().st_size < 100 * 20_000
    assert CAMPAIGN.questions["minutes"].name == "Podium"


@pytest.mark.parametrize("name", ["news", "folded_counts"])
def test_counts_that_could_not_be_built_anew_are_built_at_the_next_look(
    make_store: MakeStore, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The store fails after it said that counts are to be built anew, and before it gave any."""
    store, batches = make_store(), [arrived(1), arrived(2)]
    store.publish(published())
    store.append(batches)
    collector = Collector(store, Settings())

    def fails() -> News:
        raise StoreUnavailable("cut off")

    vars(store).update({"_generation": -1, "_rebuild": True})  # for the one kind and the other
    monkeypatch.setattr(store, name, fails)
    with pytest.raises(StoreUnavailable):
        collector.catch_up()
    monkeypatch.undo()
    collector.catch_up()
    found = {question: collector.live.summary(CAMPAIGN.id, question) for question in CAMPAIGN.questions}
    assert found == expected(batches)
