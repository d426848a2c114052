"""Sealed batches: encrypted to a collector's key, so that a relay passes them on and cannot read them.

Encryption is HPKE [RFC 9180] in base mode, single shot: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM,
by the `cryptography` package. docs/wire.md has the bytes.
"""

from __future__ import annotations

import re
import struct
from functools import cache
from typing import TYPE_CHECKING, Final

from dither.errors import InvalidParameter, MalformedReport, MissingExtra, found
from dither.wire.batch import JSON, PACKED

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.hpke import Suite

SEALED: Final = "application/vnd.dither.sealed"

_PURPOSE: Final = b"dither sealed 1\n"  # before the campaign's identity: what the encryption is bound to
_HEAD: Final = struct.Struct("<BI")  # the form of the body, and its bytes
_FORMS: Final = {1: JSON, 2: PACKED}
_LEAST: Final = 1024  # bytes that are encrypted, at least; more are a power of two
_AROUND: Final = 32 + 16  # bytes: the ephemeral public key, and the tag
_KEY: Final = re.compile(r"[0-9a-f]{64}")


def sealed_size(size: int) -> int:
    """Return the bytes of a sealed body, given those of the body inside."""
    return _AROUND + max(_LEAST, 1 << (_HEAD.size + size - 1).bit_length())


def seal(body: bytes, form: str, key: str, campaign: str) -> bytes:
    """Return a body (`form` is its content type) encrypted for a campaign; it has other bytes every time.

    `key` is the sealing key of the campaign's contract, `campaign` its identity.
    """
    number = next(number for number, one in _FORMS.items() if one == form)
    plain = (_HEAD.pack(number, len(body)) + body).ljust(sealed_size(len(body)) - _AROUND, b"\0")
    return suite().encrypt(plain, public_key(key), _bound(campaign))


def unseal(sealed: bytes, key: X25519PrivateKey, campaign: str) -> tuple[bytes, str]:
    """Return the body inside and its content type.

    Raise MalformedReport if it was sealed to another key or for another campaign, was changed on the way, or
    is not padded as it must be.
    """
    from cryptography.exceptions import InvalidTag

    try:
        plain = suite().decrypt(sealed, key, _bound(campaign))
    except (InvalidTag, ValueError):
        raise MalformedReport("the sealed batch cannot be opened with the key of this campaign") from None
    if len(plain) < _HEAD.size:
        raise MalformedReport("the sealed batch is too short")
    number, size = _HEAD.unpack_from(plain)
    end = _HEAD.size + size
    if number not in _FORMS or len(sealed) != sealed_size(size) or any(plain[end:]):
        raise MalformedReport("a sealed batch is JSON or packed, padded with zeros to a power of two")
    return plain[_HEAD.size : end], _FORMS[number]


@cache
def suite() -> Suite:
    """Return the algorithms; raise MissingExtra if the installed `cryptography` is too old for them."""
    try:
        from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite
    except ImportError:
        raise MissingExtra("a campaign with a sealing key", "service") from None
    return Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)


def public_key(text: object) -> X25519PublicKey:
    """Return the key of a text; raise InvalidParameter unless it is one that can be sealed to."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

    if not isinstance(text, str) or not _KEY.fullmatch(text):
        raise InvalidParameter(
            f"a sealing key is 64 lower-case hexadecimal digits, not {found(text)}; "
            "`dither campaign sealing-key FILE` prints it"
        )
    made = X25519PublicKey.from_public_bytes(bytes.fromhex(text))
    try:
        X25519PrivateKey.from_private_bytes(bytes(32)).exchange(made)
    except ValueError:  # a point of small order: everybody would know what is sealed to it
        raise InvalidParameter("this sealing key protects nothing; make one with `dither campaign`") from None
    return made


def _bound(campaign: str) -> bytes:
    return _PURPOSE + campaign.encode()
