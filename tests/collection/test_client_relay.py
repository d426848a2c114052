"""The relay of examples/collector: it passes encrypted requests on and nothing of whoever sent them."""

from __future__ import annotations

import json
import shutil
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import dither as dt
from dither.collection import Client
from dither.collection.campaign import Campaign
from dither.collection.ohttp import GATEWAY, REQUEST, BinaryRequest, configuration, encapsulate
from dither.collection.secrets import make_sealing_key
from dither.core.batch import JSON, PACKED, BatchBody
from tests.collection.load import batches
from tests.collection.serving import OPEN, Process
from tests.collection.test_server_proxies import FOLDER, PERSON, Proxy

TOLD = {
    "cookie": "session=1",
    "user-agent": "a rare browser",
    "x-forwarded-for": PERSON,
    "forwarded": f"for={PERSON}",
    "accept-language": "rm",
    "referer": "https://city.example/form?name=ann",
    "authorization": "Basic YW5u",
    "origin": "https://city.example",
}


class Witness(BaseHTTPRequestHandler):
    """A collector that remembers everything it is told."""

    seen: list[tuple[str, str, dict[str, str], bytes]]

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.seen.append((self.command, self.path, headers, content))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    do_GET = do_OPTIONS = do_PUT = do_POST  # noqa: N815

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture
def witness(tmp_path: Path) -> Iterator[tuple[Proxy, list[tuple[str, str, dict[str, str], bytes]]]]:
    if shutil.which("nginx") is None:
        pytest.skip("nginx is not installed")
    Witness.seen = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Witness) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        relay = Proxy("nginx", tmp_path, server.server_port, "relay.conf")
        try:
            relay.wait()
            yield relay, Witness.seen
        finally:
            relay.stop()
            server.shutdown()


def ask(relay: Proxy, method: str, path: str, content: bytes | None, form: str) -> int:
    with closing(relay.connect()) as link:
        link.request(method, path, content, {**TOLD, "content-type": form})
        answer = link.getresponse()
        answer.read()
        return answer.status


def test_nothing_of_the_device_is_passed_on(
    witness: tuple[Proxy, list[tuple[str, str, dict[str, str], bytes]]],
) -> None:
    relay, seen = witness
    sealed = bytes(range(256)) * 8000  # 2 MB
    assert ask(relay, "POST", "/city?name=ann", sealed, REQUEST) == 200
    assert ask(relay, "OPTIONS", "/city", None, JSON) == 204  # answered here: the origin is not passed on
    for method, path, form in (
        ("PUT", "/city", REQUEST),
        ("GET", "/city", REQUEST),
        ("POST", "/city", PACKED),
        ("POST", "/city", f"{REQUEST}; name=ann"),
        ("POST", "/city/x", REQUEST),
        ("GET", "/", JSON),
        ("GET", "/metrics", JSON),
        ("POST", "/v1/admin/reload", JSON),
        ("GET", GATEWAY, JSON),
        ("POST", f"/v1/campaigns/{'ab' * 32}/batches", PACKED),
    ):
        assert ask(relay, method, path, None if method == "GET" else b"x", form) in (403, 404, 415)
    ((method, path, headers, content),) = seen
    assert (method, path, content) == ("POST", GATEWAY, sealed)
    assert headers.keys() <= {"host", "connection", "content-length", "content-type"}
    assert headers["content-type"] == REQUEST
    assert PERSON not in str(headers)
    relay.stop()
    written = relay.written()
    assert PERSON not in written
    assert "rare browser" not in written


def test_a_relay_that_refuses_or_fails_writes_no_address(tmp_path: Path) -> None:
    if shutil.which("nginx") is None:
        pytest.skip("nginx is not installed")
    limits = {"rate": ("rate=5r/s", "rate=1r/m"), "burst": ("burst=50", "burst=2")}
    relay = Proxy("nginx", tmp_path, 1, "relay.conf", **limits)  # nobody listens on port 1
    try:
        relay.wait()
        statuses = [ask(relay, "POST", "/city", b"x", REQUEST) for _ in range(5)]
        assert statuses == [502] * 3 + [429] * 2  # it holds back who sends too much; the collector cannot
    finally:
        relay.stop()
    assert PERSON not in relay.written()


def test_a_person_answers_through_a_relay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client of Python and a collector whose limits would refuse so many requests of one address."""
    if shutil.which("nginx") is None:
        pytest.skip("nginx is not installed")
    key = configuration(make_sealing_key(tmp_path / "sealing.key"))
    toml = OPEN.replace("[campaign]", f'[campaign]\nsealing_key = "{key}"')
    contract = Campaign.from_toml(toml)
    limits = tmp_path / "limits.toml"
    limits.write_text("rate = 0.001\nburst = 2\n", encoding="utf-8")
    options = (
        "--sealing-key",
        str(tmp_path / "sealing.key"),
        "--settings",
        str(limits),
        "--relay",
        "127.0.0.1",
    )
    (tmp_path / "relay").mkdir()
    with Process(tmp_path, str(tmp_path / "store.sqlite"), *options, toml=toml) as process:
        relay = Proxy("nginx", tmp_path / "relay", process.port, "relay.conf")
        try:
            relay.wait()
            monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "relay" / "k.pem"))
            place = f"https://127.0.0.1:{relay.port}/city"
            path = f"/v1/campaigns/{contract.id}/batches"
            # Nobody answers at the address: the campaign, too, is read through the relay.
            address = f"https://city.example/v1/campaigns/{contract.id}"
            with dt.Account.create(tmp_path / "person.account", epsilon=3) as account:
                client = Client(address, account, relay=place, sealing_key=key)
                client.answer("minutes", 42)
                client.answer("browser", "firefox")
                assert client.send().reports == 2
            made = [next(batches(contract, seed))[1] for seed in range(5)]
            inside = [BinaryRequest("POST", path, PACKED, one).to_bytes("city.example") for one in made]
            sealed = [encapsulate(one, key)[0] for one in inside]
            assert [ask(relay, "POST", "/city", one, REQUEST) for one in sealed] == [200] * 5
            assert ask(relay, "POST", "/city", made[0], REQUEST) == 400  # not encrypted
            with urllib.request.urlopen(process.address + "/health") as answer:
                stored = json.loads(answer.read())["reports"]
            assert stored == 2 + sum(
                sum(map(len, BatchBody.from_bytes(one).reports.values())) for one in made
            )
        finally:
            relay.stop()
    assert PERSON not in relay.written()
    for file in tmp_path.glob("*"):
        assert file.is_dir() or PERSON.encode() not in file.read_bytes()


def test_the_readme_names_the_relay() -> None:
    assert "`relay.conf`" in (FOLDER / "README.md").read_text(encoding="utf-8")
