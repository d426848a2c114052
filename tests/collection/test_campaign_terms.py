"""Terms of a campaign that accounts keep to, in both of Python: limits, phases, months, scales, places."""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dither as dt
from dither.collection.campaign import Campaign
from dither.collection.published import Published
from dither.collection.terms import Phase, QuestionTerms
from dither.errors import Refused
from dither_device.account import Account as DeviceAccount
from dither_device.campaign import Campaign as DeviceCampaign
from dither_device.text import Refused as DeviceRefused
from tests.conformance.signatures import KEY, contract

PAY = dt.SW(dt.Interval(0, 4), epsilon=0.1)
EDGES = (0, 1, 10, 100, 1000)
SQUARE = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))


def _campaign(**terms: Any) -> Campaign:
    days = {"begins": datetime.date(2020, 1, 1), "ends": datetime.date(2099, 12, 31)}
    return replace(contract(), **{"questions": {"pay": PAY}, **days, **terms})


class Both:
    """The two accounts of Python, asked the same."""

    def __init__(self, folder: Path, policy: Any = None) -> None:
        limits = {"epsilon": 50}
        self.ours = dt.Account.create(folder / "ours.account", policy=dt.privacy.Policy(epsilon=2), **limits)
        self.theirs = DeviceAccount.create(folder / "theirs.account", **limits)

    def answer(self, campaign: Campaign, name: str, value: Any) -> list[str]:
        """Return the word of each account for an answer."""
        asked = DeviceCampaign(Published.sign(campaign, KEY).to_json())
        told = []
        try:
            drawn = self.ours.answer(campaign.asking(name), value)
            told.append("silent" if drawn is None else "drawn")
        except Refused as error:
            told.append(error.reason)
        try:
            told.append(self.theirs.answer(asked.asking(name), value).outcome)
        except DeviceRefused as error:
            told.append(error.reason)
        return told


@pytest.fixture
def both(tmp_path: Path) -> Both:
    return Both(tmp_path)


def test_answers_are_counted_by_campaign(both: Both) -> None:
    first = _campaign(repeat="fresh", answers=2)
    assert both.answer(first, "pay", 1) == ["drawn"] * 2
    assert both.answer(first, "pay", 1) == ["drawn"] * 2
    assert both.answer(first, "pay", 1) == ["answers"] * 2
    assert both.answer(replace(first, version=2), "pay", 1) == ["drawn"] * 2


def test_a_person_answers_one_phase(both: Both) -> None:
    first = _campaign(phase=Phase(share=0.5))
    words = both.answer(first, "pay", 1)
    assert set(words) <= {"drawn", "phase"}
    second = replace(first, version=2, phase=Phase(follows=first.id))
    after = both.answer(second, "pay", 1)
    for before, now in zip(words, after, strict=True):
        assert (before, now) in {("drawn", "phase"), ("phase", "drawn"), ("phase", "repeated")}
    for account in (both.ours, both.theirs):
        assert len(account.wire()["entries"]) == 1
        assert len(account.wire()["coins"]) == 1


def test_a_day_is_drawn_in_each_month(both: Both) -> None:
    monthly = _campaign(repeat="once", every="month")
    assert set(both.answer(monthly, "pay", 1)) <= {"drawn", "silent"}
    for account in (both.ours, both.theirs):
        (choice,) = account.wire()["choices"]
        first = datetime.date(1970, 1, 1) + datetime.timedelta(choice["period"])
        day = datetime.date(1970, 1, 1) + datetime.timedelta(choice["day"])
        assert first.day == 1
        assert (first.year, first.month) == (day.year, day.month)


def test_values_are_put_on_the_scale_and_one_place_is_a_pair(both: Both) -> None:
    where = dt.TraCSC(SQUARE, epsilon=0.1)
    terms = {"pay": QuestionTerms(scale=EDGES)}
    asked = _campaign(questions={"pay": PAY, "where": where}, asks=terms, repeat="fresh")
    assert asked.value("pay", 55) == 2.5
    assert both.answer(asked, "pay", 5000) == ["drawn"] * 2
    assert both.answer(asked, "where", [0.25, 0.5]) == ["drawn"] * 2
    assert both.answer(asked, "where", [[0.25, 0.5]]) == ["drawn"] * 2
    sizes = {len(item["report"]) // 2 for item in both.theirs.queue if item["question"] == "where"}
    assert sizes == {asked.questions["where"].report_bytes}


def test_scaled_reports_are_those_of_the_position_on_the_scale() -> None:
    asked = _campaign(asks={"pay": QuestionTerms(scale=EDGES)}, repeat="fresh")
    sharp = replace(asked, questions={"pay": dt.SW(dt.Interval(0, 4), epsilon=30)})
    inquiry = sharp.asking("pay")
    drawn = [inquiry.draw(55, lambda: bytes(32)).values[0] for _ in range(50)]
    assert all(abs(value - 2.5) < 0.2 for value in drawn)
