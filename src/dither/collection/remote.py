"""Summaries of collectors, fetched over HTTP and added up: `dither estimate http://… http://…`."""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Mapping, Sequence
from datetime import date
from types import MappingProxyType
from typing import Final

from dither.collection.campaign import Campaign
from dither.collection.exchange import Unreachable, check_address, exchange
from dither.collection.kept_changes import counts_changes
from dither.collection.published import Published
from dither.core.counts import Counts
from dither.core.repetition import ChangeCounts
from dither.errors import InvalidParameter, MalformedReport, Mismatch
from dither.estimation.groups import GroupCounts
from dither.foundation.tables import period_start

_MOST: Final = 64 << 20  # bytes of counts
_TOO_FEW: Final = 409
_NONE: Final[Mapping[str, str]] = MappingProxyType({})
_EXAMPLE: Final = "http://127.0.0.1:8000/v1/campaigns/ID"  # as `dither serve` prints it


def fetch(
    addresses: Sequence[str], tokens: Sequence[str] = (), since: date | None = None
) -> tuple[Campaign, dict[str, Counts | str]]:
    """Return the contract that collectors share, and the sum of their summaries of each question.

    An address names a campaign, such as http://127.0.0.1:8000/v1/campaigns/ID. Without tokens the counts are
    the public ones, without waiting reports. `tokens`, one for all addresses or one for each, give access to
    all stored reports. A question with too few reports has a text about that in place of a summary. `since`
    is the first day whose reports are used.
    """
    contract = _shared_contract(addresses)
    found: dict[str, Counts | str] = {}
    for name, groups in _gather(addresses, tokens, contract, None, since).items():
        total = sum(groups.get("", []), Counts.empty(contract.questions[name]))
        enough = total.n >= contract.people
        found[name] = total if enough else f"too few people at {' and '.join(map(_base, addresses))}"
    return contract, found


def fetch_changes(addresses: Sequence[str]) -> dict[str, ChangeCounts]:
    """Return the counts of kept changes that collectors show, added up, by question; empty for others."""
    contract = _shared_contract(addresses)
    if not counts_changes(contract):
        return {}
    found: dict[str, ChangeCounts] = {}
    for name in contract.questions:
        parts = []
        for base in map(_base, addresses):
            status, body = _get(f"{base}/days.json?{urllib.parse.urlencode({'question': name})}")
            if status != 200:
                raise Unreachable(
                    f"{base} did not send the counts of its days (status {status}); check the address"
                )
            parts.append(ChangeCounts.from_json(body))
            if parts[-1].change.fingerprint != contract.fingerprint(name):
                raise Mismatch(
                    f"expected counts of {name!r} from {base}, got counts of another question; check "
                    "that its collector has the same release"
                )
        found[name] = sum(parts[1:], parts[0])
    return found


def fetch_groups(
    addresses: Sequence[str], by: str, tokens: Sequence[str] = (), since: date | None = None
) -> tuple[dict[str, GroupCounts], int]:
    """Return the counts of each question by "day", "week", "month" or "label", added up over collectors.

    Without tokens a week or a month is the sum of the days that the collector shows. The second result is the
    number of omitted groups, with too few reports. It is 0 without tokens, because a collector does not
    publish the existence of such a group.
    """
    contract, hidden = _shared_contract(addresses), 0
    found = {name: GroupCounts(question, [by]) for name, question in contract.questions.items()}
    period = by in ("week", "month")
    gathered = _gather(addresses, tokens, contract, "day" if period else by, since)
    for name, groups in gathered.items():
        for group, parts in (_join_days(groups, by) if period else groups).items():
            total = sum(parts, Counts.empty(contract.questions[name]))
            if total.n < contract.people:
                hidden += 1
            else:
                found[name].add_summary((group or None,), total)
    return found, hidden


def _join_days(days: dict[str, list[Counts]], period: str) -> dict[str, list[Counts]]:
    """Return the summaries of weeks or months, by their first day."""
    found: dict[str, list[Counts]] = {}
    for day, parts in days.items():
        found.setdefault(period_start(period, date.fromisoformat(day)).isoformat(), []).extend(parts)
    return found


def _gather(
    addresses: Sequence[str], tokens: Sequence[str], contract: Campaign, by: str | None, since: date | None
) -> dict[str, dict[str, list[Counts]]]:
    """Return the summaries of all collectors, by question and group; "" is all reports, or no label."""
    if len(tokens) not in (0, 1, len(addresses)):
        raise InvalidParameter(
            f"expected one token for all addresses, or one for each, got {len(tokens)} for "
            f"{len(addresses)} addresses"
        )
    found: dict[str, dict[str, list[Counts]]] = {name: {} for name in contract.questions}
    keys: Sequence[str | None] = tokens or [None]
    for index, base in enumerate(map(_base, addresses)):
        token = keys[index % len(keys)]
        for name, question in contract.questions.items():
            terms = {"question": name} if since is None else {"question": name, "since": since.isoformat()}
            parts = (
                _shown_summaries(base, terms, by)
                if token is None
                else _stored_summaries(base, terms, by, token)
            )
            for group, part in parts.items():
                found[name].setdefault(group, []).append(Counts.from_bytes(part, question))
    return found


def _shown_summaries(base: str, terms: dict[str, str], by: str | None) -> dict[str, bytes]:
    """Return the summaries of a question that a collector shows to everybody, by group."""
    if by is None:
        parts = {"": _summary(base, terms)}
    else:
        parts = {group: _summary(base, {**terms, by: group}) for group in _groups(base, terms, by)}
    return {group: part for group, part in parts.items() if part is not None}


def _stored_summaries(base: str, terms: dict[str, str], by: str | None, token: str) -> dict[str, bytes]:
    """Return the summaries of everything that a collector stored for a question, by group."""
    root, _, campaign = base.rpartition("/v1/campaigns/")
    request = json.dumps({**terms, "campaign": campaign, "by": by}).encode()
    status, body = _get(f"{root}/v1/admin/counts", request, {"authorization": f"Bearer {token}"})
    try:
        if status == 200:
            counts = json.loads(body)["counts"]
            return {str(group): bytes.fromhex(part) for group, part in counts.items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass
    raise Unreachable(f"{base} did not send its counts (status {status}); check the token")


def _base(address: str) -> str:
    return address.rstrip("/")


def _shared_contract(addresses: Sequence[str]) -> Campaign:
    """Return the contract that all addresses serve; raise Mismatch if they differ."""
    if not addresses:
        raise InvalidParameter(f"expected the address of a campaign; give one such as {_EXAMPLE}")
    first = _contract(_base(addresses[0]))
    for address in addresses[1:]:
        if _contract(_base(address)).id != first.id:
            raise Mismatch(
                f"{address} serves another campaign than {addresses[0]}: give addresses of one campaign"
            )
    return first.contract


def _groups(base: str, terms: dict[str, str], by: str) -> list[str]:
    """Return the days or the labels of a question; "" is no label."""
    status, body = _get(f"{base}/answers.json?{urllib.parse.urlencode({**terms, 'by': by})}")
    try:
        if status == 200:
            return list(dict.fromkeys(str(row[by]) for row in json.loads(body)["rows"]))
    except (ValueError, TypeError, KeyError, RecursionError):
        pass
    raise Unreachable(f"{base} did not send its answers by {by} (status {status}); check the address")


def _contract(base: str) -> Published:
    status, body = _get(base)
    if status != 200:
        raise Unreachable(
            f"expected the address of a campaign, such as {_EXAMPLE}, got {base} (status {status})"
        )
    try:
        found = Published.from_json(body)
    except MalformedReport:
        raise Unreachable(f"expected the address of a campaign, such as {_EXAMPLE}, got {base}") from None
    if base.rpartition("/")[2] != found.id:
        raise Mismatch(f"{base} serves another campaign than the address names; ask its operator")
    return found


def _summary(base: str, terms: dict[str, str]) -> bytes | None:
    """Return a summary; None if there are too few reports."""
    status, body = _get(f"{base}/summary?{urllib.parse.urlencode(terms)}")
    if status == _TOO_FEW:
        return None
    if status != 200:
        raise Unreachable(f"{base} did not send a summary (status {status}); check the address")
    return body


def _get(address: str, body: bytes = b"", more: Mapping[str, str] = _NONE) -> tuple[int, bytes]:
    """Return status and content of an answer; `address` may have a query."""
    bare, _, query = address.partition("?")
    to = check_address(bare)
    path = f"{to.path}?{query}" if query else to.path
    fields = {"accept": "application/json, */*", **more}
    answer = exchange(to, "POST" if body else "GET", path, body, fields, most=_MOST)
    return answer.status, answer.content
