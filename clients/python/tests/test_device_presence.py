"""Presence in `dither-device`: one message in each period, a label for life, never both kinds of labels."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from device_support import Stub, publish, stub

from dither_device import Account, Campaign, Telemetry, telemetry
from dither_device.sending import send

MONDAY = datetime.date(2026, 5, 4)
TOML = """
[campaign]
name = "presence"
asker = "mytool"
contact = "https://mytool.example"
purpose = "How many people use mytool, and come back."
begins = 2026-05-04
ends = 2120-01-01
people = 10
repeat = "present"
every = "week"
expects = 1000
labels = ["1.2", "test"]
"""
LABEL = """
label_share = 0.5

[questions.since]
categories = ["2026-05-04", "2026-05-11", "2026-05-18"]
installed = true
mechanism = "KRR"
epsilon = 1
"""


class Clock:
    """A clock that a test turns, in days since Monday."""

    def __init__(self) -> None:
        self.day = 0.0

    def __call__(self) -> dict[str, Any]:
        start = (MONDAY - datetime.date(1970, 1, 1)).days
        return {"wall": int((start + self.day) * 86_400), "boot": "one", "elapsed": int(self.day * 86_400)}


@pytest.fixture
def collector() -> Iterator[Stub]:
    with stub() as made:
        yield made


def campaign(folder: Path, toml: str = TOML + LABEL) -> Campaign:
    publish(folder, toml)
    return Campaign((folder / "campaign.json").read_text())


def account(folder: Path, clock: Clock, name: str = "me", epsilon: float = 2) -> Account:
    return Account.create(folder / name, epsilon=epsilon, epoch="year", now=clock)


def test_each_device_carries_one_kind_of_label_for_life(tmp_path: Path, collector: Stub) -> None:
    asked = campaign(tmp_path)
    kinds = set()
    for number in range(24):
        clock = Clock()
        with account(tmp_path, clock, f"{number}") as mine:
            before = len(collector.batches)
            for day in (0, 3, 8, 14, 14.5, 22):
                clock.day = day
                mine.present(asked)
                send(mine, asked, collector.address, label="1.2")
            sent = collector.batches[before:]
            assert len(sent) == 4
            assert len({batch.id for batch in sent}) == 4  # no byte persists but the label
            assert len({(batch.label, *map(tuple, batch.reports.values())) for batch in sent}) == 1
            kinds.add((sent[0].label, len(sent[0].reports)))
            spent = [int(entry["epsilon"], 16) / 2**64 for entry in mine.wire()["entries"]]
            assert spent == pytest.approx([1.0] * len(sent[0].reports))
    assert kinds == {("1.2", 0), ("", 1)}  # 2^-23 that one kind is missing


def test_a_message_is_retried_with_the_same_bytes_and_dropped_after_its_week(
    tmp_path: Path, collector: Stub
) -> None:
    asked, clock = campaign(tmp_path), Clock()
    with account(tmp_path, clock) as mine:
        assert mine.present(asked) in ("drawn", "present")
        collector.answers = [(503, {}, b""), (200, {}, b"<html>a portal</html>")]
        for _ in range(2):
            assert send(mine, asked, collector.address, label="1.2").waiting == 1
        assert send(mine, asked, collector.address, label="1.2").sent == 1
        assert len(set(collector.bodies)) == 1
        clock.day = 7
        mine.present(asked)
        clock.day = 14
        assert send(mine, asked, collector.address).sent == 0
        assert len(collector.batches) == 1


def test_the_label_is_the_week_of_the_first_use(tmp_path: Path) -> None:
    toml = TOML + LABEL.replace("epsilon = 1", "epsilon = 50").replace("0.5", "0.999")
    asked, clock = campaign(tmp_path, toml), Clock()
    from dither_device import Policy

    for day, code in ((0, "00"), (6.9, "00"), (9, "01"), (400, "02")):
        clock.day = 0
        with account(tmp_path, clock, f"{day}", 60) as mine:
            mine.policy, clock.day = Policy(epsilon=50), day
            mine.present(asked)
            message = mine.message(asked)
            assert message is not None
            # 1 device in 1 000 carries public labels.
            assert message["public"] or [report for _, report in message["reports"]] == [code]


def test_presence_is_no_answer_and_other_campaigns_are_not_present(tmp_path: Path) -> None:
    asked = campaign(tmp_path)
    with account(tmp_path, Clock()) as mine, pytest.raises(Exception, match="presence"):
        mine.answer(asked.presence()[1], "2026-05-04")  # type: ignore[arg-type]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (*telemetry._SWITCHES, *telemetry._MACHINES, "SUDO_UID", "DITHER_ACCOUNT", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(telemetry, "_NEVER", str(tmp_path / "never"))
    return tmp_path


@pytest.mark.parametrize("toml", [TOML, TOML + LABEL], ids=["counted alone", "with a label"])
def test_telemetry_counts_after_consent_alone(toml: str, home: Path, collector: Stub) -> None:
    campaign(home, toml)
    tool = Telemetry(home / "campaign.json", app="mytool", version="1.2", address=collector.address)
    tool.background = False
    assert tool.present() == "off"
    words = " ".join(tool.run("on").split())
    assert "That you use it is seen in each period" in words
    assert "the installation" in words
    assert ("once for life" in words) == (toml != TOML)
    assert tool.present() in ("drawn", "present")
    assert tool.present() == "silent"
    assert "1 report waits" in tool.run("status")
    assert '"dither":2' in tool.run("show")
    assert tool.run("off")
    assert tool.present() == "off"
    assert tool.send() is None
    assert "1 report was deleted" in tool.run("on")  # drawn before `off`
    assert tool.present() == "silent"
    done = tool.send()
    assert done is not None
    assert done.sent == 0
    assert collector.batches == []


def test_tests_of_developers_carry_their_label(
    home: Path, collector: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DITHER_TELEMETRY_TEST", "1")
    campaign(home)
    tool = Telemetry(home / "campaign.json", app="mytool", version="1.2", address=collector.address)
    tool.background = False
    tool.run("on")
    assert tool.present() == "present"
    tool.send()
    assert [(batch.label, batch.reports) for batch in collector.batches] == [("test", {})]


def test_one_yes_covers_what_was_shown_of_both(home: Path, collector: Stub) -> None:
    (home / "second").mkdir()
    publish(home / "second", TOML + LABEL)
    (home / "presence.json").write_bytes((home / "second" / "campaign.json").read_bytes())
    publish(home)
    one: dict[str, Any] = {"app": "mytool", "version": "1.2", "address": collector.address}
    alone = Telemetry(home / "campaign.json", background=False, **one)
    alone.run("on")
    tool = Telemetry(home / "campaign.json", presence=home / "presence.json", background=False, **one)
    assert tool.present() == "off"  # that yes did not cover it
    assert tool.answer("command", "build") == "drawn"
    assert "That you use it is seen" in " ".join(tool.run("on").split())
    assert tool.present() in ("drawn", "present")
    assert tool.present() == "silent"
    tool.run("off")
    assert tool.present() == "off"


def test_a_new_home_has_a_budget_for_both(home: Path) -> None:
    (home / "second").mkdir()
    publish(home / "second", TOML + LABEL.replace("0.5", "0.999"))
    publish(home)
    tool = Telemetry(
        home / "campaign.json", app="mytool", presence=home / "second" / "campaign.json", background=False
    )
    tool.run("on")
    assert tool.present() in ("drawn", "present")
    assert tool.answer("command", "build") == "drawn"


def test_a_label_that_waits_was_not_sent(home: Path) -> None:
    publish(home, TOML + LABEL.replace("0.5", "0.999"))
    tool = Telemetry(home / "campaign.json", app="mytool", background=False)
    tool.run("on")
    while tool.present() != "drawn":  # once in a thousand a device has no label
        tool.run("erase")
        tool.run("on")
    assert "0 answers had been sent before" in tool.run("erase")
