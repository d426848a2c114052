"""`Client`: a person's device in Python; it answers a campaign through an account and sends the reports."""

from __future__ import annotations

from dataclasses import dataclass

from dither.collection.account.account import Account
from dither.collection.account.budget import Data
from dither.collection.account.returns import Preview
from dither.collection.campaign import Campaign
from dither.collection.campaign_list import CampaignList
from dither.collection.exchange import (
    MOST_ANSWER,
    MOST_CAMPAIGN,
    TIMEOUT,
    Unreachable,
    check_address,
    exchange,
    unreachable,
)
from dither.collection.ohttp import public_key
from dither.collection.published import Published
from dither.collection.secrets import refuse_private
from dither.core.repetition import ChangeReports
from dither.core.reports import Reports
from dither.errors import InvalidParameter, MalformedReport, Mismatch, found, unknown_name
from dither_device import sending
from dither_device.text import Malformed


@dataclass(frozen=True)
class Sent:
    """The result of sending: the number of reports that the collector now has, and the reason for the rest.

    `dropped` is the number of reports in batches that the collector will never accept; `reasons` are its
    words for them. `refused` is the reason why the rest waits: the collector's word, "unreachable" or
    "relay"; None if nothing waits. `retry_after` is in seconds, None if the collector did not state it.
    """

    reports: int
    refused: str | None = None
    dropped: int = 0
    reasons: tuple[str, ...] = ()
    retry_after: float | None = None

    def __str__(self) -> str:
        text = f"{self.reports} reports were acknowledged"
        if self.dropped:
            text += f"; {self.dropped} were dropped, refused for good ({', '.join(self.reasons)})"
        return text if self.refused is None else f"{text}; the rest waits ({self.refused})"


class Client:
    """A device that answers a campaign: it checks the signature, spends from an account, queues and sends.

    `address` is the campaign's, such as https://city.example/v1/campaigns/4014…; its last part is the
    digest of the campaign's text, which is checked. `key` is the pinned public key of the asker. Reports are
    on disk before they are sent, and a batch has the same bytes each time.

    If the contract has a sealing key, every batch is encrypted to it (RFC 9458) and sent to the gateway of
    the collector. `relay` is the address of a relay that passes requests on to that gateway: it reads neither
    them nor the answers, and the collector does not see the device's address. The device also fetches the
    campaign in this way; therefore a relay needs the pinned `sealing_key` of the collector.

    The account keeps the key of the asker, so that a pinned key is followed to the next one once, and the
    head of the asker's list of campaigns: a list that does not continue it is refused.
    """

    def __init__(
        self,
        address: str,
        account: Account,
        *,
        key: str | None = None,
        relay: str | None = None,
        sealing_key: str | None = None,
        timeout: float = TIMEOUT,
    ) -> None:
        """Read the campaign; raise Mismatch if its address, key or list does not match."""
        if not isinstance(account, Account):
            raise InvalidParameter(f"expected account to be a dt.Account, got {found(account)}")
        if relay is not None and sealing_key is None:
            raise InvalidParameter(
                "expected sealing_key, the collector's key configuration, with a relay because it passes on "
                "only encrypted requests; give it"
            )
        refuse_private("sealing_key", sealing_key)
        if sealing_key is not None:
            public_key(sealing_key)
        self._address, self._timeout, self._account = check_address(address), timeout, account
        self._relay = None if relay is None else check_address(relay).geturl()
        self._sealing_key = sealing_key
        status, _, text = self._request("GET", self._address.path)
        if status != 200:
            raise MalformedReport(f"no campaign found at {address} (status {status}); check the address")
        position, _, identity = self._address.path.rpartition("/campaigns/")
        status, _, listed = self._request("GET", position + "/list")
        listed = listed if status == 200 else b""
        account.remember_askers(lambda known: self._recognise(known, key, text, listed))
        if identity != self.published.id:
            raise Mismatch("the collector sent another campaign than the address names; do not answer it")
        if relay is not None and self.contract.sealing_key is None:
            raise InvalidParameter(
                "expected a campaign with a sealing key because a relay needs it; leave relay out"
            )
        self._sealing_key = self.contract.sealing_key

    def _recognise(self, known: Data, pin: str | None, text: bytes, listed: bytes) -> Data:
        """Read a campaign and the list of its asker; return the updated facts about askers.

        `keys` are the accepted new keys, by their previous key; `heads` the lengths and heads of lists, by
        key. Raise Mismatch if the list does not continue the one that was read before.
        """
        keys, heads = dict(known.get("keys", {})), dict(known.get("heads", {}))
        while pin in keys:
            pin = keys[pin]
        self.published = published = Published.from_json(text, key=pin)
        if pin is not None and published.key != pin:
            if published.key in keys:
                raise Mismatch("the campaign is signed with a key that was replaced; do not answer it")
            keys[pin] = published.key
        if published.before is not None and published.before.key in heads:
            heads.setdefault(published.key, heads.pop(published.before.key))
        before = heads.get(published.key)
        log = CampaignList.from_json(listed) if listed else None
        if log is not None and log.key != published.key:
            log = None  # the list of another asker of this collector
        if before is not None and (log is None or not log.continues(*before)):
            raise Mismatch(
                "the list of campaigns does not continue the one that this device saw before: the asker may "
                f"show different people different campaigns. Do not answer; the head was {before[1]}"
            )
        if log is not None:
            if published.id not in log.campaigns or (
                published.retired is None and log.campaigns[published.id] is not None
            ):
                raise Mismatch("the campaign is not in the list of its asker, or was retired; do not answer")
            heads[published.key] = [len(log.heads), log.head]
        seen = {"keys": keys, "heads": heads} if keys or heads else {}
        return {**known, **seen}  # a device of another kind also keeps its verified campaigns there

    @property
    def contract(self) -> Campaign:
        """The contract: questions, asker, days and purpose."""
        return self.published.contract

    @property
    def promise(self) -> str:
        """The promise to the person, in plain words; show it before the first answer."""
        return self.contract.explain(spent=self._account.ledger.spent).person

    def dry_run(self, question: str) -> Preview:
        """Return the preview of an answer. Nothing is drawn, spent or sent; no value is needed."""
        return self._account.dry_run(self.contract.asking(question))

    def answer(self, question: str, value: object) -> Reports | ChangeReports | None:
        """Answer a question: the policy and the budget are checked, and the report is on disk, not sent.

        Raise Refused if the account does not answer. None is returned on a day that was not drawn, and while
        no interval of a kept change is over; there the value is the list of all days' values. A permanent
        answer is returned again, and is queued once: the person counts once.
        """
        return self._account.answer(self.contract.asking(question), value)

    def send(self, label: str = "") -> Sent:
        """Send the waiting reports of this campaign, in batches, until none waits or the collector refuses.

        A batch has at most one report to a question, so a device that was offline sends several. A batch that
        the collector will never accept is dropped, so that it does not delay the others; its loss stays
        charged. A label that the campaign does not list is refused before anything is sent.
        """
        if label and label not in self.contract.labels:
            raise unknown_name("label", label, self.contract.labels)
        question = [self.contract.asking(name) for name in self.contract.questions]

        def next_batch() -> tuple[str, list[tuple[str, bytes]]] | None:
            batch = self._account.batch(self.contract.asker, questions=question)
            if batch is None:
                return None
            return batch.id, [(report.fingerprint, report.data) for report in batch.reports]

        def post(body: bytes) -> tuple[int, dict[str, str], bytes]:
            return self._request("POST", self._address.path + "/batches", body)

        done = sending.Sent()
        try:
            noted = {"campaign": self.published.id, "retry": self.contract.retry}
            sending.deliver(done, next_batch, post, self._account, label, noted=noted)
        except Unreachable:
            done.problem = "unreachable"
        except MalformedReport:
            done.problem = "relay"
        return Sent(done.sent, done.problem, done.dropped, tuple(done.refused), done.retry_after)

    def take_back(self) -> sending.TakenBack:
        """Ask the collector to delete the reports that this device sent to the asker, if it still can.

        Each batch has its own request, sent in the same way as batches. Unsent reports are dropped. The spent
        budget is not restored. `account.withdrawable` lists the batches that can be taken back.
        """
        path = self._address.path.rpartition("/")[0]

        def post(campaign: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
            return self._request("POST", f"{path}/{campaign}/withdrawals", body, sending.JSON)

        return sending.take_back(self._account, self.contract.asker, self.published.id, post)

    def _request(
        self, method: str, path: str, body: bytes = b"", form: str = sending.PACKED
    ) -> tuple[int, dict[str, str], bytes]:
        """Return status, fields and body of an answer; encrypt both directions if there is a sealing key.

        Raise MalformedReport if the collector did not encrypt the answer.
        """
        most, key = MOST_ANSWER if body else MOST_CAMPAIGN, self._sealing_key
        location = f"{self._address.scheme}://{self._address.netloc}"
        with unreachable(self._relay or location, self._timeout, most):
            try:
                return sending.request(
                    method, location + path, body, key, self._relay, self._timeout, most, form
                )
            except Malformed as error:
                if key is None or error.word == "size":
                    raise
                raise MalformedReport(
                    f"the relay or the gateway did not send an encrypted answer; check the address: {error}"
                ) from None

    def __repr__(self) -> str:
        return f"Client({self.contract.name!r} of {self.contract.asker}: {self._account.left})"


def fetch_list(address: str, timeout: float = TIMEOUT, *, key: str | None = None) -> CampaignList:
    """Return the list of campaigns of a collector, verified; `address` is the collector's or a campaign's.

    `key` is the pinned key. Raise Mismatch unless the list is signed with it or with the next key after it.
    """
    to = check_address(address)
    path = to.path.rpartition("/v1/campaigns/")[0] if "/v1/campaigns/" in to.path else to.path
    path = path.removesuffix("/v1/list") + "/v1/list"
    status, _, text, _ = exchange(to, "GET", path, timeout=timeout, most=MOST_CAMPAIGN)
    if status != 200:
        raise MalformedReport(f"no list of campaigns found at {address} (status {status}); check the address")
    return CampaignList.from_json(text, key=key)


def fetch_campaign(address: str, timeout: float = TIMEOUT, *, key: str | None = None) -> Published:
    """Return the campaign of an address, after checks of its signature and of its identity."""
    text = fetch_public(address, timeout=timeout)
    published = Published.from_json(text, key=key)
    if check_address(address).path.rpartition("/")[2] != published.id:
        raise Mismatch("the collector sent another campaign than the address names; do not answer it")
    return published


def fetch_public(address: str, path: str | None = None, *, timeout: float = TIMEOUT) -> bytes:
    """Return the data that a collector publishes at an address; raise MalformedReport if that fails."""
    to = check_address(address)
    target_path = to.path if path is None else path
    status, _, text, _ = exchange(to, "GET", target_path, timeout=timeout, most=MOST_CAMPAIGN)
    if status != 200:
        raise MalformedReport(f"nothing found at {address} (status {status}); check the address")
    return text
