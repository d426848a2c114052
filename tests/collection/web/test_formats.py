"""Forms of answers: the words of a campaign stand beside its names, whatever they contain."""

from __future__ import annotations

import csv
import io

from dither.collection.campaign import Campaign
from dither.collection.web.formats import COLUMNS, FORMATS, in_words

TOML = """
[campaign]
name = "words"
asker = "city.example"
contact = "mail@city.example"
purpose = "Words beside names"
begins = 2026-01-01
ends = 2026-12-31
languages = ["de", "en"]
purposes = { en = "In English" }
[questions.travel]
categories = ["bus", "car"]
epsilon = 1
text = { de = "=Wie <b>sind</b> Sie unterwegs?", en = "How do you travel?" }
names = { de = ["Mit dem Bus", "Mit dem Auto"], en = ["By bus", "By car"] }
[questions.minutes]
interval = [0, 180]
epsilon = 1
"""


def test_rows_have_the_words_of_the_first_language() -> None:
    blank = dict.fromkeys(COLUMNS)
    rows = [blank | {"question": "travel", "answer": "car"}, blank | {"question": "minutes"}]
    told = in_words(rows, Campaign.from_toml(TOML))
    assert [row["answer in words"] for row in told] == ["Mit dem Auto", None]
    assert [row["question in words"] for row in told] == ["=Wie <b>sind</b> Sie unterwegs?", None]
    read = list(csv.DictReader(io.StringIO(FORMATS["csv"].write("id", told).decode())))
    assert read[0]["question in words"] == "'=Wie <b>sind</b> Sie unterwegs?"  # no formula
    assert read[0]["answer"] == "car"
    assert read[1]["question in words"] == ""
