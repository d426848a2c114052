"""Campaigns that the tests of the collector share."""

from __future__ import annotations

import datetime
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import dither as dt
from dither.collection.campaign import Campaign
from dither.collection.published import Published

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
DAY = datetime.date(2026, 5, 4)
TOML = """
[campaign]
name = "commute"
asker = "city.example"
contact = "data@city.example"
purpose = "How long people travel, and in which browser they say so."
begins = 2026-05-01
ends = 2026-05-31
people = 50
repeat = "fresh"
labels = ["1.0", "1.1"]
reports_a_batch = 100000

[questions.minutes]
interval = [0, 180]
epsilon = 1
mechanism = "Podium"

[questions.browser]
categories = ["firefox", "chrome", "safari", "other"]
epsilon = 1.0
mechanism = "KRR"
"""


def contract(**changes: Any) -> Campaign:
    """Return the contract of the tests, with some terms changed."""
    made = Campaign.from_toml(TOML)
    terms = {name: getattr(made, name) for name in made.__dataclass_fields__}
    return Campaign(**{**terms, **changes})


def published(**changes: Any) -> Published:
    """Return the contract of the tests, signed."""
    return Published.sign(contract(**changes), KEY)


def hashed() -> dt.OLH:
    """Return a question whose reports are counted in blocks."""
    return dt.OLH(dt.Categories([f"item {number}" for number in range(300)]), epsilon=1)
