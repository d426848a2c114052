"""Summaries of collectors, fetched over HTTP and added up: `dither estimate http://… http://…`."""

from __future__ import annotations

import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from typing import Final, final

from dither.errors import DitherError, InvalidParameter, MalformedReport, Mismatch
from dither.estimation.summary import Summary
from dither.service.contract import Contract, Published

_PATIENCE: Final = 30.0  # seconds
_MOST: Final = 64 << 20  # bytes of an answer
_TOO_FEW: Final = 409
_EXAMPLE: Final = "http://127.0.0.1:8000/v1/campaigns/ID"  # as `dither serve` prints it


class Unreachable(DitherError):
    """A collector does not answer, or answers something else than what was asked for."""


@final
class _OtherPage(urllib.request.HTTPRedirectHandler):
    """Refuses to be sent elsewhere: another host would say what was collected."""

    def redirect_request(self, *_args: object, **_more: object) -> None:
        return None


def fetch(addresses: Sequence[str]) -> tuple[Contract, dict[str, Summary | str]]:
    """Return the contract that collectors share, and the sum of their summaries of each question.

    An address is that of a campaign, such as http://127.0.0.1:8000/v1/campaigns/ID. A question for which a
    collector has too few reports has, in place of a summary, a text that says so.
    """
    contract: Contract | None = None
    found: dict[str, Summary | str] = {}
    for address in addresses:
        base = address.rstrip("/")
        published = _contract(base)
        if contract is not None and published.id != contract.id:
            raise Mismatch(f"{address} serves another campaign than {addresses[0]}: their reports do not add")
        contract = published.contract
        for name, mechanism in contract.questions.items():
            part = _summary(base, name)
            read = part if isinstance(part, str) else Summary.from_bytes(part, mechanism)
            before = found.get(name)
            if isinstance(before, Summary) and isinstance(read, Summary):
                found[name] = before + read
            elif before is None or isinstance(before, str):
                found[name] = read
    if contract is None:
        raise InvalidParameter(f"give the address of a campaign, such as {_EXAMPLE}")
    return contract, found


def _contract(base: str) -> Published:
    status, body = _get(base)
    if status != 200:
        raise Unreachable(f"{base} is not the address of a campaign (status {status})")
    try:
        return Published.from_json(body)
    except MalformedReport:
        raise Unreachable(f"{base} is not the address of a campaign, such as {_EXAMPLE}") from None


def _summary(base: str, question: str) -> bytes | str:
    status, body = _get(f"{base}/summary?{urllib.parse.urlencode({'question': question})}")
    if status == _TOO_FEW:
        return f"too few people at {base}"
    if status != 200:
        raise Unreachable(f"{base} does not give a summary (status {status})")
    return body


def _get(address: str) -> tuple[int, bytes]:
    opener = urllib.request.build_opener(_OtherPage)
    try:
        request = urllib.request.Request(address, headers={"accept": "application/json, */*"})
        with opener.open(request, timeout=_PATIENCE) as answer:
            body = answer.read(_MOST + 1)
            status = int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code, b""
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise Unreachable(f"{address} does not answer: {reason}") from None
    if len(body) > _MOST:
        raise Unreachable(f"{address} answers with more than {_MOST >> 20} MB")
    return status, body
