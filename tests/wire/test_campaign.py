"""Campaigns: what is written is read, an object never changes, and a text that is none is refused."""

from __future__ import annotations

from typing import Any

import pytest

import dither as dt
from dither.errors import InvalidParameter
from dither.wire.schema import MOST_BYTES

UNIT = dt.Interval(0, 1)


def test_questions_cannot_be_added_to_a_campaign_that_exists() -> None:
    mine = {"age": dt.Podium(UNIT, epsilon=1)}
    campaign = dt.Campaign(mine)
    mine["more"] = dt.Podium(UNIT, epsilon=5)
    assert list(campaign.questions) == ["age"]
    with pytest.raises(TypeError):
        campaign.questions["more"] = mine["more"]  # type: ignore[index]


@pytest.mark.parametrize("interval", ["5", "[1]", "[0, 1, 2]", '"01"', "{low = 0, high = 1}"])
def test_an_interval_is_a_pair(interval: str) -> None:
    with pytest.raises(InvalidParameter, match="pair of numbers"):
        dt.Campaign.from_toml(f'[questions.age]\nmechanism = "podium"\nepsilon = 1\ninterval = {interval}\n')


def test_the_longest_text_is_read_and_a_longer_one_is_not() -> None:
    text = '[questions.age]\nmechanism = "podium"\nepsilon = 1\ninterval = [0, 1]\n#'
    longest = text + "x" * (MOST_BYTES - len(text))
    assert list(dt.Campaign.from_toml(longest).questions) == ["age"]
    with pytest.raises(InvalidParameter, match="characters"):
        dt.Campaign.from_toml(longest + "x")


@pytest.mark.parametrize("text", [None, 5, b"[questions]", ["a"]])
def test_a_campaign_is_a_text(text: Any) -> None:
    with pytest.raises(InvalidParameter, match="a campaign is a text"):
        dt.Campaign.from_toml(text)


def test_a_specification_says_that_a_part_must_be_a_text() -> None:
    import json

    for name in ("mechanism", "fingerprint", "device"):
        data = json.loads(dt.to_json(dt.Podium(UNIT, epsilon=1)))
        data[name] = ["Podium"]
        with pytest.raises(dt.errors.MalformedReport, match=f"{name}.*must be a text"):
            dt.from_json(json.dumps(data))


def test_a_specification_of_as_many_bytes_as_the_policy_allows_is_read() -> None:
    text = dt.to_json(dt.KRR(dt.Categories(["thé", "café"]), epsilon=1))
    size = len(text.encode())
    assert dt.from_json(text, policy=dt.Policy(epsilon=2, bytes=size)).epsilon == 1
    with pytest.raises(dt.errors.MalformedReport, match="bytes"):
        dt.from_json(text, policy=dt.Policy(epsilon=2, bytes=size - 1))
