"""Invariant 11 of an account: a damaged, truncated or rolled-back file is refused."""

from __future__ import annotations

import random
import re
import sqlite3
from pathlib import Path

import pytest

import dither as dt
from dither.errors import AccountUnusable
from tests.collection.account.devices import SetClock, make, number

FIRST, SECOND, THIRD = "1" * 32, "2" * 32, "3" * 32


# --- 11. damage


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, dict]:
    folder = tmp_path_factory.mktemp("whole")
    account = make(folder, epsilon=3)
    for name in ("a", "b", "c"):
        account.answer(number(name, repeat="same"), 1)
    account.acknowledge(account.queue[0].id)
    state = account.wire()
    account.close()
    return (folder / "me.account").read_bytes(), state


def _put(folder: Path, data: bytes) -> Path:
    path = folder / "put.account"
    path.write_bytes(data)
    path.chmod(0o600)
    return path


def test_11_a_truncated_file_is_refused(whole: tuple[bytes, dict], tmp_path: Path) -> None:
    data, _ = whole
    for length in (0, 1, 15, 16, 100, 4095, 4096, 4097, len(data) // 2, len(data) - 4096, len(data) - 1):
        with pytest.raises(AccountUnusable, match=r"damaged|not an account|cannot be used"):
            dt.Account.open(_put(tmp_path, data[:length]))


def test_11_a_damaged_file_is_refused_or_unharmed(whole: tuple[bytes, dict], tmp_path: Path) -> None:
    data, state = whole
    draw = random.Random(11)
    refused = 0
    for _ in range(120):
        place = draw.randrange(len(data))
        changed = bytearray(data)
        changed[place] ^= 1 << draw.randrange(8)
        try:
            with dt.Account.open(_put(tmp_path, bytes(changed)), now=SetClock()) as account:
                assert account.wire() == state  # an unused byte of a page
        except AccountUnusable:
            refused += 1
    assert refused > 10
    used = [index for index, byte in enumerate(data) if byte and index > 100]
    found = 0
    for place in draw.sample(used, 60):
        changed = bytearray(data)
        changed[place] ^= 0x10
        try:
            with dt.Account.open(_put(tmp_path, bytes(changed)), now=SetClock()) as account:
                assert account.wire() == state
        except AccountUnusable:
            found += 1
    assert found > 40


def test_a_refused_file_is_unlocked(whole: tuple[bytes, dict], tmp_path: Path) -> None:
    """Whoever keeps the error keeps what was opened: its lock would make the next one wait."""
    data, _ = whole
    path, kept = _put(tmp_path, data), []
    texts = [match.start() for match in re.finditer(rb'"asker"', data)]
    for place in (*range(4096, len(data), 512), *texts):
        changed = bytearray(data)
        changed[place] ^= 0x80  # in a text, this is no UTF-8
        path.write_bytes(changed)
        try:
            dt.Account.open(path, wait=0.1, now=SetClock()).close()
        except AccountUnusable as error:
            kept.append(error)
    assert kept
    assert not [error for error in kept if "in use" in str(error) or "asker" in str(error)]
    path.write_bytes(data)
    with dt.Account.open(path, wait=0.1, now=SetClock()) as account:
        account.act()
    del kept


CHANGES = {
    "an entry is removed": "DELETE FROM log WHERE sequence = (SELECT max(sequence) FROM log)",
    "the last entries are removed with their mark": """
        DELETE FROM log WHERE sequence > 1;
        UPDATE last SET sequence = 1, head = (SELECT head FROM log WHERE sequence = 1)""",
    "an entry in the middle is removed": "DELETE FROM log WHERE sequence = 1",
    "a charge is changed": 'UPDATE log SET effect = replace(effect, \'"epsilon":"8\', \'"epsilon":"1\')',
    "the mark is changed": "UPDATE last SET sequence = sequence - 1",
    "the mark is missing": "DELETE FROM last",
    "a report is changed": "UPDATE reports SET bytes = x'ff'",
    "a report is missing": "DELETE FROM reports WHERE name LIKE 'queue%'",
    "a report is too many": "INSERT INTO reports VALUES ('queue x', x'00', x'00')",
    "the key is changed": "UPDATE secret SET key = randomblob(32)",
    "the log is empty": "DELETE FROM log",
    "a table is missing": "DROP TABLE log",
    "an effect is not JSON": "UPDATE log SET effect = '{' WHERE sequence = 2",
    "it is another's database": "PRAGMA application_id = 7",
    "it is of a later version": "PRAGMA user_version = 4",
}


@pytest.mark.parametrize("change", CHANGES)
def test_11_a_changed_file_is_refused(change: str, whole: tuple[bytes, dict], tmp_path: Path) -> None:
    path = _put(tmp_path, whole[0])
    other = sqlite3.connect(path)
    other.executescript(CHANGES[change])
    other.close()
    with pytest.raises(AccountUnusable) as error:
        dt.Account.open(path)
    assert str(path) in str(error.value)


def test_11_a_missing_or_foreign_file_is_never_started_empty(tmp_path: Path) -> None:
    with pytest.raises(AccountUnusable, match="account not found"):
        dt.Account.open(tmp_path / "none")
    assert not (tmp_path / "none").exists()
    for data in (b"", b"budget: 2\n", b"SQLite format 3\0" + bytes(200)):
        with pytest.raises(AccountUnusable):
            dt.Account.open(_put(tmp_path, data))
        assert (tmp_path / "put.account").read_bytes() == data
    make(tmp_path)
    with pytest.raises(AccountUnusable, match="exists already"):
        make(tmp_path)


def test_11_a_rolled_back_file_is_refused_where_it_can_be_known(tmp_path: Path) -> None:
    account = make(tmp_path, epsilon=2)
    path = tmp_path / "me.account"
    account.answer(number("a"), 1)
    early, mark = path.read_bytes(), account.mark
    account.answer(number("b"), 1)
    late, export = account.mark, account.export()
    # A second process restores the old file in place: whoever has it open notices.
    with path.open("r+b") as file:
        file.write(early)
        file.truncate(len(early))
    with pytest.raises(AccountUnusable, match=r"rolled back|damaged"):
        account.answer(number("c"), 1)
    # Whoever kept a mark elsewhere notices when opening.
    with pytest.raises(AccountUnusable, match="rolled back"):
        dt.Account.open(path, expect=late)
    again = dt.Account.open(path, expect=mark, now=SetClock())
    # Another device that knows of the later answer shows it.
    with pytest.raises(AccountUnusable, match="earlier copy was put back"):
        again.merge(export)
    # What cannot be detected is stated as an assumption.
    assert "no earlier copy of the account's file is put back" in again.guarantee.assumes


def test_11_a_file_that_is_replaced_while_it_is_open_is_refused(tmp_path: Path) -> None:
    account = make(tmp_path)
    path = tmp_path / "me.account"
    path.rename(tmp_path / "old")
    make(tmp_path)
    with pytest.raises(AccountUnusable, match="replaced"):
        account.answer(number(), 1)
