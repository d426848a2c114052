"""Hostile words in a signed campaign: all readers refuse the same ones, and read the same ones as text."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

import dither as dt
from dither.collection.published import Published
from dither.collection.terms import QuestionTerms
from dither.errors import DitherError
from dither.foundation.canonical import canonical
from tests.conformance import test_go
from tests.conformance.campaigns import _signed as signed
from tests.conformance.signatures import KEY, contract
from tests.conformance.test_java import java  # noqa: F401  (a fixture)
from tests.conformance.test_javascript import CLIENT, node

MOST_QUESTIONS: Final = 1024
PLACES: Final = ("purpose", "other purpose", "contact", "question", "other question", "answer")
WORDS: Final = {  # by name: the words, and whether they are read
    "a million letters": ("x" * 10**6, False),
    "a million pairs of UTF-16": ("\U0001f600" * 10**6, False),
    "a million open directions": ("\u202e" * 10**6, False),
    "a million closed directions": ("\u2067" * 200 + "x" + "\u2069" * 200, True),
    "an open direction": ("abc\u202exyz", False),
    "right to left": ("\u2067كيف تسافر؟\u2069 \u05e9\u05dc\u05d5\u05dd", True),
    "HTML": ("<script>alert(1)</script><img src=x onerror=alert(1)>&lt;\"'", True),
    "NUL": ("a\0b", False),
    "an escape": ("a\x1b[2Jb", False),
    "a byte order": ("\ufeffabc", False),
}


def cases() -> dict[str, tuple[str, bool]]:
    """Return published campaigns, with valid signatures, and whether each is read."""
    text = {"en": "<question>", "de": "<other question>"}
    names = {"en": ("<answer>", "b"), "de": ("c", "d")}
    asks = {"travel": QuestionTerms(text=text, names=names)}
    questions = {"travel": dt.KRR(dt.Categories(["bus", "car"]), epsilon=1)}
    said = {"purpose": "<purpose>", "contact": "<contact>", "purposes": {"de": "<other purpose>"}}
    plain = replace(contract(), questions=questions, asks=asks, languages=("en", "de"), **said).text
    found = {}
    for place in PLACES:
        for name, (words, fine) in WORDS.items():
            if name.startswith("a million") and place not in ("purpose", "answer"):
                continue  # every reader takes a megabyte or four of it
            assert plain.count(f'"<{place}>"') == 1
            whole = signed(plain.replace(f'"<{place}>"', canonical(words)))
            # An address or a purpose has other limits: they are in the table of docs/wire.md.
            found[f"{place}: {name}"] = whole, fine and not (place == "contact" and len(words) > 300)
    return found


def many_questions() -> Iterator[tuple[str, tuple[str, bool]]]:
    """Yield a campaign with the most questions, and one with one more; each promises their sum."""
    stated = []
    for number in range(MOST_QUESTIONS + 1):
        question = dt.KRR(dt.Categories([f"{number}", "b"]), epsilon=1).question
        spent = json.loads(replace(contract(), questions={f"q{number}": question}).text)["questions"]
        stated += spent
    for count in (MOST_QUESTIONS, MOST_QUESTIONS + 1):
        total = sum(one["epsilon"] for one in stated[:count])
        promise = {"epsilon": total, "delta": None, "assumptions": []}
        terms = json.loads(contract().text) | {"questions": stated[:count], "promise": promise}
        yield f"{count} questions", (signed(canonical(terms)), count == MOST_QUESTIONS)


def wrong(command: list[str], *, long: bool = True) -> list[str]:
    """Return the campaigns of which a client has another verdict; those of a megabyte if `long`."""
    key = Published.sign(contract(), KEY).key
    asked = {name: case for name, case in cases().items() if long or len(case[0]) < 10**5}
    asked |= many_questions() if long else ()
    lines = [
        json.dumps({"id": name, "do": "campaign", "published": published, "key": key})
        for name, (published, _) in asked.items()
    ]
    done = subprocess.run(
        command, input="\n".join(lines) + "\n", capture_output=True, text=True, check=True, timeout=120
    )
    told: dict[str, Any] = {one["id"]: one for one in map(json.loads, done.stdout.splitlines())}
    assert not [name for name, one in told.items() if "error" in one]
    assert max(len(line) for line in done.stdout.splitlines() if "q1023" not in line) < 1000  # no words of it
    return [name for name, (_, fine) in asked.items() if ("campaign" in told[name]) != fine]


def test_python_reads_what_is_fine() -> None:
    told, longest = {}, 0
    for name, (published, _) in cases().items():
        try:
            told[name] = bool(Published.from_json(published).id)
        except DitherError as error:
            told[name], longest = False, max(longest, len(str(error)))
    assert told == {name: fine for name, (_, fine) in cases().items()}
    assert longest < 1000  # the words are not repeated


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_device_and_javascript_read_the_same(long: bool) -> None:
    assert wrong([sys.executable, "-m", "dither_device.conformance"], long=long) == []
    assert wrong([node(), str(CLIENT / "conformance.mjs")], long=long) == []


@pytest.mark.slow
def test_go_reads_the_same(tmp_path: Path) -> None:
    if test_go.found() is None:
        pytest.skip("there is no Go from 1.26 on")
    assert wrong([*test_go.compiled(tmp_path), "-answer"]) == []


@pytest.mark.slow
def test_java_reads_the_same(java: list[str]) -> None:  # noqa: F811
    assert wrong([*java, "dither.Conformance"]) == []
