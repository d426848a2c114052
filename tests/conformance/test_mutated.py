"""Five readers give one verdict on mutated campaigns: Python, dither-device, JavaScript, Java and Go."""

from __future__ import annotations

import copy
import datetime
import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from dither.collection.conformance import _answers
from dither.collection.published import Published
from dither.collection.secrets import public_part
from dither.errors import DitherError
from dither.foundation.canonical import canonical
from tests.conformance import test_go
from tests.conformance.campaigns import _signed, read_campaign
from tests.conformance.lists import NEXT, THIRD, key_before
from tests.conformance.signatures import KEY, contract
from tests.conformance.term_ends import LATER
from tests.conformance.test_java import compiled
from tests.conformance.test_javascript import CLIENT, node
from tests.conformance.texts import FILE

MANY = 10_000
OTHERS: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2,
        0.5,
        999,
        1000,
        2**31,
        1e300,
        "",
        " ",
        "x",
        "a\nb",
        "a\x1bb",
        "é",
        "\u200b",
    ),
    *(
        "\u202ea",
        "\u2067a\u2069",
        "en",
        "day",
        "2026-05-01",
        "0" * 64,
        "x" * 501,
        [],
        {},
        [1],
        ["a"],
        [0, 1, 2],
    ),
    *({"en": "a"}, {"share": 100}, {"follows": "0" * 64}),
)
AROUND = ("note", "card", "key_before", "retired", "day", "signature", "text", "key", "campaign")
NAMES = (
    *(
        "answers",
        "days",
        "every",
        "changes",
        "label_share",
        "expects",
        "phase",
        "languages",
        "purposes",
        "note",
    ),
    *("unit", "step", "scale", "form", "clipped", "outside", "text", "names", "delta"),
)


def _places(data: Any) -> list[tuple[Any, Any]]:
    """Return all pairs of a list or an object and an index or a key of it."""
    found: list[tuple[Any, Any]] = []
    inside = [data]
    for part in inside:
        keys = part if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else ()
        for key in keys:
            found.append((part, key))
            inside.append(part[key])
    return found


def mutated(text: str, draw: random.Random) -> str:
    """Return the text of a campaign with one to three changes, as canonical JSON."""
    data = json.loads(text)
    for _ in range(draw.choice((1, 1, 2, 3))):
        holder, key = draw.choice([(part, key) for part, key in _places(data) if key != "specification"])
        kind = draw.randrange(4)
        if kind == 0:
            holder[key] = copy.deepcopy(draw.choice(OTHERS))
        elif kind == 1:
            del holder[key]
        elif kind == 2:
            inner = (
                draw.choice([data, *data["questions"]]) if isinstance(data.get("questions"), list) else data
            )
            if isinstance(inner, dict):
                inner[draw.choice(NAMES)] = copy.deepcopy(draw.choice(OTHERS))
        elif isinstance(holder[key], int | float) and not isinstance(holder[key], bool):
            holder[key] = holder[key] + draw.choice((-1, 1, 1e-7, 100))
    return canonical(data)


def _published(count: int) -> list[str]:
    draw, rows = random.Random("mutated"), json.loads(FILE.read_text(encoding="utf-8"))["campaigns"]
    texts = [
        json.loads(row["published"])["campaign"]
        for row in rows
        if row["verdict"] == "read" and row["name"] != LATER
    ]
    plain = [text for text in dict.fromkeys(texts) if isinstance(text, str)]
    return [_signed(mutated(draw.choice(plain), draw)) for _ in range(count)]


def _around(count: int) -> list[str]:
    """Return published campaigns with changes around their text: keys, signatures, retirement, card."""
    draw, signed = random.Random("around"), Published.sign(contract(), KEY)
    others = [
        signed.retire(datetime.date(2026, 6, 1), KEY),
        Published.sign(contract(), NEXT, key_before(KEY, NEXT)),
        Published.sign(contract(), KEY, key_before(THIRD, KEY)),
    ]
    whole = [json.loads(made.to_json()) for made in (signed, *others)]
    found = []
    for _ in range(count):
        data = copy.deepcopy(draw.choice(whole))
        for _ in range(draw.choice((1, 1, 2))):
            holder, key = draw.choice(_places(data))
            kind, given = draw.randrange(5), holder[key]
            if kind == 0:
                holder[key] = copy.deepcopy(draw.choice(OTHERS))
            elif kind == 1:
                del holder[key]
            elif kind == 2 and isinstance(holder, dict):
                holder[draw.choice(AROUND)] = copy.deepcopy(draw.choice(OTHERS))
            elif kind == 3:
                data |= {name: part for name, part in draw.choice(whole).items() if draw.random() < 0.3}
            elif isinstance(given, str) and given:
                at = draw.randrange(len(given))
                holder[key] = (
                    given[:at] + draw.choice(("0", "f", " ", "", given[at].upper())) + given[at + 1 :]
                )
        found.append(json.dumps(data, ensure_ascii=draw.random() < 0.5))
    return found


def _verdict(published: str) -> str | None:
    try:
        return str(read_campaign(published)["campaign"])
    except DitherError:
        return None


@pytest.mark.slow
def test_five_readers_give_one_verdict_on_mutated_campaigns(tmp_path: Path) -> None:
    java = compiled(tmp_path)
    if java is None:
        pytest.skip("there is no JDK on this machine")
    published = _published(MANY) + _around(MANY // 4)
    asked = [
        {"id": at, "do": "campaign", "published": one, "key": public_part(KEY)}
        for at, one in enumerate(published)
    ]
    lines = "\n".join(json.dumps(one, ensure_ascii=False) for one in asked) + "\n"
    ours = [_verdict(one) for one in published]
    assert 500 < sum(one is not None for one in ours) < len(ours) - 500
    commands = {
        "dither-device": [sys.executable, "-m", "dither_device.conformance"],
        "JavaScript": [node(), str(CLIENT / "conformance.mjs")],
        "Java": [*java, "dither.Conformance"],
    }
    if test_go.found() is not None:
        (tmp_path / "go").mkdir()
        commands["Go"] = [*test_go.compiled(tmp_path / "go"), "-answer"]
    for name, command in commands.items():
        told = _answers(command, lines, 600.0)
        wrong = [at for at, one in enumerate(ours) if told.get(at, {}).get("campaign") != one]
        assert wrong == [], (
            name,
            len(wrong),
            [published[at][:400] for at in wrong[:3]],
        )
