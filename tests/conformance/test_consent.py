"""Consent of `dither-device` covers the campaigns that the vectors say it covers."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from dither_device.campaign import Campaign
from dither_device.consent import covers, general_of, record_of
from dither_device.total import total_of
from tests.conformance.consent import CHANGES, FILE, text

WHOLE = json.loads(FILE.read_text(encoding="utf-8"))


def test_the_file_is_what_the_script_writes() -> None:
    assert FILE.read_text(encoding="utf-8") == text(), "run python -m tests.conformance.consent"


@pytest.mark.parametrize("name", CHANGES)
def test_a_yes_to_the_first_campaign_covers(name: str) -> None:
    first, other = (
        Campaign(WHOLE["campaigns"][one]["published"], key=WHOLE["key"]) for one in ("first", name)
    )
    kept = {general_of(first, None, None): record_of(first)}
    covered = covers(kept.get(general_of(other, None, None)), other)
    assert covered == WHOLE["campaigns"][name]["covered"]


@pytest.mark.parametrize("case", WHOLE["totals"], ids=lambda case: case["terms"]["repeat"])
def test_the_total_of_terms(case: dict[str, Any]) -> None:
    """The periods of the vectors were counted with a calendar: 47 weeks from a Thursday to a Saturday."""
    epsilon = case["terms"]["promise"]["epsilon"]
    assert total_of(case["terms"], epsilon).epsilon == case["total"]
    shown = float(case["sure"].removesuffix(" %"))
    exact = 100 / (1 + Decimal(-(case["total"] or epsilon)).exp())
    assert exact <= Decimal(case["sure"].removesuffix(" %")) <= exact + (1 if shown < 99 else Decimal("0.1"))
