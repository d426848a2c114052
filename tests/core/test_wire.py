"""Specifications: a part of a wrong type is refused, and one as long as a policy allows is read."""

from __future__ import annotations

import pytest

import dither as dt

UNIT = dt.Interval(0, 1)


def test_a_specification_says_that_a_part_must_be_a_text() -> None:
    import json

    for name in ("mechanism", "fingerprint", "device"):
        data = json.loads(dt.Podium(UNIT, epsilon=1).to_json())
        data[name] = ["Podium"]
        with pytest.raises(dt.errors.MalformedReport, match=f"{name}.*must be a text"):
            dt.from_json(json.dumps(data))


def test_a_specification_of_as_many_bytes_as_the_policy_allows_is_read() -> None:
    text = dt.KRR(dt.Categories(["thé", "café"]), epsilon=1).to_json()
    size = len(text.encode())
    assert dt.from_json(text, policy=dt.privacy.Policy(epsilon=2, bytes=size)).epsilon == 1
    with pytest.raises(dt.errors.MalformedReport, match="bytes"):
        dt.from_json(text, policy=dt.privacy.Policy(epsilon=2, bytes=size - 1))
