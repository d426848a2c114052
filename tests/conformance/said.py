"""Vectors of words: what people are shown of a question, by the languages that they want.

`python -m tests.conformance.said` writes clients/conformance/2/words.json anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import dither as dt
from dither.collection.campaign import Campaign
from dither.collection.published import Published
from dither.collection.terms import QuestionTerms
from tests.conformance.refused import FOLDER
from tests.conformance.signatures import KEY, contract

FILE: Final = FOLDER / "words.json"
LANGUAGES: Final = ("en", "de-CH", "zh-Hant", "ar", "de")
TEXT: Final = {
    "en": "How do you <b>travel</b>? &amp;",
    "de-CH": "Wie sind Sie unterwegs?",
    "zh-Hant": "你怎麼去?",
    "ar": "كيف تسافر؟ \u2067abc\u2069",
    "de": "Wie sind Sie heute unterwegs?",
}
NAMES: Final = {tag: tuple(f"{tag} {name}" for name in ("bus", "<i>car</i>", "no answer")) for tag in TEXT}
WANTED: Final = (
    *(["en"], ["de"], ["de-CH"], ["de-AT"], ["zh-Hans-CN"], ["ar-EG"], ["fr"], ["fr", "ar", "en"]),
    *(["x", "", "de-Latn-AT"], ["EN"], ["e"]),
)


def campaign() -> Campaign:
    """Return a campaign of questions with words and without them."""
    questions: dict[str, Any] = {
        "travel": dt.KRR(dt.Categories(["bus", "car", None]), epsilon=1),
        "rooms": dt.KRR(dt.Categories([1, 2.5, "4 <or> more", None]), epsilon=1),
        "apps": dt.SetResponse(dt.Several(["mail", "maps"], most=1), epsilon=1),
        "code": dt.KRR(dt.Categories(7), epsilon=1),
        "minutes": dt.Podium(dt.Interval(0, 180), epsilon=1),
        "__proto__": dt.Podium(dt.Interval(0, 90), epsilon=1),
    }
    apps = {tag: (f"{tag} mail", f"{tag} maps") for tag in TEXT}
    asks = {"travel": QuestionTerms(text=TEXT, names=NAMES), "apps": QuestionTerms(names=apps)}
    purposes = {tag: f"Purpose in {tag}" for tag in LANGUAGES[1:]}
    return replace(contract(), questions=questions, asks=asks, languages=LANGUAGES, purposes=purposes)


def words(made: Campaign) -> Iterator[dict[str, Any]]:
    """Yield what is said about each question, for each list of languages."""
    for name in made.questions:
        for wanted in WANTED if name in ("travel", "apps") else WANTED[:1]:
            inquiry = made.asking(name)
            labels = [{"value": value, "text": text} for value, text in inquiry.labels(*wanted)]
            yield {"question": name, "languages": wanted, "text": inquiry.text(*wanted), "labels": labels}


def text() -> str:
    """Return the file, one line for each question and list of languages."""
    made = campaign()
    published = Published.sign(made, KEY)
    head = json.dumps({"dither": 2, "key": published.key, "published": published.to_json()})
    rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in words(made))
    return f'{head[:-1]}, "words": [\n{rows}\n]}}\n'


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
