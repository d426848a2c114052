"""A file of an account of version 2, as it was written then: it opens, and never charges less."""

from __future__ import annotations

import datetime
import gzip
import sqlite3
from pathlib import Path

import dither as dt
from dither.collection.account.clock import ClockReading
from tests.support.repository import ROOT

FILE = ROOT / "tests" / "golden" / "files" / "account-2.sqlite.gz"
NOON = 1_728_043_200  # 2024-10-04
POLICY = dt.privacy.Policy(epsilon=2)
SMOKES = dt.KRR(dt.Categories(["no", "yes"]), epsilon=1)


def _version(file: Path) -> int:
    connection = sqlite3.connect(file)
    try:
        found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    finally:
        connection.close()
    return found


def test_an_account_of_version_2_opens_and_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "me.account"
    file.write_bytes(gzip.decompress(FILE.read_bytes()))
    file.chmod(0o600)
    assert _version(file) == 2
    account = dt.Account.open(file, policy=POLICY, now=lambda: ClockReading(NOON, "first", 100))
    state = account.wire()
    assert state["account"] == 3
    assert [choice["repeat"] for choice in state["choices"]] == ["kept change", "once"]
    assert len(state["entries"]) == 2
    daily = dt.Inquiry(
        *("mood", SMOKES), asker="clinic.example", repeat="once", days=1, start=datetime.date(2024, 10, 1)
    )
    assert account.answer(daily, "yes") is None  # the day was answered, and is not charged again
    same = dt.Inquiry("smokes", SMOKES, asker="clinic.example", repeat="same")
    assert account.dry_run(same).charged == 0
    assert len(account.wire()["entries"]) == 2
    account.answer(dt.Inquiry("hour", SMOKES, asker="clinic.example"), "no")
    account.close()
    assert _version(file) == 3
    again = dt.Account.open(file, policy=POLICY, now=lambda: ClockReading(NOON, "first", 100))
    assert len(again.wire()["entries"]) == 3
    again.close()
