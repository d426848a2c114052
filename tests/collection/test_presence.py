"""Presence at the collector: what is accepted, counted and shown, and when."""

from __future__ import annotations

import datetime
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

import dither as dt
from dither.collection.campaign import Campaign
from dither.collection.collector import Collector, check
from dither.collection.ohttp import configuration
from dither.collection.presence import (
    EMPTY_MESSAGE,
    MESSAGES,
    presence_notes,
    presence_warnings,
    present_counts,
)
from dither.collection.refusals import BatchRefused
from dither.collection.settings import Settings
from dither.collection.store.store import Withdrawal
from dither.collection.terms import QuestionTerms
from dither.core.batch import BatchBody, ReadBatch
from tests.collection.collectors import MONDAY, TERMS, NoDisk, make
from tests.collection.conftest import MakeStore

WEEKS = [(MONDAY + datetime.timedelta(7 * place)).isoformat() for place in range(-1, 5)]
PRESENT: dict[str, Any] = {
    "repeat": "present",
    "every": "week",
    "expects": 10_000,
    "label_share": 0.5,
    "people": 20,
    "labels": ("1.0", "1.1", "test"),
    "begins": MONDAY,
    "ends": MONDAY + datetime.timedelta(27),
    "questions": {"since": dt.KRR(dt.Categories(WEEKS), epsilon=2)},
}


def collecting(day: datetime.date = MONDAY, **more: Any) -> tuple[Collector, str]:
    collector, published = make(day, **{**PRESENT, **more})
    return collector, published.id


def batch(reports: int = 0, label: str = "", fingerprint: str = "") -> ReadBatch:
    mark = fingerprint or PRESENT["questions"]["since"].fingerprint
    return ReadBatch.from_bytes(BatchBody.of("ab" * 16, [(mark, b"\1")] * reports, label).to_bytes())


def arrive(
    collector: Collector, campaign: str, count: int, day: int, reports: int = 0, label: str = ""
) -> None:
    collector.day = lambda: MONDAY + datetime.timedelta(day)
    for _ in range(count):
        for slot, data in check(collector, campaign, batch(reports, label)).parts:
            collector.live.add(slot, data)


def shown(collector: Collector, campaign: str, day: int) -> Any:
    contract = collector.campaigns[campaign].contract
    return present_counts(contract, collector.live, MONDAY + datetime.timedelta(day))


def test_a_message_has_a_label_of_one_kind() -> None:
    collector, campaign = collecting()
    (part,) = check(collector, campaign, batch(label="1.0")).parts
    assert part == ((campaign, MESSAGES, MONDAY, "1.0"), EMPTY_MESSAGE)
    assert check(collector, campaign, batch()).parts[0][0].label == ""
    assert check(collector, campaign, batch(1)).parts[0][0].question == "since"
    for wrong, reason in ((batch(1, "1.0"), "many"), (batch(2), "many"), (batch(label="9"), "label")):
        with pytest.raises(BatchRefused) as refused:
            check(collector, campaign, wrong)
        assert refused.value.reason.value == reason


def test_no_other_campaign_takes_a_batch_without_reports() -> None:
    collector, published = make(MONDAY)
    with pytest.raises(BatchRefused) as refused:
        check(collector, published.id, batch())
    assert refused.value.reason.value == "body"


def test_a_period_is_counted_exactly_and_shown_when_it_is_over() -> None:
    collector, campaign = collecting()
    arrive(collector, campaign, 30, 0, label="1.0")
    arrive(collector, campaign, 25, 6, label="1.1")
    arrive(collector, campaign, 40, 3, reports=1)
    arrive(collector, campaign, 7, 2, label="test")
    assert list(shown(collector, campaign, 6).periods) == []
    arrive(collector, campaign, 50, 7, label="1.1")
    counts = shown(collector, campaign, 7)
    assert (counts.periods, counts.messages, counts.public) == ((MONDAY,), (95,), (55,))
    assert counts.labels == {"1.0": (30,), "1.1": (25,)}
    assert counts.of_period(0).n == 40
    assert collector.live.n(campaign, "since", shown=True) == 0  # nothing is shown in steps
    assert collector.health()["reports"] == 0


def test_few_devices_are_not_shown_nor_follow_from_a_difference() -> None:
    collector, campaign = collecting()
    arrive(collector, campaign, 19, 0, label="1.0")
    arrive(collector, campaign, 5, 8, label="1.0")
    arrive(collector, campaign, 30, 8, label="1.1")
    arrive(collector, campaign, 40, 8, reports=1)
    counts = shown(collector, campaign, 14)
    assert counts.messages == (None, 75)
    # The 5 of 1.0 would follow from 75 − 40 − 30: so 1.1 is left out as well.
    assert counts.labels == {}
    assert counts.public == (0, 35)
    assert counts.of_period(1).n == 40


def test_a_campaign_may_count_alone_and_a_round_trip_keeps_all() -> None:
    collector, campaign = collecting(questions={}, label_share=None)
    arrive(collector, campaign, 30, 0, label="1.0")
    counts = shown(collector, campaign, 40)
    assert counts.messages == (30, None, None, None)
    again = type(counts).from_json(counts.to_json())
    assert (again.messages, again.labels, again.question) == (counts.messages, counts.labels, None)
    with pytest.raises(dt.errors.MalformedReport):
        type(counts).from_json(counts.to_json().replace('"week"', '"year"'))


def test_a_store_counts_the_same_after_folds_and_withdrawals(make_store: MakeStore) -> None:
    """What is taken back while the period lasts is not counted; afterwards its shown number stays."""
    terms = make(MONDAY, **PRESENT)[1]
    numbers = count(1)

    def at(day: int) -> Collector:
        collector = Collector(make_store(), Settings(), lambda: MONDAY + datetime.timedelta(day))
        collector.publish(terms)
        return collector

    def come(collector: Collector, size: int, label: str = "") -> list[bytes]:
        marked = [] if label else [(PRESENT["questions"]["since"].fingerprint, b"\1")]
        bodies = [BatchBody.of(f"{next(numbers):032x}", marked, label) for _ in range(size)]
        arrived = [check(collector, terms.id, ReadBatch.from_bytes(body.to_bytes())) for body in bodies]
        collector.store.append(arrived)
        collector.catch_up()
        return [one.id for one in arrived]

    def leave(collector: Collector, identities: list[bytes]) -> None:
        collector.store.withdraw([Withdrawal(one, terms.id, collector.day()) for one in identities])
        collector.catch_up()

    def public(collector: Collector) -> object:
        counts = present_counts(terms.contract, collector.live, collector.day())
        return counts.messages, counts.labels, np.asarray(counts.counts).tolist()

    collector = at(0)
    plain, marked = come(collector, 40, "1.0"), come(collector, 30)
    leave(collector, [*plain[:3], *marked[:2], bytes(16)])  # in their own week, and one that is unknown
    assert public(collector) == ((), {}, [])
    collector.store.close()
    collector = at(8)
    expected = ((65,), {"1.0": (37,)}, [[0, 28, 0, 0, 0, 0]])
    assert public(collector) == expected
    leave(collector, [*plain[3:30], *marked[2:20]])  # their week is over, and its numbers are known
    assert public(collector) == expected
    collector.store.close()
    for day in (9, 60):  # 60: folded, and identities are forgotten
        collector = at(day)
        assert public(collector)[0][:1] == expected[0]  # type: ignore[index]
        collector.tidy()
        collector.store.close()
    collector = at(62)
    assert public(collector) == (
        (65, None, None, None),
        {"1.0": (37, 0, 0, 0)},
        [[0, 28, 0, 0, 0, 0], *[[0] * 6] * 3],
    )


def test_a_period_is_shown_when_what_arrived_before_midnight_is_stored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A message of 23:59:59 may be stored after midnight, by another process, and would show alone."""
    sunday, monday = MONDAY + datetime.timedelta(6), MONDAY + datetime.timedelta(7)
    collector = Collector(NoDisk(), Settings())  # type: ignore[arg-type]
    for minute, expected in ((1, sunday), (9, sunday), (11, monday)):
        now = datetime.datetime.combine(monday, datetime.time(0, minute), datetime.UTC)
        clock = SimpleNamespace(datetime=SimpleNamespace(now=lambda zone, now=now: now), UTC=datetime.UTC)
        monkeypatch.setattr("dither.collection.collector.datetime", clock)
        assert (collector.day(), collector.settled_day()) == (monday, expected)


def test_an_author_is_warned_and_a_label_of_few_devices_is_refused() -> None:
    def terms(days: list[str] = WEEKS, **more: Any) -> Campaign:
        asked = dt.KRR(dt.Categories(days), epsilon=1)
        known = {"questions": {"since": asked}, "asks": {"since": QuestionTerms(form="installed")}}
        return Campaign(**{**TERMS, **PRESENT, **known, **more})

    assert presence_warnings(terms()) == []
    (relay,) = presence_notes(terms())
    assert "sealing_key" in relay
    assert presence_notes(terms(sealing_key=configuration(X25519PrivateKey.generate()))) == []
    (rare,) = presence_warnings(terms(expects=1000, people=100))
    assert "got 55.6 (1000 devices, 3 labels, 6 reports)" in rare
    months = ["2026-04-01", "2026-05-01", "2026-06-01"]
    (longer,) = presence_warnings(terms(months))
    assert "one label per week" in longer
    assert presence_warnings(terms(months, every="month")) == []
    with pytest.raises(dt.errors.InvalidParameter, match="at least 100 devices for a permanent label"):
        terms(WEEKS[:2], expects=99)
    assert terms(WEEKS[:2], expects=100).expects == 100
    alone = Campaign(**{**TERMS, **PRESENT, "questions": {}, "label_share": None, "expects": 5})
    assert alone.expects == 5  # devices are counted alone
