"""dither on other systems: without POSIX, where an output lacks ε, in folders with spaces and other letters.

Windows and macOS are not here. A process that starts with POOR lacks what only Linux, or only POSIX, has.
"""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import dither as dt
from dither.cli import main
from dither.collection import Client
from dither.collection.server import ServerPlan
from dither.collection.store.sqlite import SqliteStore
from dither.collection.store.store import StoreUnusable
from dither.errors import InvalidParameter
from tests.collection.serving import Process

POOR = """
import os, signal, socket, sys, time
for name in ("fcntl", "grp", "pwd", "resource", "termios", "uvloop"):
    sys.modules[name] = None
for module, names in {
    os: "fork forkpty register_at_fork fchmod getuid geteuid sched_getaffinity killpg setsid",
    signal: "SIGHUP SIGQUIT SIGUSR1 SIGUSR2 SIGCHLD SIGALRM setitimer",
    socket: "SO_REUSEPORT",
    time: "CLOCK_BOOTTIME CLOCK_MONOTONIC clock_gettime clock_gettime_ns",
}.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
"""
EVERYDAY = """
import os, sys
assert not hasattr(os, "fork") and sys.modules["fcntl"] is None
import dither as dt
from dither.cli import main

def dither(*words):
    main(list(words), standalone_mode=False)

question = dt.Podium(dt.Interval(0, 180), epsilon=1)
print(dt.mean(question.perturb([20.0, 30.0] * 50)), question.guarantee, dt.audit(question))
with dt.Account.create("die Person.account", epsilon=3) as account:
    account.answer(dt.Inquiry("minutes", question, asker="city.example"), 25.0)
with dt.Account.open("die Person.account") as account:
    print(account.left)
dither("perturb", "Fahrten é.csv", "--campaign", "Umfrage Ä.toml", "-o", "meine Antworten ß.csv")
dither("estimate", "meine Antworten ß.csv", "--quantile", "0.5")
dither("estimate", "meine Antworten ß.csv", "--json")
dither("account", "show", "die Person.account")
"""
ROWS = ["minutes,city"] + [f"{minutes},Zürich" for minutes in range(100)]
CAMPAIGN = ["[questions.minutes]", "interval = [0, 180]", "epsilon = 1"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder with a space and other letters in its name, and two files with Windows' ends of lines."""
    made = tmp_path / "Ordner für alle"
    made.mkdir()
    for name, lines in {"Fahrten é.csv": ROWS, "Umfrage Ä.toml": CAMPAIGN}.items():
        (made / name).write_bytes("".join(f"{line}\r\n" for line in lines).encode())
    return made


@pytest.fixture
def poor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes that are started lack what is not on every system."""
    place = tmp_path / "poor"
    place.mkdir()
    (place / "sitecustomize.py").write_text(POOR)
    paths = [str(place), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")


@pytest.mark.usefixtures("poor")
@pytest.mark.slow
def test_without_posix_everything_but_several_workers(folder: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-X", "utf8", "-W", "error", "-c", EVERYDAY],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    shown = run.stdout.decode()
    assert run.returncode == 0, shown + run.stderr.decode()
    assert "100 reports in meine Antworten ß.csv" in shown
    assert "minutes: 100 reports of Optimal, ε ≤ 1 for one value" in shown


@pytest.mark.usefixtures("poor")
def test_without_posix_a_collector_collects_and_locks_its_store(tmp_path: Path) -> None:
    place = tmp_path / "ein Ordner ü"
    place.mkdir()
    store = place / "ein Speicher ß.sqlite"
    with Process(place, str(store)) as server:
        with pytest.raises(StoreUnusable, match="in use by another collector"):
            SqliteStore(store)
        with dt.Account.create(place / "die Person.account", epsilon=3) as account:
            client = Client(server.campaign, account)
            client.answer("minutes", 30.0)
            assert client.send("1.0").reports == 1
        assert server.stop() == -signal.SIGTERM
    SqliteStore(store).close()


def test_without_posix_several_workers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = partial(ServerPlan, ("campaign.json",), "postgresql://localhost/x", workers=2)
    assert plan().workers == 2
    monkeypatch.delattr(signal, "SIGHUP")
    with pytest.raises(InvalidParameter, match="expected one worker"):
        plan()


def test_a_store_is_locked_in_its_own_process_too(tmp_path: Path) -> None:
    first = SqliteStore(tmp_path / "a.sqlite")
    for _ in range(2):  # a refusal leaves the lock
        with pytest.raises(StoreUnusable, match="in use by another collector"):
            SqliteStore(tmp_path / "a.sqlite")
    first.close()
    SqliteStore(tmp_path / "a.sqlite").close()


class Terminal(io.TextIOWrapper):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def written(monkeypatch: pytest.MonkeyPatch, stream: io.TextIOWrapper, *words: object) -> bytes:
    """Return what a command writes to a stream that stands for standard output."""
    monkeypatch.setattr(sys, "stdout", stream)
    main([str(word) for word in words], standalone_mode=False)
    stream.flush()
    shown = stream.buffer
    assert isinstance(shown, io.BytesIO)
    return shown.getvalue()


LOCALES = """
import glob
from dither.cli import main
for words in (
    ["perturb", *glob.glob("Fahrten*"), "--campaign", *glob.glob("Umfrage*"), "--keep=city", "-o", "a.csv"],
    ["estimate", "a.csv", "--by", "city"],
    ["describe", *glob.glob("Umfrage*")],
    ["check", *glob.glob("Fahrten*"), "--campaign", *glob.glob("Umfrage*")],
):
    main(words, standalone_mode=False)
"""
WORDS = ("describe", "podium", "--interval", 0, 1, "--epsilon", 1)


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "latin-1", "cp437", "utf-8", "utf-16"])
def test_a_pipe_is_given_utf_8_whatever_the_encoding(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    shown = written(monkeypatch, io.TextIOWrapper(io.BytesIO(), encoding), *WORDS)
    assert "ε ≤ 1 for one value" in shown.decode("utf-8")


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
def test_a_terminal_that_lacks_a_letter_is_given_another(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = written(monkeypatch, Terminal(io.BytesIO(), encoding), *WORDS).decode(encoding)
    assert "eps <= 1 for one value" in shown


@pytest.mark.parametrize(
    "setting",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "cp1252"},
    ],
    ids=["C", "cp1252"],
)
def test_the_command_line_reads_and_writes_in_every_locale(folder: Path, setting: dict[str, str]) -> None:
    clean = {name: text for name, text in os.environ.items() if not name.startswith(("LC_", "LANG"))}
    run = subprocess.run(
        [sys.executable, "-c", LOCALES], cwd=folder, env=clean | setting, capture_output=True, check=False
    )
    assert run.returncode == 0, run.stderr.decode(errors="replace")
    if "LC_ALL" in setting:
        assert "Zürich" in run.stdout.decode("utf-8")
        assert "ε ≤ 1" in run.stdout.decode("utf-8")
    else:
        assert "Zürich" in run.stdout.decode("cp1252")
        assert "eps <= 1" in run.stdout.decode("cp1252")
