"""Taking batches back: what a device sends and understands, and what a collector does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dither.collection.collector import Collector
from dither.collection.settings import Settings
from dither.collection.store.backup import backup
from dither.core.batch import JSON, PACKED, BatchBody
from dither_device.exchange import judge_withdrawal
from dither_device.sending import withdrawal_body
from tests.collection.caller import Caller
from tests.collection.campaigns import DAY, contract, published
from tests.collection.conftest import MakeStore
from tests.conformance.withdrawals import BATCH, FILE, OTHER, body, text

VECTORS = json.loads(FILE.read_text(encoding="utf-8"))


def test_the_file_is_what_the_script_writes() -> None:
    assert FILE.read_text(encoding="utf-8") == text(), "run python -m tests.conformance.withdrawals"


def test_python_meets_the_vectors() -> None:
    for one in VECTORS["bodies"]:
        assert withdrawal_body(one["batch"]) == one["body"]
    for one in VECTORS["answers"]:
        told, _ = judge_withdrawal(one["batch"], one["status"], bytes.fromhex(one["content"]))
        assert told == one["withdrawn"], one


CAMPAIGN = contract(people=3, reports_a_batch=None)
PATH = f"/v1/campaigns/{CAMPAIGN.id}"
BROWSER = CAMPAIGN.questions["browser"]


def withdraw(client: Caller, content: str, form: str = JSON) -> tuple[int, dict[str, str]]:
    answer = client.post(f"{PATH}/withdrawals", content=content, headers={"content-type": form})
    return answer.status_code, answer.json()


def send(client: Caller, batch: str, report: int = 0) -> None:
    sent = BatchBody.of(batch, [(BROWSER.fingerprint, bytes([report]))]).to_bytes()
    answer = client.post(f"{PATH}/batches", content=sent, headers={"content-type": PACKED})
    assert (answer.status_code, answer.json()) == (200, {"batch": batch})


def opened(store: MakeStore, **settings: float) -> Caller:
    collector = Collector(store(), Settings(**settings), lambda: DAY)  # type: ignore[arg-type]
    if not collector.campaigns:
        collector.publish(published(people=3, reports_a_batch=None))
    return Caller(collector)


def test_the_answer_is_the_same_and_the_batch_counts_nowhere(make_store: MakeStore) -> None:
    client = opened(make_store)
    live = client.collector.live
    done = (200, {"withdrawn": BATCH})
    send(client, BATCH, 2)
    assert live.n(CAMPAIGN.id, "browser") == 1
    for _ in range(2):  # known, and then withdrawn before
        assert withdraw(client, body(BATCH)) == done
        assert live.n(CAMPAIGN.id, "browser") == live.waiting(CAMPAIGN.id, "browser") == 0
    assert withdraw(client, body(OTHER)) == (200, {"withdrawn": OTHER})  # unknown
    send(client, BATCH, 1)  # acknowledged as any other, also with other bytes
    send(client, OTHER)
    assert live.n(CAMPAIGN.id, "browser") == 0
    for number in range(3):
        send(client, f"{number:032x}")
    assert live.n(CAMPAIGN.id, "browser", shown=True) == 3
    assert withdraw(client, body(f"{1:032x}"))[0] == 200
    assert live.n(CAMPAIGN.id, "browser", shown=True) == 3  # nothing that is shown changes by itself
    for number in range(3, 6):
        send(client, f"{number:032x}")
    assert live.n(CAMPAIGN.id, "browser", shown=True) == 5
    client.close()
    again = opened(make_store)
    assert again.collector.live.n(CAMPAIGN.id, "browser", shown=True) == 5
    again.close()


def test_public_numbers_do_not_show_that_somebody_withdraws(make_store: MakeStore) -> None:
    """Neither the number of reports that wait nor that of all reports changes before the next step."""
    client = opened(make_store)
    live = client.collector.live

    def public() -> tuple[int, int, object]:
        shown, waiting = (
            live.n(CAMPAIGN.id, "browser", shown=True),
            live.waiting(CAMPAIGN.id, "browser", shown=True),
        )
        return shown, waiting, client.collector.health()["reports"]

    for number in range(5):
        send(client, f"{number:032x}")
    before = public()
    assert before == (3, 2, 5)
    for number in (0, 4):  # one that is shown, and one that waits
        withdraw(client, body(f"{number:032x}"))
        assert public() == before
    for number in (5, 6):
        send(client, f"{number:032x}")
    assert public() == (5, 0, 5)
    client.close()


@pytest.mark.some("sqlite")
def test_wrong_withdrawals_are_refused(make_store: MakeStore) -> None:
    client = opened(make_store, rate=0.001, burst=40)
    for one in VECTORS["refused"]:
        status, told = withdraw(client, one["body"])
        assert (status, told["refused"]) == (400, "body"), one
    assert withdraw(client, body(BATCH), PACKED)[0] == 415
    assert withdraw(client, " " * 1025)[0] == 413
    nowhere = client.post(
        f"/v1/campaigns/{'0' * 64}/withdrawals", content=body(BATCH), headers={"content-type": JSON}
    )
    assert (nowhere.status_code, nowhere.json()["refused"]) == (404, "campaign")
    statuses = [withdraw(client, body(BATCH))[0] for _ in range(40)]
    assert set(statuses) == {200, 429}
    assert statuses[-1] == 429  # a withdrawal counts as a report
    client.close()


def test_a_store_keeps_no_identity(make_store: MakeStore, address: str, tmp_path: Path) -> None:
    client = opened(make_store)
    send(client, BATCH)
    withdraw(client, body(OTHER))
    client.close()
    backup(address, tmp_path / "copy")
    data = (tmp_path / "copy").read_bytes()
    for one in VECTORS["bodies"]:
        assert bytes.fromhex(one["batch"]) not in data
        assert one["batch"].encode() not in data
        assert bytes.fromhex(one["digest"]) in data
