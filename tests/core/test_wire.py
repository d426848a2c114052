"""Specifications: a part of a wrong type is refused, and one as long as a policy allows is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dither as dt
from dither.core import wire

UNIT = dt.Interval(0, 1)


def test_a_specification_says_that_a_part_must_be_a_text() -> None:
    for name in ("mechanism", "fingerprint", "device"):
        data = json.loads(dt.Podium(UNIT, epsilon=1).to_json())
        data[name] = ["Podium"]
        with pytest.raises(dt.errors.MalformedReport, match=f"{name}.*(?:as|be) a text"):
            dt.from_json(json.dumps(data))


def test_a_specification_of_as_many_bytes_as_the_policy_allows_is_read() -> None:
    text = dt.KRR(dt.Categories(["thé", "café"]), epsilon=1).to_json()
    size = len(text.encode())
    assert dt.from_json(text, policy=dt.privacy.Policy(epsilon=2, bytes=size)).epsilon == 1
    with pytest.raises(dt.errors.MalformedReport, match="bytes"):
        dt.from_json(text, policy=dt.privacy.Policy(epsilon=2, bytes=size - 1))


def test_the_json_of_a_specification_is_read_and_walked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And so is that of its device text, whoever reads: with a policy, from bytes, from a file of reports."""
    mechanism = dt.Podium(UNIT, epsilon=1)
    reports = mechanism.perturb([0.5] * 3)
    (tmp_path / "in.csv").write_text("x\n0.5\n", encoding="utf-8")
    dt.data.perturb_file(tmp_path / "in.csv", tmp_path / "out.csv", {"x": mechanism})
    policy = dt.privacy.Policy(epsilon=2)
    done = []

    def followed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def follow(*given: Any, **more: Any) -> Any:
            done.append(name)
            return function(*given, **more)

        return follow

    monkeypatch.setattr(wire, "check_bounds", followed("walked", wire.check_bounds))
    monkeypatch.setattr(json, "loads", followed("read", json.loads))
    readers: list[Callable[[], object]] = [
        lambda: dt.from_json(mechanism.to_json()),
        lambda: dt.from_json(mechanism.to_json(), policy=policy),
        lambda: dt.from_bytes(reports.to_bytes(), policy=policy),
        lambda: dt.data.summarise_file(tmp_path / "out.csv"),
    ]
    for read in readers:
        done.clear()
        read()
        assert done == ["read", "walked"] * 2
