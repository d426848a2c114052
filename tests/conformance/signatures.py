"""The vector of a signed campaign, with a fixed key that signs nothing else.

`python -m tests.conformance.signatures` writes clients/conformance/2/signatures.json anew.
"""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import dither as dt
from dither.collection.campaign import Campaign
from dither.collection.published import Published

FILE: Final = Path(__file__).parents[2] / "clients" / "conformance" / "2" / "signatures.json"


KEY: Final = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))


def contract() -> Campaign:
    """Return the campaign that is signed."""
    return Campaign(
        name="waiting",
        version=1,
        asker="clinic.example",
        contact="privacy@clinic.example",
        purpose="How long people wait",
        begins=datetime.date(2026, 1, 1),
        ends=datetime.date(2026, 12, 31),
        questions={"minutes": dt.Podium(dt.Interval(0, 180), epsilon=1)},
    )


def text() -> str:
    """Return the file: a published campaign, its key, its identity and an address."""
    made = Published.sign(contract(), KEY)
    address = f"https://clinic.example/v1/campaigns/{made.id}"
    whole = {"published": made.to_json(), "key": made.key, "id": made.id, "address": address}
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
