"""The Python client against a collector that runs as a process."""

from __future__ import annotations

import json
import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import dither as dt
from dither.collection import Client
from dither.collection.client import Sent
from dither.errors import BudgetExceeded, InvalidParameter, MalformedReport, Mismatch
from tests.collection.account.devices import DAY, SetClock, make
from tests.collection.serving import OPEN, Process


@pytest.fixture(scope="module")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """A collector with campaigns of one asker; the second asks one question more, and one less."""
    folder = tmp_path_factory.mktemp("collector")
    second = folder / "second.toml"
    second.write_text(
        OPEN.replace('"commute"', '"second"').replace(".browser]", ".program]").replace('"safari", ', ""),
        encoding="utf-8",
    )
    kept = []  # campaigns whose answers are permanent, or once in each day
    for name, repeat in (("same", '"same"'), ("once", '"once"\ndays = 1')):
        kept.append(folder / f"{name}.toml")
        asked = OPEN.replace('"commute"', f'"{name}"').replace('"fresh"', repeat)
        kept[-1].write_text(asked, encoding="utf-8")
    with Process(folder, str(folder / "store.sqlite"), *map(str, (second, *kept))) as process:
        yield process


@pytest.fixture
def account(tmp_path: Path) -> Iterator[dt.Account]:
    with dt.Account.create(
        tmp_path / "person.account", epsilon=3, policy=dt.privacy.Policy(epsilon=1.1)
    ) as made:
        yield made


def counted(collector: Process) -> int:
    with urllib.request.urlopen(collector.address + "/health") as answer:
        return int(json.loads(answer.read())["reports"])


def test_a_person_answers_and_the_collector_counts(collector: Process, account: dt.Account) -> None:
    client = Client(collector.campaign, account)
    before = counted(collector)
    assert "minutes" in client.promise
    assert client.dry_run("minutes").outcome == "drawn"
    assert client.answer("minutes", 42) is not None
    client.answer("browser", "firefox")
    assert len(account.queue) == 2
    assert client.send(label="1.0").reports == 2
    assert str(client.send()) == "0 reports were acknowledged"
    assert counted(collector) == before + 2
    client.answer("minutes", 7)
    with pytest.raises(BudgetExceeded):
        client.answer("minutes", 7)


def test_sent_reports_are_taken_back(collector: Process, account: dt.Account) -> None:
    client = Client(collector.campaign, account)
    before = counted(collector)
    client.answer("minutes", 42)
    client.answer("browser", "firefox")
    assert client.send().reports == 2
    (sent,) = account.withdrawable
    assert (sent.asker, sent.campaign) == (client.contract.asker, client.published.id)
    assert set(sent.questions) == {"minutes", "browser"}
    assert counted(collector) == before + 2
    client.answer("minutes", 7)
    done = client.take_back()
    assert (done.withdrawn, done.unsent, done.left) == (2, 1, 0)
    assert counted(collector) == before + 2  # public numbers do not show that somebody withdraws
    assert account.withdrawable == ()
    assert client.send().reports == 0
    assert client.take_back().withdrawn == 0


def test_a_batch_that_is_refused_for_good_is_dropped(
    collector: Process, account: dt.Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not hold up the others, and what was spent stays spent."""
    client = Client(collector.campaign, account)
    client.answer("minutes", 42)
    left = account.left
    with monkeypatch.context() as patch:
        patch.setattr(client, "_request", lambda *_: (422, {}, b'{"refused": "fields", "words": ""}'))
        told = client.send()
    assert (told.reports, told.refused, told.dropped, told.reasons) == (0, None, 1, ("fields",))
    assert str(told) == "0 reports were acknowledged; 1 were dropped, refused for good (fields)"
    assert account.queue == ()
    assert account.left == left
    client.answer("browser", "firefox")
    assert client.send() == Sent(1)


def test_a_wrong_label_loses_no_report(collector: Process, account: dt.Account) -> None:
    client = Client(collector.campaign, account)
    client.answer("minutes", 42)
    with pytest.raises(InvalidParameter, match="label 'no such label'"):
        client.send(label="no such label")
    assert client.send() == Sent(1)


@pytest.mark.parametrize(
    ("status", "body", "waits", "later"),
    [
        (413, b'{"refused": "size", "words": ""}', None, None),
        (413, b"<html>too large</html>", "status 413", None),
        (404, b'{"refused": "campaign", "words": ""}', "campaign", None),
        (429, b'{"refused": "rate", "words": ""}', "rate", 7.0),
        (503, b"", "busy", 7.0),
    ],
)
def test_what_an_answer_means(
    collector: Process,
    account: dt.Account,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    body: bytes,
    waits: str | None,
    later: float | None,
) -> None:
    client = Client(collector.campaign, account)
    client.answer("minutes", 42)
    seconds = "" if later is None else "7"
    monkeypatch.setattr(client, "_request", lambda *_: (status, {"retry-after": seconds}, body))
    told = client.send()
    assert (told.refused, told.retry_after) == (waits, later)
    assert (len(account.queue), told.dropped) == ((0, 1) if waits is None else (1, 0))
    if waits is not None:  # the same bytes at every sending
        assert account.batch(client.contract.asker) == account.batch(client.contract.asker)


@contextmanager
def line(port: int) -> Iterator[tuple[int, threading.Event]]:
    """A line to a port of this machine; while the event is set, answers are lost on it."""
    cut = threading.Event()

    def carry(near: socket.socket) -> None:
        with near, socket.create_connection(("127.0.0.1", port)) as far:
            request = near.recv(1 << 16)
            length = request.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            while len(request.partition(b"\r\n\r\n")[2]) < int(length or 0):
                request += near.recv(1 << 16)
            far.sendall(request)
            answer = far.recv(1 << 16)  # the collector has acted
            while not cut.is_set() and answer:
                near.sendall(answer)
                answer = far.recv(1 << 16)

    def listen(listening: socket.socket) -> None:
        while True:
            try:
                near, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=carry, args=(near,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=listen, args=(listening,), daemon=True).start()
        try:
            yield listening.getsockname()[1], cut
        finally:
            listening.shutdown(socket.SHUT_RDWR)  # closing alone does not wake a thread that accepts


def test_an_answer_that_is_lost_is_sent_again_and_counted_once(
    collector: Process, account: dt.Account
) -> None:
    before = counted(collector)
    with line(collector.port) as (port, cut):
        client = Client(collector.campaign.replace(f":{collector.port}/", f":{port}/"), account)
        client.answer("minutes", 42)
        cut.set()
        assert client.send().refused == "unreachable"
        assert client.send().reports == 0
        assert counted(collector) == before + 1
        cut.clear()
        assert client.send(label="1.1").reports == 1  # another version of the program: stored before
    assert counted(collector) == before + 1


def test_two_campaigns_of_one_asker_do_not_share_a_batch(collector: Process, account: dt.Account) -> None:
    """The collector refuses a whole batch for one report to a question that the campaign does not ask."""
    one, two = Client(collector.campaign, account), Client(collector.others[0], account)
    one.answer("browser", "firefox")
    two.answer("program", "firefox")
    whole = account.batch(one.contract.asker, questions=[one.contract.asking("browser")])
    assert whole is not None
    assert [item.question for item in whole.reports] == ["browser"]
    assert two.send() == Sent(1)
    assert [item.question for item in account.queue] == ["browser"]
    assert one.send() == Sent(1)
    assert account.queue == ()


def test_a_person_who_is_asked_again_counts_once(collector: Process, account: dt.Account) -> None:
    client = Client(collector.others[1], account)
    before = counted(collector)
    for visit in range(5):  # of a page that answers and sends whenever it is opened
        client.answer("minutes", 42)
        assert client.send() == Sent(int(visit == 0))
    assert counted(collector) == before + 1


def test_all_periods_of_a_device_that_was_offline_are_counted(collector: Process, tmp_path: Path) -> None:
    clock = SetClock()
    with make(tmp_path, clock, epsilon=9) as account:
        client = Client(collector.others[2], account)
        before = counted(collector)
        for _ in range(4):
            for question, value in (("minutes", 42), ("browser", "firefox")) * 2:
                client.answer(question, value)
            clock.pass_(DAY)
        assert len(account.queue) == 8
        assert client.send() == Sent(8)
        assert counted(collector) == before + 8


def test_another_key_identity_or_address_is_refused(collector: Process, account: dt.Account) -> None:
    pinned = Client(collector.campaign, account).published.key
    assert Client(collector.campaign, account, key=pinned).published.key == pinned
    with pytest.raises(Mismatch, match="pinned"):
        Client(collector.campaign, account, key="00" * 32)
    with pytest.raises(MalformedReport, match="404"):
        Client(collector.campaign[:-1] + ("0" if collector.campaign[-1] != "0" else "1"), account)
    for address in ("http://city.example/v1/campaigns/x", "ftp://localhost/", "localhost:8000", "https://"):
        with pytest.raises(InvalidParameter):
            Client(address, account)
    with pytest.raises(InvalidParameter, match="Account"):
        Client(collector.campaign, "me")  # type: ignore[arg-type]
