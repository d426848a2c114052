"""The signed list of all campaigns that an asker published and retired, as a chain of digests."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from dither.collection.secrets import public_part
from dither.collection.signatures import KeyBefore, check_pin, key_before, verify, write_before
from dither.collection.terms import from_digits, read_day
from dither.core.wire import loads
from dither.errors import DitherError, MalformedReport
from dither.foundation.canonical import canonical

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_LISTED: Final = b"dither list 2\n"
_FIRST: Final = "0" * 64  # the first entry of a list has this in place of the digest of an earlier entry
_MOST_ENTRIES: Final = 10_000


@dataclass(frozen=True)
class CampaignList:
    """The list of all campaigns that an asker published and retired, in order, and of new keys.

    Every entry is a text in canonical JSON with the digest of the previous entry. The digest of the last
    entry, the head, is signed. One head thus fixes the complete list.
    """

    entries: tuple[str, ...]
    key: str
    signature: str
    before: KeyBefore | None = None
    heads: tuple[str, ...] = field(init=False)  # the digest of each entry
    campaigns: Mapping[str, datetime.date | None] = field(init=False)  # and the days of retirement
    last_key: str | None = field(init=False)  # the last new key

    def __post_init__(self) -> None:
        heads, campaigns, key = [_FIRST], dict[str, datetime.date | None](), None
        try:
            for text in self.entries:
                data = loads(text, "an entry of a list of campaigns", 1 << 10)
                if data["before"] != heads[-1] or canonical(data) != text:
                    raise ValueError
                match {name: data[name] for name in data if name != "before"}:
                    case {"published": str(name), **more} if not more and name not in campaigns:
                        campaigns[name] = None
                    case {"retired": str(name), "day": day, **more} if not more and name in campaigns:
                        campaigns[name] = read_day(day)
                    case {"next_key": str(name), **more} if not more:
                        key = name
                    case _:
                        raise ValueError
                if len(from_digits(name)) != 32:
                    raise ValueError
                heads.append(hashlib.sha256(text.encode()).hexdigest())
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, DitherError):
                raise
            raise MalformedReport(f"the list of campaigns is broken at entry {len(heads)}") from None
        if not 1 <= len(self.entries) <= _MOST_ENTRIES:
            raise MalformedReport(f"a list of campaigns has 1 to {_MOST_ENTRIES} entries")
        verify(self.key, self.signature, _LISTED + heads[-1].encode())
        if self.before is not None:
            self.before.check(self.key)
        for name, value in (("heads", tuple(heads[1:])), ("campaigns", campaigns), ("last_key", key)):
            object.__setattr__(self, name, value)

    @property
    def head(self) -> str:
        """The digest of the last entry, 64 hexadecimal digits. Equal heads mean equal lists."""
        return self.heads[-1]

    def continues(self, count: int, head: str) -> bool:
        """Return whether the list begins with `count` entries that end with that head."""
        return 1 <= count <= len(self.heads) and self.heads[count - 1] == head

    @classmethod
    def extend(
        cls, known: CampaignList | None, key: Ed25519PrivateKey, before: KeyBefore | None = None, **entry: str
    ) -> CampaignList:
        """Return the list with a further entry, signed with an Ed25519 private key; None is an empty list."""
        text = canonical({"before": _FIRST if known is None else known.head, **entry})
        head = hashlib.sha256(text.encode()).hexdigest()
        entries = () if known is None else known.entries
        return cls((*entries, text), public_part(key), key.sign(_LISTED + head.encode()).hex(), before)

    def to_json(self) -> str:
        """Return the JSON text that a collector serves and a file holds."""
        data = {
            "list": self.entries,
            "key": self.key,
            "signature": self.signature,
            **write_before(self.before),
        }
        return json.dumps(data, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes, *, key: str | None = None) -> CampaignList:
        """Return the list in a text of `to_json`, verified; raise Mismatch as `Published.from_json` does."""
        data = loads(text, "a list of campaigns")
        try:
            entries, stated, signature, before = (
                data["list"],
                data["key"],
                data["signature"],
                key_before(data),
            )
        except (KeyError, TypeError):
            raise MalformedReport("this is not a list of campaigns") from None
        if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
            raise MalformedReport("this is not a list of campaigns")
        check_pin(stated, before, key)
        return cls(tuple(entries), stated, signature, before)
