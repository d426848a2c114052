"""The card of a campaign has its schema, and computed numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dither as dt
from dither.advice.card import card, schema
from dither.errors import InvalidParameter
from tests.support.terminal import run

AGE = {"age": dt.Podium(dt.Interval(18, 100), epsilon=1)}
TOML = """
[questions.minutes]
interval = [0, 180]
epsilon = 0.5
[questions.heading]
circle = 360
epsilon = 0.25
[questions.browser]
categories = ["firefox", "chrome", "other"]
epsilon = 0.25
"""


def fits(value: Any, given: dict[str, Any], whole: dict[str, Any]) -> bool:
    """Check a value against the part of JSON schema that the card uses; written here, from its definition."""
    if "$ref" in given:
        return fits(value, whole["$defs"][given["$ref"].rpartition("/")[2]], whole)
    kinds = {
        "object": dict,
        "array": list,
        "string": str,
        "integer": int,
        "number": (int, float),
        "null": type(None),
    }
    names = given.get("type", [])
    if names and not any(
        isinstance(value, kinds[name]) for name in ([names] if isinstance(names, str) else names)
    ):
        return False
    if ("const" in given and value != given["const"]) or ("enum" in given and value not in given["enum"]):
        return False
    if isinstance(value, dict):
        parts = given.get("properties", {})
        missing = set(given.get("required", [])) - set(value)
        surplus = set(value) - set(parts) if given.get("additionalProperties") is False else set()
        return (
            not missing and not surplus and all(fits(value[key], parts.get(key, {}), whole) for key in value)
        )
    if isinstance(value, list):
        return all(fits(one, given.get("items", {}), whole) for one in value)
    return True


def test_the_card_has_its_schema(tmp_path: Path) -> None:
    campaign, out = tmp_path / "survey.toml", tmp_path / "card.json"
    campaign.write_text(TOML)
    stated = (
        "--asker",
        "City of X",
        "--contact",
        "data@x.example",
        "--people",
        5000,
        "--begins",
        "2026-05-01",
    )
    assert run("card", campaign, *stated, "-o", out).exit_code == 0
    made, form = json.loads(out.read_text()), schema()
    assert fits(made, form, form)
    assert not fits({**made, "extra": 1}, form, form)
    assert not fits({**made, "people": "many"}, form, form)
    assert made["promise"]["epsilon"] == pytest.approx(1.0)
    assert made["promise"]["unit"] == "one record"
    assert json.loads(run("card", "--schema").output) == form
    assert run("card", campaign, *stated, "-o", out).exit_code == 2  # it exists
    for words in ((), ("--asker", "A"), (*stated, "--ends", "tomorrow"), (*stated, "--ends", "2026-04-01")):
        assert run("card", campaign, *words).exit_code == 2
    with pytest.raises(InvalidParameter, match="names the contact"):
        card(AGE, asker="A", contact=" ")
    with pytest.raises(InvalidParameter, match="people to be an integer"):
        card(AGE, asker="A", contact="b", people=0)
