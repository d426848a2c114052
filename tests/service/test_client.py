"""The Python client against a collector that runs as a process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import dither as dt
from dither.errors import BudgetExceeded, InvalidParameter, MalformedReport, Mismatch
from dither.service import Client
from tests.service.serving import Process


@pytest.fixture(scope="module")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    folder = tmp_path_factory.mktemp("collector")
    with Process(folder, str(folder / "store.sqlite")) as process:
        yield process


@pytest.fixture
def account(tmp_path: Path) -> Iterator[dt.Account]:
    with dt.Account.create(tmp_path / "person.account", epsilon=3, policy=dt.Policy(epsilon=1.1)) as made:
        yield made


def counted(collector: Process, account: dt.Account) -> int:
    import json
    import urllib.request

    with urllib.request.urlopen(collector.address + "/health") as answer:
        return int(json.loads(answer.read())["reports"])


def test_a_person_answers_and_the_collector_counts(collector: Process, account: dt.Account) -> None:
    client = Client(collector.campaign, account)
    before = counted(collector, account)
    assert "minutes" in client.promise
    assert client.dry_run("minutes").outcome == "drawn"
    assert client.answer("minutes", 42) is not None
    client.answer("browser", "firefox")
    assert len(account.queue) == 2
    assert client.send(label="1.0").reports == 2
    assert str(client.send()) == "0 reports were acknowledged"
    assert counted(collector, account) == before + 2
    client.answer("minutes", 7)
    with pytest.raises(BudgetExceeded):
        client.answer("minutes", 7)


def test_a_refused_batch_waits_and_has_the_same_bytes(collector: Process, account: dt.Account) -> None:
    client = Client(collector.campaign, account)
    client.answer("minutes", 42)
    assert client.send(label="no such label").refused == "label"
    first = account.batch(client.contract.asker)
    assert first == account.batch(client.contract.asker)
    assert client.send().reports == 1
    assert account.queue == ()


def test_an_answer_that_is_lost_is_sent_again_and_counted_once(
    collector: Process, account: dt.Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client(collector.campaign, account)
    client.answer("minutes", 42)
    before = counted(collector, account)
    real = Client._request

    def lossy(self: Client, method: str, below: str, body: bytes) -> tuple[int, bytes]:
        real(self, method, below, body)
        raise ConnectionResetError

    with monkeypatch.context() as patch:
        patch.setattr(Client, "_request", lossy)
        assert client.send().refused == "unreachable"
        assert client.send().reports == 0
    assert client.send(label="1.1").reports == 1  # a new version of the program: stored before, so not again
    assert counted(collector, account) == before + 1


def test_what_is_not_the_campaign_is_not_answered(collector: Process, account: dt.Account) -> None:
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
