"""Requests made from the published OpenAPI description, and damaged ones: described answers alone, no 5xx."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from dither.collection.collector import Collector
from dither.collection.ohttp import GATEWAY, REQUEST, BinaryRequest, BinaryResponse, encapsulate
from dither.collection.published import Published
from dither.collection.refusals import Reason
from dither.collection.settings import Settings
from dither.collection.store.sqlite import SqliteStore
from dither.core.batch import JSON, PACKED
from tests.collection import test_web_gateway as sealing
from tests.collection.caller import Caller
from tests.collection.campaigns import DAY, KEY, published
from tests.collection.test_web_http import CAMPAIGN, PATH, body
from tests.conformance.ohttp import inside, outside

TOKEN = "correct horse battery"
DEFAULT, MANY = 150, 10_000
NAMES = [
    CAMPAIGN.id,
    sealing.CAMPAIGN.id,
    CAMPAIGN.id.upper(),
    CAMPAIGN.id[:-1],
    "..",
    "dither.js",
    "minutes",
    "2026-05-04",
    "1.0",
]
FORMS = [PACKED, JSON, REQUEST, f"{JSON}; charset=utf-8", "text/plain", "", "multipart/form-data"]

words = st.one_of(st.sampled_from(NAMES), st.text(max_size=30))
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Caller]:
    limits = Settings(rate=1e6, burst=10**6, body=4000)
    store = SqliteStore(tmp_path / "store.sqlite", synchronous="OFF")
    collector = Collector(store, limits, lambda: DAY, sealing.KEYS)
    collector.publish(published())
    collector.publish(Published.sign(sealing.CAMPAIGN, KEY))
    made = Caller(collector, TOKEN)
    yield made
    made.close()


@st.composite
def batches(draw: st.DrawFn) -> tuple[bytes, str]:
    """A batch as devices send it and its form, or one with bytes changed, removed, doubled or moved.

    Some are encrypted, most for the gateway; bytes are then changed before, afterwards, or both.
    """
    made = body(draw(st.integers(0, 50)), draw(st.integers(1, 5)), draw(st.sampled_from(["", "1.0", "9"])))
    form = draw(st.sampled_from([PACKED, JSON]))
    data = damaged(draw, made.to_bytes() if form == PACKED else made.to_json().encode())
    if not draw(st.booleans()):
        return data, form
    path = draw(st.sampled_from([sealing.PATH, sealing.PATH, PATH, GATEWAY, "/v1/list", "/metrics"]))
    method = draw(st.sampled_from(["POST", "POST", "POST", "GET", "PUT"]))
    plain = BinaryRequest(method, path, form, data).to_bytes("city.example")
    sealed, _ = encapsulate(damaged(draw, plain), sealing.PUBLIC)
    return damaged(draw, sealed), REQUEST


def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """Return the bytes with up to two changes."""
    for _ in range(draw(st.integers(0, 2))):
        at, to = sorted(draw(st.tuples(*[st.integers(0, len(data))] * 2)))
        change = draw(st.sampled_from(["cut", "flip", "double", "move", "insert"]))
        match change:
            case "cut":
                data = data[:at] + data[to:]
            case "flip" if at < len(data):
                data = data[:at] + bytes([data[at] ^ 1 << draw(st.integers(0, 7))]) + data[at + 1 :]
            case "double":
                data = data[:to] + data[at:]
            case "move":
                data = data[to:] + data[:to]
            case "insert":
                data = data[:at] + draw(st.binary(max_size=9)) + data[at:]
    return data


@st.composite
def requests(draw: st.DrawFn, operations: list[tuple[str, str, dict[str, Any]]]) -> dict[str, Any]:
    """A request to an operation of the description, with fields of any kind in it."""
    path, method, operation = draw(st.sampled_from(operations))
    filled = re.sub(r"{\w+}", lambda _: quote(draw(words), safe=""), path)
    if path == PATH.replace(CAMPAIGN.id, "{campaign}") and draw(st.booleans()):
        filled = draw(st.sampled_from([PATH, sealing.PATH]))
    asked = {one["name"]: one for one in operation.get("parameters", []) if one["in"] == "query"}
    query = {name: draw(words) for name in asked if draw(st.booleans())}
    query |= draw(st.dictionaries(words, words, max_size=1))
    headers = {"origin": "https://city.example"}
    if draw(st.booleans()):
        headers["authorization"] = f"Bearer {TOKEN}"
    as_json = anything.map(lambda one: json.dumps(one).encode())
    fields = (
        operation.get("requestBody", {})
        .get("content", {})
        .get(JSON, {})
        .get("schema", {})
        .get("properties", {})
    )
    as_told = st.fixed_dictionaries(dict.fromkeys(fields, words)).map(lambda one: json.dumps(one).encode())
    other = st.tuples(st.one_of(as_json, as_told, st.binary(max_size=5000)), st.sampled_from(FORMS))
    content, form = draw(st.one_of(batches(), batches(), other))
    headers["content-type"] = form if draw(st.booleans()) else draw(st.sampled_from(FORMS))
    return {
        "operation": (path, method),
        "method": method,
        "path": filled,
        "params": query,
        "headers": headers,
        "content": b"" if method == "GET" else content,
    }


def fuzz(client: Caller, count: int) -> tuple[int, set[int]]:
    """Send requests made from the description; return how many, and the statuses of their answers."""
    description = client.get("/openapi.json").json()
    operations = [
        (path, method.upper(), one)
        for path, every in description["paths"].items()
        for method, one in every.items()
    ]
    known = {(path, method): {int(code) for code in one["responses"]} for path, method, one in operations}
    # Most requests go to the intake.
    intake = [one for one in operations if one[0].endswith(("/batches", GATEWAY)) and one[1] == "POST"]
    often = [*operations, *intake * len(operations)]
    statuses: list[int] = []

    @settings(max_examples=count, suppress_health_check=list(HealthCheck))
    @given(requests(often))
    def send(request: dict[str, Any]) -> None:
        operation = request.pop("operation")
        answer = client.request(request.pop("method"), request.pop("path"), **request)
        statuses.append(answer.status_code)
        assert answer.status_code < 500
        other_path = answer.status_code in (404, 405)  # a name with a slash is another path
        assert answer.status_code in known[operation] or other_path

    send()
    return len(statuses), set(statuses)


def test_requests_from_the_description_get_described_answers(client: Caller) -> None:
    sent, statuses = fuzz(client, DEFAULT)
    assert sent >= DEFAULT
    assert {200, 400, 401, 404, 409, 413, 415, 422} & statuses >= {200, 400, 404, 415}
    recounted(client)


@pytest.mark.slow
def test_ten_thousand_requests(client: Caller) -> None:
    sent, _ = fuzz(client, MANY)
    assert sent >= MANY
    assert client.collector.signals.totals()["opened_total"] > 0
    assert Reason.SEALED in {key.reason for key in client.collector.refused}
    recounted(client)


def fuzz_gateway(client: Caller, count: int) -> None:
    """Send damaged requests to the gateway: each is refused outside or inside, and counted; nothing else."""
    fine = [*inside().values(), BinaryRequest("POST", sealing.PATH, PACKED, body(1).to_bytes()).to_bytes("h")]
    refusals: list[bool] = []

    def repeated() -> int:
        return client.collector.signals.totals().get("repeated_total", 0)

    sealed = [*outside().values(), *(encapsulate(one, sealing.PUBLIC)[0] for one in fine)]

    @settings(max_examples=count, suppress_health_check=list(HealthCheck))
    @given(st.data(), st.booleans())
    def send(data: st.DataObject, within: bool) -> None:
        before = repeated(), stored()
        exchange = None
        if within:
            plain = damaged(data.draw, data.draw(st.sampled_from(fine) | st.binary(max_size=2000)))
            content, exchange = encapsulate(plain, sealing.PUBLIC)
        else:
            content = damaged(data.draw, data.draw(st.sampled_from(sealed) | st.binary(max_size=2000)))
        answer = client.post(GATEWAY, content=content, headers={"content-type": REQUEST})
        accepted = (repeated(), stored()) != before
        refusals.append(not accepted)
        if exchange is None:
            assert answer.status_code in (200, 400, 413)
        else:
            read = BinaryResponse.from_bytes(exchange.decrypt_answer(answer.content))
            assert (read.status == 200) == accepted

    def stored() -> int:
        return sum(client.collector.live.n(sealing.CAMPAIGN.id, name) for name in CAMPAIGN.questions)

    send()
    client.writer.call(client.collector.keep_refusals).result(30)
    assert sum(client.collector.refused.values()) == sum(refusals)
    reasons = {key.reason for key in client.collector.refused}
    assert reasons >= {Reason.SEALED, Reason.REQUEST}


def test_damaged_requests_to_the_gateway(client: Caller) -> None:
    fuzz_gateway(client, DEFAULT)
    recounted(client)


@pytest.mark.slow
def test_ten_thousand_damaged_requests_to_the_gateway(client: Caller) -> None:
    fuzz_gateway(client, MANY)
    recounted(client)


def recounted(client: Caller) -> None:
    """What got through, if any, is counted as it is stored."""
    collector = client.collector
    both = [(one, name) for one in (CAMPAIGN.id, sealing.CAMPAIGN.id) for name in CAMPAIGN.questions]
    live = {one: collector.live.summary(*one) for one in both}
    path = collector.store.path  # type: ignore[attr-defined]
    client.close()
    again = Collector(SqliteStore(path), Settings())
    assert {one: again.live.summary(*one) for one in both} == live
    again.store.close()
