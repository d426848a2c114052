"""The list of campaigns and the asker's keys: what is written, continued, followed once, and refused."""

from __future__ import annotations

import datetime
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dither as dt
from dither.collection.campaign import Campaign
from dither.collection.campaign_list import CampaignList
from dither.collection.client import Client
from dither.collection.published import Published
from dither.collection.secrets import public_part
from dither.collection.server import ServerPlan
from dither.collection.signer import Signer, list_file
from dither.errors import DitherError, InvalidParameter, MalformedReport, Mismatch
from tests.collection.campaigns import DAY, TOML, contract
from tests.collection.serving import OPEN, Process
from tests.conformance.lists import FILE, KEY, NEXT, key_before, text
from tests.support.terminal import run

VECTORS: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))


def test_the_file_is_what_the_script_writes() -> None:
    assert FILE.read_text(encoding="utf-8") == text()


@pytest.mark.parametrize("one", VECTORS["lists"], ids=lambda one: one["name"])
def test_the_vectors(one: dict[str, Any]) -> None:
    def read() -> CampaignList:
        log = CampaignList.from_json(one["published"], key=VECTORS["key"])
        if one["kept"] is not None and not log.continues(*one["kept"]):
            raise Mismatch("another list")
        return log

    if one["verdict"] == "refused":
        with pytest.raises(DitherError):
            read()
    else:
        log = read()
        assert (len(log.heads), log.head) == (one["count"], one["head"])
        assert CampaignList.from_json(log.to_json()) == log


def test_what_is_signed_is_listed(tmp_path: Path) -> None:
    place = tmp_path / "asker.key"
    signer = Signer(place, make=True)
    first = signer.publish(contract())
    assert signer.publish(contract()) == first  # once
    second = Signer(place).publish(contract(version=2))
    gone = Signer(place).retire(first, DAY)
    again = Signer(place)
    assert again.listed is not None
    assert again.listed.campaigns == {first.id: DAY, second.id: None}
    assert len(again.listed.heads) == 3
    assert again.retire(first, DAY) == gone
    assert len(Signer(place).listed.heads) == 3  # type: ignore[union-attr]
    assert again.publish(contract()) == gone  # what was retired stays retired
    assert not [
        name
        for name in tmp_path.iterdir()
        if name.name not in ("asker.key", "asker.campaigns", "asker.campaigns.lock")
    ]


def test_a_key_is_replaced_once(tmp_path: Path) -> None:
    old, new = tmp_path / "old.key", tmp_path / "new.key"
    signer = Signer(old, make=True)
    before = signer.publish(contract())
    assert signer.head is not None
    kept = (1, signer.head)
    after = signer.hand_over(new)
    made = after.publish(contract())
    assert (made.id, made.key != before.key) == (before.id, True)
    assert Published.from_json(made.to_json(), key=before.key) == made  # pinned before
    assert Published.from_json(made.to_json(), key=made.key) == made  # and afterwards
    with pytest.raises(Mismatch):
        Published.from_json(before.to_json(), key=made.key)
    with pytest.raises(InvalidParameter, match="was replaced"):
        Signer(old)
    with pytest.raises(InvalidParameter, match="never overwritten"):
        after.hand_over(new)
    log = Signer(new).listed
    assert log is not None
    assert log.continues(*kept)
    assert log.before is not None
    assert (log.before.key, log.last_key) == (before.key, made.key)


def test_a_private_key_is_refused_as_a_public_key(tmp_path: Path) -> None:
    place = tmp_path / "asker.key"
    published = Signer(place, make=True).publish(contract())
    private = place.read_text(encoding="utf-8")
    assert private.startswith("dither-private-key-1:ed25519:")
    with pytest.raises(InvalidParameter, match="got a private one") as refusal:
        Published.from_json(published.to_json(), key=private)
    assert private.strip().rpartition(":")[2] not in str(refusal.value)


def test_the_collector_serves_a_list_that_has_its_campaigns(tmp_path: Path) -> None:
    file, store = tmp_path / "campaign.json", str(tmp_path / "store.sqlite")
    signer = Signer(tmp_path / "asker.key", make=True)
    file.write_text(Published.sign(contract(), signer._key).to_json(), encoding="utf-8")
    signer.publish(contract(version=2))
    plan = ServerPlan((str(file),), store, listed=str(tmp_path / "asker.campaigns"))
    with pytest.raises(InvalidParameter, match=r"in the list asker\.campaigns"):
        plan.campaign_list(plan.read_campaigns())
    signer.publish(contract())
    assert plan.campaign_list(plan.read_campaigns()) == signer.listed
    assert (
        ServerPlan((str(file),), store).campaign_list(plan.read_campaigns()) is None
    )  # none beside the store


def test_a_store_with_campaigns_does_not_begin_another_list(tmp_path: Path) -> None:
    file, store, key = tmp_path / "campaign.toml", tmp_path / "store.sqlite", tmp_path / "store.key"
    file.write_text(TOML, encoding="utf-8")
    plan = ServerPlan((str(file),), str(store), new_key=True)
    plan.check_list()
    writer = plan.writer(plan.read_campaigns())
    writer.close()
    writer.collector.store.close()
    plan.check_list()
    before = list_file(key).read_bytes()
    list_file(key).unlink()
    with pytest.raises(InvalidParameter, match=r"cannot find the list .*store\.campaigns"):
        plan.check_list()
    replace(plan, no_list=True).check_list()
    list_file(key).write_bytes(before)
    plan.check_list()


def test_a_running_collector_takes_in_a_new_key_and_its_list(tmp_path: Path) -> None:
    old, new, file = (tmp_path / name for name in ("old.key", "new.key", "campaign.json"))
    signer = Signer(old, make=True)
    file.write_text(signer.publish(contract()).to_json(), encoding="utf-8")
    shown = tmp_path / "list.json"
    shown.write_bytes(list_file(old).read_bytes())
    plan = ServerPlan((str(file),), str(tmp_path / "store.sqlite"), listed=str(shown))
    writer = plan.writer(plan.read_campaigns())
    try:
        assert writer.collector.listed == signer.listed
        after = signer.hand_over(new)
        file.write_text(after.publish(contract()).to_json(), encoding="utf-8")
        shown.write_bytes(list_file(new).read_bytes())
        writer.reload()
        assert writer.collector.listed == after.listed
        assert writer.collector.campaigns[contract().id].key == after.key
        shown.write_text("{}", encoding="utf-8")
        with pytest.raises(InvalidParameter, match=r"list\.json"):
            writer.reload()
        assert writer.collector.listed == after.listed  # what was served before goes on
    finally:
        writer.close()
        writer.collector.store.close()
    shown.write_bytes(list_file(new).read_bytes())
    again = plan.writer([])  # the store has the campaign as it was signed last
    assert again.collector.campaigns[contract().id].key == after.key
    again.close()
    again.collector.store.close()


class Asker:
    """A collector in this process, of which a client reads what it is given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answers: dict[str, str] = {}
        monkeypatch.setattr(Client, "_request", self._request)

    def _request(self, method: str, path: str, body: bytes = b"") -> tuple[int, dict[str, str], bytes]:
        found = self.answers.get(path)
        return (404, {}, b"") if found is None else (200, {}, found.encode())

    def serve(self, published: Published, log: CampaignList | None) -> str:
        path = f"/v1/campaigns/{published.id}"
        self.answers = {path: published.to_json()}
        if log is not None:
            self.answers["/v1/list"] = log.to_json()
        return f"https://city.example{path}"


@pytest.fixture
def asker(monkeypatch: pytest.MonkeyPatch) -> Asker:
    return Asker(monkeypatch)


def test_a_device_refuses_a_list_that_does_not_continue(asker: Asker, tmp_path: Path) -> None:
    first, second = (Published.sign(contract(version=n), KEY) for n in (1, 2))
    short = CampaignList.extend(None, KEY, published=first.id)
    both = CampaignList.extend(short, KEY, published=second.id)
    other = CampaignList.extend(CampaignList.extend(None, KEY, published=second.id), KEY, published=first.id)
    retired = CampaignList.extend(both, KEY, retired=first.id, day="2026-06-01")
    with dt.Account.create(tmp_path / "person.account", epsilon=3) as account:
        state = account.wire()
        Client(asker.serve(first, None), account)  # no list, and none was there before
        with pytest.raises(Mismatch, match="not in the list"):
            Client(asker.serve(second, short), account)
        for log in (short, short, both):
            Client(asker.serve(first, log), account)
        for log in (short, other, None):
            with pytest.raises(Mismatch, match="does not continue") as refusal:
                Client(asker.serve(first, log), account)
            assert both.head in str(refusal.value)
        with pytest.raises(Mismatch, match="was retired"):
            Client(asker.serve(first, retired), account)
        assert account.wire() == state  # nothing of it is the account's
    with dt.Account.open(tmp_path / "person.account") as account:
        with pytest.raises(Mismatch, match="does not continue"):
            Client(asker.serve(first, short), account)
        Client(asker.serve(first.retire(datetime.date(2026, 6, 1), KEY), retired), account)


def test_a_device_follows_a_key_once(asker: Asker, tmp_path: Path) -> None:
    third = Signer(tmp_path / "third.key", make=True)._key
    terms, pin = contract(), public_part(KEY)
    old = Published.sign(terms, KEY)
    new = Published.sign(terms, NEXT, key_before(KEY, NEXT))
    stolen = Published.sign(terms, third, key_before(KEY, third))
    newer = Published.sign(terms, third, key_before(NEXT, third))
    back = Published.sign(terms, KEY, key_before(third, KEY))
    first = CampaignList.extend(None, KEY, published=terms.id)
    second = CampaignList.extend(first, NEXT, key_before(KEY, NEXT), next_key=new.key)
    other = CampaignList.extend(None, KEY, published="0" * 64)
    fork = CampaignList.extend(other, NEXT, key_before(KEY, NEXT), published=terms.id)
    with dt.Account.create(tmp_path / "person.account", epsilon=3) as account:
        Client(asker.serve(old, first), account, key=pin)
        with pytest.raises(Mismatch, match="another key"):
            Client(asker.serve(newer, None), account, key=pin)  # two steps at once
        with pytest.raises(Mismatch, match="does not continue"):
            Client(asker.serve(new, fork), account, key=pin)
        assert Client(asker.serve(new, second), account, key=pin).published.key == new.key
        for published in (old, stolen):
            with pytest.raises(Mismatch, match="another key"):
                Client(asker.serve(published, None), account, key=pin)
        third_list = CampaignList.extend(second, third, key_before(NEXT, third), next_key=newer.key)
        assert Client(asker.serve(newer, third_list), account, key=pin).published.key == newer.key
        with pytest.raises(Mismatch, match="was replaced"):
            Client(asker.serve(back, None), account, key=pin)


def test_lists_are_public_over_http(tmp_path: Path) -> None:
    """`serve` with a campaign in TOML: the list is beside the key, and `dither audit` compares its head."""
    with Process(tmp_path, str(tmp_path / "store.sqlite")) as process:
        log = CampaignList.from_json(list_file(tmp_path / "asker.key").read_bytes())
        with dt.Account.create(tmp_path / "person.account", epsilon=3) as account:
            client = Client(process.campaign, account, key=log.key)
        assert client.published.id in log.campaigns
        done = run("audit", process.address, "--json")
        code, told = done.exit_code, done.output
        assert (code, json.loads(told)["head"]) == (0, log.head)
        done = run("audit", process.address, "--head", log.head)
        code, told = done.exit_code, done.output
        assert (code, "one list" in told) == (0, True)
        done = run("audit", process.address, "--head", "0" * 64)
        code, told = done.exit_code, done.output
        assert (code, "another list" in told) == (1, True)
        # A head that was cut off accuses nobody, and a key is compared, or refused if it is a private one.
        for head in ("00", log.head[:63], log.head[:12] + "…"):
            done = run("audit", process.address, "--head", head)
            assert (done.exit_code, "64 hexadecimal digits" in done.output) == (2, True)
        assert run("audit", process.address, "--key", log.key.upper()).exit_code == 0
        assert "another key" in str(run("audit", process.address, "--key", "ab" * 32).output)
        for place in (process.address, process.campaign):
            private = (tmp_path / "asker.key").read_text(encoding="utf-8")
            done = run("audit", place, "--key", private)
            assert done.exit_code != 0
            assert "got a private one" in done.output
            assert private.strip()[-64:] not in done.output


def test_the_text_of_a_campaign_is_as_before() -> None:
    """A key, a list and a statement are around the text: they change no identity."""
    plain = Campaign.from_toml(TOML)
    assert Published.sign(plain, NEXT, key_before(KEY, NEXT)).id == Published.sign(plain, KEY).id
    assert "key" not in Campaign.from_toml(OPEN).text
    with pytest.raises(MalformedReport, match="signature"):
        Published.sign(plain, NEXT, key_before(NEXT, KEY))
