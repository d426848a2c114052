"""Five readers give one verdict on mutated campaigns: Python, dither-device, JavaScript, Java and Go."""

from __future__ import annotations

import copy
import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from dither.collection.conformance import _answers
from dither.collection.secrets import public_part
from dither.errors import DitherError
from dither.foundation.canonical import canonical
from tests.conformance import test_go
from tests.conformance.campaigns import _signed, read_campaign
from tests.conformance.signatures import KEY
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
    published = _published(MANY)
    asked = [
        {"id": at, "do": "campaign", "published": one, "key": public_part(KEY)}
        for at, one in enumerate(published)
    ]
    lines = "\n".join(json.dumps(one, ensure_ascii=False) for one in asked) + "\n"
    ours = [_verdict(one) for one in published]
    assert 500 < sum(one is not None for one in ours) < MANY - 500
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
            [json.loads(published[at])["campaign"][:300] for at in wrong[:3]],
        )
