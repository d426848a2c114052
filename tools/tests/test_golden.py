"""The program that writes golden texts adds what the file lacks and touches nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.golden.devices import FILE
from tools import golden


def test_only_what_is_lacking_is_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = json.loads(FILE.read_text(encoding="utf-8"))
    lacking = known.pop("KRR")
    known["ATP"]["fingerprint"] = "kept as it is"
    part = tmp_path / "devices.json"
    part.write_text(json.dumps(known), encoding="utf-8")
    monkeypatch.setattr(golden, "FILE", part)
    golden.devices()
    assert json.loads(part.read_text(encoding="utf-8")) == {**known, "KRR": lacking}
