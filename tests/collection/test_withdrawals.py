"""Taking batches back: what a device sends and understands, and what a collector does."""

from __future__ import annotations

import json

from dither_device.exchange import judge_withdrawal
from dither_device.sending import withdrawal_body
from tests.conformance.withdrawals import FILE, text

VECTORS = json.loads(FILE.read_text(encoding="utf-8"))


def test_the_file_is_what_the_script_writes() -> None:
    assert FILE.read_text(encoding="utf-8") == text(), "run python -m tests.conformance.withdrawals"


def test_python_meets_the_vectors() -> None:
    for one in VECTORS["bodies"]:
        assert withdrawal_body(one["batch"]) == one["body"]
    for one in VECTORS["answers"]:
        told, _ = judge_withdrawal(one["batch"], one["status"], bytes.fromhex(one["content"]))
        assert told == one["withdrawn"], one
