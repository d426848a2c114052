"""Published campaigns that have every term between them, and a list, kept as they were written.

A campaign that people answered must be readable for ever, with the same identity. If a test here fails, the
format changed: it must not, but by a new version beside this one.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from typing import Any, Final

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dither.collection.campaign import Campaign
from dither.collection.campaign_list import CampaignList
from dither.collection.published import Published
from dither.collection.secrets import public_part
from dither.collection.signatures import KeyBefore
from dither.collection.terms import QuestionTerms
from tests.support.repository import ROOT

FILE: Final = ROOT / "tests" / "golden" / "campaign-2.json"
OLD, NEW = (Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name).digest()) for name in (b"old", b"new"))
HEAD: Final = """
[campaign]
name = "commute"
version = 3
asker = "Stadt Zürich"
contact = "daten@stadt.example"
purpose = "How long people travel.\\nFor the timetable of 2027."
begins = 2026-05-01
ends = 2026-07-31
people = 250
labels = ["1.0", "1.1 β"]
"""
PERIODS: Final = """
repeat = "once"
days = 7
retry = 2
sealing_key = "6a0020de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f000400010001"
reports_a_batch = 500
languages = ["en", "de-CH"]
purposes = { de-CH = "Wie lange man unterwegs ist.\\nFür den Fahrplan 2027." }

[questions.minutes]
interval = [0, 180]
epsilon = 1
mechanism = "Podium"
step = 15
unit = "minutes"
clipped = true
outside = [0.02, 0.01, 0.04]
text = { en = "How long did it take?", de-CH = "Wie lange hat es gedauert?" }

[questions.direction]
circle = 360
epsilon = 2
mechanism = "OGPM"

[questions.means]
categories = ["foot", "bicycle", "train", "car", "other"]
epsilon = 1.5
mechanism = "KRR"
names = { en = ["on foot", "by bicycle", "by train", "by car", "other"], de-CH = ["zu Fuss", "mit dem Velo", "mit dem Zug", "mit dem Auto", "anders"] }

[questions.line]
categories = ["2", "4", "7", "8", "9", "10", "11", "13", "14", "15", "17", "none"]
epsilon = 0.5
mechanism = "SubsetSelection"
"""  # noqa: E501
ANSWERS: Final = """
repeat = "fresh"
answers = 12
phase = { share = 0.1 }

[questions.pay]
interval = [0, 100000]
scale = "log"
epsilon = 1
mechanism = "SW"
unit = "CHF"

[questions.day]
date = [2026-05-01, 2026-07-31]
epsilon = 1
mechanism = "Podium"

[questions.hour]
time = true
epsilon = 1
mechanism = "OGPM"

[questions.where]
rectangle = [[0, 1], [0, 2]]
epsilon = 1
mechanism = "TraCSC"
"""
CHANGES: Final = """
repeat = "kept change"
days = 28
changes = 2

[questions.smokes]
categories = ["no", "yes"]
epsilon = 1
mechanism = "KRR"
"""
PRESENCE: Final = """
repeat = "present"
every = "week"
label_share = 0.7
expects = 5000

[questions.since]
categories = ["2026-05-04", "2026-05-11", "2026-05-18"]
installed = true
epsilon = 2
mechanism = "KRR"
"""
TOML: Final = HEAD + PERIODS
ALL: Final = (TOML, HEAD + ANSWERS, HEAD + CHANGES, HEAD + PRESENCE)


def written() -> str:
    """Return the file as it is written today."""
    present = public_part(NEW)
    before = KeyBefore(public_part(OLD), OLD.sign(b"dither next key 1\n" + present.encode()).hex())
    contracts = [Campaign.from_toml(text) for text in ALL]
    published = [Published.sign(contract, NEW, before) for contract in contracts]
    published[0] = published[0].retire(datetime.date(2026, 7, 1), NEW)
    known = CampaignList.extend(None, OLD, published=contracts[0].id)
    known = CampaignList.extend(known, NEW, before, next_key=present)
    known = CampaignList.extend(known, NEW, before, retired=contracts[0].id, day="2026-07-01")
    kept = [{"id": each.id, "published": each.to_json()} for each in published]
    whole = {"pinned": before.key, "campaigns": kept, "list": known.to_json()}
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


KEPT: Final[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}


@pytest.mark.parametrize("number", range(len(ALL)))
def test_the_campaign_is_read_as_ever(number: int) -> None:
    kept = KEPT["campaigns"][number]
    published = Published.from_json(kept["published"], key=KEPT["pinned"])
    assert published.id == kept["id"] == hashlib.sha256(published.contract.text.encode()).hexdigest()
    assert published.contract == Campaign.from_toml(ALL[number])
    assert Published.from_store(kept["published"]) == published


def test_the_list_is_read_as_ever() -> None:
    known = CampaignList.from_json(KEPT["list"], key=KEPT["pinned"])
    assert known.campaigns == {KEPT["campaigns"][0]["id"]: datetime.date(2026, 7, 1)}


def test_it_is_written_as_ever() -> None:
    assert written() == FILE.read_text(encoding="utf-8")


def test_they_have_every_term() -> None:
    texts = [json.loads(json.loads(kept["published"])["campaign"]) for kept in KEPT["campaigns"]]
    terms = {name for name in Campaign.__dataclass_fields__ if name not in ("asks", "signed_text")}
    assert set().union(*texts) == terms | {"dither-campaign", "promise"}
    asked = set().union(*(question for text in texts for question in text["questions"]))
    assert asked == {"name", "specification", "epsilon", "step", "unit", *QuestionTerms.__dataclass_fields__}
