"""The vector of a signed campaign is what Python signs; test/signatures.test.mjs reads it in Node."""

from __future__ import annotations

import json

import pytest

from dither.collection.published import Published
from dither.errors import DitherError
from tests.conformance.signatures import FILE, text


def test_the_file_is_what_the_script_writes() -> None:
    assert FILE.read_text(encoding="utf-8") == text()


def test_python_reads_it_with_the_pinned_key_alone() -> None:
    made = json.loads(FILE.read_text(encoding="utf-8"))
    assert Published.from_json(made["published"], key=made["key"]).id == made["id"]
    with pytest.raises(DitherError):
        Published.from_json(made["published"], key="1" * 64)
