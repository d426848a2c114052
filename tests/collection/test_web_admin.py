"""The admin token, attacked: nothing but the token itself, in its header, does anything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from dither.collection.collector import Collector
from dither.collection.settings import Settings
from dither.collection.store.sqlite import SqliteStore
from tests.collection.caller import Caller
from tests.collection.campaigns import DAY, published

TOKEN = "correct horse battery"
ACTIONS = ("reload", "fold", "delete", "counts")


def wrong(random: Random) -> list[tuple[bytes, bytes]]:
    """Return headers of somebody who does not know the token, or knows nearly all of it."""
    near = random.choice(
        [
            TOKEN[:-1],
            TOKEN + " ",
            TOKEN + "\t",
            TOKEN.upper(),
            TOKEN + TOKEN,
            "",
            TOKEN[1:],
            TOKEN + ",",
            '"' + TOKEN + '"',
        ]
    )
    if random.random() < 0.5:
        at = random.randrange(len(TOKEN))
        near = TOKEN[:at] + chr(random.randrange(33, 255)) + TOKEN[at + 1 :]
    if near == TOKEN:
        near += "x"
    scheme = random.choice(["Bearer ", "Bearer", "Basic ", "", "bearer  ", "Token "])
    value = (scheme + near).encode("latin-1")
    name = random.choice([b"authorization", b"x-authorization", b"cookie", b"proxy-authorization"])
    return [(name, value)] * random.choice([1, 1, 2])


def attack(client: Caller, count: int) -> int:
    """Send requests with wrong tokens; return how many were refused."""
    random, refused = Random(5), 0
    collector = client.collector
    (campaign,) = collector.campaigns
    for _ in range(count):
        action = random.choice(ACTIONS)
        path = random.choice(
            [f"/v1/admin/{action}", f"/v1/admin/{action}?token={TOKEN}", f"//v1/admin/{action}"]
        )
        method = random.choice(["POST", "POST", "POST", "GET", "PUT", "DELETE", "PATCH"])
        body = b'{"campaign": "%s", "day": "2026-05-01", "question": "minutes"}' % campaign.encode()
        answer = client.request(method, path, headers=wrong(random), content=body)
        assert answer.status_code in (401, 404, 405), (method, path, answer.status_code)
        refused += 1
    assert campaign in collector.campaigns
    return refused


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Caller]:
    store = SqliteStore(tmp_path / "store.sqlite", synchronous="OFF")
    collector = Collector(store, Settings(rate=1e6, burst=10**6), lambda: DAY)
    collector.publish(published())
    made = Caller(collector, TOKEN)
    yield made
    made.close()


def test_wrong_tokens_are_refused(client: Caller) -> None:
    assert attack(client, 100) == 100
    right = {"authorization": f"Bearer {TOKEN}"}
    assert client.post("/v1/admin/reload", headers=right).status_code == 200
    deep = client.post("/v1/admin/fold", headers=right, content=b"[" * 100_000)
    assert deep.status_code == 400


@pytest.mark.slow
def test_thousands_of_wrong_tokens(client: Caller) -> None:
    assert attack(client, 2_500) == 2_500


def test_without_a_token_there_are_no_admin_actions(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.sqlite", synchronous="OFF")
    made = Caller(Collector(store, Settings(), lambda: DAY))
    for given in ("Bearer ", "Bearer None", "Bearer"):
        assert made.post("/v1/admin/reload", headers={"authorization": given}).status_code == 404
    made.close()
