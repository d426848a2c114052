"""Vectors of lists of campaigns, with a fixed key that signs nothing else.

`python -m tests.conformance.lists` writes clients/conformance/2/list.json anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dither.collection.campaign_list import CampaignList
from dither.collection.secrets import public_part
from dither.collection.signatures import KeyBefore
from dither.foundation.canonical import canonical
from tests.conformance.signatures import KEY

FILE: Final = Path(__file__).parents[2] / "clients" / "conformance" / "2" / "list.json"
NEXT: Final = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"next key").digest())
THIRD: Final = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"third key").digest())
FIRST, SECOND = (hashlib.sha256(name).hexdigest() for name in (b"first", b"second"))
PRESENT: Final = public_part(NEXT)


def key_before(old: Ed25519PrivateKey, new: Ed25519PrivateKey) -> KeyBefore:
    """Return the statement of a key about the next one."""
    message = b"dither next key 1\n" + public_part(new).encode()
    return KeyBefore(public_part(old), old.sign(message).hex())


def extended(log: CampaignList | None = None, key: Any = KEY, **entry: str) -> CampaignList:
    before = None if log is None else log.before
    return CampaignList.extend(log, key, before, **entry)


def raw(*entries: Any, key: Any = KEY, **around: Any) -> str:
    """Return a list of any entries, chained and signed; `before` is filled in where it is missing."""
    texts: list[str] = []
    head = "0" * 64
    for entry in entries:
        text = entry if isinstance(entry, str) else canonical({"before": head, **entry})
        texts.append(text)
        head = hashlib.sha256(text.encode()).hexdigest()
    made = {
        "list": texts,
        "key": public_part(key),
        "signature": key.sign(b"dither list 2\n" + head.encode()).hex(),
    }
    return json.dumps(made | around)


def logs() -> Iterator[tuple[str, str, Any]]:
    """Yield the name of a case, what is published, and what a device kept before."""
    short = extended(published=FIRST)
    both = extended(short, published=SECOND)
    gone = extended(both, retired=FIRST, day="2026-06-01")
    yield "one campaign", short.to_json(), None
    yield "two campaigns and a retirement", gone.to_json(), None
    for count, log in ((1, short), (2, both), (3, gone)):
        yield f"it continues {count}", gone.to_json(), [count, log.head]
    again = extended(gone, retired=FIRST, day="2026-07-01")
    yield "another day of retirement", again.to_json(), [3, gone.head]
    follows = CampaignList.extend(gone, NEXT, key_before(KEY, NEXT), next_key=PRESENT)
    yield "the next key, which the pinned one has signed", follows.to_json(), [3, gone.head]
    yield "a field beside it", raw({"published": FIRST}, note="x"), None


def refused() -> Iterator[tuple[str, str, Any]]:
    """Yield lists that a device must refuse."""
    short = extended(published=FIRST)
    both = extended(short, published=SECOND)
    other = extended(extended(published=SECOND), published=FIRST)
    yield "it does not continue: another list", other.to_json(), [1, short.head]
    yield "it does not continue: shorter than before", short.to_json(), [2, both.head]
    yield "it does not continue: the head at another place", both.to_json(), [2, short.head]
    yield "it does not continue: nothing was there before", both.to_json(), [0, "0" * 64]
    first = {"published": FIRST}
    wrong: dict[str, tuple[Any, ...]] = {
        "no entries": (),
        "an entry twice": (first, first),
        "a retirement of nothing": ({"retired": FIRST, "day": "2026-06-01"},),
        "a retirement without a day": (first, {"retired": FIRST}),
        "a day in another form": (first, {"retired": FIRST, "day": "20260601"}),
        "a day that does not exist": (first, {"retired": FIRST, "day": "2026-02-30"}),
        "an entry of another kind": ({"deleted": FIRST},),
        "two kinds in one": ({"published": FIRST, "next_key": PRESENT},),
        "a publication with a day": ({"published": FIRST, "day": "2026-06-01"},),
        "a field too many": ({"published": FIRST, "note": "x"},),
        "nothing in an entry": ({},),
        "an identity in upper case": ({"published": FIRST.upper()},),
        "an identity of 63 digits": ({"published": FIRST[:-1]},),
        "an identity in a list": ({"published": [FIRST]},),
        "another digest before": ({"published": FIRST, "before": SECOND},),
        "another digest before, later": (first, {"published": SECOND, "before": "0" * 64}),
        "an entry that is not canonical": (f'{{"published": "{FIRST}", "before": "{"0" * 64}"}}',),
        "keys in another order": (f'{{"published":"{FIRST}","before":"{"0" * 64}"}}',),
        "an entry that is no object": ('"x"',),
        "an entry that is no JSON": ("x",),
    }
    for reason, entries in wrong.items():
        yield reason, raw(*entries), None
    whole = json.loads(both.to_json())
    digits = whole["signature"]
    changed: dict[str, dict[str, Any]] = {
        "an entry was removed": {"list": whole["list"][:1]},
        "an entry is an object": {"list": [json.loads(whole["list"][0])]},
        "a text for a list": {"list": whole["list"][0]},
        "another signature": {"signature": ("1" if digits[0] == "0" else "0") + digits[1:]},
        "a signature in upper case": {"signature": digits.upper()},
        "no signature": {"signature": None},
        "null for the key before": {"key_before": None},
        "a key before without a signature": {"key_before": {"key": public_part(THIRD)}},
        "a key before that signed another": {"key_before": key_before(THIRD, NEXT)._asdict()},
    }
    for reason, change in changed.items():
        yield reason, json.dumps(whole | change), None
    yield "another key than the pinned one", raw(first, key=NEXT), None
    before = key_before(KEY, NEXT)._asdict()
    yield (
        "the next key of the next key",
        raw(first, key=THIRD, key_before=key_before(NEXT, THIRD)._asdict()),
        None,
    )
    yield "a next key that the pinned one did not sign", raw(first, key=THIRD, key_before=before), None
    yield "not JSON", both.to_json()[:-1], None


def text() -> str:
    """Return the file: one line for each list."""
    rows = []
    for name, published, kept in logs():
        log = CampaignList.from_json(published, key=public_part(KEY))
        row = {"name": name, "verdict": "read", "published": published, "kept": kept}
        rows.append(row | {"count": len(log.heads), "head": log.head})
    for name, published, kept in refused():
        rows.append({"name": name, "verdict": "refused", "published": published, "kept": kept})
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return f'{{"dither": 2, "key": "{public_part(KEY)}", "lists": [\n{lines}\n]}}\n'


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
