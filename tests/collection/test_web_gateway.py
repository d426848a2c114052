"""The gateway of Oblivious HTTP at a collector: what it opens, answers, refuses and counts."""

from __future__ import annotations

import asyncio
import json
import subprocess
import urllib.request
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

import dither as dt
from dither.collection import Client
from dither.collection.campaign import Campaign
from dither.collection.collector import Collector
from dither.collection.ohttp import (
    GATEWAY,
    REQUEST,
    RESPONSE,
    BinaryRequest,
    BinaryResponse,
    configuration,
    encapsulate,
    sealed_size,
)
from dither.collection.published import Published
from dither.collection.secrets import make_sealing_key
from dither.collection.server import ServerPlan, from_environment
from dither.collection.settings import Settings
from dither.collection.store.sqlite import SqliteStore
from dither.core.batch import JSON, PACKED, BatchBody
from dither.errors import InvalidParameter, MalformedReport
from dither.foundation.canonical import canonical
from dither_device import sending
from tests.collection.caller import Caller
from tests.collection.campaigns import DAY, KEY, TOML, contract
from tests.collection.serving import OPEN, Process
from tests.collection.test_web_http import body
from tests.conformance.ohttp import VECTORS_KEYS, inside, outside
from tests.conformance.test_javascript import CLIENT, node

PRIVATE = X25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = configuration(PRIVATE)
NEXT = X25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
CAMPAIGN = contract(name="sealed", sealing_key=PUBLIC)
PATH = f"/v1/campaigns/{CAMPAIGN.id}/batches"
PLAIN = contract()
KEYS = {PUBLIC: PRIVATE, configuration(NEXT): NEXT, **VECTORS_KEYS}


@pytest.fixture
def caller(tmp_path: Path) -> Iterator[Caller]:
    """A collector of a campaign with a sealing key, and of one without."""
    store = SqliteStore(tmp_path / "store.sqlite", synchronous="OFF")
    limits = Settings(rate=1e6, burst=10**6, body=4000)
    collector = Collector(store, limits, lambda: DAY, KEYS)
    for one in (CAMPAIGN, PLAIN):
        collector.publish(Published.sign(one, KEY))
    made = Caller(collector)
    yield made
    made.close()


def post(caller: Caller, content: bytes, form: str = REQUEST, path: str = GATEWAY) -> Any:
    return caller.post(path, content=content, headers={"content-type": form})


def ask(
    caller: Caller,
    content: bytes = b"",
    form: str = PACKED,
    path: str = PATH,
    method: str = "POST",
    key: str = PUBLIC,
) -> tuple[int, Any]:
    """Send a request encrypted; return the status and the data of the answer inside."""
    return unpacked(caller, BinaryRequest(method, path, form, content).to_bytes("city.example"), key)


def unpacked(caller: Caller, plain: bytes, key: str = PUBLIC) -> tuple[int, Any]:
    sealed, exchange = encapsulate(plain, key)
    answer = post(caller, sealed)
    assert (answer.status_code, answer.headers["content-type"]) == (200, RESPONSE)
    read = BinaryResponse.from_bytes(exchange.decrypt_answer(answer.content))
    return read.status, json.loads(read.content)


def refusals(caller: Caller) -> dict[str, int]:
    counts: dict[str, int] = {}
    for key, count in caller.collector.refused.items():
        counts[key.reason.value] = counts.get(key.reason.value, 0) + count
    return counts


def stored(caller: Caller) -> int:
    return caller.collector.live.n(CAMPAIGN.id, "minutes")


def test_a_batch_is_taken_back_through_the_gateway(caller: Caller) -> None:
    identity = "ab" * 16
    sent = BatchBody.of(identity, [(CAMPAIGN.questions["minutes"].fingerprint, b"\1\2")]).to_bytes()
    assert ask(caller, sent) == (200, {"batch": identity})
    assert stored(caller) == 1
    path, body = PATH.replace("/batches", "/withdrawals"), sending.withdrawal_body(identity).encode()
    for _ in range(2):
        assert ask(caller, body, JSON, path) == (200, {"withdrawn": identity})
        assert stored(caller) == 0
    assert ask(caller, body + b" ", JSON, path)[1]["refused"] == "body"
    assert ask(caller, b" " * 1025, JSON, path)[1]["refused"] == "size"


def test_contracts_without_a_key_keep_their_text() -> None:
    assert "sealing" not in PLAIN.text
    assert set(json.loads(CAMPAIGN.text)) == {*json.loads(PLAIN.text), "sealing_key"}
    assert Campaign.from_text(CAMPAIGN.text) == CAMPAIGN
    line = f'[campaign]\nsealing_key = "{PUBLIC}"'
    assert Campaign.from_toml(TOML.replace("[campaign]", line)).sealing_key == PUBLIC
    assert Campaign.from_toml(TOML).id == PLAIN.id


def test_the_signature_covers_the_key() -> None:
    other = configuration(X25519PrivateKey.generate())
    text = Published.sign(CAMPAIGN, KEY).to_json()
    with pytest.raises(MalformedReport, match="signature"):
        Published.from_json(text.replace(PUBLIC, other))
    for bad in (None, "", "ab", PUBLIC.upper(), PUBLIC[6:70], PUBLIC[:6] + "00" * 32 + PUBLIC[70:], 5):
        with pytest.raises(MalformedReport):
            Campaign.from_text(canonical({**json.loads(CAMPAIGN.text), "sealing_key": bad}))
    with pytest.raises(InvalidParameter, match="sealing key"):
        contract(sealing_key="00" * 41)
    with pytest.raises(InvalidParameter, match="got a private one"):
        contract(sealing_key="dither-private-key-1:x25519:" + "ab" * 32)


def test_an_encrypted_batch_is_a_batch(caller: Caller) -> None:
    """Stored once, encrypted or plain, in either form; other bytes of the identity conflict."""
    one, two = body(1), body(2, label="1.0")
    bodies = [(one.to_bytes(), PACKED), (one.to_bytes(), PACKED), (one.to_json().encode(), JSON)]
    assert [ask(caller, *given) for given in bodies] == [(200, {"batch": one.id})] * 3
    assert post(caller, one.to_bytes(), PACKED, PATH).json() == {"batch": one.id}
    assert post(caller, two.to_bytes(), PACKED, PATH).status_code == 200
    assert ask(caller, two.to_bytes())[0] == 200
    assert stored(caller) == 6
    assert ask(caller, BatchBody(two.id, one.reports, "").to_bytes())[0] == 409
    metrics = caller.get("/metrics").text
    assert "dither_opened_total 5" in metrics
    assert "dither_repeated_total 4" in metrics


def test_a_request_that_is_replayed_counts_once(caller: Caller) -> None:
    """The very same bytes: each answer is encrypted anew, and the batch is stored once."""
    plain = BinaryRequest("POST", PATH, PACKED, body(1).to_bytes()).to_bytes("city.example")
    sealed, exchange = encapsulate(plain, PUBLIC)
    answers = [post(caller, sealed).content for _ in range(3)]
    assert len(set(answers)) == 3
    for answer in answers:
        assert BinaryResponse.from_bytes(exchange.decrypt_answer(answer)).status == 200
    assert stored(caller) == 3


def test_a_device_learns_inside_when_to_send_again(caller: Caller) -> None:
    """What a relay must not read, it cannot hand on: the seconds are in the encrypted answer."""
    caller.collector.store.close()  # nothing can be written any more
    plain = BinaryRequest("POST", PATH, PACKED, body(1).to_bytes()).to_bytes("city.example")
    sealed, exchange = encapsulate(plain, PUBLIC)
    answer = post(caller, sealed)
    read = BinaryResponse.from_bytes(exchange.decrypt_answer(answer.content))
    assert (answer.status_code, "retry-after" in answer.headers) == (200, False)
    assert (read.status, read.retry_after, len(read.to_bytes())) == (503, "5", 512)


def test_campaigns_are_read_encrypted(caller: Caller) -> None:
    path = f"/v1/campaigns/{CAMPAIGN.id}"
    assert ask(caller, path=path, method="GET") == (200, caller.get(path).json())
    assert ask(caller, path=f"/v1/campaigns/{'0' * 64}", method="GET")[1]["refused"] == "campaign"
    assert ask(caller, path="/v1/list", method="GET")[1]["refused"] == "request"  # there is no list


def test_keys_are_served_and_replaced(caller: Caller) -> None:
    """RFC 9540: the address of the gateway tells all key configurations; each opens, by its id."""
    answer = caller.get(GATEWAY)
    assert answer.headers["content-type"] == "application/ohttp-keys"
    assert answer.content.hex() == "".join(f"{len(name) // 2:04x}{name}" for name in KEYS)
    assert PUBLIC[:2] != configuration(NEXT)[:2]
    for number, key in enumerate((PUBLIC, configuration(NEXT))):
        assert ask(caller, body(number).to_bytes(), key=key)[0] == 200


def test_what_is_inside_is_checked_as_ever(caller: Caller) -> None:
    fine = body(1)
    foreign = BatchBody.of(fine.id, [("ab" * 16, b"\x01")])
    cases = [
        (b"{}", JSON, 400, "body"),
        (fine.to_bytes(), JSON, 400, "body"),
        (fine.to_bytes(), "", 415, "form"),
        (fine.to_bytes(), REQUEST, 415, "form"),
        (b"", PACKED, 400, "body"),
        (fine.to_bytes()[:-1], PACKED, 400, "body"),
        (foreign.to_bytes(), PACKED, 422, "fingerprint"),
        (body(2, label="9").to_bytes(), PACKED, 422, "label"),
        (body(3, browser=200).to_bytes(), PACKED, 422, "report"),
        (bytes(4001), PACKED, 413, "size"),
    ]
    for inner, form, status, word in cases:
        answer = ask(caller, inner, form)
        assert (answer[0], answer[1]["refused"]) == (status, word)
    large = body(4, reports=1900)
    assert 3800 < len(large.to_bytes()) <= 4000
    assert ask(caller, large.to_bytes())[0] == 200  # what fits plain fits encrypted
    assert ask(caller, fine.to_bytes(), path=PATH.replace(CAMPAIGN.id, "0" * 64))[1]["refused"] == "campaign"
    assert post(caller, bytes(sealed_size(4000))).json()["refused"] == "sealed"
    assert post(caller, bytes(sealed_size(4000) + 1)).json()["refused"] == "size"
    assert stored(caller) == 1900


def test_hostile_requests_are_refused_and_counted(caller: Caller) -> None:
    """The vectors: what no key opens is refused outside, everything else inside; nothing is stored."""
    for reason, sealed in outside().items():
        answer = post(caller, sealed)
        assert (answer.status_code, answer.json()["refused"]) == (400, "sealed"), reason
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["type"].endswith("#ohttp-key")
    assert refusals(caller) == {"sealed": len(outside())}
    key = next(iter(VECTORS_KEYS))
    for reason, plain in inside().items():
        status, told = unpacked(caller, plain, key)
        assert (status, told["refused"]) == (400, "request"), reason
    assert refusals(caller) == {"sealed": len(outside()), "request": len(inside())}
    assert post(caller, b"x" * 60, PACKED).json()["refused"] == "form"
    assert post(caller, body(1).to_bytes(), REQUEST, PATH).json()["refused"] == "form"
    assert caller.request("PUT", GATEWAY, content=b"x").status_code == 405
    assert stored(caller) == 0


def test_every_flipped_bit_is_refused(caller: Caller) -> None:
    sealed, _ = encapsulate(BinaryRequest("POST", PATH, PACKED, body(1).to_bytes()).to_bytes("h"), PUBLIC)
    for at in range(0, len(sealed), 9):
        flipped = sealed[:at] + bytes([sealed[at] ^ 1 << at % 8]) + sealed[at + 1 :]
        assert post(caller, flipped).json()["refused"] == "sealed"
    assert post(caller, sealed).status_code == 200


def test_a_relay_has_no_limit_of_rate(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.sqlite", synchronous="OFF")
    limits = Settings(rate=0.001, burst=2, relays=["203.0.113.7"], proxies=["198.51.100.1"])  # type: ignore[arg-type]
    collector = Collector(store, limits, lambda: DAY, KEYS)
    collector.publish(Published.sign(CAMPAIGN, KEY))
    caller = Caller(collector)  # its requests come from 203.0.113.7
    try:
        assert [ask(caller, body(seed).to_bytes())[0] for seed in range(5)] == [200] * 5
    finally:
        caller.close()


def test_a_collector_without_the_key_does_not_start(tmp_path: Path) -> None:
    signed, asker = tmp_path / "campaign.json", KEY
    open_ended = contract(name="sealed", sealing_key=PUBLIC, ends=contract().ends.replace(year=2120))
    once = Published.sign(open_ended, asker)
    signed.write_text(once.to_json(), encoding="utf-8")
    with pytest.raises(InvalidParameter, match=f"key of {PUBLIC[:16]}.*'sealed'.*--sealing-key"):
        ServerPlan((str(signed),), str(tmp_path / "a.sqlite")).read_campaigns()
    make_sealing_key(tmp_path / "other.key")
    with pytest.raises(InvalidParameter, match="--sealing-key"):
        ServerPlan(
            (str(signed),), str(tmp_path / "a.sqlite"), sealing_keys=(str(tmp_path / "other.key"),)
        ).read_campaigns()
    # What is over needs no key: it may be deleted, and the answers stay.
    signed.write_text(once.retire(DAY, asker).to_json(), encoding="utf-8")
    assert ServerPlan((str(signed),), str(tmp_path / "a.sqlite")).read_campaigns()[0].retired


def test_a_reload_without_the_key_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "campaign.toml"
    file.write_text(OPEN, encoding="utf-8")
    plan = ServerPlan((str(file),), str(tmp_path / "store.sqlite"), new_key=True)
    writer = plan.writer(plan.read_campaigns())
    try:
        known = list(writer.collector.campaigns)
        line = f'[campaign]\nversion = 2\nsealing_key = "{PUBLIC}"'
        file.write_text(OPEN.replace("[campaign]", line), encoding="utf-8")
        with pytest.raises(InvalidParameter, match="--sealing-key"):
            writer.reload()
        assert list(writer.collector.campaigns) == known
    finally:
        writer.close()
        writer.collector.store.close()


def test_every_worker_has_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker is told the file of the key, never the key."""
    place = tmp_path / "sealing.key"
    key = configuration(make_sealing_key(place))
    file = tmp_path / "campaign.toml"
    file.write_text(OPEN.replace("[campaign]", f'[campaign]\nsealing_key = "{key}"'), encoding="utf-8")
    plan = ServerPlan((str(file),), str(tmp_path / "store.sqlite"), sealing_keys=(str(place),), new_key=True)
    campaign = plan.read_campaigns()[0]
    told = json.dumps(asdict(plan))
    assert place.read_text().strip().rpartition(":")[2] not in told + repr(plan) + repr(plan.private_keys)
    monkeypatch.setenv("DITHER_SERVE", told)
    monkeypatch.setattr("dither.collection.server.to_stderr", lambda: None)

    async def answered() -> int:
        app = from_environment()
        web = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://collector.example")
        async with app.router.lifespan_context(app), web:
            path = f"/v1/campaigns/{campaign.id}/batches"
            asked = BinaryRequest("POST", path, PACKED, body(1).to_bytes())
            sealed, exchange = encapsulate(asked.to_bytes("city.example"), key)
            answer = await web.post(GATEWAY, content=sealed, headers={"content-type": REQUEST})
            return BinaryResponse.from_bytes(exchange.decrypt_answer(answer.content)).status

    assert asyncio.run(answered()) == 200


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """A collector of a campaign with a sealing key, as a process."""
    folder = tmp_path_factory.mktemp("sealed")
    key = configuration(make_sealing_key(folder / "sealing.key"))
    toml = OPEN.replace("[campaign]", f'[campaign]\nsealing_key = "{key}"')
    with Process(
        folder, str(folder / "store.sqlite"), "--sealing-key", str(folder / "sealing.key"), toml=toml
    ) as made:
        yield made


def counted(process: Process) -> int:
    with urllib.request.urlopen(process.address + "/health") as answer:
        return int(json.loads(answer.read())["reports"])


def test_a_person_in_python_answers_encrypted(
    process: Process, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches are encrypted if the campaign has a key; with the pinned key the campaign is, too."""
    sent: list[tuple[str, str, int]] = []
    exchange = sending.exchange

    def watched(to: str, method: str, content: bytes, *more: Any) -> Any:
        sent.append((method, urlsplit(to).path if content else "campaign or list", len(content)))
        return exchange(to, method, content, *more)

    monkeypatch.setattr(sending, "exchange", watched)
    plain, hidden = ("GET", "campaign or list", 0), ("POST", GATEWAY, 1079)
    with dt.Account.create(
        tmp_path / "person.account", epsilon=3, policy=dt.privacy.Policy(epsilon=1.1)
    ) as account:
        client = Client(process.campaign, account)
        before = counted(process)
        client.answer("minutes", 42)
        client.answer("browser", "firefox")
        assert client.send(label="1.0").reports == 2
        assert counted(process) == before + 2
        assert sent == [plain, plain, hidden]
        sent.clear()
        again = Client(process.campaign, account, sealing_key=client.contract.sealing_key)
        assert again.published == client.published
        assert sent == [hidden, hidden]
        with pytest.raises(InvalidParameter, match="expected sealing_key"):
            Client(process.campaign, account, relay="https://relay.example/")
        with pytest.raises(InvalidParameter, match="private one"):
            Client(process.campaign, account, sealing_key="dither-private-key-1:x25519:00")
        with pytest.raises(MalformedReport, match="answered 400"):
            Client(process.campaign, account, sealing_key=PUBLIC)


def test_a_page_answers_encrypted(process: Process) -> None:
    """The JavaScript client in Node, both forms; the second sending of a batch is the same batch."""
    published = json.loads(read_text(process.campaign))
    published_key, sealing_key = published["key"], json.loads(published["campaign"])["sealing_key"]
    code = f"""
import {{ Device, memoryStore }} from {json.dumps((CLIENT / "dist" / "dither.js").as_uri())};
import {{ fetchCampaign }} from {json.dumps((CLIENT / "dist" / "signatures.js").as_uri())};
import {{ packedBody }} from {json.dumps((CLIENT / "dist" / "packed.js").as_uri())};
import {{ relayed }} from {json.dumps((CLIENT / "dist" / "relay.js").as_uri())};

const address = {json.dumps(process.campaign)};
const gateway = new URL("/.well-known/ohttp-gateway", address).href;
const pinned = {json.dumps(sealing_key)};
const campaign = await fetchCampaign(address, {json.dumps(published_key)}, relayed(gateway, pinned));
const device = await Device.open({{ epsilon: 50, store: memoryStore() }});
const asks = ["minutes", "browser"].map((name) => device.asking(...campaign.questions[name]));
const told = [];
let lost = true; // the first answer is lost on the way, so that the batch is sent again
const fetch = async (...request) => {{
  const answer = await globalThis.fetch(...request);
  told.push([answer.status, request[0] === gateway, request[1].body.length]);
  return lost ? ((lost = false), new Response("", {{ status: 502 }})) : answer;
}};
let sent = 0;
for (const pack of [undefined, packedBody]) {{
  for (let i = 0; i < 5; i++) await device.answer(asks[0], 30 + i);
  await device.answer(asks[1], "firefox");
  const options = {{ fetch: relayed(gateway, campaign.terms.sealing_key, fetch), pack }};
  for (let i = 0; i < 2; i++) sent += (await device.send(asks, address + "/batches", options)).sent;
}}
console.log(JSON.stringify({{ sent, told }}));
"""
    before = counted(process)
    done = subprocess.run(
        [node(), "--input-type=module"], input=code, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["sent"] == 12
    # One report to a question in a batch: five batches each time, and the one that was sent again.
    assert answer["told"] == [[200, True, 1079]] * 11
    assert counted(process) == before + 12


def read_text(address: str) -> str:
    with urllib.request.urlopen(address) as answer:
        return str(answer.read().decode())


def test_a_device_of_other_libraries_is_answered(process: Process) -> None:
    """Requests that hpke-js and bhttp-js make are accepted, and they open our answers; they do not pad."""
    if not (CLIENT / "node_modules" / "hpke-js").is_dir():
        pytest.skip("npm ci in clients/javascript installs the libraries")
    text = read_text(process.campaign)
    campaign = json.loads(json.loads(text)["campaign"])
    batch = body(77)
    lines = [
        {"method": "GET", "address": process.campaign},
        {"method": "POST", "form": JSON, "body": batch.to_json().encode().hex()},
        {"method": "POST", "form": PACKED, "body": batch.to_bytes().hex()},
        {"method": "POST", "form": PACKED, "body": "00"},
        {"method": "GET", "address": process.address + "/metrics"},
    ]
    told = "\n".join(json.dumps({"address": process.campaign + "/batches"} | line) for line in lines)
    before = counted(process)
    words = [node(), str(CLIENT / "independent.mjs"), process.address + GATEWAY, campaign["sealing_key"]]
    done = subprocess.run(words, input=told, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [status for status, _ in answers] == [200, 200, 200, 400, 400]
    assert answers[0][1] == text
    assert json.loads(answers[1][1]) == {"batch": batch.id}
    assert [json.loads(told)["refused"] for _, told in answers[3:]] == ["body", "request"]
    assert counted(process) == before + batch_reports(batch)


def batch_reports(batch: BatchBody) -> int:
    return sum(map(len, batch.reports.values()))
