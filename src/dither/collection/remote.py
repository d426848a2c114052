"""Summaries of collectors, fetched over HTTP and added up: `dither estimate http://… http://…`.

What can be believed about a campaign at an address: `dither audit https://…/v1/campaigns/ID`.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from dither.advice.audits.api import audit
from dither.collection.client import fetch_campaign, fetch_log, fetch_public
from dither.collection.contract import Contract, Published, check_pin
from dither.collection.web.requests import BUNDLES, INTEGRITY, bundle, integrity
from dither.core.summary import Summary
from dither.errors import DitherError, InvalidParameter, MalformedReport, Mismatch
from dither.estimation.groups import GroupCounts

_PATIENCE: Final = 30.0  # seconds
_MOST: Final = 64 << 20  # bytes of an answer
_TOO_FEW: Final = 409
_NONE: Final[Mapping[str, str]] = MappingProxyType({})
_EXAMPLE: Final = "http://127.0.0.1:8000/v1/campaigns/ID"  # as `dither serve` prints it


class Unreachable(DitherError):
    """A collector does not answer, or answers something else than what was asked for."""


class _OtherPage(urllib.request.HTTPRedirectHandler):
    """Refuses to be sent elsewhere: another host would say what was collected."""

    def redirect_request(self, *_args: object, **_more: object) -> None:
        return None


def fetch(addresses: Sequence[str], tokens: Sequence[str] = ()) -> tuple[Contract, dict[str, Summary | str]]:
    """Return the contract that collectors share, and the sum of their summaries of each question.

    An address is that of a campaign, such as http://127.0.0.1:8000/v1/campaigns/ID. Without tokens this is
    what the collectors show, and reports that wait at one of them are left out. `tokens`, one for all
    addresses or one for each, open everything that is stored. A question with too few reports has, in place
    of a summary, a text that says so.
    """
    contract = _shared_contract(addresses)
    found: dict[str, Summary | str] = {}
    for name, groups in _gather(addresses, tokens, contract, None).items():
        whole = sum(groups.get("", []), Summary.empty(contract.questions[name]))
        enough = whole.n >= contract.people
        found[name] = whole if enough else f"too few people at {' and '.join(map(_base, addresses))}"
    return contract, found


def fetch_groups(
    addresses: Sequence[str], by: str, tokens: Sequence[str] = ()
) -> tuple[dict[str, GroupCounts], int]:
    """Return the counts of each question by "day" or "label", added up over collectors.

    The number is that of the groups with too few reports, which are not counted. It is 0 without tokens: a
    collector does not tell of a group that it does not show.
    """
    contract, hidden = _shared_contract(addresses), 0
    found = {name: GroupCounts(question, [by]) for name, question in contract.questions.items()}
    for name, groups in _gather(addresses, tokens, contract, by).items():
        for group, parts in groups.items():
            whole = sum(parts, Summary.empty(contract.questions[name]))
            if whole.n < contract.people:
                hidden += 1
            else:
                found[name].add_summary((group or None,), whole)
    return found, hidden


def _gather(
    addresses: Sequence[str], tokens: Sequence[str], contract: Contract, by: str | None
) -> dict[str, dict[str, list[Summary]]]:
    """Return the summaries of all collectors, by question and group; "" is the group of all, or no label."""
    if len(tokens) not in (0, 1, len(addresses)):
        raise InvalidParameter("give one token for all addresses, or one for each")
    found: dict[str, dict[str, list[Summary]]] = {name: {} for name in contract.questions}
    keys: Sequence[str | None] = tokens or [None]
    for place, base in enumerate(map(_base, addresses)):
        token = keys[place % len(keys)]
        for name, question in contract.questions.items():
            parts = (
                _shown_summaries(base, name, by)
                if token is None
                else _stored_summaries(base, name, by, token)
            )
            for group, part in parts.items():
                found[name].setdefault(group, []).append(Summary.from_bytes(part, question))
    return found


def _shown_summaries(base: str, question: str, by: str | None) -> dict[str, bytes]:
    """Return the summaries of a question that a collector shows to everybody, by group."""
    if by is None:
        parts = {"": _summary(base, {"question": question})}
    else:
        groups = _groups(base, question, by)
        parts = {group: _summary(base, {"question": question, by: group}) for group in groups}
    return {group: part for group, part in parts.items() if part is not None}


def _stored_summaries(base: str, question: str, by: str | None, token: str) -> dict[str, bytes]:
    """Return the summaries of everything that a collector stored for a question, by group."""
    root, _, campaign = base.rpartition("/v1/campaigns/")
    asked = json.dumps({"campaign": campaign, "question": question, "by": by}).encode()
    status, body = _get(f"{root}/v1/admin/counts", asked, {"authorization": f"Bearer {token}"})
    try:
        if status == 200:
            counts = json.loads(body)["counts"]
            return {str(group): bytes.fromhex(part) for group, part in counts.items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass
    raise Unreachable(f"{base} does not give its counts; does it know this token? (status {status})")


def _base(address: str) -> str:
    return address.rstrip("/")


def _shared_contract(addresses: Sequence[str]) -> Contract:
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
        found = Published.from_json(body)
    except MalformedReport:
        raise Unreachable(f"{base} is not the address of a campaign, such as {_EXAMPLE}") from None
    if base.rpartition("/")[2] != found.id:
        raise Mismatch(f"{base} serves another campaign than that of the address")
    return found


def _summary(base: str, terms: dict[str, str]) -> bytes | None:
    """Return a summary; None if there are too few reports."""
    status, body = _get(f"{base}/summary?{urllib.parse.urlencode(terms)}")
    if status == _TOO_FEW:
        return None
    if status != 200:
        raise Unreachable(f"{base} does not give a summary (status {status})")
    return body


def _get(address: str, body: bytes | None = None, more: Mapping[str, str] = _NONE) -> tuple[int, bytes]:
    opener = urllib.request.build_opener(_OtherPage)
    try:
        headers = {"accept": "application/json, */*", **more}
        request = urllib.request.Request(address, body, headers)
        with opener.open(request, timeout=_PATIENCE) as answer:
            found = answer.read(_MOST + 1)
            status = int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code, b""
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise Unreachable(f"{address} does not answer: {reason}") from None
    if len(found) > _MOST:
        raise Unreachable(f"{address} answers with more than {_MOST >> 20} MB")
    return status, found


class Check(NamedTuple):
    """What was checked, whether it holds (None if there is nothing to compare with), and what to say."""

    name: str
    ok: bool | None
    words: str


_LIMITS: Final = (
    "The page that asks comes from its own server, which can send another page to some people: integrity= "
    "protects the files of the client, not the page that names them.",
    "One person, one campaign: the asker can ask the same people again, under another name or key, and what "
    "they give adds up.",
    "The account that adds up what a person gives is one for each origin and browser: another page, device "
    "or browser begins at nothing.",
    "What the operator does with what arrives: addresses, times, and how long it is kept.",
)


def verify_campaign(
    address: str, *, head: str | None = None, key: str | None = None, assume: Sequence[str] = ()
) -> tuple[list[Check], tuple[str, ...]]:
    """Return what was checked about a campaign without trusting its operator, and what cannot be checked.

    `head` of the asker's list and `key` of the asker are from somewhere else: what is served is compared with
    them. Raise an error if there is no campaign, or if its signature or identity is wrong.
    """
    published = fetch_campaign(address)
    contract = published.contract
    checks = [
        Check("identity", True, f"the digest of its text is the one of the address: {published.id}"),
        Check(
            "signature",
            True,
            f"{contract.name!r}, version {contract.version}, of {contract.asker}, {contract.begins} to "
            f"{contract.ends}, is signed as served",
        ),
        _check_key(published, key),
        _check_list(address, published, head),
        _check_promise(contract, assume),
        _check_card(published),
        _check_client(address),
    ]
    if published.retired is not None:
        checks.append(Check("retired", None, f"from {published.retired[0]} on: do not answer it"))
    return checks, _LIMITS


def _check_key(published: Published, key: str | None) -> Check:
    if key is None:
        return Check("key", None, f"{published.key}\ncompare it with one that you have from elsewhere: --key")
    try:
        check_pin(published.key, published.before, key)
    except Mismatch:
        return Check("key", False, f"{published.key} is another key than the given one")
    follows = "" if published.key == key else ", which the given one has signed as the next"
    return Check("key", True, f"{published.key}{follows}")


def _check_list(address: str, published: Published, head: str | None) -> Check:
    try:
        log = fetch_log(address)
    except MalformedReport as error:
        return Check("list", False if head else None, str(error))
    if log.key != published.key:
        return Check("list", False if head else None, "the list of this collector is that of another asker")
    if published.id not in log.campaigns:
        return Check("list", False, "the campaign is not in the asker's list: others may be asked otherwise")
    words = f"one of {len(log.campaigns)} campaigns of the asker's signed list; its head is {log.head}"
    if head is None:
        return Check("list", None, f"{words}\ncompare the head with the one that somebody else sees: --head")
    same = head in log.heads
    return Check("list", same, words if same else f"the given head is not in it: another list. {words}")


def _check_promise(contract: Contract, assume: Sequence[str]) -> Check:
    findings = {name: audit(question, assume=assume) for name, question in contract.questions.items()}
    lines = [
        f"{name}: {finding.mechanism}, {finding.bound}"
        + ("" if finding.ok else f" DOES NOT HOLD: {'; '.join(finding.problems or finding.unaccepted)}")
        for name, finding in findings.items()
    ]
    words = f"recomputed from the integers that devices run: in total {contract.whole_guarantee}"
    return Check("promise", all(finding.ok for finding in findings.values()), "\n".join([words, *lines]))


def _check_card(published: Published) -> Check:
    if published.card is None:
        return Check("card", None, "it has none that is signed; an older dither signed the campaign")
    same = published.card[0] == published.contract.card
    return Check(
        "card",
        True if same else None,
        "signed, and what this dither computes" if same else "signed; this dither would word it otherwise",
    )


def _check_client(address: str) -> Check:
    root = urllib.parse.urlsplit(address).path.rpartition("/v1/campaigns/")[0]
    known = json.loads(bundle(INTEGRITY) or b"{}")
    served = {}
    for name in BUNDLES:
        try:
            served[name] = integrity(fetch_public(address, f"{root}/client/{name}"))
        except MalformedReport:
            continue
    if not served:
        return Check(
            "client", None, "the collector serves no client; compare the page's own with the digests"
        )
    lines = [f"{name} {digest}" for name, digest in served.items()]
    other = [name for name, digest in served.items() if known.get(name) != digest]
    if not known:
        return Check("client", None, "\n".join(["compare with those of a build that you trust", *lines]))
    words = f"{len(served)} files are those of the build that is installed here"
    if other:
        words = f"not those of the build that is installed here: {', '.join(other)}"
    return Check("client", not other, "\n".join([words, *lines]))
