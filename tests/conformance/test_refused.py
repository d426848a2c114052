"""Specifications that every device must refuse, and certified bounds of e^ε: what Python does with them."""

from __future__ import annotations

import json

import mpmath
import pytest

import dither as dt
from dither.errors import DitherError
from tests.conformance import opened, said
from tests.conformance.refused import BOUNDS, REFUSED, bounds, refused, text

CASES = json.loads(REFUSED.read_text(encoding="utf-8"))["refused"]


def test_the_files_are_what_the_script_writes() -> None:
    assert REFUSED.read_text(encoding="utf-8") == text("refused", refused())
    assert BOUNDS.read_text(encoding="utf-8") == text("bounds", bounds())
    assert len(CASES) >= 60
    assert len({one["specification"] for one in CASES}) == len(CASES)


def test_the_files_of_words_and_of_days_are_what_the_scripts_write() -> None:
    assert said.FILE.read_text(encoding="utf-8") == said.text(), "run python -m tests.conformance.said"
    assert opened.FILE.read_text(encoding="utf-8") == opened.text(), "run python -m tests.conformance.opened"


@pytest.mark.parametrize("one", CASES, ids=lambda one: f"{one['name']}, {one['reason']}"[:80])
def test_it_is_refused(one: dict[str, str]) -> None:
    with pytest.raises(DitherError):
        dt.from_json(one["specification"])


def test_bounds_hold_the_exponential_by_another_library() -> None:
    with mpmath.workprec(600):
        for one in json.loads(BOUNDS.read_text(encoding="utf-8"))["bounds"]:
            true = mpmath.exp(mpmath.mpf(one["epsilon"])) * 2**320
            below, above = int(one["below"], 16), int(one["above"], 16)
            assert below <= true <= above
            assert (above - below) * 2**200 < true
