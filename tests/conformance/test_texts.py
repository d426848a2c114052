"""Texts with a verdict: what Python reads and refuses. `dither conformance` asks JavaScript the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dither.errors import DitherError
from tests.conformance.term_ends import LATER, read_later
from tests.conformance.texts import FILE, READ, read_campaign, read_specification, text

WHOLE = json.loads(FILE.read_text(encoding="utf-8"))
CASES = [(one, "specification", read_specification) for one in WHOLE["specifications"]]
CASES += [
    (one, "published", read_later if one["name"] == LATER else read_campaign) for one in WHOLE["campaigns"]
]


def test_the_file_is_what_the_script_writes() -> None:
    assert FILE.read_text(encoding="utf-8") == text(), "run python -m tests.conformance.texts"
    for _, field, _ in (CASES[0], CASES[-1]):
        texts = [one[field] for one, kind, _ in CASES if kind == field]
        assert len(set(texts)) == len(texts) >= 60


@pytest.mark.parametrize(
    ("one", "field", "read"), CASES, ids=[f"{one['name']}, {one['reason']}"[:80] for one, _, _ in CASES]
)
def test_python_gives_the_verdict(one: dict[str, Any], field: str, read: Any) -> None:
    if one["verdict"] == READ:
        found = read(one[field])
        assert {name: one[name] for name in found} == found
    else:
        with pytest.raises(DitherError):
            read(one[field])
