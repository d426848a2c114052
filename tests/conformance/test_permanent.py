"""Answers per value: the vectors are met by Python, and by nobody who keys them by less, or by more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import dither as dt
from dither.collection.conformance import alike
from tests.conformance import permanent

Ask = dict[str, Any]


def report(ask: Ask, mechanism: Any = None, **more: Any) -> str:
    asked = {**ask, **more}
    mechanism = dt.from_json(ask["specification"]) if mechanism is None else mechanism
    path = isinstance(asked["value"], list) and mechanism.unit == "location"
    times = {"times": 1} if path else {}
    question = dt.Inquiry(asked["question"], mechanism, asker=asked["asker"], repeat="per value", **times)
    return question.to_bytes(question.draw(asked["value"], lambda: bytes.fromhex(asked["key"]))).hex()


def failed(answer: Callable[[Ask], str]) -> list[str]:
    return [one["name"] for one in permanent.cases() if alike(map(answer, one["asks"])) != one["alike"]]


def test_the_file_is_what_the_script_writes() -> None:
    assert permanent.FILE.read_text() == permanent.text(), "run python -m tests.conformance.permanent"


def test_python_meets_the_vectors() -> None:
    assert failed(report) == []


WRONG: dict[str, Callable[[Ask], str]] = {
    "without the asker": lambda ask: report(ask, asker=""),
    "asker and name without a boundary": lambda ask: report(
        ask, asker="", question=ask["asker"] + ask["question"]
    ),
    "with a space between": lambda ask: report(ask, asker="", question=f"{ask['asker']} {ask['question']}"),
    "without the name": lambda ask: report(ask, question="q"),
    "without the device text": lambda ask: report(ask, permanent.LIST if ask["value"] == 3 else None),
    "without the key": lambda ask: report(ask, key="00" * 32),
    "without the value": lambda ask: report(ask, value=ask["value"] if isinstance(ask["value"], list) else 3),
    "by the raw value": lambda ask: report(ask, question=f"{ask['question']} {ask['value']}"),
    "anew": lambda ask: report(ask, key=dt.Memoised.new_key().hex()),
}


@pytest.mark.some(every=3)
@pytest.mark.parametrize("name", WRONG)
def test_wrong_keys_are_found(name: str) -> None:
    assert failed(WRONG[name])
