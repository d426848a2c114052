"""A published campaign with every term and its list, kept as they were written: the format rests.

A campaign that people answered must be readable for ever, with the same identity. If a test here fails, the
format changed: it must not, but by a new version beside this one.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dither.collection.campaign import Campaign, CampaignLog, KeyBefore, Published
from dither.collection.secrets import public_part
from tests.support.repository import ROOT

FILE: Final = ROOT / "tests" / "golden" / "campaign-1.json"
OLD, NEW = (Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name).digest()) for name in (b"old", b"new"))
TOML: Final = """
[campaign]
name = "commute"
version = 3
asker = "Stadt Zürich"
contact = "daten@stadt.example"
purpose = "How long people travel.\\nFor the timetable of 2027."
begins = 2026-05-01
ends = 2026-07-31
people = 250
repeat = "once"
days = 7
labels = ["1.0", "1.1 β"]
sealing_key = "6a0020de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f000400010001"
reports_a_batch = 500

[questions.minutes]
interval = [0, 180]
epsilon = 1
mechanism = "Podium"
step = 15
unit = "minutes"

[questions.direction]
circle = 360
epsilon = 2
mechanism = "OGPM"

[questions.means]
categories = ["foot", "bicycle", "train", "car", "other"]
epsilon = 1.5
mechanism = "KRR"

[questions.line]
categories = ["2", "4", "7", "8", "9", "10", "11", "13", "14", "15", "17", "none"]
epsilon = 0.5
mechanism = "SubsetSelection"
"""


def written() -> str:
    """Return the file as it is written today."""
    contract = Campaign.from_toml(TOML)
    present = public_part(NEW)
    before = KeyBefore(public_part(OLD), OLD.sign(b"dither next key 1\n" + present.encode()).hex())
    published = Published.sign(contract, NEW, before).retire(datetime.date(2026, 7, 1), NEW)
    log = CampaignLog.extend(None, OLD, published=contract.id)
    log = CampaignLog.extend(log, NEW, before, next_key=present)
    log = CampaignLog.extend(log, NEW, before, retired=contract.id, day="2026-07-01")
    whole = {"id": contract.id, "pinned": before.key, "published": published.to_json(), "log": log.to_json()}
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


KEPT: Final[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}


def test_the_campaign_is_read_as_ever() -> None:
    published = Published.from_json(KEPT["published"], key=KEPT["pinned"])
    assert published.id == KEPT["id"] == hashlib.sha256(published.contract.text.encode()).hexdigest()
    assert published.contract == Campaign.from_toml(TOML)
    log = CampaignLog.from_json(KEPT["log"], key=KEPT["pinned"])
    assert log.campaigns == {KEPT["id"]: datetime.date(2026, 7, 1)}


def test_it_is_written_as_ever() -> None:
    assert written() == FILE.read_text(encoding="utf-8")


def test_it_has_every_term() -> None:
    text = json.loads(json.loads(KEPT["published"])["campaign"])
    terms = {name for name in Campaign.__dataclass_fields__ if name not in ("questions", "signed_text")}
    assert set(text) == terms | {"dither-campaign", "promise", "questions", "reading"}
    assert all(text[name] not in (None, [], "", 1) for name in terms)
