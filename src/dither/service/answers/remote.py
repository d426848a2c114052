"""Summaries of collectors, fetched over HTTP and added up: `dither estimate http://… http://…`."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from typing import Final, final

from dither.errors import DitherError, InvalidParameter, MalformedReport, Mismatch
from dither.estimation.comparison.groups import GroupCounts
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
    contract = _shared(addresses)
    found: dict[str, Summary | str] = {}
    for base in map(_base, addresses):
        for name, mechanism in contract.questions.items():
            part = _summary(base, {"question": name})
            read = part if isinstance(part, str) else Summary.from_bytes(part, mechanism)
            before = found.get(name)
            if isinstance(before, Summary) and isinstance(read, Summary):
                found[name] = before + read
            elif before is None or isinstance(before, str):
                found[name] = read
    return contract, found


def fetch_groups(addresses: Sequence[str], by: str) -> tuple[dict[str, GroupCounts], int]:
    """Return the counts of each question by "day" or "label", added up over collectors.

    The number is that of the groups for which a collector has too few reports: those are not counted.
    """
    contract, hidden = _shared(addresses), 0
    found = {name: GroupCounts(mechanism, [by]) for name, mechanism in contract.questions.items()}
    for base in map(_base, addresses):
        for name, mechanism in contract.questions.items():
            for group in _groups(base, name, by):
                part = _summary(base, {"question": name, by: group})
                if isinstance(part, str):
                    hidden += 1
                else:
                    found[name].add_summary((group or None,), Summary.from_bytes(part, mechanism))
    return found, hidden


def _base(address: str) -> str:
    return address.rstrip("/")


def _shared(addresses: Sequence[str]) -> Contract:
    """Return the contract that all addresses serve; raise Mismatch if they differ."""
    if not addresses:
        raise InvalidParameter(f"give the address of a campaign, such as {_EXAMPLE}")
    first = _contract(_base(addresses[0]))
    for address in addresses[1:]:
        if _contract(_base(address)).id != first.id:
            raise Mismatch(f"{address} serves another campaign than {addresses[0]}: their reports do not add")
    return first.contract


def _groups(base: str, question: str, by: str) -> list[str]:
    """Return the days or the labels of a question; "" is no label."""
    status, body = _get(f"{base}/answers.json?{urllib.parse.urlencode({'question': question, 'by': by})}")
    try:
        if status == 200:
            return list(dict.fromkeys(str(row[by]) for row in json.loads(body)["rows"]))
    except (ValueError, TypeError, KeyError, RecursionError):
        pass
    raise Unreachable(f"{base} does not give its answers by {by} (status {status})")


def _contract(base: str) -> Published:
    status, body = _get(base)
    if status != 200:
        raise Unreachable(f"{base} is not the address of a campaign (status {status})")
    try:
        return Published.from_json(body)
    except MalformedReport:
        raise Unreachable(f"{base} is not the address of a campaign, such as {_EXAMPLE}") from None


def _summary(base: str, terms: dict[str, str]) -> bytes | str:
    status, body = _get(f"{base}/summary?{urllib.parse.urlencode(terms)}")
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
