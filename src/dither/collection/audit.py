"""Checks of a campaign at an address: `dither audit https://…/v1/campaigns/ID`."""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Sequence
from typing import Final, NamedTuple

from dither.advice.audits.api import audit
from dither.collection.campaign import Campaign
from dither.collection.client import fetch_campaign, fetch_list, fetch_public
from dither.collection.published import Published
from dither.collection.signatures import check_pin
from dither.collection.web.requests import BUNDLES, INTEGRITY, bundle, integrity
from dither.errors import MalformedReport, Mismatch


class Check(NamedTuple):
    """One check: its name, whether it holds (None if there is nothing to compare with), and its text."""

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
    """Return the checks of a campaign that need no trust in its operator, and the limits of the checks.

    `head` of the asker's list and `key` of the asker come from another source; the served data are compared
    with them. Raise an error if the campaign is missing, or if its signature or identity is wrong.
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
        log = fetch_list(address)
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


def _check_promise(contract: Campaign, assume: Sequence[str]) -> Check:
    findings = {name: audit(question, assume=assume) for name, question in contract.questions.items()}
    lines = [
        f"{name}: {finding.mechanism}, {finding.bound}"
        + ("" if finding.ok else f" DOES NOT HOLD: {'; '.join(finding.problems or finding.unaccepted)}")
        for name, finding in findings.items()
    ]
    words = f"recomputed from the integers that devices run: in total {contract.total.words()}"
    return Check("promise", all(finding.ok for finding in findings.values()), "\n".join([words, *lines]))


def _check_card(published: Published) -> Check:
    if published.card is None:
        return Check("card", None, "no signed card; an older dither signed the campaign")
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
