"""`dither account`: for a person or an officer."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

import dither as dt
from dither.cli.verbs.account import NOT_A_GUARANTEE
from tests.support import terminal


def ask(name: str, epsilon: float, asker: str) -> dt.Inquiry:
    return dt.Inquiry(name, dt.KRR(dt.Categories(4), epsilon=epsilon), asker=asker)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "me.account"
    with dt.Account.create(path, epsilon=1, epoch="day", lifetime=5, quota=0.375) as account:
        for _ in range(3):
            account.answer(ask("age", 0.1, "clinic.example"), 1)
        account.answer(ask("income", 0.25, "bank.example"), 1)
    return path


run = partial(terminal.run, "account")


def test_show_says_what_is_promised_left_and_taken(file: Path) -> None:
    told = run("show", file).output
    assert "All askers together learn at most ε ≤ 1 about what happened in one day" in told
    assert "at most ε ≤ 5 in all time." in told
    assert "Now ε = 0.45 of 1 left for " in told
    assert "; ε = 4.45 of 5 left for all time." in told
    assert "no earlier copy of the account's file is put back" in told
    assert [line.split() for line in told.splitlines() if ".example" in line] == [
        ["bank.example", "income", "1", "0.25"],
        ["clinic.example", "age", "3", "0.3"],
    ]
    assert "0.375" not in told  # a quota is no guarantee
    assert NOT_A_GUARANTEE in told
    data = json.loads(run("show", file, "--json").output)
    assert (data["epsilon"], data["answers"], data["waiting"]) == (0.45, 4, 4)


def test_check_finds_damage_and_rollback(file: Path) -> None:
    good = run("check", file)
    assert good.exit_code == 0
    early = file.read_bytes()
    with dt.Account.open(file) as account:
        account.act()
    mark = json.loads(run("check", file, "--json").output)["mark"]
    assert run("check", file, "--mark", mark).exit_code == 0
    file.write_bytes(early)
    assert run("check", file).exit_code == 0
    back = run("check", file, "--mark", mark)
    assert (back.exit_code, "rolled back" in back.output) == (1, True)
    file.write_bytes(early[:5000])
    bad = run("check", file)
    assert (bad.exit_code, "damaged" in bad.output) == (1, True)
    assert json.loads(run("check", file, "--json").output)["ok"] is False
    assert run("show", file).exit_code == 2


@pytest.mark.skipif(sys.platform == "win32", reason="needs modes of files")
def test_an_export_is_for_its_owner_alone(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "me.json"
    out.touch(mode=0o666)
    before = os.umask(0)
    try:
        assert run("export", file, "-o", out).exit_code == 0
    finally:
        os.umask(before)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


def test_export_is_what_another_device_merges(file: Path, tmp_path: Path) -> None:
    assert run("export", file, "-o", tmp_path / "me.json").exit_code == 0
    text = (tmp_path / "me.json").read_text()
    assert text == run("export", file).output
    with dt.Account.open(file) as account:
        assert account.merge(text) == 0
    with closing(sqlite3.connect(file)) as inside:
        ((key,),) = inside.execute("SELECT key FROM secret").fetchall()
    assert len(key) == 32
    assert key.hex() not in text
    data = json.loads(text)
    assert len(data["entries"]) == 4
    assert "queue" not in data


def test_names_from_other_devices_do_not_move_the_cursor(file: Path) -> None:
    with dt.Account.open(file) as account:
        data = json.loads(account.export())
        hostile = {**data["entries"][0], "id": "f" * 32, "device": "e" * 32, "asker": "\x1b[2J\n[red]"}
        account.merge(json.dumps({**data, "entries": [hostile]}))
    told = run("show", file).output
    assert "\x1b[2J" not in told
    assert "[red]" in told


def test_missing_and_public_files_are_one_line_of_error(file: Path, tmp_path: Path) -> None:
    missing = run("show", tmp_path / "none")
    assert (missing.exit_code, "account not found" in missing.output) == (2, True)
    file.chmod(0o644)
    public = run("show", file)
    assert (public.exit_code, "chmod 600" in public.output) == (2, True)
