"""A published campaign: the signed text of a contract, as collectors serve it and devices check it."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Self

from dither.collection.campaign import Campaign
from dither.collection.secrets import public_part
from dither.collection.signatures import KeyBefore, check_pin, key_before, verify, write_before
from dither.collection.terms import read_day
from dither.core.wire import MOST_BYTES, loads
from dither.errors import MalformedReport, Mismatch

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_SIGNED: Final = b"dither campaign 2\n"
_SIGNED_1: Final = b"dither campaign 1\n"
_RETIRED: Final = b"dither retirement 1\n"
_CARD: Final = b"dither card 1\n"


@dataclass(frozen=True)
class Published:
    """A contract with the signature of its asker, in the form for devices, and optionally its retirement."""

    contract: Campaign
    key: str  # 64 hexadecimal digits: the public key
    signature: str  # 128 hexadecimal digits
    retired: tuple[datetime.date, str] | None = None  # the day, and a signature
    before: KeyBefore | None = None
    card: tuple[str, str] | None = None  # the text, and a signature

    def __post_init__(self) -> None:
        verify(self.key, self.signature, _signed_prefix(self.contract.text) + self.contract.text.encode())
        if self.card is not None:
            verify(self.key, self.card[1], _CARD + self.card[0].encode())
            if loads(self.card[0], "a card").get("campaign") != self.id:
                raise MalformedReport("the card belongs to another campaign; publish the campaign again")
        if self.retired is not None:
            verify(self.key, self.retired[1], _retirement(self.id, self.retired[0]))
        if self.before is not None:
            self.before.check(self.key)

    @property
    def id(self) -> str:
        """The identity of the contract."""
        return self.contract.id

    @classmethod
    def sign(cls, contract: Campaign, key: Ed25519PrivateKey, before: KeyBefore | None = None) -> Self:
        """Return the contract signed with an Ed25519 private key of `cryptography`."""
        signature = key.sign(_SIGNED + contract.text.encode()).hex()
        text = contract.card
        card = text, key.sign(_CARD + text.encode()).hex()
        return cls(contract, public_part(key), signature, before=before, card=card)

    def retire(self, day: datetime.date, key: Ed25519PrivateKey) -> Self:
        """Return the campaign, retired from a day on; the key must be the signing key."""
        if public_part(key) != self.key:
            raise Mismatch("this campaign was published with another key; retire it with that one")
        return replace(self, retired=(day, key.sign(_retirement(self.id, day)).hex()))

    def to_json(self) -> str:
        """Return the JSON text that a collector serves and a file holds."""
        gone = None
        if self.retired is not None:
            gone = {"day": self.retired[0].isoformat(), "signature": self.retired[1]}
        data = {
            "campaign": self.contract.text,
            "key": self.key,
            "signature": self.signature,
            "retired": gone,
            **write_before(self.before),
            **({} if self.card is None else {"card": {"text": self.card[0], "signature": self.card[1]}}),
        }
        return json.dumps(data, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes, *, key: str | None = None) -> Self:
        """Return the campaign in a text of `to_json`, verified.

        Raise Mismatch unless it is signed with the pinned `key`, or with the next key that the pinned one has
        signed. A device that accepts the next key must keep it, so that it does so only once.
        """
        return cls._read(text, key, Campaign.from_text)

    @classmethod
    def from_store(cls, text: str) -> Self:
        """Return a campaign as a collector keeps it, also of version 1 (devices do not read those)."""
        return cls._read(text, None, Campaign.from_store)

    @classmethod
    def _read(cls, text: str | bytes, key: str | None, read: Callable[[str], Campaign]) -> Self:
        data = loads(text, "a published campaign")
        try:
            gone = data["retired"]
            retired = None if gone is None else (read_day(gone["day"]), gone["signature"])
            stated, signature, inner = data["key"], data["signature"], data["campaign"]
            before = key_before(data)
            card = (data["card"]["text"], data["card"]["signature"]) if "card" in data else None
        except (KeyError, TypeError, ValueError):
            raise MalformedReport("this is not a published campaign") from None
        check_pin(stated, before, key)
        if not all(isinstance(part, str) for part in (inner, *(card or ()))):
            raise MalformedReport("this is not a published campaign")
        return cls(read(inner), stated, signature, retired, before, card)


def _signed_prefix(text: str) -> bytes:
    """Return the signed prefix of a campaign's text; only stores keep version 1."""
    return _SIGNED_1 if loads(text, "a campaign", MOST_BYTES).get("dither-campaign") == 1 else _SIGNED


def _retirement(identity: str, day: datetime.date) -> bytes:
    return _RETIRED + f"{identity}\n{day.isoformat()}".encode()
