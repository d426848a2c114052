"""Signatures of askers: Ed25519 keys, the next key after a key, and the checks of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Self

from dither.collection.account.budget import Data
from dither.collection.secrets import public_part, refuse_private
from dither.collection.terms import from_digits
from dither.errors import MalformedReport, Mismatch

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_NEXT_KEY: Final = b"dither next key 1\n"
_PRIME: Final = (1 << 255) - 19  # the prime of Ed25519, and its d
_CURVE: Final = 37095705934669439343138083508754565189542113879843219016388785533085940283555


class KeyBefore(NamedTuple):
    """The previous key of an asker, and its signature of the present key, for devices that pinned it."""

    key: str
    signature: str

    @classmethod
    def sign(cls, key: Ed25519PrivateKey, present: str) -> Self:
        """Return the statement of an Ed25519 private key of `cryptography` about the next key."""
        return cls(public_part(key), key.sign(_NEXT_KEY + present.encode()).hex())

    def check(self, present: str) -> None:
        """Raise MalformedReport unless the previous key has signed the present one."""
        verify(self.key, self.signature, _NEXT_KEY + present.encode())


def check_pin(stated: str, before: KeyBefore | None, pin: str | None) -> None:
    """Raise Mismatch unless a key equals the pinned one, or is the next key after it.

    The statement in `before` must have been verified.
    """
    refuse_private("key", pin)
    if pin is not None and stated != pin and (before is None or before.key != pin):
        raise Mismatch("the campaign is signed with another key than the pinned one; do not answer it")


def write_before(before: KeyBefore | None) -> Data:
    """Return the field of a published text that states the previous key; empty without one."""
    return {} if before is None else {"key_before": before._asdict()}


def key_before(data: Data) -> KeyBefore | None:
    """Return the previous key that a published text states, or None."""
    if "key_before" not in data:
        return None
    return KeyBefore(data["key_before"]["key"], data["key_before"]["signature"])


def _is_sound(public: bytes) -> bool:
    """Return whether a public key of Ed25519 is canonical, and of no small order.

    Libraries treat other keys differently, and under a key of small order signatures of any text exist.
    The y-coordinates of small order are 0, ±1, and those with d·y^4 + 2·y² = 1.
    """
    y = int.from_bytes(public, "little") & (1 << 255) - 1
    square = y * y
    return y < _PRIME and y * (square - 1) * (_CURVE * square * square + 2 * square - 1) % _PRIME != 0


def verify(key: str, signature: str, message: bytes) -> None:
    """Raise MalformedReport unless a message is signed with a key, both as hexadecimal digits."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        public = from_digits(key)
        if not _is_sound(public):
            raise ValueError
        Ed25519PublicKey.from_public_bytes(public).verify(from_digits(signature), message)
    except (InvalidSignature, ValueError):
        raise MalformedReport(
            "the signature of the campaign is not valid: it was changed or damaged"
        ) from None
