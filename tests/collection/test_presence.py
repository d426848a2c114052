"""Presence at the collector: what is accepted, counted and shown, and when."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

import dither as dt
from dither.collection.collector import Collector, check
from dither.collection.presence import EMPTY_MESSAGE, MESSAGES, present_counts
from dither.collection.refusals import BatchRefused
from dither.core.batch import BatchBody, ReadBatch
from tests.collection.collectors import MONDAY, make

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
