"""Sending: the same bytes until they are acknowledged, what is dropped, encryption, the background."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from device_support import TOML, Stub, publish, python, stub, today

import dither as dt
from dither.collection import ohttp
from dither_device import Account, Campaign, Malformed, Telemetry, send, sending, telemetry
from dither_device.account import Moment
from dither_device.sending import split_address


@pytest.fixture
def collector() -> Iterator[Stub]:
    with stub() as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a signed campaign in it, where no switch of this machine is seen."""
    for name in (*telemetry._SWITCHES, *telemetry._MACHINES, "SUDO_UID", "DITHER_ACCOUNT", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(telemetry, "_NEVER", str(tmp_path / "never"))
    publish(tmp_path)
    return tmp_path


def ready(folder: Path, toml: str = TOML, answers: int = 2) -> tuple[Account, Campaign]:
    """An account with answers that wait, and their campaign."""
    campaign = Campaign(publish(folder, toml).to_json())
    account = Account.create(folder / "me.account", epsilon=20)
    for _ in range(answers):
        account.answer(campaign.asking("command"), "build")
    return account, campaign


def test_a_batch_is_sent_and_acknowledged(collector: Stub, tmp_path: Path) -> None:
    account, campaign = ready(tmp_path)
    account.answer(campaign.asking("seconds"), 7)
    other = dt.Inquiry("age", dt.KRR(dt.Categories(3), epsilon=0.5), asker="mytool")
    dt.Account.open(account.path).answer(other, 1)  # of another campaign: it stays
    done = send(account, campaign, collector.address, label="1.2")
    assert (done.sent, done.waiting, done.problem, done.refused) == (3, 0, None, [])
    assert [sum(map(len, batch.reports.values())) for batch in collector.batches] == [2, 1]
    assert {batch.label for batch in collector.batches} == {"1.2"}
    assert len(account.queue) == 1
    assert send(account, campaign, collector.address).sent == 0


def test_what_was_sent_is_taken_back(collector: Stub, folder: Path) -> None:
    more: dict[str, Any] = {"address": collector.address, "background": False, "epsilon": 9}
    tool = Telemetry.from_campaign(folder / "campaign.json", app="mytool", version="1.2", **more)
    tool.run("on")
    for _ in range(2):
        tool.answer("command", "build")
    assert "taken back" not in tool.run("show")
    tool.send()
    assert "2 reports were sent and can still be deleted: `mytool telemetry take-back`." in tool.run("status")
    assert tool.run("show").count("Sent, and can be taken back until") == 2
    tool.answer("command", "test")
    collector.answers = [(503, {}, b""), (200, {}, b"<html>welcome</html>")]
    told = tool.run("take-back")
    assert "1 answer was not sent yet, and will not be. 2 more could not be taken back now (status" in told
    assert not collector.withdrawn
    assert tool.run("take-back").startswith("2 answers were taken back:")
    path = f"/v1/campaigns/{Campaign((folder / 'campaign.json').read_text()).id}/withdrawals"
    assert collector.withdrawn == [(path, batch.id) for batch in collector.batches]
    assert tool.run("take-back").startswith("Nothing can be taken back any more")
    assert "3 times (0 not sent yet, 1 deleted unsent); ε = 3." in tool.run(
        "show"
    )  # what was spent stays spent
    collector.batches.clear()
    tool.send()
    assert not collector.batches
    assert tool.problem is None


def test_batches_after_the_last_day_are_not_offered_for_withdrawal(
    collector: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account, campaign = ready(tmp_path)
    send(account, campaign, collector.address)
    assert len(account.withdrawable) == 2
    assert {entry["until"] for entry in account.withdrawable} == {today() + 14}
    later = {**Moment.now(), "wall": (today() + 15) * 86_400}
    monkeypatch.setattr(account, "_now", lambda: later)
    assert account.withdrawable == []


def test_a_label_that_the_campaign_does_not_list_is_not_sent(collector: Stub, tmp_path: Path) -> None:
    account, campaign = ready(tmp_path)
    send(account, campaign, collector.address, label="9.9")
    assert {batch.label for batch in collector.batches} == {""}


@pytest.mark.parametrize(
    ("status", "word", "after", "dropped"),
    [
        (503, "", "7", False),
        (429, "rate", "30", False),
        (403, "early", None, False),
        (404, "", None, False),  # a proxy, perhaps
        (500, "", None, False),
        (503, "", "nan", False),
        (503, "", "-5", False),
        (413, "size", None, True),
        (422, "report", None, True),
        (410, "late", None, True),
        (409, "conflict", None, False),
    ],
)
def test_the_fate_of_a_batch_follows_from_the_answer_of_the_collector(
    status: int, word: str, after: str | None, dropped: bool, collector: Stub, tmp_path: Path
) -> None:
    account, campaign = ready(tmp_path, answers=1)
    text = json.dumps({"refused": word} if word else {}).encode()
    collector.answers.append((status, {"retry-after": after} if after else {}, text))
    done = send(account, campaign, collector.address)
    assert done.refused == ([word] if dropped else [])
    if dropped or status == 409:
        assert account.queue == []
        return
    assert done.waiting == 1
    assert done.problem == (word or ("busy" if status == 503 else f"status {status}"))
    assert done.retry_after == (None if after is None else 0 if after in ("nan", "-5") else float(after))
    assert send(account, campaign, collector.address).sent == 1
    assert collector.bodies[0] == collector.bodies[1]


def test_a_batch_that_is_refused_for_good_does_not_block_the_next(collector: Stub, tmp_path: Path) -> None:
    account, campaign = ready(tmp_path, answers=3)
    collector.answers.append((413, {}, b'{"refused": "size"}'))
    done = send(account, campaign, collector.address)
    assert (done.sent, done.refused, done.waiting) == (2, ["size"], 0)


@pytest.mark.parametrize("answer", [b"\xff" * 9, b"[]", b'{"refused": {}}', b"[" * 9999])
def test_invalid_answers_of_a_collector(answer: bytes, collector: Stub, tmp_path: Path) -> None:
    account, campaign = ready(tmp_path, answers=1)
    collector.answers.append((400, {"retry-after": "soon"}, answer))
    assert send(account, campaign, collector.address).waiting == 1


@pytest.mark.parametrize("line", [b"HTTP/1.1 100 Continue\r\n\r\n", b"x", b""])
def test_somebody_answers_without_end(line: bytes, tmp_path: Path) -> None:
    account, campaign = ready(tmp_path, answers=1)
    ended = threading.Event()

    def drip() -> None:
        link, _ = server.accept()
        with link, contextlib.suppress(OSError):
            while not ended.wait(0.01):
                link.send(line)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=drip)
        thread.start()
        done = send(account, campaign, f"http://127.0.0.1:{server.getsockname()[1]}", timeout=0.1)
        ended.set()
        thread.join()
    assert str(done.problem).startswith("unreachable")
    assert done.waiting == 1


def test_nobody_answers(tmp_path: Path) -> None:
    account, campaign = ready(tmp_path, answers=1)
    done = send(account, campaign, "http://127.0.0.1:1")
    assert (done.problem, done.waiting) == ("unreachable (ConnectionRefusedError)", 1)


@pytest.mark.parametrize(
    "address",
    [
        "http://telemetry.example",
        "http://127.0.0.1.telemetry.example",
        "ftp://a",
        "https://",
        "https://a/?b",
        "https://u:p@a",
        "https://a:b",
        None,
        3,
    ],
)
def test_addresses_that_are_refused(address: Any) -> None:
    with pytest.raises(Malformed):
        split_address(address)


# --- encrypted


@pytest.fixture
def key() -> X25519PrivateKey:
    return X25519PrivateKey.generate()


def sealed(key: X25519PrivateKey) -> str:
    return TOML.replace("labels =", f'sealing_key = "{ohttp.configuration(key)}"\nlabels =')


class Gateway:
    """Opens what is sent as a collector does, and answers encrypted."""

    def __init__(self, key: X25519PrivateKey, collector: Stub) -> None:
        self.keys = {ohttp.configuration(key): key}
        self._take = collector.take
        self.plain = False
        self.paths: list[str] = []

    def __call__(self, path: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
        self.paths.append(path)
        if self.plain:
            return 200, {"content-type": "text/html"}, b"<h1>hello</h1>"
        plain, context = ohttp.decapsulate(body, self.keys)
        request = ohttp.BinaryRequest.from_bytes(plain)
        status, _, text = self._take(request.path, request.content)
        response = ohttp.BinaryResponse(status, "application/json", text).to_bytes()
        return 200, {"content-type": ohttp.RESPONSE}, context.encrypt_answer(response)


@pytest.mark.parametrize("relay", [None, "/relay"])
def test_a_sealing_key_encrypts_every_batch(
    relay: str | None, key: X25519PrivateKey, collector: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway = Gateway(key, collector)
    monkeypatch.setattr(collector, "take", gateway)
    account, campaign = ready(tmp_path, sealed(key), answers=1)
    gateway.plain = True  # what a relay says by itself acknowledges nothing
    done = send(account, campaign, collector.address, relay=relay and collector.address + relay)
    assert (done.sent, done.waiting) == (0, 1)
    assert "relay" in str(done.problem)
    gateway.plain = False
    assert send(account, campaign, collector.address, relay=relay and collector.address + relay).sent == 1
    assert set(gateway.paths) == {relay or "/.well-known/ohttp-gateway"}
    assert len(collector.batches) == 1


def test_nothing_is_sent_in_another_way(
    key: X25519PrivateKey, collector: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account, campaign = ready(tmp_path, sealed(key), answers=1)
    monkeypatch.setattr(sending, "_can_seal", lambda: False)
    done = send(account, campaign, collector.address)
    assert "pip install cryptography" in str(done.problem)
    assert collector.bodies == []
    assert send(account, campaign, collector.address, relay="http://127.0.0.1:9/").sent == 0


def test_a_relay_needs_a_sealing_key(collector: Stub, tmp_path: Path) -> None:
    account, campaign = ready(tmp_path, answers=1)
    done = send(account, campaign, collector.address, relay="https://relay.example")
    assert "sealing key" in str(done.problem)
    assert collector.bodies == []


# --- in the background


def wait_for(collector: Stub, many: int) -> None:
    for _ in range(600):
        if len(collector.batches) >= many:
            return
        time.sleep(0.05)
    raise AssertionError("nothing was sent")


def test_a_process_of_its_own_sends(collector: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CI", "DO_NOT_TRACK", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    publish(tmp_path)
    tool = Telemetry.from_campaign(tmp_path / "campaign.json", app="mytool", address=collector.address)
    tool.run("on")
    assert tool.answer("command", "build") == "drawn"
    assert tool._sender
    wait_for(collector, 1)
    marker = tmp_path / ".local/state/mytool/telemetry/sent"
    assert marker.exists()
    again = Telemetry.from_campaign(tmp_path / "campaign.json", app="mytool", address=collector.address)
    assert again.answer("seconds", 3) == "drawn"
    assert again._sender == 0  # within an hour nothing is started
    old = time.time() - 4000
    os.utime(marker, (old, old))
    assert again.send() is not None
    assert len(collector.batches) == 2
    for _ in range(100):
        tool._send_later()
        if not tool._sender:  # the first process has ended, and is forgotten
            break
        time.sleep(0.05)
    assert tool._sender == 0


def test_the_process_that_sends_ends_whatever_happens(tmp_path: Path) -> None:
    ready(tmp_path, answers=1)
    names = {"campaign": str(tmp_path / "campaign.json"), "app": "mytool", "version": "", "key": None}
    job: dict[str, Any] = {**names, "folder": str(tmp_path / "own"), "relay": None, "marker": None}
    code = """
import json, sys
from dither_device import sending
sending._PATIENCE = 0.5
sending.main(sys.argv[1])
"""
    with socket.create_server(("127.0.0.1", 0)) as server:  # nobody accepts
        job["address"] = f"http://127.0.0.1:{server.getsockname()[1]}"
        tool = Telemetry(**{name: value for name, value in job.items() if name != "marker"}, background=False)
        tool.run("on")
        assert tool.answer("command", "build") == "drawn"
        begin = time.monotonic()
        done = python(code, json.dumps(job), home=tmp_path)
    assert done.returncode == 1
    assert "Timeout" in done.stderr
    assert time.monotonic() - begin < 9  # seconds that one wait takes alone


def test_what_cannot_be_started_is_sent_later(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in (("executable", ""), ("frozen", True), ("executable", str(tmp_path / "nothing"))):
        with monkeypatch.context() as patch:
            patch.setattr("sys." + name, value, raising=False)
            assert sending.spawn({}) == 0
