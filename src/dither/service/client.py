"""`Client`: a person's device in Python; it answers a campaign through an account and sends the reports."""

from __future__ import annotations

import http.client
import ipaddress
import json
import ssl
from dataclasses import dataclass
from typing import Final, cast
from urllib.parse import SplitResult, urlsplit

from dither.account.account import Account, Preview
from dither.advice.explain import explain
from dither.errors import InvalidParameter, MalformedReport, Mismatch, found
from dither.reports import Reports
from dither.service.contract import Contract, Published
from dither.wire.batch import PACKED, SEALED, BatchBody, seal, suite

_CONFLICT: Final = 409
_MOST: Final = 1 << 24  # bytes of a campaign


@dataclass(frozen=True)
class Sent:
    """What became of the reports that waited: how many the collector has now, and why it took no more."""

    reports: int
    refused: str | None = None  # the word of the collector, "unreachable", or None if nothing waits any more

    def __str__(self) -> str:
        told = f"{self.reports} reports were acknowledged"
        return told if self.refused is None else f"{told}; the rest waits ({self.refused})"


class Client:
    """A device that answers a campaign: it checks the signature, spends from an account, queues and sends.

    `address` is that of the campaign, such as https://city.example/v1/campaigns/4014…; its last part is the
    digest of the campaign's text, which is checked. `key` is the pinned public key of the asker. Reports are
    on disk before they are sent, and a batch has the same bytes however often it is sent.

    If the contract has a sealing key, every batch is encrypted to it. `address` may then be that of a relay,
    which passes requests on: it sees no report, and the collector does not see the device's address.
    """

    def __init__(
        self, address: str, account: Account, *, key: str | None = None, timeout: float = 10.0
    ) -> None:
        """Read the campaign; raise Mismatch if it is not the one of the address, or of another key."""
        if not isinstance(account, Account):
            raise InvalidParameter(f"account is a dt.Account, not {found(account)}")
        self._address, self._timeout = _checked(address), timeout
        self._account = account
        status, text = self._request("GET", "")
        if status != 200:
            raise MalformedReport(f"there is no campaign at {address}: the collector answered {status}")
        self.published = Published.from_json(text, key=key)
        if self._address.path.rpartition("/")[2] != self.published.id:
            raise Mismatch("the collector sent another campaign than that of the address; do not answer it")
        if self.contract.sealing_key is not None:
            suite()  # what is missing is said before anything is asked

    @property
    def contract(self) -> Contract:
        """What is asked, by whom, for how long and for what."""
        return self.published.contract

    @property
    def promise(self) -> str:
        """What is promised to the person, in plain words; show it before you ask."""
        return explain(self.contract.questions, spent=self._account.ledger.spent).person

    def dry_run(self, question: str) -> Preview:
        """Return what `answer` would do. Nothing is drawn, spent or sent; no value is needed."""
        return self._account.dry_run(self.contract.asking(question))

    def answer(self, question: str, value: object) -> Reports | None:
        """Answer a question: the policy and the budget are checked, and the report is on disk, not sent.

        Raise Refused if the account does not answer. None is returned on a day that was not drawn. A
        permanent answer is returned again, and waits once: a person who is asked again counts once.
        """
        report = self._account.answer(self.contract.asking(question), value)
        return cast("Reports | None", report)  # a contract does not ask about kept changes

    def send(self, label: str = "") -> Sent:
        """Send what waits for this campaign, batch by batch, until nothing waits or the collector refuses.

        A batch has at most one report to a question, so a device that was offline sends several.
        """
        done = 0
        asked = [self.contract.asking(name) for name in self.contract.questions]
        while (batch := self._account.batch(self.contract.asker, questions=asked)) is not None:
            pairs = [(one.fingerprint, one.data) for one in batch.reports]
            body, form = BatchBody.of(batch.id, pairs, label).to_bytes(), PACKED
            if self.contract.sealing_key is not None:
                body, form = seal(body, form, self.contract.sealing_key, self.published.id), SEALED
            try:
                status, text = self._request("POST", "/batches", body, form)
            except (OSError, http.client.HTTPException):
                return Sent(done, "unreachable")
            # A conflict: these reports are stored, sent before under another label. Nobody else knows the id.
            if not 200 <= status < 300 and status != _CONFLICT:
                return Sent(done, _reason(status, text))
            done += self._account.acknowledge(batch.id)
        return Sent(done)

    def _request(self, method: str, below: str, body: bytes = b"", form: str = "") -> tuple[int, bytes]:
        """Return the status and the body of an answer; no redirect is followed, no cookie kept."""
        host, port = self._address.hostname or "", self._address.port
        link: http.client.HTTPConnection
        if self._address.scheme == "https":
            safe = ssl.create_default_context()
            link = http.client.HTTPSConnection(host, port, timeout=self._timeout, context=safe)
        else:
            link = http.client.HTTPConnection(host, port, timeout=self._timeout)
        try:
            headers = {"content-type": form} if body else {}
            link.request(method, self._address.path + below, body or None, headers)
            answer = link.getresponse()
            return answer.status, answer.read(_MOST)
        finally:
            link.close()

    def __repr__(self) -> str:
        return f"Client({self.contract.name!r} of {self.contract.asker}: {self._account.left})"


def _checked(address: object) -> SplitResult:
    """Return the parts of an address; raise InvalidParameter unless it is encrypted, or of this machine."""
    if not isinstance(address, str):
        raise InvalidParameter(f"an address is a text such as https://…/v1/campaigns/…, not {found(address)}")
    parts = urlsplit(address.rstrip("/"))
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise InvalidParameter(f"an address is one such as https://…/v1/campaigns/…, not {found(address)}")
    if parts.scheme == "http" and not _local(parts.hostname):
        raise InvalidParameter(f"{parts.hostname} is not this machine: use https, so that nobody reads along")
    return parts


def _local(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _reason(status: int, text: bytes) -> str:
    try:
        return str(json.loads(text)["refused"])
    except (ValueError, KeyError, TypeError):
        return "busy" if status == 503 else f"status {status}"
