"""Sealed batches at a collector: opened, read as any other, refused where they cannot be opened."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

import dither as dt
from dither.device_text import canonical
from dither.errors import InvalidParameter, MalformedReport, MissingExtra
from dither.service import Client
from dither.service.collector import Collector, read
from dither.service.contract import Contract, Published
from dither.service.server import ServerPlan, from_environment
from dither.service.settings import BatchRefused, Reason, Settings, make_sealing_key, public_part
from dither.service.store.sqlite import SqliteStore
from dither.service.web.requests import client_address, limited_as
from dither.wire.batch import JSON, PACKED, SEALED, BatchBody, seal, sealed_size, suite
from tests.conformance.test_javascript import CLIENT, node
from tests.service.caller import Caller
from tests.service.campaigns import DAY, KEY, TOML, contract
from tests.service.serving import OPEN, Process
from tests.service.test_http import body

PRIVATE = X25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = public_part(PRIVATE)
CAMPAIGN = contract(name="sealed", sealing_key=PUBLIC)
PATH = f"/v1/campaigns/{CAMPAIGN.id}/batches"
PLAIN = contract()


@pytest.fixture
def caller(tmp_path: Path) -> Iterator[Caller]:
    """A collector of a campaign with a sealing key, and of one without."""
    store = SqliteStore(tmp_path / "store.sqlite", synchronous="OFF")
    limits = Settings(rate=1e6, burst=10**6, body=4000)
    collector = Collector(store, limits, lambda: DAY, {PUBLIC: PRIVATE})
    for one in (CAMPAIGN, PLAIN):
        collector.publish(Published.sign(one, KEY))
    made = Caller(collector)
    yield made
    made.close()


def post(caller: Caller, content: bytes, form: str = SEALED, path: str = PATH) -> Any:
    return caller.post(path, content=content, headers={"content-type": form})


def sealed(batch: BatchBody, form: str = PACKED) -> bytes:
    inner = batch.to_bytes() if form == PACKED else batch.to_json().encode()
    return seal(inner, form, PUBLIC, CAMPAIGN.id)


def stored(caller: Caller) -> int:
    return caller.collector.live.n(CAMPAIGN.id, "minutes")


def test_contracts_without_a_key_keep_their_text() -> None:
    assert "sealing" not in PLAIN.text
    assert set(json.loads(CAMPAIGN.text)) == {*json.loads(PLAIN.text), "sealing_key"}
    assert Contract.from_text(CAMPAIGN.text) == CAMPAIGN
    line = f'[campaign]\nsealing_key = "{PUBLIC}"'
    assert Contract.from_toml(TOML.replace("[campaign]", line)).sealing_key == PUBLIC
    assert Contract.from_toml(TOML).id == PLAIN.id


def test_the_signature_covers_the_key() -> None:
    other = public_part(X25519PrivateKey.generate())
    text = Published.sign(CAMPAIGN, KEY).to_json()
    with pytest.raises(MalformedReport, match="signature"):
        Published.from_json(text.replace(PUBLIC, other))
    for bad in (None, "", "ab", PUBLIC.upper(), "00" * 32, 5):
        with pytest.raises(MalformedReport):
            Contract.from_text(canonical({**json.loads(CAMPAIGN.text), "sealing_key": bad}))
    with pytest.raises(InvalidParameter, match="sealing key"):
        contract(sealing_key="00" * 32)


def test_a_sealed_batch_is_a_batch(caller: Caller) -> None:
    """Stored once, however it is sealed, in either form and plain; other bytes of the identity conflict."""
    one, two = body(1), body(2, label="1.0")
    answers = [post(caller, sealed(one)), post(caller, sealed(one)), post(caller, sealed(one, JSON))]
    assert [answer.status_code for answer in answers] == [200] * 3
    assert {answer.content for answer in answers} == {b'{"sealed":true}'}  # no identity: a relay reads it
    assert post(caller, one.to_bytes(), PACKED).json() == {"batch": one.id}
    assert post(caller, two.to_bytes(), PACKED).status_code == 200
    assert post(caller, sealed(two)).status_code == 200
    assert stored(caller) == 6
    assert post(caller, sealed(BatchBody(two.id, one.reports, ""))).status_code == 409
    metrics = caller.get("/metrics").text
    assert "dither_opened_total 5" in metrics
    assert "dither_repeated_total 4" in metrics


def test_what_is_inside_is_checked_as_ever(caller: Caller) -> None:
    fine = body(1)
    foreign = BatchBody.of(fine.id, [("ab" * 16, b"\x01")])
    cases = [
        (b"{}", JSON, 400, "body"),
        (fine.to_bytes(), JSON, 400, "body"),
        (fine.to_bytes()[:-1], PACKED, 400, "body"),
        (foreign.to_bytes(), PACKED, 422, "fingerprint"),
        (body(2, label="9").to_bytes(), PACKED, 422, "label"),
        (body(3, browser=200).to_bytes(), PACKED, 422, "report"),
        (bytes(4001), PACKED, 413, "size"),
    ]
    for inner, form, status, word in cases:
        answer = post(caller, seal(inner, form, PUBLIC, CAMPAIGN.id))
        assert (answer.status_code, answer.json()["refused"]) == (status, word)
    large = body(4, reports=1900)
    assert 3800 < len(large.to_bytes()) <= 4000
    assert post(caller, sealed(large)).status_code == 200  # what fits plain fits sealed
    assert post(caller, bytes(sealed_size(4000))).json()["refused"] == "sealed"
    assert post(caller, bytes(sealed_size(4000) + 1)).json()["refused"] == "size"
    assert stored(caller) == 1900


def test_what_cannot_be_opened_is_counted_and_not_stored(caller: Caller) -> None:
    fine = sealed(body(1))
    other = public_part(X25519PrivateKey.generate())
    inner = body(1).to_bytes()
    plain = f"/v1/campaigns/{PLAIN.id}/batches"
    cases = [
        (b"", PATH),
        (fine[:-1], PATH),
        (inner, PATH),
        (seal(inner, PACKED, other, CAMPAIGN.id), PATH),
        (seal(inner, PACKED, PUBLIC, PLAIN.id), PATH),
        (seal(inner, PACKED, PUBLIC, PLAIN.id), plain),  # this campaign has no key
    ]
    for content, path in cases:
        answer = post(caller, content, path=path)
        assert (answer.status_code, answer.json()["refused"]) == (400, "sealed")
    assert post(caller, fine, path=f"/v1/campaigns/{'0' * 64}/batches").json()["refused"] == "campaign"
    assert post(caller, fine, PACKED).json()["refused"] == "body"
    counts = dict.fromkeys(("sealed", "campaign", "body"), 0)
    for key, count in caller.collector.refused.items():
        counts[key.reason.value] += count
    assert counts == {"sealed": len(cases), "campaign": 1, "body": 1}
    assert stored(caller) == 0


def test_every_flipped_bit_is_refused(caller: Caller) -> None:
    fine = sealed(body(1))
    flipped = [
        fine[:at] + bytes([fine[at] ^ 1 << bit]) + fine[at + 1 :]
        for at in range(len(fine))
        for bit in range(8)
    ]
    reasons = set()
    for one in flipped:
        with pytest.raises(BatchRefused) as error:
            read(caller.collector, CAMPAIGN.id, one, SEALED)
        reasons.add(error.value.reason)
    assert reasons == {Reason.SEALED}
    assert {post(caller, one).status_code for one in flipped[:: 8 * 9]} == {400}  # over HTTP
    assert post(caller, fine).status_code == 200


def test_a_relay_has_no_limit_of_rate(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.sqlite", synchronous="OFF")
    limits = Settings(rate=0.001, burst=2, relays=["203.0.113.7"], proxies=["198.51.100.1"])  # type: ignore[arg-type]
    collector = Collector(store, limits, lambda: DAY, {PUBLIC: PRIVATE})
    collector.publish(Published.sign(CAMPAIGN, KEY))
    caller = Caller(collector)  # its requests come from 203.0.113.7
    try:
        assert [post(caller, sealed(body(seed))).status_code for seed in range(5)] == [200] * 5
    finally:
        caller.close()


def test_relays_of_ipv6_are_known_by_their_network() -> None:
    scope = {"client": ("2001:db8::9", 1), "headers": []}
    assert client_address(scope, frozenset()) == limited_as("2001:db8::7")


def test_a_collector_without_the_key_does_not_start(tmp_path: Path) -> None:
    signed, asker = tmp_path / "campaign.json", KEY
    open_ended = contract(name="sealed", sealing_key=PUBLIC, ends=contract().ends.replace(year=2120))
    once = Published.sign(open_ended, asker)
    signed.write_text(once.to_json(), encoding="utf-8")
    with pytest.raises(InvalidParameter, match=f"'sealed' to the key {PUBLIC[:16]}.*--sealing-key"):
        ServerPlan((str(signed),), str(tmp_path / "a.sqlite")).published()
    make_sealing_key(tmp_path / "other.key")
    with pytest.raises(InvalidParameter, match="--sealing-key"):
        ServerPlan(
            (str(signed),), str(tmp_path / "a.sqlite"), sealing_keys=(str(tmp_path / "other.key"),)
        ).published()
    # What is over needs no key: it may be deleted, and the answers stay.
    signed.write_text(once.retire(DAY, asker).to_json(), encoding="utf-8")
    assert ServerPlan((str(signed),), str(tmp_path / "a.sqlite")).published()[0].retired


def test_a_reload_without_the_key_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "campaign.toml"
    file.write_text(OPEN, encoding="utf-8")
    plan = ServerPlan((str(file),), str(tmp_path / "store.sqlite"))
    writer = plan.writer(plan.published())
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
    key = public_part(make_sealing_key(place))
    file = tmp_path / "campaign.toml"
    file.write_text(OPEN.replace("[campaign]", f'[campaign]\nsealing_key = "{key}"'), encoding="utf-8")
    plan = ServerPlan((str(file),), str(tmp_path / "store.sqlite"), sealing_keys=(str(place),))
    campaign = plan.published()[0]
    told = json.dumps(asdict(plan))
    assert place.read_text().split()[1] not in told + repr(plan) + repr(plan.private_keys)
    monkeypatch.setenv("DITHER_SERVE", told)
    monkeypatch.setattr("dither.service.server.to_stderr", lambda: None)

    async def answered() -> int:
        app = from_environment()
        web = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://collector.example")
        async with app.router.lifespan_context(app), web:
            content = seal(body(1).to_bytes(), PACKED, key, campaign.id)
            path, headers = f"/v1/campaigns/{campaign.id}/batches", {"content-type": SEALED}
            return (await web.post(path, content=content, headers=headers)).status_code

    assert asyncio.run(answered()) == 200


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """A collector of a campaign with a sealing key, as a process."""
    folder = tmp_path_factory.mktemp("sealed")
    key = public_part(make_sealing_key(folder / "sealing.key"))
    toml = OPEN.replace("[campaign]", f'[campaign]\nsealing_key = "{key}"')
    with Process(
        folder, str(folder / "store.sqlite"), "--sealing-key", str(folder / "sealing.key"), toml=toml
    ) as made:
        yield made


def counted(process: Process) -> int:
    with urllib.request.urlopen(process.address + "/health") as answer:
        return int(json.loads(answer.read())["reports"])


def test_a_person_in_python_answers_sealed(
    process: Process, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with dt.Account.create(
        tmp_path / "person.account", epsilon=3, policy=dt.privacy.Policy(epsilon=1.1)
    ) as account:
        client = Client(process.campaign, account)
        sent: list[tuple[str, bytes]] = []
        request = Client._request

        def watched(self: Client, method: str, below: str, body: bytes = b"", form: str = "") -> Any:
            sent.append((form, body))
            return request(self, method, below, body, form)

        monkeypatch.setattr(Client, "_request", watched)
        before = counted(process)
        client.answer("minutes", 42)
        client.answer("browser", "firefox")
        assert client.send(label="1.0").reports == 2
        assert counted(process) == before + 2
        ((form, content),) = sent
        assert (form, len(content)) == (SEALED, 1072)
        monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.hpke", None)
        suite.cache_clear()
        with pytest.raises(MissingExtra):
            Client(process.campaign, account)
    monkeypatch.undo()
    suite.cache_clear()


def test_a_page_answers_sealed(process: Process) -> None:
    """The JavaScript client in Node, both forms; the second sending of a batch is the same batch."""
    published_key = json.loads(read_text(process.campaign))["key"]
    code = f"""
import {{ Device, memoryStore }} from {json.dumps((CLIENT / "dist" / "dither.js").as_uri())};
import {{ fetchCampaign }} from {json.dumps((CLIENT / "dist" / "signatures.js").as_uri())};
import {{ packedBody }} from {json.dumps((CLIENT / "dist" / "packed.js").as_uri())};
import {{ sealed }} from {json.dumps((CLIENT / "dist" / "relay.js").as_uri())};

const address = {json.dumps(process.campaign)};
const campaign = await fetchCampaign(address, {json.dumps(published_key)});
const device = await Device.open({{ epsilon: 50, store: memoryStore() }});
const asks = ["minutes", "browser"].map((name) => device.question(...campaign.questions[name]));
const told = [];
let lost = true; // the first answer is lost on the way, so that the batch is sent again
const fetch = async (...request) => {{
  const answer = await globalThis.fetch(...request);
  told.push([answer.status, await answer.text(), request[1].body.length]);
  return lost ? ((lost = false), {{ ok: false, status: 502 }}) : answer;
}};
let sent = 0;
for (const pack of [undefined, packedBody]) {{
  for (let i = 0; i < 5; i++) await device.answer(asks[0], 30 + i);
  await device.answer(asks[1], "firefox");
  const options = {{ fetch: sealed(campaign, fetch), pack }};
  for (let i = 0; i < 2; i++) sent += await device.send(asks, address + "/batches", options);
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
    assert answer["told"] == [[200, '{"sealed":true}', 1072]] * 11
    assert counted(process) == before + 12


def read_text(address: str) -> str:
    with urllib.request.urlopen(address) as answer:
        return str(answer.read().decode())
