"""Telemetry: consent, switches, the command, and hostile circumstances. Nothing is ever raised."""

from __future__ import annotations

import argparse
import io
import json
import os
import pty
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from device_support import SOURCE, TOML, publish, python, stub

import dither as dt
from dither_device import Telemetry, telemetry
from dither_device.telemetry import ACTIONS
from tests.extras.test_versions import STATED, interpreter


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a signed campaign in it; nothing of the machine's environment is seen."""
    for name in (*telemetry._SWITCHES, *telemetry._MACHINES, "SUDO_UID", "DITHER_ACCOUNT", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(telemetry, "_NEVER", str(tmp_path / "never"))
    publish(tmp_path)
    return tmp_path


def made(folder: Path, **more: Any) -> Telemetry:
    return Telemetry.from_campaign(folder / "campaign.json", app="mytool", version="1.2", **more)


def at_a_terminal(monkeypatch: pytest.MonkeyPatch, types: str) -> Terminal:
    shown = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal(types))
    monkeypatch.setattr(sys, "stderr", shown)
    return shown


def test_nothing_is_touched_before_consent(folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    tool = made(folder)
    assert tool.answer("command", "build") == "off"
    assert tool.send() is None
    assert "not asked" in tool.run("status")
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(("types", "told"), [("y\n", "drawn"), ("\n", "off"), ("no\n", "off"), ("", "off")])
def test_consent_is_asked_once_on_a_terminal(
    types: str, told: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = at_a_terminal(monkeypatch, types)
    assert made(folder).answer("command", "build") == told
    text = " ".join(shown.getvalue().split())
    assert "mytool asks: Which commands are used." in text
    assert "one of build, test, other" in text
    assert "is at most 100 % sure of either; with one report, at most 74 %." in text
    again = at_a_terminal(monkeypatch, "y\n")
    assert made(folder).answer("command", "build") == told
    assert again.getvalue() == ""


def test_an_interrupt_is_a_no_and_goes_on_to_the_program(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted(Terminal):
        def readline(self, *_: Any) -> str:
            raise KeyboardInterrupt

    at_a_terminal(monkeypatch, "")
    monkeypatch.setattr(sys, "stdin", Interrupted())
    with pytest.raises(KeyboardInterrupt):
        made(folder).answer("command", "build")
    again = at_a_terminal(monkeypatch, "y\n")
    assert made(folder).answer("command", "build") == "off"
    assert again.getvalue() == ""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CI", "true"),
        ("TF_BUILD", "True"),
        ("DO_NOT_TRACK", "1"),
        ("NO_TELEMETRY", "yes"),
        ("SUDO_UID", "1000"),
    ],
)
def test_switches_forbid_asking_and_answering(
    name: str, value: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = made(folder)
    tool.run("on")
    monkeypatch.setenv(name, value)
    assert tool.answer("command", "build") == "off"
    assert "off whatever you say" in tool.run("status")
    tool._path("consent")
    Path(tool._path("consent")).unlink()
    shown = at_a_terminal(monkeypatch, "y\n")
    assert tool.answer("command", "build") == "off"
    assert not tool.ask()
    assert shown.getvalue() == ""


@pytest.mark.parametrize("value", ["", "0", "false"])
def test_a_switch_set_to_0_has_no_effect(value: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DO_NOT_TRACK", value)
    tool = made(folder)
    tool.run("on")
    assert tool.answer("command", "build") == "drawn"


@pytest.mark.parametrize("place", ["never", ".config/dither/no-telemetry"])
def test_a_file_switches_it_off(place: str, folder: Path) -> None:
    tool = made(folder)
    tool.run("on")
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    (folder / place).touch()
    assert tool.answer("command", "build") == "off"
    assert place in tool.run("status")


def test_without_a_terminal_nobody_is_asked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    for stream in (io.StringIO("y\n"), None):
        monkeypatch.setattr(sys, "stdin", stream)
        assert made(folder).answer("command", "build") == "off"
    closed = Terminal("y\n")
    closed.close()
    monkeypatch.setattr(sys, "stdin", closed)
    assert made(folder).answer("command", "build") == "off"
    assert shown.getvalue() == ""


def test_a_status_is_returned_for_every_answer(folder: Path) -> None:
    tool = made(folder, epsilon=2.75)
    tool.run("on")
    assert tool.answer("command", "build") == "drawn"
    assert tool.answer("command", "no such command") == "drawn"  # told as "other"
    assert tool.answer("seconds", "three") == "outside"
    assert tool.answer("seconds", 1e9) == "drawn"  # moved to the end
    assert tool.answer("features", ["cache", "colour"]) == "refused"
    assert tool.problem == "refused: budget"
    assert tool.answer("no such question", 1) == "failed"
    assert "no such question" in str(tool.problem)
    account = dt.Account.open(tool._account_file())
    assert account.left.epsilon == pytest.approx(0.25)
    assert [waiting.question for waiting in account.queue] == ["command", "command", "seconds"]


def test_the_budget_is_what_the_campaign_asks_for_in_a_year(tmp_path: Path, folder: Path) -> None:
    tool = made(folder)
    tool.run("on")
    assert "ε = 2.5 is left" in tool.run("status")
    tool.run("erase")
    once = TOML.replace('"fresh"', '"once"\ndays = 30').replace("ends = 2120-01-01", "ends = 2020-03-30")
    (folder / "asker.key").unlink()
    (folder / "asker.campaigns").unlink()
    publish(folder, once)
    tool = made(folder)
    tool.run("on")
    assert "ε = 7.5 is left" in tool.run("status")
    assert tool.answer("command", "build") == "closed"


def test_a_shared_account_is_the_persons_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = folder / "mine.account"
    monkeypatch.setenv("DITHER_ACCOUNT", str(place))
    tool = made(folder)
    tool.run("on")
    assert tool.answer("command", "build") == "failed"  # it is not made by a tool
    assert not place.exists()
    with dt.Account.create(place, epsilon=1) as account:
        assert tool.answer("command", "build") == "drawn"
        assert account.left.epsilon == 0
    assert "stays" in tool.run("erase")
    assert place.exists()


def test_show_says_what_was_and_would_be_sent(folder: Path) -> None:
    tool = made(folder, address="https://telemetry.example", background=False)
    tool.run("on")
    tool.answer("command", "build")
    text = tool.run("show")
    (queued,) = dt.Account.open(tool._account_file()).queue
    assert f'"reports":{{"{queued.fingerprint}":["{queued.data.hex()}"]}}' in text
    assert "Given so far: command, once (1 not sent yet); ε = 1." in text
    assert "https://telemetry.example" in text
    assert "with one report, at most 74 %." in " ".join(text.split())


def test_show_prints_the_batches_that_travel(folder: Path) -> None:
    with stub() as collector:
        collector.answers = [(503, {}, b"")]
        tool = made(folder, address=collector.address, background=False, epsilon=9)
        tool.run("on")
        assert [tool.answer("command", "build"), tool.answer("seconds", 3)] == ["drawn"] * 2
        tool.send()  # the first batch has its identity now
        assert tool.answer("command", "test") == "drawn"
        shown = tool.run("show")
        tool.send()
    assert "As it travels, 2 times:" in shown
    told = [json.loads(line) for line in shown.split("\n") if line.startswith("{")]
    assert [batch["batch"] for batch in told] == [collector.batches[0].id, "<random>"]
    assert [batch["label"] for batch in told] == ["1.2", "1.2"]
    sent = [
        {mark: [one.hex() for one in some] for mark, some in batch.reports.items()}
        for batch in collector.batches
    ]
    assert [batch["reports"] for batch in told] == sent
    assert "As it travels" not in tool.run("show")


def test_show_states_no_version_that_is_not_sent(folder: Path) -> None:
    publish(folder, TOML.replace('labels = ["1.2"]', "labels = []"))
    tool = made(folder)
    tool.run("on")
    tool.answer("command", "build")
    assert '"label":""' in tool.run("show")


def test_show_of_a_shared_account_names_other_askers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DITHER_ACCOUNT", str(folder / "mine.account"))
    dt.Account.create(folder / "mine.account", epsilon=9).close()
    for asker in ("mytool", "another"):
        publish(folder, TOML.replace('asker = "mytool"', f'asker = "{asker}"'))
        tool = made(folder)
        tool.run("on")
        assert tool.answer("command", "build") == "drawn"
    shown = tool.run("show")
    assert "Given so far: mytool: command, once" in shown
    assert "Given so far: command, once" in shown
    assert shown.count('"batch"') == 1  # what this tool sends


def test_what_was_given_is_shown_where_a_file_is_damaged(folder: Path) -> None:
    tool = made(folder)
    tool.run("on")
    tool.answer("command", "build")
    whole = (folder / "campaign.json").read_bytes()
    (folder / "campaign.json").write_bytes(whole[:-9])
    shown = made(folder).run("show")
    assert "The questions cannot be read, so nothing is answered or sent: text" in shown
    assert "Given so far: command, once" in shown
    (folder / "campaign.json").write_bytes(whole)
    account = folder / ".local/state/mytool/telemetry/account"
    account.write_bytes(account.read_bytes()[:100])
    for action in ("status", "show"):
        shown = made(folder).run(action)
        assert "Telemetry is on." in shown
        assert "damaged" in shown
    assert "Which commands are used." in shown


def test_erase_leaves_nothing_and_switches_off(folder: Path) -> None:
    tool = made(folder)
    tool.run("on")
    tool.answer("command", "build")
    assert "erased" in tool.run("erase")
    assert [path.name for path in (folder / ".local/state/mytool/telemetry").iterdir()] == ["consent"]
    assert tool.answer("command", "build") == "off"


def test_the_command_for_argparse(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser(prog="mytool")
    tool = made(folder)
    tool.add_parser(parser.add_subparsers())
    for action in ACTIONS:
        words = parser.parse_args(["telemetry", action])
        words.func(words)
    shown = capsys.readouterr().out
    assert "Telemetry is on." in shown
    assert "erased" in shown


def test_the_command_for_click(folder: Path) -> None:
    cli = click.Group()
    cli.add_command(made(folder).click_command())
    run = CliRunner().invoke
    assert "Telemetry is on." in run(cli, ["telemetry", "on"]).output
    assert "Telemetry is on." in run(cli, ["telemetry"]).output
    assert run(cli, ["telemetry", "dance"]).exit_code == 2


def test_streams_that_lack_letters_or_are_gone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parser = argparse.ArgumentParser(prog="mytool")
    made(folder).add_parser(parser.add_subparsers())
    words = parser.parse_args(["telemetry", "on"])
    plain = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    closed = io.StringIO()
    closed.close()
    for stream in (plain, None, closed):
        monkeypatch.setattr(sys, "stdout", stream)
        words.func(words)
    plain.seek(0)
    assert "eps = 1" in plain.read()
    monkeypatch.undo()


def test_a_word_that_is_no_action(folder: Path) -> None:
    assert made(folder).run("dance") == "say one of on, off, status, show, take-back, erase"


# --- hostile circumstances


def test_a_campaign_that_was_changed_is_not_answered(folder: Path) -> None:
    file, published = folder / "campaign.json", json.loads((folder / "campaign.json").read_text())
    for change in (
        {"campaign": published["campaign"].replace("used", "uzed")},
        {"key": "0" * 64},
        {"signature": "0" * 128},
        {"campaign": None},
    ):
        file.write_text(json.dumps({**published, **change}), encoding="utf-8")
        tool = made(folder)
        assert "telemetry: " in tool.run("on")
        assert tool.answer("command", "build") == "off"
    tool = made(folder, key="1" * 64)
    file.write_text(json.dumps(published), encoding="utf-8")
    assert tool.run("on") == "telemetry: key: signed with another key"
    for text in ("", "[]", "{", "\ud83d"):
        file.write_text(text, encoding="utf-8", errors="surrogatepass")
        assert "telemetry: " in made(folder).run("on")
    file.unlink()
    assert f"(ENOENT, {file})" in made(folder).run("on")


def test_a_campaign_is_verified_once_and_again_if_a_byte_changes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dither_device import ed25519

    calls = []
    verify = ed25519.verify
    monkeypatch.setattr(ed25519, "verify", lambda *told: calls.append(1) or verify(*told))
    made(folder).run("on")
    made(folder).answer("command", "build")  # verified, and kept by its digest
    before = len(calls)
    assert made(folder).answer("command", "build") == "drawn"
    assert len(calls) == before
    file = folder / "campaign.json"
    file.write_text(file.read_text() + "\n", encoding="utf-8")
    assert made(folder).answer("command", "build") == "refused"  # the budget is spent
    assert len(calls) > before
    # What `dither` keeps of askers stays beside it.
    with dt.Account.open(folder / ".local/state/mytool/telemetry/account") as account:
        account.remember_askers(lambda known: {**known, "keys": {"a": "b"}})
    assert made(folder).answer("command", "build") == "refused"


def test_a_clock_of_1970(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = made(folder)
    tool.run("on")
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert tool.answer("command", "build") == "closed"
    monkeypatch.undo()
    os.environ["HOME"] = str(folder)
    assert dt.Account.open(folder / ".local/state/mytool/telemetry/account").left.epsilon == 2.5


def test_a_home_of_somebody_else(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = made(folder)
    somebody = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: somebody)
    assert tool.answer("command", "build") == "off"
    assert "belongs to somebody else" in tool.run("status")


@pytest.mark.parametrize("home", ["/dev/null/home", "/proc/home", ""])
def test_a_home_that_cannot_be_written(home: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", home)
    if not home:
        monkeypatch.setattr(os.path, "expanduser", lambda _: "~")  # as where nobody has this number
    shown = at_a_terminal(monkeypatch, "y\n")
    for tool in (made(folder), made(folder)):
        assert tool.answer("command", "build") in ("off", "failed")
        assert not tool.ask()
        for action in ACTIONS:
            assert isinstance(tool.run(action), str)
        assert "Telemetry is off" in tool.run("status")
        assert "Telemetry is off" in tool.run("show")
    assert "May mytool" not in shown.getvalue()  # whose answer could not be kept


def test_consent_is_not_kept_for_somebody_else(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUDO_UID", "1000")
    assert made(folder).run("on") == "Telemetry stays off here: this was started by sudo."
    assert not (folder / ".local").exists()


def test_a_full_disk_leaves_no_part_of_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> int:
        raise OSError(28, "no space left")

    monkeypatch.setattr(os, "write", fail)
    assert "ENOSPC" in made(folder).run("off")
    assert not list((folder / ".local/state/mytool/telemetry").iterdir())


def test_an_account_in_use_is_waited_for_briefly(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry, "WAIT_FILE", 0.1)
    tool = made(folder)
    tool.run("on")
    with dt.Account.open(tool._account_file())._state():
        begin = time.monotonic()
        assert tool.answer("command", "build") == "failed"
        assert time.monotonic() - begin < 5
    assert "in use" in str(tool.problem)
    assert tool.answer("command", "build") == "drawn"


def test_a_signal_handler_does_not_wait_for_itself(folder: Path) -> None:
    tool = made(folder)
    tool.run("on")

    class Interrupting:
        """A value in whose middle the same program answers again."""

        told = ""

        def __float__(self) -> float:
            self.told = tool.answer("command", "build")
            return 3.0

    value = Interrupting()
    assert tool.answer("seconds", value) == "drawn"
    assert value.told == "failed"


def test_errors_never_hold_a_value(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Nasty:
        def __float__(self) -> float:
            raise RuntimeError("the value is 42")

    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setenv("DITHER_TELEMETRY_DEBUG", "1")
    tool = made(folder)
    tool.run("on")
    assert tool.answer("seconds", Nasty()) == "outside"
    assert "42" not in shown.getvalue() + str(tool.problem)
    assert shown.getvalue() == "telemetry: seconds: outside\n"


LEAN = """
import sys
from dither_device import Telemetry
tool = Telemetry.from_campaign(sys.argv[1], app="mytool", address="https://t.example", background=False)
assert "json" not in sys.modules and "sqlite3" not in sys.modules
print(tool.answer("command", "build"), tool.problem)
print(*sorted(set(sys.modules) & set(
    "ssl socket http http.client urllib urllib.parse hashlib _hashlib dataclasses inspect pathlib typing "
    "subprocess threading decimal fractions random contextlib cryptography numpy dither logging".split()
)))
"""


@pytest.mark.some("3.11")
@pytest.mark.parametrize("version", STATED)
def test_an_answer_imports_little(version: str, folder: Path) -> None:
    found = interpreter(version)
    if found is None:
        pytest.skip(f"there is no Python {version} here")
    made(folder, address="https://t.example").run("on")
    done = python(LEAN, str(folder / "campaign.json"), home=folder, interpreter=found)
    assert done.stdout.split("\n")[:2] == ["drawn None", ""], done.stderr


EXIT = """
import os, sys, time
from dither_device import Telemetry
tool = Telemetry.from_campaign(sys.argv[1], app="mytool", address="http://127.0.0.1:9", ask=False)
print(tool.answer("command", "build"), len(os.listdir("/proc/self/task")), flush=True)
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted as Linux does")
def test_the_end_of_a_program_waits_for_nothing(folder: Path) -> None:
    """No thread and no handler at the end: the process that sends is on its own."""
    made(folder, address="http://127.0.0.1:9").run("on")
    done = python(EXIT, str(folder / "campaign.json"), home=folder)
    assert done.stdout == "drawn 1\n", done.stderr
    again = python(EXIT, str(folder / "campaign.json"), home=folder)  # within an hour nothing is started
    assert again.stdout == "drawn 1\n", again.stderr


def test_two_processes_of_a_tool_at_once(folder: Path) -> None:
    made(folder).run("on")
    code = EXIT.replace('"http://127.0.0.1:9"', "None")
    words = [sys.executable, "-S", "-c", code, str(folder / "campaign.json")]
    environment = {"PYTHONPATH": str(SOURCE), "HOME": str(folder)}
    jobs = [subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    told = [job.communicate(timeout=60)[0] for job in jobs]
    account = dt.Account.open(folder / ".local/state/mytool/telemetry/account")
    drawn = sum(text.startswith("drawn") for text in told)
    assert drawn == len(account.queue) >= 1
    assert all(text.startswith(("drawn", "failed", "refused")) for text in told)


def read_until(number: int, words: bytes) -> bytes:
    """Return what a terminal shows, up to some words."""
    shown = b""
    while words not in shown:
        shown += os.read(number, 1024)
    return shown


def test_a_yes_that_was_typed_before_the_question_is_no_consent(folder: Path) -> None:
    code = EXIT.replace(", ask=False", "").replace('"http://127.0.0.1:9"', "None")
    ours, theirs = pty.openpty()
    os.write(ours, b"y\ny\n")  # in the terminal before the program begins
    job = subprocess.Popen(
        [sys.executable, "-S", "-c", code, str(folder / "campaign.json")],
        stdin=theirs,
        stderr=theirs,
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": str(SOURCE), "HOME": str(folder)},
    )
    os.close(theirs)
    read_until(ours, b"[y/N]")
    time.sleep(0.2)
    assert job.poll() is None  # it waits
    os.write(ours, b"n\n")
    assert job.communicate(timeout=60)[0].startswith(b"off")
    os.close(ours)
    assert made(folder)._consent() is None


def test_a_real_terminal(folder: Path) -> None:
    code = EXIT.replace(", ask=False", "").replace('"http://127.0.0.1:9"', "None")
    ours, theirs = pty.openpty()
    environment = {"PYTHONPATH": str(SOURCE), "HOME": str(folder), "LANG": "C", "PYTHONUTF8": "0"}
    job = subprocess.Popen(
        [sys.executable, "-S", "-c", code, str(folder / "campaign.json")],
        stdin=theirs,
        stderr=theirs,
        stdout=subprocess.PIPE,
        env={**environment, "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0"},
    )
    os.close(theirs)
    shown = read_until(ours, b"[y/N]")
    assert b"asks" in shown
    os.write(ours, b"yes\n")
    assert job.stdout is not None
    assert job.communicate(timeout=60)[0].startswith(b"drawn")
    os.close(ours)
    assert made(folder)._consent() == "on"


# --- consent holds for what was shown


OTHER = TOML.replace('asker = "mytool"', 'asker = "somebody else"')


def test_consent_is_not_shared_with_another_asker_of_the_same_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = made(folder)
    tool.run("on")
    assert tool.answer("command", "build") == "drawn"
    (folder / "other").mkdir()
    publish(folder / "other", OTHER)
    other = made(folder / "other")
    assert [other.answer("command", "build") for _ in range(5)] == ["off"] * 5
    assert "not asked" in other.run("status")
    shown = at_a_terminal(monkeypatch, "y\n")
    assert made(folder / "other").answer("command", "build") in ("drawn", "refused")
    assert "somebody else asks" in shown.getvalue()
    assert made(folder).answer("command", "build") in ("drawn", "refused")  # the first yes is kept


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        (("people = 10", "people = 10\nversion = 2"), True),
        (("ends = 2120-01-01", "ends = 2119-01-01"), True),
        (('[questions.seconds]\ninterval = [0, 60]\nmechanism = "Podium"\nepsilon = 0.5\n', ""), True),
        (("ends = 2120-01-01", "ends = 2121-01-01"), False),
        (("begins = 2020-01-01", "begins = 2019-01-01"), False),
        (("epsilon = 0.5", "epsilon = 0.6"), False),
        (("Which commands are used.", "Which commands you use."), False),
        (("https://mytool.example", "https://other.example"), False),
        (('"other"]', '"else", "other"]'), False),
    ],
)
def test_a_new_version_asks_again_where_it_asks_for_more(
    change: tuple[str, str], kept: bool, folder: Path
) -> None:
    made(folder).run("on")
    assert TOML.count(change[0]) == 1
    publish(folder, TOML.replace(*change))
    assert (made(folder)._consent() == "on") == kept
    assert made(folder)._consent() in ("on", None)


def test_another_address_or_key_is_another_question(folder: Path) -> None:
    made(folder, address="https://one.example").run("on")
    assert made(folder, address="https://one.example")._consent() == "on"
    assert made(folder, address="https://two.example")._consent() is None
    assert made(folder, address="https://one.example", relay="https://r.example/x")._consent() is None
    (folder / "asker.key").unlink()
    (folder / "asker.campaigns").unlink(missing_ok=True)
    publish(folder)
    assert made(folder, address="https://one.example")._consent() is None


def test_a_consent_of_an_older_version_is_asked_once_more(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = made(folder)
    tool.run("on")
    Path(tool._path("consent")).write_text("on\n", encoding="ascii")
    assert tool.answer("command", "build") == "off"
    at_a_terminal(monkeypatch, "y\n")
    assert made(folder).answer("command", "build") == "drawn"
    for text in ("off\n", "", "[1]", "{", '{"": {}}', '{"x": 1}'):
        Path(tool._path("consent")).write_text(text, encoding="ascii")
        assert made(folder)._consent() == "off", text


@pytest.mark.parametrize(("action", "left"), [("off", 4), ("erase", 0)])
def test_off_and_erase_stop_the_sender(action: str, left: int, folder: Path) -> None:
    """Five batches wait; the person says no while the first is on its way."""
    with stub() as collector:
        tool, other = (made(folder, address=collector.address, epsilon=50, background=False) for _ in "ab")
        tool.run("on")
        assert [tool.answer("command", "build") for _ in range(5)] == ["drawn"] * 5
        take, said = collector.take, list[str]()

        def taking(path: str, body: bytes) -> Any:
            said.append(other.run(action))
            return take(path, body)

        collector.take = taking  # type: ignore[method-assign]
        assert tool.send() is not None
        assert (len(collector.batches), len(said)) == (1, 1)
        assert tool.send() is None
        account = folder / ".local/state/mytool/telemetry/account"
        assert (len(dt.Account.open(account).queue) if account.exists() else 0) == left
        assert ("5 reports wait here and will not be sent" in said[0]) == (action == "off")
        assert account.exists() == (action == "off")
        assert ("0 answers had been sent before" in said[0]) == (action == "erase")


def test_do_not_track_stops_the_sender(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with stub() as collector:
        tool = made(folder, address=collector.address, epsilon=50, background=False)
        tool.run("on")
        assert [tool.answer("command", "build") for _ in range(3)] == ["drawn"] * 3
        take = collector.take

        def taking(path: str, body: bytes) -> Any:
            monkeypatch.setenv("DO_NOT_TRACK", "1")
            return take(path, body)

        collector.take = taking  # type: ignore[method-assign]
        done = tool.send()
        assert done is not None
        assert (done.sent, done.problem, done.waiting) == (1, "off", 2)


def test_a_label_cannot_move_the_cursor(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dither_device.consent import printable

    assert printable("a\x1b[2Jb\u202ec\nd") == "a�[2Jb�c d"


def test_a_question_that_scrolls_is_repeated_short(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = "".join(
        f'[questions.q{n}]\ncategories = ["a{n}", "b"]\nmechanism = "KRR"\nepsilon = 0.1\n' for n in range(30)
    )
    publish(folder, TOML + many)
    shown = at_a_terminal(monkeypatch, "n\n")
    assert made(folder).answer("command", "build") == "off"
    assert "In short: mytool asks 33 questions until 2120-01-01" in " ".join(shown.getvalue().split())
    publish(folder)
    shown = at_a_terminal(monkeypatch, "n\n")
    assert made(folder).answer("command", "build") == "off"
    assert "In short" not in shown.getvalue()


WORDS = TOML.replace('labels = ["1.2"]', 'labels = ["1.2"]\nlanguages = ["en", "de"]').replace(
    '[questions.command]\ncategories = ["build", "test", "other"]',
    '[questions.command]\ncategories = ["build", "test", "other"]\n'
    'text = { en = "Which command did you run?", de = "Welchen Befehl haben Sie benutzt?" }\n'
    'names = { en = ["a build", "a test", "another"], de = ["Bau", "Test", "ein anderer"] }',
)


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("de_DE.UTF-8", "Welchen Befehl haben Sie benutzt? one of Bau, Test, ein anderer"),
        ("C", "Which command did you run? one of a build, a test, another"),
    ],
)
def test_consent_shows_the_words_of_the_campaign(
    language: str, words: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.delenv("LC_MESSAGES", raising=False)
    monkeypatch.setenv("LANG", language)
    publish(folder, WORDS)
    assert words in " ".join(made(folder).run("on").split())
    changed = WORDS.replace("Which command did you run?", "Which commands do you run?")
    publish(folder, changed)
    assert made(folder)._consent() is None  # other words are another question


# --- off and on again, tests, the latest problem, several runs at once


def test_what_waited_at_off_is_never_sent_and_on_says_so(folder: Path) -> None:
    publish(folder, TOML.replace('repeat = "fresh"', 'repeat = "same"'))
    with stub() as collector:
        tool = made(folder, address=collector.address, background=False)
        tool.run("on")
        assert [tool.answer("command", "build"), tool.answer("seconds", 3)] == ["drawn"] * 2
        assert "2 reports wait here and will not be sent, not even after `on`" in tool.run("off")
        assert "2 reports were deleted: drawn before `off`, never sent." in tool.run("on")
        assert "deleted" not in tool.run("on")
        done = tool.send()
        assert done is not None
        assert (done.sent, collector.batches) == (0, [])
        assert "0 reports wait" in tool.run("status")
        assert tool.answer("command", "build") == "repeated"  # under the new yes, for no further ε
        done = tool.send()
        assert done is not None
        assert done.sent == len(collector.batches) == 1


def test_answers_that_on_deletes_are_not_counted_as_sent(folder: Path) -> None:
    with stub() as collector:
        tool = made(folder, address=collector.address, background=False, epsilon=20.0)
        tool.run("on")
        assert tool.answer("command", "build") == "drawn"
        done = tool.send()
        assert done is not None
        assert done.sent == 1
        for _ in range(2):
            assert [tool.answer("command", "build"), tool.answer("seconds", 3)] == ["drawn"] * 2
            tool.run("off")
            assert "2 reports were deleted" in tool.run("on")
        assert tool.answer("command", "build") == "drawn"
        shown = tool.run("show")
        assert "command, 4 times (1 not sent yet, 2 deleted unsent); ε = 4." in shown
        assert "seconds, 2 times (0 not sent yet, 2 deleted unsent); ε = 1." in shown
        assert "1 answer had been sent before." in tool.run("erase")
        tool.run("on")
        assert tool.answer("command", "build") == "drawn"
        assert "0 answers had been sent before." in tool.run("erase")


def test_a_permanent_answer_that_was_refused_may_be_sent_again(folder: Path) -> None:
    publish(folder, TOML.replace('repeat = "fresh"', 'repeat = "same"'))
    with stub() as collector:
        collector.answers = [(422, {}, b'{"refused":"report","words":"no report"}')]
        tool = made(folder, address=collector.address, background=False)
        tool.run("on")
        assert tool.answer("command", "build") == "drawn"
        done = tool.send()
        assert done is not None
        assert (done.sent, done.dropped) == (0, 1)
        assert tool.answer("command", "build") == "repeated"
        done = tool.send()
        assert done is not None
        assert done.sent == 1


def test_test_mode_has_its_own_account_consent_and_label(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = TOML.replace('repeat = "fresh"', 'repeat = "once"\ndays = 3000')
    publish(folder, once.replace('["1.2"]', '["1.2", "test"]'))
    with stub() as collector:
        tool = made(folder, address=collector.address, background=False)
        tool.run("on")
        assert tool.answer("command", "build") == "silent"  # 1 of 3000 days; a seed would not do
        for name in ("DITHER_TELEMETRY_TEST", "CI"):
            monkeypatch.setenv(name, "1")
        monkeypatch.setenv("DITHER_ACCOUNT", str(folder / "mine.account"))
        assert tool.answer("command", "build") == "off"  # nobody agreed to a test
        tool = made(folder, address=collector.address, background=False)
        assert "Telemetry is on." in tool.run("on")
        assert "DITHER_TELEMETRY_TEST is set" in tool.run("status")
        assert tool.answer("command", "build") == "drawn"
        assert '"label":"test"' in tool.run("show")
        assert tool.send() is not None
        assert [batch.label for batch in collector.batches] == ["test"]
        assert tool.answer("command", "build") in ("silent", "repeated")
        tool.run("erase")
        monkeypatch.delenv("DITHER_TELEMETRY_TEST")
        monkeypatch.delenv("CI")
        monkeypatch.delenv("DITHER_ACCOUNT")
        assert "Telemetry is on." in made(folder, address=collector.address).run("status")


def test_test_mode_sends_nothing_that_would_be_counted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DITHER_TELEMETRY_TEST", "1")
    with stub() as collector:
        tool = made(folder, address=collector.address, background=False)
        tool.run("on")
        assert tool.answer("command", "build") == "drawn"
        assert tool.send() is None
        assert "does not list the label 'test'" in str(tool.problem)
        assert collector.batches == []


def test_the_problem_is_the_latest(folder: Path) -> None:
    tool = made(folder)
    tool.run("on")
    assert tool.answer("colour", "red") == "failed"
    assert "no such question" in str(tool.problem)
    assert tool.answer("command", "build") == "drawn"
    assert tool.problem is None


def test_a_damaged_account_names_erase(folder: Path) -> None:
    tool = made(folder)
    tool.run("on")
    tool.answer("command", "build")
    account = folder / ".local/state/mytool/telemetry/account"
    account.write_bytes(account.read_bytes()[:100])
    tool = made(folder)
    assert tool.answer("command", "build") == "failed"
    assert "`mytool telemetry erase` removes it" in str(tool.problem)
    tool.run("erase")
    tool.run("on")
    assert tool.answer("command", "build") == "drawn"


RUNS = """
import sys
from dither_device import Telemetry
tool = Telemetry(sys.argv[1], app="mytool", background=False, epsilon=99)
print(tool.answer("command", "build"), tool.problem)
"""


def test_several_runs_at_once_wait_for_each_other(folder: Path) -> None:
    made(folder, epsilon=99)._agree(made(folder)._verify())  # no account yet: all of them create it
    tool = made(folder)
    tool.run("on")
    Path(tool._account_file()).unlink()
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE), "HOME": str(folder)}
    command = [sys.executable, "-S", "-c", RUNS, str(folder / "campaign.json")]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(8)]
    assert [run.communicate(timeout=60)[0] for run in runs] == ["drawn None\n"] * 8
    assert len(dt.Account.open(tool._account_file()).queue) == 8
