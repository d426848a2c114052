"""The collector over HTTP, in one process, on both stores."""

from __future__ import annotations

import datetime
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import numpy as np
import pytest

from dither.collection.account.inquiry import Repeat
from dither.collection.campaign import Campaign
from dither.collection.collector import Collector
from dither.collection.refusals import Reason
from dither.collection.settings import Settings
from dither.core.batch import JSON, PACKED, BatchBody
from dither.core.counts import Counts
from tests.collection.caller import Caller
from tests.collection.campaigns import DAY, KEY, contract, published
from tests.collection.conftest import MakeStore

CAMPAIGN = contract()
PATH = f"/v1/campaigns/{CAMPAIGN.id}/batches"
MINUTES, BROWSER = CAMPAIGN.questions["minutes"], CAMPAIGN.questions["browser"]
Started = Callable[..., Caller]


def body(seed: int, reports: int = 3, label: str = "", browser: int = 4) -> BatchBody:
    random = np.random.default_rng(seed)
    pairs = [(MINUTES.fingerprint, random.bytes(2)) for _ in range(reports)]
    pairs += [(BROWSER.fingerprint, bytes([one])) for one in random.integers(0, browser, 2)]
    return BatchBody.of(random.bytes(16).hex(), pairs, label)


def summary(bodies: list[BatchBody], name: str) -> Counts:
    mechanism = CAMPAIGN.questions[name]
    data = b"".join(b"".join(one.reports[mechanism.fingerprint]) for one in bodies)
    return Counts.of(mechanism.reports(np.frombuffer(data, mechanism.layout)))


@pytest.fixture
def start(make_store: MakeStore) -> Iterator[Started]:
    """Start a collector of the tests' campaign, on a day, with settings."""
    clients: list[Caller] = []

    def started(
        day: datetime.date = DAY,
        token: str | None = None,
        terms: dict[str, Any] | None = None,
        **settings: Any,
    ) -> Caller:
        collector = Collector(make_store(), Settings(**settings), lambda: day)
        if not collector.campaigns:
            collector.publish(published(**(terms or {})))
        clients.append(Caller(collector, token))
        return clients[-1]

    yield started
    for client in clients:
        client.close()


def post(client: Caller, sent: BatchBody, form: str = PACKED, path: str = PATH) -> Any:
    content = sent.to_bytes() if form == PACKED else sent.to_json().encode()
    return client.post(path, content=content, headers={"content-type": form})


async def pieces() -> AsyncIterator[bytes]:
    for _ in range(9):
        yield b"x" * 700


async def nothing() -> AsyncIterator[bytes]:
    yield b""


def refused(client: Caller) -> dict[str, int]:
    return {key.reason.value: n for key, n in client.collector.refused.items()}


def test_counts_of_refusals_never_fall(make_store: MakeStore) -> None:
    """They count while they are on their way to the store, and once when they are there, or came back."""
    collector = Collector(make_store(), Settings(), lambda: DAY)
    seen: list[int] = []
    write, broken = collector.store.refuse, [True]

    def refuse(counts: Any) -> None:
        seen.append(sum(collector.refused.values()))
        if broken.pop():
            raise OSError("full")
        write(counts)
        broken.append(False)
        seen.append(sum(collector.refused.values()))

    collector.refuse(Reason.CONFLICT)
    collector.store.refuse = refuse  # type: ignore[method-assign]
    with pytest.raises(OSError, match="full"):
        collector.keep_refusals()
    broken.append(False)
    collector.keep_refusals()
    assert [*seen, sum(collector.refused.values())] == [1, 1, 1, 1]


def test_a_batch_is_stored_once_and_answered_the_same(start: Started) -> None:
    client = start()
    bodies = [body(seed, label=("", "1.0")[seed % 2]) for seed in range(20)]
    answers = [post(client, one, (PACKED, JSON)[place % 3 == 0]) for place, one in enumerate(bodies)]
    assert {one.status_code for one in answers} == {200}
    again = post(client, bodies[3])
    assert (again.status_code, again.content) == (200, answers[3].content)
    assert post(client, bodies[0], PACKED).content == answers[0].content  # in another form: the same batch
    other = BatchBody(bodies[3].id, bodies[4].reports, bodies[3].label)
    assert post(client, other).status_code == 409
    live = client.collector.live
    for name in CAMPAIGN.questions:
        assert live.summary(CAMPAIGN.id, name) == summary(bodies, name)
        assert live.summary(CAMPAIGN.id, name, label="1.0") == summary(bodies[1::2], name)
    assert refused(client) == {"conflict": 1}


def test_what_is_refused_is_counted_by_reason_and_not_stored(start: Started) -> None:
    client = start(body=2000)
    packed = body(1).to_bytes()
    foreign = BatchBody.of("ab" * 16, [("cd" * 16, b"xy")])
    wide = BatchBody.of("ab" * 16, [(MINUTES.fingerprint, b"xyz")])
    fifth = BatchBody.of("ab" * 16, [(BROWSER.fingerprint, b"\x04")])
    cases: list[tuple[Any, int, Reason]] = [
        (client.post(PATH, content=packed[:-1], headers={"content-type": PACKED}), 400, Reason.BODY),
        (client.post(PATH, content=packed, headers={"content-type": JSON}), 400, Reason.BODY),
        (client.post(PATH, content=b"", headers={"content-type": PACKED}), 400, Reason.BODY),
        (client.post(PATH, content=packed, headers={"content-type": "text/plain"}), 415, Reason.FORM),
        (client.post(PATH, content=packed), 415, Reason.FORM),
        (post(client, body(2, 3000)), 413, Reason.SIZE),
        (
            client.post(PATH, content=pieces(), headers={"content-type": PACKED}),
            413,
            Reason.SIZE,
        ),
        (post(client, body(1), path="/v1/campaigns/" + "0" * 64 + "/batches"), 404, Reason.CAMPAIGN),
        (post(client, foreign), 422, Reason.FINGERPRINT),
        (post(client, body(1, label="2.0")), 422, Reason.LABEL),
        (post(client, wide), 422, Reason.REPORT),
        (post(client, fifth), 422, Reason.REPORT),
    ]
    for answer, status, reason in cases:
        assert (answer.status_code, answer.json()["refused"]) == (status, reason.value), reason
    counted = refused(client)
    assert counted == {
        "body": 3,
        "form": 2,
        "size": 2,
        "campaign": 1,
        "fingerprint": 1,
        "label": 1,
        "report": 2,
    }
    collector = client.collector
    assert collector.live.slots() == []
    client.close()
    fresh = start()
    assert refused(fresh) == counted  # they are on disk
    assert fresh.collector.live.slots() == []
    assert post(fresh, fifth).status_code == 422
    assert post(fresh, body(1)).status_code == 200


def test_a_body_that_did_not_arrive_is_sent_again(start: Started) -> None:
    client, sent = start(), body(1).to_bytes()
    for content, stated in ((b"", {"content-length": "90"}), (sent[:-3], {"content-length": str(len(sent))})):
        answer = client.post(PATH, content=content, headers={"content-type": PACKED, **stated})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert "did not arrive" in answer.json()["words"]
    assert client.post(PATH, content=nothing(), headers={"content-type": PACKED}).status_code == 503
    assert refused(client) == {}
    assert client.collector.live.slots() == []


def test_an_impossible_report_does_not_hurt_its_neighbours(start: Started) -> None:
    client = start()
    assert post(client, body(1, browser=9)).status_code == 422
    assert post(client, body(2)).status_code == 200


@pytest.mark.parametrize(
    ("day", "status", "reason"),
    [
        (datetime.date(2026, 4, 30), 403, "early"),
        (datetime.date(2026, 5, 1), 200, None),
        (datetime.date(2026, 6, 2), 200, None),
        (datetime.date(2026, 6, 3), 410, "late"),
    ],
)
def test_early_and_late(start: Started, day: datetime.date, status: int, reason: str | None) -> None:
    answer = post(start(day), body(1))
    assert (answer.status_code, answer.json().get("refused")) == (status, reason)


def test_a_retired_campaign_accepts_nothing(start: Started) -> None:
    client = start()
    client.collector.publish(published().retire(DAY, KEY))
    answer = post(client, body(1))
    assert (answer.status_code, answer.json()["refused"]) == (410, "retired")
    assert json.loads(client.get(f"/v1/campaigns/{CAMPAIGN.id}").text)["retired"]["day"] == str(DAY)


def test_rates_are_limited(start: Started) -> None:
    client = start(rate=0.001, burst=11)
    assert [post(client, body(seed)).status_code for seed in range(5)] == [200, 200, 200, 429, 429]
    assert post(client, body(9)).headers["retry-after"]


def test_rates_count_reports_not_batches(start: Started) -> None:
    client = start(rate=0.001, burst=12)
    assert [post(client, body(seed)).status_code for seed in range(4)] == [200, 200, 200, 429]


def one_of(campaign: Campaign, name: str, seed: int, reports: int = 1) -> BatchBody:
    """A batch with reports to one question."""
    random, mechanism = np.random.default_rng(seed), campaign.questions[name]
    pairs = [(mechanism.fingerprint, bytes([one])) for one in random.integers(0, 4, reports)]
    return BatchBody.of(random.bytes(16).hex(), pairs)


@pytest.mark.parametrize("repeat", ["same", "fresh", "per value"])
def test_a_batch_has_one_report_to_a_question(start: Started, repeat: Repeat) -> None:
    terms = {"repeat": repeat, "reports_a_batch": None}
    client, campaign = start(terms=terms), contract(**terms)
    path = PATH.replace(CAMPAIGN.id, campaign.id)
    both = BatchBody.of("ab" * 16, [(MINUTES.fingerprint, b"xy"), (BROWSER.fingerprint, b"\x01")])
    assert post(client, both, path=path).status_code == 200
    two = post(client, one_of(campaign, "browser", 1, 2), path=path)
    assert (two.status_code, two.json()["refused"]) == (422, "many")
    million = BatchBody.of("cd" * 16, [(BROWSER.fingerprint, b"\x02")] * 1000)
    assert post(client, million, path=path).json()["refused"] == "many"
    assert client.collector.live.n(campaign.id, "browser") == 1


@pytest.mark.parametrize("together", [True, False])
def test_a_device_that_was_offline_for_four_periods_is_counted_in_full(
    start: Started, together: bool
) -> None:
    terms = {"repeat": "once", "days": 7, "reports_a_batch": None}
    campaign = contract(**terms)
    path = PATH.replace(CAMPAIGN.id, campaign.id)
    client = start(campaign.begins + datetime.timedelta(21), terms=terms)  # the first day of the fourth
    sizes = [4] if together else [1, 1, 1, 1]
    sent = [one_of(campaign, "browser", seed, size) for seed, size in enumerate(sizes)]
    assert [post(client, one, path=path).status_code for one in sent] == [200] * len(sizes)
    assert client.collector.live.n(campaign.id, "browser") == 4
    assert post(client, one_of(campaign, "browser", 9, 5), path=path).json()["refused"] == "many"
    assert refused(client) == {"many": 1}


def test_origins_and_preflights(start: Started) -> None:
    client = start(origins=["https://city.example"])
    asked = {
        "origin": "https://city.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type",
    }
    answer = client.options(PATH, headers=asked)
    assert answer.status_code == 204
    assert answer.headers["access-control-allow-origin"] == "https://city.example"
    assert answer.headers["access-control-allow-headers"] == "content-type"
    assert client.options(PATH, headers={**asked, "origin": "https://evil.example"}).status_code == 403
    sent = client.post(
        PATH, content=body(1).to_bytes(), headers={"content-type": PACKED, "origin": "https://city.example"}
    )
    assert sent.headers["access-control-allow-origin"] == "https://city.example"
    assert sent.headers["access-control-expose-headers"] == "retry-after"  # pages read when to send again
    assert "set-cookie" not in sent.headers
    other = client.get("/v1/campaigns", headers={"origin": "https://evil.example"})
    assert "access-control-allow-origin" not in other.headers


def test_campaigns_and_the_client_are_served(start: Started) -> None:
    client = start()
    listed = client.get("/v1/campaigns").json()["campaigns"]
    assert [one["id"] for one in listed] == [CAMPAIGN.id]
    from dither.collection.published import Published

    assert Published.from_json(client.get(f"/v1/campaigns/{CAMPAIGN.id}").text) == published()
    assert client.get("/v1/campaigns/none").status_code == 404
    assert b"export" in client.get("/client/dither.js").content
    for name in ("../pyproject.toml", "dither.d.ts", "%2e%2e%2fREADME.md"):
        assert client.get(f"/client/{name}").status_code == 404


def test_what_operators_see(start: Started) -> None:
    client = start(token="correct horse battery")
    post(client, body(1))
    post(client, body(1, label="9"))
    assert client.get("/health").json()["reports"] == 5
    assert client.get("/ready").json() == {"ready": True}
    shown = client.get("/metrics").text
    assert 'dither_refused_total{reason="label"} 1' in shown
    assert 'question="minutes"} 3' in shown
    assert "dither_commits_total 1" in shown
    client.collector.signals.add("repeated_total", 1_000_001)  # a counter has all its digits
    assert "dither_repeated_total 1000001\n" in client.get("/metrics").text


def test_admin_actions_need_the_token_in_the_header(start: Started) -> None:
    client = start(token="correct horse battery")
    post(client, body(1))
    good = {"authorization": "Bearer correct horse battery"}
    for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "correct horse battery"}):
        assert (
            client.post("/v1/admin/delete", json={"campaign": CAMPAIGN.id}, headers=headers).status_code
            == 401
        )
    assert client.post("/v1/admin/delete?token=correct+horse+battery", json={}).status_code == 401
    assert client.post("/v1/admin/reload", headers=good).json() == {"campaigns": [CAMPAIGN.id]}
    today = {"campaign": CAMPAIGN.id, "day": str(DAY)}
    assert client.post("/v1/admin/fold", json=today, headers=good).status_code == 400  # it is not over
    before = {**today, "day": str(DAY - datetime.timedelta(1))}
    assert client.post("/v1/admin/fold", json=before, headers=good).json() == {"folded": 0}
    for wrong in ({}, {"campaign": 1, "day": 2}, [], {"campaign": CAMPAIGN.id, "day": "soon"}):
        assert client.post("/v1/admin/fold", json=wrong, headers=good).status_code == 400
    assert client.post("/v1/admin/delete", json={"campaign": "x"}, headers=good).status_code == 400
    assert client.post("/v1/admin/dance", headers=good).status_code == 404
    assert client.post("/v1/admin/delete", json={"campaign": CAMPAIGN.id}, headers=good).status_code == 200
    assert client.get("/health").json()["reports"] == 0
    client.close()
    assert start().post("/v1/admin/reload", headers=good).status_code == 404
